import { DatabaseSync } from '@photostructure/sqlite';
import { stateHash } from '@sandpit/core';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyJournal } from './engine/recovery/verify.js';
import { openSqliteStore } from './store/sqlite/sqlite-store.js';
import { inDirectory } from './testing/server-process.js';
import { startSimulations } from './testing/simulations.js';
import { openPortfolio, orderBody, placeOrder, TestApp } from './testing/test-app.js';

describe('A server on a full disk', { timeout: 60_000 }, () => {
  it('answers 503 within a second, and continues without loss when space is free again', async () => {
    await inDirectory(async (directory) => {
      const pageLimit = new Int32Array(new SharedArrayBuffer(4));
      const store = await openSqliteStore({ directory, pageLimit });
      const service = await TestApp.open({ store });
      const client = service.as();
      const published: number[] = [];
      service.main.subscribe(({ seq }) => published.push(seq));
      const { portfolioId } = (await openPortfolio(client)) as { readonly portfolioId: string };
      const { orderId } = (await placeOrder(client, portfolioId)) as Placed;
      expect((await client.get('/v1/health')).status).toBe(200);

      Atomics.store(pageLimit, 0, pagesOf(directory));
      // The pages that are there may still have room: orders are acknowledged until they have not.
      const placed = [orderId];
      const unanswered: { readonly key: string; readonly body: object }[] = [];
      for (let i = 0; unanswered.length === 0; i++) {
        const key = `order-${i}`;
        const body = orderBody(portfolioId, { clientOrderId: key });
        const began = performance.now();
        const reply = await client.post('/v1/orders', body, { 'idempotency-key': key });
        if (reply.status === 201) {
          placed.push((reply.body as Placed).orderId);
          continue;
        }
        expect(performance.now() - began).toBeLessThan(1_500);
        expect(reply.status).toBe(503);
        expect(reply.body).toMatchObject({ statusCode: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
        unanswered.push({ key, body });
      }

      service.time.nowMs += 1_000;
      expect((await client.get('/v1/health')).status).toBe(503);
      expect((await client.get('/v1/ready')).status).toBe(503);
      const refused = {
        key: 'order-refused',
        body: orderBody(portfolioId, { clientOrderId: 'order-refused' }),
      };
      expect((await client.post('/v1/orders', refused.body, { 'idempotency-key': refused.key })).status).toBe(
        503,
      );
      unanswered.push(refused);
      expect((await client.put(`/v1/orders/${orderId}/cancel`)).status).toBe(503);
      // Only durable orders are shown.
      const listed = await client.get(`/v1/orders/portfolio/${portfolioId}?limit=500`);
      expect([200, 503]).toContain(listed.status);
      if (listed.status === 200) expect(idsOf(listed.body)).toEqual(new Set(placed));

      Atomics.store(pageLimit, 0, 0);
      await expect.poll(() => store.health().status, { timeout: 5_000 }).toBe('ok');
      service.time.nowMs += 1_000;
      expect((await client.get('/v1/health')).status).toBe(200);
      // Unknown is not refused: the same request again has its one effect now, or had it already.
      for (const { key, body } of unanswered) {
        const first = await client.post('/v1/orders', body, { 'idempotency-key': key });
        const again = await client.post('/v1/orders', body, { 'idempotency-key': key });
        expect([first.status, again.status]).toEqual([201, 201]);
        expect(again.text).toBe(first.text);
        expect(again.headers['idempotent-replayed']).toBe('true');
        placed.push((first.body as Placed).orderId);
      }
      const all = await client.get(`/v1/orders/portfolio/${portfolioId}?limit=500`);
      expect(idsOf(all.body)).toEqual(new Set(placed));
      expect(all.body).toMatchObject({ pagination: { total: placed.length } });
      // Live streams have missed nothing either.
      expect(published).toEqual(published.map((_, index) => index + 1));
      expect(published).toHaveLength(store.journal.lastSeq(service.main.id));

      const { brokerage } = service.main;
      const report = await verifyJournal(store, service.main.id);
      expect(report.problems).toEqual([]);
      expect(report.stateHash).toBe(stateHash(brokerage.state));
      await service.close();

      const reopened = await openSqliteStore({ directory });
      const { main, simulations } = await startSimulations({}, reopened);
      expect(stateHash(main.brokerage.state)).toBe(report.stateHash);
      await simulations.close();
      await reopened.close();
    });
  });
});

interface Placed {
  readonly orderId: string;
}

const idsOf = (page: unknown): Set<string> =>
  new Set((page as { readonly data: readonly Placed[] }).data.map(({ orderId }) => orderId));

function pagesOf(directory: string): number {
  const database = new DatabaseSync(join(directory, 'journal.db'), { readOnly: true });
  const { page_count } = database.prepare('PRAGMA page_count').get() as { readonly page_count: number };
  database.close();
  return page_count;
}
