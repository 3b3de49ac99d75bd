/** Analytics of a portfolio: its returns, its round trips and their tax treatment (D186, D187, D189). */
import { type Static, Type } from 'typebox';
import {
  anyText,
  choice,
  closed,
  count,
  date,
  dateOrInstant,
  flag,
  instant,
  integer,
  listOf,
  namedChoice,
  number,
  optional,
  parameters,
  positive,
  signed,
  text,
  uuid,
} from './fields.js';
import { paged, pageFields, Pagination } from './paging.js';

const AssetClassValue = choice(['EQUITY', 'OPTION', 'FUTURE']);

const epoch = integer(1, 1_000_000, {
  description: 'Number of the epoch, from 1. Each reset of the portfolio begins a new epoch.',
});

export const TradesQuery = parameters({
  ...pageFields,
  from: optional(
    dateOrInstant({ description: 'Trades closed at or after this; a date starts at midnight in New York.' }),
  ),
  to: optional(dateOrInstant({ description: 'Trades closed before this; a date counts as a whole.' })),
  epoch: optional(epoch),
});
export type TradesQuery = Static<typeof TradesQuery>;

const OpenedByValue = namedChoice('TradeOpenedBy', ['TRADE', 'EXERCISE', 'ASSIGNMENT', 'IMPORT', 'ACTION'], {
  description: 'The kind of event that opened the position.',
});
const ClosedByValue = namedChoice(
  'TradeClosedBy',
  [
    'TRADE',
    'EXPIRATION',
    'EXERCISE',
    'ASSIGNMENT',
    'SETTLEMENT',
    'LIQUIDATION',
    'BUY_IN',
    'CASH_IN_LIEU',
    'MERGER',
    'DELISTING',
    'RESET',
  ],
  { description: 'The kind of event that closed the position.' },
);

export const RoundTrip = closed('RoundTrip', {
  tradeId: anyText({ description: 'Sequence number in the portfolio, in order of closing.' }),
  epoch: count({ description: 'Number of the epoch of the trade, from 1.' }),
  symbol: anyText(),
  assetClass: AssetClassValue,
  side: choice(['LONG', 'SHORT'], { description: 'The side of the position.' }),
  quantity: number({ description: 'Shares or contracts, restated for splits since the opening.' }),
  openedQuantity: optional(number({ description: 'Quantity at the opening, if a split changed it.' })),
  openedAt: instant({ description: 'Time of the first opening execution.' }),
  closedAt: instant({ description: 'Time of the last closing execution.' }),
  entryPrice: number({ description: 'Average opening price, dollars, restated for splits.' }),
  exitPrice: optional(
    number({
      description:
        'Average closing price, dollars. Absent if an option became shares or a reset removed the position.',
    }),
  ),
  grossPnl: number({ description: 'Profit or loss before charges, dollars.' }),
  commissions: number({ description: 'Commissions of opening and closing, dollars.' }),
  fees: number({ description: 'Regulatory and exchange fees of opening and closing, dollars.' }),
  netPnl: number({ description: 'Profit or loss after charges, dollars.' }),
  return: optional(
    number({ description: 'Net profit as a fraction of the value of the opening; absent where that is 0.' }),
  ),
  holding: number({ description: 'Seconds between opening and closing.' }),
  openOrderId: optional(uuid({ description: 'Order that opened the position, if any.' })),
  closeOrderId: optional(uuid({ description: 'Order that closed the position, if any.' })),
  openedBy: OpenedByValue,
  closedBy: ClosedByValue,
});
export type RoundTrip = Static<typeof RoundTrip>;

export const TradePage = paged('TradePage', RoundTrip, 'Round trips, newest first.');
export type TradePage = Static<typeof TradePage>;

