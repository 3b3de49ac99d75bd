/** Files of simulations that a hostile tenant has written (D233), against a server on a data directory. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ACCOUNT, orderBody, signToken } from '../testing/test-app.js';
import type { Body } from '../testing/test-app.js';
import { ServerProcess } from '../testing/server-process.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';

let folder: string;
let server: ServerProcess;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-hostile-files-'));
  server = ServerProcess.launch({
    DATA_DIR: folder,
    JWT_SECRET,
    MARKET_FEED: 'push',
    MARKET_CLOCK: 'manual',
    CLOCK_START: '2026-01-05T10:00:00-05:00',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_DEFAULT: '1000000',
  });
  url = await server.listening;
});
afterAll(async () => {
  server.child.kill('SIGKILL');
  await server.exited;
  rmSync(folder, { recursive: true });
});

const tokenOf = (tenantId: string): string => {
  const iat = Math.floor(Date.now() / 1000);
  const scope = 'trade read simulate admin';
  return signToken({
    sub: tenantId,
    tier: 'ENTERPRISE',
    scope,
    iat,
    exp: iat + 3600,
    iss: 'sandpit',
    aud: 'sandpit',
  });
};
const VICTIM = tokenOf('victim');
const ATTACKER = tokenOf('attacker');

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

/** A simulation with a portfolio and an open order. */
async function traded(owner: string): Promise<{ id: string; token: string; portfolioId: string }> {
  const created = await ask(owner, 'POST', '/v1/simulations', {
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
  await ask(token, 'POST', '/v1/orders', orderBody(portfolioId, { limitPrice: 90 }));
  return { id, token, portfolioId };
}

async function forkOf(owner: string, id: string): Promise<{ id: string; token: string }> {
  const { body } = await ask(owner, 'POST', `/v1/simulations/${id}/forks`, {});
  return { id: body.simulationId as string, token: body.token as string };
}

const exported = async (owner: string, id: string): Promise<string[]> =>
  (await ask(owner, 'GET', `/v1/simulations/${id}/export`)).text.trimEnd().split('\n');

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The lines as a file, with the hash that they have. */
function sealed(lines: readonly string[]): string {
  const hash = lines.slice(0, -1).reduce((before, line) => digestOf(before + line), '');
  const records = lines.filter((line) => line.startsWith('{"seq"')).length;
  return `${[...lines.slice(0, -1), JSON.stringify({ type: 'trailer', records, hash })].join('\n')}\n`;
}

/** The file with another header. */
function withHeader(lines: readonly string[], change: (config: Body) => void): string {
  const header = JSON.parse(lines[0] ?? '') as { config: Body };
  change(header.config);
  return sealed([JSON.stringify(header), ...lines.slice(1)]);
}

const imported = (file: string): Promise<Answer> => ask(ATTACKER, 'POST', '/v1/simulations/import', file);

const outcome = (id: string): Promise<Body> =>
  vi.waitUntil(
    async () => {
      const { body } = await ask(ATTACKER, 'GET', `/v1/simulations/${id}`);
      return body.status !== 'IMPORTING' && body;
    },
    { timeout: 60_000, interval: 20 },
  );

const IS_LISTED = /no record of the file names the list/;

describe('An import of a hostile file', () => {
  it('begins with its own records where the header names another tenant’s simulation as the parent', async () => {
    const victim = await traded(VICTIM);
    // The state at the fork is in memory from here on.
    await forkOf(VICTIM, victim.id);
    const records = (await exported(VICTIM, victim.id)).filter((line) => line.startsWith('{"seq"')).length;
    const own = await traded(ATTACKER);
    const lines = await exported(ATTACKER, (await forkOf(ATTACKER, own.id)).id);
    const file = withHeader(lines, (config) => {
      config.fork = { ...(config.fork as object), parentId: victim.id, sequence: records };
    });
    const { status, body } = await imported(file);
    expect(status, body.message as string).toBe(202);
    const over = await outcome(body.simulationId as string);
    expect([over.status, over.importedFrom, over.parent]).toEqual(['READY', victim.id, undefined]);
    const seen = async (portfolioId: string): Promise<number> =>
      (await ask(body.token as string, 'GET', `/v1/accounts/portfolios/${portfolioId}`)).status;
    expect([await seen(own.portfolioId), await seen(victim.portfolioId)]).toEqual([200, 404]);
  });

  it('is refused where a list of rules is not named, not its digest’s, or there twice', async () => {
    const lines = await exported(ATTACKER, (await traded(ATTACKER)).id);
    const list = (text: string, digest = digestOf(text)): string =>
      JSON.stringify({ type: 'list', digest, text });
    const brokers = lines.find((line) => line.startsWith('{"type":"list"')) ?? '';
    for (const [more, message] of [
      [list('[]'), IS_LISTED],
      [list('[]', 'ab'.repeat(32)), /has another digest/],
      [brokers, /there twice/],
    ] as const) {
      const { status, body } = await imported(sealed([...lines.slice(0, 1), more, ...lines.slice(1)]));
      // A list that is there twice is found at the second one.
      expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
    }
  });

  it('leaves lists of other rules with the simulation, its forks and its exports alone', async () => {
    const lines = await exported(ATTACKER, (await traded(ATTACKER)).id);
    const brokers = lines.findIndex((line) => line.startsWith('{"type":"list"'));
    const { digest, text } = JSON.parse(lines[brokers] ?? '') as { digest: string; text: string };
    const other = text.replace('"name":"', '"name":"Other ');
    const changed = lines.map((line, index) =>
      index === brokers
        ? JSON.stringify({ type: 'list', digest: digestOf(other), text: other })
        : line.replaceAll(digest, digestOf(other)),
    );
    const { body } = await imported(sealed(changed));
    const id = body.simulationId as string;
    expect(await outcome(id)).toMatchObject({ status: 'READY' });
    const fork = await forkOf(ATTACKER, id);
    expect((await ask(ATTACKER, 'DELETE', `/v1/simulations/${id}`)).status).toBe(200);
    expect((await exported(ATTACKER, fork.id)).join('\n')).toContain(digestOf(other));
    // A file that names the list without having it is not imported, whatever the server knows.
    const without = await imported(sealed(changed.filter((_, index) => index !== brokers)));
    expect(await outcome(without.body.simulationId as string)).toMatchObject({
      status: 'FAILED',
      reason: expect.stringContaining(`the list ${digestOf(other)}`),
    });
  });

  it.each<[string, unknown]>([
    ['unknown', [{}]],
    ['__proto__', {}],
    ['luld', 'yes'],
    ['scripts', 1],
    ['liveRecording', true],
    ['feed', 'live'],
    ['clock', 'sundial'],
    ['start', 1e18],
    ['seed', -1],
    ['idSecret', '../../secret'],
    ['draw', 5],
    ['name', '\u2800'],
    ['name', 'a\u0000'],
    ['name', '\u001b[31mred'],
    ['speed', 60],
    ['ttl', { text: 'PT1H', ms: 1 }],
    ['mask', { key: 'ab'.repeat(16), weeks: 0, symbols: true, prices: true }],
    ['replay', { symbols: ['AAPL'] }],
    ['replay', { symbols: Array.from({ length: 501 }, () => 'AAPL') }],
    ['rules', { brokers: 'x' }],
    ['fork', { parentId: 'main' }],
  ])('is 400 and names the field: %s', async (field, value) => {
    const lines = await exported(ATTACKER, (await traded(ATTACKER)).id);
    const header = (lines[0] ?? '').replace(
      '"config":{',
      `"config":{${JSON.stringify(field)}:${JSON.stringify(value)},`,
    );
    const file = sealed([
      // The first of two equal names does not count.
      JSON.stringify(
        JSON.parse(header, function (this: unknown, name: string, given: unknown) {
          return name === field && (this as Body).rules !== undefined ? value : given;
        }),
      ).replace('"config":{', field === '__proto__' ? '"config":{"__proto__":{},' : '"config":{'),
      ...lines.slice(1),
    ]);
    const { status, body } = await imported(file);
    expect([status, body.message]).toEqual([400, expect.stringContaining(field)]);
    expect(body.message).toMatch(/^The file cannot be imported: line 1: /);
  });

  it('is refused beyond the limits of lines, depth, parts and snapshots, and leaves nothing behind', async () => {
    const lines = await exported(ATTACKER, (await traded(ATTACKER)).id);
    const [header = '', ...rest] = lines;
    const snapshot = (n: number): string => {
      const snapshotId = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
      const value = JSON.stringify({ snapshotId, at: 0, sequence: 1, createdAt: n });
      return JSON.stringify({ type: 'setting', name: `snapshot/${snapshotId}`, value });
    };
    const record = (payload: string): string[] => [
      ...lines.slice(0, -1),
      `{"seq":${lines.filter((line) => line.startsWith('{"seq"')).length + 1},"at":1767625200000,"command":${payload},"events":[]}`,
      lines.at(-1) ?? '',
    ];
    const listOf = (text: string): string => JSON.stringify({ type: 'list', digest: digestOf(text), text });
    const deep = '['.repeat(100) + ']'.repeat(100);
    const wide = `[${'{},'.repeat(300_000)}{}]`;
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [
        [header.replace('{', `{"x":"${'x'.repeat(300_000)}",`), ...rest],
        /: line 1: a line has more than 262144 bytes/,
      ],
      [[header.replace(/\}$/, `,"x":[${'{},'.repeat(50_000)}{}]}`), ...rest], /x of the header/],
      [[header, ...Array.from({ length: 1001 }, (_, n) => snapshot(n)), ...rest], /at most 1,000 snapshots/],
      [
        [header, ...Array.from({ length: 2001 }, (_, n) => listOf(String(n))), ...rest],
        /at most 2,000 lists of rules/,
      ],
      [record(`{"type":"MoveClock","x":${deep}}`), /nested more than 64 levels/],
      [record(`{"type":"MoveClock","x":${wide}}`), /more than 250,000 objects/],
      [record(`{"type":"MoveClock","x":"${'x'.repeat(9_000_000)}"}`), /line has more than 8388608 bytes/],
    ];
    const before = (await ask(ATTACKER, 'GET', '/v1/simulations?limit=500')).body.pagination.total as number;
    const began = performance.now();
    const answers = await Promise.all(cases.map(([changed]) => imported(sealed(changed))));
    expect(answers.map(({ status }) => status)).toEqual(cases.map(() => 400));
    for (const [index, [, message]] of cases.entries()) expect(answers[index]?.body.message).toMatch(message);
    expect(performance.now() - began).toBeLessThan(60_000);
    expect((await ask(ATTACKER, 'GET', '/v1/simulations?limit=500')).body.pagination.total).toBe(before);
    expect(readdirSync(join(folder, 'imports'))).toEqual([]);
  });

  it.each([
    ['before its record', { at: 0 }],
    ['before 1970', { at: -1 }],
    ['after 2199', { at: 8.64e15 }],
    ['made after the year 9999', { createdAt: 9e15 }],
    ['without a visible name', { name: '' }],
    ['with a name of control characters', { name: 'a\u0007' }],
  ])('is refused with a snapshot %s', async (_, wrong) => {
    const [header = '', ...rest] = await exported(ATTACKER, (await traded(ATTACKER)).id);
    const snapshotId = '00000000-0000-4000-8000-000000000001';
    const good = {
      snapshotId,
      name: 'good',
      at: Date.parse('2026-01-05T16:00:00Z'),
      sequence: 1,
      createdAt: 1,
    };
    const result = async (snapshot: object): Promise<string> => {
      const value = JSON.stringify(snapshot);
      const setting = JSON.stringify({ type: 'setting', name: `snapshot/${snapshotId}`, value });
      const { status, body } = await imported(sealed([header, setting, ...rest]));
      if (status === 400) return body.message as string;
      const { status: last, reason } = await outcome(body.simulationId as string);
      return String(reason ?? last);
    };
    expect(await result(good)).toBe('READY');
    expect(await result({ ...good, ...wrong })).toContain('snapshot');
  });

  describe('with a record that re-execution does not prove', () => {
    let lines: string[];
    beforeAll(async () => {
      lines = await exported(ATTACKER, (await traded(ATTACKER)).id);
    });

    type Parts = Record<string, unknown> & { command: Body; events: Body[]; at: number };
    /** The lines with the record of this command changed. */
    const changed = (type: string, change: (parts: Parts) => object): string[] =>
      lines.map((line) => {
        if (!line.startsWith(`{"seq"`) || !line.includes(`"command":{"type":"${type}"`)) return line;
        return JSON.stringify(change(JSON.parse(line) as Parts));
      });
    const between = ({ seq, at, command, events }: Parts, more: object): object => ({
      ...{ seq, at, command },
      ...more,
      events,
    });
    /** The lines with one more record. */
    const added = (command: object, events: readonly object[]): string[] => {
      const records = lines.filter((line) => line.startsWith('{"seq"'));
      const { at } = JSON.parse(records.at(-1) ?? '') as Parts;
      const record = JSON.stringify({ seq: records.length + 1, at, command, events });
      return [...lines.slice(0, -1), record, lines.at(-1) ?? ''];
    };
    const quoteOf = (symbol: string, more: object = {}): object => ({
      symbol,
      bid: 1,
      ask: 2,
      at: 1,
      ...more,
    });
    const list = '{"brokers":';
    const cases: readonly (readonly [string, () => readonly string[], RegExp])[] = [
      ['an unknown command', () => added({ type: 'Rob' }, []), /record \d+ has no events/],
      ['a known command', () => added({ type: 'JudgeEntry' }, []), /record \d+ has no events/],
      [
        'an unknown command and events',
        () => added({ type: 'Rob' }, [{ type: 'ClockMoved', now: 1 }]),
        /unknown command/,
      ],
      [
        'a command of a name that every object has',
        () => added({ type: 'constructor' }, [{ type: 'ClockMoved', now: 1 }]),
        /unknown command/,
      ],
      [
        'an unknown field of its command',
        () => changed('OpenPortfolio', (parts) => ({ ...parts, command: { ...parts.command, x: 1 } })),
        /OpenPortfolio has no field x/,
      ],
      [
        'a position in a market that the simulation does not follow',
        () => changed('OpenPortfolio', (parts) => between(parts, { market: 1 })),
        /market of record \d+ is not usable here/,
      ],
      [
        'a quote that its decision does not read',
        () => changed('OpenPortfolio', (parts) => between(parts, { quotes: [quoteOf('MSFT')] })),
        /re-execution does not read the quote of MSFT/,
      ],
      [
        'an unknown field of a quote',
        () => changed('SubmitOrder', (parts) => between(parts, { quotes: [quoteOf('AAPL', { x: 1 })] })),
        /x of quotes|quotes of record \d+ is not usable here/,
      ],
      [
        'no quotes in its list',
        () => changed('SubmitOrder', (parts) => between(parts, { quotes: [] })),
        /quotes of record \d+ is not usable here/,
      ],
      [
        'its parts in another order',
        () =>
          changed('SubmitOrder', ({ seq, at, command, events }) => ({
            seq,
            at,
            command,
            events,
            quotes: [quoteOf('AAPL')],
          })),
        /not in the form that it was exported in/,
      ],
      [
        'rules whose list is not JSON',
        () => {
          const header = JSON.parse(lines[0] ?? '') as { config: { rules: Body } };
          const before = header.config.rules.brokers as string;
          header.config.rules.brokers = digestOf(list);
          const others = lines.slice(1).filter((line) => !line.includes(`"digest":"${before}"`));
          const text = JSON.stringify({ type: 'list', digest: digestOf(list), text: list });
          return [JSON.stringify(header), text, ...others];
        },
        /not in the form that it was exported in/,
      ],
    ];
    it.each(cases)('%s: is refused, or fails with the reason', async (_, change, why) => {
      const made = change();
      expect(made).not.toEqual(lines);
      const { status, body } = await imported(sealed(made));
      if (status === 400) return expect(body.message).toMatch(why);
      expect(status).toBe(202);
      const over = await outcome(body.simulationId as string);
      expect([over.status, over.reason]).toEqual(['FAILED', expect.stringMatching(why)]);
    });

    it('is imported where nothing is changed', async () => {
      const { body } = await imported(sealed(lines));
      expect((await outcome(body.simulationId as string)).status).toBe('READY');
    });
  });

  it('keeps the bytes of the file of a fork, also when its parent is deleted', async () => {
    const own = await traded(ATTACKER);
    const fork = await forkOf(ATTACKER, own.id);
    const lines = await exported(ATTACKER, fork.id);
    expect((await ask(ATTACKER, 'DELETE', `/v1/simulations/${own.id}`)).status).toBe(200);
    const { body } = await imported(sealed(lines));
    const id = body.simulationId as string;
    expect(await outcome(id)).toMatchObject({ status: 'READY', importedFrom: own.id });
    expect(
      (await ask(body.token as string, 'GET', `/v1/accounts/portfolios/${own.portfolioId}`)).status,
    ).toBe(200);
    const again = await exported(ATTACKER, id);
    expect(sealed([(again[0] ?? '').replace(id, fork.id), ...again.slice(1)])).toBe(sealed(lines));
  });
});
