/** Control of a simulation: its quotes, clock, instruments and corporate actions (D35). */
import { type Static, Type } from 'typebox';
import {
  clockGoals,
  clockModes,
  corporateActionStatuses,
  corporateActionTypes,
  optionSettlements,
  optionStyles,
  settleSessions,
  underlyingClasses,
} from './enums.js';
import {
  anyText,
  choice,
  closed,
  count,
  date,
  duration,
  exactly,
  expectedChoice,
  flag,
  instant,
  integer,
  list,
  listOf,
  moneyBounds,
  namedChoice,
  nonNegative,
  number,
  oneOf,
  optional,
  positive,
  price,
  priceBounds,
  quantityBounds,
  signed,
  simulatedDate,
  simulatedTime,
  span,
  text,
} from './fields.js';
import { Instrument } from './market-data.js';
import { paged } from './paging.js';
import { OptionTypeValue } from './positions.js';
import { type Rule, ruled } from './rules.js';

const size = (): ReturnType<typeof nonNegative> => nonNegative(quantityBounds);

export const PushedQuote = ruled(
  closed('PushedQuote', {
    symbol: text({ examples: ['AAPL'] }),
    bid: nonNegative(priceBounds, { description: 'Bid in dollars; 0 = no bid.' }),
    ask: price(),
    bidSize: optional(size()),
    askSize: optional(size()),
    last: optional(price()),
    lastSize: optional(size()),
    timestamp: optional(
      Type.Union([count(), instant({ 'x-simulated': true })], {
        description:
          'Time of the quote, epoch milliseconds or ISO 8601; absent = current time of the simulation.',
        'x-expected': 'must be epoch milliseconds or an ISO 8601 timestamp with a zone',
      }),
    ),
  }),
  (body, report) => {
    if (typeof body.bid === 'number' && typeof body.ask === 'number' && body.bid > body.ask) {
      report.field('bid', 'must not be greater than ask');
    }
  },
);
export type PushedQuote = Static<typeof PushedQuote>;

export const PushQuotesBody = closed(
  'PushQuotesBody',
  { quotes: list(PushedQuote, { min: 1, max: 1000 }) },
  { examples: [{ quotes: [{ symbol: 'AAPL', bid: 187.45, ask: 187.5, bidSize: 300, askSize: 200 }] }] },
);
export type PushQuotesBody = Static<typeof PushQuotesBody>;

export const PushQuotesResult = closed('PushQuotesResult', {
  accepted: count({ description: 'Number of accepted quotes; all affected orders are processed.' }),
  now: instant(),
});
export type PushQuotesResult = Static<typeof PushQuotesResult>;

export const ClockModeValue = namedChoice('ClockMode', clockModes);

export const Clock = closed('Clock', {
  now: instant(),
  mode: ClockModeValue,
  speed: number({ description: 'Simulated seconds per second; 0 for a manual clock.' }),
});
export type Clock = Static<typeof Clock>;

export const clockSpeedBounds = { maximum: 1_000_000, decimals: 6 };

export const SetClockBody = ruled(
  closed('SetClockBody', {
    now: optional(
      simulatedTime({ description: 'Target time, not before the current time of the simulation.' }),
    ),
    speed: optional(
      positive(clockSpeedBounds, { description: 'Simulated seconds per real second. Scaled clocks only.' }),
    ),
  }),
  (body, report) => {
    if (body.now === undefined && body.speed === undefined) {
      report.sentence('now', 'body must contain at least one of now, speed');
    }
  },
);
export type SetClockBody = Static<typeof SetClockBody>;

const advance = {
  to: optional(simulatedTime({ description: 'The instant to move to.' })),
  by: optional(
    duration({
      description:
        'Duration to advance, at most ten years and not beyond 2199-12-31. Years, months, weeks and days keep the time of day in New York: `P1D` is the same time on the next date, `PT24H` is 24 hours.',
    }),
  ),
  until: optional(
    choice(clockGoals, {
      description:
        'Moves to the next quote of the feed, order event, open or close of the regular session, or end of a minute bar; at most one year ahead.',
    }),
  ),
};

/** Exactly one form of the target. */
const advanceRule: Rule<{ to: unknown; by: unknown; until: unknown }> = (body, report) => {
  const [, second] = (['to', 'by', 'until'] as const).filter((one) => body[one] !== undefined);
  if (body.to === undefined && body.by === undefined && body.until === undefined)
    report.field('to', 'or by or until must be given');
  if (second !== undefined)
    report.field(second, `should not exist together with ${body.to !== undefined ? 'to' : 'by'}`);
};

export const AdvanceClockBody = ruled(closed('AdvanceClockBody', advance), advanceRule);
export type AdvanceClockBody = Static<typeof AdvanceClockBody>;