const performanceFields = {
  from: optional(
    dateOrInstant({
      description:
        'Start of the period; a date starts at midnight in New York. Default: the opening of the epoch.',
    }),
  ),
  to: optional(dateOrInstant({ description: 'End of the period; a date counts as a whole. Default: now.' })),
  epoch: optional(epoch),
  benchmark: optional(
    text({
      maxLength: 32,
      description: 'Symbol whose daily total returns are compared with those of the portfolio.',
      examples: ['SPY'],
    }),
  ),
  riskFreeRate: optional(
    signed(
      { maximum: 1, decimals: 8 },
      { description: 'Annual risk-free rate as a fraction: 0.05 = 5 %. Default 0.', examples: [0.05] },
    ),
  ),
  periodsPerYear: optional(
    positive(
      { maximum: 366, decimals: 2 },
      {
        description:
          'Days per year for annualizing daily figures. Default 252; 365 if the calendar is `always-open`.',
        examples: [252],
      },
    ),
  ),
};

export const PerformanceQuery = parameters({
  ...performanceFields,
  series: optional(flag({ description: 'True adds every valuation to the answer. Default false.' })),
});
export type PerformanceQuery = Static<typeof PerformanceQuery>;

export const ReportQuery = parameters(performanceFields);
export type ReportQuery = Static<typeof ReportQuery>;

export const Report = anyText({ description: 'A self-contained page of HTML.' });

const fraction = (description: string) => number({ description: `${description} A fraction: 0.01 = 1 %.` });
const amount = (description: string) => number({ description: `${description} Dollars.` });

const DayReturn = closed('DayReturn', { date: date(), return: fraction('Return of the day.') });

export const Drawdown = closed('Drawdown', {
  fraction: fraction(
    'Deepest fall of the linked index, which external flows do not move, below its running maximum; 0 or negative.',
  ),
  amount: amount('Profit and loss from peak to trough.'),
  peakAt: instant({ description: 'Time of the peak.' }),
  troughAt: instant({ description: 'Time of the trough.' }),
  recoveredAt: optional(
    instant({ description: 'First valuation at or above the peak; absent while it has not recovered.' }),
  ),
});
export type Drawdown = Static<typeof Drawdown>;

const Attribution = closed(
  'PnlAttribution',
  {
    realized: amount(
      'Gains realized in the period before charges, of futures their booked variation. Lots of an import count from their mark in its flow.',
    ),
    unrealized: amount('Unrealized gain at `to` less that at `from`.'),
    dividends: amount('Dividends less payments in lieu, when they entered equity.'),
    interest: amount('Margin interest; negative.'),
    borrowFees: amount('Fees for borrowed shares; negative.'),
    commissions: amount('Commissions; negative.'),
    fees: amount('Regulatory and exchange fees; negative.'),
    other: amount('Changes of equity without one of these causes; 0.'),
  },
  { description: '`pnl` split by cause. The parts add up to `pnl`, to the cent.' },
);

const BreakReasonValue = namedChoice('BreakReason', ['FLOW', 'EQUITY_NOT_POSITIVE'], {
  description:
    'Cause of the break: an external flow or a loss reduced equity to 0 or below. After a loss, only an external flow ends the break.',
});

