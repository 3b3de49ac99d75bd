import {
  type Calendar,
  canonicalSymbol,
  type ClassOf,
  type Equity,
  futureContract,
  futureSpecification,
  type FutureContract,
  type IndexUnderlying,
  type Instrument,
  isLongAsOsi,
  lastTradeDateOf,
  marginOf,
  Money,
  type OptionContract,
  optionContract,
  type OsiSymbol,
  parseFutureSymbol,
  parseOsi,
  plainEquity,
  type Price,
  TradingDate,
} from '@sandpit/core';
import type { Deliverable, Instrument as ShownInstrument, ListInstrument } from '@sandpit/protocol';
import { moneyNumber, moneyOf, priceNumber, priceOf } from './numbers.js';

/** The canonical form of a symbol (see `canonicalSymbol`). Without a date, a one-digit year of a future is unchanged. */
export const plainSymbol = (symbol: string, today?: TradingDate): string => canonicalSymbol(symbol, today);

/** The instruments of a body, or one message for each that cannot be listed. `classOf` knows earlier listings. */
export function instrumentsOf(
  listed: readonly ListInstrument[],
  classOf: ClassOf,
  today: TradingDate,
): { readonly instruments: readonly Instrument[] } | { readonly problems: string[] } {
  const underlyings = new Map<string, 'EQUITY' | 'INDEX'>();
  for (const { assetClass, symbol } of listed)
    if (assetClass === 'EQUITY' || assetClass === 'INDEX') underlyings.set(symbol.toUpperCase(), assetClass);
  const instruments: Instrument[] = [];
  const problems: string[] = [];
  listed.forEach((entry, i) => {
    const instrument = instrumentOf(entry, (symbol) => underlyings.get(symbol) ?? classOf(symbol), today);
    if ('problem' in instrument) problems.push(`instruments.${i}${instrument.problem}`);
    else instruments.push(instrument);
  });
  return problems.length > 0 ? { problems } : { instruments };
}

/** An entry that cannot be listed; the problem is appended to the name of the entry. */
export interface Unlistable {
  readonly problem: string;
}

function instrumentOf(entry: ListInstrument, classOf: ClassOf, today: TradingDate): Instrument | Unlistable {
  switch (entry.assetClass) {
    case 'EQUITY':
      return equityOf(entry);
    case 'OPTION':
      return optionOf(entry, classOf);
    case 'FUTURE':
      return futureOf(entry, today);
    case 'INDEX':
      return indexOf(entry);
  }
}

type ListedOf<Class extends ListInstrument['assetClass']> = Extract<ListInstrument, { assetClass: Class }>;

function equityOf(entry: ListedOf<'EQUITY'>): Equity {
  const { name, tickSize, leverageFactor, luldTier, shortable, borrowRateAnnual } = entry;
  return {
    ...plainEquity(entry.symbol.toUpperCase()),
    ...(name !== undefined && { name }),
    ...(tickSize !== undefined && { tickSize: priceOf(tickSize) }),
    ...(leverageFactor !== undefined && { leverageFactor }),
    ...((luldTier === 1 || luldTier === 2) && { luldTier }),
    ...(shortable !== undefined && { shortable }),
    ...(borrowRateAnnual !== undefined && { borrowRateAnnual }),
  };
}

/** Terms in the entry of a contract override those that follow from its root (D66). */
function optionOf(entry: ListedOf<'OPTION'>, classOf: ClassOf): OptionContract | Unlistable {
  const { symbol, underlyingClass, multiplier, style, settlement, settleSession, deliverable, tickSize } =
    entry;
  const named = symbol === undefined ? osiOf(entry) : parseOsi(symbol);
  if (named === undefined) return { problem: '.symbol must be an option symbol in OSI form' };
  const underlying = symbol === undefined ? undefined : entry.underlying?.toUpperCase();
  const contract = optionContract(
    named,
    {
      ...(underlying !== undefined && { underlying }),
      ...(underlyingClass !== undefined && { underlyingClass }),
      ...(multiplier !== undefined && { multiplier }),
      ...(style !== undefined && { style }),
      ...(settlement !== undefined && { settlement }),
      ...(settleSession !== undefined && { settleSession }),
      ...(deliverable !== undefined && { deliverable }),
      ...(tickSize !== undefined && { tickSize: priceOf(tickSize) }),
    },
    classOf,
  );
  if (contract === undefined)
    return { problem: ' must have an OSI symbol: a root of at most six characters, a strike in thousandths' };
  return entry.deliverables === undefined ? contract : withDeliverables(contract, entry, classOf);
}

