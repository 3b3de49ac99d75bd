/** The day of watched symbols: its line, the close before it, and names. Requests are for all symbols together. */
import type { Bar, Bars, BodyOf } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { namesOf } from '../parts/search.ts';
import { useEvery, useLoad } from '../load.ts';
import type { Point } from '../chart-data.ts';
import { useClockMoves } from '../clock-moves.ts';

const AGAIN_MS = 60_000;
const DAY_MS = 86_400_000;
/** Symbols of one request. */
const AT_ONCE = 50;
/** Bars of a session of six and a half hours. */
const BARS_OF_A_DAY = 78;

const dateIn = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' });
/** The date of an instant in New York, `2026-01-05`. */
const dateOf = (atMs: number): string => dateIn.format(atMs);

/** The close before the present day; undefined without one. After the close the last daily bar is that of today. */
export const closeBefore = (days: readonly Bar[], nowMs: number): number | undefined =>
  days.filter(({ timestamp }) => nowMs - timestamp > DAY_MS * 0.75).at(-1)?.close;

/** The closes of the bars of the last day among them. */
export function lineOfDay(bars: readonly Bar[]): readonly Point[] {
  const last = bars.at(-1);
  if (last === undefined) return [];
  const date = dateOf(last.timestamp);
  return bars
    .filter(({ timestamp }) => dateOf(timestamp) === date)
    .map(({ timestamp, close }) => ({ atMs: timestamp, value: close }));
}

export interface DayOfSymbol {
  readonly line: readonly Point[];
  readonly before: number | undefined;
}

/** Days of symbols by symbol; a symbol that is not listed is null. */
type Days = ReadonlyMap<string, DayOfSymbol | null>;

async function barsOf(
  broker: Pick<Broker, 'call'>,
  symbols: readonly string[],
  query: Omit<BodyOf<'getBarsOfSymbols'>, 'symbols'>,
): Promise<ReadonlyMap<string, Bars['bars']>> {
  const found = new Map<string, Bars['bars']>();
  for (let from = 0; from < symbols.length; from += AT_ONCE) {
    const { data } = await broker.call('getBarsOfSymbols', {
      body: { symbols: symbols.slice(from, from + AT_ONCE), ...query },
    });
    for (const { symbol, bars } of data) found.set(symbol, bars);
  }
  return found;
}

export async function readDays(broker: Pick<Broker, 'call'>, symbols: readonly string[]): Promise<Days> {
  if (symbols.length === 0) return new Map();
  const [minutes, days, { now }] = await Promise.all([
    barsOf(broker, symbols, { timeframe: '5Min', limit: BARS_OF_A_DAY }),
    barsOf(broker, symbols, { timeframe: '1Day', limit: 2 }),
    broker.call('getMarketHours'),
  ]);
  const nowMs = Date.parse(now);
  return new Map(
    symbols.map((symbol) => {
      const daily = days.get(symbol);
      if (daily === undefined) return [symbol, null];
      return [symbol, { line: lineOfDay(minutes.get(symbol) ?? []), before: closeBefore(daily, nowMs) }];
    }),
  );
}

/** The days of symbols, read again each minute and after moves of the clock. */
export function useDays(symbols: readonly string[]): Days | undefined {
  const broker = useBroker();
  const days = useLoad(() => readDays(broker, symbols), [broker.simulationId, symbols.join()]);
  useClockMoves(days.reload);
  useEvery(AGAIN_MS, days.reload);
  return days.value;
}

/** Names of companies and instruments by symbol. */
export function useNames(): ReadonlyMap<string, string> {
  const broker = useBroker();
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    namesOf(broker).then(setNames, () => undefined);
  }, [broker]);
  return names;
}
