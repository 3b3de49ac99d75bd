import type { CheckpointMaking } from '../checkpoints.js';
import { countRecord, TABLE_NAMES } from '../history/differences.js';
import type { Counted, Differences } from '../history/differences.js';
import { lineOf } from '../history/history-queries.js';
import { LIST_CODE } from '../history/history-rows.js';
import { HISTORY_TABLES } from '../history/history-schema.js';
import { makeRows } from '../history/make-rows.js';
import type { RowsOfCell } from '../history/make-rows.js';
import { recordTexts } from '../journal-chain.js';
import type { JournalRecord } from '../journal.js';
import { BlockReader } from './block-reader.js';
import { DatabaseAddress, SCHEMA } from './database.js';
import { followRegistry } from './follow-registry.js';
import { HistoryWrites } from './history-writes.js';
import { QuestionConnection } from './question-connection.js';
import { RegistryState } from './registry-state.js';
import type { RegisteredCell } from './registry-state.js';

/** Comparing the rows of a long journal may be slow. */
const COMPARE_MS = 600_000;

/** A row of these lists has the items of all records of one write; items are compared. */
const STREAMS = LIST_CODE['stream-events'];

/** The last record of a cell. */
interface End {
  readonly seq: number;
  readonly hash: Buffer;
}

/**
 * Compares the history of a database with its journals: the rows of every simulation are made again in temporary tables of the same names,
 * and compared one by one. Orders and executions are also counted in the events themselves: a row that is never made would be missing both
 * times. No server may use the database.
 */
export async function compareHistory(
  url: string,
  standbyFrom: CheckpointMaking['standbyFrom'],
): Promise<Differences> {
  const address = new DatabaseAddress(url);
  const journal = new QuestionConnection(address);
  // A session resolves names to its temporary tables first.
  const scratch = new QuestionConnection(address, (client) =>
    client.query(
      HISTORY_TABLES.map(([name]) => `CREATE TEMP TABLE ${name} (LIKE ${SCHEMA}.${name} INCLUDING ALL)`).join(
        ';',
      ),
    ),
  );
  try {
    const state = new RegistryState();
    await followRegistry(journal, state);
    const heads = await journal.ask<{ cell: number; seq: string; hash: Buffer }>(
      'SELECT cell, seq, hash FROM head',
      [],
      COMPARE_MS,
    );
    const ends = new Map(heads.map(({ cell, seq, hash }) => [cell, { seq: Number(seq), hash }]));
    const comparison = new Comparison(journal, scratch, state, standbyFrom);
    // Forks rest on the rows of their ancestors, which are older.
    const cells = [...state.cells.values()].sort((a, b) => a.key - b.key);
    for (const cell of cells) {
      const end = ends.get(cell.key);
      if (cell.deletedAt === undefined && end !== undefined) await comparison.compare(cell, end);
    }
    return comparison.found;
  } finally {
    await scratch.close();
    await journal.close();
  }
}

class Comparison {
  readonly #scratch: QuestionConnection;
  readonly #blocks: BlockReader;
  readonly #state: RegistryState;
  readonly #writes: HistoryWrites;
  readonly #standbyFrom: CheckpointMaking['standbyFrom'];
  readonly #problems: string[] = [];
  readonly #ids = new Set<string>();

  constructor(
    journal: QuestionConnection,
    scratch: QuestionConnection,
    state: RegistryState,
    standbyFrom: CheckpointMaking['standbyFrom'],
  ) {
    const originOf: RegistryState['originOf'] = (key) => state.originOf(key);
    this.#scratch = scratch;
    this.#state = state;
    this.#standbyFrom = standbyFrom;
    this.#blocks = new BlockReader(journal, originOf);
    this.#writes = new HistoryWrites(scratch, (key) => lineOf(key, originOf), undefined);
  }

  get found(): Differences {
    return { problems: this.#problems, ids: [...this.#ids] };
  }

  #say(id: string, problem: string): void {
    this.#problems.push(`history of ${id} ${problem}`);
    this.#ids.add(id);
  }

  async compare(cell: RegisteredCell, end: End): Promise<void> {
    await this.#make(cell, end);
    for (const [table] of HISTORY_TABLES) await this.#compareRows(cell, table);
    await this.#compareCounts(cell, await this.#counted(cell, end));
  }

