import { afterEach, describe, expect, it } from 'vitest';
import { allOf, answerOf, recordOf, START, withSimulation } from './fixtures.contract.js';
import type { StoreUnderTest } from './fixtures.contract.js';
import { StoreUnavailable } from './journal.js';
import type { Store } from './store.js';

/** Behavior of every journal. */
export function journalContract(name: string, underTest: StoreUnderTest): void {
  describe(`${name} as a journal`, () => {
    const opened: Store[] = [];
    const open = async (): Promise<Store> => {
      const store = await withSimulation(await underTest.open());
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    it('reads records in order, from any sequence number', async () => {
      const { journal } = await open();
      const records = Array.from({ length: 2_500 }, (_, index) => recordOf('main', index + 1));
      await Promise.all(records.map((record) => journal.append(record)));
      expect(await allOf(journal.read('main', 0))).toEqual(records);
      expect(await allOf(journal.read('main', 2_400))).toEqual(records.slice(2_400));
      expect(await allOf(journal.read('main', 2_500))).toEqual([]);
      expect(journal.lastSeq('main')).toBe(2_500);
    });

    it('returns payloads unchanged', async () => {
      const { journal } = await open();
      const payload = '{"command":{"name":"Zürich – 東京 💹 \\u0000 \'\\"\\\\"},"events":[]}';
      await journal.append({ simulationId: 'main', seq: 1, at: START, payload });
      expect(await allOf(journal.read('main', 0))).toEqual([
        { simulationId: 'main', seq: 1, at: START, payload },
      ]);
    });

    it('stores a record larger than a block, and its neighbors', async () => {
      const { journal } = await open();
      const records = [10, 200_000, 10, 40_000, 40_000, 10].map((size, index) =>
        recordOf('main', index + 1, [{ type: 'ü'.repeat(size) }]),
      );
      await Promise.all(records.map((record) => journal.append(record)));
      expect(await allOf(journal.read('main', 0))).toEqual(records);
      expect(await allOf(journal.read('main', 2))).toEqual(records.slice(2));
    });

    it('shows a record as soon as its promise has resolved', async () => {
      const { journal } = await open();
      for (let seq = 1; seq <= 50; seq += 1) {
        await journal.append(recordOf('main', seq));
        expect(journal.lastSeq('main')).toBe(seq);
      }
    });

    it('resolves in the order of the calls', async () => {
      const { journal } = await open();
      const resolved: number[] = [];
      const appends = [1, 2, 3, 4, 5].map((seq) =>
        journal.append(recordOf('main', seq)).then(() => resolved.push(seq)),
      );
      await Promise.all(appends);
      expect(resolved).toEqual([1, 2, 3, 4, 5]);
    });

    it('refuses a gap, a repetition, and an unknown simulation', async () => {
      const { journal } = await open();
      await journal.append(recordOf('main', 1));
      await expect(journal.append(recordOf('main', 3))).rejects.toThrow('cannot follow record 1');
      await expect(journal.append(recordOf('main', 1))).rejects.toThrow('cannot follow record 1');
      await expect(journal.append(recordOf('elsewhere', 1))).rejects.toThrow('no simulation elsewhere');
      await journal.append(recordOf('main', 2));
      expect(journal.lastSeq('main')).toBe(2);
    });

    it('separates the records of simulations', async () => {
      const store = await open();
      await withSimulation(store, 'other');
      const appends = [1, 2, 3].flatMap((seq) => [
        store.journal.append(recordOf('main', seq)),
        store.journal.append(recordOf('other', seq)),
      ]);
      await Promise.all(appends);
      expect(await allOf(store.journal.read('other', 1))).toEqual([
        recordOf('other', 2),
        recordOf('other', 3),
      ]);
      expect(await allOf(store.journal.read('nowhere', 0))).toEqual([]);
      expect(store.journal.lastSeq('nowhere')).toBe(0);
    });

    it('accepts records of a simulation that is being created', async () => {
      const store = await open();
      const created = store.registry.createSimulation({
        id: 'new',
        tenantId: 't',
        config: '{}',
        createdAt: START,
      });
      await store.journal.append(recordOf('new', 1));
      await created;
      expect(store.journal.lastSeq('new')).toBe(1);
    });

    it('has no records of a deleted simulation', async () => {
      const { journal, registry } = await open();
      await journal.append(recordOf('main', 1));
      await registry.deleteSimulation('main', START);
      expect(await allOf(journal.read('main', 0))).toEqual([]);
      expect(journal.lastSeq('main')).toBe(0);
      await expect(journal.append(recordOf('main', 2))).rejects.toThrow('no simulation main');
    });

    it('keeps an answer with its record, or alone, until it expires', async () => {
      const { journal } = await open();
      const find = async (key: string, now: number) =>
        journal.findAnswer('tenant-1', 'main', 'POST /v1/orders', key, now);
      await journal.append(recordOf('main', 1), answerOf('k1'));
      await journal.saveAnswer(answerOf('k2', { statusCode: 400 }));
      expect(await find('k1', START)).toEqual(answerOf('k1'));
      expect(await find('k2', START)).toEqual(answerOf('k2', { statusCode: 400 }));
      expect(await find('k1', answerOf('k1').expiresAt - 1)).toEqual(answerOf('k1'));
      expect(await find('k1', answerOf('k1').expiresAt)).toBeUndefined();
      expect(await find('k3', START)).toBeUndefined();
      expect(await journal.findAnswer('tenant-2', 'main', 'POST /v1/orders', 'k1', START)).toBeUndefined();
      expect(await journal.findAnswer('tenant-1', 'other', 'POST /v1/orders', 'k1', START)).toBeUndefined();
      expect(await journal.findAnswer('tenant-1', 'main', 'POST /v1/accounts', 'k1', START)).toBeUndefined();
    });

    it('finds an answer that was kept with a record of another simulation: steps of several ones', async () => {
      const { journal, registry } = await open();
      await registry.createSimulation({ id: 'other', tenantId: 'tenant-1', config: '{}', createdAt: START });
      await journal.append(recordOf('other', 1), answerOf('k1'));
      expect(await journal.findAnswer('tenant-1', 'main', 'POST /v1/orders', 'k1', START)).toEqual(
        answerOf('k1'),
      );
    });

    it('accepts a key again after its answer has expired', async () => {
      const { journal } = await open();
      await journal.saveAnswer(answerOf('k1', { expiresAt: START }));
      await journal.saveAnswer(answerOf('k1', { body: '{"second":true}' }));
      expect((await journal.findAnswer('tenant-1', 'main', 'POST /v1/orders', 'k1', START))?.body).toBe(
        '{"second":true}',
      );
    });

    it('commits appends made before it closes, and none after', async () => {
      const store = await open();
      const append = store.journal.append(recordOf('main', 1));
      const closing = store.close();
      await append;
      await closing;
      await expect(store.journal.append(recordOf('main', 2))).rejects.toThrow(StoreUnavailable);
      expect(store.health().status).toBe('closed');
    });

    it('can be probed', async () => {
      const store = await open();
      await store.probe();
      expect(store.health()).toEqual({ status: 'ok', waiting: 0 });
    });

    const { reopen } = underTest;
    if (reopen === undefined) return;

    it('has every acknowledged record after it is opened again', async () => {
      let store = await open();
      await Promise.all(
        [1, 2, 3].map((seq) => store.journal.append(recordOf('main', seq), answerOf(`k${seq}`))),
      );
      store = await reopen(store);
      opened.push(store);
      const { journal } = store;
      expect((await allOf(journal.read('main', 0))).map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(await journal.findAnswer('tenant-1', 'main', 'POST /v1/orders', 'k2', START)).toEqual(
        answerOf('k2'),
      );
      await journal.append(recordOf('main', 4));
      expect((await allOf(journal.read('main', 2))).map(({ seq }) => seq)).toEqual([3, 4]);
    });
  });
}
