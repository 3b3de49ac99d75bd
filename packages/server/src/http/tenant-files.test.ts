/** A tenant that is exported, imported elsewhere and deleted (D170), on data directories with and without a server. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../testing/server-process.js';
import { ACCOUNT, orderBody } from '../testing/test-app.js';
import type { Body } from '../testing/test-app.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-tenant-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const settingsIn = (data: string, start = '2026-01-05T10:00:00-05:00'): Record<string, string> => ({
  DATA_DIR: join(folder, data),
  MARKET_FEED: 'push',
  MARKET_CLOCK: 'manual',
  CLOCK_START: start,
  LOG_LEVEL: 'silent',
  RATE_LIMIT_DEFAULT: '1000000',
  WEBHOOK_ALLOW_PRIVATE: 'on',
});

class Server {
  readonly process: ServerProcess;
  readonly settings: Record<string, string>;
  url = '';

  constructor(settings: Record<string, string>) {
    this.settings = settings;
    this.process = ServerProcess.launch(settings);
  }

  static async start(data: string, start?: string): Promise<Server> {
    const server = new Server(settingsIn(data, start));
    server.url = await server.process.listening;
    return server;
  }

  async stop(): Promise<void> {
    await this.process.end('SIGTERM');
  }

  async ask(token: string, method: string, path: string, body?: object, key?: string): Promise<Body> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { statusCode: response.status, ...((await response.json()) as object) };
  }

  async login(apiKey: string): Promise<string> {
    return ((await this.ask('', 'POST', '/v1/auth/token', { apiKey })) as { token: string }).token;
  }
}

const ALL = 'trade read simulate admin';

async function newKey(settings: Record<string, string>, tenant: string): Promise<string> {
  const keys = ServerProcess.keys(
    settings,
    'create',
    '--tenant',
    tenant,
    '--tier',
    'ENTERPRISE',
    '--scope',
    ALL,
  );
  await keys.exited;
  return keys.out[0] ?? '';
}

async function run(
  settings: Record<string, string>,
  ...args: string[]
): Promise<ServerProcess & { code: number | null }> {
  const command = ServerProcess.tenant(settings, ...args);
  const { code } = await command.exited;
  return Object.assign(command, { code });
}

const quotes = (last: number): object => ({
  quotes: [{ symbol: 'AAPL', bid: last - 0.1, ask: last, bidSize: 500, askSize: 500, last }],
});

/** A main and another simulation, each with a filled and an open order. */
async function trade(
  server: Server,
  token: string,
): Promise<{ main: string; other: string; otherToken: string }> {
  await server.ask(token, 'PUT', '/v1/simulation/quotes', quotes(100));
  const created = await server.ask(token, 'POST', '/v1/simulations', {
    feed: 'push',
    clock: 'manual',
    start: '2026-01-05T10:00:00-05:00',
  });
  const otherToken = created.token as string;
  await server.ask(otherToken, 'PUT', '/v1/simulation/quotes', quotes(100));
  const portfolios = [];
  for (const one of [token, otherToken]) {
    const { portfolioId } = await server.ask(one, 'POST', '/v1/accounts/portfolios', {
      accountId: ACCOUNT,
      portfolioType: 'MARGIN',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      initialCash: 50_000,
    });
    for (const limitPrice of [101, 90]) {
      const order = orderBody(portfolioId as string, { limitPrice, timeInForce: 'GTC' });
      const { statusCode } = await server.ask(one, 'POST', '/v1/orders', order, `key-${limitPrice}`);
      expect(statusCode).toBe(201);
    }
    portfolios.push(portfolioId as string);
  }
  return { main: portfolios[0] ?? '', other: portfolios[1] ?? '', otherToken };
}

async function shown(server: Server, token: string, portfolioId: string): Promise<unknown> {
  const replies = [];
  for (const part of ['', '/activities', '/ledger', '/positions'])
    replies.push(await server.ask(token, 'GET', `/v1/accounts/portfolios/${portfolioId}${part}`));
  return [...replies, await server.ask(token, 'GET', `/v1/orders?portfolioId=${portfolioId}`)];
}

