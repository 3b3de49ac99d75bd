import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Sandpit } from '@sandpit/client';
import { describe, expect, it } from 'vitest';
import type { Credentials } from '../../packages/server/src/testing/server-process.js';
import { withServer } from '../with-server.js';
import { trade } from './moving-average.js';

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** The first line that the Python example prints: what does not depend on the machine. */
async function learn({ baseUrl, token }: Credentials): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    'python3',
    [fileOf('learn.py'), '--steps', '240', '--episode', '60'],
    {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: fileOf('../../packages/python'),
        PYTHONDONTWRITEBYTECODE: '1',
        SANDPIT_URL: baseUrl,
        SANDPIT_TOKEN: token,
      },
    },
  );
  return JSON.parse(stdout.split('\n')[0] ?? '') as unknown;
}

/** Numbers that compare as those of NumPy, of which Gymnasium's observations are made: the results are truth values without arithmetic. */
const COMPARED_AS_NUMPY = `
import learn
class Truth:
    def __init__(self, value): self.value = value
    def __bool__(self): return self.value
    def __int__(self): return int(self.value)
class Number(float):
    def __add__(self, other): return Number(float(self) + other)
    def __truediv__(self, other): return Number(float(self) / other)
    def __gt__(self, other): return Truth(float(self) > other)
    def __lt__(self, other): return Truth(float(self) < other)
prices = lambda *values: [Number(value) for value in values]
print(learn.state_of(prices(1, 2, 0), prices(2, 3, 10)), learn.state_of(None, prices(2, 3, 0)))
`;

describe('learning loops', () => {
  it.runIf(hasPython)('the learner reads observations of Gymnasium, whose comparisons are no numbers', () => {
    const { stdout, stderr } = spawnSync('python3', ['-c', COMPARED_AS_NUMPY], {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: [fileOf('.'), fileOf('../../packages/python')].join(':'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: '(1, True) (0, False)\n', stderr: '' });
  });

  it('the moving-average bot and the learner repeat with their seeds, and a step continues past 1,000 events', async () => {
    await withServer({}, async (credentials) => {
      const owner = new Sandpit({ url: credentials.baseUrl, token: credentials.token });
      const run = await trade(owner, 60);
      expect(run.orders).toBeGreaterThan(1);
      expect(await trade(owner, 60)).toEqual(run);
      expect((await trade(owner, 60, 2)).totalEquity).not.toBe(run.totalEquity);
      if (hasPython) {
        const [learned, again] = await Promise.all([learn(credentials), learn(credentials)]);
        expect(learned).toMatchObject({ steps: 240 });
        expect((learned as { rewards: number[] }).rewards).toHaveLength(4);
        expect(again).toEqual(learned);
      }
      expect((await owner.call('listSimulations')).data).toEqual([]);
      await goesOn(owner);
    });
  }, 120_000);
});

/** A day on which 1,100 orders expire requires two steps of the server; the client reports one. */
async function goesOn(owner: Sandpit): Promise<void> {
  const { token } = await owner.call('createSimulation', {
    body: { feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00-05:00' },
  });
  const client = new Sandpit({ url: owner.transport.baseUrl, token });
  const { id: portfolioId } = await client.openPortfolio({ cash: 1_000_000 });
  const order = {
    portfolioId,
    symbol: 'F',
    assetClass: 'EQUITY',
    orderType: 'LIMIT',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 1,
    limitPrice: 10,
    timeInForce: 'DAY',
  } as const;
  const orders = Array.from({ length: 100 }, () => order);
  for (let i = 0; i < 10; i += 1) await client.step({ orders });
  const closed = await client.step({ orders, advance: { to: '2026-01-05T18:00:00-05:00' } });
  expect(closed.hasMore).toBe(false);
  expect(closed.now).toBe('2026-01-05T23:00:00.000Z');
  expect(closed.orders).toHaveLength(100);
  expect(closed.events.filter(({ event }) => event === 'CANCELED')).toHaveLength(1100);
}