/** A contract with all that it delivers (D208), instead of what it delivered. */
export function withDeliverables(
  { inLieu: _, inLieuAtSplit: __, others: ___, cash: ____, ...contract }: OptionContract,
  { deliverable, deliverables = [] }: Pick<ListedOf<'OPTION'>, 'deliverable' | 'deliverables'>,
  classOf: ClassOf,
): OptionContract | Unlistable {
  const { underlying, settlement } = contract;
  if (settlement === 'CASH')
    return { problem: '.deliverables should not exist for a contract that is settled in cash' };
  const names = deliverables.map(({ symbol = '' }) => symbol.toUpperCase());
  if (new Set(names).size < names.length)
    return { problem: '.deliverables must name each symbol, and cash, at most once' };
  let own: number | undefined;
  let cash: Money | undefined;
  const others: { symbol: string; shares: number }[] = [];
  for (const [index, one] of deliverables.entries()) {
    if (one.cash !== undefined) cash = moneyOf(one.cash);
    if (one.symbol === undefined || one.quantity === undefined) continue;
    const symbol = one.symbol.toUpperCase();
    if (symbol === underlying) own = one.quantity;
    else if (isLongAsOsi(symbol) || (classOf(symbol) ?? 'EQUITY') !== 'EQUITY')
      return { problem: `.deliverables.${index}.symbol must be an equity` };
    else others.push({ symbol, shares: one.quantity });
  }
  if (own === undefined) return { problem: `.deliverables must contain shares of ${underlying}` };
  if (deliverable !== undefined && deliverable !== own)
    return { problem: `.deliverable must be the quantity of ${underlying} in deliverables` };
  return {
    ...contract,
    deliverable: own,
    ...(others.length > 0 && { others }),
    ...(cash !== undefined && { cash }),
  };
}

/** The four fields of an OSI symbol. */
function osiOf({ underlying, optionType, strike, expiration }: ListedOf<'OPTION'>): OsiSymbol | undefined {
  if (underlying === undefined || optionType === undefined) return undefined;
  if (strike === undefined || expiration === undefined) return undefined;
  const root = underlying.toUpperCase();
  return { root, optionType, strike: priceOf(strike), expiration: TradingDate.of(expiration) };
}

/** Terms in the entry of a contract month override those that the table has for its root, which may be all of them (D67, D91). */
function futureOf(entry: ListedOf<'FUTURE'>, today: TradingDate): FutureContract | Unlistable {
  const { multiplier, tickSize, settlement, lastTradeDate, firstNoticeDate, spreadMargin } = entry;
  const { initialMargin, maintenanceMargin } = entry;
  const symbol = plainSymbol(entry.symbol, today);
  const named = parseFutureSymbol(symbol, Number(today.slice(0, 4)));
  const said = {
    ...(multiplier !== undefined && { multiplier }),
    ...(tickSize !== undefined && { tickSize: priceOf(tickSize) }),
    ...(settlement !== undefined && { settlement }),
    ...(lastTradeDate !== undefined && { lastTradeDate: TradingDate.of(lastTradeDate) }),
    ...(firstNoticeDate !== undefined && { firstNoticeDate: TradingDate.of(firstNoticeDate) }),
    ...(initialMargin !== undefined && { initialMargin: moneyOf(initialMargin) }),
    ...(maintenanceMargin !== undefined && { maintenanceMargin: moneyOf(maintenanceMargin) }),
    ...(spreadMargin !== undefined && { spreadMargin: moneyOf(spreadMargin) }),
  };
  const root = entry.root?.toUpperCase() ?? named?.root ?? symbol;
  const known = named && futureContract({ ...named, root }, said);
  if (known !== undefined) return { ...known, symbol };
  const missing = NEEDED_OF_A_FUTURE.find((name) => entry[name] === undefined);
  if (missing !== undefined) return { problem: `.${missing} is required: nothing is known of ${root}` };
  return { settlement: 'CASH', ...said, assetClass: 'FUTURE', symbol, root } as FutureContract;
}

