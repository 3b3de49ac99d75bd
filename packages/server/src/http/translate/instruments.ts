import {
  type Calendar,
  type Equity,
  formatOsi,
  type FutureContract,
  type IndexUnderlying,
  type Instrument,
  lastTradeDateOf,
  type OptionContract,
  optionContract,
  type OsiSymbol,
  parseOsi,
  plainEquity,
  TradingDate,
} from '@sandpit/core';
import type { Instrument as ShownInstrument, ListInstrument } from '@sandpit/protocol';
import { moneyNumber, moneyOf, priceNumber, priceOf } from './numbers.js';

/** A symbol as it is known and answered: in capitals (D132), that of an option without its blanks (D61). */
export function plainSymbol(symbol: string): string {
  const option = symbol.includes(' ') ? parseOsi(symbol) : undefined;
  return (option && formatOsi(option)) ?? symbol.toUpperCase();
}

/** Tells what is listed as an index. */
type IsIndex = (symbol: string) => boolean;

/** The instruments of a body, or one message for each that cannot be listed. `isIndex` knows what was listed before. */
export function instrumentsOf(
  listed: readonly ListInstrument[],
  isIndex: IsIndex,
): { readonly instruments: readonly Instrument[] } | { readonly problems: string[] } {
  const indices = new Set<string>();
  for (const entry of listed) if (entry.assetClass === 'INDEX') indices.add(entry.symbol.toUpperCase());
  const instruments: Instrument[] = [];
  const problems: string[] = [];
  listed.forEach((entry, i) => {
    const instrument = instrumentOf(entry, (symbol) => indices.has(symbol) || isIndex(symbol));
    if ('problem' in instrument) problems.push(`instruments.${i}${instrument.problem}`);
    else instruments.push(instrument);
  });
  return problems.length > 0 ? { problems } : { instruments };
}

/** What cannot be listed; the text goes behind the name of its entry. */
interface Unlistable {
  readonly problem: string;
}

function instrumentOf(entry: ListInstrument, isIndex: IsIndex): Instrument | Unlistable {
  switch (entry.assetClass) {
    case 'EQUITY':
      return equityOf(entry);
    case 'OPTION':
      return optionOf(entry, isIndex);
    case 'FUTURE':
      return futureOf(entry);
    case 'INDEX':
      return indexOf(entry);
  }
}

type Listed<Class extends ListInstrument['assetClass']> = Extract<ListInstrument, { assetClass: Class }>;

function equityOf(entry: Listed<'EQUITY'>): Equity {
  const { name, tickSize, leverageFactor, shortable, borrowRateAnnual } = entry;
  return {
    ...plainEquity(entry.symbol.toUpperCase()),
    ...(name !== undefined && { name }),
    ...(tickSize !== undefined && { tickSize: priceOf(tickSize) }),
    ...(leverageFactor !== undefined && { leverageFactor }),
    ...(shortable !== undefined && { shortable }),
    ...(borrowRateAnnual !== undefined && { borrowRateAnnual }),
  };
}

/** What the entry says of a contract goes before what follows from its root (D66). */
function optionOf(entry: Listed<'OPTION'>, isIndex: IsIndex): OptionContract | Unlistable {
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
    isIndex,
  );
  return (
    contract ?? {
      problem: ' must have an OSI symbol: a root of at most six characters, a strike in thousandths',
    }
  );
}

/** The four fields that an OSI symbol is made of. */
function osiOf({ underlying, optionType, strike, expiration }: Listed<'OPTION'>): OsiSymbol | undefined {
  if (underlying === undefined || optionType === undefined) return undefined;
  if (strike === undefined || expiration === undefined) return undefined;
  const root = underlying.toUpperCase();
  return { root, optionType, strike: priceOf(strike), expiration: TradingDate.of(expiration) };
}

function futureOf(entry: Listed<'FUTURE'>): FutureContract {
  const { firstNoticeDate, spreadMargin } = entry;
  const symbol = entry.symbol.toUpperCase();
  return {
    assetClass: 'FUTURE',
    symbol,
    // `ESZ6` is the December 2026 delivery of `ES`.
    root: entry.root?.toUpperCase() ?? symbol.replace(/[FGHJKMNQUVXZ]\d{1,2}$/, ''),
    multiplier: entry.multiplier,
    tickSize: priceOf(entry.tickSize),
    settlement: entry.settlement ?? 'CASH',
    lastTradeDate: TradingDate.of(entry.lastTradeDate),
    ...(firstNoticeDate !== undefined && { firstNoticeDate: TradingDate.of(firstNoticeDate) }),
    initialMargin: moneyOf(entry.initialMargin),
    maintenanceMargin: moneyOf(entry.maintenanceMargin),
    ...(spreadMargin !== undefined && { spreadMargin: moneyOf(spreadMargin) }),
  };
}

const indexOf = ({ symbol, name }: Listed<'INDEX'>): IndexUnderlying => ({
  assetClass: 'INDEX',
  symbol: symbol.toUpperCase(),
  name: name ?? symbol.toUpperCase(),
});

/** An instrument as it travels. The last trade date of an option follows from the calendar. */
export function shownInstrument(instrument: Instrument, calendar: Calendar): ShownInstrument {
  switch (instrument.assetClass) {
    case 'EQUITY': {
      const { tickSize, symbol, name, leverageFactor, shortable, borrowRateAnnual } = instrument;
      return {
        symbol,
        assetClass: 'EQUITY',
        name,
        ...(tickSize !== undefined && { tickSize: priceNumber(tickSize) }),
        leverageFactor,
        shortable,
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
        style: instrument.style,
        settlement: instrument.settlement,
        settleSession: instrument.settleSession,
        ...(instrument.tickSize !== undefined && { tickSize: priceNumber(instrument.tickSize) }),
      };
    case 'FUTURE':
      return {
        symbol: instrument.symbol,
        assetClass: 'FUTURE',
        root: instrument.root,
        multiplier: instrument.multiplier,
        tickSize: priceNumber(instrument.tickSize),
        settlement: instrument.settlement,
        lastTradeDate: instrument.lastTradeDate,
        ...(instrument.firstNoticeDate !== undefined && { firstNoticeDate: instrument.firstNoticeDate }),
        initialMargin: moneyNumber(instrument.initialMargin),
        maintenanceMargin: moneyNumber(instrument.maintenanceMargin),
        ...(instrument.spreadMargin !== undefined && { spreadMargin: moneyNumber(instrument.spreadMargin) }),
      };
    case 'INDEX':
      return { symbol: instrument.symbol, assetClass: 'INDEX', name: instrument.name };
  }
}
