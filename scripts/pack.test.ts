/** The package that people install: put into an empty folder by npm, without a network, it does what the pages on how to use it say. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import ts from 'typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasPytest = hasPython && spawnSync('python3', ['-c', 'import pytest']).status === 0;

/** The blocks of code in Markdown, by language. */
const blocksIn = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , code = '']) => code);
const blocksOf = (page: string, language: string): string[] =>
  blocksIn(readFileSync(join(ROOT, 'docs/how-to', page), 'utf8'), language);

let folder: string;
let sandpit: string;
const env = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: `${join(folder, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`,
  ...more,
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-packed-'));
  const { stdout } = await run(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'scripts/pack.ts'), join(folder, 'packed')],
    { cwd: ROOT },
  );
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const words = ['install', ...stdout.trim().split('\n'), '--offline', '--no-audit', '--no-fund'];
  const { stderr } = await run(npm, words, { cwd: folder });
  expect(stderr).not.toMatch(/EBADENGINE|install-scripts|deprecated/);
  sandpit = join(folder, 'node_modules/sandpit-broker/packages/cli/dist/main.js');
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Bytes of the files in a folder. */
const sizeOf = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

it('the package: is one package and the SQLite of this platform, in 25 MB, without an install script', () => {
  const installed = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(installed).toHaveLength(2);
  expect(installed[0]).toBe('sandpit-broker');
  expect(installed[1]).toMatch(new RegExp(`^sandpit-broker-${process.platform}-${process.arch}(-musl)?$`));
  for (const name of installed)
    expect(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).not.toContain(
      '"scripts"',
    );
  expect(sizeOf(join(folder, 'node_modules'))).toBeLessThan(25e6);
});

it('the package: names the package of SQLite that is missing', async () => {
  const [binary = ''] = readdirSync(join(folder, 'node_modules')).filter((name) =>
    name.startsWith('sandpit-broker-'),
  );
  const installed = join(folder, 'node_modules', binary);
  renameSync(installed, join(folder, 'elsewhere'));
  try {
    await expect(
      run(process.execPath, [sandpit, 'up'], { cwd: folder, env: env({ PORT: '0' }) }),
    ).rejects.toThrow(`npm install sandpit-broker-${process.platform}-${process.arch}@`);
  } finally {
    renameSync(join(folder, 'elsewhere'), installed);
  }
});

it('the package: has the terms of everything that is in it, and a bill of materials', () => {
  const inside = join(folder, 'node_modules/sandpit-broker');
  const terms = readFileSync(join(inside, 'THIRD-PARTY.txt'), 'utf8');
  const bill = JSON.parse(readFileSync(join(inside, 'sbom.cdx.json'), 'utf8')) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: { readonly name: string; readonly licenses: unknown } };
    readonly components: readonly {
      readonly name: string;
      readonly version: string;
      readonly licenses: unknown;
    }[];
  };
  expect([bill.bomFormat, bill.metadata.component.name]).toEqual(['CycloneDX', 'sandpit-broker']);
  for (const { name, version, licenses } of bill.components) {
    expect(terms).toContain(`\n${name} ${version}\n`);
    expect(licenses, name).toHaveLength(1);
  }
  const names = bill.components.map(({ name }) => name);
  for (const name of [
    'fastify',
    '@photostructure/sqlite',
    'preact',
    'lightweight-charts',
    'vue',
    'minisearch',
  ])
    expect(names).toContain(name);
  for (const name of ['vitepress', 'vite', 'typescript', 'esbuild', 'rollup'])
    expect([name, names.includes(name)]).toEqual([name, name === 'vitepress']);
  expect(terms).toContain('\nswagger-ui');
  expect(readFileSync(join(inside, 'LICENSE'), 'utf8')).toContain('Apache License');
});

it('the package: has a README of its own, whose commands, programs and links work where it is installed', async () => {
  const text = readFileSync(join(folder, 'node_modules/sandpit-broker/README.md'), 'utf8');
  // Commands of a checkout.
  expect(text).not.toMatch(/npm (?:ci|start|run|test)|npx tsx/);
  const [starting = '', trading = ''] = blocksIn(text, 'sh');
  expect(starting).toBe('npm install sandpit-broker\nnpx sandpit up\n');
  await up({}, async () => {
    for (const line of trading.trim().split('\n')) {
      expect(line).toMatch(/^npx sandpit /);
      await type(...line.split(' ').slice(2));
    }
    for (const [code, printed] of [
      [blocksIn(text, 'js')[0], /^\d+(\.\d+)?\n$/],
      [blocksIn(text, 'js')[1], /^\d+(\.\d+)?\n$/],
      [blocksIn(text, 'js')[2], /^187\.5\n$/],
    ] as const) {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code ?? ''], {
        cwd: folder,
        env: env(),
      });
      expect(stdout).toMatch(printed);
    }
    const links = [...text.matchAll(/\]\(([^)]+)\)|<(http[^>]+)>/g)].map(
      ([, link, plain]) => link ?? plain ?? '',
    );
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) {
      expect(link).toMatch(/^http:\/\/127\.0\.0\.1:3000/);
      const there = link.replace('http://127.0.0.1:3000', credentials().baseUrl);
      expect([link, (await fetch(there, { headers: { accept: 'text/html' } })).status]).toEqual([link, 200]);
    }
    const [python = ''] = /node_modules\/\S+\.py/.exec(text) ?? [];
    expect(existsSync(join(folder, python))).toBe(true);
  });
}, 120_000);

