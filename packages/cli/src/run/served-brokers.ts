/** Brokers whose APIs Sandpit serves: the dialects that are installed, and how clients of these brokers find keys. */
import { loadDialects } from '@sandpit/server/dialects';

/** Environment variables that clients of a broker read. */
interface ClientVariables {
  /** The name of a key, and its secret. */
  readonly keys: readonly string[];
  readonly secrets: readonly string[];
  /** A bearer token of `/v1`. */
  readonly tokens: readonly string[];
  /** A bearer token that opens one portfolio: name and secret of a key, with a dot between them. */
  readonly pairs: readonly string[];
  /** The number of the account, and the text that stands for it in paths. */
  readonly accounts: readonly string[];
  readonly accountHashes: readonly string[];
  /** The same as a key and its secret, of the lengths of Schwab's. */
  readonly appKeys: readonly string[];
  readonly appSecrets: readonly string[];
  /** A token from which clients make others. */
  readonly refreshTokens: readonly string[];
  /** URLs of the API: kept if they name a served host, removed otherwise. */
  readonly urls: readonly string[];
  /** Values that are the same in every run. */
  readonly fixed?: Readonly<Record<string, string>>;
}

export interface ServedBroker {
  readonly name: string;
  /** Prefix of its dialect at the server. */
  readonly prefix: string;
  readonly hosts: readonly string[];
  readonly variables: ClientVariables;
  /** Ports of this machine at which its clients expect the broker. */
  readonly ports: readonly number[];
}

/** Names of brokers whose dialects have another one. */
const NAMES: Readonly<Partial<Record<string, string>>> = { tws: 'ibkr' };

/** Default ports of TWS and of IB Gateway, each for paper accounts and for live ones. */
const PORTS: Readonly<Partial<Record<string, readonly number[]>>> = { tws: [7497, 4002, 7496, 4001] };

const NONE: ClientVariables = {
  keys: [],
  secrets: [],
  tokens: [],
  pairs: [],
  accounts: [],
  accountHashes: [],
  appKeys: [],
  appSecrets: [],
  refreshTokens: [],
  urls: [],
};

/** By the name of the dialect. */
const VARIABLES: Readonly<Partial<Record<string, ClientVariables>>> = {
  alpaca: {
    ...NONE,
    keys: ['APCA_API_KEY_ID', 'ALPACA_API_KEY', 'ALPACA_API_KEY_ID', 'ALPACA_KEY_ID', 'ALPACA_KEY'],
    secrets: [
      'APCA_API_SECRET_KEY',
      'ALPACA_SECRET_KEY',
      'ALPACA_API_SECRET',
      'ALPACA_API_SECRET_KEY',
      'ALPACA_SECRET',
    ],
    urls: [
      'APCA_API_BASE_URL',
      'APCA_API_DATA_URL',
      'APCA_DATA_BASE_URL',
      'APCA_API_STREAM_URL',
      'ALPACA_BASE_URL',
      'ALPACA_API_BASE_URL',
    ],
  },
  schwab: {
    ...NONE,
    appKeys: ['SCHWAB_APP_KEY', 'SCHWAB_API_KEY', 'SCHWAB_CLIENT_ID', 'SCHWAB_KEY'],
    appSecrets: ['SCHWAB_SECRET', 'SCHWAB_APP_SECRET', 'SCHWAB_API_SECRET', 'SCHWAB_CLIENT_SECRET'],
    pairs: ['SCHWAB_ACCESS_TOKEN'],
    accounts: ['SCHWAB_ACCOUNT_NUMBER'],
    accountHashes: ['SCHWAB_ACCOUNT_HASH'],
    refreshTokens: ['SCHWAB_REFRESH_TOKEN'],
    urls: ['SCHWAB_BASE_URL', 'SCHWAB_API_URL'],
  },
  tradier: {
    ...NONE,
    accounts: [
      'TRADIER_ACCOUNT_NUMBER',
      'TRADIER_ACCOUNT_ID',
      'TRADIER_ACCT',
      'TRADIER_ACCOUNT',
      'tradier_acct',
    ],
    pairs: [
      'TRADIER_ACCESS_TOKEN',
      'TRADIER_TOKEN',
      'TRADIER_API_KEY',
      'TRADIER_API_TOKEN',
      'TRADIER_SANDBOX_TOKEN',
      'tradier_token',
    ],
    urls: [
      'TRADIER_BASE_URL',
      'TRADIER_REST_BASE_URL',
      'TRADIER_STREAM_HTTP_BASE_URL',
      'TRADIER_WS_BASE_URL',
    ],
  },
  tws: {
    ...NONE,
    fixed: { IB_HOST: '127.0.0.1', IB_PORT: '7497', IBKR_HOST: '127.0.0.1', IBKR_PORT: '7497' },
  },
  'paper-invest': { ...NONE, tokens: ['PAPER_INVEST_API_KEY'], urls: ['PAPER_INVEST_API_URL'] },
};

/** The brokers of the installed dialects. */
export const servedBrokers = async (): Promise<readonly ServedBroker[]> =>
  (await loadDialects(undefined)).map(({ name, prefix, hosts }) => ({
    name: NAMES[name] ?? name,
    prefix,
    hosts,
    variables: VARIABLES[name] ?? NONE,
    ports: PORTS[name] ?? [],
  }));
