import { Instant } from '@sandpit/core';
import type { Bar } from '@sandpit/core';
import { BarCollector, latest, MINUTE_MS } from '../bar-window.js';
import type { BarQuery } from '../feed.js';
import type { ReplayArchive } from './archive.js';
import type { ScannedFile } from './file-scan.js';
import { rowBatches } from './recorded-file.js';
import { dailyRowOf, priceBarOf, startOf, symbolOf, tickOf, tradeRowOf } from './rows.js';
import type { TickRow } from '../tick-file.js';

const DAY_MS = 86_400_000;

/**
 * Recorded bars, read from the files again for each question. Days are the daily bars if the symbol has any; other bars are aggregated from
 * minutes; a symbol that has daily bars alone has no shorter ones.
 */
export async function replayBars(archive: ReplayArchive, query: BarQuery): Promise<readonly Bar[]> {
  const facts = archive.facts.get(query.symbol);
  if (!facts || query.limit <= 0 || query.until <= query.from) return [];
  if (query.size === '1Day' && facts.hasDaily) return dailyBars(archive, query);
  return facts.hasTrades || facts.hasTicks ? barsOfMinutes(archive, query) : [];
}

async function dailyBars(archive: ReplayArchive, query: BarQuery): Promise<readonly Bar[]> {
  let bars: Bar[] = [];
  for (const file of archive.files.filter(({ kind }) => kind === 'daily')) {
    const firstKey = Instant.plusMs(query.from, -2 * DAY_MS);
    const lastDate = archive.calendar.dateOf(query.until);
    reading: for await (const { rows } of rowBatches(file, file.positionFor(firstKey))) {
      for (const row of rows) {
        if ((row.cells[0] ?? '') > lastDate) break reading;
        if (symbolOf(row) !== query.symbol) continue;
        const { date, open, high, low, close, volume } = dailyRowOf(file, row);
        const hours = archive.calendar.tradingDay(date);
        if (!hours || hours.regularOpen < query.from || hours.regularClose > query.until) continue;
        bars.push({ symbol: query.symbol, at: hours.regularOpen, open, high, low, close, volume });
      }
      // Long histories with a small limit: keep what can still be among the latest.
      if (bars.length > 2 * query.limit + 64) bars = bars.slice(-query.limit);
    }
  }
  return latest(bars, query.limit);
}

async function barsOfMinutes(archive: ReplayArchive, query: BarQuery): Promise<readonly Bar[]> {
  const collector = new BarCollector(query, archive.calendar);
  const files = archive.files
    .filter(
      (file) =>
        (file.kind === 'trades' || file.kind === 'index' || file.kind === 'ticks') &&
        file.last >= query.from &&
        file.first < query.until,
    )
    .sort((a, b) => a.first - b.first);
  for (const file of files) await collectMinutes(file, query, collector);
  return collector.bars();
}

async function collectMinutes(file: ScannedFile, query: BarQuery, collector: BarCollector): Promise<void> {
  for await (const { rows } of rowBatches(file, file.positionFor(query.from))) {
    for (const row of rows) {
      if (file.kind === 'ticks') {
        const tick = tickOf(file, row);
        if (tick.received >= query.until) return;
        if (tick.received >= query.from) collectTick(tick, query.symbol, collector);
        continue;
      }
      if (symbolOf(row) !== query.symbol) continue;
      const start = startOf(file, row);
      if (start >= query.until) return;
      if (start < query.from) continue;
      const { open, high, low, close, volume } =
        file.kind === 'index' ? { ...priceBarOf(file, row, 2), volume: 0 } : tradeRowOf(file, row);
      collector.add({ symbol: query.symbol, at: start, open, high, low, close, volume });
    }
  }
}

/** A trade is a bar of its minute; a withdrawn one has no price. */
function collectTick(
  { symbol, kind, received, quote }: TickRow,
  wanted: string,
  collector: BarCollector,
): void {
  const { last, lastSize } = quote;
  if (symbol !== wanted || kind !== 'T' || last === undefined) return;
  const at = Instant.ofMs(Math.floor(received / MINUTE_MS) * MINUTE_MS);
  const volume = Math.round((lastSize ?? 0) / 1e6);
  collector.add({ symbol, at, open: last, high: last, low: last, close: last, volume });
}
