import { Instant, isLongAsOsi } from '@sandpit/core';
import type { Calendar, TradingDate } from '@sandpit/core';
import { type BarWindow, latestRegularSession, MINUTE_MS } from '../bar-window.js';
import type { ScannedFile, SymbolFacts } from './file-scan.js';
import { rowBatches } from './recorded-file.js';
import { symbolOf, tickOf, tradeRowOf } from './rows.js';

/** Sessions whose volumes are held: simulations of one archive are often at different days. */
const SESSIONS_HELD = 4;

/** Parts of an archive from which volumes are read. */
interface VolumeSource {
  readonly calendar: Calendar;
  readonly files: readonly ScannedFile[];
  readonly facts: ReadonlyMap<string, SymbolFacts>;
}

/** Contracts traded since the open, at the ends of the minutes with trades, in the order of time. */
interface RunningVolume {
  readonly at: Instant[];
  readonly total: number[];
}

/**
 * Volumes of recorded options by session. The first question about a session reads its rows once; later questions read no file. Memory
 * grows with the minutes that have trades, of the latest sessions that were asked for.
 */
export class ContractVolumes {
  readonly #archive: VolumeSource;
  readonly #sessions = new Map<TradingDate, Promise<ReadonlyMap<string, RunningVolume>>>();

  constructor(archive: VolumeSource) {
    this.#archive = archive;
  }

  /** Volume of a contract in the latest session that is open at `at` or before it; undefined for contracts without recorded trades. */
  async at(at: Instant): Promise<(symbol: string) => number | undefined> {
    const { calendar, facts } = this.#archive;
    const session = latestRegularSession(at, calendar);
    const volumes = await this.#of(calendar.dateOf(session.start), session);
    return (symbol) => {
      const known = facts.get(symbol);
      if (known?.hasTrades !== true && known?.hasTicks !== true) return undefined;
      const volume = volumes.get(symbol);
      return volume?.total[volume.at.findLastIndex((knownAt) => knownAt <= at)] ?? 0;
    };
  }

  #of(date: TradingDate, session: BarWindow): Promise<ReadonlyMap<string, RunningVolume>> {
    const held = this.#sessions.get(date);
    if (held !== undefined) return held;
    const read = this.#read(session);
    this.#sessions.set(date, read);
    read.catch(() => this.#sessions.delete(date));
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= SESSIONS_HELD) break;
      this.#sessions.delete(oldest);
    }
    return read;
  }

  async #read(session: BarWindow): Promise<ReadonlyMap<string, RunningVolume>> {
    const volumes = new Map<string, RunningVolume>();
    const files = this.#archive.files
      .filter(
        ({ kind, first, last }) =>
          (kind === 'trades' || kind === 'ticks') && last >= session.start && first < session.end,
      )
      .sort((a, b) => a.first - b.first);
    for (const file of files) await readVolumes(file, session, volumes);
    return volumes;
  }
}

async function readVolumes(
  file: ScannedFile,
  { start, end }: BarWindow,
  volumes: Map<string, RunningVolume>,
): Promise<void> {
  for await (const { rows } of rowBatches(file, file.positionFor(start))) {
    for (const row of rows) {
      if (file.kind === 'ticks') {
        const { kind, received, symbol, quote } = tickOf(file, row);
        if (received >= end) return;
        if (received < start || kind !== 'T' || quote.last === undefined) continue;
        const minute = Math.floor(received / MINUTE_MS) * MINUTE_MS;
        add(volumes, symbol, Instant.ofMs(minute), Math.round((quote.lastSize ?? 0) / 1e6));
      } else {
        if (!isLongAsOsi(symbolOf(row))) continue;
        const trade = tradeRowOf(file, row);
        if (trade.start >= end) return;
        if (trade.start >= start) add(volumes, trade.symbol, trade.start, trade.volume);
      }
    }
  }
}

/** Adds the trades of a minute, which are known at its end. */
function add(volumes: Map<string, RunningVolume>, symbol: string, minute: Instant, traded: number): void {
  if (!isLongAsOsi(symbol)) return;
  let volume = volumes.get(symbol);
  if (volume === undefined) volumes.set(symbol, (volume = { at: [], total: [] }));
  const total = (volume.total.at(-1) ?? 0) + traded;
  const knownAt = Instant.plusMs(minute, MINUTE_MS);
  if (volume.at.at(-1) === knownAt) volume.total[volume.total.length - 1] = total;
  else {
    volume.at.push(knownAt);
    volume.total.push(total);
  }
}
