/** Return and risk of a portfolio, with its drawdown and its months. */
import type { Performance } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, day, money, percent, percentChange, quantity, tone } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import type { Column } from '../parts/column.ts';
import { Copy } from '../parts/copy.tsx';
import { saveAs } from '../parts/save-as.ts';
import { Field } from '../parts/field.tsx';
import { Figure } from '../parts/figure.tsx';
import { LineChart } from '../parts/line-chart.tsx';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf, setQuery } from '../route.ts';
import type { SectionProps } from './section.ts';

export function PerformanceSection({ portfolioId, query }: SectionProps) {
  const broker = useBroker();
  const benchmark = query.get('benchmark') ?? '';
  const [typed, setTyped] = useState(benchmark);
  const asked = benchmark === '' ? {} : { benchmark };
  const found = useLoad(
    () => broker.call('getPerformance', { params: { portfolioId }, query: { ...asked, series: true } }),
    [portfolioId, benchmark],
  );
  useClockMoves(found.reload);
  const { value, error } = found;
  return (
    <>
      <form
        class="row filters"
        aria-label="Benchmark"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ benchmark: typed.trim().toUpperCase() });
        }}
      >
        <Field name="Benchmark" value={typed} placeholder="SPY" onChange={setTyped} />
        <button type="submit">Compare</button>
        <Report portfolioId={portfolioId} query={asked} />
        <Copy name="Copy link" text={location.href} />
        <a href={hrefOf(broker.simulationId, 'compare', { of: portfolioId, benchmark: benchmark || 'SPY' })}>
          Compare portfolios
        </a>
      </form>
      {error !== undefined && <Problem error={error} retry={found.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value !== undefined && <Figures performance={value} />}
    </>
  );
}

/** Saves the report as a file. */
function Report({
  portfolioId,
  query,
}: {
  readonly portfolioId: string;
  readonly query: { benchmark?: string };
}) {
  const broker = useBroker();
  const [problem, setProblem] = useState<Error>();
  const save = (): void => {
    setProblem(undefined);
    broker.report(portfolioId, query).then(
      (page) => saveAs('report.html', new Blob([page], { type: 'text/html' })),
      (error: unknown) => setProblem(errorFrom(error)),
    );
  };
  return (
    <>
      <button type="button" class="quiet" onClick={save}>
        Save the report
      </button>
      {problem !== undefined && <Problem error={problem} retry={save} />}
    </>
  );
}

const fraction = (value: number | undefined): string => (value === undefined ? '–' : percent(value));
const ratio = (value: number | undefined): string =>
  value === undefined ? '–' : quantity(Number(value.toFixed(2)));

