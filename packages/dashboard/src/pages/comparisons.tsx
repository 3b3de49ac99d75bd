/** Value of a simulation under other rules: variants, their rows, and the first order that went differently. */
import {
  type Comparison,
  type ComparisonRow,
  type ComparisonVariant,
  fillModels,
  type Simulation,
} from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, money, moment, percent, price, quantity, tone, words } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { useBrokerNames } from '../live/broker-names.ts';
import type { Column, Sort } from '../parts/column.ts';
import { profileOf } from '../live/broker-profile.ts';
import { Download } from '../parts/download.tsx';
import { Field, Select } from '../parts/field.tsx';
import { Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf, setQuery } from '../route.ts';
import { causesOf, extremesOf } from './comparison-causes.ts';
import { forkAndGo } from '../time/branches.ts';

/** Seconds that the server waits for the end. */
const WAIT = 5;
const ALL = 'all-brokers';

export function Comparisons({
  simulation,
  query,
}: {
  readonly simulation: Simulation;
  readonly query: URLSearchParams;
}) {
  const comparisonId = query.get('comparison') ?? '';
  return (
    <>
      <p class="why">
        Executes the orders of this simulation again, at the same times and on the same market, under other
        rules. The orders do not react to different results.
      </p>
      <NewComparison simulationId={simulation.simulationId} />
      {comparisonId !== '' && (
        <Result key={comparisonId} comparisonId={comparisonId} simulation={simulation} />
      )}
    </>
  );
}

const WHAT = [
  [ALL, 'All brokers'],
  ['some', 'Chosen brokers'],
  ['latency', 'Latencies'],
  ['fills', 'Fill models'],
] as const;

const LATENCIES = [0, 50, 250, 1000, 5000];

function NewComparison({ simulationId }: { readonly simulationId: string }) {
  const broker = useBroker();
  const brokers = useLoad(() => broker.call('listBrokers'), []);
  const [what, setWhat] = useState<string>(ALL);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [from, setFrom] = useState('');
  const [until, setUntil] = useState('');
  const [error, setError] = useState<Error>();
  const [isStarting, setIsStarting] = useState(false);
  const start = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    setIsStarting(true);
    const body = {
      variants: variantsOf(what, [...chosen]),
      ...(from !== '' && { from: { at: from } }),
      ...(until !== '' && { until: { at: until } }),
    };
    broker
      .call('createComparison', { params: { simulationId }, body })
      .then(
        (begun) => setQuery({ comparison: begun.comparisonId }),
        (reason: unknown) => setError(errorFrom(reason)),
      )
      .finally(() => setIsStarting(false));
  };
  return (
    <form class="panel" onSubmit={start} aria-label="New comparison">
      <div class="grid">
        <Select name="Compare" plain value={what} options={WHAT} onChange={setWhat} />
        <Field name="From (optional)" type="date" value={from} onChange={setFrom} />
        <Field name="Until (optional)" type="date" value={until} onChange={setUntil} />
        <button type="submit" class="primary" disabled={isStarting || (what === 'some' && chosen.size === 0)}>
          Compare
        </button>
      </div>
      {what === 'some' && (
        <fieldset class="choices">
          <legend>Brokers: choose at least one to compare with the present one</legend>
          {(brokers.value?.data ?? []).map((one) => (
            <label key={one.brokerId} class="inline">
              <input
                type="checkbox"
                checked={chosen.has(one.brokerId)}
                onChange={() => {
                  const next = new Set(chosen);
                  if (!next.delete(one.brokerId)) next.add(one.brokerId);
                  setChosen(next);
                }}
              />{' '}
              {one.name}
              <small class="dim block">{profileOf(one)}</small>
            </label>
          ))}
        </fieldset>
      )}
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}

function variantsOf(what: string, brokerIds: readonly string[]): ComparisonVariant[] | typeof ALL {
  switch (what) {
    case 'some':
      return brokerIds.map((brokerId) => ({ name: brokerId, brokerId }));
    case 'latency':
      return LATENCIES.map((latencyMs) => ({ name: `${latencyMs} ms`, latencyMs }));
    case 'fills':
      return fillModels.map((fillModel) => ({ name: words(fillModel), fillModel }));
    default:
      return ALL;
  }
}

