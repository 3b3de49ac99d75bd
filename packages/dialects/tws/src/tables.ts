/** The protocol as tables: versions, numbers of messages, ticks, errors, and the fields of an order. */

/** Versions that the server serves: it announces the client's highest one, at most the last. */
export const VERSIONS = { first: 157, last: 178 } as const;

/** Messages of clients. */
export const REQUEST = {
  MARKET_DATA: 1,
  CANCEL_MARKET_DATA: 2,
  PLACE_ORDER: 3,
  CANCEL_ORDER: 4,
  OPEN_ORDERS: 5,
  ACCOUNT_UPDATES: 6,
  EXECUTIONS: 7,
  IDS: 8,
  CONTRACT_DATA: 9,
  NEWS_BULLETINS: 12,
  CANCEL_NEWS_BULLETINS: 13,
  LOG_LEVEL: 14,
  AUTO_OPEN_ORDERS: 15,
  ALL_OPEN_ORDERS: 16,
  MANAGED_ACCOUNTS: 17,
  HISTORICAL_DATA: 20,
  EXERCISE_OPTIONS: 21,
  CANCEL_HISTORICAL_DATA: 25,
  CURRENT_TIME: 49,
  GLOBAL_CANCEL: 58,
  MARKET_DATA_TYPE: 59,
  POSITIONS: 61,
  ACCOUNT_SUMMARY: 62,
  CANCEL_ACCOUNT_SUMMARY: 63,
  CANCEL_POSITIONS: 64,
  START_API: 71,
  POSITIONS_MULTI: 74,
  CANCEL_POSITIONS_MULTI: 75,
  ACCOUNT_UPDATES_MULTI: 76,
  CANCEL_ACCOUNT_UPDATES_MULTI: 77,
  OPTION_PARAMETERS: 78,
  SOFT_DOLLAR_TIERS: 79,
  FAMILY_CODES: 80,
  MATCHING_SYMBOLS: 81,
  DEPTH_EXCHANGES: 82,
  NEWS_PROVIDERS: 85,
  MARKET_RULE: 91,
  PNL: 92,
  CANCEL_PNL: 93,
  PNL_SINGLE: 94,
  CANCEL_PNL_SINGLE: 95,
  TICK_BY_TICK: 97,
  CANCEL_TICK_BY_TICK: 98,
  COMPLETED_ORDERS: 99,
  USER_INFO: 104,
} as const;

/** Messages of the server. A second number is the version that follows it. */
export const ANSWER = {
  TICK_PRICE: [1, 6],
  TICK_SIZE: [2, 6],
  ORDER_STATUS: [3],
  ERROR: [4, 2],
  OPEN_ORDER: [5],
  ACCOUNT_VALUE: [6, 2],
  PORTFOLIO_VALUE: [7, 8],
  ACCOUNT_UPDATE_TIME: [8, 1],
  NEXT_VALID_ID: [9, 1],
  CONTRACT_DATA: [10],
  EXECUTION: [11],
  MANAGED_ACCOUNTS: [15, 1],
  HISTORICAL_DATA: [17],
  OPTION_COMPUTATION: [21],
  TICK_GENERIC: [45, 6],
  TICK_STRING: [46, 6],
  CURRENT_TIME: [49, 1],
  CONTRACT_DATA_END: [52, 1],
  OPEN_ORDER_END: [53, 1],
  ACCOUNT_DOWNLOAD_END: [54, 1],
  EXECUTION_END: [55, 1],
  SNAPSHOT_END: [57, 1],
  MARKET_DATA_TYPE: [58, 1],
  COMMISSION: [59, 1],
  POSITION: [61, 3],
  POSITION_END: [62, 1],
  ACCOUNT_SUMMARY: [63, 1],
  ACCOUNT_SUMMARY_END: [64, 1],
  POSITION_MULTI: [71, 1],
  POSITION_MULTI_END: [72, 1],
  ACCOUNT_UPDATE_MULTI: [73, 1],
  ACCOUNT_UPDATE_MULTI_END: [74, 1],
  OPTION_PARAMETERS: [75],
  OPTION_PARAMETERS_END: [76],
  SOFT_DOLLAR_TIERS: [77],
  FAMILY_CODES: [78],
  SYMBOL_SAMPLES: [79],
  DEPTH_EXCHANGES: [80],
  TICK_PARAMETERS: [81],
  NEWS_PROVIDERS: [85],
  HISTORICAL_DATA_UPDATE: [90],
  MARKET_RULE: [93],
  PNL: [94],
  PNL_SINGLE: [95],
  TICK_BY_TICK: [99],
  COMPLETED_ORDER: [101],
  COMPLETED_ORDERS_END: [102],
  USER_INFO: [107],
} as const;
export type Answer = keyof typeof ANSWER;

