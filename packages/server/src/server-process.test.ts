import { DatabaseSync } from '@photostructure/sqlite';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings } from './config.js';
import { EXIT } from './exit-codes.js';
import { cashPortfolioBody, restingOrderBody } from './testing/request-bodies.js';
import { credentialsIn, inDirectory, ServerProcess } from './testing/server-process.js';

const SETTINGS = { MARKET_FEED: 'push', MARKET_CALENDAR: 'always-open', RATE_LIMIT_DEFAULT: '1000000' };

/** Error output of a start that must fail: the problem, and no stack. */
async function refusedStart(
  settings: Readonly<Record<string, string>>,
  code: number | RegExp,
): Promise<string> {
  const server = ServerProcess.launch(settings);
  const exit = await server.exited;
  expect(String(exit.code)).toMatch(new RegExp(`^(${typeof code === 'number' ? code : code.source})$`));
  expect(server.out).toEqual([]);
  expect(server.err[0]).toMatch(/^sandpit: /);
  expect(server.err.filter((line) => /^\s+at /.test(line))).toEqual([]);
  return server.err.join('\n');
}

interface Api {
  readonly baseUrl: string;
  readonly token: string;
}

function send(api: Api, method: string, path: string, body?: object): Promise<Response> {
  return fetch(api.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${api.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function openPortfolio(api: Api, number = 1): Promise<string> {
  const response = await send(
    api,
    'POST',
    '/v1/accounts/portfolios',
    cashPortfolioBody({ accountId: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}` }),
  );
  expect(response.status).toBe(201);
  return ((await response.json()) as { readonly portfolioId: string }).portfolioId;
}

/** A data directory as a server leaves it that was stopped after an order. */
async function usedDirectory(directory: string): Promise<void> {
  const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: directory });
  const api = { baseUrl: await server.listening, token: credentialsIn(directory).token };
  const portfolioId = await openPortfolio(api);
  const quotes = [{ symbol: 'MSFT', bid: 1, ask: 2 }];
  expect((await send(api, 'PUT', '/v1/simulation/quotes', { quotes })).status).toBe(200);
  for (let i = 0; i < 20; i++) {
    expect((await send(api, 'POST', '/v1/orders', restingOrderBody(portfolioId))).status).toBe(201);
  }
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
}

describe('A server process', { timeout: 60_000 }, () => {
  it('locks its data directory: a second process is refused without an effect on the first', async () => {
    await inDirectory(async (directory) => {
      const settings = { ...SETTINGS, DATA_DIR: directory };
      const first = ServerProcess.launch(settings);
      try {
        const api = { baseUrl: await first.listening, token: credentialsIn(directory).token };
        expect(await refusedStart(settings, EXIT.IN_USE)).toBe(
          `sandpit: Another process uses the data directory ${directory}`,
        );
        expect((await fetch(`${api.baseUrl}/v1/health`)).status).toBe(200);
        await openPortfolio(api);
      } finally {
        await first.end('SIGTERM');
      }
    });
  });

  it('writes no key, token or login link to a standard output that is not a terminal', async () => {
    await inDirectory(async (directory) => {
      const settings = { ...SETTINGS, LOG_LEVEL: 'info', DATA_DIR: directory };
      for (const start of ['first', 'next']) {
        const server = ServerProcess.launch(settings);
        await server.listening;
        const { apiKey, token, loginLink } = credentialsIn(directory);
        expect(await server.end('SIGTERM')).toEqual({ code: EXIT.STOPPED, signal: null });
        const printed = [...server.out, ...server.err].join('\n');
        if (start === 'first')
          expect(printed).toContain(`its API key is in ${join(directory, 'demo-credentials.json')}`);
        expect(printed).not.toMatch(/sp_[\w-]{43}|eyJ[\w-]+\.|#\/login\//);
        for (const secret of [apiKey, token, loginLink])
          if (secret !== undefined) expect(printed).not.toContain(secret);
      }
    });
  });

  it('answers 503 at /v1/ready to new connections during DRAIN_MS', async () => {
    await inDirectory(async (directory) => {
      const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: directory, DRAIN_MS: '1500' });
      const baseUrl = await server.listening;
      const ready = async (): Promise<{ status: number; body: unknown }> => {
        const response = await fetch(`${baseUrl}/v1/ready`, { headers: { connection: 'close' } });
        return { status: response.status, body: await response.json() };
      };
      expect((await ready()).status).toBe(200);
      const began = performance.now();
      server.child.kill('SIGTERM');
      let answer = await ready();
      while (answer.status === 200) answer = await ready();
      for (let i = 0; i < 3; i++) {
        expect(answer).toMatchObject({
          status: 503,
          body: { status: 'error', reasons: ['the server is stopping'] },
        });
        answer = await ready();
      }
      expect(await server.exited).toEqual({ code: EXIT.STOPPED, signal: null });
      expect(performance.now() - began).toBeGreaterThanOrEqual(1500);
    });
  });

  it('drains on SIGTERM: acknowledged orders exist after a restart', async () => {
    await inDirectory(async (directory) => {
      const settings = { ...SETTINGS, DATA_DIR: directory };
      let server = ServerProcess.launch(settings);
      let api: Api = { baseUrl: await server.listening, token: credentialsIn(directory).token };
      const acknowledged: string[] = [];
      const refusals = new Set<number>();
      let isUnderLoad: () => void = () => undefined;
      const underLoad = new Promise<void>((resolve) => (isUnderLoad = resolve));
      const trade = async (number: number): Promise<void> => {
        const portfolioId = await openPortfolio(api, number);
        for (;;) {
          // The end of the connection is the end of the server.
          const response = await send(api, 'POST', '/v1/orders', restingOrderBody(portfolioId)).catch(
            () => undefined,
          );
          if (response === undefined) return;
          const body = (await response.json()) as { readonly orderId: string };
          if (response.status !== 201) {
            refusals.add(response.status);
            return;
          }
          acknowledged.push(body.orderId);
          if (acknowledged.length === 200) isUnderLoad();
        }
      };
      const trading = Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(trade));
      await underLoad;
      const began = performance.now();
      const exit = await server.end('SIGTERM');
      expect(performance.now() - began).toBeLessThan(10_000);
      expect(exit).toEqual({ code: 0, signal: null });
      await trading;
      // Refused clients get Retry-After.
      expect([...refusals].filter((status) => status !== 503)).toEqual([]);

      server = ServerProcess.launch(settings);
      try {
        api = { ...api, baseUrl: await server.listening };
        const statuses = await Promise.all(
          acknowledged.map(async (orderId) => (await send(api, 'GET', `/v1/orders/${orderId}`)).status),
        );
        expect(statuses.filter((status) => status !== 200)).toEqual([]);
      } finally {
        await server.end('SIGTERM');
      }
    });
  });

  it('refuses to start on a journal without all acknowledged records', async () => {
    await inDirectory(async (directory) => {
      await usedDirectory(directory);
      const settings = { ...SETTINGS, DATA_DIR: directory };
      const path = join(directory, 'journal.db');
      const whole = readFileSync(path);
      const mark = readFileSync(join(directory, 'journal.mark'));
      const restore = (): void => {
        writeFileSync(path, whole);
        writeFileSync(join(directory, 'journal.mark'), mark);
      };
      const damages: readonly [RegExp, () => void][] = [
        [/is missing or empty: \d+ commits had been acknowledged/, () => rmSync(path)],
        [
          /Records? \d+.* of market (is|are) damaged/,
          () =>
            change(
              path,
              "UPDATE block SET data = CAST(replace(data, '1', '2') AS BLOB) WHERE simulation = 1",
            ),
        ],
        [/another program/, () => foreign(path)],
      ];
      for (const [message, damage] of damages) {
        restore();
        // A checkpoint would let recovery begin behind the damage: here it has to read everything.
        rmSync(join(directory, 'checkpoints'), { recursive: true, force: true });
        damage();
        expect(await refusedStart(settings, /65|78|71/)).toMatch(message);
      }
      restore();
      const server = ServerProcess.launch(settings);
      await server.listening;
      expect((await server.end('SIGTERM')).code).toBe(0);
    });
  });

  it('starts with a damaged journal of one tenant, whose simulation is out of service', async () => {
    await inDirectory(async (directory) => {
      await usedDirectory(directory);
      rmSync(join(directory, 'checkpoints'), { recursive: true, force: true });
      change(
        join(directory, 'journal.db'),
        "UPDATE block SET data = CAST(replace(data, '1', '2') AS BLOB) WHERE simulation = 2",
      );
      const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: directory });
      const api = { baseUrl: await server.listening, token: credentialsIn(directory).token };
      expect((await send(api, 'GET', '/v1/portfolios')).status).toBe(503);
      expect((await send(api, 'GET', '/v1/simulation/clock')).status).toBe(200);
      expect((await server.end('SIGTERM')).code).toBe(0);
    });
  });

  it('refuses to start with a wrong setting, and names it', async () => {
    await inDirectory(async (directory) => {
      const wrong: readonly [Readonly<Record<string, string>>, RegExp][] = [
        [{ MARKET_FEED: 'psychic' }, /MARKET_FEED must be one of synthetic, replay, push/],
        [{ BROKERS_FILE: join(directory, 'none.json') }, /none\.json/],
        [{ MARKET_FEED: 'replay', REPLAY_PATH: join(directory, 'nowhere') }, /nowhere/],
      ];
      for (const [settings, message] of wrong) {
        expect(await refusedStart({ DATA_DIR: join(directory, 'data'), ...settings }, /78|71/)).toMatch(
          message,
        );
      }
    });
    const read = (name: string, value: string): unknown => readSettings({ [name]: value });
    expect(() => read('PORT', 'http')).toThrow('PORT must be an integer from 0 to 65535');
    expect(() => read('JWT_SECRET', 'short')).toThrow('JWT_SECRET must be at least 32 bytes');
    expect(() => read('CLOCK_START', 'yesterday')).toThrow(
      'CLOCK_START must be an ISO 8601 date or a timestamp with a zone',
    );
    expect(() => read('INITIAL_CASH', '-5')).toThrow('INITIAL_CASH must be a positive number of dollars');
    expect(() => read('DATABASE_URL', 'mysql://127.0.0.1/x')).toThrow('DATABASE_URL must be postgres://');
  });

  it('refuses arguments, which it would ignore otherwise', async () => {
    await inDirectory(async (directory) => {
      const server = ServerProcess.launch({ DATA_DIR: directory }, undefined, undefined, ['--port', '1']);
      expect((await server.exited).code).toBe(78);
      expect(server.err).toEqual([
        'sandpit: --port: the server has no arguments; settings are environment variables (PORT=8080 npm start)',
      ]);
    });
  });

  it('reports a port in use', async () => {
    await inDirectory(async (directory) => {
      const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: join(directory, 'first') });
      try {
        const { port } = new URL(await server.listening);
        const said = await refusedStart(
          { ...SETTINGS, DATA_DIR: join(directory, 'second'), PORT: port },
          EXIT.SYSTEM,
        );
        expect(said).toMatch(/EADDRINUSE/);
      } finally {
        await server.end('SIGTERM');
      }
    });
  });
});

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

function foreign(path: string): void {
  rmSync(path);
  change(path, 'CREATE TABLE bookmarks (url TEXT)');
}
