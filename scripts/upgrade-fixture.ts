/**
 * Writes the fixture of the version of this checkout to `test/upgrades/VERSION`: the files of a data directory, an export, and views that every
 * later version must show (D205). Run it once for each release: `npx tsx scripts/upgrade-fixture.ts`, after `npm run build`.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { ACCOUNT, orderBody } from '../packages/server/src/testing/test-app.js';
import {
  type Ask,
  asking,
  type Expected,
  GTC_AT_90,
  settingsOf,
  tokenOf,
  viewsOf,
} from '../test/upgrades/requests.js';

/** Files that a server makes again, and those of one start. */
const LEFT_OUT = /^(?:reserve|lock\.db|operator\.json|demo-credentials\.json)$|-(?:wal|shm)$/;
const BOOKS = ['every-status', 'options-desk'];

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const into = join(root, 'test/upgrades', version);
const store = (name: string, content: string | Uint8Array): void => {
  mkdirSync(dirname(join(into, name)), { recursive: true });
  writeFileSync(join(into, `${name}.gz`), gzipSync(content, { level: 9 }));
};

rmSync(into, { recursive: true, force: true });
await inDirectory(async (directory) => {
  const server = ServerProcess.launch(settingsOf(directory));
  const ask = asking(await server.listening, tokenOf('main'));
  const portfolioId = await fillMain(ask);
  const others: Expected['others'][number][] = [];
  for (const book of BOOKS) others.push(await fillAnother(ask, await server.listening, book));
  const [first, last] = others;
  if (first === undefined || last === undefined) throw new Error('no books');
  await ask('POST', `/v1/simulations/${first.simulationId}/forks`, {});
  await ask('POST', '/v1/webhooks', { url: 'http://127.0.0.1:1025/', events: ['order.*'] });
  const expected: Expected = { portfolioId, views: await viewsOf(ask, portfolioId), others };
  store('expected.json', JSON.stringify(expected));
  store('export.ndjson', String(await ask('GET', `/v1/simulations/${last.simulationId}/export`)));
  const { code } = await server.end('SIGTERM');
  if (code !== 0) throw new Error(server.lastLines);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !LEFT_OUT.test(entry.name))
      store(join('data', path.slice(directory.length + 1)), readFileSync(path));
  }
});

/** A margin portfolio in the market that all tenants share, with shares, a resting spread and a resting order. */
async function fillMain(ask: Ask): Promise<string> {
  const quotes = [
    { symbol: 'AAPL', bid: 154, ask: 156 },
    { symbol: 'AAPL260116C00150000', bid: 7, ask: 7.4 },
    { symbol: 'AAPL260116C00160000', bid: 2, ask: 2.2 },
  ];
  await ask('PUT', '/v1/simulation/quotes', { quotes });
  const { portfolioId } = (await ask('POST', '/v1/accounts/portfolios', {
    accountId: ACCOUNT,
    portfolioType: 'MARGIN',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: 50_000,
  })) as { readonly portfolioId: string };
  await ask('POST', '/v1/orders', orderBody(portfolioId, { limitPrice: 157, quantity: 30 }));
  await ask('POST', '/v1/orders', orderBody(portfolioId, GTC_AT_90));
  const spread = {
    assetClass: 'OPTION',
    limitPrice: 3,
    quantity: 2,
    timeInForce: 'GTC',
    strategy: 'VERTICAL_SPREAD',
    legs: [
      { optionSymbol: 'AAPL260116C00150000', positionIntent: 'BUY_TO_OPEN', quantity: 2 },
      { optionSymbol: 'AAPL260116C00160000', positionIntent: 'SELL_TO_OPEN', quantity: 2 },
    ],
  };
  await ask('POST', '/v1/orders', orderBody(portfolioId, spread));
  await ask('POST', '/v1/simulation/clock/advance', { by: 'P2D' });
  return portfolioId;
}

/** A simulation of its own, filled with a book. */
async function fillAnother(ask: Ask, url: string, book: string): Promise<Expected['others'][number]> {
  const { simulationId, token } = (await ask('POST', '/v1/simulations', {
    name: book,
    feed: 'synthetic',
    clock: 'manual',
    start: '2026-01-05T10:00:00-05:00',
    seed: 7,
  })) as { readonly simulationId: string; readonly token: string };
  const own = asking(url, token);
  await own('POST', '/v1/simulation/fixtures', { name: book });
  const { data } = (await own('GET', '/v1/orders')) as {
    readonly data: readonly { readonly portfolioId: string }[];
  };
  const portfolioId = data[0]?.portfolioId ?? '';
  return { simulationId, portfolioId, views: await viewsOf(own, portfolioId) };
}
