/**
 * A merger for shares and cash over everything that depends on the shares at once (D208): a covered call, a short position in another portfolio,
 * an order that reserves shares, a fork from before the merger, a comparison of brokers, and a server that is killed after it.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentialsIn, ServerProcess } from '../testing/server-process.js';
import { ACCOUNT, type Body } from '../testing/test-app.js';

const CALL = 'XYZ260220C00035000';
const ADJUSTED_CALL = 'ACQ1260220C00035000';
/** 501 XYZ, one written call on them, and an open order to sell 150. */
const LONG = 'CASH';
/** Short 200 XYZ. */
const SHORT = 'MARGIN';

interface Sim {
  readonly id: string;
  readonly token: string;
}

let directory: string;
let server: ServerProcess;
let url: string;
let owner: string;
let parent: Sim;
let fork: Sim;
let portfolios: Readonly<Record<typeof LONG | typeof SHORT, string>>;
let resting: string;

async function start(): Promise<void> {
  server = ServerProcess.launch({ DATA_DIR: directory, MARKET_FEED: 'push', RATE_LIMIT_DEFAULT: '1000000' });
  url = await server.listening;
}

async function send(token: string, method: string, path: string, body?: object): Promise<Body> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect(response.ok, `${method} ${path}: ${text}`).toBe(true);
  return JSON.parse(text);
}

const simOf = ({ simulationId, token }: Body): Sim => ({
  id: simulationId as string,
  token: token as string,
});

const quote = ({ token }: Sim, prices: Readonly<Record<string, number>>): Promise<Body> =>
  send(token, 'PUT', '/v1/simulation/quotes', {
    quotes: Object.entries(prices).map(([symbol, price]) => ({
      symbol,
      bid: price,
      ask: price,
      last: price,
    })),
  });

async function open(portfolioType: string): Promise<string> {
  const { portfolioId } = await send(parent.token, 'POST', '/v1/accounts/portfolios', {
    accountId: ACCOUNT,
    portfolioType,
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: 100_000,
  });
  return portfolioId as string;
}

async function order(of: keyof typeof portfolios, symbol: string, more: object): Promise<string> {
  const { orderId } = await send(parent.token, 'POST', '/v1/orders', {
    portfolioId: portfolios[of],
    symbol,
    assetClass: symbol === CALL ? 'OPTION' : 'EQUITY',
    orderType: 'MARKET',
    timeInForce: 'DAY',
    ...more,
  });
  return orderId as string;
}

const of = ({ token }: Sim, portfolio: keyof typeof portfolios, list = ''): Promise<Body> =>
  send(token, 'GET', `/v1/accounts/portfolios/${portfolios[portfolio]}${list}`);

/** Passes the ex-date, with the first price of the buyer after it. */
async function merge(sim: Sim): Promise<void> {
  await send(sim.token, 'POST', '/v1/simulation/clock/advance', { to: '2026-01-06T10:00:00-05:00' });
  await quote(sim, { ACQ: 42 });
}

/** Everything that both portfolios and the canceled order show. */
async function figures(sim: Sim): Promise<readonly Body[]> {
  const lists = ['equities', 'options', 'settlements', 'performance', 'tax-lots', 'trades', 'realized-gains'];
  const long = ['ledger?limit=200', 'activities?limit=200'];
  const shown: Body[] = [await send(sim.token, 'GET', `/v1/orders/${resting}`)];
  for (const portfolio of [LONG, SHORT] as const)
    for (const list of ['', ...[...lists, ...long].map((name) => `/${name}`)])
      shown.push(await of(sim, portfolio, list));
  // Ids of activities count the records of a simulation, which start with its own.
  return shown.map(({ data, ...rest }: Body) =>
    Array.isArray(data)
      ? { ...rest, data: data.map(({ activityId: _, ...row }: Body) => row) }
      : { ...rest, data },
  );
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sandpit-actions-'));
  await start();
  owner = credentialsIn(directory).token;
  const market = { feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00Z', seed: 7 };
  parent = simOf(await send(owner, 'POST', '/v1/simulations', market));
  portfolios = { [LONG]: await open(LONG), [SHORT]: await open(SHORT) };
  await quote(parent, { XYZ: 30, ACQ: 40, [CALL]: 1 });
  await order(LONG, 'XYZ', { positionIntent: 'BUY_TO_OPEN', quantity: 501 });
  await order(LONG, CALL, { positionIntent: 'SELL_TO_OPEN', quantity: 1 });
  const limit = { orderType: 'LIMIT', limitPrice: 50, timeInForce: 'GTC' };
  resting = await order(LONG, 'XYZ', { positionIntent: 'SELL_TO_CLOSE', quantity: 150, ...limit });
  await order(SHORT, 'XYZ', { positionIntent: 'SELL_TO_OPEN', quantity: 200 });
  const [held] = (await of(parent, LONG, '/equities')) as [Body];
  // 100 for the call, 150 for the order.
  expect(held).toMatchObject({ symbol: 'XYZ', reservedQuantity: 250 });
  await send(parent.token, 'POST', '/v1/simulation/corporate-actions', {
    actions: [
      {
        type: 'MERGER',
        symbol: 'XYZ',
        newSymbol: 'ACQ',
        exDate: '2026-01-06',
        ratio: 0.5,
        cashPerShare: 10,
      },
    ],
  });
  fork = simOf(await send(owner, 'POST', `/v1/simulations/${parent.id}/forks`, {}));
  await merge(parent);
}, 60_000);

