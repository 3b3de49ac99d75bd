import {
  formatOsi,
  futureContract,
  instrumentNamed,
  namesAdjusted,
  optionContract,
  parseFutureSymbol,
  parseOsi,
  plainEquity,
  Price,
  TradingDate,
} from '@sandpit/core';
import type { ClassOf, Equity, FutureContract, Instrument, OptionContract } from '@sandpit/core';
import { catalogEntry } from '../catalog.js';
import { BadReplayFile } from './bad-replay-file.js';
import type { SymbolFacts } from './file-scan.js';
import { rowBatches } from './recorded-file.js';
import type { RecordedFile, Row } from './recorded-file.js';

/** Terms of a symbol from files of contracts, in addition to those of its root. */
export interface RecordedContract {
  readonly underlying?: string;
  readonly multiplier: number;
  readonly style?: OptionContract['style'];
  readonly settlement: OptionContract['settlement'];
  readonly settleSession?: OptionContract['settleSession'];
  readonly firstSeen?: TradingDate;
  readonly tickSize?: Price;
  readonly lastTradeDate?: TradingDate;
  /** Shares; absent = the multiplier. */
  readonly deliverable?: number;
}

/** Reads every contract that is among `symbols`. */
export async function recordedContracts(
  file: RecordedFile,
  symbols: ReadonlyMap<string, unknown>,
  into: Map<string, RecordedContract>,
): Promise<void> {
  for await (const { rows } of rowBatches(file)) {
    for (const row of rows) {
      const symbol = (row.cells[0] ?? '').toUpperCase();
      if (symbols.has(symbol)) into.set(symbol, contractOf(file, row));
    }
  }
}

function contractOf(file: RecordedFile, row: Row): RecordedContract {
  const [, multiplierText = '', settlementText = '', ...rest] = row.cells;
  const [underlying = '', styleText = '', sessionText = '', firstSeen = '', , tick = '', lastTrade = ''] =
    rest;
  const deliverableText = rest[7] ?? '';
  const bad = (what: string, text: string): BadReplayFile =>
    new BadReplayFile(file.path, row.line, `not a ${what}: "${text}"`);
  const multiplier = Number(multiplierText);
  if (!(multiplier > 0 && multiplier <= 1e9)) throw bad('multiplier', multiplierText);
  const settlement = SETTLEMENTS.find((one) => one === settlementText.toUpperCase());
  if (settlement === undefined) throw bad('settlement (cash or physical)', settlementText);
  const style = STYLES.find((one) => one === styleText.toUpperCase());
  if (style === undefined && styleText !== '') throw bad('style (american or european)', styleText);
  const settleSession = SESSIONS.find((one) => one === sessionText.toUpperCase());
  const deliverable = deliverableText === '' ? undefined : Number(deliverableText);
  if (deliverable !== undefined && !(Number.isInteger(deliverable) && deliverable > 0 && deliverable <= 1e6))
    throw bad('deliverable', deliverableText);
  const dateOf = (text: string): TradingDate => {
    const date = TradingDate.parse(text);
    if (date === undefined) throw bad('date (YYYY-MM-DD)', text);
    return date;
  };
  const tickSize = tick === '' ? undefined : Price.parse(tick);
  return {
    ...(underlying !== '' && { underlying: underlying.toUpperCase() }),
    multiplier,
    ...(style !== undefined && { style }),
    settlement,
    ...(settleSession !== undefined && { settleSession }),
    ...(firstSeen !== '' && { firstSeen: dateOf(firstSeen) }),
    ...(tickSize !== undefined && { tickSize }),
    ...(lastTrade !== '' && { lastTradeDate: dateOf(lastTrade) }),
    ...(deliverable !== undefined && { deliverable }),
  };
}

const SETTLEMENTS = ['CASH', 'PHYSICAL'] as const;
const STYLES = ['AMERICAN', 'EUROPEAN'] as const;
const SESSIONS = ['AM', 'PM'] as const;

export interface RecordedListing {
  readonly instruments: readonly Instrument[];
  /** Instruments are listed from the day of their first row, contracts from the day on which they were first seen. */
  readonly since: Readonly<Record<string, TradingDate>>;
  /** Adjusted contracts whose deliverable nothing determines, with the terms of their names (D245). */
  readonly leftOut: readonly OptionContract[];
}