export const Performance = closed('Performance', {
  from: instant({ description: 'The first valuation.' }),
  to: instant({ description: 'The last valuation.' }),
  epoch: count({ description: 'Number of the epoch, from 1.' }),
  startEquity: amount('Equity at the start.'),
  endEquity: amount('Equity at the end.'),
  netFlows: amount('External cash flows of the period, in less out.'),
  pnl: amount('Change of equity less external flows.'),
  attribution: Attribution,
  timeWeightedReturn: optional(fraction('Return with external flows taken out.')),
  moneyWeightedReturn: optional(
    fraction('Internal rate of return of the flows; of a period below a year the return of the period.'),
  ),
  annualized: optional(flag({ description: 'True if `moneyWeightedReturn` is an annual rate.' })),
  annualizedReturn: optional(fraction('Yearly return of the finished days, from 21 of them on.')),
  volatility: optional(fraction('Yearly standard deviation of daily returns.')),
  sharpe: optional(number({ description: 'Annualized Sharpe ratio of daily returns.' })),
  sortino: optional(number({ description: 'Annualized Sortino ratio of daily returns.' })),
  calmar: optional(number({ description: '`annualizedReturn` divided by the maximum drawdown.' })),
  periodShorterThanYear: optional(
    Type.Literal(true, {
      type: 'boolean',
      'x-expected': 'must be true',
      description: 'Present if annualized figures are based on less than a year.',
    }),
  ),
  maxDrawdown: optional(Drawdown),
  bestDay: optional(DayReturn),
  worstDay: optional(DayReturn),
  positiveDays: count({ description: 'Finished days with a positive return.' }),
  negativeDays: count({ description: 'Finished days with a negative return.' }),
  exposure: optional(
    number({
      description: 'Gross market value plus notional of futures, divided by equity; mean over all closes.',
    }),
  ),
  timeInMarket: optional(fraction('Share of closes with a position.')),
  turnover: optional(
    number({
      description: 'Half of the value of equities and options bought and sold, divided by mean equity.',
    }),
  ),
  commissions: amount('Commissions paid.'),
  fees: amount('Fees paid.'),
  interest: amount('Margin interest paid.'),
  dividends: amount('Dividends received less those owed on short positions.'),
  trades: closed('TradeStatistics', {
    count: count({ description: 'Round trips closed at a price in the period.' }),
    wins: count(),
    losses: count(),
    winRate: optional(fraction('Wins over all trades.')),
    profitFactor: optional(number({ description: 'Sum of wins divided by the sum of losses.' })),
    averageWin: optional(amount('Mean net profit of the wins.')),
    averageLoss: optional(amount('Mean net loss of the losses; negative.')),
    expectancy: optional(amount('Mean net profit of all trades.')),
    averageHolding: optional(number({ description: 'Seconds.' })),
  }),
  benchmark: optional(
    closed('BenchmarkComparison', {
      symbol: anyText(),
      return: optional(fraction('Total return of the benchmark over the days that both have.')),
      alpha: optional(number({ description: 'Annualized Jensen alpha, arithmetic.' })),
      beta: optional(number()),
      correlation: optional(number()),
      trackingError: optional(fraction('Yearly deviation of the daily differences.')),
      informationRatio: optional(number()),
      reason: optional(
        choice(['NO_DATA'], {
          description: 'Fewer than two days have a return of both the portfolio and the benchmark.',
        }),
      ),
    }),
  ),
  monthly: listOf(
    closed('MonthReturn', {
      month: anyText({ description: '`YYYY-MM`.', examples: ['2026-01'] }),
      return: fraction('Return of the month.'),
      partial: optional(
        Type.Literal(true, {
          type: 'boolean',
          'x-expected': 'must be true',
          description: 'Present if the period covers only part of the month.',
        }),
      ),
    }),
  ),
  series: optional(
    listOf(
      closed('PerformancePoint', {
        at: instant(),
        equity: amount('Equity after any flow.'),
        return: optional(
          fraction(
            'Return since the start, or since the end of the last loss of all equity, flows taken out; absent in a break.',
          ),
        ),
        drawdown: optional(fraction('Fall below the running maximum; 0 or negative. Absent in a break.')),
      }),
    ),
  ),
  breaks: listOf(
    closed('PerformanceBreak', {
      from: instant({ description: 'First valuation at which equity was not positive.' }),
      to: optional(
        instant({ description: 'First valuation after the break; absent while the break lasts.' }),
      ),
      reason: BreakReasonValue,
    }),
    { description: 'Periods without returns because equity was not positive, oldest first.' },
  ),
  segments: listOf(
    closed('PerformanceSegment', {
      from: instant({ description: 'First valuation of the segment.' }),
      to: instant({ description: 'Last valuation of the segment.' }),
      timeWeightedReturn: fraction('Return with external flows taken out.'),
      maxDrawdown: Drawdown,
    }),
    { description: 'Periods between breaks, oldest first, each with its return.' },
  ),
  since: optional(
    instant({
      description:
        'Start of returns, ratios and drawdown after a loss of all equity: the time of the external flow that ended the break.',
    }),
  ),
  endedAt: optional(
    instant({
      description: 'Time of a loss of all equity without a later external flow. Returns end at this time.',
    }),
  ),
  reason: optional(choice(['EQUITY_NOT_POSITIVE'], { description: 'Present with `endedAt`.' })),
});
export type Performance = Static<typeof Performance>;

