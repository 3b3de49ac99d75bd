/** Hosts through which a broker or an exchange accepts real orders. `docs/reference/blocked-hosts.md` lists them; a test compares. */

export interface KnownBroker {
  readonly name: string;
  /** Domains, each with all its subdomains. */
  readonly domains: readonly string[];
  /** Beginnings of the environment variables in which its clients expect credentials. */
  readonly variables: readonly string[];
}

export const KNOWN_BROKERS: readonly KnownBroker[] = [
  { name: 'Alpaca', domains: ['alpaca.markets'], variables: ['APCA_', 'ALPACA_'] },
  { name: 'Ally Invest', domains: ['ally.com', 'tradeking.com'], variables: ['ALLY_'] },
  { name: 'Binance', domains: ['binance.com', 'binance.us'], variables: ['BINANCE_'] },
  { name: 'Bybit', domains: ['bybit.com', 'bytick.com'], variables: ['BYBIT_'] },
  { name: 'Capital.com', domains: ['capital.com'], variables: ['CAPITAL_'] },
  {
    name: 'Charles Schwab',
    domains: ['schwabapi.com', 'schwab.com', 'tdameritrade.com'],
    variables: ['SCHWAB_', 'TDAMERITRADE_', 'TDA_'],
  },
  { name: 'Coinbase', domains: ['coinbase.com'], variables: ['COINBASE_', 'CDP_'] },
  { name: 'DEGIRO', domains: ['degiro.com', 'degiro.nl', 'degiro.eu'], variables: ['DEGIRO_'] },
  { name: 'E*TRADE', domains: ['etrade.com'], variables: ['ETRADE_'] },
  { name: 'eToro', domains: ['etoro.com'], variables: ['ETORO_'] },
  { name: 'Fidelity', domains: ['fidelity.com'], variables: ['FIDELITY_'] },
  { name: 'Firstrade', domains: ['firstrade.com'], variables: ['FIRSTRADE_'] },
  { name: 'Gemini', domains: ['gemini.com'], variables: ['GEMINI_EXCHANGE_'] },
  { name: 'IG', domains: ['ig.com'], variables: ['IG_SERVICE_'] },
  {
    name: 'Interactive Brokers',
    domains: ['interactivebrokers.com', 'ibkr.com', 'ibkr.com.cn', 'ibllc.com'],
    variables: ['IBKR_', 'IB_'],
  },
  { name: 'Kraken', domains: ['kraken.com'], variables: ['KRAKEN_'] },
  { name: 'Lightspeed', domains: ['lightspeed.com'], variables: ['LIGHTSPEED_'] },
  {
    name: 'Longbridge',
    domains: ['longbridge.com', 'longbridgeapp.com', 'longportapp.com', 'longbridge.cn'],
    variables: ['LONGPORT_', 'LONGBRIDGE_'],
  },
  { name: 'Merrill Edge', domains: ['merrilledge.com', 'ml.com'], variables: ['MERRILL_'] },
  { name: 'moomoo', domains: ['moomoo.com', 'futunn.com', 'futuhk.com'], variables: ['MOOMOO_', 'FUTU_'] },
  { name: 'NinjaTrader', domains: ['ninjatrader.com'], variables: ['NINJATRADER_'] },
  { name: 'OANDA', domains: ['oanda.com'], variables: ['OANDA_'] },
  { name: 'OKX', domains: ['okx.com'], variables: ['OKX_'] },
  { name: 'Paper Invest', domains: ['paperinvest.io'], variables: ['PAPER_INVEST_', 'PAPERINVEST_'] },
  { name: 'Public', domains: ['public.com'], variables: ['PUBLIC_API_', 'PUBLIC_COM_'] },
  { name: 'Questrade', domains: ['questrade.com'], variables: ['QUESTRADE_'] },
  { name: 'Robinhood', domains: ['robinhood.com'], variables: ['ROBINHOOD_', 'RH_'] },
  { name: 'Saxo', domains: ['saxobank.com', 'home.saxo'], variables: ['SAXO_'] },
  { name: 'SnapTrade', domains: ['snaptrade.com'], variables: ['SNAPTRADE_'] },
  { name: 'tastytrade', domains: ['tastytrade.com', 'tastyworks.com'], variables: ['TASTYTRADE_', 'TT_'] },
  {
    name: 'Tiger Brokers',
    domains: ['tigerbrokers.com', 'tigerfintech.com', 'itiger.com', 'itigerup.com'],
    variables: ['TIGEROPEN_', 'TIGER_'],
  },
  { name: 'Tradier', domains: ['tradier.com'], variables: ['TRADIER_'] },
  { name: 'TradeStation', domains: ['tradestation.com'], variables: ['TRADESTATION_'] },
  { name: 'TradeZero', domains: ['tradezero.com', 'tradezero.co'], variables: ['TRADEZERO_'] },
  { name: 'Tradovate', domains: ['tradovate.com', 'tradovateapi.com'], variables: ['TRADOVATE_'] },
  { name: 'Trading 212', domains: ['trading212.com'], variables: ['TRADING212_', 'T212_'] },
  { name: 'Vanguard', domains: ['vanguard.com'], variables: ['VANGUARD_'] },
  {
    name: 'Webull',
    domains: ['webull.com', 'webullfintech.com', 'webullbroker.com', 'webull.hk', 'webull.co.jp'],
    variables: ['WEBULL_'],
  },
  { name: 'Zerodha', domains: ['kite.trade', 'zerodha.com'], variables: ['KITE_', 'ZERODHA_'] },
];

/** True for a host of a broker. The host is lower-case, without a trailing dot. */
export const isBrokerHost = (host: string): boolean =>
  KNOWN_BROKERS.some(({ domains }) =>
    domains.some((domain) => host === domain || host.endsWith(`.${domain}`)),
  );

/** Ends of the names of variables that contain a credential. */
const CREDENTIAL = /(?:KEY|KEY_ID|SECRET|TOKEN|PASS|PASSWORD|PIN|TOTP|USERNAME)$/i;

/** True for a variable in which a client of a broker expects a credential. */
export const isBrokerCredential = (name: string): boolean =>
  CREDENTIAL.test(name) &&
  KNOWN_BROKERS.some(({ variables }) =>
    variables.some((beginning) => name.toUpperCase().startsWith(beginning)),
  );
