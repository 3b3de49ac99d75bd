import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { missingRecordsText } from '../journal.js';
import { EVENT_TAGS, settingsOf } from '../registry.js';
import type { AcknowledgedHeads } from './acknowledged-heads.js';
import { DatabaseAddress } from './database.js';
import { followRegistry } from './follow-registry.js';
import { QuestionConnection } from './question-connection.js';
import { erasedNameOf, RegistryState } from './registry-state.js';
import type { RegisteredCell } from './registry-state.js';

/**
 * Takes cells out of service whose heads are behind the acknowledged records, or whose journal has other records there. The next epoch
 * excludes a node that commits to such a cell. A head with more accepted losses than recorded in memory is newer than the memory.
 */
const MARK = `
  UPDATE head SET missing = greatest(r.seq - head.seq, 1), epoch = head.epoch + 1
    FROM unnest($1::integer[], $2::bigint[], $3::text[], $4::integer[]) AS r (cell, seq, hash, losses)
    WHERE head.cell = r.cell AND head.losses <= r.losses AND head.missing IS NULL AND
      CASE
        WHEN head.seq < r.seq THEN true
        WHEN head.seq = r.seq THEN head.hash <> decode(r.hash, 'hex')
        ELSE (SELECT b.last = r.seq AND b.hash = decode(r.hash, 'hex') FROM block b
                WHERE b.cell = r.cell AND b.first <= r.seq ORDER BY b.first DESC LIMIT 1) IS FALSE
      END
    RETURNING head.cell, head.missing`;

/** A cell that lacks acknowledged records. */
export interface LossyCell {
  readonly id: string;
  readonly missing: number;
}

/**
 * Compares a database with the records that this node has acknowledged. Returns the cells that this comparison has taken out of service.
 */
export async function markLosses(
  client: pg.Client,
  memory: AcknowledgedHeads,
  state: RegistryState,
  note: (text: string) => void,
): Promise<readonly LossyCell[]> {
  if (memory.size === 0) return [];
  const byKey = new Map<number, RegisteredCell>();
  const values: [number[], number[], string[], number[]] = [[], [], [], []];
  for (const [id, { key, seq, hash, losses }] of [...memory.entries()]) {
    const registered = state.cells.get(id);
    // A simulation of the same name may have been created since.
    if (registered?.key !== key || registered.deletedAt !== undefined) {
      if (registered?.key !== key && !state.cells.has(erasedNameOf(key)) && seq > 0)
        note(`The database does not have ${id}, with ${seq} records that were acknowledged`);
      memory.forget(id);
      continue;
    }
    byKey.set(registered.key, registered);
    values[0].push(registered.key);
    values[1].push(seq);
    values[2].push(Buffer.from(hash).toString('hex'));
    values[3].push(losses);
  }
  const { rows } = await client.query<{ cell: number; missing: string }>(MARK, values);
  return rows.flatMap(({ cell, missing }) => {
    const id = byKey.get(cell)?.id;
    if (id === undefined) return [];
    note(lossText(id, Number(missing)));
    return [{ id, missing: Number(missing) }];
  });
}

/** Line of the log for a cell that lacks records. */
const lossText = (id: string, missing: number): string =>
  `${id} is out of service: ${missingRecordsText(missing)}; sandpit cluster accept-loss ${id} serves it without them`;

/** Outcome of an accepted loss. */
interface AcceptedLoss extends LossyCell {
  /** Last record that the cell has. */
  readonly sequence: number;
  /** Tag of the ids of events after that record. */
  readonly tag: string;
}

/** Opens the database at a URL for the commands of an operator. */
export async function withLosses<T>(url: string, work: (losses: Losses) => Promise<T>): Promise<T> {
  const database = new QuestionConnection(new DatabaseAddress(url));
  try {
    return await work(new Losses(database));
  } finally {
    await database.close();
  }
}

/** Cells that are out of service for missing records. Servers may be running. */
class Losses {
  readonly #database: QuestionConnection;

  constructor(database: QuestionConnection) {
    this.#database = database;
  }

  async list(): Promise<readonly LossyCell[]> {
    const rows = await this.#database.ask<{ cell: number; missing: string }>(
      'SELECT cell, missing FROM head WHERE missing IS NOT NULL ORDER BY cell',
    );
    const state = await this.#registry();
    const ids = new Map([...state.cells.values()].map(({ key, id }) => [key, id]));
    return rows.map(({ cell, missing }) => ({
      id: ids.get(cell) ?? String(cell),
      missing: Number(missing),
    }));
  }

  async #registry(): Promise<RegistryState> {
    const state = new RegistryState();
    await followRegistry(this.#database, state);
    return state;
  }

  /** Returns a cell to service with its existing records; undefined = it is not out of service, or does not exist. */
  async accept(id: string): Promise<AcceptedLoss | undefined> {
    for (;;) {
      const state = await this.#registry();
      const cell = state.cells.get(id);
      if (cell === undefined || cell.deletedAt !== undefined) return undefined;
      const done = await this.#database.with((client) => acceptLoss(client, state, cell));
      // Another change of the registry was first.
      if (done !== 'registry-changed') return done;
    }
  }
}

async function acceptLoss(
  client: pg.Client,
  state: RegistryState,
  { id, key }: RegisteredCell,
): Promise<AcceptedLoss | 'registry-changed' | undefined> {
  await client.query('BEGIN');
  try {
    const { rows } = await client.query<{ seq: string; missing: string }>(
      'SELECT seq, missing FROM head WHERE cell = $1 AND missing IS NOT NULL FOR UPDATE',
      [key],
    );
    const [head] = rows;
    if (head === undefined) {
      await client.query('ROLLBACK');
      return undefined;
    }
    const sequence = Number(head.seq);
    const tag = randomBytes(4).toString('hex');
    const name = settingsOf(id) + EVENT_TAGS;
    const before = JSON.parse(state.settings.get(name) ?? '[]') as object[];
    const value = JSON.stringify([...before, { after: sequence, tag }]);
    const stamp = randomUUID();
    const registered = await client.query(
      'UPDATE registry_head SET version = version + 1, stamp = $2, digest = $3 WHERE version = $1',
      [state.version, stamp, state.digestWith([{ kind: 'setting', name, value }])],
    );
    if (registered.rowCount === 0) {
      await client.query('ROLLBACK');
      return 'registry-changed';
    }
    await client.query(
      `INSERT INTO registry (kind, name, value, version, stamp) VALUES ('setting', $1, $2, $3, $4)
         ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value, version = excluded.version, stamp = excluded.stamp`,
      [name, value, state.version + 1, stamp],
    );
    // Checkpoints of records that the journal no longer has.
    await client.query('DELETE FROM checkpoint_part WHERE cell = $1 AND seq > $2', [key, sequence]);
    await client.query('DELETE FROM checkpoint WHERE cell = $1 AND seq > $2', [key, sequence]);
    await client.query(
      'UPDATE head SET missing = NULL, losses = losses + 1, epoch = epoch + 1 WHERE cell = $1',
      [key],
    );
    await client.query('COMMIT');
    return { id, missing: Number(head.missing), sequence, tag };
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
