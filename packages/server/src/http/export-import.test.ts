/** Export and import of a simulation over HTTP (D170), against a server on a data directory. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ACCOUNT, orderBody, signToken } from '../testing/test-app.js';
import type { Body } from '../testing/test-app.js';
import { ServerProcess } from '../testing/server-process.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';
const MOST_BYTES = 4_000_000;

let folder: string;
let server: ServerProcess;
let url: string;

const settings = (): Record<string, string> => ({
  DATA_DIR: folder,
  JWT_SECRET,
  MARKET_FEED: 'push',
  MARKET_CLOCK: 'manual',
  CLOCK_START: '2026-01-05T10:00:00-05:00',
  IMPORT_MAX_BYTES: String(MOST_BYTES),
  LOG_LEVEL: 'silent',
  RATE_LIMIT_DEFAULT: '1000000',
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-export-'));
  server = ServerProcess.launch(settings());
  url = await server.listening;
});
afterAll(async () => {
  server.child.kill('SIGKILL');
  await server.exited;
  rmSync(folder, { recursive: true });
});

const tokenOf = (tenantId: string, tier = 'ENTERPRISE'): string => {
  const iat = Math.floor(Date.now() / 1000);
  const scope = 'trade read simulate admin';
  return signToken({ sub: tenantId, tier, scope, iat, exp: iat + 3600, iss: 'sandpit', aud: 'sandpit' });
};

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Body;
}

async function ask(token: string, method: string, path: string, body?: object | string): Promise<Answer> {
  const isFile = typeof body === 'string';
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': isFile ? 'application/x-ndjson' : 'application/json' }),
    },
    ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
}

const OWNER = tokenOf('owner');

/** A simulation with a filled and an open order, a dividend and a moved clock. */
async function furnished(): Promise<{ id: string; token: string; portfolioId: string }> {
  const created = await ask(OWNER, 'POST', '/v1/simulations', {
    name: 'to travel',
    feed: 'push',
    clock: 'manual',
    start: '2026-01-05T10:00:00-05:00',
  });
  const { simulationId: id, token } = created.body as { simulationId: string; token: string };
  const quote = { symbol: 'AAPL', bid: 99.9, ask: 100, bidSize: 500, askSize: 500, last: 100 };
  await ask(token, 'PUT', '/v1/simulation/quotes', { quotes: [quote] });
  const opened = await ask(token, 'POST', '/v1/accounts/portfolios', {
    accountId: ACCOUNT,
    portfolioType: 'MARGIN',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: 50_000,
  });
  const { portfolioId } = opened.body as { portfolioId: string };
  for (const limitPrice of [101, 90, 80]) {
    const { status } = await ask(token, 'POST', '/v1/orders', order(portfolioId, limitPrice));
    expect(status).toBe(201);
  }
  await ask(token, 'POST', '/v1/simulation/clock/advance', { by: 'P1D' });
  return { id, token, portfolioId };
}

const order = (portfolioId: string, limitPrice: number): object => orderBody(portfolioId, { limitPrice });

const exported = async (id: string, token = OWNER): Promise<string> => {
  const { status, text } = await ask(token, 'GET', `/v1/simulations/${id}/export`);
  expect(status).toBe(200);
  return text;
};

/** Result of an import, once it is over. */
function outcome(id: string, token = OWNER): Promise<Body> {
  return vi.waitUntil(
    async () => {
      const { body } = await ask(token, 'GET', `/v1/simulations/${id}`);
      return body.status !== 'IMPORTING' && body;
    },
    { timeout: 20_000, interval: 10 },
  );
}

/** All views of a portfolio, page by page. */
async function shown(token: string, portfolioId: string): Promise<unknown> {
  const paths = ['', '/activities', '/ledger', '/positions', '/margin'].map(
    (part) => `/v1/accounts/portfolios/${portfolioId}${part}`,
  );
  const replies = [];
  for (const path of [...paths, `/v1/orders?portfolioId=${portfolioId}`])
    replies.push((await ask(token, 'GET', path)).body);
  return replies;
}

const linesOf = (file: string): string[] => file.trimEnd().split('\n');

