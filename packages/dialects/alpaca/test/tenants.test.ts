/** Portfolios of different simulations share nothing in this dialect, though simulations of one seed give the same ids. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import {
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../../../server/src/testing/test-app.js';

let test: TestApp;

beforeEach(async () => {
  test = await TestApp.open();
});
afterEach(() => test.close());

interface Account {
  readonly owner: TestClient;
  readonly simulationId: string;
  readonly portfolioId: string;
  readonly send: AlpacaSend;
}

/** A portfolio in a new simulation of seed 7, with a key pair. */
async function accountOf(tenantId: string): Promise<Account> {
  const tenant = test.as({ tenantId });
  const config = { feed: 'push', clock: 'manual', calendar: 'always-open', seed: 7 };
  const created = await tenant.post('/v1/simulations', config);
  const { token, simulationId } = created.body as { token: string; simulationId: string };
  const owner = test.withToken(token);
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  const send = alpacaSender(test, await keyPairOf(owner, portfolioId));
  return { owner: tenant, simulationId, portfolioId, send };
}

it('simulations of one seed: each tenant has its own watchlists and configurations', async () => {
  const [first, second] = [await accountOf('tenant-1'), await accountOf('tenant-2')];
  expect(first.portfolioId).toBe(second.portfolioId);
  expect((await first.send('POST', '/v2/watchlists', { name: 'secret', symbols: [] })).status).toBe(200);
  expect((await second.send('GET', '/v2/watchlists')).body).toEqual([]);
  await second.send('PATCH', '/v2/account/configurations', { suspend_trade: true });
  expect((await first.send('GET', '/v2/account/configurations')).body).toMatchObject({
    suspend_trade: false,
  });
  expect((await first.send('GET', '/v2/account')).body).toMatchObject({ trade_suspended_by_user: false });
});

it('positions of a fork: the previous close is that of its parent, restated for a split', async () => {
  const config = { feed: 'push', clock: 'manual', calendar: 'XNYS', start: '2026-01-05T15:00:00Z' };
  const created = (await test.as().post('/v1/simulations', config)).body;
  const parent = test.withToken(created.token as string);
  const { portfolioId } = (await openPortfolio(parent)) as { portfolioId: string };
  await pushQuote(parent);
  await placeOrder(parent, portfolioId, { limitPrice: 110 });
  await pushQuote(parent, { bid: 109.9, ask: 110, last: 110 });
  await parent.post('/v1/simulation/corporate-actions', {
    actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: '2026-01-06', ratio: { new: 2, old: 1 } }],
  });
  const forked = await test.as().post(`/v1/simulations/${created.simulationId as string}/forks`, {});
  for (const owner of [parent, test.withToken(forked.body.token as string)]) {
    const send = alpacaSender(test, await keyPairOf(owner, portfolioId));
    await owner.post('/v1/simulation/clock/advance', { by: 'P1D' });
    expect((await send('GET', '/v2/positions')).body).toMatchObject([
      { qty: '20', current_price: '55', lastday_price: '55', unrealized_intraday_pl: '0' },
    ]);
  }
});

it('rate limits: a tenant has one for each route, shared by its portfolios', async () => {
  const [first, second] = [await accountOf('tenant-1'), await accountOf('tenant-2')];
  const again = await accountOf('tenant-1');
  const left = async ({ send }: Account, url: string) =>
    Number((await send('GET', url)).headers['x-ratelimit-remaining']);
  const before = await left(first, '/v2/clock');
  expect(await left(again, '/v2/clock')).toBe(before - 1);
  expect(await left(second, '/v2/clock')).toBe(before);
  expect(await left(first, '/v2/account')).toBe(before);
});

it('deletion of a simulation: deletes its key pairs, watchlists and configurations', async () => {
  const { owner, simulationId, send } = await accountOf('tenant-1');
  await send('POST', '/v2/watchlists', { name: 'mine', symbols: [] });
  await send('PATCH', '/v2/account/configurations', { no_shorting: true });
  const { registry } = test.store;
  const named = () => registry.settings('').filter(([name]) => name.includes(simulationId));
  expect(named()).toHaveLength(2);
  await owner.delete(`/v1/simulations/${simulationId}`);
  expect(named()).toEqual([]);
  expect((await send('GET', '/v2/account')).status).toBe(401);
});