const rate = { maximum: 100, decimals: 8 };

export const ListEquity = closed('ListEquity', {
  assetClass: exactly('EQUITY'),
  symbol: text(),
  name: optional(text()),
  tickSize: optional(price()),
  leverageFactor: optional(
    signed(
      { maximum: 10, decimals: 4 },
      { description: 'Leverage: 1 for a stock; negative for an inverse fund.' },
    ),
  ),
  luldTier: optional(
    integer(1, 2, { description: 'Tier of the plan for limit up, limit down; absent = 2.', examples: [1] }),
  ),
  shortable: optional(flag()),
  borrowRateAnnual: optional(nonNegative(rate, { description: 'As a fraction.' })),
});
export type ListEquity = Static<typeof ListEquity>;

/** Shares of a symbol, or cash, that one contract delivers (D208). */
export const ListedDeliverable = ruled(
  closed('ListedDeliverable', {
    symbol: optional(text({ description: 'Symbol.', examples: ['WBD'] })),
    quantity: optional(integer(1, 1_000_000, { description: 'Whole shares.' })),
    cash: optional(positive(moneyBounds, { description: 'Dollars, instead of shares.' })),
  }),
  (body, report) => {
    for (const name of ['symbol', 'quantity'] as const) {
      if (body.cash !== undefined && body[name] !== undefined)
        report.field(name, 'should not exist together with cash');
      if (body.cash === undefined && body[name] === undefined)
        report.field(name, 'must be given, or cash instead of shares');
    }
  },
);

export const ListOption = ruled(
  closed('ListOption', {
    assetClass: exactly('OPTION'),
    symbol: optional(text({ description: 'Symbol in OSI form; alternatively its four components.' })),
    name: optional(text()),
    underlying: optional(text()),
    optionType: optional(OptionTypeValue),
    strike: optional(price()),
    expiration: optional(simulatedDate()),
    multiplier: optional(positive({ maximum: 1e6, decimals: 6 })),
    style: optional(choice(optionStyles)),
    settlement: optional(choice(optionSettlements)),
    settleSession: optional(
      choice(settleSessions, { description: 'AM = settled at the opening prices of the expiration date.' }),
    ),
    underlyingClass: optional(choice(underlyingClasses)),
    deliverable: optional(
      integer(1, 1_000_000, { description: 'Shares per contract; absent = the multiplier.' }),
    ),
    // All that one contract delivers, shares of its underlying among it.
    deliverables: optional(list(ListedDeliverable, { min: 1, max: 10 })),
    tickSize: optional(price()),
  }),
  (body, report) => {
    if (body.symbol !== undefined) return;
    if (body.underlying === undefined) report.field('underlying', 'must be a string');
    if (body.optionType === undefined) report.field('optionType', expectedChoice(['CALL', 'PUT']));
    if (body.strike === undefined) report.field('strike', 'must be a positive number');
    if (body.expiration === undefined) report.field('expiration', 'must be a date, YYYY-MM-DD');
  },
);
export type ListOption = Static<typeof ListOption>;

export const ListFuture = closed('ListFuture', {
  assetClass: exactly('FUTURE'),
  symbol: text({ description: 'Symbol; sufficient for a known root, such as `ESZ26`.', examples: ['ESZ26'] }),
  name: optional(text()),
  root: optional(text()),
  multiplier: optional(positive({ maximum: 1e8, decimals: 6 })),
  tickSize: optional(price()),
  settlement: optional(
    choice(optionSettlements, { description: 'Settlement; absent = that of the root, or CASH.' }),
  ),
  lastTradeDate: optional(simulatedDate()),
  firstNoticeDate: optional(simulatedDate()),
  initialMargin: optional(nonNegative(moneyBounds)),
  maintenanceMargin: optional(nonNegative(moneyBounds)),
  spreadMargin: optional(
    nonNegative(moneyBounds, { description: 'Spread credit per pair of contract months, dollars.' }),
  ),
});
export type ListFuture = Static<typeof ListFuture>;

export const ListIndex = closed('ListIndex', {
  assetClass: exactly('INDEX'),
  symbol: text(),
  name: optional(text()),
});
export type ListIndex = Static<typeof ListIndex>;

export const ListInstrument = oneOf('ListInstrument', 'assetClass', [
  ListEquity,
  ListOption,
  ListFuture,
  ListIndex,
]);
export type ListInstrument = Static<typeof ListInstrument>;

export const ListInstrumentsBody = closed('ListInstrumentsBody', {
  instruments: list(ListInstrument, { min: 1, max: 1000 }),
});
export type ListInstrumentsBody = Static<typeof ListInstrumentsBody>;