/** Errors and notices of the vendor. */
export const CODE = {
  RATE: 100,
  TOO_MANY_TICKERS: 101,
  DUPLICATE_TICKER: 102,
  DUPLICATE_ORDER: 103,
  FILLED_ORDER: 104,
  UNCHANGEABLE: 105,
  PRICE: 110,
  UNKNOWN_ORDER: 135,
  HISTORICAL_DATA: 162,
  NO_CONTRACT: 200,
  REJECTED: 201,
  CANCELED: 202,
  UNKNOWN_TICKER: 300,
  DEPTH: 309,
  UNREADABLE: 320,
  INVALID: 321,
  CLIENT_ID: 326,
  NOT_SUBSCRIBED: 354,
  ORDER_TYPE: 387,
  ORDER_MESSAGE: 399,
  REAL_TIME_BARS: 420,
  NO_QUANTITY: 434,
  FUNDAMENTALS: 430,
  OUT_OF_DATE: 503,
  NOT_CONNECTED: 504,
  UNKNOWN_MESSAGE: 505,
  CONNECTION_LOST: 1100,
  CANCEL_UNKNOWN: 10147,
  CANCEL_STATE: 10148,
  NO_NEWS: 10276,
  NO_TICK_BY_TICK: 10189,
  FARMS: [
    [2104, 'Market data farm connection is OK:sandpit'],
    [2106, 'HMDS data farm connection is OK:sandpit'],
    [2158, 'Sec-def data farm connection is OK:sandpit'],
  ],
} as const;

/** Codes with which clients keep an order in their books: a status ends such an order. */
export const WARNINGS: ReadonlySet<number> = new Set([
  CODE.UNCHANGEABLE,
  CODE.PRICE,
  CODE.INVALID,
  CODE.ORDER_MESSAGE,
  CODE.NO_QUANTITY,
]);

/** Requests that are refused: place of their request id, the code, and the missing feature. */
export const REFUSED: Readonly<
  Record<number, { readonly id: number | undefined; readonly code: number; readonly what: string }>
> = {
  10: { id: 2, code: CODE.DEPTH, what: 'Market depth' },
  11: { id: 2, code: CODE.DEPTH, what: 'Market depth' },
  18: { id: undefined, code: CODE.INVALID, what: 'Advisor configuration' },
  19: { id: undefined, code: CODE.INVALID, what: 'Advisor configuration' },
  22: { id: 2, code: CODE.HISTORICAL_DATA, what: 'Scanner subscription' },
  23: { id: 2, code: CODE.HISTORICAL_DATA, what: 'Scanner subscription' },
  24: { id: undefined, code: CODE.INVALID, what: 'Scanner parameters' },
  50: { id: 2, code: CODE.REAL_TIME_BARS, what: 'Bars of five seconds' },
  51: { id: 2, code: CODE.REAL_TIME_BARS, what: 'Bars of five seconds' },
  52: { id: 2, code: CODE.FUNDAMENTALS, what: 'Fundamental data' },
  53: { id: 2, code: CODE.FUNDAMENTALS, what: 'Fundamental data' },
  54: { id: 2, code: CODE.INVALID, what: 'Calculation of implied volatility' },
  55: { id: 2, code: CODE.INVALID, what: 'Calculation of option prices' },
  56: { id: 2, code: CODE.INVALID, what: 'Calculation of implied volatility' },
  57: { id: 2, code: CODE.INVALID, what: 'Calculation of option prices' },
  65: { id: undefined, code: CODE.INVALID, what: 'Verification' },
  66: { id: undefined, code: CODE.INVALID, what: 'Verification' },
  67: { id: 2, code: CODE.INVALID, what: 'Display groups' },
  68: { id: 2, code: CODE.INVALID, what: 'Display groups' },
  69: { id: 2, code: CODE.INVALID, what: 'Display groups' },
  70: { id: 2, code: CODE.INVALID, what: 'Display groups' },
  72: { id: undefined, code: CODE.INVALID, what: 'Verification' },
  73: { id: undefined, code: CODE.INVALID, what: 'Verification' },
  83: { id: 1, code: CODE.INVALID, what: 'Smart components' },
  84: { id: 1, code: CODE.NO_NEWS, what: 'News' },
  86: { id: 1, code: CODE.NO_NEWS, what: 'News' },
  87: { id: 1, code: CODE.HISTORICAL_DATA, what: 'Head time stamp' },
  88: { id: 1, code: CODE.INVALID, what: 'Histogram data' },
  89: { id: 1, code: CODE.INVALID, what: 'Histogram data' },
  90: { id: 1, code: CODE.HISTORICAL_DATA, what: 'Head time stamp' },
  96: { id: 1, code: CODE.HISTORICAL_DATA, what: 'Historical ticks' },
  100: { id: 1, code: CODE.INVALID, what: 'Event data' },
  101: { id: 1, code: CODE.INVALID, what: 'Event data' },
  102: { id: 1, code: CODE.INVALID, what: 'Event data' },
  103: { id: 1, code: CODE.INVALID, what: 'Event data' },
};

/** Ticks: live number, and the number of the same tick from a source that reports late. */
export const TICK = {
  BID_SIZE: [0, 69],
  BID: [1, 66],
  ASK: [2, 67],
  ASK_SIZE: [3, 70],
  LAST: [4, 68],
  LAST_SIZE: [5, 71],
  HIGH: [6, 72],
  LOW: [7, 73],
  VOLUME: [8, 74],
  CLOSE: [9, 75],
  OPEN: [14, 76],
  LAST_TIME: [45, 88],
  MODEL: [13, 83],
  HALTED: [49, 90],
  MARK: [37, 37],
} as const;

