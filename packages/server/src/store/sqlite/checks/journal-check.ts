import { DamagedJournal } from '../../journal.js';
import { all, asDamage } from '../database/connection.js';
import type { Database, Statements } from '../database/connection.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { alteredSums, digestOf, malformed, readMeta } from '../journal/meta.js';
import { refuseOtherTables } from '../journal/journal-schema.js';

/** Data of blocks read at a time. */
const BYTES_AT_ONCE = 1_000_000;

/**
 * Reads everything in a journal as of one instant, and yields every difference from the written data. Reads the tables themselves, not only
 * the meta row.
 */
export function* altered(database: Database, statements: Statements): Iterable<DamagedJournal> {
  database.exec('BEGIN');
  try {
    refuseOtherTables(database);
    const meta = readMeta(database);
    for (const problem of malformed(database)) yield damaged(problem);
    if (digestOf(meta) !== meta.digest) yield damaged('its meta row is not the one that was written');
    for (const problem of alteredSums(database, meta, true)) yield damaged(problem);
    const strays = database.prepare(
      'SELECT DISTINCT simulation FROM block NOT INDEXED WHERE simulation NOT IN (SELECT key FROM simulation)',
    );
    for (const { simulation } of all<{ simulation: number }>(strays))
      yield damaged(`it has blocks of a simulation ${simulation} that was never created`);
    for (const problem of damagedBlocks(new JournalBlocks(statements), meta.lastK)) yield problem;
  } catch (error) {
    const named = asDamage(error);
    if (!(named instanceof DamagedJournal)) throw error;
    yield named;
  } finally {
    database.exec('ROLLBACK');
  }
}

/** The first damaged block, if any. */
function* damagedBlocks(blocks: JournalBlocks, lastK: number): Iterable<DamagedJournal> {
  for (let k = 0; k < lastK;) {
    const some = blocks.after(k, BYTES_AT_ONCE);
    const last = some.at(-1);
    if (last === undefined) return;
    if (last.k > lastK) yield damaged(`block ${last.k} is there, and only ${lastK} were written`);
    k = last.k;
  }
}

function damaged(what: string): DamagedJournal {
  return new DamagedJournal(`The journal is damaged: ${what}`);
}