function Figures({ performance: p }: { readonly performance: Performance }) {
  const { maxDrawdown: drawdown, benchmark, series = [] } = p;
  return (
    <>
      {p.endedAt !== undefined && (
        <p class="tag bad">Equity was not positive any more on {day(p.endedAt)}: returns end there.</p>
      )}
      {p.since !== undefined && (
        <p class="tag bad">
          All equity was lost before {day(p.since)}: returns, ratios and drawdown begin there.
        </p>
      )}
      <dl class="figures wide">
        <Figure name="Return" tone={tone(p.timeWeightedReturn ?? 0)}>
          {p.timeWeightedReturn === undefined ? '–' : percentChange(p.timeWeightedReturn)}
        </Figure>
        <Figure name="Profit and loss" tone={tone(p.pnl)}>
          {change(p.pnl)}
        </Figure>
        <Figure
          name="Annualized return"
          note={p.periodShorterThanYear === true ? 'from less than a year' : undefined}
        >
          {fraction(p.annualizedReturn)}
        </Figure>
        <Figure name="Volatility">{fraction(p.volatility)}</Figure>
        <Figure name="Sharpe ratio">{ratio(p.sharpe)}</Figure>
        <Figure name="Sortino ratio">{ratio(p.sortino)}</Figure>
        <Figure
          name="Maximum drawdown"
          note={drawdown === undefined ? undefined : `${day(drawdown.peakAt)} to ${day(drawdown.troughAt)}`}
        >
          {fraction(drawdown?.fraction)}
        </Figure>
        <Figure name="Win rate" note={`${p.trades.wins} of ${p.trades.count} trades`}>
          {fraction(p.trades.winRate)}
        </Figure>
        <Figure name="Profit factor">{ratio(p.trades.profitFactor)}</Figure>
        <Figure name="Time in the market">{fraction(p.timeInMarket)}</Figure>
        <Figure name="Net deposits">{money(p.netFlows)}</Figure>
        {benchmark !== undefined &&
          (benchmark.reason === undefined ? (
            <>
              <Figure name={`Return of ${benchmark.symbol}`}>{fraction(benchmark.return)}</Figure>
              <Figure name="Alpha, annualized">{fraction(benchmark.alpha)}</Figure>
              <Figure name="Beta">{ratio(benchmark.beta)}</Figure>
            </>
          ) : (
            <Figure name={`Against ${benchmark.symbol}`}>no data</Figure>
          ))}
      </dl>
      {series.length > 1 && (
        <LineChart
          label="Equity and drawdown"
          picture="performance.png"
          lines={[
            {
              name: 'Equity',
              points: series.map(({ at, equity }) => ({ atMs: Date.parse(at), value: equity })),
            },
          ]}
          below={{
            name: 'Drawdown',
            points: series.flatMap(({ at, drawdown: value }) =>
              value === undefined ? [] : [{ atMs: Date.parse(at), value }],
            ),
          }}
        />
      )}
      <section>
        <h2>Profit and loss by cause</h2>
        <dl class="figures wide">
          {causesOf(p.attribution).map(([name, amount]) => (
            <Figure key={name} name={name} tone={tone(amount)}>
              {change(amount)}
            </Figure>
          ))}
        </dl>
      </section>
      {p.segments.length > 1 && (
        <section>
          <h2>Returns between breaks</h2>
          <Table
            label="Returns between breaks"
            columns={SEGMENTS}
            rows={p.segments}
            keyOf={({ from }) => from}
            isDense
          />
        </section>
      )}
      <section>
        <h2>Monthly returns</h2>
        {p.monthly.length === 0 ? (
          <p class="why">No session has closed yet.</p>
        ) : (
          <Table
            label="Monthly returns"
            columns={MONTHS}
            rows={yearsOf(p)}
            keyOf={({ year }) => year}
            isDense
          />
        )}
      </section>
    </>
  );
}

const CAUSES = {
  realized: 'Realized',
  unrealized: 'Change of unrealized',
  dividends: 'Dividends',
  interest: 'Margin interest',
  borrowFees: 'Borrow fees',
  commissions: 'Commissions',
  fees: 'Fees',
  other: 'Other',
} as const satisfies Record<keyof Performance['attribution'], string>;

/** Causes that changed equity; gains and losses always. */
const causesOf = (attribution: Performance['attribution']): readonly (readonly [string, number])[] =>
  Object.entries(CAUSES).flatMap(([cause, name]) => {
    const amount = attribution[cause as keyof typeof CAUSES];
    return amount === 0 && cause !== 'realized' && cause !== 'unrealized' ? [] : [[name, amount] as const];
  });

type Segment = Performance['segments'][number];

const SEGMENTS: readonly Column<Segment>[] = [
  { title: 'From', cell: ({ from }) => day(from) },
  { title: 'To', cell: ({ to }) => day(to) },
  {
    title: 'Return',
    isNumber: true,
    cell: ({ timeWeightedReturn: value }) => <span class={tone(value)}>{percentChange(value)}</span>,
  },
  { title: 'Drawdown', isNumber: true, cell: ({ maxDrawdown }) => percent(maxDrawdown.fraction) },
];

interface Year {
  readonly year: string;
  /** Growth by month, `01` to `12`. */
  readonly months: Readonly<Record<string, number>>;
  readonly whole: number;
}

function yearsOf({ monthly }: Performance): readonly Year[] {
  const years = [...new Set(monthly.map(({ month }) => month.slice(0, 4)))];
  return years.map((year) => {
    const own = monthly.filter(({ month }) => month.startsWith(year));
    return {
      year,
      months: Object.fromEntries(own.map((one) => [one.month.slice(5), one.return])),
      whole: own.reduce((growth, one) => growth * (1 + one.return), 1) - 1,
    };
  });
}

const NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const toned = (value: number | undefined) =>
  value === undefined ? '' : <span class={tone(value)}>{percentChange(value)}</span>;

const MONTHS: readonly Column<Year>[] = [
  { title: 'Year', cell: ({ year }) => year },
  ...NAMES.map((title, index): Column<Year> => ({
    title,
    isNumber: true,
    cell: ({ months }) => toned(months[String(index + 1).padStart(2, '0')]),
  })),
  { title: 'Full year', isNumber: true, cell: ({ whole }) => toned(whole) },
];
