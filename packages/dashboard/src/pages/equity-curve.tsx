/** The equity of a portfolio from its opening on, its drawdown without flows, and its fills as dots. */
import type { curveIntervals, EquityPoint, Order, Performance, PortfolioUpdate } from '@sandpit/protocol';
import { useEffect, useMemo } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { change, money, percent, price, quantity } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import { type Curve, curveOf, flowsOf } from '../live/returns.ts';
import { useClockMoves } from '../clock-moves.ts';
import type { Mark, Point } from '../chart-data.ts';
import { Tabs } from '../parts/field.tsx';
import { LineChart } from '../parts/line-chart.tsx';
import { Problem } from '../parts/notice.tsx';
import { setQuery } from '../route.ts';
import { headingOf } from '../strategy.ts';

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
  const drawn = useMemo(
    () => (value === undefined ? undefined : drawnOf(value, { atMs: value.nowMs, value: totalEquity })),
    [value, totalEquity],
  );
  const points = drawn?.curve.equity ?? [];
  const below = drawn?.curve.drawdown ?? [];
  return (
    <section aria-label="Equity">
      <div class="row">
        <Tabs
          label="Span of the curve"
          value={span}
          options={TITLES}
          onChange={(next) => setQuery({ span: next })}
        />
        {drawn !== undefined && <span class="dim">Largest drawdown at closes {percent(drawn.largest)}</span>}
        {drawn !== undefined && drawn.flows.length > 0 && (
          <span class="dim">
            <span class="flow-key" aria-hidden="true" /> {drawn.flows.length}{' '}
            {drawn.flows.length === 1 ? 'deposit or withdrawal' : 'deposits and withdrawals'}
          </span>
        )}
      </div>
      {error !== undefined && <Problem error={error} retry={history.reload} />}
      {drawn === undefined ? (
        <p class="waiting chart">{error === undefined && 'Loading …'}</p>
      ) : (
        <LineChart
          label={`Equity, ${points.length} points, now ${money(totalEquity)}; fills as dots; ${drawn.flows.length === 0 ? '' : `deposits and withdrawals as squares: ${drawn.flows.map(({ text }) => text).join(', ')}; `}below it the drawdown`}
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
  /** Performance of the current epoch. */
  readonly performance: Performance;
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
  const [performance, points, filled] = await Promise.all([
    broker.call('getPerformance', { params, query: { series: true } }),
    newest(broker.list('getEquityCurve', { params, query: { ...from, interval: each } })),
    broker.call('listOrders', { query: { portfolioId, status: 'FILLED', limit: PAGE } }),
  ]);
  return { points: points.toReversed(), fills: filled.data, performance, nowMs, sinceMs };
}

async function newest<Item>(list: AsyncGenerator<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of list) if (items.push(item) >= MOST) break;
  return items;
}

/** `now`: the latest equity from the stream. */
function drawnOf(
  { points, fills, performance, sinceMs }: History,
  now: Point,
): {
  readonly curve: Curve;
  readonly largest: number;
  readonly marks: readonly Mark[];
  readonly flows: readonly Mark[];
} {
  const { series = [], maxDrawdown } = performance;
  const between = points.map(({ at, totalEquity }) => ({ atMs: Date.parse(at), value: totalEquity }));
  // After the last valuation, which may be of a later answer.
  const last = { ...now, atMs: Math.max(now.atMs, Date.parse(performance.to) + 1) };
  const curve = curveOf(series, [...between.filter(({ atMs }) => atMs < last.atMs), last]);
  const flows = flowsOf(series).flatMap(({ atMs, amount }): readonly Mark[] =>
    atMs >= sinceMs ? [{ atMs, kind: 'FLOW', text: change(amount) }] : [],
  );
  const shown = (all: readonly Point[]): readonly Point[] => all.filter(({ atMs }) => atMs >= sinceMs);
  return {
    curve: {
      equity: shown(curve.equity),
      returns: shown(curve.returns),
      drawdown: shown(curve.drawdown),
    },
    largest: Math.min(maxDrawdown?.fraction ?? 0, curve.drawdown.at(-1)?.value ?? 0),
    marks: [
      ...fills.flatMap((order): readonly Mark[] => {
        const atMs = Date.parse(order.executedAt ?? '');
        if (!(atMs >= sinceMs)) return [];
        const what = order.legs === undefined ? order.symbol : `× ${order.symbol} ${headingOf(order.legs)}`;
        const text = `${quantity(order.filledQuantity)} ${what} at ${price(order.averagePrice)}`;
        return [{ atMs, kind: order.positionIntent.startsWith('BUY') ? 'BUY' : 'SELL', text }];
      }),
      ...flows,
    ],
    flows,
  };
}