describe('sandpit tenant', () => {
  it('moves a tenant to another installation, and deletes it', async () => {
    const file = join(folder, 'alice.ndjson');
    const from = await Server.start('from');
    const alice = await from.login(await newKey(from.settings, 'alice'));
    const bob = await from.login(await newKey(from.settings, 'bob'));
    const { main, other, otherToken } = await trade(from, alice);
    const bobs = await trade(from, bob);
    const before = [await shown(from, alice, main), await shown(from, otherToken, other)];

    const url = 'http://127.0.0.1:1024/';
    for (const simulationId of ['main', '*'])
      await from.ask(alice, 'POST', '/v1/webhooks', { url, simulationId, events: ['order.*'] });
    await from.ask(bob, 'POST', '/v1/webhooks', { url });
    const exported = await run(from.settings, 'export', 'alice', '--to', file);
    expect([exported.code, exported.err.join()]).toEqual([0, `written to ${file}`]);
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^\{"type":"tenant","format":1,"tenantId":"alice","name":"alice"/);
    expect(text.match(/"type":"trailer"/g)).toHaveLength(2);
    expect(text).not.toContain(bobs.main);
    expect(text).not.toContain('whsec_');
    expect((await run(from.settings, 'export', 'nobody')).err.join()).toBe('There is no tenant nobody');

    // A market that is behind the last record of main, or has no such past: the import is refused and leaves no files.
    await from.ask(alice, 'PUT', '/v1/simulation/quotes', quotes(99));
    const early = await Server.start('early', '2026-01-02T10:00:00-05:00');
    const refused = await run(early.settings, 'import', file);
    expect([refused.code, refused.err.join()]).toEqual([
      1,
      expect.stringMatching(/^The last record of main is of /),
    ]);
    await early.stop();
    expect((await run(settingsIn('nowhere'), 'import', file)).err.join()).toMatch(/has no market yet/);
    for (const [damaged, why] of [
      [text.slice(0, -300), /cut short/],
      [text.replace('"limitPrice":900000', '"limitPrice":910000'), /damaged/],
      [`${text}{"type":"end"}\n`, /follow the end/],
    ] as const) {
      writeFileSync(join(folder, 'damaged.ndjson'), damaged);
      const bad = await run(from.settings, 'import', join(folder, 'damaged.ndjson'));
      expect([bad.code, bad.err.join()]).toEqual([1, expect.stringMatching(why)]);
    }
    expect((await run(from.settings, 'import', file)).err.join()).toBe('There is a tenant alice already');

    // Into an installation whose market is further on and has its own quote.
    const to = await Server.start('to', '2026-01-05T11:00:00-05:00');
    const carol = await to.login(await newKey(to.settings, 'carol'));
    await to.ask(carol, 'PUT', '/v1/simulation/quotes', quotes(100));
    const imported = await run(to.settings, 'import', file);
    expect([imported.code, imported.err]).toEqual([0, []]);
    expect(imported.out.join()).toMatch(/^imported \{"tenantId":"alice","simulations":2,"records":\d+\}$/);
    const there = await to.login(await newKey(to.settings, 'alice'));
    const webhooks = await to.ask(there, 'GET', '/v1/webhooks');
    expect(webhooks.data).toMatchObject(
      ['main', '*'].map((simulationId) => ({ url, simulationId, events: ['order.*'], status: 'DISABLED' })),
    );
    const list = await to.ask(there, 'GET', '/v1/simulations');
    const simulationId = list.data[0].simulationId as string;
    const { token: thereOther } = await to.ask(there, 'POST', `/v1/simulations/${simulationId}/token`);
    expect(await shown(to, thereOther as string, other)).toEqual(before[1]);
    const orders = await to.ask(there, 'GET', `/v1/orders?portfolioId=${main}`);
    expect(orders.data).toEqual((before[0] as Body)[4].data);
    // Its main follows the market of the new installation: an open order is filled by a quote pushed there.
    await to.ask(carol, 'PUT', '/v1/simulation/quotes', quotes(89));
    const filled = await to.ask(there, 'GET', `/v1/orders?portfolioId=${main}`);
    expect(filled.data.map(({ status }: Body) => status as string)).toEqual(['FILLED', 'FILLED']);
    const ended = await shown(to, there, main);
    await to.process.end('SIGKILL');
    const again = await Server.start('to', '2026-01-05T11:00:00-05:00');
    expect(await shown(again, there, main)).toEqual(ended);
    await again.stop();
    const verified = ServerProcess.verify(again.settings, join(folder, 'to'));
    expect([(await verified.exited).code, verified.err]).toEqual([0, []]);
    // The same without a server.
    await run(again.settings, 'export', 'alice', '--to', join(folder, 'again.ndjson'));
    expect((await run(again.settings, 'delete', 'alice')).out.join()).toMatch(
      /^deleted \{"tenantId":"alice"/,
    );
    for (const name of ['journal.db', 'history.db'])
      for (const text of [main, 'alice'])
        expect(readFileSync(join(folder, 'to', name)).includes(text), `${text} in ${name}`).toBe(false);
    expect((await run(again.settings, 'import', join(folder, 'again.ndjson'))).err).toEqual([]);
    const third = await Server.start('to', '2026-01-05T11:00:00-05:00');
    const back = await third.login(await newKey(third.settings, 'alice'));
    expect(await shown(third, back, main)).toEqual(ended);
    await third.stop();

    // Deleted while a server uses the directory: nothing of it is left, and nothing of another tenant is touched.
    const bobBefore = await shown(from, bob, bobs.main);
    const deleted = await run(from.settings, 'delete', 'alice');
    expect([deleted.code, deleted.err, deleted.out.join()]).toEqual([
      0,
      [],
      'deleted {"tenantId":"alice","simulations":2}',
    ]);
    expect((await from.ask(alice, 'GET', '/v1/orders')).statusCode).toBe(401);
    expect((await from.ask(otherToken, 'GET', '/v1/orders')).statusCode).toBe(401);
    expect(await shown(from, bob, bobs.main)).toEqual(bobBefore);
    expect((await from.ask(bob, 'GET', '/v1/webhooks')).data).toHaveLength(1);
    expect((await run(from.settings, 'delete', 'alice')).err.join()).toBe('There is no tenant alice');
    while (rowsOf('from', [main, other, 'alice']).length > 0) await from.ask(bob, 'GET', '/v1/health');
    // A tenant of that name starts again without data.
    const anew = await from.login(await newKey(from.settings, 'alice'));
    expect((await from.ask(anew, 'GET', '/v1/simulations')).data).toEqual([]);
    expect((await from.ask(anew, 'GET', '/v1/orders')).data).toEqual([]);
    await trade(from, anew);
    await from.stop();
    const sound = ServerProcess.verify(from.settings, join(folder, 'from'));
    expect([(await sound.exited).code, sound.err]).toEqual([0, []]);
  }, 120_000);
});

/** Tables of a data directory that contain one of these texts, and files named after removed simulations. */
function rowsOf(data: string, texts: readonly string[]): string[] {
  const found: string[] = [];
  const directory = join(folder, data);
  for (const name of ['journal.db', 'history.db']) {
    const database = new DatabaseSync(join(directory, name), { readOnly: true });
    try {
      const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all() as {
        name: string;
      }[];
      for (const { name: table } of tables)
        for (const row of database.prepare(`SELECT * FROM "${table}"`).iterate()) {
          const values = Object.values(row as object).map((value) =>
            value instanceof Uint8Array ? Buffer.from(value).toString() : String(value),
          );
          if (texts.some((text) => values.some((value) => value.includes(text))))
            found.push(`${name} ${table}`);
        }
    } finally {
      database.close();
    }
  }
  const files = readdirSync(directory, { recursive: true }) as string[];
  return [...found, ...files.filter((name) => name.startsWith('imports/'))];
}