export const ExecutionQualityQuery = parameters({
  from: optional(
    dateOrInstant({
      description: 'Orders accepted at or after this; a date starts at midnight in New York. Default: all.',
    }),
  ),
  to: optional(
    dateOrInstant({ description: 'Orders accepted before this; a date counts as a whole. Default: now.' }),
  ),
  groupBy: optional(
    choice(['symbol', 'orderType', 'hour', 'broker'], {
      description:
        'Adds `groups`: by symbol, order type, New York hour of arrival, or broker configuration of the portfolio.',
    }),
  ),
  slippages: optional(flag({ description: 'If true, adds `slippages`. Default false.' })),
});
export type ExecutionQualityQuery = Static<typeof ExecutionQualityQuery>;

const bps = (description: string) =>
  optional(number({ description: `${description} Basis points: 1 = 0.01 %.` }));
const seconds = (description: string) => optional(number({ description: `${description} Seconds.` }));

const qualityFields = {
  orders: count({ description: 'Accepted orders, including those that ended REJECTED.' }),
  executions: count({ description: 'Executions of these orders.' }),
  notional: amount('Executed value.'),
  arrivalMid: optional(
    number({
      description:
        'Midpoint of the arrival quote, dollars: the quote in force when the order was accepted, the first quote of the session if it was accepted before, or the quote that triggered a stop.',
    }),
  ),
  slippageBps: bps('Average price against the arrival mid; positive is worse.'),
  implementationShortfall: optional(
    amount('Slippage, charges, and the move of the market against what was not filled (Perold 1988).'),
  ),
  implementationShortfallBps: bps('The shortfall over the value ordered at the arrival mid.'),
  effectiveSpreadBps: bps('Twice the distance of executions from the mid of their quotes.'),
  quotedSpreadBps: bps('Ask less bid over the mid, at execution.'),
  realizedSpreadBps: bps('Twice the distance of executions from the mid five minutes later (Rule 605).'),
  priceImprovement: optional(
    amount('Price improvement over the best bid or ask on marketable executions; negative if worse.'),
  ),
  priceImprovementRate: optional(
    fraction('Share of marketable executions at a better price than the best bid or ask.'),
  ),
  fillRate: optional(fraction('Executed over ordered value, both at the arrival mid.')),
  timeToFirstFill: seconds('Median from reaching the market to the first execution.'),
  timeToFill: seconds('Median from reaching the market to the last execution of filled orders.'),
  rejectRate: optional(
    fraction(
      'Orders that ended REJECTED and refusals that left a record, over accepted orders and those refusals.',
    ),
  ),
};

export const OrderExecutionQuality = closed('OrderExecutionQuality', qualityFields, {
  description: 'Transaction costs of an order. Figures that cannot be computed are absent.',
});
export type OrderExecutionQuality = Static<typeof OrderExecutionQuality>;

export const ExecutionQuality = closed(
  'ExecutionQuality',
  {
    ...qualityFields,
    groups: optional(
      listOf(
        closed('ExecutionQualityGroup', {
          key: anyText({
            description: 'Symbol, order type, hour as two digits, or broker id.',
            examples: ['AAPL'],
          }),
          ...qualityFields,
        }),
        { description: 'Sorted by key. Present with `groupBy`.' },
      ),
    ),
    slippages: optional(
      listOf(number(), {
        description:
          'Slippage of each of the latest 1,000 filled orders, basis points, oldest first. Present with `slippages=true`.',
      }),
    ),
  },
  {
    description:
      'Transaction costs of orders; means are weighted by executed value. Figures that cannot be computed are absent.',
  },
);
export type ExecutionQuality = Static<typeof ExecutionQuality>;

const LotMethodValue = namedChoice('LotMethod', ['FIFO', 'LIFO', 'HIFO'], {
  description:
    'Lots that a sale closes first, from the first day on: the oldest, the newest, or those with the smallest gain per share. Default FIFO.',
});

export const TaxLotsQuery = parameters({ ...pageFields, method: optional(LotMethodValue) });
export type TaxLotsQuery = Static<typeof TaxLotsQuery>;

