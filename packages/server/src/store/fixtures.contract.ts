/** Fixtures of the contract suites and of the tests of single stores. */
import type { JournalRecord, StoredAnswer } from './journal.js';
import type { Store } from './store.js';

/** Opens the store that a suite examines. */
export interface StoreUnderTest {
  readonly open: () => Promise<Store>;
  /** Closes it and opens it again, for stores that outlive that. */
  readonly reopen?: (store: Store) => Promise<Store>;
}

export const START = 1_767_225_600_000;

/** A record without a meaning: for the journal, which does not read it. */
export function recordOf(
  simulationId: string,
  seq: number,
  events: readonly { readonly type: string }[] = [],
): JournalRecord {
  return {
    simulationId,
    seq,
    at: START + seq,
    payload: JSON.stringify({ command: { type: 'Test', seq }, events }),
  };
}

export function answerOf(key: string, overrides: Partial<StoredAnswer> = {}): StoredAnswer {
  return {
    tenantId: 'tenant-1',
    simulationId: 'main',
    route: 'POST /v1/orders',
    key,
    fingerprint: 'f1',
    statusCode: 201,
    body: '{"orderId":"o-1"}',
    // Far away: stores remove expired answers by the wall clock.
    expiresAt: 4_000_000_000_000,
    ...overrides,
  };
}

export async function withSimulation(store: Store, id = 'main'): Promise<Store> {
  await store.registry.createSimulation({ id, tenantId: null, config: '{}', createdAt: START });
  return store;
}

/** Everything that a store gives out, be it one after the other. */
export async function allOf<T>(items: Iterable<T> | AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