export const ListedInstruments = closed('ListedInstruments', { instruments: listOf(Instrument) });
export type ListedInstruments = Static<typeof ListedInstruments>;

export const SplitAction = closed('SplitAction', {
  type: exactly('SPLIT'),
  symbol: text(),
  exDate: simulatedDate(),
  payDate: optional(simulatedDate()),
  ratio: closed(
    'SplitRatio',
    { new: positive({ maximum: 1e6, decimals: 6 }), old: positive({ maximum: 1e6, decimals: 6 }) },
    { description: 'Split ratio: new shares for old shares.' },
  ),
});
export type SplitAction = Static<typeof SplitAction>;

export const CashDividendAction = ruled(
  closed('CashDividendAction', {
    type: exactly('CASH_DIVIDEND'),
    symbol: text(),
    exDate: simulatedDate(),
    payDate: optional(simulatedDate({ description: 'Absent = the ex-date.' })),
    amountPerShare: price(),
  }),
  (body, report) => {
    if (typeof body.payDate === 'string' && typeof body.exDate === 'string' && body.payDate < body.exDate) {
      report.field('payDate', 'must not be before exDate');
    }
  },
);
export type CashDividendAction = Static<typeof CashDividendAction>;

/** Fields that the other kinds of corporate actions have in common (D208). */
const ofAction = () => ({ symbol: text(), exDate: simulatedDate() });

const newSymbolText = (): ReturnType<typeof text> =>
  text({ description: 'Symbol of the new shares; listed on the ex-date if it is not.' });

const payDateText = () =>
  optional(simulatedDate({ description: 'Absent, or before the ex-date = the ex-date.' }));

const sharesRatio = () =>
  Type.Union(
    [
      positive({ maximum: 1e6, decimals: 6 }),
      closed('SharesRatio', { new: integer(1, 1_000_000), old: integer(1, 1_000_000) }),
    ],
    {
      description:
        'New shares for each old one: a number with up to six decimals, or whole numbers `{ new, old }`.',
      'x-expected': 'must be a positive number with up to 6 decimals, or { new, old } of whole numbers',
    },
  );

export const SpecialDividendAction = closed('SpecialDividendAction', {
  type: exactly('SPECIAL_DIVIDEND'),
  ...ofAction(),
  payDate: payDateText(),
  cashPerShare: price(),
});
export type SpecialDividendAction = Static<typeof SpecialDividendAction>;

export const StockDividendAction = closed('StockDividendAction', {
  type: exactly('STOCK_DIVIDEND'),
  ...ofAction(),
  rate: positive(
    { maximum: 100, decimals: 6 },
    { description: 'New shares for each share held: 0.1 is a dividend of 10 %.' },
  ),
});
export type StockDividendAction = Static<typeof StockDividendAction>;

export const SymbolChangeAction = closed('SymbolChangeAction', {
  type: exactly('SYMBOL_CHANGE'),
  ...ofAction(),
  newSymbol: text({ description: 'A symbol without a quote, position or order in the simulation.' }),
});
export type SymbolChangeAction = Static<typeof SymbolChangeAction>;

export const SpinOffAction = ruled(
  closed('SpinOffAction', {
    type: exactly('SPIN_OFF'),
    ...ofAction(),
    newSymbol: newSymbolText(),
    ratio: sharesRatio(),
    basisPercent: positive(
      { maximum: 100, decimals: 4 },
      { description: 'Part of the cost that passes to the new shares, in percent: above 0, below 100.' },
    ),
  }),
  (body, report) => {
    if (body.basisPercent === 100) report.field('basisPercent', 'must be less than 100');
  },
);
export type SpinOffAction = Static<typeof SpinOffAction>;

export const MergerAction = ruled(
  closed('MergerAction', {
    type: exactly('MERGER'),
    ...ofAction(),
    newSymbol: optional(newSymbolText()),
    ratio: optional(sharesRatio()),
    cashPerShare: optional(price()),
    payDate: payDateText(),
  }),
  (body, report) => {
    if ((body.newSymbol === undefined) !== (body.ratio === undefined)) {
      if (body.ratio === undefined) report.field('ratio', 'must be given together with newSymbol');
      else report.field('newSymbol', 'must be given together with ratio');
    }
    if (body.newSymbol === undefined && body.ratio === undefined && body.cashPerShare === undefined)
      report.field('cashPerShare', 'must be given, or newSymbol with ratio');
    if (body.payDate !== undefined && body.cashPerShare === undefined)
      report.field('payDate', 'should not exist without cashPerShare');
  },
);
export type MergerAction = Static<typeof MergerAction>;

