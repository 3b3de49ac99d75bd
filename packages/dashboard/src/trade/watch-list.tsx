/** The watch list: symbols with their price and the change of the day, kept in this browser. */
import { X } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { percentChange, tone } from '../format.ts';
import { type QuoteFeed, useQuote } from '../live/quotes.ts';
import { useEvery, useLoad } from '../load.ts';
import { FlashingPrice } from '../parts/flashing-price.tsx';
import { useClockMoves } from '../time/clock-moves.ts';
import { symbolHref } from './open-symbol.ts';

const KEPT = 'sandpit-watchlist';
const FIRST = ['AAPL', 'MSFT', 'NVDA', 'SPY'];
/** Maximum number of watched symbols. A stream may have 100; the rest is for the ticket and its legs. */
const MOST = 80;

export function readWatched(): readonly string[] {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? 'null') as unknown;
    return Array.isArray(kept)
      ? kept.filter((one): one is string => typeof one === 'string').slice(0, MOST)
      : FIRST;
  } catch {
    return FIRST;
  }
}

export function keepWatched(symbols: readonly string[]): void {
  localStorage.setItem(KEPT, JSON.stringify(symbols.slice(0, MOST)));
}

export function WatchList({
  symbols,
  current,
  feed,
  onChange,
}: {
  readonly symbols: readonly string[];
  readonly current: string;
  readonly feed: QuoteFeed;
  readonly onChange: (symbols: readonly string[]) => void;
}) {
  const [typed, setTyped] = useState('');
  const add = (event: Event): void => {
    event.preventDefault();
    const symbol = typed.trim().toUpperCase();
    if (symbol !== '' && !symbols.includes(symbol)) onChange([...symbols, symbol]);
    setTyped('');
  };
  return (
    <section class="watch" aria-label="Watch list">
      <ul class="plain">
        {symbols.map((symbol) => (
          <Line
            key={symbol}
            symbol={symbol}
            isCurrent={symbol === current}
            feed={feed}
            onRemove={() => onChange(symbols.filter((one) => one !== symbol))}
          />
        ))}
      </ul>
      <form class="row" onSubmit={add} aria-label="Add to the watch list">
        <input
          aria-label="Symbol to watch"
          placeholder="Symbol"
          size={9}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <button type="submit">Add</button>
      </form>
    </section>
  );
}

/** The previous close, the base of the daily change; undefined if there is none. */
export function usePreviousClose(symbol: string): number | undefined {
  const broker = useBroker();
  const bars = useLoad(async () => {
    const [{ bars: days }, { now }] = await Promise.all([
      broker.call('getBars', { params: { symbol }, query: { timeframe: '1Day', limit: 2 } }),
      broker.call('getMarketHours'),
    ]);
    return { days, nowMs: Date.parse(now) };
  }, [symbol]);
  useClockMoves(bars.reload);
  useEvery(60_000, bars.reload);
  if (bars.value === undefined) return undefined;
  const { days, nowMs } = bars.value;
  // After the close the last daily bar is that of today.
  const before = days.filter(({ timestamp }) => nowMs - timestamp > DAY_MS * 0.75);
  return before.at(-1)?.close;
}

const DAY_MS = 86_400_000;

function Line({
  symbol,
  isCurrent,
  feed,
  onRemove,
}: {
  readonly symbol: string;
  readonly isCurrent: boolean;
  readonly feed: QuoteFeed;
  readonly onRemove: () => void;
}) {
  const quote = useQuote(feed, symbol);
  const before = usePreviousClose(symbol);
  const part = quote === undefined || before === undefined ? undefined : quote.price / before - 1;
  return (
    <li class={isCurrent ? 'current' : ''}>
      <a href={symbolHref(symbol)} aria-current={isCurrent ? 'true' : undefined}>
        <strong>{symbol}</strong>{' '}
        <span class="number">
          <FlashingPrice value={quote?.price} />
        </span>{' '}
        <span class={`number small ${tone(part ?? 0)}`}>{part === undefined ? '' : percentChange(part)}</span>
      </a>
      <button type="button" class="icon-button" aria-label={`Stop watching ${symbol}`} onClick={onRemove}>
        <X size={13} aria-hidden="true" />
      </button>
    </li>
  );
}
