/** The live chart: candles with the one that forms, the figures of a bar, indicators, the position, orders and fills. */
import {
  type Bar,
  barTimeframes,
  type BarTimeframe,
  type Order,
  type PortfolioUpdate,
} from '@sandpit/protocol';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { compact, percentChange, price, quantity, tone } from '../format.ts';
import type { QuoteFeed } from '../live/quotes.ts';
import { useEvery, useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import { Tabs } from '../parts/field.tsx';
import { Problem } from '../parts/notice.tsx';
import { setQuery } from '../route.ts';
import { LineSliders, MoveNotice, type TicketLines, useChartLines } from './chart-lines.tsx';
import { barsIn, rangeOf, RANGES } from './chart-ranges.ts';
import { CompareMenu, ComparedLegend, useComparedBars } from './compared.tsx';
import { withPrice } from './forming-bar.ts';
import { HAVE_PANES, type Indicator, INDICATORS } from './indicators.ts';
import { onTick, tickAt } from './levels.ts';
import type { MarketSide } from './market-side.ts';
import type { Fill, PriceDrawing } from './price-drawing.ts';
import { BARS_MS, type LoadedBars, readBars } from './read-bars.ts';

const KEPT = 'sandpit-indicators';

export function PriceChart({
  symbol,
  timeframe,
  range: rangeName,
  compared: comparedSymbols,
  feed,
  portfolio,
  orders,
  market,
  tickSize,
  ticket,
}: {
  readonly symbol: string;
  readonly timeframe: BarTimeframe;
  /** Name of a range in the address. */
  readonly range: string;
  /** Symbols that are compared with this one. */
  readonly compared: readonly string[];
  readonly feed: QuoteFeed;
  readonly portfolio: PortfolioUpdate | undefined;
  readonly orders: readonly Order[];
  readonly market: MarketSide;
  /** Tick of the instrument; undefined = that of shares. */
  readonly tickSize: number | undefined;
  /** Prices of the ticket; undefined if the token cannot place orders. */
  readonly ticket: TicketLines | undefined;
}) {
  const broker = useBroker();
  const box = useRef<HTMLDivElement>(null);
  const drawing = useRef<PriceDrawing>();
  const bars = useRef<LoadedBars>({ bars: [], timeframe });
  const isToFit = useRef(true);
  const range = rangeOf(rangeName, timeframe);
  useEffect(() => drawing.current?.fit(barsIn(range, bars.current.bars)), [range]);
  const [isReady, setIsReady] = useState(false);
  const [hovered, setHovered] = useState<Bar>();
  const [lastBar, setLastBar] = useState<Bar>();
  const [indicators, setIndicators] = useState(readIndicators);
  const read = useLoad(() => readBars(broker, symbol, timeframe), [symbol, timeframe]);
  useEvery(BARS_MS, read.reload);
  useClockMoves(() => {
    isToFit.current = true;
    read.reload();
  });

  const compared = useComparedBars(comparedSymbols, timeframe, feed);
  const [edgeMs, setEdgeMs] = useState<number>();
  const lines = useChartLines(symbol, portfolio, orders, ticket);
  const snap = (at: number): number => onTick(at, tickAt(at, tickSize));
  const latest = useRef({ snap, onMove: lines.onMove });
  latest.current = { snap, onMove: lines.onMove };

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    let isOver = false;
    void import('./price-drawing.ts').then((library) => {
      if (isOver) return;
      drawing.current = new library.PriceDrawing(element, {
        onHover: setHovered,
        onDrag: (id, to) => latest.current.onMove(id, to),
        snap: (at) => latest.current.snap(at),
        onEdge: setEdgeMs,
      });
      setIsReady(true);
    });
    return () => {
      isOver = true;
      drawing.current?.remove();
      drawing.current = undefined;
    };
  }, []);

  useEffect(() => {
    isToFit.current = true;
    // Bars of another symbol are dimmed until those of this one arrive, and their figures are not shown.
    setLastBar(undefined);
    setHovered(undefined);
  }, [symbol, timeframe]);

  useEffect(() => {
    if (!isReady) return;
    if (read.value === undefined) {
      // Bars of another symbol do not stay where this one has none.
      if (read.error !== undefined) {
        bars.current = { bars: [], timeframe };
        drawing.current?.setBars([], false);
      }
      return;
    }
    const quote = feed.get(symbol);
    const grown =
      quote === undefined
        ? read.value.bars
        : withPrice(read.value.bars, timeframe, quote.price, quote.timestamp);
    bars.current = { bars: grown, timeframe };
    drawing.current?.setBars(grown, isToFit.current && grown.length > 0, barsIn(range, grown));
    setLastBar(grown.at(-1));
    if (grown.length > 0) isToFit.current = false;
  }, [isReady, read.value, read.error]);

  useEffect(
    () =>
      feed.on(symbol, () => {
        const quote = feed.get(symbol);
        if (quote === undefined || read.value === undefined || bars.current.timeframe !== timeframe) return;
        const grown = withPrice(bars.current.bars, timeframe, quote.price, quote.timestamp);
        if (grown === bars.current.bars) return;
        bars.current = { bars: grown, timeframe };
        drawing.current?.update(grown);
        setLastBar(grown.at(-1));
      }),
    [feed, symbol, timeframe, read.value],
  );

  const fills = useFills(symbol, portfolio?.portfolioId, orders);
  const { marks } = lines;
  // Averages are prices: on a scale in percent each would begin at zero.
  const drawn = comparedSymbols.length > 0 ? indicators.filter((one) => HAVE_PANES.has(one)) : indicators;
  useEffect(() => drawing.current?.setFills(fills), [isReady, fills]);
  useEffect(() => drawing.current?.setMarks(marks), [isReady, marks]);
  useEffect(() => drawing.current?.setIndicators(drawn), [isReady, drawn.join()]);
  useEffect(() => drawing.current?.setCompared(compared), [isReady, compared]);

  const choose = (name: Indicator): void => {
    const next = indicators.includes(name) ? indicators.filter((one) => one !== name) : [...indicators, name];
    localStorage.setItem(KEPT, JSON.stringify(next));
    setIndicators(next);
  };
  const count = read.value?.bars.length ?? 0;
  return (
    <section class="price-chart" aria-label="Chart">
      <div class="row">
        <Tabs
          label="Length of a bar"
          value={timeframe}
          options={barTimeframes.map((one) => [one, SHORT[one]] as const)}
          onChange={(next) => setQuery({ bars: next, range: undefined })}
        />
        <Tabs
          label="Range"
          value={range?.name ?? ''}
          options={RANGES.map(({ name, title }) => [name, title] as const)}
          onChange={(next) => {
            const chosen = RANGES.find(({ name }) => name === next);
            if (chosen !== undefined) setQuery({ bars: chosen.timeframe, range: next });
          }}
        />
        <details class="drop">
          <summary>Indicators{indicators.length > 0 && ` (${indicators.length})`}</summary>
          <div class="menu">
            {INDICATORS.map((name) => (
              <label key={name} class="inline">
                <input type="checkbox" checked={indicators.includes(name)} onChange={() => choose(name)} />
                {name}
              </label>
            ))}
          </div>
        </details>
        <CompareMenu symbols={comparedSymbols} />
        {ticket !== undefined && (
          <button
            type="button"
            class="quiet"
            title="Puts the ticket at the price of the market; drag its line, or move it with the arrow keys"
            onClick={ticket.onBegin}
          >
            Order at a price
          </button>
        )}
        <button
          type="button"
          class="quiet"
          onClick={() => drawing.current?.fit(barsIn(range, bars.current.bars))}
        >
          Fit
        </button>
        {compared.length === 0 && <Legend bar={hovered ?? lastBar} />}
        <ComparedLegend
          own={{ symbol, bars: bars.current.bars }}
          compared={compared}
          fromMs={edgeMs}
          untilMs={hovered?.timestamp}
        />
      </div>
      <LineSliders lines={lines} step={(from, ticks) => snap(from + ticks * tickAt(from, tickSize))} />
      {read.error !== undefined && <Problem error={read.error} retry={read.reload} />}
      <div class="chart-box">
        <div
          ref={box}
          data-stale={read.value === undefined ? '' : undefined}
          role="img"
          aria-label={`${symbol}, ${count} bars of ${timeframe}, last ${price(lastBar?.close)}, ${fills.length} fills, ${marks.length} lines`}
        />
        <MoveNotice lines={lines} market={market} />
        {read.value === undefined && read.error === undefined && <p class="over waiting">Loading bars …</p>}
        {read.value !== undefined && lastBar === undefined && (
          <p class="over dim">No bars of this length yet. They appear with the first quotes.</p>
        )}
      </div>
    </section>
  );
}