export const DelistingAction = closed('DelistingAction', {
  type: exactly('DELISTING'),
  ...ofAction(),
  cashPerShare: nonNegative(priceBounds, { description: '0 = worthless.' }),
  payDate: payDateText(),
});
export type DelistingAction = Static<typeof DelistingAction>;

export const CorporateAction = oneOf('CorporateAction', 'type', [
  SplitAction,
  CashDividendAction,
  SpecialDividendAction,
  StockDividendAction,
  SymbolChangeAction,
  SpinOffAction,
  MergerAction,
  DelistingAction,
]);
export type CorporateAction = Static<typeof CorporateAction>;

export const CorporateActionsBody = closed(
  'CorporateActionsBody',
  { actions: list(CorporateAction, { min: 1, max: 1000 }) },
  {
    examples: [
      { actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: '2026-03-02', ratio: { new: 2, old: 1 } }] },
    ],
  },
);
export type CorporateActionsBody = Static<typeof CorporateActionsBody>;

export const AnnouncedAction = closed('AnnouncedAction', {
  actionId: anyText(),
  type: choice(corporateActionTypes),
  symbol: anyText(),
  exDate: date(),
  payDate: optional(date()),
  ratio: optional(
    Type.Union([closed('AnnouncedRatio', { new: number(), old: number() }), number()], {
      description: 'As it was announced; of splits in the smallest whole numbers.',
    }),
  ),
  amountPerShare: optional(number({ description: 'CASH_DIVIDEND only.' })),
  cashPerShare: optional(number()),
  rate: optional(number()),
  newSymbol: optional(anyText()),
  basisPercent: optional(number()),
  effectiveAt: instant({ description: '03:00 New York on the ex-date.' }),
  status: choice(corporateActionStatuses),
});
export type AnnouncedAction = Static<typeof AnnouncedAction>;

/** A corporate action that is not simulated (D184). */
export const UnsupportedAction = closed('UnsupportedAction', {
  symbol: anyText(),
  type: anyText({ description: 'Description by the source.', examples: ['spin_offs'] }),
  exDate: optional(date()),
});
export type UnsupportedAction = Static<typeof UnsupportedAction>;

export const CorporateActions = closed('CorporateActions', {
  actions: listOf(AnnouncedAction, { description: 'In the order in which they take effect.' }),
  unsupported: optional(
    listOf(UnsupportedAction, {
      description: 'Actions reported by the source of live market data that are not simulated.',
    }),
  ),
});
export type CorporateActions = Static<typeof CorporateActions>;

export const HaltBody = ruled(
  closed(
    'HaltBody',
    {
      symbol: text({
        description:
          'A listed EQUITY or INDEX, whose options stop with it; `*` = all equities, all options and futures on stock indices.',
        examples: ['AAPL'],
      }),
      reason: text({
        maxLength: 8,
        pattern: '^[A-Z0-9]{1,8}$',
        description:
          'Code of the halt. Known: LUDP, LUDS, M, T1, T2, T5, T6, T8, T12, H4, H9, H10, H11, O1, IPO1, MWC0, MWC1, MWC2, MWC3.',
        examples: ['LUDP'],
        'x-expected': 'must be 1 to 8 characters of A-Z and 0-9',
      }),
      until: optional(simulatedTime({ description: 'End of the halt; after the current time.' })),
      for: optional(
        span({
          description:
            'Duration of the halt. Without `until` and `for`: five minutes for LUDP, LUDS and M, unlimited for others.',
        }),
      ),
    },
    { examples: [{ symbol: 'AAPL', reason: 'LUDP', for: 'PT5M' }] },
  ),
  (body, report) => {
    if (body.until !== undefined && body.for !== undefined)
      report.field('for', 'should not exist together with until');
  },
);
export type HaltBody = Static<typeof HaltBody>;

export const Halt = closed(
  'Halt',
  {
    symbol: anyText({ description: '`*` = the whole stock market.' }),
    reason: anyText(),
    since: instant(),
    until: optional(instant({ description: 'Absent = until it is lifted.' })),
  },
  {
    examples: [
      {
        symbol: 'AAPL',
        reason: 'LUDP',
        since: '2026-01-05T15:30:00.000Z',
        until: '2026-01-05T15:35:00.000Z',
      },
    ],
  },
);
export type Halt = Static<typeof Halt>;

export const HaltPage = paged('HaltPage', Halt, 'Halts in force, by symbol.');
export type HaltPage = Static<typeof HaltPage>;

export const LiftedHalt = closed('LiftedHalt', { symbol: anyText(), message: anyText() });
export type LiftedHalt = Static<typeof LiftedHalt>;

export const WithdrawnAction = closed('WithdrawnAction', { actionId: anyText(), message: anyText() });
export type WithdrawnAction = Static<typeof WithdrawnAction>;