/**
 * Instruments that a recording lists: everything that has rows, and the underlyings of its options, priced or not. The terms of a contract
 * follow from its symbol (D66, D91) and from the files of contracts; adjusted contracts whose deliverable is in neither are left out.
 */
export function recordedListing(
  facts: ReadonlyMap<string, SymbolFacts>,
  contracts: ReadonlyMap<string, RecordedContract>,
): RecordedListing {
  const isIndex = (symbol: string): boolean =>
    facts.get(symbol)?.isIndex === true || instrumentNamed(symbol, () => undefined)?.assetClass === 'INDEX';
  const classOf: ClassOf = (symbol) => (isIndex(symbol) ? 'INDEX' : facts.has(symbol) ? 'EQUITY' : undefined);
  const found = new Map<string, Instrument>();
  const since: Record<string, TradingDate> = {};
  const leftOut: OptionContract[] = [];
  for (const [symbol, one] of facts) {
    const said = contracts.get(symbol);
    const contract = optionNamed(symbol, said, classOf) ?? futureNamed(symbol, said);
    if (contract === undefined) {
      found.set(
        symbol,
        isIndex(symbol) ? { assetClass: 'INDEX', symbol, name: symbol } : recordedEquity(symbol),
      );
      const began = one.firstDate === undefined ? undefined : TradingDate.parse(one.firstDate);
      if (began !== undefined) since[symbol] = began;
      continue;
    }
    if (
      contract.assetClass === 'OPTION' &&
      said?.deliverable === undefined &&
      namesAdjusted(symbol, classOf)
    ) {
      leftOut.push(contract);
      continue;
    }
    found.set(symbol, contract);
    const first = said?.firstSeen ?? (one.firstDate && TradingDate.parse(one.firstDate));
    if (first !== undefined && first !== '') since[symbol] = first;
  }
  for (const instrument of [...found.values()]) {
    if (instrument.assetClass !== 'OPTION' || found.has(instrument.underlying)) continue;
    const { underlying: symbol } = instrument;
    found.set(symbol, isIndex(symbol) ? { assetClass: 'INDEX', symbol, name: symbol } : plainEquity(symbol));
  }
  return {
    instruments: [...found.values()].sort((a, b) => (a.symbol < b.symbol ? -1 : 1)),
    since,
    leftOut,
  };
}

/** A recorded share. Its figures are those of the catalog or none, until the recording has had 20 days (D209). */
function recordedEquity(symbol: string): Equity {
  const { averageDailyVolume = 0, dailyVolatility = 0 } = catalogEntry(symbol)?.equity ?? {};
  return { ...plainEquity(symbol), averageDailyVolume, dailyVolatility };
}

function optionNamed(
  symbol: string,
  said: RecordedContract | undefined,
  classOf: ClassOf,
): OptionContract | undefined {
  const named = parseOsi(symbol);
  if (named === undefined || formatOsi(named) !== symbol) return undefined;
  if (said === undefined) return optionContract(named, {}, classOf);
  const { underlying, multiplier, style, settlement, settleSession, deliverable = multiplier } = said;
  return optionContract(
    named,
    {
      ...(underlying !== undefined && { underlying }),
      ...(style !== undefined && { style }),
      ...(settleSession !== undefined && { settleSession }),
      multiplier,
      settlement,
      deliverable,
    },
    classOf,
  );
}

function futureNamed(symbol: string, said: RecordedContract | undefined): FutureContract | undefined {
  const named = parseFutureSymbol(symbol, 0);
  if (named === undefined || !/\d\d$/.test(symbol)) return undefined;
  if (said?.tickSize === undefined || said.lastTradeDate === undefined) return futureContract(named);
  const { multiplier, tickSize, settlement, lastTradeDate } = said;
  const known = futureContract(named, { multiplier, tickSize, settlement, lastTradeDate });
  return (
    known ?? {
      assetClass: 'FUTURE',
      symbol,
      root: named.root,
      multiplier,
      tickSize,
      settlement,
      lastTradeDate,
    }
  );
}
