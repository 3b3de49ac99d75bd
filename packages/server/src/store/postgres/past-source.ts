/** The past of a PostgreSQL, opened in another thread: on its own connection, with that thread's copy of the registry. */
import { DamagedHistory } from '../history/history-rows.js';
import { DamagedJournal, StoreUnavailable } from '../journal.js';
import type { PastFailure, PastModule } from '../past.js';
import { BlockReader } from './block-reader.js';
import type { ReadCell } from './block-reader.js';
import { DatabaseAddress } from './database.js';
import { followRegistry } from './follow-registry.js';
import { HistoryTables } from './history-tables.js';
import { QuestionConnection } from './question-connection.js';
import { RegistryState } from './registry-state.js';

export const openPast: PastModule['openPast'] = (data) => {
  const { url } = data as { readonly url: string };
  const database = new QuestionConnection(new DatabaseAddress(url));
  const state = new RegistryState();
  const live = (id: string): ReadCell | undefined => {
    const cell = state.cells.get(id);
    if (cell === undefined || cell.deletedAt !== undefined) return undefined;
    return { id, key: cell.key, origin: cell.origin };
  };
  const know = async (id: string): Promise<ReadCell | undefined> => {
    if (!state.cells.has(id)) await followRegistry(database, state);
    return live(id);
  };
  const blocks = new BlockReader(database, (key) => state.originOf(key));
  const tables = new HistoryTables({
    database,
    blocks,
    cells: { get: live },
    originOf: (key) => state.originOf(key),
  });
  const headOf = async ({ key }: ReadCell): Promise<{ readonly seq: number; readonly hash: Buffer }> => {
    const [head] = await database.ask<{ seq: string; hash: Buffer }>(
      'SELECT seq, hash FROM head WHERE cell = $1',
      [key],
    );
    if (head === undefined) throw new StoreUnavailable('The simulation is gone');
    return { seq: Number(head.seq), hash: head.hash };
  };
  return {
    async nameOf(id) {
      await followRegistry(database, state);
      return live(id)?.key.toString();
    },
    history: {
      async order(id, order) {
        await know(id);
        return tables.order(id, order);
      },
      async list(query) {
        await know(query.simulationId);
        return tables.list(query);
      },
    },
    async ordersBetween(id, first, last) {
      await know(id);
      return tables.ordersBetween(id, first, last);
    },
    journal: {
      async lastSeq(id) {
        const cell = await know(id);
        return cell === undefined ? 0 : (await headOf(cell)).seq;
      },
      async *read(id, afterSeq) {
        const cell = await know(id);
        if (cell !== undefined) yield* blocks.read(cell, afterSeq, await headOf(cell));
      },
    },
  };
};

/** Threads end without closing the connection. */
export const openPastJournal: PastModule['openPastJournal'] = (data, stop) => openPast(data, stop).journal;

export const failureOf: PastModule['failureOf'] = (error) => {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof DamagedJournal) return { kind: 'journal-damaged', message };
  // The main thread makes its rows again once it reads them.
  const isUnavailable = error instanceof StoreUnavailable || error instanceof DamagedHistory;
  return { kind: isUnavailable ? 'unavailable' : 'unexpected', message };
};

/** The error for a failure in the thread. */
export function errorOfPast({ kind, message }: PastFailure): Error {
  if (kind === 'journal-damaged') return new DamagedJournal(message);
  return kind === 'unavailable' ? new StoreUnavailable(message) : new Error(message);
}
