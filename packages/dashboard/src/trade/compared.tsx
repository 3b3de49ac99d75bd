/** Symbols that the chart compares with its own: their bars, the menu that chooses them, and their changes since the left edge. */
import type { Bar, BarTimeframe } from '@sandpit/protocol';
import { X } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { percentChange, tone } from '../format.ts';
import type { QuoteFeed } from '../live/quotes.ts';
import { useEvery, useLoad } from '../load.ts';
import { setQuery } from '../route.ts';
import { useClockMoves } from '../clock-moves.ts';
import { withPrice } from './forming-bar.ts';
import { changeSince, MOST_COMPARED } from './percent-change.ts';
import type { ComparedBars } from './price-drawing.ts';
import { BARS_MS, readBars } from './read-bars.ts';

/** Bars of the compared symbols, with the one that forms. A symbol without bars has none. */
export function useComparedBars(
  symbols: readonly string[],
  timeframe: BarTimeframe,
  feed: QuoteFeed,
): readonly ComparedBars[] {
  const broker = useBroker();
  const read = useLoad(
    () =>
      Promise.all(
        symbols.map(async (symbol): Promise<ComparedBars> => {
          const { bars } = await readBars(broker, symbol, timeframe).catch(() => ({ bars: [] }));
          return { symbol, bars };
        }),
      ),
    [symbols, timeframe],
  );
  useEvery(BARS_MS, () => {
    if (symbols.length > 0) read.reload();
  });
  useClockMoves(read.reload);
  const [grown, setGrown] = useState<readonly ComparedBars[]>([]);
  const withQuote = (one: ComparedBars): ComparedBars => {
    const quote = feed.get(one.symbol);
    return quote === undefined || one.bars.length === 0
      ? one
      : { ...one, bars: withPrice(one.bars, timeframe, quote.price, quote.timestamp) };
  };
  useEffect(
    () => setGrown((read.value ?? symbols.map((symbol) => ({ symbol, bars: [] }))).map(withQuote)),
    [read.value, symbols.join()],
  );
  useEffect(() => {
    const ends = symbols.map((symbol) =>
      feed.on(symbol, () =>
        setGrown((all) => all.map((one) => (one.symbol === symbol ? withQuote(one) : one))),
      ),
    );
    return () => {
      for (const end of ends) end();
    };
  }, [feed, timeframe, symbols.join()]);
  return grown;
}

const change = (symbols: readonly string[]): void => setQuery({ compare: symbols.join(',') });

/** Adds a symbol to the comparison. */
export function CompareMenu({ symbols }: { readonly symbols: readonly string[] }) {
  const [typed, setTyped] = useState('');
  const add = (event: Event): void => {
    event.preventDefault();
    const symbol = typed.trim().toUpperCase();
    setTyped('');
    if (symbol !== '' && !symbols.includes(symbol)) change([...symbols, symbol]);
  };
  return (
    <details class="drop">
      <summary>Compare{symbols.length > 0 && ` (${symbols.length})`}</summary>
      <form class="menu" onSubmit={add} aria-label="Compare with a symbol">
        {symbols.length < MOST_COMPARED ? (
          <span class="row nowrap">
            <input
              aria-label="Symbol to compare"
              placeholder="Symbol"
              size={9}
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
            <button type="submit">Add</button>
          </span>
        ) : (
          <span class="dim small">At most {MOST_COMPARED} symbols. Remove one first.</span>
        )}
      </form>
    </details>
  );
}

/** The change of each symbol since the left edge of the chart, up to the bar under the pointer or the last one. */
export function ComparedLegend({
  own,
  compared,
  fromMs,
  untilMs,
}: {
  readonly own: { readonly symbol: string; readonly bars: readonly Bar[] };
  readonly compared: readonly ComparedBars[];
  readonly fromMs: number | undefined;
  readonly untilMs: number | undefined;
}) {
  if (compared.length === 0 || fromMs === undefined) return null;
  const names = compared.map(({ symbol }) => symbol);
  return (
    <ul class="plain legend compared" aria-label="Change since the left edge">
      {[own, ...compared].map(({ symbol, bars }, index) => {
        const part = changeSince(bars, fromMs, untilMs);
        return (
          <li key={symbol} class={`compared-${index}`}>
            <strong>{symbol}</strong>{' '}
            {part === undefined ? (
              'no bars'
            ) : (
              <span class={`number ${tone(part)}`}>{percentChange(part)}</span>
            )}
            {index > 0 && (
              <button
                type="button"
                class="icon-button"
                aria-label={`Stop comparing with ${symbol}`}
                onClick={() => change(names.filter((one) => one !== symbol))}
              >
                <X size={12} aria-hidden="true" />
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
