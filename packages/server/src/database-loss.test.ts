/** A server on a PostgreSQL that is restored from an older copy, as its clients see it. */
import { createHmac, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { EXIT } from './exit-codes.js';
import { backUp, restore } from './testing/database-copies.js';
import { cashPortfolioBody, restingOrderBody } from './testing/request-bodies.js';
import { inDirectory, ServerProcess } from './testing/server-process.js';
import { newDatabase } from './testing/test-database.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function tokenOf(tenantId: string): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    sub: tenantId,
    tier: 'ENTERPRISE',
    scope: 'trade read',
    iat,
    exp: iat + 3_600,
    jti: randomUUID(),
  };
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${content}.${createHmac('sha256', JWT_SECRET).update(content).digest('base64url')}`;
}

const authorization = `Bearer ${tokenOf('anna')}`;

async function ask(url: string, path: string, body?: object): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Reads a stream up to an event that a pattern matches. Returns the text received. */
async function streamed(url: string, until: RegExp, lastEventId?: string): Promise<string> {
  const gone = new AbortController();
  const response = await fetch(`${url}/v1/stream/orders`, {
    headers: { authorization, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    signal: gone.signal,
  });
  let told = '';
  for await (const piece of response.body ?? []) {
    told += Buffer.from(piece as Uint8Array).toString();
    if (until.test(told)) break;
  }
  gone.abort();
  return told;
}

it(
  'a simulation that lost acknowledged records answers 503 until its loss is accepted, and then resets streams',
  () =>
    inDirectory(async (directory) => {
      const DATABASE_URL = await newDatabase();
      const settings = {
        DATABASE_URL,
        DATA_DIR: directory,
        JWT_SECRET,
        MARKET_FEED: 'push',
        MARKET_CLOCK: 'manual',
        CLOCK_START: '2026-01-05T10:00:00-05:00',
      };
      const server = ServerProcess.launch({ ...settings, LOG_LEVEL: 'warn' });
      try {
        const url = await server.listening;
        const opened = await ask(url, '/v1/accounts/portfolios', cashPortfolioBody());
        expect(opened.status, opened.text).toBe(201);
        const { portfolioId } = JSON.parse(opened.text) as { readonly portfolioId: string };
        const place = () => ask(url, '/v1/orders', restingOrderBody(portfolioId));
        expect((await place()).status).toBe(201);
        const ready = async (): Promise<number> => (await ask(url, '/v1/health')).status;
        await backUp(DATABASE_URL);
        await expect.poll(ready, { timeout: 10_000 }).toBe(200);
        const lost = [await place(), await place()].map(
          ({ text }) => (JSON.parse(text) as { readonly orderId: string }).orderId,
        );
        const last = await streamed(url, /^id: \S+/m);
        const lastId = /^id: (\S+)/m.exec(last)?.[1];
        expect(lastId).toBeDefined();

        await restore(DATABASE_URL);
        await expect
          .poll(async () => (await ask(url, '/v1/orders')).text, { timeout: 10_000 })
          .toMatch(
            /"message":"The simulation is out of service: the database lacks 2 records that were acknowledged"/,
          );
        expect((await ask(url, '/v1/orders')).status).toBe(503);
        await expect.poll(ready, { timeout: 10_000 }).toBe(200);
        expect(server.out.join('\n')).toContain(
          'sandpit cluster accept-loss main/anna serves it without them',
        );

        const listed = ServerProcess.cluster({ DATABASE_URL }, 'accept-loss');
        await listed.exited;
        expect(listed.out).toEqual(['main/anna lacks 2 records']);
        const accepted = ServerProcess.cluster({ DATABASE_URL }, 'accept-loss', 'main/anna');
        expect((await accepted.exited).code).toBe(0);
        expect(accepted.out.join('\n')).toMatch(
          /^main\/anna is in service again: it ends with record \d+, 2 ack/,
        );
        await expect.poll(async () => (await ask(url, '/v1/orders')).status, { timeout: 5_000 }).toBe(200);
        expect((await ask(url, '/v1/orders')).text.match(/"orderId"/g)).toHaveLength(1);
        // The record that follows has the number of one that is lost.
        expect((await place()).status).toBe(201);
        expect((await place()).status).toBe(201);
        expect(await streamed(url, /event: (reset|order)/, lastId)).toContain('event: reset');
        // Later orders have the numbers of the lost ones, and other ids.
        const lostAt = (at: string): Promise<number[]> =>
          Promise.all(lost.map(async (id) => (await ask(at, `/v1/orders/${id}`)).status));
        expect(await lostAt(url)).toEqual([404, 404]);
        await server.end('SIGKILL');

        const again = ServerProcess.launch(settings);
        try {
          const at = await again.listening;
          expect((await ask(at, '/v1/orders')).text.match(/"orderId"/g)).toHaveLength(3);
          expect(await streamed(at, /event: (reset|order)/, lastId)).toContain('event: reset');
          expect(await lostAt(at)).toEqual([404, 404]);
        } finally {
          await again.end('SIGKILL');
        }
        const elsewhere = ServerProcess.launch({ ...settings, DATABASE_URL: await newDatabase() });
        expect((await elsewhere.exited).code).toBe(EXIT.SETTINGS);
        expect(elsewhere.err.join('\n')).toMatch(
          /^sandpit: DATABASE_URL: .* is another database than the one that this node has used before/,
        );
      } finally {
        await server.end('SIGKILL');
      }
    }),
  120_000,
);
