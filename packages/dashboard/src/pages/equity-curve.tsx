/** The equity of a portfolio over time, its drawdown, and its fills as dots. */
import type { curveIntervals, EquityPoint, Order, PortfolioUpdate } from '@sandpit/protocol';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { money, percent, price, quantity } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import { useClockMoves } from '../time/clock-moves.ts';
import type { Mark, Point } from '../parts/chart-data.ts';
import { Tabs } from '../parts/field.tsx';
import { LineChart } from '../parts/line-chart.tsx';
import { Problem } from '../parts/notice.tsx';
import { setQuery } from '../route.ts';

type CurveInterval = (typeof curveIntervals)[number];

const DAY_MS = 86_400_000;

interface Span {
  readonly title: string;
  readonly ms: number;
  /** Interval between its points. */
  readonly interval: CurveInterval;
}

const ALL: Span = { title: 'All', ms: Infinity, interval: '1d' };
/** By their names in the address. */
const SPANS: Readonly<Record<string, Span>> = {
  '1d': { title: '1 day', ms: DAY_MS, interval: '1m' },
  '1w': { title: '1 week', ms: 7 * DAY_MS, interval: '5m' },
  '': ALL,
};
const TITLES = Object.entries(SPANS).map(([name, { title }]) => [name, title] as const);
/** Points of a curve, and fills on it. */
const MOST = 2000;
const PAGE = 500;
/** The shortest interval of which a portfolio of an age has at most `MOST` points. */
const BY_AGE: readonly (readonly [days: number, CurveInterval])[] = [
  [1.3, '1m'],
  [6.5, '5m'],
  [80, '1h'],
];

/** Interval between points of a whole curve: shorter for younger portfolios. */
export const intervalForAge = (ageMs: number): CurveInterval =>
  BY_AGE.find(([days]) => ageMs <= days * DAY_MS)?.[1] ?? '1d';

export function EquityCurve({
  portfolio,
  span: asked,
}: {
  readonly portfolio: PortfolioUpdate;
  readonly span: string;
}) {
  const broker = useBroker();
  const { portfolioId, totalEquity, createdAt } = portfolio;
  const span = Object.hasOwn(SPANS, asked) ? asked : '';
  const history = useLoad(
    () => read(broker, portfolioId, createdAt, SPANS[span] ?? ALL),
    [portfolioId, span],
  );
  useEvery(30_000, history.reload);
  useEffect(() => history.reload(), [portfolio.updatedAt]);
  useClockMoves(history.reload);
  const { value, error } = history;
  const drawn = useMemo(() => (value === undefined ? undefined : drawnOf(value)), [value]);
  /** Latest equity from the stream, appended to the points read. */
  const now = useRef<Point>();
  if (value !== undefined) now.current = { atMs: value.nowMs, value: totalEquity };
  const points = [...(drawn?.points ?? []), ...(now.current === undefined ? [] : [now.current])];
  const below = drawdownOf(points);
  return (
    <section aria-label="Equity">
      <div class="row">
        <Tabs
          label="Span of the curve"
          value={span}
          options={TITLES}
          onChange={(next) => setQuery({ span: next })}
        />
        {drawn?.points.length === 0 && (
          <span class="dim">The curve starts now and gets one point per minute.</span>
        )}
        <span class="dim">
          Largest drawdown {percent(below.reduce((worst, { value: fall }) => Math.max(worst, -fall), 0))}
        </span>
      </div>
      {error !== undefined && <Problem error={error} retry={history.reload} />}
      {drawn === undefined ? (
        <p class="waiting chart">{error === undefined && 'Loading …'}</p>
      ) : (
        <LineChart
          label={`Equity, ${points.length} points, now ${money(totalEquity)}; fills as dots; below it the drawdown`}
          lines={[{ name: 'Equity', points }]}
          below={{ name: 'Drawdown', points: below }}
          marks={drawn.marks}
        />
      )}
    </section>
  );
}

interface History {
  /** Oldest first. */
  readonly points: readonly EquityPoint[];
  readonly fills: readonly Order[];
  readonly nowMs: number;
  readonly sinceMs: number;
}

async function read(
  broker: Broker,
  portfolioId: string,
  createdAt: string,
  { ms, interval }: Span,
): Promise<History> {
  const params = { portfolioId };
  const { now } = await broker.call('getMarketHours');
  const nowMs = Date.parse(now);
  const sinceMs = nowMs - ms;
  const from = Number.isFinite(sinceMs) ? { from: new Date(sinceMs).toISOString() } : {};
  const each = Number.isFinite(ms) ? interval : intervalForAge(nowMs - Date.parse(createdAt));
  const [points, filled] = await Promise.all([
    newest(broker.list('getEquityCurve', { params, query: { ...from, interval: each } })),
    broker.call('listOrders', { query: { portfolioId, status: 'FILLED', limit: PAGE } }),
  ]);
  return { points: points.toReversed(), fills: filled.data, nowMs, sinceMs };
}

async function newest<Item>(list: AsyncGenerator<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of list) if (items.push(item) >= MOST) break;
  return items;
}

function drawnOf({ points, fills, sinceMs }: History): {
  readonly points: readonly Point[];
  readonly marks: readonly Mark[];
} {
  return {
    points: points.map(({ at, totalEquity }) => ({ atMs: Date.parse(at), value: totalEquity })),
    marks: fills.flatMap(({ executedAt, positionIntent, filledQuantity, symbol, averagePrice }) => {
      const atMs = Date.parse(executedAt ?? '');
      if (!(atMs >= sinceMs)) return [];
      const text = `${quantity(filledQuantity)} ${symbol} at ${price(averagePrice)}`;
      return [{ atMs, isBuy: positionIntent.startsWith('BUY'), text }];
    }),
  };
}

/** Drawdown of each point from the highest one before it, as a fraction: 0 or negative. */
function drawdownOf(points: readonly Point[]): readonly Point[] {
  let peak = -Infinity;
  return points.map(({ atMs, value }) => {
    peak = Math.max(peak, value);
    return { atMs, value: peak > 0 ? value / peak - 1 : 0 };
  });
}