it('the package: types the requests and answers of operations', () => {
  writeFileSync(
    join(folder, 'bot.mts'),
    `import { connect, InsufficientFundsError } from 'sandpit-broker';
import { sandbox } from 'sandpit-broker/testing';
const client = await connect();
const { data } = await client.call('listOrders', { query: { limit: 5 } });
export const id: string | undefined = data[0]?.orderId;
await using sim = await sandbox({ cash: 100 });
export const short = (error: unknown): number =>
  error instanceof InsufficientFundsError ? error.figures.availableCash : 0;
// @ts-expect-error: no such operation
await client.call('listNothing');
// @ts-expect-error: no such field
export const none = data[0]?.nothing;
// @ts-expect-error: a number
await sim.portfolio.buy('AAPL', 1, { limit: '1' });
`,
  );
  const program = ts.createProgram([join(folder, 'bot.mts')], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    types: ['node'],
  });
  expect(
    ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
  ).toEqual([]);
});

/** A server of the package in this folder, for as long as it is used. */
async function up(settings: Readonly<Record<string, string>>, use: () => Promise<void>): Promise<void> {
  const server = spawn(process.execPath, [sandpit, 'up'], {
    cwd: folder,
    env: env({ PORT: '0', ...settings }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  try {
    await new Promise<void>((resolve, reject) => {
      void ended.then(() => reject(new Error('the server ended')));
      createInterface(server.stdout).on('line', (line) => {
        if (line.includes('listening on')) resolve();
      });
    });
    await use();
  } finally {
    server.kill('SIGTERM');
    expect(await ended).toBe(0);
    rmSync(join(folder, 'data'), { recursive: true, force: true });
  }
}

/** Credentials of the server of `up`. */
const credentials = () =>
  JSON.parse(readFileSync(join(folder, 'data/demo-credentials.json'), 'utf8')) as {
    readonly baseUrl: string;
  };

const type = async (...args: readonly string[]): Promise<unknown> =>
  JSON.parse((await run(process.execPath, [sandpit, ...args], { cwd: folder, env: env() })).stdout);

it('the package: starts a server, places an order and runs the page on Python', async () => {
  const [connecting = ''] = blocksOf('python.md', 'py');
  await up({}, async () => {
    expect(await type('buy', 'AAPL', '10')).toMatchObject({ status: 'FILLED', filledQuantity: 10 });
    const { baseUrl } = credentials();
    for (const [path, found] of [
      ['/', '<title>Sandpit'],
      ['/docs/', 'href="/docs/quickstart"'],
      ['/docs/quickstart', '<h1 id="quickstart"'],
      ['/docs/api/', 'swagger-ui'],
      ['/docs/api/static/swagger-ui-bundle.js', 'SwaggerUI'],
      ['/llms.txt', 'Sandpit'],
    ] as const) {
      const response = await fetch(baseUrl + path, { headers: { accept: 'text/html' } });
      expect(await response.text(), path).toContain(found);
    }
    const program =
      "const { connect } = await import('sandpit-broker'); const client = await connect(); console.log((await client.call('listPortfolios')).data.length);";
    const { stdout: count } = await run(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      env: env(),
    });
    expect(count.trim()).toBe('1');
    if (!hasPython) return;
    copyFileSync(join(folder, 'node_modules/sandpit-broker/python/sandpit.py'), join(folder, 'sandpit.py'));
    const { stdout } = await run('python3', ['-c', connecting], { cwd: folder, env: env() });
    expect(stdout).toMatch(/^\d+\.\d+\n\d+\.\d+ TOUCH\nInsufficient funds \d+.*\nPENDING \d+-\d+\n$/);
  });
});

it('the package: gives agents their tools within their caps, as on the page on agents', async () => {
  const [configured = ''] = blocksOf('agents.md', 'json');
  const [making = ''] = blocksOf('agents.md', 'sh');
  const { mcpServers } = JSON.parse(configured) as {
    readonly mcpServers: { readonly sandpit: { readonly command: string; readonly args: readonly string[] } };
  };
  const { command, args } = mcpServers.sandpit;
  // This folder contains the package that `npx` would have to fetch.
  expect([command, ...args.slice(0, 2)]).toEqual(['npx', '-y', 'sandpit-broker']);
  const asked = async (transport: Transport): Promise<void> => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    try {
      const { resources } = await client.listResources();
      expect(resources.map(({ name }) => name)).toContain('settlement');
      const call = (name: string, given: Readonly<Record<string, unknown>>) =>
        client.callTool({ name, arguments: given });
      const listed = await call('list_accounts', {});
      const { result } = listed.structuredContent as {
        result: { data: { portfolios: { portfolioId: string }[] }[] };
      };
      const order = {
        portfolioId: result.data[0]?.portfolios[0]?.portfolioId,
        assetClass: 'EQUITY',
        orderType: 'LIMIT',
        limitPrice: 1,
        positionIntent: 'BUY_TO_OPEN',
        timeInForce: 'GTC',
      };
      const placed = await call('place_order', { ...order, symbol: 'MSFT', quantity: 10 });
      expect(placed.structuredContent).toMatchObject({ simulated: true, result: { status: 'ACTIVE' } });
      const other = await call('place_order', { ...order, symbol: 'SPY', quantity: 1 });
      expect(other.structuredContent).toMatchObject({ error: { cap: 'symbols' } });
      const large = await call('place_order', { ...order, symbol: 'AAPL', quantity: 5001 });
      expect(large.structuredContent).toMatchObject({ error: { cap: 'maxNotional', allowed: 5000 } });
    } finally {
      await client.close();
    }
  };
  await up({}, async () => {
    await type('buy', 'AAPL', '1', '--limit', '1');
    const words = [sandpit, ...args.slice(2)];
    await asked(
      new StdioClientTransport({ command: process.execPath, args: words, cwd: folder, env: env() }),
    );
    const [name = '', ...given] = making.trim().split(' ').slice(1);
    expect(name).toBe('sandpit');
    const { stdout } = await run(process.execPath, [sandpit, ...given], { cwd: folder, env: env() });
    const { baseUrl } = credentials();
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    await asked(new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit: { headers } }));
  });
});

