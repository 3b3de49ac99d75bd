import type { Price, PortfolioSnapshot } from '@sandpit/core';
import { afterEach, describe, expect, it } from 'vitest';
import {
  changing,
  orderAdded,
  orderMoved,
  recordOf,
  START,
  toldOf,
  withSimulation,
} from './fixtures.contract.js';
import type { StoreUnderTest } from './fixtures.contract.js';
import type { HistoryChange, ListItem, OrderQuery } from './history.js';
import type { Store } from './store.js';

/** Behavior of every history. */
export function historyContract(name: string, underTest: StoreUnderTest): void {
  describe(`${name} as a history`, () => {
    const opened: Store[] = [];
    const open = async (): Promise<Store> => {
      const store = await withSimulation(await underTest.open());
      opened.push(store);
      return toldOf(store);
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    const inPortfolio = (query: Partial<OrderQuery> = {}): OrderQuery => ({
      simulationId: 'main',
      scope: { portfolioId: 'portfolio-1' },
      offset: 0,
      limit: 50,
      ...query,
    });
    const numbersOf = (page: { readonly items: readonly { readonly terms: string }[] }): readonly number[] =>
      page.items.map((row) => (JSON.parse(row.terms) as { number: number }).number);

    it('finds an order by its number, in its current state', async () => {
      const { history, journal } = await open();
      await journal.append(changing('main', 1, orderAdded(1), orderAdded(2)));
      const found = await history.order('main', 1);
      expect(found).toEqual({
        number: 1,
        accountId: 'account-1',
        portfolioId: 'portfolio-1',
        status: 'PENDING',
        terms: expect.any(String) as string,
        progress: '{"status":"PENDING"}',
      });
      expect(JSON.parse(found?.terms ?? '')).toEqual(orderAdded(1).terms);
      expect(await history.order('main', 3)).toBeUndefined();
      expect(await history.order('other', 1)).toBeUndefined();
      await journal.append(changing('main', 2, orderMoved(1, { status: 'ACTIVE', mark: 1 })));
      expect(await history.order('main', 1)).toMatchObject({
        status: 'ACTIVE',
        progress: '{"status":"ACTIVE","mark":1}',
      });
    });

    it('adds an order that is accepted and filled in one record', async () => {
      const { history, journal } = await open();
      await journal.append(
        changing(
          'main',
          1,
          orderAdded(1),
          orderMoved(1, { status: 'ACTIVE' }),
          orderMoved(1, { status: 'FILLED' }, '2026-01-02'),
        ),
      );
      await journal.append(changing('main', 2, orderMoved(1, { status: 'FILLED', mark: 2 })));
      expect(await history.order('main', 1)).toMatchObject({
        status: 'FILLED',
        progress: '{"status":"FILLED","mark":2}',
      });
      const today = inPortfolio({ scope: { filledOn: '2026-01-02' } });
      expect(numbersOf(await history.orders(today))).toEqual([1]);
    });

    it('finds an order by its client order id, in its portfolio only', async () => {
      const { history, journal } = await open();
      await journal.append(
        changing(
          'main',
          1,
          orderAdded(1, { clientOrderId: 'mine' }),
          orderAdded(2, { clientOrderId: 'mine', portfolioId: 'portfolio-2' }),
          orderAdded(3),
        ),
      );
      expect(await history.orderByClientOrderId('main', 'portfolio-1', 'mine')).toBe(1);
      expect(await history.orderByClientOrderId('main', 'portfolio-2', 'mine')).toBe(2);
      expect(await history.orderByClientOrderId('main', 'portfolio-3', 'mine')).toBeUndefined();
      expect(await history.orderByClientOrderId('main', 'portfolio-1', 'yours')).toBeUndefined();
      expect(await history.orderByClientOrderId('other', 'portfolio-1', 'mine')).toBeUndefined();
    });

    it('pages orders newest first, by portfolio and by account', async () => {
      const { history, journal } = await open();
      const portfolios = ['portfolio-1', 'portfolio-2'];
      const orders = Array.from({ length: 120 }, (_, index) =>
        orderAdded(index + 1, {
          portfolioId: portfolios[index % 2]!,
          accountId: index < 100 ? 'account-1' : 'account-2',
        }),
      );
      await Promise.all(orders.map((order, index) => journal.append(changing('main', index + 1, order))));

      const first = await history.orders(inPortfolio({ limit: 3 }));
      expect(first.total).toBe(60);
      expect(numbersOf(first)).toEqual([119, 117, 115]);
      expect(numbersOf(await history.orders(inPortfolio({ offset: 57, limit: 10 })))).toEqual([5, 3, 1]);
      expect(await history.orders(inPortfolio({ offset: 60 }))).toEqual({ items: [], total: 60 });
      expect(await history.orders(inPortfolio({ offset: 6_000 }))).toEqual({ items: [], total: 60 });

      const account = inPortfolio({ scope: { accountId: 'account-1' }, limit: 2 });
      expect(await history.orders(account)).toMatchObject({ total: 100 });
      expect(numbersOf(await history.orders({ ...account, offset: 98 }))).toEqual([2, 1]);
      const unknown = inPortfolio({ scope: { accountId: 'account-3' } });
      expect(await history.orders(unknown)).toEqual({ items: [], total: 0 });
      const every = inPortfolio({ scope: { every: 'order' }, limit: 2 });
      expect(await history.orders(every)).toMatchObject({ total: 120, next: 118 });
      expect(numbersOf(await history.orders({ ...every, before: 118 }))).toEqual([118, 117]);
      expect(await history.orders(inPortfolio({ simulationId: 'other' }))).toEqual({ items: [], total: 0 });
    });

    it('filters orders', async () => {
      const { history, journal } = await open();
      const orders = Array.from({ length: 40 }, (_, index) =>
        orderAdded(index + 1, {
          symbol: index % 2 === 0 ? 'AAPL' : 'MSFT',
          assetClass: index % 4 === 0 ? 'OPTION' : 'EQUITY',
          status: index % 5 === 0 ? 'FILLED' : 'CANCELED',
          createdAt: START + index * 1_000,
        }),
      );
      await journal.append(changing('main', 1, ...orders));
      const bySymbol = await history.orders(inPortfolio({ symbol: 'MSFT', limit: 2 }));
      expect([bySymbol.total, numbersOf(bySymbol)]).toEqual([20, [40, 38]]);
      const combined = await history.orders(inPortfolio({ assetClass: 'OPTION', status: ['FILLED'] }));
      expect([combined.total, numbersOf(combined)]).toEqual([2, [21, 1]]);
      const between = await history.orders(
        inPortfolio({ from: START + 10_000, to: START + 13_000, offset: 1 }),
      );
      expect([between.total, numbersOf(between)]).toEqual([3, [12, 11]]);
      const account = { accountId: 'account-1' };
      expect(
        numbersOf(await history.orders(inPortfolio({ scope: account, symbol: 'AAPL', limit: 2 }))),
      ).toEqual([39, 37]);
    });

    it('lists the orders that were filled on a day', async () => {
      const { history, journal } = await open();
      const filled = (number: number, filledOn: string): HistoryChange =>
        orderAdded(number, { status: 'FILLED', filledOn });
      await journal.append(
        changing(
          'main',
          1,
          filled(1, '2026-01-02'),
          filled(2, '2026-01-05'),
          filled(3, '2026-01-06'),
          filled(4, '2026-01-05'),
          orderAdded(5),
        ),
      );
      const page = await history.orders(inPortfolio({ scope: { filledOn: '2026-01-05' } }));
      expect([page.total, numbersOf(page)]).toEqual([2, [4, 2]]);
    });

    const listed = (owner: string, tag?: string, event = 0, item = 0): HistoryChange => ({
      change: 'listed',
      list: 'activities',
      owner,
      event,
      item,
      ...(tag === undefined ? {} : { tag }),
    });
    const activities = {
      simulationId: 'main',
      list: 'activities',
      owner: 'portfolio-1',
      offset: 0,
      limit: 10,
    } as const;
    const placesOf = (items: readonly ListItem[]): readonly string[] =>
      items.map(({ seq, event, item }) => `${seq}.${event}.${item}`);

    it('lists items newest first, with the event they are part of', async () => {
      const { history, journal } = await open();
      await journal.append(
        recordOf('main', 1, [
          { type: 'First', changes: [listed('portfolio-1'), listed('portfolio-1', undefined, 0, 1)] },
          {
            type: 'Second',
            changes: [listed('portfolio-1', undefined, 1), listed('portfolio-2', undefined, 1)],
          },
        ]),
      );
      await journal.append(changing('main', 2, listed('portfolio-1')));
      const page = await history.list(activities);
      expect(page.total).toBe(4);
      expect(placesOf(page.items)).toEqual(['2.0.0', '1.1.0', '1.0.1', '1.0.0']);
      expect(page.items[1]).toMatchObject({ at: START + 1, data: { type: 'Second' } });
      expect(placesOf((await history.list({ ...activities, offset: 1, limit: 2 })).items)).toEqual([
        '1.1.0',
        '1.0.1',
      ]);
      expect(await history.list({ ...activities, list: 'ledger' })).toEqual({ items: [], total: 0 });
      expect(await history.list({ ...activities, owner: 'portfolio-3' })).toEqual({ items: [], total: 0 });
    });

    it('pages through a list of any length', async () => {
      const { history, journal } = await open();
      // Sizes that make runs begin, end and be split at different places.
      const sizes = [1, 200, 64, 3, 63, 65, 1, 128];
      const places: string[] = [];
      for (const [index, size] of sizes.entries()) {
        const items = Array.from({ length: size }, (_, item) => listed('portfolio-1', undefined, 0, item));
        await journal.append(changing('main', index + 1, ...items));
        places.unshift(...items.map((_, item) => `${index + 1}.0.${item}`).reverse());
      }
      for (const limit of [1, 7, 64, 500]) {
        const read: string[] = [];
        for (let offset = 0; offset < places.length; offset += limit) {
          const page = await history.list({ ...activities, offset, limit });
          expect(page.total).toBe(places.length);
          read.push(...placesOf(page.items));
        }
        expect(read).toEqual(places);
      }
    });

    it('filters a list by tag', async () => {
      const { history, journal } = await open();
      for (let seq = 1; seq <= 30; seq += 1) {
        await journal.append(
          changing(
            'main',
            seq,
            listed('portfolio-1', seq % 3 === 0 ? 'FEE' : 'TRADE'),
            listed('portfolio-1'),
          ),
        );
      }
      const page = await history.list({ ...activities, tag: 'FEE', offset: 2, limit: 3 });
      expect([page.total, placesOf(page.items)]).toEqual([10, ['24.0.0', '21.0.0', '18.0.0']]);
      expect(await history.list({ ...activities, tag: 'NONE' })).toEqual({ items: [], total: 0 });
    });

    it('replaces an item by a later one with the same key', async () => {
      const { history, journal } = await open();
      const keyed = (key: string, tag: string, item: number): HistoryChange =>
        ({ ...listed('portfolio-1', tag, 0, item), key }) as HistoryChange;
      await journal.append(
        changing(
          'main',
          1,
          listed('portfolio-1'),
          keyed('a', 'OLD', 1),
          keyed('b', 'OLD', 2),
          keyed('a', 'OLD', 3),
        ),
      );
      await journal.append(
        changing(
          'main',
          2,
          listed('portfolio-1'),
          keyed('a', 'NEW', 1),
          keyed('c', 'NEW', 2),
          listed('portfolio-1'),
        ),
      );
      const page = await history.list(activities);
      expect(page.total).toBe(6);
      expect(placesOf(page.items)).toEqual(['2.0.0', '2.0.2', '2.0.0', '1.0.2', '2.0.1', '1.0.0']);
      expect(placesOf((await history.list({ ...activities, tag: 'NEW' })).items)).toEqual(['2.0.2', '2.0.1']);
      await journal.append(
        changing('main', 3, { ...keyed('a', 'NEW', 0), owner: 'portfolio-2' } as HistoryChange),
      );
      expect((await history.list(activities)).total).toBe(6);
    });

    it('stores the last state of a closed portfolio', async () => {
      const { history, journal, registry } = await open();
      const openedOne = (portfolioId: string): HistoryChange => ({
        change: 'portfolio-opened',
        portfolioId,
        accountId: 'account-1',
        terms: `{"of":"${portfolioId}"}`,
      });
      const closedOne = (portfolioId: string): HistoryChange => ({
        change: 'portfolio-closed',
        portfolioId,
        last: '{"cash":1}',
      });
      await journal.append(changing('main', 1, openedOne('one')));
      expect(await history.closedPortfolio('main', 'one')).toBeUndefined();
      await journal.append(changing('main', 2, closedOne('one'), openedOne('two'), closedOne('two')));
      expect(await history.closedPortfolio('main', 'one')).toEqual({
        terms: '{"of":"one"}',
        last: '{"cash":1}',
      });
      expect(await history.closedPortfolio('main', 'two')).toBeDefined();
      expect(await history.closedPortfolio('main', 'three')).toBeUndefined();
      expect(await history.closedPortfolio('other', 'one')).toBeUndefined();
      await registry.deleteSimulation('main', START);
      expect(await history.closedPortfolio('main', 'one')).toBeUndefined();
    });

    it('keeps the last snapshot and mark of each minute', async () => {
      const store = await open();
      const had = (minute: number, settled: number, hasMoved = false, symbol?: string): HistoryChange => {
        const position = { assetClass: 'EQUITY', quantity: 1_000_000, cost: 1_000_000 };
        const held = symbol === undefined ? {} : { [symbol]: position };
        const standing = { settled, held } as unknown as PortfolioSnapshot;
        return { change: 'standing', portfolioId: 'portfolio-1', minute, hasMoved, standing };
      };
      const mark = (minute: number, price: number): HistoryChange => ({
        change: 'mark',
        symbol: 'AAPL',
        minute,
        price: price as Price,
      });
      const records = [
        [had(10, 1), mark(10, 100)],
        [had(12, 2, true, 'AAPL'), mark(12, 101)],
        [had(12, 3, false, 'AAPL'), mark(12, 102)],
        [had(15, 4), mark(17, 103)],
      ];
      for (const [index, changes] of records.entries())
        await store.journal.append(changing('main', index + 1, ...changes));
      const { history } = store;
      expect(await history.standingMinutes('main', 'portfolio-1')).toEqual([
        { minute: 10, isHolding: false, hasMoved: false },
        { minute: 12, isHolding: true, hasMoved: true },
        { minute: 15, isHolding: false, hasMoved: false },
      ]);
      const settled = async (from: number, to: number): Promise<number[]> =>
        (await history.standings('main', 'portfolio-1', from, to)).map(
          ({ standing }) => (JSON.parse(standing) as PortfolioSnapshot).settled,
        );
      expect(await settled(0, 10)).toEqual([]);
      expect(await settled(10, 15)).toEqual([1, 3]);
      expect(await settled(13, 16)).toEqual([3, 4]);
      expect(await settled(99, 100)).toEqual([4]);
      expect(await history.marks('main', 'AAPL', 12, 17)).toEqual([
        { minute: 10, price: 100 },
        { minute: 12, price: 102 },
      ]);
      expect(await history.marks('main', 'MSFT', 0, 99)).toEqual([]);
      expect(await history.standingMinutes('main', 'portfolio-2')).toEqual([]);
    });

    it('lists the events of an order, recent or old', async () => {
      const { history, journal } = await open();
      const happened = (item: number, tag?: string): HistoryChange => ({
        change: 'listed',
        list: 'order-events',
        owner: '1',
        event: 0,
        item,
        ...(tag === undefined ? {} : { tag }),
      });
      await journal.append(changing('main', 1, orderAdded(1), happened(0)));
      await journal.append(changing('main', 2, happened(0, 'EXECUTION'), happened(1, 'EXECUTION')));
      const events = { ...activities, list: 'order-events', owner: '1' } as const;
      const page = await history.list(events);
      expect([page.total, placesOf(page.items)]).toEqual([3, ['2.0.1', '2.0.0', '1.0.0']]);
      const executions = await history.list({ ...events, tag: 'EXECUTION', limit: 1 });
      expect([executions.total, placesOf(executions.items)]).toEqual([2, ['2.0.1']]);
      expect(await history.list({ ...events, owner: '2' })).toEqual({ items: [], total: 0 });
    });

    it('resumes order events after the last one received', async () => {
      const { history, journal } = await open();
      const happened = (event: number): HistoryChange => ({ change: 'stream-event', event });
      await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          journal.append(
            recordOf('main', index + 1, [
              { type: 'A', changes: [happened(0)] },
              { type: 'B', changes: [happened(1)] },
            ]),
          ),
        ),
      );
      const after = async (seq: number, event: number, limit: number): Promise<readonly string[]> =>
        placesOf(await history.streamEvents('main', { seq, event }, limit));
      expect(await after(0, -1, 3)).toEqual(['1.0.0', '1.1.0', '2.0.0']);
      expect(await after(50, 0, 2)).toEqual(['50.1.0', '51.0.0']);
      expect(await after(50, 1, 1)).toEqual(['51.0.0']);
      expect(await after(99, 1, 10)).toEqual(['100.0.0', '100.1.0']);
      expect(await after(100, 1, 10)).toEqual([]);
      expect(await after(0, -1, 1_000)).toHaveLength(200);
      const [first] = await history.streamEvents('main', { seq: 7, event: 0 }, 1);
      expect(first).toMatchObject({ seq: 7, event: 1, at: START + 7, data: { type: 'B' } });
      expect(await history.streamEvents('other', { seq: 0, event: 0 }, 10)).toEqual([]);
    });

    it('separates simulations, and deletes rows of deleted ones', async () => {
      const store = await open();
      const { history, journal, registry } = store;
      await withSimulation(store, 'other');
      await journal.append(changing('main', 1, orderAdded(1, { clientOrderId: 'c' }), listed('portfolio-1')));
      await journal.append(
        changing('other', 1, orderAdded(1, { clientOrderId: 'c' }), listed('portfolio-1')),
      );
      await registry.deleteSimulation('main', START);
      expect(await history.order('main', 1)).toBeUndefined();
      expect(await history.orderByClientOrderId('main', 'portfolio-1', 'c')).toBeUndefined();
      expect(await history.orders(inPortfolio())).toEqual({ items: [], total: 0 });
      expect(await history.list(activities)).toEqual({ items: [], total: 0 });
      expect(await history.order('other', 1)).toBeDefined();
      expect((await history.list({ ...activities, simulationId: 'other' })).total).toBe(1);
    });

    const { reopen } = underTest;
    if (reopen === undefined) return;

    it('continues to count after it is opened again', async () => {
      let store = await open();
      const happened = { change: 'listed', list: 'order-events', owner: '1', event: 0, item: 0 } as const;
      await store.journal.append(changing('main', 1, orderAdded(1), listed('portfolio-1'), happened));
      store = toldOf(await reopen(opened.pop() ?? store));
      opened.push(store);
      await store.journal.append(changing('main', 2, orderAdded(2), listed('portfolio-1'), happened));
      expect(numbersOf(await store.history.orders(inPortfolio()))).toEqual([2, 1]);
      expect(placesOf((await store.history.list(activities)).items)).toEqual(['2.0.0', '1.0.0']);
      const events = { ...activities, list: 'order-events', owner: '1' } as const;
      expect((await store.history.list(events)).total).toBe(2);
    });
  });
}
