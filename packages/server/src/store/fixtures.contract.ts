/** Fixtures of the contract suites and of the tests of single stores. */
import type { Instant, OrderProgress, OrderTerms } from '@sandpit/core';
import type { HistoryChange } from './history.js';
import type { Journal, JournalRecord, StoredAnswer } from './journal.js';
import type { Projection } from './projection.js';
import type { Store } from './store.js';

/** Opens the store that a suite examines. */
export interface StoreUnderTest {
  readonly open: () => Promise<Store>;
  /** Closes it and opens it again, for stores that outlive that. */
  readonly reopen?: (store: Store) => Promise<Store>;
}

/** Events of the suites contain their own changes. */
export const testProjection: Projection = (_, { events }) =>
  events.flatMap((event) => (event as { changes?: HistoryChange[] }).changes ?? []);

/** The same, for the thread of a store: a module of its own. */
export const testProjectionUrl = `data:text/javascript,${encodeURIComponent(
  'export const projectRecord = (_, { events }) => events.flatMap((event) => event.changes ?? [])',
)}`;

export const START = 1_767_225_600_000;

export interface TestEvent {
  readonly type: string;
  readonly changes?: readonly HistoryChange[];
}

export function recordOf(
  simulationId: string,
  seq: number,
  events: readonly TestEvent[] = [],
): JournalRecord {
  return {
    simulationId,
    seq,
    at: START + seq,
    payload: JSON.stringify({ command: { type: 'Test', seq }, events }),
  };
}

/** A record whose one event makes these changes. */
export function changing(
  simulationId: string,
  seq: number,
  ...changes: readonly HistoryChange[]
): JournalRecord {
  return recordOf(simulationId, seq, [{ type: 'Changed', changes }]);
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

export interface TestOrder {
  readonly accountId?: string;
  readonly portfolioId?: string;
  readonly symbol?: string;
  readonly assetClass?: string;
  readonly clientOrderId?: string;
  readonly createdAt?: number;
  readonly status?: string;
  readonly filledOn?: string;
}

type Added = Extract<HistoryChange, { change: 'order-added' }>;
type Moved = Extract<HistoryChange, { change: 'order-moved' }>;

/** The fields of an order that a history reads. */
export function orderAdded(number: number, { status, filledOn, ...terms }: TestOrder = {}): Added {
  return {
    change: 'order-added',
    terms: {
      number,
      accountId: 'account-1',
      portfolioId: 'portfolio-1',
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      createdAt: (START + number) as Instant,
      ...terms,
    } as OrderTerms,
    progress: { status: status ?? 'PENDING' } as OrderProgress,
    ...(filledOn !== undefined && { filledOn }),
  };
}

export function orderMoved(
  order: number,
  progress: { readonly status: string; readonly mark?: number },
  filledOn?: string,
): Moved {
  return {
    change: 'order-moved',
    order,
    progress: progress as OrderProgress,
    ...(filledOn !== undefined && { filledOn }),
  };
}

export async function withSimulation(store: Store, id = 'main'): Promise<Store> {
  await store.registry.createSimulation({ id, tenantId: null, config: '{}', createdAt: START });
  return store;
}

/** The same store, with appends that resolve once history contains them. */
export function toldOf(store: Store): Store {
  const append: Journal['append'] = async (record, answer) => {
    await store.journal.append(record, answer);
    await store.history.reached(record.simulationId, record.seq);
  };
  const journal = new Proxy(store.journal, {
    get: (target, name) => (name === 'append' ? append : (Reflect.get(target, name) as unknown)),
  });
  return { ...store, journal };
}

/** Everything that a store gives out, be it one after the other. */
export async function allOf<T>(items: Iterable<T> | AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
