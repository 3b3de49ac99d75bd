import type { CellStatus, FiledEntry, MatrixRow, ShownCell } from './definition.js';
import type { KeptCell, KeptEvaluation } from './directory.js';
import { type EvaluationFigures, figuresOf, resultHashOf, rowScore, withTrivialTasks } from './figures.js';

/** An evaluation as it stands. */
export interface EvaluationView {
  readonly rows: readonly MatrixRow[];
  readonly figures: EvaluationFigures;
  /** Present once every cell has ended. */
  readonly resultHash?: string;
}

const VIEWS = new WeakMap<KeptEvaluation, { readonly version: number; readonly view: EvaluationView }>();

/** Rows, figures and result, computed again when a cell has changed. */
export function viewOf(kept: KeptEvaluation): EvaluationView {
  const known = VIEWS.get(kept);
  if (known?.version === kept.version) return known.view;
  const rows = withTrivialTasks(kept.cells.map(rowKept));
  const { scenarios } = kept.note.definition;
  const hashes = rows.flatMap(({ journalHash }) => journalHash ?? []);
  const isDone = hashes.length === rows.length && rows.length > 0;
  const entries = [...kept.entries.values()];
  let figures: EvaluationFigures | undefined;
  const view: EvaluationView = {
    rows,
    // Computed when first read: pages of the matrix do not show them.
    get figures() {
      figures ??= figuresOf(rows, entries, scenarios.length);
      return figures;
    },
    ...(isDone && { resultHash: resultHashOf(hashes) }),
  };
  VIEWS.set(kept, { version: kept.version, view });
  return view;
}

/** By note, which is replaced when it changes. */
const ROWS = new WeakMap<KeptCell['note'], MatrixRow>();

function rowKept(cell: KeptCell): MatrixRow {
  const row = ROWS.get(cell.note) ?? rowOf(cell);
  ROWS.set(cell.note, row);
  return row;
}

export function statusOfCell({ endedAt, startedAt, reason }: KeptCell['note']): CellStatus {
  if (endedAt === undefined) return startedAt === undefined ? 'OPEN' : 'RUNNING';
  return reason === 'END' || reason === 'FINISH' ? 'DONE' : 'ABANDONED';
}

const iso = (ms: number): string => new Date(ms).toISOString();

function rowOf({ note, entry, kept }: KeptCell): MatrixRow {
  const { startedAt, endedAt, finishedAt, result } = note;
  const { definition } = kept.note;
  return {
    cellId: note.id,
    entrant: entry.entrant,
    scenario: definition.scenarios[note.scenario]?.name ?? '',
    seed: note.seed,
    trial: note.trial,
    status: statusOfCell(note),
    ...(note.reason !== undefined && { reason: note.reason }),
    ...(startedAt !== undefined && { startedAt: iso(startedAt) }),
    ...(endedAt !== undefined && { endedAt: iso(endedAt) }),
    ...(finishedAt !== undefined && { finishedAt: iso(finishedAt) }),
    ...(startedAt !== undefined && endedAt !== undefined && { wallSeconds: (endedAt - startedAt) / 1000 }),
    calls: note.calls,
    ...(note.usage !== undefined && { usage: note.usage }),
    ...(result !== undefined && {
      metrics: result.metrics,
      score: rowScore(definition.score, {
        metrics: result.metrics,
        ...(result.tasks !== undefined && { tasks: result.tasks }),
      }),
      ...(result.tasks !== undefined && { tasks: result.tasks }),
      journalHash: result.journalHash,
    }),
  };
}

/** A cell as it travels. */
export const shownCell = ({ note, kept }: KeptCell): ShownCell => ({
  cellId: note.id,
  scenario: kept.note.definition.scenarios[note.scenario]?.name ?? '',
  seed: note.seed,
  trial: note.trial,
  portfolioId: note.portfolioId,
  simulationId: note.id,
});

/** Entrants with their cells as the exported file has them, in the order of the rows. */
export function filedEntries({ entries, cells }: KeptEvaluation): readonly FiledEntry[] {
  const byEntry = new Map<string, KeptCell[]>();
  for (const cell of cells) {
    const own = byEntry.get(cell.entry.id);
    if (own === undefined) byEntry.set(cell.entry.id, [cell]);
    else own.push(cell);
  }
  return [...byEntry].flatMap(([id, own]) => {
    const entry = entries.get(id);
    if (entry === undefined) return [];
    const { number, entrant, model, version, isWithdrawn } = entry;
    return [
      {
        entryId: id,
        number,
        entrant,
        ...(model !== undefined && { model }),
        ...(version !== undefined && { version }),
        ...(isWithdrawn === true && { withdrawn: true as const }),
        cells: own.map(shownCell),
      },
    ];
  });
}
