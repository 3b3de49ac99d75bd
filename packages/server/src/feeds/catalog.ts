import { type Equity, plainEquity } from '@sandpit/core';

/**
 * The instruments that `synthetic` and `push` list: well-known US stocks and funds with figures of the right
 * size. They are not data: prices are roughly those of the mid-2020s and are not updated.
 */
export interface CatalogEntry {
  readonly equity: Equity;
  /** Dollars; the level around which the synthetic price moves. */
  readonly basePrice: number;
  /** Sector whose members move together in addition to the market; empty for funds of the whole market. */
  readonly sector: string;
  /** Exposure to the market factor. */
  readonly beta: number;
  /** A fund follows its sector without its own factor. */
  readonly isFund: boolean;
  /** The fund whose returns a leveraged one multiplies by its `leverageFactor`. */
  readonly follows?: string;
  /** Usual difference of ask and bid, in dollars. */
  readonly typicalSpread: number;
  /** Usual displayed size, in round lots of 100 shares. */
  readonly typicalLots: number;
}

/** Symbol, name, price, daily volatility in %, beta, volume in millions of shares, spread in dollars, lots shown. */
type Row = readonly [string, string, number, number, number, number, number, number];

interface Group {
  readonly sector: string;
  readonly isFund?: boolean;
  readonly rows: readonly Row[];
}

