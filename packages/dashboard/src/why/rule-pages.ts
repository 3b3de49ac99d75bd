/** The pages of the rules in the documentation. */

/** Pages below `/docs/rules/`, with their titles. */
const RULES = {
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