export const TaxLot = closed('TaxLot', {
  symbol: anyText(),
  side: choice(['LONG', 'SHORT']),
  quantity: number({ description: 'Open shares or contracts.' }),
  acquiredAt: date({ description: 'New York trade date of the opening.' }),
  holdingFrom: date({ description: 'Date that the holding period counts from.' }),
  costBasis: amount(
    'Adjusted basis, charges included; of a short position the proceeds of the sale less charges.',
  ),
  washSaleDisallowed: optional(
    amount(
      'Disallowed losses of earlier sales in the basis; of a short position those that the basis of its cover will include. Absent in retirement accounts.',
    ),
  ),
  orderIds: listOf(uuid(), { description: 'Order that opened the lot; empty if no order did.' }),
});
export type TaxLot = Static<typeof TaxLot>;

export const TaxLotPage = closed(
  'TaxLotPage',
  { method: LotMethodValue, data: listOf(TaxLot), pagination: Pagination },
  { description: 'Open tax lots, by symbol, then by date of acquisition.' },
);
export type TaxLotPage = Static<typeof TaxLotPage>;

const TermValue = choice(['SHORT', 'LONG', 'SECTION_1256']);

export const RealizedGainsQuery = parameters({
  ...pageFields,
  year: optional(
    integer(1970, 2199, {
      description: 'Tax year, by New York dates. Default: the current year of the simulation.',
    }),
  ),
  method: optional(LotMethodValue),
  term: optional(
    choice(['SHORT', 'LONG', 'SECTION_1256'], {
      description: 'Only sales of this term.',
    }),
  ),
  form: optional(
    choice(['8949', '6781'], {
      description: 'CSV form: 8949 (default), 6781 for Section 1256.',
    }),
  ),
});
export type RealizedGainsQuery = Static<typeof RealizedGainsQuery>;

export const RealizedGain = closed('RealizedGain', {
  symbol: anyText(),
  quantity: number({ description: 'Shares or contracts.' }),
  acquiredAt: date({ description: 'New York trade date of the opening; of a short sale the covering date.' }),
  holdingFrom: date({ description: 'Date that the holding period counts from.' }),
  soldAt: date({ description: 'New York date of the sale.' }),
  proceeds: amount('Proceeds of the sale less charges.'),
  costBasis: amount('Adjusted basis, charges included.'),
  washSaleDisallowed: optional(amount('Part of the loss that a wash sale disallows; 0 or positive.')),
  gain: amount('`proceeds` − `costBasis` + `washSaleDisallowed`.'),
  term: optional(TermValue),
  washSale: optional(flag({ description: 'True if a wash sale disallows part of the loss.' })),
  code: optional(choice(['W'], { description: 'Adjustment code of Form 8949.' })),
  orderIds: listOf(uuid(), { description: 'Orders that opened and closed the lot.' }),
});
export type RealizedGain = Static<typeof RealizedGain>;

const totalFields = {
  proceeds: amount('Sum of proceeds.'),
  costBasis: amount('Sum of bases.'),
  washSaleDisallowed: amount('Sum of disallowed losses.'),
  gain: amount('Sum of gains.'),
};

const GainTotals = closed('GainTotals', totalFields);

const Section1256Totals = closed('Section1256Totals', {
  ...totalFields,
  shortTerm: amount('40 % of the gain, taxed as short-term.'),
  longTerm: amount('60 % of the gain, taxed as long-term.'),
});

export const RealizedGainPage = closed(
  'RealizedGainPage',
  {
    year: count({ description: 'The tax year.' }),
    method: LotMethodValue,
    data: listOf(RealizedGain),
    pagination: Pagination,
    totals: optional(
      closed('GainTotalsByTerm', { SHORT: GainTotals, LONG: GainTotals, SECTION_1256: Section1256Totals }),
    ),
    income: optional(
      closed('TaxIncome', {
        dividends: amount('Dividends received, by their pay dates.'),
        paymentsInLieu: amount('Dividends paid on short positions, by their pay dates.'),
        marginInterest: amount('Margin interest paid.'),
        borrowFees: amount('Fees paid for borrowed stock.'),
      }),
    ),
  },
  { description: 'Realized gains of a tax year, newest first, with the totals of the whole year.' },
);
export type RealizedGainPage = Static<typeof RealizedGainPage>;