const GROUPS: readonly Group[] = [
  {
    sector: 'Technology',
    rows: [
      ['AAPL', 'Apple Inc.', 228.4, 1.6, 1.15, 55, 0.01, 4],
      ['MSFT', 'Microsoft Corporation', 421.6, 1.4, 1.0, 21, 0.02, 3],
      ['NVDA', 'NVIDIA Corporation', 134.8, 2.9, 1.75, 210, 0.01, 8],
      ['AVGO', 'Broadcom Inc.', 172.3, 2.5, 1.5, 25, 0.03, 3],
      ['ORCL', 'Oracle Corporation', 168.9, 1.9, 1.05, 9, 0.03, 2],
      ['CRM', 'Salesforce, Inc.', 291.5, 2.0, 1.2, 6, 0.06, 2],
      ['ADBE', 'Adobe Inc.', 503.2, 2.0, 1.15, 3.2, 0.15, 1],
      ['AMD', 'Advanced Micro Devices, Inc.', 152.7, 3.0, 1.7, 48, 0.01, 4],
      ['INTC', 'Intel Corporation', 22.9, 2.7, 1.2, 62, 0.01, 30],
      ['CSCO', 'Cisco Systems, Inc.', 54.3, 1.2, 0.8, 18, 0.01, 15],
      ['IBM', 'International Business Machines Corporation', 221.1, 1.3, 0.7, 4, 0.06, 2],
      ['QCOM', 'QUALCOMM Incorporated', 169.4, 2.2, 1.3, 8, 0.03, 2],
      ['TWLO', 'Twilio Inc.', 71.2, 2.8, 1.4, 2.6, 0.03, 3],
      ['PLTR', 'Palantir Technologies Inc.', 43.6, 3.6, 1.8, 60, 0.01, 12],
    ],
  },
  {
    sector: 'Communication',
    rows: [
      ['GOOGL', 'Alphabet Inc. Class A', 165.7, 1.7, 1.1, 26, 0.01, 4],
      ['GOOG', 'Alphabet Inc. Class C', 167.2, 1.7, 1.1, 18, 0.02, 3],
      ['META', 'Meta Platforms, Inc.', 577.8, 2.1, 1.25, 13, 0.08, 2],
      ['NFLX', 'Netflix, Inc.', 715.4, 2.2, 1.1, 3.4, 0.3, 1],
      ['DIS', 'The Walt Disney Company', 95.6, 1.6, 1.0, 9, 0.01, 6],
      ['T', 'AT&T Inc.', 21.8, 1.2, 0.45, 33, 0.01, 60],
      ['VZ', 'Verizon Communications Inc.', 43.7, 1.2, 0.4, 17, 0.01, 25],
    ],
  },
  {
    sector: 'Consumer cyclical',
    rows: [
      ['AMZN', 'Amazon.com, Inc.', 187.3, 1.9, 1.25, 38, 0.01, 4],
      ['TSLA', 'Tesla, Inc.', 243.9, 3.6, 1.8, 85, 0.02, 4],
      ['HD', 'The Home Depot, Inc.', 408.2, 1.3, 0.95, 3.2, 0.12, 1],
      ['MCD', "McDonald's Corporation", 302.5, 1.0, 0.55, 3, 0.07, 1],
      ['NKE', 'NIKE, Inc.', 81.4, 1.8, 1.0, 10, 0.01, 5],
      ['SBUX', 'Starbucks Corporation', 96.8, 1.6, 0.9, 9, 0.01, 5],
      ['F', 'Ford Motor Company', 10.9, 2.1, 1.2, 52, 0.01, 150],
      ['GM', 'General Motors Company', 48.7, 2.0, 1.2, 12, 0.01, 10],
      ['NIO', 'NIO Inc. ADR', 5.2, 3.6, 1.5, 55, 0.01, 120],
    ],
  },
  {
    sector: 'Consumer staples',
    rows: [
      ['WMT', 'Walmart Inc.', 80.9, 1.1, 0.5, 15, 0.01, 12],
      ['COST', 'Costco Wholesale Corporation', 893.6, 1.2, 0.7, 1.8, 0.45, 1],
      ['PG', 'The Procter & Gamble Company', 171.2, 0.95, 0.4, 6.5, 0.02, 3],
      ['KO', 'The Coca-Cola Company', 70.4, 0.9, 0.4, 13, 0.01, 15],
      ['PEP', 'PepsiCo, Inc.', 173.3, 1.0, 0.4, 5, 0.03, 2],
    ],
  },
  {
    sector: 'Financials',
    rows: [
      ['BRK.B', 'Berkshire Hathaway Inc. Class B', 461.7, 1.0, 0.7, 3.6, 0.1, 2],
      ['JPM', 'JPMorgan Chase & Co.', 223.5, 1.4, 1.0, 9, 0.03, 3],
      ['BAC', 'Bank of America Corporation', 42.1, 1.6, 1.15, 36, 0.01, 35],
      ['GS', 'The Goldman Sachs Group, Inc.', 523.8, 1.6, 1.2, 2.1, 0.25, 1],
      ['V', 'Visa Inc.', 281.6, 1.2, 0.85, 6.5, 0.04, 2],
      ['MA', 'Mastercard Incorporated', 508.9, 1.3, 0.9, 2.5, 0.15, 1],
      ['KKR', 'KKR & Co. Inc.', 136.4, 2.0, 1.4, 4, 0.05, 2],
      ['SOFI', 'SoFi Technologies, Inc.', 10.2, 3.8, 1.7, 45, 0.01, 80],
    ],
  },
  {
    sector: 'Health care',
    rows: [
      ['UNH', 'UnitedHealth Group Incorporated', 571.3, 1.5, 0.6, 3.4, 0.25, 1],
      ['JNJ', 'Johnson & Johnson', 163.4, 1.0, 0.4, 7, 0.02, 3],
      ['LLY', 'Eli Lilly and Company', 905.2, 2.0, 0.6, 3, 0.6, 1],
      ['PFE', 'Pfizer Inc.', 28.7, 1.5, 0.55, 35, 0.01, 50],
      ['ABBV', 'AbbVie Inc.', 192.6, 1.3, 0.5, 5, 0.04, 2],
      ['MRK', 'Merck & Co., Inc.', 108.1, 1.2, 0.4, 9, 0.01, 4],
      ['BIIB', 'Biogen Inc.', 187.9, 1.8, 0.6, 1.1, 0.12, 1],
    ],
  },
  {
    sector: 'Energy',
    rows: [
      ['XOM', 'Exxon Mobil Corporation', 119.5, 1.5, 0.8, 15, 0.01, 6],
      ['CVX', 'Chevron Corporation', 150.2, 1.5, 0.8, 8, 0.02, 3],
      ['OXY', 'Occidental Petroleum Corporation', 51.8, 2.0, 1.0, 9, 0.01, 8],
      ['HAL', 'Halliburton Company', 29.3, 2.0, 1.0, 8, 0.01, 15],
      ['PAA', 'Plains All American Pipeline, L.P.', 17.4, 1.3, 0.7, 3.5, 0.01, 30],
    ],
  },
  {
    sector: 'Industrials',
    rows: [
      ['BA', 'The Boeing Company', 152.9, 2.1, 1.2, 8, 0.04, 2],
      ['CAT', 'Caterpillar Inc.', 391.7, 1.6, 1.1, 2.6, 0.14, 1],
      ['GE', 'GE Aerospace', 186.3, 1.7, 1.1, 5.5, 0.04, 2],
      ['UPS', 'United Parcel Service, Inc.', 132.4, 1.5, 0.9, 4, 0.03, 2],
      ['AAL', 'American Airlines Group Inc.', 12.7, 2.7, 1.4, 30, 0.01, 90],
      ['LMT', 'Lockheed Martin Corporation', 574.6, 1.1, 0.4, 1.1, 0.4, 1],
      ['NOC', 'Northrop Grumman Corporation', 522.8, 1.2, 0.4, 1.05, 0.45, 1],
      ['RTX', 'RTX Corporation', 122.7, 1.3, 0.7, 5, 0.02, 3],
    ],
  },
  {
    sector: 'Materials',
    rows: [['AA', 'Alcoa Corporation', 39.8, 2.8, 1.6, 5, 0.02, 6]],
  },
  {
    sector: 'Speculative',
    rows: [
      ['GME', 'GameStop Corp. Class A', 21.6, 4.0, 1.2, 9, 0.02, 6],
      ['AMC', 'AMC Entertainment Holdings, Inc.', 4.46, 4.2, 1.5, 12, 0.01, 90],
      ['PLUG', 'Plug Power Inc.', 2.08, 4.8, 1.6, 45, 0.01, 200],
      ['TLRY', 'Tilray Brands, Inc.', 0.64, 4.5, 1.3, 30, 0.0008, 150],
      ['MULN', 'Mullen Automotive, Inc.', 0.37, 5.0, 1.0, 25, 0.0012, 80],
    ],
  },
  {
    sector: '',
    isFund: true,
    rows: [
      ['SPY', 'SPDR S&P 500 ETF Trust', 578.2, 0.92, 1.0, 52, 0.01, 8],
      ['VOO', 'Vanguard S&P 500 ETF', 531.6, 0.92, 1.0, 5.5, 0.03, 4],
      ['VTI', 'Vanguard Total Stock Market ETF', 285.3, 0.94, 1.01, 3.2, 0.02, 4],
      ['DIA', 'SPDR Dow Jones Industrial Average ETF Trust', 428.9, 0.85, 0.88, 3, 0.04, 3],
      ['IWM', 'iShares Russell 2000 ETF', 220.7, 1.35, 1.15, 28, 0.01, 12],
    ],
  },
  {
    sector: 'Technology',
    isFund: true,
    rows: [['XLK', 'Technology Select Sector SPDR Fund', 228.8, 1.35, 1.2, 5, 0.02, 5]],
  },
  {
    sector: 'Technology',
    isFund: true,
    rows: [['QQQ', 'Invesco QQQ Trust', 493.4, 1.25, 1.18, 38, 0.01, 6]],
  },
  {
    sector: 'Financials',
    isFund: true,
    rows: [['XLF', 'Financial Select Sector SPDR Fund', 46.9, 1.1, 0.95, 36, 0.01, 150]],
  },
  {
    sector: 'Health care',
    isFund: true,
    rows: [['XLV', 'Health Care Select Sector SPDR Fund', 152.1, 0.85, 0.65, 7, 0.01, 12]],
  },
  {
    sector: 'Energy',
    isFund: true,
    rows: [['XLE', 'Energy Select Sector SPDR Fund', 90.6, 1.4, 0.8, 15, 0.01, 40]],
  },
  {
    sector: 'Industrials',
    isFund: true,
    rows: [['XLI', 'Industrial Select Sector SPDR Fund', 136.2, 1.0, 0.95, 8, 0.01, 15]],
  },
  {
    sector: 'Consumer staples',
    isFund: true,
    rows: [['XLP', 'Consumer Staples Select Sector SPDR Fund', 82.3, 0.75, 0.45, 10, 0.01, 30]],
  },
  {
    sector: 'Consumer cyclical',
    isFund: true,
    rows: [['XLY', 'Consumer Discretionary Select Sector SPDR Fund', 199.5, 1.3, 1.15, 4, 0.02, 5]],
  },
  {
    sector: 'Treasuries',
    isFund: true,
    rows: [['TLT', 'iShares 20+ Year Treasury Bond ETF', 93.8, 0.95, -0.15, 38, 0.01, 40]],
  },
  {
    sector: 'Precious metals',
    isFund: true,
    rows: [
      ['GLD', 'SPDR Gold Shares', 248.7, 0.95, 0.05, 7, 0.01, 6],
      ['SLV', 'iShares Silver Trust', 30.4, 1.8, 0.15, 18, 0.01, 80],
    ],
  },
];

