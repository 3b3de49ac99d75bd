import type { PortfolioSnapshot } from '@sandpit/core';
import { afterEach, describe, expect, it } from 'vitest';
import { START } from './fixtures.contract.js';
import type { StoreUnderTest } from './fixtures.contract.js';
import type { ListItem, ListName, ListQuery, OrderQuery } from './history.js';
import type { Store } from './store.js';
import { FIRST_ACCOUNT, MONDAY_TEN, SECOND_ACCOUNT, TradedSimulation } from './traded-simulation.contract.js';

const MINUTE_MS = 60_000;
const TEN = MONDAY_TEN / MINUTE_MS;

/** Behavior of every history. */
export function historyContract(name: string, underTest: StoreUnderTest): void {
  describe(`${name} as a history`, () => {
    const opened: Store[] = [];
    const open = async (): Promise<Store> => {
      const store = await underTest.open();
      opened.push(store);
      return store;
    };
    const trading = async (id = 'main'): Promise<TradedSimulation> =>
      TradedSimulation.begin(await open(), id);
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    const ordersOf = async (
      { id, store }: TradedSimulation,
      scope: OrderQuery['scope'],
      query: Partial<OrderQuery> = {},
    ) => {
      const page = await store.history.orders({ simulationId: id, scope, offset: 0, limit: 50, ...query });
      return { ...page, items: page.items.map((row) => row.number) };
    };
    const listOf = async (
      { id, store }: TradedSimulation,
      list: ListName,
      owner: string,
      query: Partial<ListQuery> = {},
    ) => {
      const page = await store.history.list({
        simulationId: id,
        list,
        owner,
        offset: 0,
        limit: 50,
        ...query,
      });
      return { ...page, items: placesOf(page.items) };
    };
    /** `record.event.item` of each. */
    const placesOf = (items: readonly ListItem[]): readonly string[] =>
      items.map(({ seq, event, item }) => `${seq}.${event}.${item}`);

    describe('orders', () => {
      it('order: finds an order by its number, in its current state', async () => {
        const main = await trading();
        const { history } = main.store;
        const portfolioId = await main.openPortfolio();
        const number = await main.place(portfolioId, { limit: '90' });
        await main.written();
        const found = await history.order('main', number);
        expect(found).toMatchObject({ number: 1, accountId: FIRST_ACCOUNT, portfolioId, status: 'ACTIVE' });
        expect(JSON.parse(found?.terms ?? '')).toMatchObject({
          number: 1,
          symbol: 'AAPL',
          orderType: 'LIMIT',
        });
        expect(JSON.parse(found?.progress ?? '')).toMatchObject({
          status: 'ACTIVE',
          limitPrice: 90_00000000,
        });
        await main.replace(number, '91');
        await main.written();
        const replaced = await history.order('main', number);
        expect(JSON.parse(replaced?.progress ?? '')).toMatchObject({
          status: 'ACTIVE',
          limitPrice: 91_00000000,
        });
        await main.cancel(number);
        await main.written();
        const canceled = await history.order('main', number);
        expect(canceled).toMatchObject({
          number: 1,
          accountId: FIRST_ACCOUNT,
          portfolioId,
          status: 'CANCELED',
        });
        expect(JSON.parse(canceled?.progress ?? '')).toMatchObject({
          status: 'CANCELED',
          cancelReason: 'USER',
        });
        expect(await history.order('main', 2)).toBeUndefined();
        expect(await history.order('other', 1)).toBeUndefined();
      });

      it('orderByClientOrderId: finds an open or closed order, in its portfolio only', async () => {
        const main = await trading();
        const { history } = main.store;
        const [mine, theirs] = [await main.openPortfolio(), await main.openPortfolio()];
        const canceled = await main.place(mine, { limit: '90', clientOrderId: 'used' });
        await main.cancel(canceled);
        await main.place(theirs, { limit: '90', clientOrderId: 'used' });
        await main.place(mine, { limit: '90' });
        // Known before it is written.
        expect(await main.submit(mine, { limit: '90', clientOrderId: 'used' })).toBe(
          'DUPLICATE_CLIENT_ORDER_ID',
        );
        await main.written();
        expect(await history.orderByClientOrderId('main', mine, 'used')).toBe(1);
        expect(await history.orderByClientOrderId('main', theirs, 'used')).toBe(2);
        expect(await history.orderByClientOrderId('main', 'no-portfolio', 'used')).toBeUndefined();
        expect(await history.orderByClientOrderId('main', mine, 'unused')).toBeUndefined();
        expect(await history.orderByClientOrderId('other', mine, 'used')).toBeUndefined();
        expect(await main.submit(mine, { limit: '90', clientOrderId: 'used' })).toBe(
          'DUPLICATE_CLIENT_ORDER_ID',
        );
        expect(await main.submit(mine, { limit: '90', clientOrderId: 'unused' })).toBe(4);
      });

      it('orders: pages newest first, by portfolio, by account and all', async () => {
        const main = await trading();
        const [one, two] = [await main.openPortfolio(), await main.openPortfolio()];
        const other = await main.openPortfolio({ accountId: SECOND_ACCOUNT });
        for (let n = 1; n <= 100; n += 1) await main.place(n % 2 === 1 ? one : two, { limit: '90' });
        for (let n = 1; n <= 20; n += 1) await main.place(other, { limit: '90' });
        await main.written();
        const inOne = { portfolioId: one };
        expect(await ordersOf(main, inOne, { limit: 3 })).toEqual({
          items: [99, 97, 95],
          total: 50,
          next: 47,
        });
        expect(await ordersOf(main, inOne, { limit: 3, before: 47 })).toEqual({
          items: [93, 91, 89],
          total: 50,
          next: 44,
        });
        expect(await ordersOf(main, inOne, { offset: 47, limit: 10 })).toEqual({
          items: [5, 3, 1],
          total: 50,
        });
        expect(await ordersOf(main, inOne, { offset: 50 })).toEqual({ items: [], total: 50 });
        expect(await ordersOf(main, inOne, { offset: 6_000 })).toEqual({ items: [], total: 50 });
        const first = { accountId: FIRST_ACCOUNT };
        expect(await ordersOf(main, first, { limit: 2 })).toEqual({ items: [100, 99], total: 100, next: 98 });
        expect(await ordersOf(main, first, { limit: 2, offset: 98 })).toEqual({ items: [2, 1], total: 100 });
        expect(await ordersOf(main, { accountId: SECOND_ACCOUNT }, { limit: 1 })).toEqual({
          items: [120],
          total: 20,
          next: 19,
        });
        expect(await ordersOf(main, { accountId: 'nobody' })).toEqual({ items: [], total: 0 });
        const every = { every: 'order' } as const;
        expect(await ordersOf(main, every, { limit: 2 })).toEqual({
          items: [120, 119],
          total: 120,
          next: 118,
        });
        expect(await ordersOf(main, every, { limit: 2, before: 118 })).toEqual({
          items: [118, 117],
          total: 120,
          next: 116,
        });
        expect(await ordersOf(main, inOne, { simulationId: 'other' })).toEqual({ items: [], total: 0 });
      });

      it('orders: a cursor repeats and leaves out no order, however many are added', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio();
        for (let n = 1; n <= 10; n += 1) await main.place(portfolioId, { limit: '90' });
        const read: number[] = [];
        for (let before: number | undefined; ;) {
          await main.written();
          const page = await ordersOf(
            main,
            { portfolioId },
            { limit: 4, ...(before !== undefined && { before }) },
          );
          read.push(...page.items);
          if (page.next === undefined) break;
          before = page.next;
          await main.place(portfolioId, { limit: '90' });
        }
        expect(read).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
      });

      it('orders: filters by status, symbol, asset class and time of creation', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio();
        for (let n = 1; n <= 20; n += 1) {
          const order = await main.place(portfolioId, { symbol: n % 2 === 0 ? 'MSFT' : 'AAPL', limit: '90' });
          if (n % 5 === 0) await main.cancel(order);
          await main.advance(1);
        }
        await main.written();
        const mine = { portfolioId };
        expect(await ordersOf(main, mine, { symbol: 'MSFT', limit: 2 })).toEqual({
          items: [20, 18],
          total: 10,
          next: 17,
        });
        expect(await ordersOf(main, mine, { symbol: 'MSFT', limit: 2, before: 17 })).toMatchObject({
          items: [16, 14],
          total: 10,
        });
        expect(await ordersOf(main, mine, { status: ['CANCELED'] })).toEqual({
          items: [20, 15, 10, 5],
          total: 4,
        });
        expect(await ordersOf(main, mine, { status: ['CANCELED', 'ACTIVE'], symbol: 'AAPL' })).toMatchObject({
          total: 10,
        });
        expect(await ordersOf(main, mine, { status: [] })).toEqual({ items: [], total: 0 });
        expect(await ordersOf(main, mine, { assetClass: 'OPTION' })).toEqual({ items: [], total: 0 });
        expect(await ordersOf(main, mine, { assetClass: 'EQUITY', limit: 1 })).toMatchObject({ total: 20 });
        // Order 11 was created at 10:10.
        const [from, to] = [MONDAY_TEN + 10 * MINUTE_MS, MONDAY_TEN + 13 * MINUTE_MS];
        expect(await ordersOf(main, mine, { from, to })).toEqual({ items: [13, 12, 11], total: 3 });
        expect(await ordersOf(main, mine, { from, to, offset: 1, limit: 1 })).toMatchObject({
          items: [12],
          total: 3,
        });
        expect(
          await ordersOf(main, { accountId: FIRST_ACCOUNT }, { symbol: 'AAPL', limit: 2, isUncounted: true }),
        ).toMatchObject({ items: [19, 17] });
        expect(await ordersOf(main, { every: 'order' }, { status: ['CANCELED'], limit: 3 })).toMatchObject({
          items: [20, 15, 10],
          total: 4,
        });
      });

      it('orders: lists those that were filled on a date', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio();
        await main.quote('AAPL', '99.90', '100.00');
        await main.place(portfolioId);
        await main.place(portfolioId, { limit: '80' });
        await main.advanceTo('2026-01-06', 11);
        await main.quote('AAPL', '99.90', '100.00');
        await main.place(portfolioId);
        await main.place(portfolioId, { limit: '90' });
        await main.place(portfolioId, { intent: 'SELL_TO_CLOSE', quantity: 2 });
        await main.quote('AAPL', '79.90', '80.00');
        await main.written();
        expect(await ordersOf(main, { filledOn: '2026-01-05' })).toEqual({ items: [1], total: 1 });
        expect(await ordersOf(main, { filledOn: '2026-01-06' })).toEqual({ items: [5, 4, 3, 2], total: 4 });
        expect(await ordersOf(main, { filledOn: '2026-01-06' }, { limit: 2 })).toEqual({
          items: [5, 4],
          total: 4,
          next: 3,
        });
        expect(await ordersOf(main, { filledOn: '2026-01-07' })).toEqual({ items: [], total: 0 });
      });
    });

    describe('lists', () => {
      it('list: returns items newest first, with their events', async () => {
        const main = await trading();
        // Record 1: AccountOpened, PortfolioOpened, LedgerPosted. Record 2: PortfolioOpened, LedgerPosted.
        const [mine, theirs] = [await main.openPortfolio(), await main.openPortfolio()];
        await main.transfer(mine, 100);
        await main.transfer(theirs, 50);
        await main.written();
        expect(await listOf(main, 'activities', mine)).toEqual({
          items: ['3.0.0', '1.2.0', '1.1.0'],
          total: 3,
        });
        expect(await listOf(main, 'activities', theirs)).toEqual({
          items: ['4.0.0', '2.1.0', '2.0.0'],
          total: 3,
        });
        expect(await listOf(main, 'ledger', mine)).toEqual({ items: ['3.0.0', '1.2.0'], total: 2 });
        const page = await main.store.history.list({
          simulationId: 'main',
          list: 'activities',
          owner: mine,
          offset: 0,
          limit: 2,
        });
        expect(page.items).toMatchObject([
          {
            at: MONDAY_TEN,
            data: { type: 'LedgerPosted', portfolioId: mine, entries: [{ type: 'TRANSFER' }] },
          },
          { at: MONDAY_TEN, data: { type: 'LedgerPosted', entries: [{ type: 'INITIAL_CASH' }] } },
        ]);
        expect(page.next).toBe(1);
        expect(await listOf(main, 'equity', mine)).toEqual({ items: [], total: 0 });
        expect(await listOf(main, 'activities', 'no-portfolio')).toEqual({ items: [], total: 0 });
        expect(await listOf(main, 'activities', mine, { simulationId: 'other' })).toEqual({
          items: [],
          total: 0,
        });
      });

      it('list: pages through a list of any length, of records with one item or hundreds', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio();
        const expected = ['1.2.0', '1.1.0'];
        for (const size of [1, 260, 3, 0, 64, 1, 128]) {
          if (size === 0) {
            await main.transfer(portfolioId, 1);
            expected.unshift(`${main.seq}.0.0`);
          } else {
            await main.importPositions(portfolioId, size);
            // Item 0 is the cash, of which there is none.
            const items = Array.from({ length: size }, (_, index) => `${main.seq}.0.${index + 1}`);
            expected.unshift(...items.reverse());
            await main.reset(portfolioId);
            expected.unshift(`${main.seq}.0.0`);
          }
          // Rows of several writes.
          if (size > 100) await main.written();
        }
        await main.written();
        for (const limit of [7, 64, 1_000]) {
          const read: string[] = [];
          const byCursor: string[] = [];
          for (let offset = 0; offset < expected.length; offset += limit) {
            const page = await listOf(main, 'activities', portfolioId, { offset, limit });
            expect(page.total).toBe(expected.length);
            read.push(...page.items);
          }
          for (let before: number | undefined; ;) {
            const more = { limit, ...(before !== undefined && { before }) };
            const page = await listOf(main, 'activities', portfolioId, more);
            byCursor.push(...page.items);
            if (page.next === undefined) break;
            before = page.next;
          }
          expect(read).toEqual(expected);
          expect(byCursor).toEqual(expected);
        }
      });

      it('list: filters by tag', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio();
        await main.quote('AAPL', '99.90', '100.00');
        // Records 3, 5, 7 … are orders, 4, 6, 8 … transfers.
        for (let n = 0; n < 10; n += 1) {
          await main.place(portfolioId);
          await main.transfer(portfolioId, 1);
        }
        await main.written();
        expect(await listOf(main, 'activities', portfolioId, { tag: 'EXECUTION', limit: 3 })).toMatchObject({
          items: ['21.2.0', '19.2.0', '17.2.0'],
          total: 10,
        });
        const cash = await listOf(main, 'activities', portfolioId, { tag: 'CASH', offset: 2, limit: 3 });
        expect(cash).toMatchObject({ items: ['18.0.0', '16.0.0', '14.0.0'], total: 11 });
        const following = await listOf(main, 'activities', portfolioId, {
          tag: 'CASH',
          limit: 2,
          isUncounted: true,
          ...(cash.next !== undefined && { before: cash.next }),
        });
        expect(following.items).toEqual(['12.0.0', '10.0.0']);
        expect(await listOf(main, 'activities', portfolioId, { tag: 'SYSTEM' })).toEqual({
          items: ['1.1.0'],
          total: 1,
        });
        expect(await listOf(main, 'activities', portfolioId, { tag: 'NONE' })).toEqual({
          items: [],
          total: 0,
        });
      });

      it('list: bounds a list by instants', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio();
        for (let n = 0; n < 10; n += 1) {
          await main.advance(1);
          await main.transfer(portfolioId, 1);
          if (n % 2 === 1) await main.transfer(portfolioId, 1);
        }
        await main.written();
        // Of 10:03 record 5, of 10:04 records 6 and 7.
        const at = (minute: number): number => MONDAY_TEN + minute * MINUTE_MS;
        expect(await listOf(main, 'ledger', portfolioId, { from: at(3), to: at(5) })).toEqual({
          items: ['7.0.0', '6.0.0', '5.0.0'],
          total: 3,
        });
        expect(await listOf(main, 'ledger', portfolioId, { from: at(3), to: at(5), limit: 2 })).toMatchObject(
          {
            items: ['7.0.0', '6.0.0'],
            total: 3,
          },
        );
        expect(await listOf(main, 'ledger', portfolioId, { from: at(3) + 1, to: at(4) })).toEqual({
          items: [],
          total: 0,
        });
        expect(await listOf(main, 'ledger', portfolioId, { to: at(0) })).toEqual({ items: [], total: 0 });
        expect(await listOf(main, 'ledger', portfolioId, { to: at(1) })).toEqual({
          items: ['1.2.0'],
          total: 1,
        });
        expect(await listOf(main, 'ledger', portfolioId, { from: at(10) })).toEqual({
          items: ['16.0.0', '15.0.0'],
          total: 2,
        });
        expect(await listOf(main, 'ledger', portfolioId, { from: at(11) })).toEqual({ items: [], total: 0 });
        const tagged = { tag: 'CASH', from: at(3), to: at(5), offset: 1 };
        expect(await listOf(main, 'activities', portfolioId, tagged)).toMatchObject({
          items: ['6.0.0', '5.0.0'],
          total: 3,
        });
      });

      it('list: a day trade or margin call that grows stays in its place, with its last event', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio({ type: 'MARGIN', cash: 10_000 });
        await main.quote('AAPL', '99.90', '100.00');
        await main.place(portfolioId, { quantity: 10 });
        await main.place(portfolioId, { intent: 'SELL_TO_CLOSE', quantity: 4 });
        await main.written();
        expect(await listOf(main, 'day-trades', portfolioId)).toEqual({ items: ['4.4.0'], total: 1 });
        await main.place(portfolioId, { intent: 'SELL_TO_CLOSE', quantity: 6 });
        // A trade of its own.
        await main.place(portfolioId, { quantity: 10 });
        await main.place(portfolioId, { intent: 'SELL_TO_CLOSE', quantity: 10 });
        await main.written();
        expect(await listOf(main, 'day-trades', portfolioId)).toEqual({
          items: ['7.4.0', '5.4.0'],
          total: 2,
        });
        expect(await listOf(main, 'day-trades', portfolioId, { limit: 1 })).toMatchObject({
          items: ['7.4.0'],
          total: 2,
        });
        const { next } = await listOf(main, 'day-trades', portfolioId, { limit: 1 });
        expect(await listOf(main, 'day-trades', portfolioId, { limit: 1, before: next ?? 0 })).toEqual({
          items: ['5.4.0'],
          total: 2,
        });
        // 180 shares at 100 with 10,000: at 50 a maintenance call.
        await main.place(portfolioId, { quantity: 180 });
        await main.advance(1);
        await main.quote('AAPL', '50.00', '50.10');
        await main.advance(1);
        await main.written();
        const issued = await main.store.history.list({
          simulationId: 'main',
          list: 'margin-calls',
          owner: portfolioId,
          offset: 0,
          limit: 10,
        });
        expect(issued).toMatchObject({ total: 1, items: [{ seq: 10, data: { type: 'CallIssued' } }] });
        await main.transfer(portfolioId, 9_000);
        await main.written();
        const met = await main.store.history.list({
          simulationId: 'main',
          list: 'margin-calls',
          owner: portfolioId,
          offset: 0,
          limit: 10,
        });
        expect(met).toMatchObject({
          total: 1,
          items: [{ seq: 11, data: { type: 'CallClosed', call: { number: 1, status: 'MET' } } }],
        });
        expect(await listOf(main, 'day-trades', 'no-portfolio')).toEqual({ items: [], total: 0 });
      });

      it('list: returns the points of equity at each close', async () => {
        const main = await trading();
        const [mine, theirs] = [await main.openPortfolio(), await main.openPortfolio()];
        await main.advanceTo('2026-01-06', 17);
        await main.written();
        // Records 3 and 4 are the closes; a point of each portfolio is an item.
        expect(await listOf(main, 'equity', mine)).toEqual({ items: ['4.0.0', '3.0.0'], total: 2 });
        expect(await listOf(main, 'equity', theirs)).toEqual({ items: ['4.0.1', '3.0.1'], total: 2 });
      });

      it('list: returns the events of an order, of the record that accepted it and of later ones', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio();
        const order = await main.place(portfolioId, { limit: '99', quantity: 2 });
        await main.written();
        // OrderAccepted and OrderMoved (ACTIVATED).
        const events = { list: 'order-events', owner: String(order) } as const;
        expect(await listOf(main, events.list, events.owner)).toEqual({
          items: ['2.1.0', '2.0.0'],
          total: 2,
        });
        await main.replace(order, '98');
        await main.advance(1);
        await main.quote('AAPL', '97.90', '98.00');
        await main.written();
        const page = await main.store.history.list({ simulationId: 'main', ...events, offset: 0, limit: 10 });
        expect(page.total).toBe(4);
        expect(placesOf(page.items).slice(1)).toEqual(['3.0.0', '2.1.0', '2.0.0']);
        expect(page.items[0]).toMatchObject({
          seq: 4,
          at: MONDAY_TEN + MINUTE_MS,
          data: { type: 'OrderExecuted' },
        });
        const executions = await listOf(main, events.list, events.owner, { tag: 'EXECUTION' });
        expect(executions).toEqual({ items: placesOf(page.items).slice(0, 1), total: 1 });
        expect(await listOf(main, events.list, events.owner, { offset: 1, limit: 2 })).toMatchObject({
          items: ['3.0.0', '2.1.0'],
          total: 4,
        });
        expect(await listOf(main, events.list, '2')).toEqual({ items: [], total: 0 });
      });
    });

    it('streamEvents: resumes order events after the last one received', async () => {
      const main = await trading();
      const { history } = main.store;
      const portfolioId = await main.openPortfolio();
      // Records 2 to 101, each OrderAccepted and OrderMoved.
      for (let n = 0; n < 100; n += 1) {
        await main.place(portfolioId, { limit: '90' });
        // Rows of several writes.
        if (n % 30 === 0) await main.written();
      }
      await main.written();
      const after = async (seq: number, event: number, limit: number): Promise<readonly string[]> =>
        placesOf(await history.streamEvents('main', { seq, event }, limit));
      expect(await after(0, -1, 3)).toEqual(['2.0.0', '2.1.0', '3.0.0']);
      expect(await after(50, 0, 2)).toEqual(['50.1.0', '51.0.0']);
      expect(await after(50, 1, 1)).toEqual(['51.0.0']);
      expect(await after(100, 1, 10)).toEqual(['101.0.0', '101.1.0']);
      expect(await after(101, 1, 10)).toEqual([]);
      expect(await after(0, -1, 1_000)).toHaveLength(200);
      const [first] = await history.streamEvents('main', { seq: 7, event: 0 }, 1);
      expect(first).toMatchObject({ seq: 7, event: 1, at: MONDAY_TEN, data: { type: 'OrderMoved' } });
      expect(await history.streamEvents('other', { seq: 0, event: 0 }, 10)).toEqual([]);
    });

    describe('portfolios', () => {
      it('closedPortfolio: returns the last figures of a closed portfolio', async () => {
        const main = await trading();
        const { history, registry } = main.store;
        const [one, two, left] = [
          await main.openPortfolio(),
          await main.openPortfolio(),
          await main.openPortfolio(),
        ];
        await main.advance(5);
        await main.close(one);
        await main.written();
        await main.close(two);
        await main.written();
        const row = await history.closedPortfolio('main', one);
        expect(JSON.parse(row?.terms ?? '')).toMatchObject({ portfolioId: one, accountId: FIRST_ACCOUNT });
        expect(JSON.parse(row?.last ?? '')).toMatchObject({
          settings: { portfolioType: 'CASH' },
          value: { totalEquity: 0 },
          at: MONDAY_TEN + 5 * MINUTE_MS,
        });
        const all = await history.closedPortfolios('main');
        expect(all.map(({ terms }) => (JSON.parse(terms) as { number: number }).number).sort()).toEqual([
          1, 2,
        ]);
        expect(await history.closedPortfolio('main', left)).toBeUndefined();
        expect(await history.closedPortfolio('main', 'no-portfolio')).toBeUndefined();
        expect(await history.closedPortfolio('other', one)).toBeUndefined();
        expect(await main.submit(one, { limit: '90' })).toBe('CONFLICT');
        await registry.deleteSimulation('main', START);
        expect(await history.closedPortfolio('main', one)).toBeUndefined();
        expect(await history.closedPortfolios('main')).toEqual([]);
      });

      it('standings: returns the portfolio at the end of each minute in which it changed', async () => {
        const main = await trading();
        const { history } = main.store;
        const portfolioId = await main.openPortfolio();
        await main.quote('AAPL', '99.90', '100.00');
        await main.advance(2);
        await main.place(portfolioId, { quantity: 10 });
        await main.written();
        // The same minute, in a second write.
        await main.transfer(portfolioId, 100);
        await main.advance(3);
        await main.place(portfolioId, { limit: '50', quantity: 2 });
        await main.advance(1);
        // Nothing of a portfolio.
        await main.quote('AAPL', '100.90', '101.00');
        await main.advance(1);
        await main.place(portfolioId, { intent: 'SELL_TO_CLOSE', quantity: 10 });
        await main.written();
        expect(await history.standingMinutes('main', portfolioId)).toEqual([
          { minute: TEN, isHolding: false, hasMoved: false },
          { minute: TEN + 2, isHolding: true, hasMoved: true },
          { minute: TEN + 5, isHolding: true, hasMoved: false },
          { minute: TEN + 7, isHolding: false, hasMoved: true },
        ]);
        const standings = async (from: number, to: number): Promise<readonly unknown[]> =>
          (await history.standings('main', portfolioId, TEN + from, TEN + to)).map(({ minute, standing }) => {
            const { settled, pending, reserved, held } = JSON.parse(standing) as PortfolioSnapshot;
            return [minute - TEN, settled, pending, reserved, held['AAPL']?.quantity];
          });
        const DOLLAR = 10_000;
        const [opening, bought, resting, sold] = [
          [0, 100_000 * DOLLAR, 0, 0, undefined],
          // 1,000 are paid, 100 come in.
          [2, 99_100 * DOLLAR, 0, 0, 10_000_000],
          [5, 99_100 * DOLLAR, 0, 100 * DOLLAR, 10_000_000],
          // Proceeds of 10 shares at 100.90 settle on the next day.
          [7, 99_100 * DOLLAR, 1_009 * DOLLAR, 100 * DOLLAR, undefined],
        ];
        expect(await standings(-100, 0)).toEqual([]);
        expect(await standings(0, 2)).toEqual([opening]);
        expect(await standings(0, 100)).toEqual([opening, bought, resting, sold]);
        // In force when the second minute begins is what was there before it.
        expect(await standings(2, 5)).toEqual([opening, bought]);
        expect(await standings(3, 5)).toEqual([bought]);
        expect(await standings(3, 6)).toEqual([bought, resting]);
        expect(await standings(90, 91)).toEqual([sold]);
        expect(await history.standingMinutes('main', 'no-portfolio')).toEqual([]);
      });

      it('marks: returns the mark of the last pushed quote of each minute', async () => {
        const main = await trading();
        const { history } = main.store;
        await main.quote('AAPL', '99.00', '101.00');
        await main.advance(2);
        await main.quote('AAPL', '100.00', '102.00');
        await main.written();
        await main.quote('AAPL', '101.00', '103.00');
        await main.advance(3);
        await main.quote('AAPL', '102.00', '104.00');
        await main.written();
        const marks = async (from: number, to: number): Promise<readonly unknown[]> =>
          (await history.marks('main', 'AAPL', TEN + from, TEN + to)).map(({ minute, price }) => [
            minute - TEN,
            price / 1e8,
          ]);
        expect(await marks(0, 9)).toEqual([
          [0, 100],
          [2, 102],
          [5, 103],
        ]);
        expect(await marks(1, 5)).toEqual([
          [0, 100],
          [2, 102],
        ]);
        expect(await marks(-9, 0)).toEqual([]);
        expect(await history.marks('main', 'MSFT', 0, TEN + 9)).toEqual([]);
      });
    });

    describe('forks', () => {
      it('a fork shows the rows of its parent up to its beginning, whatever the parent does later', async () => {
        const main = await trading();
        const { history } = main.store;
        const portfolioId = await main.openPortfolio();
        await main.quote('AAPL', '99.90', '100.00');
        await main.place(portfolioId, { quantity: 10, clientOrderId: 'filled' });
        const resting = await main.place(portfolioId, { limit: '50', clientOrderId: 'resting' });
        const later = await main.fork('later');
        const { seq } = later;
        // In the same minute.
        await main.cancel(resting);
        await main.place(portfolioId, { intent: 'SELL_TO_CLOSE', quantity: 10 });
        await main.place(portfolioId, { limit: '51', clientOrderId: 'of-the-parent' });
        await main.written();
        await later.written();
        expect(await ordersOf(later, { portfolioId })).toEqual({ items: [2, 1], total: 2 });
        expect(await history.order('later', resting)).toMatchObject({ status: 'ACTIVE' });
        expect(await history.order('main', resting)).toMatchObject({ status: 'CANCELED' });
        expect(await history.order('later', 3)).toBeUndefined();
        expect(await history.orderByClientOrderId('later', portfolioId, 'filled')).toBe(1);
        expect(await history.orderByClientOrderId('later', portfolioId, 'of-the-parent')).toBeUndefined();
        expect(await listOf(later, 'activities', portfolioId)).toEqual({
          items: ['4.0.0', '3.2.0', '3.0.0', '1.2.0', '1.1.0'],
          total: 5,
        });
        expect(await listOf(later, 'order-events', String(resting))).toEqual({
          items: ['4.1.0', '4.0.0'],
          total: 2,
        });
        expect(await history.standingMinutes('later', portfolioId)).toEqual([
          { minute: TEN, isHolding: true, hasMoved: true },
        ]);
        // Of its own from here on; record 5 begins the fork.
        expect(await later.submit(portfolioId, { limit: '50', clientOrderId: 'resting' })).toBe(
          'DUPLICATE_CLIENT_ORDER_ID',
        );
        expect(await later.place(portfolioId, { limit: '52', clientOrderId: 'of-the-parent' })).toBe(3);
        await later.cancel(resting);
        await later.written();
        expect(await ordersOf(later, { portfolioId }, { limit: 2 })).toEqual({
          items: [3, 2],
          total: 3,
          next: 1,
        });
        expect(await ordersOf(later, { portfolioId }, { status: ['FILLED'] })).toEqual({
          items: [1],
          total: 1,
        });
        expect(await listOf(later, 'order-events', String(resting))).toEqual({
          items: [`${seq + 2}.0.0`, '4.1.0', '4.0.0'],
          total: 3,
        });
        expect(placesOf(await history.streamEvents('later', { seq: 3, event: 1 }, 10))).toEqual([
          '3.2.0',
          '4.0.0',
          '4.1.0',
          `${seq + 1}.0.0`,
          `${seq + 1}.1.0`,
          `${seq + 2}.0.0`,
        ]);
      });

      it('a fork in the past, and a fork of it, show what was there then', async () => {
        const main = await trading();
        const { history } = main.store;
        const portfolioId = await main.openPortfolio();
        const closing = await main.openPortfolio();
        await main.place(portfolioId, { limit: '50' });
        const point = main.seq;
        await main.cancel(1);
        await main.close(closing);
        for (let n = 0; n < 5; n += 1) await main.place(portfolioId, { limit: '51' });
        await main.written();
        const past = await main.fork('past', point);
        await past.place(portfolioId, { limit: '52' });
        await past.written();
        const child = await past.fork('child');
        const early = await past.fork('early', point - 1);
        await past.cancel(1);
        await Promise.all([past.written(), child.written(), early.written()]);
        expect(await ordersOf(past, { portfolioId })).toEqual({ items: [2, 1], total: 2 });
        expect(await ordersOf(child, { every: 'order' })).toEqual({ items: [2, 1], total: 2 });
        expect(await ordersOf(early, { every: 'order' })).toEqual({ items: [], total: 0 });
        expect(await history.order('past', 1)).toMatchObject({ status: 'CANCELED' });
        expect(await history.order('child', 1)).toMatchObject({ status: 'ACTIVE' });
        expect(await history.closedPortfolio('main', closing)).toBeDefined();
        expect(await history.closedPortfolio('child', closing)).toBeUndefined();
        expect(await listOf(child, 'activities', portfolioId)).toMatchObject({ total: 4 });
        expect(await listOf(early, 'activities', portfolioId)).toEqual({
          items: ['1.2.0', '1.1.0'],
          total: 2,
        });
      });

      it('a fork between two trades of a minute shows the first one only', async () => {
        const main = await trading();
        const { history } = main.store;
        const portfolioId = await main.openPortfolio();
        await main.quote('AAPL', '99.90', '100.00');
        await main.quote('AAPL', '79.90', '80.00');
        const [before, price] = [main.seq, main.seq - 1];
        await main.place(portfolioId, { quantity: 2 });
        const between = main.seq;
        await main.place(portfolioId, { quantity: 3 });
        await main.place(portfolioId, { intent: 'SELL_TO_CLOSE', quantity: 5 });
        // Rows of all of them are written together.
        await main.written();
        const [none, one] = [await main.fork('none', before), await main.fork('one', between)];
        const early = await main.fork('early', price);
        await Promise.all([none.written(), one.written(), early.written()]);
        expect(await history.standingMinutes('main', portfolioId)).toEqual([
          { minute: TEN, isHolding: false, hasMoved: true },
        ]);
        expect(await history.standingMinutes('one', portfolioId)).toEqual([
          { minute: TEN, isHolding: true, hasMoved: true },
        ]);
        expect(await history.standingMinutes('none', portfolioId)).toEqual([
          { minute: TEN, isHolding: false, hasMoved: false },
        ]);
        const held = async (id: string): Promise<unknown> => {
          const [only] = await history.standings(id, portfolioId, TEN, TEN + 1);
          return (JSON.parse(only?.standing ?? '') as PortfolioSnapshot).held['AAPL']?.quantity;
        };
        expect([await held('main'), await held('one'), await held('none')]).toEqual([
          undefined,
          2_000_000,
          undefined,
        ]);
        expect(await history.marks('none', 'AAPL', TEN, TEN + 1)).toEqual([
          { minute: TEN, price: 79_95000000 },
        ]);
        expect(await history.marks('early', 'AAPL', TEN, TEN + 1)).toEqual([
          { minute: TEN, price: 99_95000000 },
        ]);
        expect(await ordersOf(one, { portfolioId })).toEqual({ items: [1], total: 1 });
        expect(await listOf(one, 'ledger', portfolioId)).toMatchObject({ total: 2 });
      });

      it('a fork keeps the rows of a deleted parent', async () => {
        const main = await trading();
        const portfolioId = await main.openPortfolio();
        await main.place(portfolioId, { limit: '50' });
        await main.written();
        const fork = await main.fork('fork');
        await fork.written();
        await main.store.registry.deleteSimulation('main', START);
        await fork.place(portfolioId, { limit: '51' });
        await fork.written();
        expect(await ordersOf(fork, { portfolioId })).toEqual({ items: [2, 1], total: 2 });
        expect(await listOf(fork, 'activities', portfolioId)).toMatchObject({ total: 4 });
        expect(await ordersOf(main, { portfolioId })).toEqual({ items: [], total: 0 });
      });
    });

    describe('positions', () => {
      it('flush: the tables contain every durable record, and health says how many they lack', async () => {
        const main = await trading();
        const { history } = main.store;
        const portfolioId = await main.openPortfolio();
        for (let n = 0; n < 9; n += 1) await main.place(portfolioId, { limit: '90' });
        expect(history.isComplete('main')).toBe(true);
        await main.written();
        expect(history.position('main')).toBe(10);
        expect(history.health()).toMatchObject({ status: 'ok', behind: 0 });
        await history.flush('nowhere');
        expect(history.position('nowhere')).toBe(0);
      });

      it('flush: waits for rows of its own simulation only', async () => {
        const store = await open();
        const names = Array.from({ length: 20 }, (_, index) => `s-${index}`);
        const all = await Promise.all(names.map((id, index) => TradedSimulation.begin(store, id, index)));
        for (const [index, one] of all.entries())
          for (let n = 0; n <= index % 5; n += 1) await one.openPortfolio();
        for (const [index, one] of all.entries()) {
          await one.written();
          expect(store.history.position(one.id)).toBe(1 + (index % 5));
        }
      });

      it('leave: rows of a simulation that leaves memory can be read, and are continued when it is back', async () => {
        const main = await trading();
        const { store } = main;
        const portfolioId = await main.openPortfolio();
        await main.place(portfolioId, { limit: '90' });
        await main.leave();
        expect(await ordersOf(main, { portfolioId })).toEqual({ items: [1], total: 1 });
        const again = await TradedSimulation.recovered(store);
        await again.place(portfolioId, { limit: '91' });
        await again.cancel(1);
        await again.written();
        expect(await ordersOf(again, { portfolioId })).toEqual({ items: [2, 1], total: 2 });
        expect(await listOf(again, 'order-events', '1')).toEqual({
          items: ['4.0.0', '2.1.0', '2.0.0'],
          total: 3,
        });
      });
    });

    it('separates simulations, and deletes rows of deleted ones', async () => {
      const store = await open();
      const { history, registry } = store;
      const [main, other] = [
        await TradedSimulation.begin(store),
        await TradedSimulation.begin(store, 'other'),
      ];
      // Of the same seed: the ids are equal.
      const portfolioId = await main.openPortfolio();
      expect(await other.openPortfolio()).toBe(portfolioId);
      await main.place(portfolioId, { limit: '90', clientOrderId: 'c' });
      await other.place(portfolioId, { limit: '91', clientOrderId: 'c' });
      await other.place(portfolioId, { limit: '91' });
      await Promise.all([main.written(), other.written()]);
      expect(await ordersOf(main, { portfolioId })).toMatchObject({ total: 1 });
      await registry.deleteSimulation('main', START);
      expect(await history.order('main', 1)).toBeUndefined();
      expect(await history.orderByClientOrderId('main', portfolioId, 'c')).toBeUndefined();
      expect(await ordersOf(main, { portfolioId })).toEqual({ items: [], total: 0 });
      expect(await listOf(main, 'activities', portfolioId)).toEqual({ items: [], total: 0 });
      expect(await history.standingMinutes('main', portfolioId)).toEqual([]);
      expect(await ordersOf(other, { portfolioId })).toEqual({ items: [2, 1], total: 2 });
      expect(await listOf(other, 'activities', portfolioId)).toMatchObject({ total: 4 });
    });

    const { reopen } = underTest;
    if (reopen === undefined) return;

    it('continues to count after it is opened again', async () => {
      const main = await trading();
      const portfolioId = await main.openPortfolio();
      await main.place(portfolioId, { limit: '90', clientOrderId: 'c' });
      await main.durable();
      const store = await reopen(opened.pop() ?? main.store);
      opened.push(store);
      const again = await TradedSimulation.recovered(store);
      expect(await again.submit(portfolioId, { limit: '90', clientOrderId: 'c' })).toBe(
        'DUPLICATE_CLIENT_ORDER_ID',
      );
      await again.place(portfolioId, { limit: '91' });
      await again.cancel(1);
      await again.written();
      expect(await ordersOf(again, { portfolioId })).toEqual({ items: [2, 1], total: 2 });
      expect(await listOf(again, 'activities', portfolioId)).toEqual({
        items: ['4.0.0', '3.0.0', '2.0.0', '1.2.0', '1.1.0'],
        total: 5,
      });
      expect(await listOf(again, 'order-events', '1')).toMatchObject({ total: 3 });
    });
  });
}
