/** Corporate actions other than splits and cash dividends, over the API (D208). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;
let path: string;

const EX = '2026-01-06';
const quote = (symbol: string, price: number) =>
  client.put('/v1/simulation/quotes', { quotes: [{ symbol, bid: price, ask: price, last: price }] });
const announce = (action: object) =>
  client.post('/v1/simulation/corporate-actions', { actions: [{ symbol: 'XYZ', exDate: EX, ...action }] });
const advance = (to = `${EX}T10:00:00-05:00`) => client.post('/v1/simulation/clock/advance', { to });
const order = async (symbol: string, quantity: number, more: object = {}): Promise<Body> => {
  const { status, body, text } = await client.post('/v1/orders', {
    portfolioId,
    symbol,
    assetClass: symbol.length > 15 ? 'OPTION' : 'EQUITY',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity,
    timeInForce: 'DAY',
    ...more,
  });
  expect(status, text).toBe(201);
  return body;
};
const get = async (query: string): Promise<Body> => {
  const { status, body, text } = await client.get(`${path}/${query}`);
  expect(status, text).toBe(200);
  return body;
};
const activities = async (): Promise<Body[]> =>
  (await get('activities?category=CORPORATE_ACTION&limit=100')).data as Body[];

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  await quote('XYZ', 30);
  ({ portfolioId } = (await openPortfolio(client, { initialCash: 1_000_000 })) as { portfolioId: string });
  path = `/v1/accounts/portfolios/${portfolioId}`;
});
afterEach(() => test.close());

describe('POST /v1/simulation/corporate-actions', () => {
  it('names all eight types, and reads ratios back as they were sent', async () => {
    expect((await announce({ type: 'RIGHTS' })).body.message).toEqual([
      'actions.0.type must be one of SPLIT, CASH_DIVIDEND, SPECIAL_DIVIDEND, STOCK_DIVIDEND, SYMBOL_CHANGE, SPIN_OFF, MERGER, DELISTING',
    ]);
    const spinOff = { type: 'SPIN_OFF', newSymbol: 'SPUN', basisPercent: 23.4831 };
    const sent = await announce({ ...spinOff, ratio: { new: 2, old: 6 } });
    expect(sent.status).toBe(201);
    expect(sent.body.actions).toMatchObject([{ ...spinOff, symbol: 'XYZ', ratio: { new: 2, old: 6 } }]);
    expect((await announce({ ...spinOff, ratio: { new: 1, old: 3 } })).status).toBe(201);
    expect((await announce({ ...spinOff, ratio: 0.25 })).status).toBe(409);
    expect((await announce({ type: 'DELISTING', cashPerShare: 0 })).status).toBe(409);
    expect((await announce({ type: 'SYMBOL_CHANGE', newSymbol: 'XYZ' })).body.message).toEqual([
      'actions.0.newSymbol must differ from symbol',
    ]);
  });

  it('accepts an action on the new symbol of an announced one', async () => {
    expect((await announce({ type: 'SYMBOL_CHANGE', newSymbol: 'NEWX' })).status).toBe(201);
    expect((await announce({ type: 'STOCK_DIVIDEND', symbol: 'NEWX', rate: 1 })).status).toBe(201);
    expect((await announce({ type: 'STOCK_DIVIDEND', symbol: 'NOPE', rate: 1 })).status).toBe(400);
  });
});

describe('a spin-off', () => {
  it('is in positions, activities, ledger, trades, tax lots and performance', async () => {
    await order('XYZ', 1000);
    await announce({ type: 'SPIN_OFF', newSymbol: 'SPUN', ratio: 0.241917, basisPercent: 23.48 });
    await advance();
    const positions = (await get('equities')) as unknown as Body[];
    expect(
      Object.fromEntries(
        positions.map(({ symbol, settledQuantity, pendingQuantity }) => [
          symbol,
          (settledQuantity as number) + (pendingQuantity as number),
        ]),
      ),
    ).toEqual({
      XYZ: 1000,
      SPUN: 241,
    });
    expect(await activities()).toMatchObject([
      {
        type: 'SPIN_OFF',
        symbol: 'XYZ',
        quantity: 1000,
        amount: 26.7,
        description: 'Spin-off of XYZ: 241 SPUN',
      },
    ]);
    expect((await get('ledger?limit=100')).data).toContainEqual(
      expect.objectContaining({ type: 'CASH_IN_LIEU' }),
    );
    const { data: lots } = await get('tax-lots');
    expect(lots).toMatchObject([
      { symbol: 'SPUN', quantity: 241, costBasis: 7017.2993, acquiredAt: '2026-01-05' },
      { symbol: 'XYZ', quantity: 1000, costBasis: 22_956, acquiredAt: '2026-01-05' },
    ]);
    const { data: trades } = await get('trades');
    expect(trades).toMatchObject([
      { symbol: 'SPUN', openedBy: 'ACTION', closedBy: 'CASH_IN_LIEU', quantity: 0.917 },
    ]);
    const performance = await get('performance');
    expect(Math.abs(performance.pnl as number)).toBeLessThan(0.01);
  });
});

describe('a merger', () => {
  it('for shares and cash has a row for what is recognized, and passes the rest of the cost', async () => {
    await quote('ACQ', 32.52);
    await quote('XYZ', 60);
    await order('XYZ', 100);
    await announce({ type: 'MERGER', newSymbol: 'ACQ', ratio: 1.437, cashPerShare: 53.75 });
    await advance();
    const { data: trades } = await get('trades');
    expect(trades).toContainEqual(
      expect.objectContaining({ symbol: 'XYZ', closedBy: 'MERGER', quantity: 100, grossPnl: 4048.124 }),
    );
    const { data: gains } = await get('realized-gains');
    expect(gains).toContainEqual(expect.objectContaining({ symbol: 'XYZ', proceeds: 5375, gain: 4048.124 }));
    const { data: lots } = await get('tax-lots');
    expect(lots).toMatchObject([{ symbol: 'ACQ', quantity: 143, acquiredAt: '2026-01-05' }]);
    expect(await activities()).toMatchObject([
      { type: 'MERGER', description: 'Merger of XYZ: 143 ACQ and 5375 in cash' },
    ]);
  });

  it('for cash closes shares and settles contracts by their value', async () => {
    const CALL = 'XYZ260220C00070000';
    const PUT = 'XYZ260220P00080000';
    await quote('XYZ', 75);
    await quote(CALL, 6);
    await quote(PUT, 5);
    await order('XYZ', 100);
    await order(CALL, 1);
    await order(PUT, 1);
    await announce({ type: 'MERGER', cashPerShare: 76.95 });
    await advance();
    expect(await get('equities')).toEqual([]);
    expect(await get('options')).toEqual([]);
    const { data: trades } = await get('trades');
    expect(trades).toContainEqual(
      expect.objectContaining({ symbol: 'XYZ', closedBy: 'MERGER', grossPnl: 195 }),
    );
    const options = (await get('activities?category=OPTION&limit=100')).data as Body[];
    expect(options).toContainEqual(
      expect.objectContaining({ type: 'CASH_SETTLED', symbol: CALL, amount: 695 }),
    );
    expect(options).toContainEqual(
      expect.objectContaining({ type: 'CASH_SETTLED', symbol: PUT, amount: 305 }),
    );
    const { body } = await client.post('/v1/orders', {
      portfolioId,
      symbol: 'XYZ',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'DAY',
    });
    expect(body).toMatchObject({ error: { code: 'INSTRUMENT_NOT_TRADABLE', symbol: 'XYZ' } });
  });
});

describe('a delisting without cash', () => {
  it('is sold on December 31 in the taxes', async () => {
    await quote('XYZ', 4);
    await order('XYZ', 100);
    await announce({ type: 'DELISTING', cashPerShare: 0 });
    await advance();
    const { data: gains } = await get('realized-gains');
    expect(gains).toMatchObject([{ symbol: 'XYZ', proceeds: 0, gain: -400, soldAt: '2026-12-31' }]);
    const { data: trades } = await get('trades');
    expect(trades).toMatchObject([{ symbol: 'XYZ', closedBy: 'DELISTING', grossPnl: -400 }]);
  });
});

describe('a change of the symbol', () => {
  it('continues orders and trades under the new symbol', async () => {
    await order('XYZ', 100);
    const { orderId } = await order('XYZ', 50, {
      positionIntent: 'SELL_TO_CLOSE',
      orderType: 'LIMIT',
      limitPrice: 40,
      timeInForce: 'GTC',
    });
    await announce({ type: 'SYMBOL_CHANGE', newSymbol: 'NEWX' });
    await advance();
    expect((await client.get(`/v1/orders/${orderId as string}`)).body).toMatchObject({
      symbol: 'NEWX',
      status: 'ACTIVE',
    });
    await quote('NEWX', 40);
    const { data: trades } = await get('trades');
    expect(trades).toMatchObject([{ symbol: 'NEWX', quantity: 50, grossPnl: 500, openedBy: 'TRADE' }]);
    expect((await get('tax-lots')).data).toMatchObject([{ symbol: 'NEWX', quantity: 50, costBasis: 1500 }]);
  });
});

describe('deliverables of a contract', () => {
  const T1 = 'XYZ1260220C00025000';
  const all = [{ symbol: 'XYZ', quantity: 100 }, { symbol: 'WBDX', quantity: 24 }, { cash: 5.58 }];
  const list = (entry: object) =>
    client.put('/v1/simulation/instruments', {
      instruments: [{ assetClass: 'OPTION', symbol: T1, underlying: 'XYZ', ...entry }],
    });

  it('are read back as they were listed, and cover a written call together', async () => {
    expect((await list({ deliverables: all })).status).toBe(200);
    const { body } = await client.get(`/v1/market-data/instruments?symbol=${T1}`);
    expect(body.data).toMatchObject([{ underlying: 'XYZ', deliverable: 100, deliverables: all }]);
    await quote('WBDX', 25);
    await quote(T1, 12);
    await advance();
    for (const [symbol, price] of [
      ['XYZ', 30],
      ['WBDX', 25],
      [T1, 12],
    ] as const)
      await quote(symbol, price);
    ({ portfolioId } = (await openPortfolio(client, { initialCash: 10_000, portfolioType: 'CASH' })) as {
      portfolioId: string;
    });
    path = `/v1/accounts/portfolios/${portfolioId}`;
    await order('XYZ', 100);
    const write = { positionIntent: 'SELL_TO_OPEN' };
    const { body: refused, status } = await client.post('/v1/orders', {
      ...{
        portfolioId,
        symbol: T1,
        assetClass: 'OPTION',
        orderType: 'MARKET',
        quantity: 1,
        timeInForce: 'DAY',
      },
      ...write,
    });
    expect([status, refused.message]).toEqual([403, expect.stringMatching(/level/i)]);
    await order('WBDX', 24);
    await order(T1, 1, write);
    const equities = (await get('equities')) as unknown as Body[];
    const reserved = Object.fromEntries(equities.map((one) => [one.symbol, one.reservedQuantity]));
    expect(reserved).toMatchObject({ XYZ: 100, WBDX: 24 });
  });

  it('are terms of a position in requirements', async () => {
    const ask = async (positions: object[], prices: object = { XYZ: 20, WBDX: 25, [T1]: 2 }) => {
      const { body } = await client.post('/v1/margin/requirements', {
        marginType: 'REG_T',
        positions,
        prices,
      });
      const { groups, maintenanceRequirement } = body;
      if (groups === undefined) return body.message as unknown;
      return [...groups.map(({ strategy }: Body) => strategy as string), maintenanceRequirement];
    };
    await quote('WBDX', 25);
    const short = { symbol: T1, quantity: -1, deliverables: all };
    // One contract is worth 20 x 100 + 25 x 24 + 5.58 = 2,605.58, in the money: 200 + 20 % of it.
    expect(await ask([short])).toEqual(['NAKED_CALL', 721.12]);
    const shares = (symbol: string, quantity: number) => ({ symbol, quantity });
    const [own, few] = [shares('XYZ', 100), shares('WBDX', 23)];
    expect(await ask([short, own, shares('WBDX', 24)])).toContain('COVERED_CALL');
    expect(await ask([short, own, few])).not.toContain('COVERED_CALL');
    // The terms of a position replace those of the listing.
    await list({ deliverables: [all[0], { cash: 1000 }] });
    expect(await ask([short])).toEqual(['NAKED_CALL', 721.12]);
    expect(await ask([{ symbol: T1, quantity: -1 }])).toEqual(['NAKED_CALL', 800]);

    expect(await ask([short], { XYZ: 20, [T1]: 2 })).toEqual(['prices must contain WBDX']);
    expect(await ask([{ ...own, deliverables: all }])).toEqual([
      'positions.0.deliverables should exist for options only',
    ]);
    expect(await ask([short, { ...short, deliverables: [all[0], all[1]] }])).toEqual([
      `positions.1.deliverables must be the same in all positions of ${T1}`,
    ]);
    expect(await ask([{ ...short, deliverables: [all[1]] }])).toEqual([
      'positions.0.deliverables must contain shares of XYZ',
    ]);
    expect(await ask([{ ...short, deliverable: 10 }])).toEqual([
      'positions.0.deliverable must be the quantity of XYZ in deliverables',
    ]);
  });

  it('are rejected without the underlying, twice, or in a wrong form', async () => {
    const cases = [
      [{ deliverables: [{ symbol: 'WBDX', quantity: 24 }] }, '.deliverables must contain shares of XYZ'],
      [{ deliverables: all, deliverable: 99 }, '.deliverable must be the quantity of XYZ in deliverables'],
      [{ deliverables: [all[0], { symbol: T1, quantity: 1 }] }, '.deliverables.1.symbol must be an equity'],
      [{ deliverables: [all[0], all[0]] }, '.deliverables must name each symbol, and cash, at most once'],
      [
        { deliverables: [{ symbol: 'XYZ' }] },
        '.deliverables.0.quantity must be given, or cash instead of shares',
      ],
      [
        { deliverables: [{ ...all[0], cash: 1 }] },
        '.deliverables.0.symbol should not exist together with cash',
      ],
      [{ deliverables: [all[0], { cash: 0 }] }, '.deliverables.1.cash must be a positive number'],
    ] as const;
    for (const [entry, message] of cases) {
      const { status, body } = await list(entry);
      expect(status).toBe(400);
      expect(body.message).toContain(`instruments.0${message}`);
    }
  });
});