/** Follows a comparison to its end. */
function useComparison(comparisonId: string): { readonly value?: Comparison; readonly error?: Error } {
  const broker = useBroker();
  const [state, setState] = useState<{ value?: Comparison; error?: Error }>({});
  useEffect(() => {
    const over = new AbortController();
    const follow = async (): Promise<void> => {
      let wait = 0;
      while (!over.signal.aborted) {
        const value = await broker.call('getComparison', {
          params: { comparisonId },
          query: { wait },
          signal: over.signal,
        });
        setState({ value });
        if (value.status !== 'QUEUED' && value.status !== 'RUNNING') return;
        // First the known state, then updates.
        wait = WAIT;
      }
    };
    follow().catch((error: unknown) => {
      if (!over.signal.aborted) setState((old) => ({ ...old, error: errorFrom(error) }));
    });
    return () => over.abort();
  }, [broker, comparisonId]);
  return state;
}

function Result({
  comparisonId,
  simulation,
}: {
  readonly comparisonId: string;
  readonly simulation: Simulation;
}) {
  const broker = useBroker();
  const nameOfBroker = useBrokerNames(broker);
  const { value, error } = useComparison(comparisonId);
  const [sort, setSort] = useState<Sort>();
  if (error !== undefined) return <Refusal error={error} />;
  if (value === undefined) return <p class="waiting">Loading …</p>;
  const { status, progress, base, variants = [], baseMatches, baseDifference, reason } = value;
  const isRunning = status === 'QUEUED' || status === 'RUNNING';
  const rows = base === undefined ? variants : [base, ...variants];
  const cancel = (): void => {
    void broker.call('cancelComparison', { params: { comparisonId } }).catch(() => undefined);
  };
  return (
    <section aria-label="Result of the comparison">
      <div class="row">
        <h2>{isRunning ? 'Comparing …' : `Comparison ${status.toLowerCase()}`}</h2>
        {isRunning && (
          <>
            <progress max={1} value={progress} aria-label="Progress" />
            <button type="button" class="quiet" onClick={cancel}>
              Cancel
            </button>
          </>
        )}
        {status === 'DONE' && (
          <Download name="comparison.csv" list="getComparison" given={{ params: { comparisonId } }} />
        )}
      </div>
      {reason !== undefined && <p class="down">{reason}</p>}
      {baseMatches === false && (
        <p class="down">
          The base, executed again, differs from the journal by {change(baseDifference ?? 0)}. Differences are
          counted against the re-executed base.
        </p>
      )}
      {rows.length > 0 && (
        <Table
          label="Comparison"
          columns={columnsOf(broker, simulation, base, nameOfBroker, rows)}
          rows={rows}
          keyOf={({ name }) => name}
          isDense
          sort={sort}
          onSort={setSort}
        />
      )}
    </section>
  );
}

const amount = (value: number | undefined): string => (value === undefined ? '–' : money(value));

