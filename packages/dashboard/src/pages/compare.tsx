/** Portfolios compared with a benchmark: returns since a date, and their figures. */
import type { Performance } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { change, money, percent, percentChange, quantity, tone } from '../format.ts';
import { usePortfolios } from '../live/portfolios.ts';
import { useLoad } from '../load.ts';
import type { Line } from '../chart-data.ts';
import type { Column } from '../parts/column.ts';
import { Copy } from '../parts/copy.tsx';
import { Field } from '../parts/field.tsx';
import { LineChart } from '../parts/line-chart.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { useClockMoves } from '../clock-moves.ts';
import { Rule } from '../why/rule.tsx';

/** Maximum number of distinguishable curves. */
const MOST = 6;
const BARS = 1000;
/** Time before the first point in which the previous session has closed. */
const LOOK_BACK_MS = 7 * 86_400_000;
/** From the open of a session, where a daily bar begins, to its close. */
const SESSION_MS = 6.5 * 3_600_000;

interface Row {
  readonly portfolioId: string;
  readonly name: string;
  readonly performance: Performance;
}

export function ComparePage({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const { portfolios, isLoaded } = usePortfolios();
  const benchmark = place.query.get('benchmark') ?? 'SPY';
  const from = place.query.get('from') ?? '';
  const [typed, setTyped] = useState(benchmark);
  const asked = (place.query.get('of') ?? '').split(',').filter((id) => id !== '');
  const names = new Map(
    portfolios.map(({ portfolioId, name }) => [portfolioId, name ?? portfolioId.slice(0, 8)]),
  );
  const chosen = asked.length > 0 ? asked : [...names.keys()].slice(0, MOST);
  const found = useLoad(
    () => read(broker, chosen, names, benchmark, from),
    [chosen, benchmark, from, names.size],
  );
  useClockMoves(found.reload);
  const toggle = (id: string): void => {
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id];
    setQuery({ of: next.slice(-MOST).join(',') });
  };
  const { value, error } = found;
  return (
    <>
      <div class="heading">
        <h1>
          Compare portfolios <Rule name="performance" />
        </h1>
        <Copy name="Copy link" text={location.href} />
      </div>
      <form
        class="panel grid"
        aria-label="What is compared"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ benchmark: typed.trim().toUpperCase() });
        }}
      >
        <Field name="Benchmark" value={typed} onChange={setTyped} placeholder="SPY" />
        <Field name="From" type="date" value={from} onChange={(next) => setQuery({ from: next })} />
        <button type="submit">Compare</button>
        <fieldset class="choices">
          <legend>Portfolios, at most {MOST}</legend>
          {portfolios.map(({ portfolioId }) => (
            <label key={portfolioId} class="inline">
              <input
                type="checkbox"
                checked={chosen.includes(portfolioId)}
                onChange={() => toggle(portfolioId)}
              />{' '}
              {names.get(portfolioId)}
            </label>
          ))}
        </fieldset>
      </form>
      {isLoaded && portfolios.length === 0 && <Empty>There is no portfolio to compare yet.</Empty>}
      {error !== undefined && <Problem error={error} retry={found.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value !== undefined && value.rows.length > 0 && (
        <>
          <LineChart
            key={value.lines.map(({ name }) => name).join()}
            label={`Returns of ${value.rows.length} portfolios${value.hasBenchmark ? ` and ${benchmark}` : ''}`}
            lines={value.lines}
            isFraction
            picture="comparison.png"
          />
          {!value.hasBenchmark && benchmark !== '' && (
            <p class="why">
              {benchmark} has fewer than two daily closes in this stretch, so that it has no curve.
            </p>
          )}
          <Table
            label="Figures"
            columns={columnsIn(broker.simulationId)}
            rows={value.rows}
            keyOf={({ portfolioId }) => portfolioId}
          />
        </>
      )}
    </>
  );
}