/** Symbol, name, price, the fund it follows, factor, volume in millions of shares, spread in dollars, lots shown. */
const LEVERAGED: readonly (readonly [string, string, number, string, number, number, number, number])[] = [
  ['TQQQ', 'ProShares UltraPro QQQ', 74.2, 'QQQ', 3, 52, 0.01, 20],
  ['SQQQ', 'ProShares UltraPro Short QQQ', 31.5, 'QQQ', -3, 45, 0.01, 40],
  ['QLD', 'ProShares Ultra QQQ', 101.3, 'QQQ', 2, 3.5, 0.03, 4],
  ['PSQ', 'ProShares Short QQQ', 38.6, 'QQQ', -1, 6, 0.01, 60],
  ['UPRO', 'ProShares UltraPro S&P 500', 88.9, 'SPY', 3, 4.5, 0.02, 6],
  ['SPXU', 'ProShares UltraPro Short S&P 500', 25.7, 'SPY', -3, 8, 0.01, 40],
  ['SSO', 'ProShares Ultra S&P 500', 93.1, 'SPY', 2, 2.8, 0.02, 5],
  ['SH', 'ProShares Short S&P 500', 43.2, 'SPY', -1, 5, 0.01, 60],
  ['TNA', 'Direxion Daily Small Cap Bull 3X Shares', 44.8, 'IWM', 3, 11, 0.01, 15],
];