function columnsOf(
  broker: ReturnType<typeof useBroker>,
  simulation: Simulation,
  base: ComparisonRow | undefined,
  nameOfBroker: (brokerId: string) => string,
  rows: readonly ComparisonRow[],
): readonly Column<ComparisonRow>[] {
  const { best, worst } = extremesOf(rows);
  return [
    {
      title: 'Rules',
      sortBy: (row) => (row === base ? 'Original' : nameOfBroker(row.name)),
      cell: (row) => (
        <>
          {row === base ? <strong>Original</strong> : nameOfBroker(row.name)}
          {best.has(row.name) && <span class="tag good rank">best</span>}
          {worst.has(row.name) && <span class="tag bad rank">worst</span>}
        </>
      ),
    },
    {
      title: 'Equity',
      isNumber: true,
      sortBy: ({ totalEquity }) => totalEquity,
      cell: ({ totalEquity }) => amount(totalEquity),
    },
    {
      title: 'Difference',
      isNumber: true,
      sortBy: ({ difference }) => difference,
      cell: (row) =>
        row === base || row.difference === undefined ? (
          ''
        ) : (
          <span class={tone(row.difference)}>{change(row.difference)}</span>
        ),
    },
    {
      title: 'By cause',
      cell: (row) =>
        base === undefined || row === base
          ? ''
          : causesOf(row, base)
              .map(({ cause, amount: dollars }) => `${cause} ${change(dollars)}`)
              .join(', '),
    },
    {
      title: 'Realized P&L',
      isNumber: true,
      sortBy: ({ realizedPnl }) => realizedPnl,
      isSecondary: true,
      cell: ({ realizedPnl }) => amount(realizedPnl),
    },
    {
      title: 'Commissions',
      isNumber: true,
      sortBy: ({ commissions }) => commissions,
      cell: ({ commissions }) => amount(commissions),
    },
    {
      title: 'Fees',
      isNumber: true,
      isSecondary: true,
      sortBy: ({ regulatoryFees }) => regulatoryFees,
      cell: ({ regulatoryFees }) => amount(regulatoryFees),
    },
    {
      title: 'Interest',
      isNumber: true,
      isSecondary: true,
      sortBy: ({ interest = 0, borrowFees = 0 }) => interest + borrowFees,
      cell: ({ interest = 0, borrowFees = 0 }) => amount(interest + borrowFees),
    },
    {
      title: 'Filled',
      isNumber: true,
      isWide: true,
      sortBy: ({ orders }) => orders?.filled,
      cell: ({ orders }) => quantity(orders?.filled),
    },
    {
      title: 'Rejected',
      isNumber: true,
      isWide: true,
      sortBy: ({ requests }) => requests?.refused,
      cell: ({ requests }) => quantity(requests?.refused),
    },
    {
      title: 'Calls',
      isNumber: true,
      isSecondary: true,
      sortBy: ({ marginCalls }) => marginCalls,
      cell: ({ marginCalls }) => quantity(marginCalls),
    },
    {
      title: 'Drawdown',
      isNumber: true,
      isSecondary: true,
      sortBy: ({ maxDrawdown }) => maxDrawdown?.fraction,
      cell: ({ maxDrawdown }) => (maxDrawdown === undefined ? '' : percent(maxDrawdown.fraction)),
    },
    {
      title: 'First difference, and why',
      isLong: true,
      cell: (row) => {
        if (row.status === 'FAILED') return <span class="down">{row.reason}</span>;
        const { firstDifference } = row;
        if (firstDifference === undefined) return row === base ? '' : <span class="dim">none</span>;
        const { at, orderId } = firstDifference;
        return (
          <>
            <a href={hrefOf(simulation.simulationId, 'orders', { order: orderId })}>{moment(at)}</a>:{' '}
            {differenceText(firstDifference)}{' '}
            <button
              type="button"
              class="link"
              aria-label={`Fork before the first difference of ${nameOfBroker(row.name)}`}
              onClick={() =>
                void forkAndGo(
                  broker,
                  simulation,
                  { at: new Date(Date.parse(at) - 1000).toISOString() },
                  `Before ${nameOfBroker(row.name)} differs`,
                ).catch(() => undefined)
              }
            >
              Fork before it
            </button>
          </>
        );
      },
    },
  ];
}

type Difference = NonNullable<ComparisonRow['firstDifference']>;

/** Difference in an order, as a sentence. */
export function differenceText({
  kind,
  base,
  variant,
}: Pick<Difference, 'kind' | 'base' | 'variant'>): string {
  const figure = (value: string | number, text: (value: number) => string): string =>
    typeof value === 'number' ? text(value) : words(value);
  switch (kind) {
    case 'REJECTED':
      return `refused (${figure(variant, quantity)}); it was ${figure(base, quantity).toLowerCase()}.`;
    case 'PRICE':
      return `filled at ${figure(variant, price)} instead of ${figure(base, price)}.`;
    case 'QUANTITY':
      return `filled ${figure(variant, quantity)} instead of ${figure(base, quantity)}.`;
    case 'FEE':
      return `charged ${figure(variant, money)} instead of ${figure(base, money)}.`;
    case 'STATUS':
      return `${figure(variant, quantity)} instead of ${figure(base, quantity).toLowerCase()}.`;
  }
}
