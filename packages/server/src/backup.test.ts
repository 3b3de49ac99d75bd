import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cashPortfolioBody, restingOrderBody } from './testing/request-bodies.js';
import { credentialsIn, inDirectory, ServerProcess } from './testing/server-process.js';

const SETTINGS = { MARKET_FEED: 'push', MARKET_CALENDAR: 'always-open', RATE_LIMIT_DEFAULT: '1000000' };

interface Api {
  readonly baseUrl: string;
  readonly token: string;
}

async function send(api: Api, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(api.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

const openPortfolio = async (api: Api): Promise<string> =>
  (
    (await send(api, 'POST', '/v1/accounts/portfolios', cashPortfolioBody())) as {
      readonly portfolioId: string;
    }
  ).portfolioId;

const numberOfOrders = async (api: Api, portfolioId: string): Promise<number> =>
  (
    (await send(api, 'GET', `/v1/orders/portfolio/${portfolioId}?limit=1`)) as {
      readonly pagination: { readonly total: number };
    }
  ).pagination.total;

describe('A backup', { timeout: 120_000 }, () => {
  it('of a server under load has every record acknowledged before it began, and a server starts from it', async () => {
    await inDirectory((home) =>
      inDirectory(async (away) => {
        const copy = join(away, 'copy');
        const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: home });
        const api = { baseUrl: await server.listening, token: credentialsIn(home).token };
        const portfolioId = await openPortfolio(api);
        let acknowledged = 0;
        let isLoaded = true;
        const clients = Array.from({ length: 8 }, async () => {
          while (isLoaded) {
            await send(api, 'POST', '/v1/orders', restingOrderBody(portfolioId));
            acknowledged += 1;
          }
        });
        await expect.poll(() => acknowledged, { timeout: 30_000 }).toBeGreaterThan(100);
        const before = acknowledged;
        const backup = ServerProcess.backup({ DATA_DIR: home }, copy);
        expect([await backup.exited, backup.err]).toEqual([{ code: 0, signal: null }, []]);
        expect(backup.out.at(-1)).toMatch(/has everything up to commit \d+/);
        const after = acknowledged;
        expect(after).toBeGreaterThan(before);
        isLoaded = false;
        await Promise.all(clients);
        await server.end('SIGTERM');

        expect(statSync(copy).mode & 0o777).toBe(0o700);
        for (const file of readdirSync(copy)) expect(statSync(join(copy, file)).mode & 0o077).toBe(0);
        // A restored backup is a copy in its own directory.
        const restored = join(away, 'restored');
        cpSync(copy, restored, { recursive: true });
        const verified = ServerProcess.verify(SETTINGS, restored);
        expect([await verified.exited, verified.err]).toEqual([{ code: 0, signal: null }, []]);
        const again = ServerProcess.launch({ ...SETTINGS, DATA_DIR: restored });
        const restoredApi = { baseUrl: await again.listening, token: api.token };
        const orders = await numberOfOrders(restoredApi, portfolioId);
        expect(orders).toBeGreaterThanOrEqual(before);
        expect(orders).toBeLessThanOrEqual(after + clients.length);
        await send(restoredApi, 'POST', '/v1/orders', restingOrderBody(portfolioId));
        expect(await numberOfOrders(restoredApi, portfolioId)).toBe(orders + 1);
        await again.end('SIGTERM');
      }),
    );
  });

  it('cannot be verified if its directory has no journal; the directory is not changed', async () => {
    await inDirectory(async (away) => {
      const nowhere = join(away, 'nowhere');
      const verified = ServerProcess.verify(SETTINGS, nowhere);
      expect(await verified.exited).toEqual({ code: 1, signal: null });
      expect(verified.err).toEqual([`${nowhere} is no data directory: it has no journal.db`]);
      expect(verified.out).toEqual([]);
      expect(readdirSync(away)).toEqual([]);
    });
  });

  it('is refused with a reason for a missing source, an unusable target and damaged data', async () => {
    await inDirectory((home) =>
      inDirectory(async (away) => {
        const refused = async (to: string): Promise<string> => {
          const backup = ServerProcess.backup({ DATA_DIR: home }, to);
          expect(await backup.exited).toEqual({ code: 1, signal: null });
          return backup.err.join('\n');
        };
        expect(await refused(join(away, 'a'))).toBe(`${home} has no journal.db: there is nothing to copy`);
        const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: home });
        const api = { baseUrl: await server.listening, token: credentialsIn(home).token };
        await openPortfolio(api);
        await server.end('SIGTERM');
        expect(await refused(home)).toMatch(/lies in the data directory/);
        expect(await refused(join(home, 'backups/today'))).toMatch(/lies in the data directory/);
        writeFileSync(join(away, 'a file'), '');
        expect(await refused(join(away, 'a file'))).toMatch(/is not empty/);
        expect(await refused(away)).toMatch(/is not empty/);
        const path = join(home, 'journal.db');
        const bytes = readFileSync(path);
        const at = bytes.indexOf('"command"');
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
        writeFileSync(path, bytes);
        expect(await refused(join(away, 'b'))).toMatch(/damaged/);
        // A failed backup leaves no files that look like a backup.
        expect(readdirSync(away)).toEqual(['a file']);
        expect(readdirSync(home)).not.toContain('backups');
      }),
    );
  });
});