const SHORT: Readonly<Record<BarTimeframe, string>> = {
  '1Min': '1m',
  '5Min': '5m',
  '15Min': '15m',
  '1Hour': '1h',
  '1Day': '1D',
};

/** Open, high, low, close and volume of a bar. */
function Legend({ bar }: { readonly bar: Bar | undefined }) {
  if (bar === undefined) return null;
  const { open, high, low, close, volume } = bar;
  return (
    <p class="legend" aria-label="Bar">
      <span>O {price(open)}</span> <span>H {price(high)}</span> <span>L {price(low)}</span>{' '}
      <span class={tone(close - open)}>
        C {price(close)} {open > 0 && percentChange(close / open - 1)}
      </span>{' '}
      <span>V {compact(volume)}</span>
    </p>
  );
}

function readIndicators(): readonly Indicator[] {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? '[]') as unknown;
    return Array.isArray(kept) ? INDICATORS.filter((name) => kept.includes(name)) : [];
  } catch {
    return [];
  }
}

/** The fills in a symbol, read again when an order of it fills. */
function useFills(
  symbol: string,
  portfolioId: string | undefined,
  orders: readonly Order[],
): readonly Fill[] {
  const broker = useBroker();
  const filled = orders
    .filter((order) => order.symbol === symbol && (order.filledQuantity ?? 0) > 0)
    .map(({ orderId, filledQuantity }) => `${orderId}${filledQuantity}`)
    .join();
  const fills = useLoad(async () => {
    if (portfolioId === undefined) return [];
    const { data } = await broker.call('listOrders', {
      query: { symbol, portfolioId, status: 'FILLED', limit: 200 },
    });
    // The price of a spread is not one of its underlying.
    return data.filter(({ legs }) => legs === undefined);
  }, [symbol, portfolioId, filled]);
  return useMemo(
    () =>
      (fills.value ?? []).map((order) => ({
        atMs: Date.parse(order.executedAt ?? order.updatedAt),
        isBuy: order.positionIntent.startsWith('BUY'),
        text: `${quantity(order.filledQuantity)} at ${price(order.averagePrice)}`,
      })),
    [fills.value],
  );
}
