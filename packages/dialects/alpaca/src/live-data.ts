/** Market data of one simulation as it changes, read once for all sockets that follow it. */
import { Instant, isLongAsOsi } from '@sandpit/core';
import { type Desk, runningDay, type Watch, type Watcher } from '@sandpit/dialect-port';
import { barShape, optionQuoteShape, optionTradeShape, quoteShape, tradeShape } from './market-data.js';

/** A message about a symbol. */
export interface MarketMessage {
  readonly T: 't' | 'q' | 'b' | 'd';
  readonly S: string;
  readonly t: string;
}

export type Channel = 'trades' | 'quotes' | 'bars' | 'dailyBars';

/** Every stock. */
export const EVERYTHING = '*';

interface DataReader extends Watcher {
  readonly wanted: Readonly<Record<Channel, ReadonlySet<string>>>;
  /** Last message sent, by channel and symbol. */
  readonly told: Map<string, string>;
  /** Bars of this minute and earlier ones have been sent. */
  minute: number;
  readonly tell: (news: readonly MarketMessage[]) => void;
}

const INTERVAL_MS = 250;
const MINUTE_MS = 60_000;
/** Quotes computed between two turns of the event loop. */
const SYMBOLS_AT_ONCE = 100;
/** At most this share of the time is spent on looking. */
const MOST_LOOKING = 1 / 4;

export const minuteAt = (now: number): number => Math.floor(now / MINUTE_MS) - 1;

class LiveData {
  readonly #desk: Desk;
  readonly #watch: Watch<DataReader>;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#watch = desk.market.watch((readers) => this.#look(readers));
  }

  follow(reader: DataReader): void {
    this.#watch.add(reader);
  }

  /** Returns the time until the next look, ms. */
  async #look(readers: readonly DataReader[]): Promise<number> {
    const beganMs = performance.now();
    const stocks = readers.some(({ wanted }) => Object.values(wanted).some((one) => one.has(EVERYTHING)))
      ? this.#stocks()
      : [];
    await this.#tellQuotes(readers, stocks);
    await this.#tellBars(readers, stocks);
    return Math.max(INTERVAL_MS, (performance.now() - beganMs) / MOST_LOOKING);
  }

  #stocks(): readonly string[] {
    return this.#desk.market
      .listed()
      .filter(({ assetClass }) => assetClass === 'EQUITY')
      .map(({ symbol }) => symbol);
  }

  async #tellQuotes(readers: readonly DataReader[], stocks: readonly string[]): Promise<void> {
    const symbols = union(readers, ['trades', 'quotes'], stocks);
    for (let i = 0; i < symbols.length; i += SYMBOLS_AT_ONCE) {
      const some = symbols.slice(i, i + SYMBOLS_AT_ONCE);
      const found = (await this.#desk.market.latest(some)).flatMap((quote) => {
        const S = quote.symbol;
        const trade = isStock(S) ? tradeShape(quote) : optionTradeShape(quote);
        return [
          ...(trade === undefined ? [] : [{ T: 't' as const, S, ...trade }]),
          { T: 'q' as const, S, ...(isStock(S) ? quoteShape(quote) : optionQuoteShape(quote)) },
        ];
      });
      tellAll(readers, found);
    }
  }

  /** Sends the bars of the last minute, once it is over, and the bars of the current day. */
  async #tellBars(readers: readonly DataReader[], stocks: readonly string[]): Promise<void> {
    const { market } = this.#desk;
    const now = this.#desk.now();
    const minute = minuteAt(now);
    const behind = readers.filter((reader) => reader.minute < minute);
    const from = Instant.ofMs(minute * MINUTE_MS);
    for (const symbol of union(behind, ['bars'], stocks)) {
      const [bar] = await market.bars({ symbol, size: '1Min', from, until: now, limit: 1 });
      if (bar !== undefined) tellAll(behind, [{ T: 'b', S: symbol, ...barShape(bar) }]);
    }
    for (const symbol of union(behind, ['dailyBars'], stocks)) {
      const bar = await runningDay(this.#desk, symbol);
      if (bar !== undefined) tellAll(behind, [{ T: 'd', S: symbol, ...barShape(bar) }]);
    }
    for (const reader of behind) reader.minute = minute;
  }
}

const live = new WeakMap<object, LiveData>();

/** The live data of a simulation. */
export function liveDataOf(desk: Desk): LiveData {
  const data = live.get(desk.key) ?? new LiveData(desk);
  live.set(desk.key, data);
  return data;
}

const CHANNELS: Readonly<Record<MarketMessage['T'], Channel>> = {
  t: 'trades',
  q: 'quotes',
  b: 'bars',
  d: 'dailyBars',
};

/** The symbols that readers subscribe to on some channels. */
function union(
  readers: readonly DataReader[],
  channels: readonly Channel[],
  stocks: readonly string[],
): readonly string[] {
  const all = new Set(readers.flatMap(({ wanted }) => channels.flatMap((channel) => [...wanted[channel]])));
  if (!all.delete(EVERYTHING)) return [...all];
  return [...new Set([...all, ...stocks])];
}

/** Sends each reader its subscribed messages that it has not received. */
function tellAll(readers: readonly DataReader[], found: readonly MarketMessage[]): void {
  const texts = found.map((one) => JSON.stringify(one));
  for (const { wanted, told, tell } of readers) {
    const news = found.filter(({ T, S }, i) => {
      const channel = wanted[CHANNELS[T]];
      if (!channel.has(S) && !(channel.has(EVERYTHING) && isStock(S))) return false;
      const key = `${T} ${S}`;
      const text = texts[i] ?? '';
      if (told.get(key) === text) return false;
      told.set(key, text);
      return true;
    });
    if (news.length > 0) tell(news);
  }
}

/** Symbols of options are longer than any of a stock. */
const isStock = (symbol: string): boolean => !isLongAsOsi(symbol);
