/** `sandpit eval run` against a server, with commands of their own for each cell (D210). */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { sandbox } from '@sandpit/client/testing';
import { run } from '../program.js';
import { environmentOf } from './agent-process.js';

/** Notes what it was given, and buys ten shares in the cell of seed 1: the first one of its name. */
const AGENT = `
import { appendFileSync, readdirSync } from 'node:fs';
const { SANDPIT_URL: url, SANDPIT_TOKEN: token, SANDPIT_PORTFOLIO: portfolioId } = process.env;
const own = Object.keys(process.env).filter((name) => name.startsWith('SANDPIT')).sort();
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
const cell = await (await fetch(url + '/v1/evaluation', { headers })).json();
appendFileSync(process.argv[2], JSON.stringify({ own, files: readdirSync('.'), isOwn: cell.portfolioId === portfolioId }) + '\\n');
const order = { portfolioId, symbol: 'AAPL', assetClass: 'EQUITY', orderType: 'MARKET', positionIntent: 'BUY_TO_OPEN', quantity: 10, timeInForce: 'DAY' };
await fetch(url + '/v1/orders', { method: 'POST', headers, body: JSON.stringify(order) });
`;

const EVALUATION = {
  name: 'Ten shares',
  scenarios: [
    {
      name: 'a day',
      market: {
        feed: 'synthetic',
        clock: 'manual',
        start: '2026-01-05T14:30:00Z',
        end: '2026-01-05T21:00:00Z',
      },
      rules: { initialCash: 100_000, portfolioType: 'CASH', brokerId: 'default', assetClasses: ['EQUITY'] },
      seeds: [1, 2],
      tasks: [
        {
          name: 'buy ten',
          instructions: 'Buy 10 shares of AAPL.',
          assert: [{ when: 'end', position: { symbol: 'AAPL', quantity: 10 } }],
        },
      ],
    },
  ],
  score: 'tasksPassed',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-eval-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

it('environmentOf: keeps nothing of Sandpit but the access of the cell', () => {
  const access = { url: 'http://127.0.0.1:1', token: 't', portfolioId: 'p' };
  expect(
    environmentOf({ PATH: '/bin', SANDPIT_API_KEY: 'k', Sandpit_Token: 'x', SANDPIT_DATA: 'd' }, access),
  ).toEqual({
    PATH: '/bin',
    SANDPIT_URL: 'http://127.0.0.1:1',
    SANDPIT_TOKEN: 't',
    SANDPIT_PORTFOLIO: 'p',
    SANDPIT_MCP: 'http://127.0.0.1:1/mcp',
  });
});

it('eval run: plays every cell in an empty folder, prints figures and writes the file', async () => {
  await using server = await sandbox({ server: true });
  vi.stubEnv('SANDPIT_API_KEY', 'of another server');
  const [body, agent, notes, to] = ['body.json', 'agent.mjs', 'notes', 'result.ndjson'].map((name) =>
    join(folder, name),
  );
  writeFileSync(body ?? '', JSON.stringify(EVALUATION));
  writeFileSync(agent ?? '', AGENT);
  const { client } = server;
  const printed: string[] = [];
  const complaints: string[] = [];
  const code = await run(
    [
      ...['--url', client.transport.baseUrl, '--token', (await client.transport.token()) ?? ''],
      ...['eval', 'run', body ?? '', '--parallel', '2', '--to', to ?? ''],
      ...['--agent', `buyer="${process.execPath}" "${agent}" "${notes}"`, '--agent', 'failing=exit 3'],
    ],
    {
      isTerminal: false,
      write: (text) => void printed.push(text),
      complain: (text) => void complaints.push(text),
    },
  );
  expect(code, complaints.join('')).toBe(0);
  const given = readFileSync(notes ?? '', 'utf8')
    .trimEnd()
    .split('\n');
  expect(given).toHaveLength(2);
  for (const line of given)
    expect(JSON.parse(line)).toEqual({
      own: ['SANDPIT_MCP', 'SANDPIT_PORTFOLIO', 'SANDPIT_TOKEN', 'SANDPIT_URL'],
      files: [],
      isOwn: true,
    });
  expect(complaints.filter((line) => line.includes('ended with 3'))).toHaveLength(2);
  const { summary, paired } = JSON.parse(printed.join('')) as {
    readonly summary: readonly { readonly entrant: string; readonly mean: number }[];
    readonly paired: readonly { readonly a: string; readonly b: string }[];
  };
  expect(summary.map(({ entrant, mean }) => [entrant, mean]).sort()).toEqual([
    ['baseline:noop', 0],
    ['buyer', 1],
    ['failing', 0],
  ]);
  expect(paired).toHaveLength(3);
  const [first = ''] = readFileSync(to ?? '', 'utf8').split('\n');
  expect(JSON.parse(first)).toMatchObject({ type: 'evaluation', isolated: false });
  expect(readdirSync(folder).sort()).toEqual(['agent.mjs', 'body.json', 'notes', 'result.ndjson']);
}, 60_000);