const NEEDED_OF_A_FUTURE = [
  'multiplier',
  'tickSize',
  'lastTradeDate',
  'initialMargin',
  'maintenanceMargin',
] as const;

const indexOf = ({ symbol, name }: ListedOf<'INDEX'>): IndexUnderlying => ({
  assetClass: 'INDEX',
  symbol: symbol.toUpperCase(),
  name: name ?? symbol.toUpperCase(),
});

/** Shares and cash of a contract that delivers more than shares of its underlying (D208). */
function shownDeliverables({ underlying, deliverable, others = [], cash = Money.zero }: OptionContract): {
  readonly deliverables?: Deliverable[];
} {
  if (others.length === 0 && cash === 0) return {};
  return {
    deliverables: [
      ...(deliverable > 0 ? [{ symbol: underlying, quantity: deliverable }] : []),
      ...others.map(({ symbol, shares }) => ({ symbol, quantity: shares })),
      ...(cash === 0 ? [] : [{ cash: moneyNumber(cash) }]),
    ],
  };
}

/**
 * An instrument as it travels. The last trade date of an option follows from the calendar, the margin of a future is that of the day; if it
 * depends on the price, at `mark`.
 */
export function shownInstrument(
  instrument: Instrument,
  calendar: Calendar,
  today: TradingDate,
  mark?: Price,
): ShownInstrument {
  switch (instrument.assetClass) {
    case 'EQUITY': {
      const { tickSize, symbol, name, leverageFactor, luldTier, shortable, borrowRateAnnual } = instrument;
      const { tradable, fractionable } = instrument;
      return {
        symbol,
        assetClass: 'EQUITY',
        name,
        ...(tickSize !== undefined && { tickSize: priceNumber(tickSize) }),
        leverageFactor,
        ...(luldTier !== undefined && { luldTier }),
        shortable,
        ...(tradable === false && { tradable }),
        ...(fractionable === false && { fractionable }),
        borrowRateAnnual,
      };
    }
    case 'OPTION':
      return {
        symbol: instrument.symbol,
        assetClass: 'OPTION',
        underlying: instrument.underlying,
        underlyingClass: instrument.underlyingClass,
        optionType: instrument.optionType,
        strike: priceNumber(instrument.strike),
        expiration: instrument.expiration,
        lastTradeDate: lastTradeDateOf(instrument, calendar),
        multiplier: instrument.multiplier,
        deliverable: instrument.deliverable,
        ...shownDeliverables(instrument),
        style: instrument.style,
        settlement: instrument.settlement,
        settleSession: instrument.settleSession,
        ...(instrument.tickSize !== undefined && { tickSize: priceNumber(instrument.tickSize) }),
      };
    case 'FUTURE': {
      const margin = marginOf(instrument, today, mark);
      const { name, exchange } = futureSpecification(instrument.root) ?? {};
      return {
        symbol: instrument.symbol,
        assetClass: 'FUTURE',
        ...(name !== undefined && { name }),
        ...(exchange !== undefined && { exchange }),
        root: instrument.root,
        multiplier: instrument.multiplier,
        tickSize: priceNumber(instrument.tickSize),
        settlement: instrument.settlement,
        lastTradeDate: instrument.lastTradeDate,
        ...(instrument.firstNoticeDate !== undefined && { firstNoticeDate: instrument.firstNoticeDate }),
        ...(margin !== undefined && {
          initialMargin: moneyNumber(margin.initial),
          maintenanceMargin: moneyNumber(margin.maintenance),
        }),
        ...(instrument.spreadMargin !== undefined && { spreadMargin: moneyNumber(instrument.spreadMargin) }),
      };
    }
    case 'INDEX':
      return { symbol: instrument.symbol, assetClass: 'INDEX', name: instrument.name };
  }
}