  async *#read(
    { id, key, origin }: RegisteredCell,
    afterSeq: number,
    end: End,
  ): AsyncGenerator<Iterable<JournalRecord>> {
    for await (const { block, after, upTo } of this.#blocks.blocks({ id, key, origin }, afterSeq, end))
      yield recordTexts(block, id, after, upTo);
  }

  async #make(cell: RegisteredCell, end: End): Promise<void> {
    const line: RowsOfCell[] = [];
    for (const generation of lineOf(cell.key, (key) => this.#state.originOf(key), end.seq))
      line.push({ ...generation, position: await this.#writes.position(generation.cell) });
    if (end.seq === 0) return;
    await makeRows(line, {
      standbyAt: () => Promise.resolve(this.#standbyFrom(cell.config, undefined)),
      read: (afterSeq) => this.#read(cell, afterSeq, end),
      write: (made) => this.#writes.write(made, cell.key),
    });
  }

  async #counted(cell: RegisteredCell, end: End): Promise<Counted> {
    const counted: Counted = { orders: 0, executions: 0 };
    for await (const records of this.#read(cell, cell.origin?.seq ?? 0, end))
      for (const { payload } of records) countRecord(counted, payload);
    return counted;
  }

  async #compareRows({ key, id }: RegisteredCell, table: string): Promise<void> {
    const name = `rows of ${TABLE_NAMES[table] ?? table}`;
    const missing = await this.#unmatched(table, 'pg_temp', SCHEMA, key);
    if (missing.n > 0)
      this.#say(id, `does not have ${missing.n} ${name} that the journal gives, the first ${missing.first}`);
    const extra = await this.#unmatched(table, SCHEMA, 'pg_temp', key);
    if (extra.n > 0)
      this.#say(id, `has ${extra.n} ${name} that the journal does not give, the first ${extra.first}`);
  }

  /** Rows of one schema that the other does not have. */
  async #unmatched(
    table: string,
    here: string,
    there: string,
    key: number,
  ): Promise<{ readonly n: number; readonly first: string }> {
    const [found] = await this.#scratch.ask<{ n: number; first: string }>(
      `SELECT count(*)::integer AS n, min(left(row_to_json(d)::text, 300)) AS first
         FROM ((${rowsOf(table, here)}) EXCEPT ALL (${rowsOf(table, there)})) d`,
      [key],
      COMPARE_MS,
    );
    return found ?? { n: 0, first: '' };
  }

  async #compareCounts({ key, id }: RegisteredCell, { orders, executions }: Counted): Promise<void> {
    // Copies that a fork begins with are of its ancestors.
    const [has] = await this.#scratch.ask<Counted>(
      `SELECT coalesce((SELECT orders - orders_base FROM ${SCHEMA}.history_owner WHERE cell = $1 AND id = '*'), 0)::integer AS orders,
         (SELECT count(*)::integer FROM (
            SELECT places FROM ${SCHEMA}.history_item WHERE cell = $1 AND list = ${LIST_CODE['order-events']}
            UNION ALL SELECT o.places FROM ${SCHEMA}.history_order o WHERE o.cell = $1 AND NOT EXISTS (
              SELECT 1 FROM ${SCHEMA}.history_owner w WHERE w.cell = o.cell AND w.id = o.portfolio AND o.portfolio_n <= w.orders_base)
          ) p, json_array_elements(places::json) AS place WHERE place ->> 2 = 'EXECUTION') AS executions`,
      [key],
      COMPARE_MS,
    );
    if (has?.orders !== orders)
      this.#say(id, `has ${has?.orders ?? 0} orders where the journal has ${orders}`);
    if (has?.executions !== executions)
      this.#say(id, `has ${has?.executions ?? 0} executions where the journal has ${executions}`);
  }
}

/** The rows of a cell, without what depends on how many were written together. */
function rowsOf(table: string, schema: string): string {
  const from = `FROM ${schema}.${table} WHERE cell = $1`;
  if (table !== 'history_item') return `SELECT * ${from}`;
  return `SELECT cell, owner, list, n, seq, at, places, key ${from} AND list <> ${STREAMS}
    UNION ALL SELECT cell, owner, list, 0, 0, 0, place::text, key
      FROM ${schema}.${table}, json_array_elements(places::json) AS place WHERE cell = $1 AND list = ${STREAMS}`;
}