async function read(
  broker: Broker,
  ids: readonly string[],
  names: ReadonlyMap<string, string>,
  benchmark: string,
  from: string,
): Promise<{
  readonly rows: readonly Row[];
  readonly lines: readonly Line[];
  readonly hasBenchmark: boolean;
}> {
  const rows = await Promise.all(
    ids.map(async (portfolioId) => ({
      portfolioId,
      name: names.get(portfolioId) ?? portfolioId.slice(0, 8),
      performance: await broker.call('getPerformance', {
        params: { portfolioId },
        query: { series: true, ...(benchmark !== '' && { benchmark }), ...(from !== '' && { from }) },
      }),
    })),
  );
  const lines = rows.map(({ name, performance: { series = [] } }) => ({
    name,
    // Without returns in a break.
    points: series.flatMap((point) =>
      point.return === undefined ? [] : [{ atMs: Date.parse(point.at), value: point.return }],
    ),
  }));
  const start = Math.min(...lines.flatMap(({ points }) => points.slice(0, 1).map(({ atMs }) => atMs)));
  const closes = await closesOf(broker, benchmark, start);
  return {
    rows,
    lines: closes === undefined ? lines : [...lines, closes],
    hasBenchmark: closes !== undefined,
  };
}

/** Closes of a benchmark as returns since its last close before an instant; undefined if there are fewer than two. */
async function closesOf(broker: Broker, symbol: string, sinceMs: number): Promise<Line | undefined> {
  if (symbol === '' || !Number.isFinite(sinceMs)) return undefined;
  const { bars } = await broker.call('getBars', {
    params: { symbol },
    query: { timeframe: '1Day', from: new Date(sinceMs - LOOK_BACK_MS).toISOString(), limit: BARS },
  });
  const closes = bars.map(({ timestamp, close }) => ({ atMs: timestamp + SESSION_MS, value: close }));
  const since = closes.filter(({ atMs }) => atMs > sinceMs);
  const first = closes.findLast(({ atMs }) => atMs <= sinceMs) ?? since[0];
  if (first === undefined || closes.length < 2) return undefined;
  return {
    name: symbol,
    points: [
      { atMs: Math.max(sinceMs, first.atMs), value: 0 },
      ...since
        .filter((one) => one !== first)
        .map(({ atMs, value }) => ({ atMs, value: value / first.value - 1 })),
    ],
  };
}

const fraction = (value: number | undefined): string => (value === undefined ? '–' : percent(value));
const ratio = (value: number | undefined): string =>
  value === undefined ? '–' : quantity(Number(value.toFixed(2)));

const columnsIn = (simulationId: string): readonly Column<Row>[] => [
  {
    title: 'Portfolio',
    isLong: true,
    cell: ({ portfolioId, name }) => <a href={hrefOf(simulationId, `analytics/${portfolioId}`)}>{name}</a>,
  },
  {
    title: 'Return',
    isNumber: true,
    cell: ({ performance: { timeWeightedReturn: value } }) =>
      value === undefined ? '–' : <span class={tone(value)}>{percentChange(value)}</span>,
  },
  {
    title: 'P&L',
    isNumber: true,
    cell: ({ performance: { pnl } }) => <span class={tone(pnl)}>{change(pnl)}</span>,
  },
  { title: 'Equity', isNumber: true, cell: ({ performance }) => money(performance.endEquity) },
  {
    title: 'Volatility',
    isNumber: true,
    isSecondary: true,
    cell: ({ performance }) => fraction(performance.volatility),
  },
  { title: 'Sharpe', isNumber: true, cell: ({ performance }) => ratio(performance.sharpe) },
  {
    title: 'Drawdown',
    isNumber: true,
    cell: ({ performance }) => fraction(performance.maxDrawdown?.fraction),
  },
  {
    title: 'Beta',
    isNumber: true,
    isSecondary: true,
    cell: ({ performance: { benchmark } }) =>
      ratio(benchmark !== undefined && 'beta' in benchmark ? benchmark.beta : undefined),
  },
  { title: 'Trades', isNumber: true, cell: ({ performance }) => quantity(performance.trades.count) },
  {
    title: 'Charges',
    isNumber: true,
    isSecondary: true,
    cell: ({ performance: { commissions, fees } }) => money(commissions + fees),
  },
];
