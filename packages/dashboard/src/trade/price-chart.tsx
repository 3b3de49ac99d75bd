/** The live chart: candles with the one that forms, the figures of a bar, indicators, the position, orders and fills. */
import {
  type Bar,
  barTimeframes,
  type BarTimeframe,
  type Order,
  type PortfolioUpdate,
} from '@sandpit/protocol';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { compact, percentChange, price, quantity, tone } from '../format.ts';
import { isOpenOrder } from '../live/orders.ts';
import type { QuoteFeed } from '../live/quotes.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { useClockMoves } from '../time/clock-moves.ts';
import { Tabs } from '../parts/field.tsx';
import { Problem, sentenceOf } from '../parts/notice.tsx';
import { setQuery } from '../route.ts';
import { announce } from '../ui/toaster.tsx';
import { barsIn, rangeOf, RANGES } from './chart-ranges.ts';
import { barOf, partsOf, startOfBar, withPrice } from './forming-bar.ts';
import { type Indicator, INDICATORS } from './indicators.ts';
import type { Fill, PriceDrawing, PriceMark } from './price-drawing.ts';

const KEPT = 'sandpit-indicators';
const LIMIT = 500;

interface Loaded {
  readonly bars: readonly Bar[];
  readonly timeframe: BarTimeframe;
}

/** Finished bars, and the forming one aggregated from shorter ones. */
async function readBars(broker: Broker, symbol: string, timeframe: BarTimeframe): Promise<Loaded> {
  const part = partsOf(timeframe);
  const [{ bars }, { now }] = await Promise.all([
    broker.call('getBars', { params: { symbol }, query: { timeframe, limit: LIMIT } }),
    broker.call('getMarketHours'),
  ]);
  const last = bars.at(-1);
  const start = startOfBar(timeframe, Date.parse(now), last);
  if (part === undefined || (last !== undefined && start <= last.timestamp)) return { bars, timeframe };
  const parts = await broker.call('getBars', {
    params: { symbol },
    query: { timeframe: part, from: new Date(start).toISOString(), limit: LIMIT },
  });
  const forming = barOf(parts.bars, start);
  return { bars: forming === undefined ? bars : [...bars, forming], timeframe };
}

export function PriceChart({
  symbol,
  timeframe,
  range: rangeName,
  feed,
  portfolio,
  orders,
}: {
  readonly symbol: string;
  readonly timeframe: BarTimeframe;
  /** Name of a range in the address. */
  readonly range: string;
  readonly feed: QuoteFeed;
  readonly portfolio: PortfolioUpdate | undefined;
  readonly orders: readonly Order[];
}) {
  const broker = useBroker();
  const box = useRef<HTMLDivElement>(null);
  const drawing = useRef<PriceDrawing>();
  const bars = useRef<Loaded>({ bars: [], timeframe });
  const isToFit = useRef(true);
  const range = rangeOf(rangeName, timeframe);
  useEffect(() => drawing.current?.fit(barsIn(range, bars.current.bars)), [range]);
  const [isReady, setIsReady] = useState(false);
  const [hovered, setHovered] = useState<Bar>();
  const [lastBar, setLastBar] = useState<Bar>();
  const [indicators, setIndicators] = useState(readIndicators);
  const open = useRef<ReadonlyMap<string, Order>>(new Map());
  open.current = new Map(orders.filter(isOpenOrder).map((order) => [order.orderId, order]));

  const read = useLoad(() => readBars(broker, symbol, timeframe), [symbol, timeframe]);
  useEvery(15_000, read.reload);
  useClockMoves(() => {
    isToFit.current = true;
    read.reload();
  });

  const drag = (orderId: string, to: number): void => {
    const order = open.current.get(orderId);
    if (order === undefined) return;
    const body = order.limitPrice === undefined ? { stopPrice: to } : { limitPrice: to };
    broker.call('updateOrder', { params: { orderId }, body }).then(
      () => announce(`Order in ${order.symbol} moved`, `To ${price(to)}.`, 'success', `move ${orderId}`),
      (error: unknown) => {
        announce(`Order in ${order.symbol} not moved`, sentenceOf(errorFrom(error)), 'error');
        drawing.current?.setMarks([]);
        drawing.current?.setMarks(marks);
      },
    );
  };
  const latestDrag = useRef(drag);
  latestDrag.current = drag;

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    let isOver = false;
    void import('./price-drawing.ts').then((library) => {
      if (isOver) return;
      drawing.current = new library.PriceDrawing(element, {
        onHover: setHovered,
        onDrag: (id, to) => latestDrag.current(id, to),
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
  const marks = useMemo(() => marksOf(symbol, portfolio, orders), [symbol, portfolio, orders]);
  useEffect(() => drawing.current?.setFills(fills), [isReady, fills]);
  useEffect(() => drawing.current?.setMarks(marks), [isReady, marks]);
  useEffect(() => drawing.current?.setIndicators(indicators), [isReady, indicators]);

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
        <button
          type="button"
          class="quiet"
          onClick={() => drawing.current?.fit(barsIn(range, bars.current.bars))}
        >
          Fit
        </button>
        <Legend bar={hovered ?? lastBar} />
      </div>
      {read.error !== undefined && <Problem error={read.error} retry={read.reload} />}
      <div class="chart-box">
        <div
          ref={box}
          data-stale={read.value === undefined ? '' : undefined}
          role="img"
          aria-label={`${symbol}, ${count} bars of ${timeframe}, last ${price(lastBar?.close)}, ${fills.length} fills, ${marks.length} lines`}
        />
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

/** The average price of the position, and the open orders that have a price of their own. */
function marksOf(
  symbol: string,
  portfolio: PortfolioUpdate | undefined,
  orders: readonly Order[],
): readonly PriceMark[] {
  const share = portfolio?.equities.find((one) => one.symbol === symbol);
  const future = portfolio?.futures.find((one) => one.symbol === symbol);
  const count = share === undefined ? (future?.quantity ?? 0) : share.settledQuantity + share.pendingQuantity;
  const entry = share?.entryPrice ?? future?.entryPrice;
  return [
    ...(count === 0 || entry === undefined
      ? []
      : [{ price: entry, title: `${quantity(count)} avg`, color: '--accent' } as const]),
    ...orders.flatMap((order): PriceMark[] => {
      if (!isOpenOrder(order) || order.symbol !== symbol || order.legs !== undefined) return [];
      const at = order.limitPrice ?? order.stopPrice;
      if (at === undefined) return [];
      const isBuy = order.positionIntent.startsWith('BUY');
      const kind = order.limitPrice === undefined ? 'stop' : 'limit';
      return [
        {
          id: order.orderId,
          price: at,
          title: `${isBuy ? 'Buy' : 'Sell'} ${quantity(order.quantity)} ${kind}`,
          color: isBuy ? '--up' : '--down',
        },
      ];
    }),
  ];
}
