import type { Projection } from '../projection.js';
import { Statements } from './connection.js';
import type { Database } from './connection.js';
import type { HistoryPurge } from './history-purge.js';
import { DamagedHistory, sumOf } from './history-rows.js';
import { watermarkOf } from './history-schema.js';
import { HistoryScrub } from './history-scrub.js';
import { HistoryTables } from './history-tables.js';
import { recordsOf } from './journal-blocks.js';
import type { Block, JournalBlocks, RecordLine } from './journal-blocks.js';

/** Bytes of inherited records that one transaction derives. */
const INHERITED_AT_ONCE = 4_000_000;

/** A block of an ancestor, and the last record of it that is the fork's, too. */
interface InheritedBlock {
  readonly block: Block;
  readonly upTo: number;
}

/** The tables that the projector writes, and how far they have come. */
export class OpenHistory {
  readonly database: Database;
  readonly tables: HistoryTables;
  readonly purge: HistoryPurge;
  readonly scrub: HistoryScrub;
  readonly #statements: Statements;
  readonly #journal: string;
  #k: number;

  constructor(database: Database, purge: HistoryPurge) {
    this.database = database;
    this.tables = new HistoryTables(database);
    this.purge = purge;
    this.scrub = new HistoryScrub(database);
    this.#statements = new Statements(database);
    const { journal, k } = watermarkOf(database);
    this.#journal = journal;
    this.#k = k;
  }

  /** The last block that the tables tell of. */
  get k(): number {
    return this.#k;
  }

  /** Within a transaction. */
  project(block: Block, records: readonly RecordLine[], project: Projection): void {
    const { simulation, first } = block;
    if (this.tables.position(simulation) !== first - 1)
      throw new DamagedHistory(`The history of a simulation ends before record ${first - 1}`);
    const known = this.tables.known(simulation);
    for (const { seq, at, command, events } of records)
      this.tables.apply(block, seq, project({ seq, at }, { command, events }, known));
  }

  /**
   * Before the first block of a fork: derives what its ancestors' records say, as of where it begins, some at a time. Transactions of their own,
   * which leave the watermark where it is: what is done of it need not be done again.
   */
  inherit({ simulation, first }: Block, journal: JournalBlocks, project: Projection): void {
    const from = this.tables.position(simulation);
    if (from >= first - 1) return;
    let some: InheritedBlock[] = [];
    let bytes = 0;
    for (const inherited of journal.inherited(simulation, from)) {
      some.push(inherited);
      bytes += inherited.block.data.byteLength;
      if (bytes < INHERITED_AT_ONCE) continue;
      this.#inheritSome(simulation, some, project);
      some = [];
      bytes = 0;
    }
    this.#inheritSome(simulation, some, project);
  }

  #inheritSome(simulation: number, some: readonly InheritedBlock[], project: Projection): void {
    this.#commit(() => {
      for (const { block, upTo } of some) {
        const after = this.tables.position(simulation);
        const records = recordsOf(block).filter(({ seq }) => seq > after && seq <= upTo);
        const known = this.tables.known(simulation);
        for (const { seq, at, command, events } of records)
          this.tables.apply(
            { simulation, k: block.k },
            seq,
            project({ seq, at }, { command, events }, known),
          );
      }
      this.tables.write();
    });
  }

  /** What `work` applies to the tables is written together with the watermark: they then tell of everything up to this block. */
  transaction({ k, hash }: Block, work: () => void): void {
    this.#commit(() => {
      work();
      this.tables.write();
      const sum = sumOf.watermark({ journal: this.#journal, k, hash });
      this.#statements.of('UPDATE watermark SET k = ?, hash = ?, sum = ?').run(k, hash, sum);
    });
    this.#k = k;
  }

  #commit(write: () => void): void {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      write();
      this.database.exec('COMMIT');
    } catch (error) {
      this.tables.forget();
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }
}
