import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import {
  orderAdded,
  orderMoved,
  recordOf,
  START,
  testProjection,
  withSimulation,
} from './fixtures.contract.js';
import type { TestEvent } from './fixtures.contract.js';
import type { HistoryChange, OrderQuery } from './history.js';
import { openMemoryStore } from './memory/memory-store.js';
import { newDirectory, openTestStore, removeDirectories } from './sqlite/data-directory.contract.js';
import type { Store } from './store.js';

afterAll(removeDirectories);

const account = fc.constantFrom('account-1', 'account-2');
const portfolio = fc.constantFrom('portfolio-1', 'portfolio-2');
const status = fc.constantFrom('PENDING', 'ACTIVE', 'FILLED');
const day = fc.constantFrom('2026-01-02', '2026-01-05', undefined);

/** Changes by kind; ids are assigned when the sequence is made, since an order must exist before it moves. */
const step = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    account,
    portfolio,
    status,
    day,
    symbol: fc.constantFrom('AAPL', 'MSFT'),
    named: fc.boolean(),
  }),
  fc.record({ do: fc.constant('move' as const), which: fc.nat(), status, day }),
  fc.record({ do: fc.constant('execute' as const), which: fc.nat(), times: fc.integer({ min: 1, max: 3 }) }),
  fc.record({
    do: fc.constant('list' as const),
    portfolio,
    times: fc.integer({ min: 1, max: 90 }),
    tag: fc.constantFrom('FEE', undefined),
  }),
  fc.record({ do: fc.constant('event' as const) }),
  fc.record({ do: fc.constant('grow' as const), portfolio, key: fc.constantFrom('a', 'b', 'c') }),
);
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;

/** Events of records; a record ends as planned. */
const plan = fc.array(fc.array(fc.array(step, { maxLength: 4 }), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 12,
});

function changesOf(steps: readonly Step[], event: number, made: { orders: number }): HistoryChange[] {
  return steps.flatMap((done): HistoryChange[] => {
    switch (done.do) {
      case 'add': {
        made.orders += 1;
        return [
          orderAdded(made.orders, {
            accountId: done.account,
            portfolioId: done.portfolio,
            status: done.status,
            symbol: done.symbol,
            ...(done.day === undefined ? {} : { filledOn: done.day }),
            ...(done.named ? { clientOrderId: `c-${made.orders}` } : {}),
          }),
        ];
      }
      case 'move':
        if (made.orders === 0) return [];
        return [
          orderMoved((done.which % made.orders) + 1, { status: done.status, mark: done.which }, done.day),
        ];
      case 'execute':
        if (made.orders === 0) return [];
        return Array.from({ length: done.times }, (_, item) => ({
          change: 'listed',
          list: 'order-events',
          owner: String((done.which % made.orders) + 1),
          event,
          item,
          tag: 'EXECUTION',
        }));
      case 'list':
        return Array.from({ length: done.times }, (_, item) => ({
          change: 'listed',
          list: 'activities',
          owner: done.portfolio,
          event,
          item,
          ...(done.tag === undefined ? {} : { tag: done.tag }),
        }));
      case 'grow':
        return [
          { change: 'listed', list: 'activities', owner: done.portfolio, event, item: 0, key: done.key },
        ];
      case 'event':
        return [{ change: 'stream-event', event }];
    }
  });
}

async function answers(
  { history }: Store,
  simulationId: string,
  offset: number,
  limit: number,
): Promise<unknown> {
  const page = { simulationId, offset, limit };
  const scopes: OrderQuery['scope'][] = [
    { portfolioId: 'portfolio-1' },
    { accountId: 'account-1' },
    { filledOn: '2026-01-05' },
    { every: 'order' },
  ];
  const filters: Partial<OrderQuery>[] = [
    {},
    { status: ['FILLED', 'ACTIVE'], before: 7 },
    { symbol: 'MSFT', from: START + 3, to: START + 20 },
  ];
  const orders = scopes.flatMap((scope) =>
    filters.map((filter) => history.orders({ ...page, scope, ...filter })),
  );
  const lists = [
    ...['portfolio-1', 'portfolio-2'].flatMap((owner) => [
      history.list({ ...page, list: 'activities', owner }),
      history.list({ ...page, list: 'activities', owner, tag: 'FEE', from: START + 2, before: 9 }),
    ]),
    ...[1, 2, 3].map((order) => history.list({ ...page, list: 'order-events', owner: String(order) })),
  ];
  return {
    orders: await Promise.all(orders),
    lists: await Promise.all(lists),
    single: [1, 2, 3, 4].map((order) => history.order(simulationId, order)),
    named: [1, 2, 3].map((order) => history.orderByClientOrderId(simulationId, 'portfolio-1', `c-${order}`)),
    events: history.streamEvents(simulationId, { seq: offset, event: 0 }, limit),
  };
}

it('history: memory and SQLite return the same answers', async () => {
  const stores = [openMemoryStore({ project: testProjection }), await openTestStore(newDirectory())];
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      plan,
      fc.nat({ max: 40 }),
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      async (records, offset, limit, together) => {
        runs += 1;
        const simulationId = `run-${runs}`;
        const given = await Promise.all(
          stores.map(async (store) => {
            await withSimulation(store, simulationId);
            const made = { orders: 0 };
            const appends: Promise<void>[] = [];
            for (const [index, events] of records.entries()) {
              const testEvents: TestEvent[] = events.map((steps, event) => ({
                type: 'T',
                changes: changesOf(steps, event, made),
              }));
              appends.push(store.journal.append(recordOf(simulationId, index + 1, testEvents)));
              if (!together) await Promise.all(appends.splice(0));
            }
            await Promise.all(appends);
            await store.history.reached(simulationId, records.length);
            return answers(store, simulationId, offset, limit);
          }),
        );
        expect(given[1]).toEqual(given[0]);
      },
    ),
    { numRuns: 100 },
  );
  for (const store of stores) await store.close();
});