/** The file again, with the hash that its lines have. */
function sealed(lines: readonly string[]): string {
  const hash = lines.slice(0, -1).reduce(
    (before, line) =>
      createHash('sha256')
        .update(before + line)
        .digest('hex'),
    '',
  );
  const records = lines.filter((line) => line.startsWith('{"seq"')).length;
  return `${[...lines.slice(0, -1), JSON.stringify({ type: 'trailer', records, hash })].join('\n')}\n`;
}

const ID = randomUUID();
const snapshotOf = (snapshotId: string, sequence: number) => ({ snapshotId, at: 0, sequence, createdAt: 1 });

describe('An exported simulation', () => {
  it('is a header, records without gaps and a trailer with the hash of the chain', async () => {
    const { id } = await furnished();
    const file = await exported(id);
    const lines = linesOf(file).map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: 'header', format: 2, simulationId: id });
    const seqs = lines.flatMap(({ seq }: Body) => (seq === undefined ? [] : [seq as number]));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(lines.at(-1)).toMatchObject({ type: 'trailer', records: seqs.length });
    expect(sealed(linesOf(file))).toBe(file);
  });

  it('is imported with the same state, under another id, by its tenant and by another one', async () => {
    const { id, token, portfolioId } = await furnished();
    const file = await exported(id);
    const { status, body } = await ask(OWNER, 'POST', '/v1/simulations/import', file);
    expect([status, body.status, body.name]).toEqual([202, 'IMPORTING', 'to travel']);
    expect(body.simulationId).not.toBe(id);
    expect(await outcome(body.simulationId as string)).toMatchObject({ status: 'READY' });
    const other = body.token as string;
    expect(await shown(other, portfolioId)).toEqual(await shown(token, portfolioId));
    const guest = tokenOf('guest');
    const received = (await ask(guest, 'POST', '/v1/simulations/import', file)).body;
    expect(await outcome(received.simulationId as string, guest)).toMatchObject({ status: 'READY' });
    expect(await shown(received.token as string, portfolioId)).toEqual(await shown(token, portfolioId));
    // From here on both continue alike: the same ids for the same requests.
    const mine = await ask(token, 'POST', '/v1/orders', order(portfolioId, 70));
    const theirs = await ask(other, 'POST', '/v1/orders', order(portfolioId, 70));
    expect(theirs.body.orderId).toBe(mine.body.orderId);
    // And neither affects the other.
    await ask(other, 'POST', `/v1/orders/${String(theirs.body.orderId)}/cancel`);
    expect((await ask(token, 'GET', `/v1/orders/${String(mine.body.orderId)}`)).body.status).toBe('ACTIVE');
    const again = await ask(
      OWNER,
      'POST',
      '/v1/simulations/import',
      await exported(body.simulationId as string),
    );
    expect(await outcome(again.body.simulationId as string)).toMatchObject({ status: 'READY' });
  });

  it('includes its snapshots, whose hashes are recomputed', async () => {
    const { id, token, portfolioId } = await furnished();
    const taken = await ask(OWNER, 'POST', `/v1/simulations/${id}/snapshots`, { name: 'fixture' });
    await ask(token, 'POST', '/v1/orders', order(portfolioId, 70));
    const snapshots = async (of: string): Promise<Body[]> =>
      (await ask(OWNER, 'GET', `/v1/simulations/${of}/snapshots`)).body.data as Body[];
    const file = (await exported(id)).replace(/\\"stateHash\\":\\"\w+\\"/, '\\"stateHash\\":\\"0\\"');
    const { body } = await ask(OWNER, 'POST', '/v1/simulations/import', sealed(linesOf(file)));
    const other = body.simulationId as string;
    expect(await outcome(other)).toMatchObject({ status: 'READY' });
    const { snapshotId } = taken.body;
    const fork = await ask(OWNER, 'POST', `/v1/simulations/${other}/forks`, { from: { snapshotId } });
    expect(fork.status).toBe(201);
    await expect
      .poll(() => snapshots(other), { timeout: 10_000 })
      .toEqual([{ ...taken.body, simulationId: other, stateHash: fork.body.stateHash as string }]);
  });

  it('is available at every moment of its import', async () => {
    const file = await exported((await furnished()).id);
    for (let count = 0; count < 10; count += 1) {
      const { body } = await ask(OWNER, 'POST', '/v1/simulations/import', file);
      // Many readers: one of them is served in the turn in which the import completes.
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, () => outcome(body.simulationId as string)),
      );
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['READY']));
    }
  });

  it('is not available to another tenant or for main', async () => {
    const { id } = await furnished();
    expect((await ask(tokenOf('stranger'), 'GET', `/v1/simulations/${id}/export`)).status).toBe(404);
    expect((await ask(OWNER, 'GET', '/v1/simulations/main/export')).status).toBe(409);
  });
});