const NOT_SHORTABLE: ReadonlySet<string> = new Set(['MULN', 'TLRY']);

/** Yearly borrow rates that differ from general collateral. */
const HARD_TO_BORROW: Readonly<Record<string, number>> = {
  GME: 0.12,
  AMC: 0.18,
  PLUG: 0.09,
  MULN: 0.9,
  TLRY: 0.35,
  SOFI: 0.01,
};

/** The catalog, in alphabetical order. */
export const CATALOG: readonly CatalogEntry[] = entries();

const BY_SYMBOL: ReadonlyMap<string, CatalogEntry> = new Map(
  CATALOG.map((entry) => [entry.equity.symbol, entry]),
);

export function catalogEntry(symbol: string): CatalogEntry | undefined {
  return BY_SYMBOL.get(symbol);
}

function entries(): CatalogEntry[] {
  const plain = GROUPS.flatMap(({ sector, isFund = false, rows }) =>
    rows.map(
      ([
        symbol,
        name,
        basePrice,
        volatilityPercent,
        beta,
        millions,
        typicalSpread,
        typicalLots,
      ]): CatalogEntry => ({
        equity: equity(symbol, name, 1, volatilityPercent / 100, millions),
        basePrice,
        sector,
        beta,
        isFund,
        typicalSpread,
        typicalLots,
      }),
    ),
  );
  const leveraged = LEVERAGED.map(
    ([symbol, name, basePrice, follows, factor, millions, typicalSpread, typicalLots]): CatalogEntry => {
      const fund = plain.find((entry) => entry.equity.symbol === follows);
      if (!fund) throw new Error(`${symbol} follows ${follows}, which is not in the catalog`);
      return {
        equity: equity(symbol, name, factor, Math.abs(factor) * fund.equity.dailyVolatility, millions),
        basePrice,
        sector: fund.sector,
        beta: fund.beta * factor,
        isFund: true,
        follows,
        typicalSpread,
        typicalLots,
      };
    },
  );
  return [...plain, ...leveraged].sort((a, b) => (a.equity.symbol < b.equity.symbol ? -1 : 1));
}

function equity(
  symbol: string,
  name: string,
  leverageFactor: number,
  dailyVolatility: number,
  millions: number,
): Equity {
  const plain = plainEquity(symbol);
  return {
    ...plain,
    name,
    leverageFactor,
    // Stocks of the S&P 500 and the Russell 1000, and the funds of the plan's list; leveraged ones are tier 2.
    ...(leverageFactor === 1 && { luldTier: 1 as const }),
    shortable: !NOT_SHORTABLE.has(symbol),
    borrowRateAnnual: HARD_TO_BORROW[symbol] ?? plain.borrowRateAnnual,
    averageDailyVolume: Math.round(millions * 1e6),
    dailyVolatility,
  };
}
