/** Upgrades (D205): this version opens, verifies and trades on the data of every released version, and imports its export. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { inDirectory, ServerProcess } from '../../packages/server/src/testing/server-process.js';
import { orderBody } from '../../packages/server/src/testing/test-app.js';
import { type Ask, asking, type Expected, settingsOf, tokenOf, viewsOf } from './requests.js';

const released = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe.each(released)('data of version %s', (version) => {
  const folder = join(import.meta.dirname, version);
  const read = (name: string): Buffer => gunzipSync(readFileSync(join(folder, `${name}.gz`)));
  const expected = JSON.parse(read('expected.json').toString()) as Expected;

  function unpack(directory: string): void {
    for (const entry of readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const name = join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replace(/\.gz$/, '');
      const path = join(directory, name.slice('data/'.length));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, read(name));
    }
  }

  it('is opened, shown unchanged, traded on and imported', async () => {
    await inDirectory(async (directory) => {
      unpack(directory);
      const verified = ServerProcess.verify({}, directory);
      expect([await verified.exited, verified.out.at(-1), verified.err]).toEqual([
        { code: 0, signal: null },
        'sound',
        [],
      ]);
      let server = ServerProcess.launch(settingsOf(directory));
      try {
        let url = await server.listening;
        let ask = asking(url, tokenOf('main'));
        expect(await viewsOf(ask, expected.portfolioId)).toMatchObject(expected.views);
        expect(await ask('GET', '/v1/webhooks')).toMatchObject({
          data: [{ url: 'http://127.0.0.1:1025/', events: ['order.*'], status: 'ENABLED' }],
        });
        for (const { simulationId, portfolioId, views } of expected.others) {
          const own = await inside(ask, url, simulationId);
          expect(await viewsOf(own, portfolioId)).toMatchObject(views);
        }

        const { simulationId } = (await ask(
          'POST',
          '/v1/simulations/import',
          read('export.ndjson').toString(),
        )) as { readonly simulationId: string };
        await vi.waitUntil(async () => (await statusOf(ask, simulationId)) !== 'IMPORTING', {
          timeout: 20_000,
          interval: 10,
        });
        const last = expected.others.at(-1);
        const imported = await inside(ask, url, simulationId);
        expect(await viewsOf(imported, last?.portfolioId ?? '')).toMatchObject(last?.views ?? {});

        // The resting order of the fixture fills, and a new one.
        await ask('PUT', '/v1/simulation/quotes', { quotes: [{ symbol: 'AAPL', bid: 88, ask: 89 }] });
        await ask('POST', '/v1/orders', orderBody(expected.portfolioId, { quantity: 5 }));
        const positions = `/v1/accounts/portfolios/${expected.portfolioId}/equities`;
        expect(await ask('GET', positions)).toMatchObject([
          { symbol: 'AAPL', settledQuantity: 30, pendingQuantity: 25 },
        ]);
        const before = await viewsOf(ask, expected.portfolioId);

        await server.end('SIGKILL');
        server = ServerProcess.launch(settingsOf(directory));
        url = await server.listening;
        ask = asking(url, tokenOf('main'));
        expect(await viewsOf(ask, expected.portfolioId)).toEqual(before);
      } finally {
        await server.end('SIGKILL');
      }
    });
  });
});

/** Requests to a simulation of the tenant. */
async function inside(ask: Ask, url: string, simulationId: string): Promise<Ask> {
  const { token } = (await ask('POST', `/v1/simulations/${simulationId}/token`, {})) as {
    readonly token: string;
  };
  return asking(url, token);
}

const statusOf = async (ask: Ask, simulationId: string): Promise<string> =>
  ((await ask('GET', `/v1/simulations/${simulationId}`)) as { readonly status: string }).status;
