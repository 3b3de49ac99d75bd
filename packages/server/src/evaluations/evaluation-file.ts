/**
 * The file of an evaluation whose cells have all ended (D210): lines of JSON. The first describes the evaluation, a line for each row of its
 * matrix follows, then the file (D170) of the evaluation's own cell and that of each cell's simulation. Rows and simulations are in the order
 * of the cells of `entries`.
 */
import { exportSimulation } from '../engine/transfers/export.js';
import type { KeptConfig } from '../engine/configuration/simulation-config.js';
import type { Store } from '../store/store.js';
import {
  EVALUATION_FORMAT,
  type EvaluationHeader,
  type MatrixRow,
  type PairedRow,
  type ShownCell,
  type SummaryRow,
} from './definition.js';

/** The first line of a file. */
export interface FiledEvaluation extends EvaluationHeader {
  readonly summary: readonly SummaryRow[];
  readonly paired: readonly PairedRow[];
}

const ROW = '{"type":"row",';

/** Bytes of the first line: 200 scenarios of 50 tasks, and tens of thousands of cells. */
export const LONGEST_FIRST_LINE = 256 * 1024 * 1024;

/** A simulation with the last record that belongs to the file. */
export interface FiledCell extends Pick<ShownCell, 'simulationId'> {
  readonly upTo: number;
  /** Its id in the file. */
  readonly shownId: string;
}

/** The file of an evaluation, piece by piece. */
export async function* exportEvaluation(
  store: Pick<Store, 'journal' | 'registry'>,
  header: FiledEvaluation,
  rows: readonly MatrixRow[],
  cells: readonly FiledCell[],
): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`;
  for (const row of rows) yield `${JSON.stringify({ type: 'row', ...row })}\n`;
  for (const { simulationId: id, shownId, upTo } of cells) {
    const entry = store.registry.simulation(id);
    if (entry === undefined) throw new Error(`There is no simulation ${id}`);
    const config = JSON.parse(entry.config) as KeptConfig;
    yield* exportSimulation(store, { id, shownId, config, upTo });
  }
}

/** Reads the first line. Throws if it is not that of an evaluation. */
export function headerIn(line: string | undefined): FiledEvaluation {
  const header = JSON.parse(line ?? 'null') as Partial<FiledEvaluation> | null;
  if (header?.type !== 'evaluation') throw new Error('the file is not the export of an evaluation');
  if (header.format !== EVALUATION_FORMAT && header.format !== 1)
    throw new Error('the file was written by a later version');
  return header as FiledEvaluation;
}

/** The row on a line; undefined when it is a line of a simulation. */
export function rowIn(line: string): MatrixRow | undefined {
  if (!line.startsWith(ROW)) return undefined;
  const { type: _, ...row } = JSON.parse(line) as MatrixRow & { readonly type: 'row' };
  return row;
}