it('the package: runs the tests of the page on CI', async () => {
  const [test = ''] = blocksOf('ci.md', 'js');
  writeFileSync(join(folder, 'bot.test.mjs'), test);
  const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', 'bot.test.mjs'], {
    cwd: folder,
    env: env(),
  });
  expect(stdout).toMatch(/^# pass 2$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});

it.runIf(hasPytest)('the package: gives pytest a sandbox, as on the page on Python', async () => {
  const [, plugin = '', tests = ''] = blocksOf('python.md', 'py');
  copyFileSync(join(folder, 'node_modules/sandpit-broker/python/sandpit.py'), join(folder, 'sandpit.py'));
  writeFileSync(join(folder, 'conftest.py'), plugin);
  writeFileSync(join(folder, 'test_bot.py'), tests);
  const { stdout } = await run('python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_bot.py'], {
    cwd: folder,
    env: env({ PYTHONDONTWRITEBYTECODE: '1' }),
  });
  expect(stdout).toContain('2 passed');
});

it('the package: replays imported data, as on the page on market data', async () => {
  const [commands = ''] = blocksOf('own-market-data.md', 'sh');
  const [layout = ''] = blocksOf('own-market-data.md', 'json');
  const [importing = '', starting = ''] = commands.trim().split('\n');
  const columns =
    'date,close,high,low,open,volume,adjClose,adjHigh,adjLow,adjOpen,adjVolume,divCash,splitFactor';
  writeFileSync(
    join(folder, 'AAPL.csv'),
    `${columns}\n2014-06-06,645,651,644,650,1000,1,1,1,1,1,0,1\n2014-06-09,94,95,92,93,1000,1,1,1,1,1,0,7\n`,
  );
  const words = importing.replace('~/downloads/', '').split(' ').slice(2);
  expect(await type(...words)).toMatchObject([{ file: 'daily_bars.csv', rows: 2, skipped: 0 }]);
  writeFileSync(join(folder, 'layout.json'), layout);
  writeFileSync(join(folder, 'own.csv'), 'when,what,o,h,l,c,v\n2014-06-06 09:31,MSFT,41,42,40,41.5,100\n');
  await type('import', 'own.csv', '--layout', 'layout.json', '--to', './market');
  const settings: Readonly<Record<string, string>> = Object.fromEntries(
    starting
      .split(' ')
      .filter((word) => word.includes('='))
      .map((word) => word.split('=') as [string, string]),
  );
  await up(settings, async () => {
    await type('clock', 'advance', '--to', '2014-06-06T16:00:00-04:00');
    expect(await type('quote', 'AAPL', 'MSFT')).toMatchObject([{ last: 645 }, { last: 41.5 }]);
    await type('buy', 'AAPL', '1', '--tif', 'GTC');
    await type('clock', 'advance', '--to', '2014-06-09T16:00:00-04:00');
    expect(await type('quote', 'AAPL')).toMatchObject([{ last: 94 }]);
  });
});
