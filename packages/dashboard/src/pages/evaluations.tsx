/** Evaluations of agents: the list, and one with its summary, pairs, matrix and tasks. */
import type { CreatedEvaluation, Evaluation, MatrixRow } from '@sandpit/protocol';
import { useBroker } from '../broker.ts';
import { moment, percent, quantity, scoreText, tone, words } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Download } from '../parts/download.tsx';
import { Figure } from '../parts/figure.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { type DashboardRoute, hrefOf, setQuery } from '../route.ts';
import { MAIN } from '../session.ts';
import './evaluations.css';

const AGAIN_MS = 5000;
/** Cells on a page of the matrix. */
const PAGE = 100;

type Summary = Evaluation['summary'][number];
type Pair = Evaluation['paired'][number];

export function EvaluationsPage({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const evaluationId = place.path[1] ?? '';
  if (broker.claims.isEntry || !broker.may('read'))
    return (
      <>
        <h1>Evaluations</h1>
        <Empty>
          <p>This token may not read evaluations.</p>
        </Empty>
      </>
    );
  return evaluationId === '' ? (
    <List page={pageIn(place)} />
  ) : (
    <One key={evaluationId} evaluationId={evaluationId} page={pageIn(place)} />
  );
}

const pageIn = ({ query }: DashboardRoute): number =>
  Math.max(1, Math.floor(Number(query.get('page') ?? 1)) || 1);

function List({ page }: { readonly page: number }) {
  const broker = useBroker();
  const list = useLoad(() => broker.call('listEvaluations', { query: { page, limit: PAGE } }), [page]);
  useEvery(AGAIN_MS, list.reload);
  const { value, error } = list;
  return (
    <>
      <div class="heading">
        <h1>Evaluations</h1>
      </div>
      {error !== undefined && <Problem error={error} retry={list.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value?.pagination.total === 0 && (
        <Empty>
          <p>
            No evaluations yet. An evaluation runs agents through the same markets and tasks and compares
            them. <a href="/docs/how-to/evaluations">How to evaluate agents</a>
          </p>
        </Empty>
      )}
      {value !== undefined && value.data.length > 0 && (
        <>
          <Table
            label="Evaluations"
            columns={LIST}
            rows={value.data}
            keyOf={({ evaluationId }) => evaluationId}
          />
          <Pages page={page} total={value.pagination.total} of="evaluations" />
        </>
      )}
    </>
  );
}

const LIST: readonly Column<CreatedEvaluation>[] = [
  {
    title: 'Name',
    isLong: true,
    cell: ({ evaluationId, name }) => <a href={hrefOf(MAIN, `evaluations/${evaluationId}`)}>{name}</a>,
  },
  { title: 'Status', cell: ({ status }) => words(status) },
  { title: 'Cells per entrant', isNumber: true, cell: ({ cells }) => quantity(cells) },
  { title: 'Visibility', isSecondary: true, cell: ({ visibility }) => words(visibility) },
  { title: 'Created', isSecondary: true, cell: ({ createdAt }) => moment(createdAt) },
];

/** Previous and next page. */
function Pages({ page, total, of }: { readonly page: number; readonly total: number; readonly of: string }) {
  const last = Math.max(1, Math.ceil(total / PAGE));
  if (last === 1) return null;
  const to = (wanted: number): void => setQuery({ page: wanted === 1 ? undefined : wanted });
  return (
    <nav class="row" aria-label={`Pages of ${of}`}>
      <button type="button" disabled={page <= 1} onClick={() => to(page - 1)}>
        Previous
      </button>
      <span>
        Page {quantity(page)} of {quantity(last)}
      </span>
      <button type="button" disabled={page >= last} onClick={() => to(page + 1)}>
        Next
      </button>
    </nav>
  );
}

function One({ evaluationId, page }: { readonly evaluationId: string; readonly page: number }) {
  const broker = useBroker();
  const params = { evaluationId };
  const found = useLoad(
    () => broker.call('getEvaluation', { params, query: { matrix: false } }),
    [evaluationId],
  );
  const cells = useLoad(
    () => broker.call('getEvaluationMatrix', { params, query: { page, limit: PAGE } }),
    [evaluationId, page],
  );
  const evaluation = found.value;
  const isDone = evaluation?.status === 'DONE';
  useEvery(AGAIN_MS, () => {
    if (isDone) return;
    found.reload();
    cells.reload();
  });
  const error = found.error ?? cells.error;
  const rows = cells.value?.data ?? [];
  const tasks = rows.flatMap((row) => (row.tasks ?? []).map((task) => ({ ...task, row })));
  return (
    <>
      <div class="heading">
        <h1>{evaluation?.name ?? 'Evaluation'}</h1>
        <a href={hrefOf(MAIN, 'evaluations')}>All evaluations</a>
      </div>
      {error !== undefined && <Problem error={error} retry={found.reload} />}
      {evaluation === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {evaluation !== undefined && <Facts evaluation={evaluation} total={cells.value?.pagination.total} />}
      {evaluation !== undefined && evaluation.summary.length > 0 && (
        <section class="panel" aria-label="Summary">
          <h2>Summary</h2>
          <Table
            label="Entrants"
            columns={SUMMARY}
            rows={evaluation.summary}
            keyOf={({ entrant }) => entrant}
          />
          <p class="why">
            Mean of the scenarios, with one scenario of its seeds. The interval contains the true mean with a
            probability of 95%.
          </p>
        </section>
      )}
      {evaluation !== undefined && evaluation.paired.length > 0 && (
        <section class="panel" aria-label="Pairs">
          <h2>Pairs</h2>
          <Table
            label="Differences of pairs"
            columns={PAIRS}
            rows={evaluation.paired}
            keyOf={({ a, b }) => JSON.stringify([a, b])}
          />
        </section>
      )}
      {cells.value !== undefined && (
        <section class="panel" aria-label="Cells">
          <div class="heading">
            <h2>Cells</h2>
            <Download name="matrix.csv" list="getEvaluationMatrix" given={{ params }} />
          </div>
          {rows.length === 0 ? (
            <Empty>
              <p>No cells yet: they come with the first entry.</p>
            </Empty>
          ) : (
            <Table label="Matrix" columns={MATRIX} rows={linesOf(rows)} keyOf={({ key }) => key} />
          )}
          <p class="why">
            Scores by seed. Each cell that has ended leads to its simulation, which can be read.
          </p>
          <Pages page={page} total={cells.value.pagination.total} of="cells" />
        </section>
      )}
      {tasks.length > 0 && (
        <section class="panel" aria-label="Tasks">
          <h2>Tasks</h2>
          <Table
            label="Results of tasks"
            columns={TASKS}
            rows={tasks}
            keyOf={({ name, row }) => `${row.cellId} ${name}`}
          />
        </section>
      )}
    </>
  );
}

function Facts({
  evaluation,
  total,
}: {
  readonly evaluation: Evaluation;
  readonly total: number | undefined;
}) {
  const { status, digest, createdAt, warnings, visibility } = evaluation;
  return (
    <section class="panel" aria-label="Evaluation">
      <dl class="figures">
        <Figure name="Status">{words(status)}</Figure>
        <Figure name="Cells">{quantity(total)}</Figure>
        <Figure name="Visibility">{words(visibility)}</Figure>
        <Figure name="Created">{moment(createdAt)}</Figure>
      </dl>
      <p class="why">
        Digest <code class="breaking">{digest}</code>
      </p>
      {warnings.length > 0 && (
        <ul>
          {warnings.map(({ code, message }) => (
            <li key={`${code} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

const intervalText = (ci95: Summary['ci95']): string => {
  const [low, high] = ci95 ?? [];
  return low === undefined || high === undefined ? '–' : `${scoreText(low)} to ${scoreText(high)}`;
};

const SUMMARY: readonly Column<Summary>[] = [
  { title: 'Entrant', isLong: true, cell: ({ entrant }) => entrant },
  { title: 'Model', isSecondary: true, isLong: true, cell: ({ model = '–' }) => model },
  { title: 'Mean', isNumber: true, cell: ({ mean }) => <span class={tone(mean)}>{scoreText(mean)}</span> },
  { title: '95% interval', isNumber: true, cell: ({ ci95 }) => intervalText(ci95) },
  { title: 'Cells', isNumber: true, isWide: true, cell: ({ cells }) => quantity(cells) },
  { title: 'Abandoned', isNumber: true, isSecondary: true, cell: ({ abandoned }) => quantity(abandoned) },
  {
    title: 'Tasks passed',
    isNumber: true,
    isWide: true,
    cell: ({ tasksPassed }) => (tasksPassed === undefined ? '–' : percent(tasksPassed)),
  },
  { title: 'Requests', isNumber: true, isSecondary: true, cell: ({ requests }) => quantity(requests) },
  {
    title: 'Cost',
    isNumber: true,
    isSecondary: true,
    cell: ({ costUsd }) => (costUsd === undefined ? '–' : `$${costUsd.toFixed(2)}`),
  },
];

const PAIRS: readonly Column<Pair>[] = [
  { title: 'Pair', isLong: true, cell: ({ a, b }) => `${a} − ${b}` },
  {
    title: 'Mean difference',
    isNumber: true,
    cell: ({ mean }) => <span class={tone(mean)}>{scoreText(mean)}</span>,
  },
  { title: '95% interval', isNumber: true, cell: ({ ci95 }) => intervalText(ci95) },
  { title: 'Wins', isNumber: true, isWide: true, cell: ({ wins }) => quantity(wins) },
  { title: 'Losses', isNumber: true, isWide: true, cell: ({ losses }) => quantity(losses) },
  { title: 'Ties', isNumber: true, isSecondary: true, cell: ({ ties }) => quantity(ties) },
];

/** The cells of an entrant in a scenario. */
interface Line {
  readonly key: string;
  readonly entrant: string;
  readonly scenario: string;
  readonly cells: readonly MatrixRow[];
}

/** Rows of a page by entrant and scenario, which is their order. */
function linesOf(rows: readonly MatrixRow[]): readonly Line[] {
  const lines = new Map<string, MatrixRow[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.entrant, row.scenario]);
    const known = lines.get(key);
    if (known === undefined) lines.set(key, [row]);
    else known.push(row);
  }
  return [...lines].flatMap(([key, cells]) => {
    const [first] = cells;
    return first === undefined ? [] : [{ key, entrant: first.entrant, scenario: first.scenario, cells }];
  });
}

const MATRIX: readonly Column<Line>[] = [
  { title: 'Entrant', cell: ({ entrant }) => entrant },
  { title: 'Scenario', cell: ({ scenario }) => scenario },
  {
    title: 'Score by seed',
    cell: ({ cells }) => (
      <ul class="cells">
        {cells.map((cell) => (
          <li key={cell.cellId}>
            <Cell cell={cell} />
          </li>
        ))}
      </ul>
    ),
  },
];

/** Seed, with the number of a later trial. */
const placeText = ({ seed, trial }: MatrixRow): string => (trial === 1 ? String(seed) : `${seed} · ${trial}`);

function Cell({ cell }: { readonly cell: MatrixRow }) {
  const { cellId, status, score, tasks = [], entrant, scenario } = cell;
  const seed = <small>{placeText(cell)}</small>;
  // Its figures are there once the server has moved it to its end, and its simulation can be opened.
  if (score === undefined)
    return (
      <span>
        {seed} {words(status)}
      </span>
    );
  const passed = tasks.filter((task) => task.passed).length;
  const mark = tasks.length === 0 ? '' : passed === tasks.length ? 'passed' : 'failed';
  const result = `${scoreText(score)}${tasks.length === 0 ? '' : `, ${passed} of ${tasks.length}`}`;
  return (
    <a
      class={mark}
      href={hrefOf(cellId, '')}
      aria-label={`${entrant}, ${scenario}, ${placeText(cell)}: ${result}, ${words(status)}`}
    >
      {seed} {result}
    </a>
  );
}

type Graded = NonNullable<MatrixRow['tasks']>[number] & { readonly row: MatrixRow };

const TASKS: readonly Column<Graded>[] = [
  { title: 'Entrant', cell: ({ row }) => row.entrant },
  { title: 'Scenario', isWide: true, cell: ({ row }) => row.scenario },
  { title: 'Seed', isSecondary: true, cell: ({ row }) => placeText(row) },
  { title: 'Task', cell: ({ name, trivial }) => (trivial === true ? `${name} (trivial)` : name) },
  {
    title: 'Result',
    cell: ({ passed }) => <span class={passed ? 'up' : 'down'}>{passed ? 'Passed' : 'Failed'}</span>,
  },
  { title: 'Why', cell: ({ why }) => <span class="reason">{why?.text ?? ''}</span> },
];
