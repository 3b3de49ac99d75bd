import { setImmediate as nextTurn } from 'node:timers/promises';
import { Instant } from '@sandpit/core';
import type { Quote } from '@sandpit/core';
import type { MarketEvent } from '../feed.js';
import type { ReplayArchive } from './archive.js';
import { knownAt, sessionTypeAt } from './file-scan.js';
import { mergeByInstant } from './merge.js';
import { itemsOf } from './recorded-items.js';
import type { RecordedItem } from './recorded-items.js';
import { type BarItem, CARRIED_MS, RecordedMarket } from './recorded-market.js';
import { TickMarkets } from '../tick-markets.js';
import type { TickRow } from '../tick-file.js';

/** The event loop runs while a minute of a whole chain is assembled. */
const MANY_ITEMS = 256;

/** A position in the recording that moves forward. Its events do not depend on the start of the reading. */
export class ReplayReader {
  private readonly archive: ReplayArchive;
  private readonly market: RecordedMarket;
  private readonly ticks: TickMarkets;
  private readonly groups: AsyncGenerator<readonly RecordedItem[]>;
  private ahead: readonly RecordedItem[] | undefined;
  private through: Instant;
  private closed = false;

  constructor(archive: ReplayArchive, after: Instant, wanted: (symbol: string) => boolean) {
    this.archive = archive;
    this.market = new RecordedMarket(
      archive.calendar,
      (symbol) => archive.facts.get(symbol)?.hasTrades === true,
      (symbol) => archive.isIndex(symbol),
      (symbol, start) =>
        archive.facts.get(symbol)?.traded.has(sessionTypeAt(archive.calendar, start)) === true,
    );
    this.ticks = new TickMarkets(archive.calendar);
    // A day earlier than requested: prices carried from there belong to the first events.
    const from = Instant.plusMs(after, -CARRIED_MS);
    const sources = archive.files
      .filter((file) => file.kind !== 'interest' && file.last >= from - 2 * CARRIED_MS)
      .map((file) => ({
        firstAt: Instant.max(from, file.kind === 'daily' ? file.first : knownAt(file, file.first)),
        open: () => itemsOf(archive, file, from, wanted),
      }));
    this.groups = mergeByInstant(sources);
    this.through = after;
  }

  /** True when the events after `after` are still to come. */
  canContinueFrom(after: Instant): boolean {
    return !this.closed && after >= this.through;
  }

  /** The next event in (after, until]; `undefined` if there is none, which leaves the reader at `until`. */
  async next(after: Instant, until: Instant): Promise<MarketEvent | undefined> {
    for (;;) {
      this.ahead ??= await this.read();
      const at = this.ahead?.[0]?.at;
      if (!this.ahead || at === undefined || at > until) {
        this.through = Instant.max(this.through, until);
        return undefined;
      }
      const isMany = this.ahead.length > MANY_ITEMS;
      if (isMany) await nextTurn();
      const bars: BarItem[] = [];
      const ticks: TickRow[] = [];
      for (const item of this.ahead) {
        if (item.kind === 'tick') ticks.push(item.row);
        else bars.push(item);
      }
      const passed = this.market.passed(at, bars);
      if (isMany) await nextTurn();
      const event = joined(this.market.apply(at, bars, passed), this.ticks.apply(at, ticks));
      if (isMany) await nextTurn();
      this.ahead = undefined;
      this.through = Instant.max(this.through, at);
      if (event && at > after) return this.withUsualDays(event);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.groups.return(undefined);
  }

  private withUsualDays(event: MarketEvent): MarketEvent {
    const { facts } = this.archive;
    const withUsualDay = (quote: Quote): Quote => {
      const usualDay = facts.get(quote.symbol)?.usualDayAt(event.at);
      return usualDay === undefined ? quote : { ...quote, usualDay };
    };
    const { quotes, passed } = event;
    return {
      ...event,
      quotes: quotes.map(withUsualDay),
      ...(passed !== undefined && { passed: { ...passed, quotes: passed.quotes.map(withUsualDay) } }),
    };
  }

  private async read(): Promise<readonly RecordedItem[] | undefined> {
    const next = await this.groups.next();
    return next.done ? undefined : next.value;
  }
}

/** Joins the events of bars and of ticks at one instant. */
function joined(bars: MarketEvent | undefined, ticks: MarketEvent | undefined): MarketEvent | undefined {
  if (bars === undefined || ticks === undefined) return bars ?? ticks;
  return { ...bars, ...ticks, quotes: [...bars.quotes, ...ticks.quotes] };
}
