/** The pages of the rules in the documentation, and which of them explains a refusal, an order, a fill, or a requirement. */
import type {
  CancelReason,
  ErrorCode,
  Execution,
  Order,
  PortfolioDetail,
  Requirements,
} from '@sandpit/protocol';

/** Pages below `/docs/rules/`, with their titles. */
export const RULES = {
  cash: ['cash-and-ledger', 'Cash and ledger'],
  settlement: ['settlement', 'Settlement'],
  reservations: ['reservations', 'Reservations'],
  regT: ['margin-reg-t', 'Regulation T margin'],
  portfolioMargin: ['portfolio-margin', 'Portfolio margin'],
  optionMargin: ['margin-options', 'Margin of options'],
  calls: ['margin-calls', 'Margin calls'],
  positions: ['positions-and-marks', 'Positions and marks'],
  performance: ['performance', 'Performance'],
  reset: ['reset', 'Reset'],
  accounts: ['accounts', 'Accounts and portfolios'],
  brokers: ['brokers', 'Brokers'],
  exercise: ['exercise-and-assignment', 'Exercise and assignment'],
  orderStatus: ['order-status', 'Status of orders'],
  fillModels: ['fill-models', 'Fill models'],
  futures: ['futures', 'Futures'],
  orderTypes: ['order-types', 'Order types'],
  timeInForce: ['time-in-force', 'Time in force and sessions'],
  brackets: ['brackets', 'Brackets'],
  multiLeg: ['multi-leg-orders', 'Multi-leg orders'],
  fees: ['fees', 'Commissions and fees'],
  dayTrades: ['day-trades', 'Day trades'],
  shortSelling: ['short-selling', 'Short selling'],
  shortSaleRestriction: ['short-sale-restriction', 'The short sale restriction'],
  halts: ['halts', 'Trading halts'],
  auctions: ['auctions', 'Auctions'],
  calendar: ['trading-calendar', 'Trading calendar'],
  instruments: ['instruments', 'Instruments'],
  marketData: ['market-data', 'Market data'],
  corporateActions: ['dividends-and-splits', 'Dividends and splits'],
} as const satisfies Readonly<Record<string, readonly [page: string, title: string]>>;

export type RuleName = keyof typeof RULES;

/** A page of the documentation that the panel shows. */
export interface RulePage {
  /** Below `/docs/`. */
  readonly path: string;
  readonly title: string;
}

/** The page of a rule. */
export function ruleNamed(name: RuleName): RulePage {
  const [page, title] = RULES[name];
  return { path: `rules/${page}`, title };
}

const OF_CODES: Partial<Record<ErrorCode, RuleName>> = {
  MARKET_CLOSED: 'calendar',
  TRADING_HALTED: 'halts',
  AUCTION_CLOSED: 'auctions',
  INSUFFICIENT_POSITION: 'positions',
  UNKNOWN_SYMBOL: 'instruments',
  UNKNOWN_DELIVERABLE: 'instruments',
  INSTRUMENT_NOT_TRADABLE: 'instruments',
  NOT_SHORTABLE: 'shortSelling',
  POSITION_CONFLICT: 'positions',
  OPTION_LEVEL: 'optionMargin',
  DAY_TRADE_RESTRICTED: 'dayTrades',
  MARGIN_CALL_ACTIVE: 'calls',
  MARGIN_NOT_ELIGIBLE: 'portfolioMargin',
  ACCOUNT_FROZEN: 'settlement',
  BROKER_RESTRICTION: 'brokers',
  ORDER_NOT_UPDATABLE: 'orderStatus',
  PORTFOLIO_NOT_EMPTY: 'accounts',
  STALE_MARKET_DATA: 'marketData',
};

/** The rule of an error code; without its own rule, the section of the code in the list of errors. */
export function ruleOfCode(code: string, details: object = {}): RulePage | undefined {
  if (!/^[A-Z_]+$/.test(code) || code === 'INVALID') return undefined;
  if (code === 'INSUFFICIENT_FUNDS')
    return ruleNamed('requiredBuyingPower' in details ? 'regT' : 'reservations');
  const name = OF_CODES[code as ErrorCode];
  return name === undefined
    ? { path: `reference/errors#${code.toLowerCase()}`, title: `Error ${code}` }
    : ruleNamed(name);
}

const OF_CANCELS: Readonly<Record<CancelReason, RuleName>> = {
  USER: 'orderStatus',
  EXPIRED: 'timeInForce',
  IOC_REMAINDER: 'timeInForce',
  FOK_NOT_FILLABLE: 'timeInForce',
  OCO: 'brackets',
  RESET: 'reset',
  MARGIN_CALL: 'calls',
  BROKER: 'brokers',
  CORPORATE_ACTION: 'corporateActions',
  INSTRUMENT_EXPIRED: 'exercise',
  INSUFFICIENT_FUNDS: 'reservations',
  STALE_MARKET_DATA: 'marketData',
  TRADING_HALTED: 'halts',
  SCRIPTED: 'orderStatus',
  COMPETITION: 'orderStatus',
};

/** The rule of an order's status: of its refusal, of its end, or of the wait for its fill. */
export function ruleOfOrder({ rejection, cancelReason, legs }: Order): RulePage | undefined {
  if (rejection !== undefined) return ruleOfCode(rejection.code, rejection);
  if (cancelReason !== undefined) return ruleNamed(OF_CANCELS[cancelReason]);
  return ruleNamed(legs === undefined ? 'orderTypes' : 'multiLeg');
}

/** The rule of a fill. */
export function ruleOfFill({ explanation: { rule } }: Pick<Execution, 'explanation'>): RuleName {
  if (rule.endsWith('_AUCTION')) return 'auctions';
  return rule === 'RULE_201' ? 'shortSaleRestriction' : 'fillModels';
}

/** The rule of the requirement of a group of positions. */
export function ruleOfGroup(strategy: Requirements['groups'][number]['strategy']): RuleName {
  switch (strategy) {
    case 'LONG_STOCK':
    case 'SHORT_STOCK':
      return 'regT';
    case 'FUTURE':
    case 'FUTURE_SPREAD':
      return 'futures';
    case 'CLASS_GROUP':
      return 'portfolioMargin';
    default:
      return 'optionMargin';
  }
}

/** The rule of the buying power of a portfolio. */
export const ruleOfBuyingPower = ({
  portfolioType,
  marginType,
}: Pick<PortfolioDetail, 'portfolioType' | 'marginType'>): RuleName =>
  portfolioType === 'CASH' ? 'cash' : marginType === 'PORTFOLIO' ? 'portfolioMargin' : 'regT';
