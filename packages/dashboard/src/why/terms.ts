/** Words of the trade with a short explanation and the page that has all of it. */

interface Explanation {
  readonly title: string;
  readonly text: string;
  /** Below `/docs/`, with the heading if one explains it. */
  readonly path: string;
}

export const TERMS = {
  buyingPower: {
    title: 'Buying power',
    text: 'Value of stock that the portfolio can still buy, money that it may borrow included.',
    path: 'rules/margin-reg-t#checking-an-order',
  },
  dayTradePower: {
    title: 'Day-trade buying power',
    text: 'Value of stock that the portfolio can buy and sell again on the same day.',
    path: 'rules/day-trades#regimes',
  },
  dayTrades: {
    title: 'Day trade',
    text: 'A position opened and closed on the same day. Before June 4, 2026 a fourth one in five business days is refused to a margin portfolio of less than $25,000 (pattern day trader).',
    path: 'rules/day-trades#counting',
  },
  initialMargin: {
    title: 'Initial margin',
    text: 'Equity that opening a position requires; for most shares half of their value.',
    path: 'rules/margin-reg-t#requirements',
  },
  maintenance: {
    title: 'Maintenance requirement',
    text: 'Equity that the broker requires as long as positions are held. Below it there is a margin call.',
    path: 'rules/margin-reg-t#requirements',
  },
  excess: {
    title: 'Excess',
    text: 'Margin equity less the maintenance requirement. Below zero there is a margin call.',
    path: 'rules/margin-reg-t#requirements',
  },
  sma: {
    title: 'Special Memorandum Account',
    text: 'Credit that gains add to at each close and that falling prices never reduce. Buying power is at most twice its balance.',
    path: 'rules/margin-reg-t#sma',
  },
  marginLoan: {
    title: 'Margin loan',
    text: 'Cash borrowed from the broker to hold positions. Interest accrues on it each day.',
    path: 'rules/margin-reg-t#calls',
  },
  settledCash: {
    title: 'Settled cash',
    text: 'Cash of trades that have settled. It can be withdrawn, and pays for purchases in a cash portfolio.',
    path: 'rules/settlement#the-rule',
  },
  pendingCash: {
    title: 'Pending cash',
    text: 'Cash of trades and dividends that arrives or leaves on their settlement date.',
    path: 'rules/settlement#the-rule',
  },
  reserved: {
    title: 'Reserved',
    text: 'Cash or shares that open orders reserve.',
    path: 'rules/reservations#the-rule',
  },
  shortValue: {
    title: 'Short value',
    text: 'Value of what was sold without being owned, and has to be bought back.',
    path: 'rules/short-selling',
  },
  assignment: {
    title: 'Assignment',
    text: 'A holder exercises the option that you sold: you deliver the shares or buy them, at the strike price.',
    path: 'rules/exercise-and-assignment#at-expiration',
  },
  earlyExercise: {
    title: 'Early exercise',
    text: 'Use of an American option before its expiration.',
    path: 'rules/exercise-and-assignment#on-request',
  },
  costBasis: {
    title: 'Cost basis',
    text: 'What was paid for a position, with fees and adjustments. The gain of a sale is the proceeds less the basis.',
    path: 'rules/taxes',
  },
  washSale: {
    title: 'Wash sale',
    text: 'Loss that does not count, because the same security was bought within 30 days before or after the sale. It is added to the basis of the new shares.',
    path: 'rules/taxes',
  },
  section1256: {
    title: 'Section 1256',
    text: 'Futures and index options are taxed as if sold at the end of the year: 60 % long-term, 40 % short-term.',
    path: 'rules/taxes',
  },
  impliedVolatility: {
    title: 'Implied volatility',
    text: 'Yearly volatility of the underlying at which the option model gives the price of the option.',
    path: 'rules/option-model',
  },
  delta: {
    title: 'Delta',
    text: 'Change of the option’s price when the underlying rises by $1.',
    path: 'rules/option-model',
  },
  gamma: {
    title: 'Gamma',
    text: 'Change of delta when the underlying rises by $1.',
    path: 'rules/option-model',
  },
  theta: {
    title: 'Theta',
    text: 'Change of the option’s price from one day to the next, all else equal.',
    path: 'rules/option-model',
  },
  vega: {
    title: 'Vega',
    text: 'Change of the option’s price when volatility rises by one percentage point.',
    path: 'rules/option-model',
  },
  openInterest: {
    title: 'Open interest',
    text: 'Contracts that were open at the end of the day before.',
    path: 'rules/market-data',
  },
  volume: {
    title: 'Volume',
    text: 'Contracts traded in the session.',
    path: 'rules/market-data',
  },
  breakeven: {
    title: 'Breakeven',
    text: 'Price of the underlying at expiration at which the strategy neither gains nor loses, before charges.',
    path: 'rules/multi-leg-orders',
  },
} as const satisfies Readonly<Record<string, Explanation>>;

export type TermName = keyof typeof TERMS;
