import type { Standby } from '../checkpoints.js';
import type { JournalRecord } from '../journal.js';
import type { ForkRows, HistoryRows } from './history-rows.js';

/** A generation of the line of a simulation, whose rows are to be complete up to a record. */
export interface RowsOfCell {
  readonly cell: number;
  readonly upTo: number;
  /** The last record that the tables contain; undefined = they have nothing of it. */
  readonly position: number | undefined;
}

/** Rows of one cell. */
export type MadeRows =
  | { readonly cell: number; readonly rows: HistoryRows }
  | { readonly cell: number; readonly beginning: ForkRows };

/** Records whose rows are written together. */
const RECORDS_AT_ONCE = 2_000;

/** Source and destination of rows that are made from a journal. */
export interface RowMaking {
  /** The state as of a record at or before this one. */
  standbyAt(upTo: number): Promise<Standby>;
  /** Records of the simulation after a record, and those of its ancestors, in batches. */
  read(afterSeq: number): Iterable<Iterable<JournalRecord>> | AsyncIterable<Iterable<JournalRecord>>;
  write(made: MadeRows): Promise<void>;
}

/** Makes the rows that tables lack of a simulation and of its ancestors. `line`: the youngest first. */
export async function makeRows(line: readonly RowsOfCell[], making: RowMaking): Promise<void> {
  const missing = line
    .map(({ cell, upTo, position }, index) => {
      const begins = line[index + 1]?.upTo ?? 0;
      return {
        cell,
        upTo,
        begins,
        from: Math.max(position ?? begins, begins),
        isNew: position === undefined,
      };
    })
    .filter(({ from, upTo, isNew }) => from < upTo || isNew)
    .reverse();
  const [first] = missing;
  if (first === undefined) return;
  const standby = await making.standbyAt(first.from);
  for (const { cell, upTo, begins, from, isNew } of missing) {
    await apply(standby, making, from);
    if (isNew && begins > 0) await making.write({ cell, beginning: standby.forkRows() });
    standby.collect();
    await apply(standby, making, upTo, async () => {
      const rows = standby.takeRows();
      if (rows !== undefined) await making.write({ cell, rows });
    });
  }
}

/** Applies records up to one of them. `take`: called now and then, and at the end. */
async function apply(
  standby: Standby,
  making: RowMaking,
  upTo: number,
  take?: () => Promise<void>,
): Promise<void> {
  if (standby.seq < upTo)
    for await (const records of making.read(standby.seq)) {
      for (const record of records) {
        if (record.seq > upTo) break;
        standby.apply([record]);
        if (record.seq % RECORDS_AT_ONCE === 0) await take?.();
      }
      if (standby.seq >= upTo) break;
    }
  await take?.();
}