afterAll(async () => {
  await server.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

it('shares become 250 of the buyer, cash, and cash for the half share; the call is covered by both; the order is canceled', async () => {
  // 501 x 0.5 = 250.5 at 40.00: of 15,030.00, 5,010.00 are the cash and 20.00 the half share.
  expect(await of(parent, LONG, '/equities')).toMatchObject([
    {
      symbol: 'ACQ',
      settledQuantity: 250,
      pendingQuantity: 0,
      // The call delivers 50 ACQ and 1,000.00.
      reservedQuantity: 50,
      costBasis: 10_000,
      marketValue: 10_500,
    },
  ]);
  expect(await of(parent, LONG, '/options')).toMatchObject([
    { optionSymbol: ADJUSTED_CALL, quantity: -1, averageCost: 1, marketValue: -100 },
  ]);
  // 100,000.00 - 15,030.00 + 100.00 - 0.50 + 5,010.00 + 20.00 = 90,099.50, of which 1,000.00 are reserved.
  expect(await of(parent, LONG)).toMatchObject({
    settledCash: 89_099.5,
    reservedCash: 1000,
    pendingCash: 0,
    // 90,099.50 + 10,500.00 - 100.00
    totalEquity: 100_499.5,
  });
  expect((await of(parent, LONG, '/realized-gains')).data).toMatchObject([
    { symbol: 'ACQ', quantity: 0.5, proceeds: 20, gain: 0 },
    { symbol: 'XYZ', quantity: 501, proceeds: 5010, gain: 0 },
  ]);
  expect(await send(parent.token, 'GET', `/v1/orders/${resting}`)).toMatchObject({
    status: 'CANCELED',
    cancelReason: 'CORPORATE_ACTION',
    filledQuantity: 0,
  });
});

it('a short position owes half the shares of the buyer and pays the cash', async () => {
  expect(await of(parent, SHORT, '/equities')).toMatchObject([
    { symbol: 'ACQ', settledQuantity: -100, costBasis: 4000, marketValue: -4200, unrealizedPnl: -200 },
  ]);
  // 100,000.00 + 6,000.00 - 2,000.00; requirements of 50 % and 30 % of 4,200.00.
  expect(await of(parent, SHORT)).toMatchObject({
    settledCash: 104_000,
    pendingCash: 0,
    totalEquity: 99_800,
    fedRequirement: 2100,
    houseRequirement: 1260,
  });
});

it('a fork from before the merger reaches the figures of its parent', async () => {
  const [held] = (await of(fork, LONG, '/equities')) as [Body];
  expect(held).toMatchObject({ symbol: 'XYZ', pendingQuantity: 501, reservedQuantity: 250 });
  await merge(fork);
  expect(await figures(fork)).toEqual(await figures(parent));
});

it('a comparison of all brokers differs by their charges, and by the loss of the short position where they allow none', async () => {
  const { comparisonId } = await send(owner, 'POST', `/v1/simulations/${parent.id}/comparisons`, {
    variants: 'all-brokers',
  });
  let compared: Body;
  do compared = await send(owner, 'GET', `/v1/comparisons/${comparisonId as string}?wait=30`);
  while (['QUEUED', 'RUNNING'].includes(compared.status as string));
  const { base, baseMatches } = compared;
  const variants = compared.variants as readonly Body[];
  expect(baseMatches).toBe(true);
  // 100,499.50 + 99,800.00; 500.00 on the shares, -200.00 on the short position, nothing on the call.
  expect(base).toMatchObject({ totalEquity: 200_299.5, realizedPnl: 0, unrealizedPnl: 300 });
  const chargesOf = ({ commissions, regulatoryFees }: Body): number =>
    (commissions as number) + (regulatoryFees as number);
  const isWhole = ({ orders }: Body): boolean => orders.rejected === 0;
  expect(new Set(variants.filter(isWhole).map(chargesOf)).size).toBeGreaterThan(5);
  expect(variants.filter((row) => row.unrealizedPnl === 500).length).toBeGreaterThan(1);
  for (const row of variants) {
    const name = row.name as string;
    expect(row, name).toMatchObject({ status: 'DONE', realizedPnl: 0 });
    if (isWhole(row))
      expect(row, name).toMatchObject({ unrealizedPnl: 300, orders: { filled: 3, canceled: 1 } });
    else expect([300, 500], name).toContain(row.unrealizedPnl);
    const charges = chargesOf(base) - chargesOf(row);
    expect(row.difference, name).toBeCloseTo(charges + (row.unrealizedPnl as number) - 300, 6);
  }
}, 60_000);

it('a server that is killed after the merger shows the same figures, and its journals are sound', async () => {
  const before = [await figures(parent), await figures(fork)];
  await server.end('SIGKILL');
  await start();
  expect([await figures(parent), await figures(fork)]).toEqual(before);
  await server.end('SIGKILL');
  const verification = ServerProcess.verify({}, directory);
  const exit = await verification.exited;
  expect(exit.code, verification.lastLines).toBe(0);
  expect(verification.out.at(-1)).toBe('sound');
}, 60_000);
