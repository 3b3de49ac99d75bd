/** Margin over several days of trading through the API (D103–D120). */
import { afterEach, describe, expect, it } from 'vitest';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';
import { portfolioMargin } from './translate/requirements.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;
afterEach(() => test.close());

async function begin(
  initialCash: number,
  start = '2026-01-05T10:00:00-05:00',
  more: object = {},
): Promise<void> {
  test = await TestApp.open({ config: { start: Date.parse(start) } });
  client = test.as();
  portfolioId = String((await openPortfolio(client, { initialCash, ...more }))['portfolioId']);
}

const of = async (what: string): Promise<Body> =>
  (await client.get(`/v1/accounts/portfolios/${portfolioId}${what}`)).body;

/** Bid and ask of each, alike. */
async function quotes(prices: Readonly<Record<string, number>>): Promise<void> {
  const { status, text } = await client.put('/v1/simulation/quotes', {
    quotes: Object.entries(prices).map(([symbol, price]) => ({
      symbol,
      bid: price,
      ask: price,
      last: price,
    })),
  });
  expect(status, text).toBeLessThan(300);
}

const until = (to: string): Promise<unknown> => client.post('/v1/simulation/clock/advance', { to });

function order(symbol: string, positionIntent: string, quantity: number, limitPrice: number): Promise<Body> {
  return client.post('/v1/orders', {
    portfolioId,
    symbol,
    assetClass: symbol.length > 6 ? 'OPTION' : 'EQUITY',
    orderType: 'LIMIT',
    positionIntent,
    quantity,
    limitPrice,
    timeInForce: 'DAY',
  });
}

async function trade(symbol: string, positionIntent: string, quantity: number, price: number): Promise<void> {
  const { status, text } = await order(symbol, positionIntent, quantity, price);
  expect(status, text).toBe(201);
}

const PUT_130 = 'AAPL260116P00130000';
const PUT_140 = 'AAPL260116P00140000';
const CALL_160 = 'AAPL260116C00160000';
const CALL_170 = 'AAPL260116C00170000';

describe('Reg T', () => {
  it('over some days: SMA grows, stays and is used, regardless of prices', async () => {
    await begin(10_000);
    await quotes({ AAPL: 100 });
    await trade('AAPL', 'BUY_TO_OPEN', 150, 100);
    expect(await of('')).toMatchObject({ overnightBuyingPower: 5000, fedRequirement: 7500 });
    await quotes({ AAPL: 110 });
    // Gains since the last close do not add to buying power yet.
    expect(await of('')).toMatchObject({ overnightBuyingPower: 5000 });
    await until('2026-01-05T16:01:00-05:00');
    expect(await of('/margin')).toMatchObject({ smaBalance: 3250, marginEquity: 11_500 });
    await until('2026-01-06T10:00:00-05:00');
    await quotes({ AAPL: 90 });
    expect((await order('AAPL', 'BUY_TO_OPEN', 73, 90)).body.error).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: 0,
      requiredAmount: 6570,
      availableBuyingPower: 6500,
      requiredBuyingPower: 6570,
    });
    await client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, { amount: -1000 });
    await until('2026-01-07T10:00:00-05:00');
    await quotes({ AAPL: 90 });
    await trade('AAPL', 'SELL_TO_CLOSE', 50, 90);
    const { data } = await of('/sma');
    expect(data.map(({ event, amount, balance }: Body) => [event, amount, balance] as unknown)).toEqual([
      ['EXECUTION', 2250, 4500],
      ['TRANSFER', -1000, 2250],
      ['CLOSE', 750, 3250],
      ['EXECUTION', -7500, 2500],
      ['INITIAL_CASH', 10_000, 10_000],
    ]);
  });

  it('judges a condor that was bought leg by leg in one group', async () => {
    await begin(10_000);
    await quotes({ AAPL: 150, [PUT_130]: 0.5, [PUT_140]: 1.5, [CALL_160]: 2, [CALL_170]: 0.8 });
    await trade(CALL_170, 'BUY_TO_OPEN', 2, 0.8);
    await trade(PUT_130, 'BUY_TO_OPEN', 2, 0.5);
    await trade(PUT_140, 'SELL_TO_OPEN', 2, 1.5);
    await trade(CALL_160, 'SELL_TO_OPEN', 2, 2);
    const { groups, maintenanceRequirement } = await of('/margin');
    expect(groups).toMatchObject([{ strategy: 'IRON_CONDOR', underlying: 'AAPL', maintenance: 2000 }]);
    expect(groups[0].legs).toHaveLength(4);
    expect(maintenanceRequirement).toBe(2000);
  });
});