describe('A damaged export file', () => {
  it.each<[string, (file: string) => string]>([
    ['empty', () => ''],
    ['cut short in the midst of a line', (file) => file.slice(0, -200)],
    ['cut short between two lines', (file) => `${linesOf(file).slice(0, -1).join('\n')}\n`],
    [
      'without a record',
      (file) =>
        linesOf(file)
          .filter((line) => !line.startsWith('{"seq":3,'))
          .join('\n'),
    ],
    ['with a byte changed', (file) => file.replace('"limitPrice":', '"limitprice":')],
    ['with two records changed about', (file) => file.replace('{"seq":2,', '{"seq":9,')],
    ['with more behind its end', (file) => `${file}{"seq":1}\n`],
    ['of a newer version', (file) => file.replace('"format":2', '"format":3')],
    ['no export at all', () => '{"hello":"world"}\n'],
    [
      'a start after the last instant of a clock',
      (file) => sealed(linesOf(file).map((line) => line.replace(/"start":\d+/, '"start":253402300799000'))),
    ],
    ['not JSON', () => 'hello\n'],
  ])('is refused: %s', async (_, damage) => {
    const { id } = await furnished();
    const before = (await ask(OWNER, 'GET', '/v1/simulations?limit=500')).body.pagination.total as number;
    const { status, body } = await ask(OWNER, 'POST', '/v1/simulations/import', damage(await exported(id)));
    expect(status).toBe(400);
    expect(body.message).toMatch(/^The file cannot be imported: line \d+: /);
    expect((await ask(OWNER, 'GET', '/v1/simulations?limit=500')).body.pagination.total).toBe(before);
    expect(readdirSync(join(folder, 'imports'))).toEqual([]);
  });

  it.each<[string, RegExp, (lines: string[]) => string[]]>([
    [
      'an order of another price',
      /^record \d+: event 0 was/,
      (lines) => lines.map((line) => line.replace('"limitPrice":900000', '"limitPrice":910000')),
    ],
    [
      'a record that a reader could take for another',
      /form that it was exported in/,
      (lines) => lines.map((line) => line.replace('{"seq":2,"at":', '{"seq":2,"at":').replace(/\}$/, ' }')),
    ],
    [
      'an event that does not exist',
      /^record 2: /,
      (lines) =>
        lines.map((line) =>
          line.startsWith('{"seq":2,')
            ? line.replace(/"events":\[\{"type":"\w+"/, '"events":[{"type":"Nothing"')
            : line,
        ),
    ],
  ])('fails in verification where its hash was made to fit: %s', async (_, reason, change) => {
    const { id } = await furnished();
    const lines = linesOf(await exported(id));
    const changed = change(lines.slice(0, -1)).concat(lines.at(-1) ?? '');
    expect(changed).not.toEqual(lines);
    const { status, body } = await ask(OWNER, 'POST', '/v1/simulations/import', sealed(changed));
    expect(status).toBe(202);
    const over = await outcome(body.simulationId as string);
    expect(over.status).toBe('FAILED');
    expect(over.reason).toMatch(reason);
    expect((await ask(body.token as string, 'GET', '/v1/orders')).status).toBe(503);
    expect((await ask(OWNER, 'DELETE', `/v1/simulations/${String(body.simulationId)}`)).status).toBe(200);
  });
});

describe('An import', () => {
  it.each([
    ['a name that no export has', 'import', '{}'],
    ['a snapshot that is not JSON', `snapshot/${randomUUID()}`, 'x'],
    ['a snapshot under another id', `snapshot/${randomUUID()}`, JSON.stringify(snapshotOf(randomUUID(), 1))],
    ['a snapshot of a later record', `snapshot/${ID}`, JSON.stringify(snapshotOf(ID, 1_000_000))],
    ['a watchlist without symbols', `alpaca/${ID}/watchlists`, '[{"id":"a","name":"b"}]'],
    ['a configuration that is a list', `alpaca/${ID}/configuration`, '[]'],
  ])('is refused where the file has a setting that no server has written: %s', async (_, name, value) => {
    const { id } = await furnished();
    const [header = '', ...lines] = linesOf(await exported(id));
    const setting = JSON.stringify({ type: 'setting', name, value });
    const file = sealed([header, setting, ...lines]);
    const { status, body } = await ask(OWNER, 'POST', '/v1/simulations/import', file);
    expect(status, body.message as string).toBe(400);
    expect(body.message).toMatch(/^The file cannot be imported: line \d+: a (setting|snapshot) is /);
  });

  it('is 413 beyond IMPORT_MAX_BYTES, 415 for another content type', async () => {
    expect((await ask(OWNER, 'POST', '/v1/simulations/import', 'x'.repeat(MOST_BYTES + 1))).status).toBe(413);
    expect((await ask(OWNER, 'POST', '/v1/simulations/import', { a: 1 })).status).toBe(415);
    const empty = await ask(OWNER, 'POST', '/v1/simulations/import');
    expect([empty.status, empty.body.message]).toEqual([400, 'The file cannot be imported: it is empty']);
    expect((await ask(OWNER, 'POST', '/v1/orders', '{}\n')).status).toBe(415);
  });

  it.each(['application/json', 'text/plain', 'application/ndjson'])(
    'importSimulation: a file sent as %s is 415 and names the type',
    async (type) => {
      const { id } = await furnished();
      const headers = { authorization: `Bearer ${OWNER}`, 'content-type': type };
      const body = await exported(id);
      const answer = await fetch(`${url}/v1/simulations/import`, { method: 'POST', headers, body });
      expect([answer.status, await answer.json()]).toEqual([
        415,
        {
          statusCode: 415,
          message: 'Content-Type must be application/x-ndjson',
          error: 'Unsupported Media Type',
        },
      ]);
    },
  );

  it('counts as a simulation of the tier', async () => {
    const { id } = await furnished();
    const file = await exported(id);
    const basic = tokenOf('basic', 'BASIC');
    const statuses = [];
    for (let i = 0; i < 11; i += 1)
      statuses.push((await ask(basic, 'POST', '/v1/simulations/import', file)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 202), 403]);
  });

  it('deletes its file if the client disconnects', async () => {
    const { id } = await furnished();
    const file = await exported(id);
    const sending = request(`${url}/v1/simulations/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OWNER}`, 'content-type': 'application/x-ndjson' },
    });
    sending.on('error', () => undefined);
    sending.write(file.slice(0, 1000));
    while (readdirSync(join(folder, 'imports')).length === 0) await ask(OWNER, 'GET', '/v1/health');
    sending.destroy();
    while (readdirSync(join(folder, 'imports')).length > 0) await ask(OWNER, 'GET', '/v1/health');
  });

  it('continues after the server was killed, and ends with the deletion of the simulation', async () => {
    const { id, token, portfolioId } = await furnished();
    const before = await shown(token, portfolioId);
    const file = await exported(id);
    const kept = await ask(OWNER, 'POST', '/v1/simulations/import', file);
    const deleted = await ask(OWNER, 'POST', '/v1/simulations/import', file);
    expect((await ask(OWNER, 'DELETE', `/v1/simulations/${String(deleted.body.simulationId)}`)).status).toBe(
      200,
    );
    server.child.kill('SIGKILL');
    await server.exited;
    server = ServerProcess.launch(settings());
    url = await server.listening;
    expect(await outcome(kept.body.simulationId as string)).toMatchObject({ status: 'READY' });
    expect(await shown(kept.body.token as string, portfolioId)).toEqual(before);
    expect((await ask(OWNER, 'GET', `/v1/simulations/${String(deleted.body.simulationId)}`)).status).toBe(
      404,
    );
    while (readdirSync(join(folder, 'imports')).length > 0) await ask(OWNER, 'GET', '/v1/health');
  });
});
