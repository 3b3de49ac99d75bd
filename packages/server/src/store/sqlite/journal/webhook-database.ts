import { StoreUnavailable } from '../../journal.js';
import { WebhookStore } from '../../webhooks.js';
import { all } from '../database/connection.js';
import type { Statements } from '../database/connection.js';
import type { WriteQueue } from './write-queue.js';

/** Webhooks in the tables of the journal: written with its commits, read by the calling thread. */
export function webhooksInJournal(queue: WriteQueue, statements: Statements): WebhookStore {
  /** Throws `StoreUnavailable` while the disk is full: its reserve is for journal records. */
  const refuseUnlessWell = (): void => {
    const { status, reason } = queue.health();
    if (status !== 'ok') throw new StoreUnavailable(reason ?? `The store is ${status}`);
  };
  return new WebhookStore({
    read({ sql, values }) {
      try {
        return all(statements.of<Record<string, unknown>>(sql), ...values);
      } catch (error) {
        throw new StoreUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
    async write(changes) {
      refuseUnlessWell();
      await queue.submit({ kind: 'write', statements: changes });
    },
    async writeSoon(take) {
      refuseUnlessWell();
      await queue.submitSoon(() => ({ kind: 'write', statements: take() }));
    },
  });
}