it('a losing naked strangle gets a call, and is liquidated when the call is due, with events for each step', async () => {
  await begin(10_000);
  await quotes({ AAPL: 150, [PUT_140]: 1.5, [CALL_160]: 2 });
  await trade(PUT_140, 'SELL_TO_OPEN', 2, 1.5);
  await trade(CALL_160, 'SELL_TO_OPEN', 2, 2);
  const { groups } = await of('/margin');
  // 2 + max(30 − 10, 15) a share of the call, and the put's premium.
  expect(groups).toMatchObject([{ strategy: 'SHORT_STRANGLE', maintenance: 4700 }]);
  const gap = { AAPL: 185, [PUT_140]: 0.01, [CALL_160]: 26 };
  await quotes(gap);
  await client.post('/v1/simulation/clock/advance', { by: 'PT2S' });
  const { calls, marginCallActive } = { ...(await of('/margin')), ...(await of('')) };
  expect(marginCallActive).toBe(true);
  expect(calls).toMatchObject([{ type: 'MAINTENANCE', status: 'OPEN', dueAt: '2026-01-08T17:00:00.000Z' }]);
  expect((await order(PUT_140, 'SELL_TO_OPEN', 1, 0.01)).status).toBe(403);
  await until('2026-01-08T11:59:00-05:00');
  await quotes(gap);
  await until('2026-01-08T12:01:00-05:00');
  expect((await of('/margin-calls')).data).toMatchObject([{ callId: calls[0].callId, status: 'LIQUIDATED' }]);
  expect((await of('/margin')).maintenanceExcess).toBeGreaterThanOrEqual(0);
  const { data } = await of('/activities?category=MARGIN');
  const told = data.map(({ type, description }: Body) => `${type}: ${description}`).reverse() as string[];
  expect(told[0]).toMatch(/^CALL_ISSUED: MAINTENANCE call of \$?[\d,.]+, due 2026-01-08T17:00:00/);
  expect(told[1]).toMatch(/^CALL_DUE: MAINTENANCE call is due: .* still missing/);
  expect(told[2]).toMatch(/^LIQUIDATION: .* were missing: closing .*AAPL260116C00160000/);
  expect(told.at(-1)).toMatch(/^LIQUIDATION: MAINTENANCE call of .* was met by liquidation/);
  const closing = (await client.get(`/v1/orders/portfolio/${portfolioId}`)).body.data as Body[];
  const first = (await client.get(`/v1/orders/${closing[0].orderId}`)).body;
  expect(first).toMatchObject({ origin: 'LIQUIDATION', orderType: 'MARKET', status: 'FILLED' });
});

it('an upgrade to portfolio margin lowers the requirement of a hedged book', async () => {
  await begin(200_000);
  const put = 'AAPL260320P00145000';
  await quotes({ AAPL: 150, [put]: 4 });
  await trade('AAPL', 'BUY_TO_OPEN', 1000, 150);
  await trade(put, 'BUY_TO_OPEN', 10, 4);
  const before = await of('/margin');
  // 10 % of the strike and what the put is out of the money.
  expect(before).toMatchObject({ houseRequirement: 19_500, groups: [{ strategy: 'PROTECTIVE_PUT' }] });
  const upgraded = await client.put(`/v1/accounts/portfolios/${portfolioId}/margin-upgrade`, {
    marginType: 'PORTFOLIO',
    portfolioMarginEngineType: 'TIMS',
  });
  expect(upgraded.status, upgraded.text).toBeLessThan(300);
  const after = await of('/margin');
  expect(after).toMatchObject({ fedRequirement: 0, smaBalance: 0, groups: [{ strategy: 'CLASS_GROUP' }] });
  expect(after.scenarios).toHaveLength(10);
  expect(after.houseRequirement).toBeLessThan(10_000);
  expect(after.houseRequirement).toBeGreaterThanOrEqual(375);
});

it('portfolio margin of a large option book, and a preview with it, have the figures of the brokerage', async () => {
  await begin(500_000);
  await client.put(`/v1/accounts/portfolios/${portfolioId}/margin-upgrade`, { marginType: 'PORTFOLIO' });
  await quotes({ AAPL: 150 });
  const symbols = [120, 130, 140, 150, 160, 170].flatMap((strike) =>
    ['C', 'P'].map((type) => `AAPL260320${type}00${strike}000`),
  );
  const positions = symbols.map((symbol, i) => ({ symbol, quantity: i % 3 === 0 ? -2 : 3, price: 5 + i }));
  const imported = await client.post(`/v1/accounts/portfolios/${portfolioId}/import`, { cash: 0, positions });
  expect(imported.status, imported.text).toBeLessThan(300);
  const { brokerage } = test.main;
  const itself = (): Body => {
    const portfolio = brokerage.state.portfolios.get(portfolioId);
    if (portfolio === undefined) throw new Error('no portfolio');
    return JSON.parse(JSON.stringify(portfolioMargin(brokerage, portfolio)));
  };
  const before = await of('/margin');
  expect(before).toEqual(itself());
  expect(before.groups).toHaveLength(1);
  expect(before.maintenanceRequirement).toBeGreaterThan(1000);
  const bought = {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    timeInForce: 'DAY',
  };
  const { body: preview } = await client.post('/v1/orders/preview', {
    ...bought,
    positionIntent: 'BUY_TO_OPEN',
    quantity: 100,
  });
  expect(preview).toMatchObject({ accepted: true, rejections: [] });
  await trade('AAPL', 'BUY_TO_OPEN', 100, 150);
  const after = await of('/margin');
  expect(after).toEqual(itself());
  expect(preview.maintenanceMargin).toEqual({
    before: before.maintenanceRequirement,
    after: after.maintenanceRequirement,
  });
});

it('day trades are restricted until 2026-06-04, and watched from then on', async () => {
  await begin(10_000, '2026-06-03T10:00:00-04:00');
  await quotes({ AAPL: 100 });
  const turn = async (): Promise<void> => {
    await trade('AAPL', 'BUY_TO_OPEN', 1, 100);
    await trade('AAPL', 'SELL_TO_CLOSE', 1, 100);
  };
  for (let i = 0; i < 3; i++) await turn();
  expect((await order('AAPL', 'BUY_TO_OPEN', 1, 100)).body).toMatchObject({
    statusCode: 403,
    error: { code: 'DAY_TRADE_RESTRICTED', dayTradeCount: 3, restrictedUntil: '2026-06-04' },
  });
  await until('2026-06-04T10:00:00-04:00');
  await quotes({ AAPL: 100 });
  for (let i = 0; i < 4; i++) await turn();
  // Under the new rule what counts is the excess: four times of it, now.
  expect((await of('')).dayTradeBuyingPower).toBe(40_000);
  expect((await of('/margin-calls')).data).toEqual([]);
});