/** Fields of an order that an order of Sandpit can have. */
export interface OrderFields {
  readonly action: string;
  readonly totalQuantity: string;
  readonly orderType: string;
  readonly lmtPrice: string;
  readonly auxPrice: string;
  readonly tif: string;
  readonly ocaGroup: string;
  readonly account: string;
  readonly orderRef: string;
  readonly transmit: string;
  readonly parentId: string;
  readonly outsideRth: string;
  readonly goodTillDate: string;
  readonly trailStopPrice: string;
  readonly trailingPercent: string;
  readonly lmtPriceOffset: string;
  readonly cashQty: string;
  readonly whatIf: string;
}

/** A field: kept under its name, informational, or refused unless it has one of these texts beside the unset ones. */
export type OrderField = readonly [
  name: string,
  use: 'kept' | 'informational' | 'refused',
  ...allowed: readonly string[],
];
/** A group of fields that only some orders have, or that only some versions have. */
export type OrderPart =
  | OrderField
  | { readonly since: number; readonly field: OrderField }
  | { readonly before: number; readonly field: OrderField }
  | 'legs'
  | 'delta-neutral'
  | 'scale'
  | 'hedge'
  | 'delta-neutral-contract'
  | 'algo'
  | 'peg-bench'
  | 'conditions';

const kept = (name: keyof OrderFields): OrderField => [name, 'kept'];
const info = (name: string): OrderField => [name, 'informational'];
const no = (name: string, ...allowed: readonly string[]): OrderField => [name, 'refused', ...allowed];

/** Fields of PLACE_ORDER behind the order id and the contract. */
export const ORDER: readonly OrderPart[] = [
  ...(
    ['action', 'totalQuantity', 'orderType', 'lmtPrice', 'auxPrice', 'tif', 'ocaGroup', 'account'] as const
  ).map(kept),
  info('openClose'),
  no('origin'),
  ...(['orderRef', 'transmit', 'parentId'] as const).map(kept),
  ...['blockOrder', 'sweepToFill', 'displaySize', 'triggerMethod'].map((name) => no(name)),
  kept('outsideRth'),
  no('hidden'),
  'legs',
  no('sharesAllocation'),
  no('discretionaryAmt'),
  no('goodAfterTime'),
  kept('goodTillDate'),
  ...['faGroup', 'faMethod', 'faPercentage'].map((name) => no(name)),
  { before: 177, field: no('faProfile') },
  ...['modelCode', 'shortSaleSlot', 'designatedLocation'].map((name) => no(name)),
  no('exemptCode', '-1'),
  info('ocaType'),
  no('rule80A', 'I'),
  ...['settlingFirm', 'allOrNone', 'minQty', 'percentOffset'].map((name) => no(name)),
  // Older clients set these two, which no order has any more.
  ...['eTradeOnly', 'firmQuoteOnly'].map(info),
  ...[
    'nbboPriceCap',
    'auctionStrategy',
    'startingPrice',
    'stockRefPrice',
    'delta',
    'stockRangeLower',
    'stockRangeUpper',
  ].map((name) => no(name)),
  info('overridePercentageConstraints'),
  ...['volatility', 'volatilityType'].map((name) => no(name)),
  'delta-neutral',
  ...['continuousUpdate', 'referencePriceType'].map((name) => no(name)),
  ...(['trailStopPrice', 'trailingPercent'] as const).map(kept),
  'scale',
  ...['scaleTable', 'activeStartTime', 'activeStopTime'].map((name) => no(name)),
  'hedge',
  no('optOutSmartRouting'),
  no('clearingAccount'),
  no('clearingIntent', 'IB'),
  no('notHeld'),
  'delta-neutral-contract',
  'algo',
  no('algoId'),
  kept('whatIf'),
  no('orderMiscOptions'),
  info('solicited'),
  ...['randomizeSize', 'randomizePrice'].map((name) => no(name)),
  'peg-bench',
  'conditions',
  no('adjustedOrderType', 'None'),
  no('triggerPrice'),
  kept('lmtPriceOffset'),
  ...['adjustedStopPrice', 'adjustedStopLimitPrice', 'adjustedTrailingAmount', 'adjustableTrailingUnit'].map(
    (name) => no(name),
  ),
  info('extOperator'),
  ...['softDollarTierName', 'softDollarTierValue'].map((name) => no(name)),
  kept('cashQty'),
  ...['decisionMaker', 'decisionAlgo', 'executionTrader', 'executionAlgo', 'dontUseAutoPriceForHedge'].map(
    info,
  ),
  no('isOmsContainer'),
  no('discretionaryUpToLimitPrice'),
  info('usePriceMgmtAlgo'),
  { since: 158, field: no('duration') },
  { since: 160, field: no('postToAts') },
  { since: 162, field: info('autoCancelParent') },
  { since: 166, field: info('advancedErrorOverride') },
  { since: 169, field: info('manualOrderTime') },
];
