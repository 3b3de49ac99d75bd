import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  type Body,
  NOWHERE,
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterEach(() => test.close());

const url = (portfolioId: string, what = ''): string => `/v1/accounts/portfolios/${portfolioId}${what}`;

describe('a portfolio', () => {
  it('has the documented fields of a creation and of a read', async () => {
    const created = await openPortfolio(client, { name: 'first' });
    expect(created).toEqual({
      portfolioId: expect.any(String) as string,
      accountId: ACCOUNT,
      portfolioType: 'MARGIN',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      marginType: 'REG_T',
      name: 'first',
      fillModel: 'quote',
      dayTradeRegime: 'LEGACY_PDT',
      settledCash: 100000,
      pendingCash: 0,
      reservedCash: 0,
      longMarketValue: 0,
      shortMarketValue: 0,
      totalEquity: 100000,
      marginLoan: 0,
      maintenanceMarginRequirement: 0,
      initialMarginRequirement: 0,
      overnightBuyingPower: 200000,
      dayTradeBuyingPower: 400000,
      createdAt: '2026-01-05T15:00:00.000Z',
      updatedAt: '2026-01-05T15:00:00.000Z',
    });
    const { body } = await client.get(url(created.portfolioId as string));
    const shared: Partial<Record<string, unknown>> = { ...created };
    delete shared['maintenanceMarginRequirement'];
    delete shared['initialMarginRequirement'];
    expect(body).toEqual({
      ...shared,
      smaBalance: 100000,
      fedRequirement: 0,
      houseRequirement: 0,
      marginCallActive: false,
    });
  });

  it('leaves out margin fields of a CASH portfolio', async () => {
    const created = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 2500.5 });
    expect(created.settledCash).toBe(2500.5);
    for (const field of ['marginType', 'portfolioMarginEngineType', 'dayTradeRegime', 'name']) {
      expect(created).not.toHaveProperty(field);
    }
  });

  it('reports every error in one array', async () => {
    const { body } = await client.post('/v1/accounts/portfolios', {
      accountId: 'x',
      portfolioType: 'CHECKING',
      accountType: 'JOINT',
      brokerId: 'default',
      extra: 1,
    });
    expect(body).toEqual({
      statusCode: 400,
      message: [
        'accountId must be a UUID',
        'portfolioType must be CASH or MARGIN',
        'accountType must be one of INDIVIDUAL, IRA, ROTH_IRA',
        'property extra should not exist',
      ],
      error: 'Bad Request',
    });
  });

  it('names the brokers that are allowed, in one string', async () => {
    const { status, body } = await client.post('/v1/accounts/portfolios', {
      accountId: ACCOUNT,
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'nobody',
    });
    expect(status).toBe(400);
    expect(body.message).toMatch(/^brokerId must be one of default, /);
    expect(body.error).toBe('Bad Request');
  });

  it('keeps retirement accounts to cash', async () => {
    const { body } = await client.post('/v1/accounts/portfolios', {
      accountId: ACCOUNT,
      portfolioType: 'MARGIN',
      accountType: 'IRA',
      brokerId: 'default',
    });
    expect(body.message).toEqual(['IRA and ROTH_IRA accounts must use CASH portfolios']);
  });

  it('is listed in short under its account', async () => {
    const { portfolioId } = await openPortfolio(client);
    const { body } = await client.get(`/v1/accounts/${ACCOUNT}/portfolios`);
    expect(body).toEqual([
      {
        portfolioId,
        accountId: ACCOUNT,
        portfolioType: 'MARGIN',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
        totalEquity: 100000,
        settledCash: 100000,
      },
    ]);
    expect((await client.get(`/v1/accounts/${NOWHERE}/portfolios`)).body.message).toBe('Account not found');
  });

  it('closes when it is empty', async () => {
    const { portfolioId } = await openPortfolio(client);
    await pushQuote(client);
    const { orderId } = await placeOrder(client, portfolioId as string, { limitPrice: 90 });
    expect((await client.delete(url(portfolioId as string))).body).toMatchObject({
      statusCode: 409,
      error: { code: 'PORTFOLIO_NOT_EMPTY', reasons: [{ code: 'OPEN_ORDERS', count: 1 }] },
    });
    await client.put(`/v1/orders/${orderId}/cancel`);
    expect((await client.delete(url(portfolioId as string))).status).toBe(200);
    expect((await client.get(`/v1/accounts/${ACCOUNT}/portfolios`)).body).toEqual([]);
  });
});

describe('positions of a portfolio', () => {
  it('shows equities with their marks', async () => {
    const { portfolioId } = await openPortfolio(client);
    await pushQuote(client);
    await placeOrder(client, portfolioId as string);
    await pushQuote(client, { bid: 101, ask: 101.1, last: 101 });
    const { body } = await client.get(url(portfolioId as string, '/equities'));
    expect(body).toEqual([
      {
        equityId: `${portfolioId as string}:AAPL`,
        portfolioId,
        symbol: 'AAPL',
        settledQuantity: 0,
        reservedQuantity: 0,
        pendingQuantity: 10,
        costBasis: 1000,
        price: 101,
        bid: 101,
        ask: 101.1,
        marketValue: 1010,
        entryPrice: 100,
        unrealizedPnl: 10,
      },
    ]);
    expect((await client.get(url(portfolioId as string, '/options'))).body).toEqual([]);
    expect((await client.get(url(portfolioId as string, '/futures'))).body).toEqual([]);
    const { body: whole } = await client.get(url(portfolioId as string));
    expect(whole.totalEquity).toBe(100010);
    const { settledCash, pendingCash, reservedCash, longMarketValue, shortMarketValue, marginLoan } =
      whole as Record<string, number>;
    expect(whole.totalEquity).toBe(
      settledCash! + pendingCash! + reservedCash! + longMarketValue! - shortMarketValue! - marginLoan!,
    );
  });

  it('shows a short position as negative', async () => {
    const { portfolioId } = await openPortfolio(client);
    await pushQuote(client);
    await placeOrder(client, portfolioId as string, { positionIntent: 'SELL_TO_OPEN', limitPrice: 99.9 });
    await pushQuote(client, { bid: 101, ask: 101.1, last: 101 });
    const { body } = await client.get(url(portfolioId as string, '/equities'));
    expect(body).toMatchObject([
      { pendingQuantity: -10, costBasis: 999, marketValue: -1010, entryPrice: 99.9, unrealizedPnl: -11 },
    ]);
  });

  it('lists settlements by day', async () => {
    const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH', marginType: undefined });
    const settlements = async () => (await client.get(url(portfolioId as string, '/settlements'))).body;
    await pushQuote(client);
    expect(await settlements()).toEqual([]);
    // Bought on Monday: shares are delivered on Tuesday, the cash is debited at once.
    await placeOrder(client, portfolioId as string);
    const bought = { symbol: 'AAPL', quantity: 10 };
    expect(await settlements()).toEqual([{ date: '2026-01-06', cash: 0, deliveries: [bought] }]);
    // Sold on Tuesday: the proceeds, less the fees of a sale, come on Wednesday.
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-06T10:00:00-05:00' });
    await pushQuote(client);
    await placeOrder(client, portfolioId as string, {
      positionIntent: 'SELL_TO_CLOSE',
      quantity: 6,
      limitPrice: 99.9,
    });
    const { body: whole } = await client.get(url(portfolioId as string));
    expect(await settlements()).toEqual([
      { date: '2026-01-07', cash: whole.pendingCash, deliveries: [{ symbol: 'AAPL', quantity: -6 }] },
    ]);
    expect(whole.pendingCash).toBeGreaterThan(599);
    expect((await client.get(url(NOWHERE, '/settlements'))).status).toBe(404);
  });

  it('listSettlements: shows no delivery of shares that were bought and sold on one day', async () => {
    const { portfolioId } = await openPortfolio(client);
    await pushQuote(client);
    await placeOrder(client, portfolioId as string);
    await placeOrder(client, portfolioId as string, { positionIntent: 'SELL_TO_CLOSE', limitPrice: 99.9 });
    const { body } = await client.get(url(portfolioId as string, '/settlements'));
    expect(body).toMatchObject([{ date: '2026-01-06', deliveries: [] }]);
  });
});

describe('actions on a portfolio', () => {
  it('switches the broker, unless orders are open', async () => {
    const { portfolioId } = await openPortfolio(client);
    const brokerId = [...test.main.brokerage.rules.brokers.keys()][1];
    const { status, body } = await client.put(url(portfolioId as string, '/broker'), { brokerId });
    expect(status).toBe(200);
    expect(body).toMatchObject({ brokerId, maintenanceMarginRequirement: 0, smaBalance: 100000 });
    expect((await client.put(url(portfolioId as string, '/broker'), { brokerId: 'nobody' })).status).toBe(
      400,
    );
    expect((await client.put(url(NOWHERE, '/broker'), { brokerId })).status).toBe(404);
    await pushQuote(client);
    await placeOrder(client, portfolioId as string, { limitPrice: 90 });
    const conflict = await client.put(url(portfolioId as string, '/broker'), { brokerId: 'default' });
    expect(conflict.body).toMatchObject({ statusCode: 409, error: 'Conflict' });
  });

  it('reports eligibility for portfolio margin, and upgrades', async () => {
    const { portfolioId } = await openPortfolio(client);
    const { body } = await client.get(url(portfolioId as string, '/margin-eligibility'));
    expect(body).toMatchObject({
      eligible: false,
      totalEquity: 100000,
      requiredEquity: 110000,
      currentMarginType: 'REG_T',
    });
    expect(body.reasons).toHaveLength(1);
    expect(body).not.toHaveProperty('availableEngines');
    const upgrade = (more: object = {}) =>
      client.put(url(portfolioId as string, '/margin-upgrade'), { marginType: 'PORTFOLIO', ...more });
    expect((await upgrade()).body).toMatchObject({
      statusCode: 400,
      error: { code: 'MARGIN_NOT_ELIGIBLE', reasons: body.reasons as string[] },
    });
    expect((await upgrade({ addPromotionalCash: true })).body).toEqual({
      success: true,
      portfolio: {
        portfolioId,
        marginType: 'PORTFOLIO',
        portfolioMarginEngineType: 'TIMS',
        settledCash: 250000,
      },
      message: 'Portfolio upgraded to PORTFOLIO margin',
      promotionalCashAdded: 150000,
    });
    expect((await upgrade({ addPromotionalCash: true })).body.promotionalCashAdded).toBe(0);
    expect((await client.get(url(portfolioId as string, '/margin-eligibility'))).body).toMatchObject({
      eligible: true,
      reasons: [],
      availableEngines: ['SIMPLE', 'SPAN', 'TIMS'],
    });
  });

  it('resets a portfolio', async () => {
    const { portfolioId } = await openPortfolio(client);
    await pushQuote(client);
    await placeOrder(client, portfolioId as string);
    await placeOrder(client, portfolioId as string, { limitPrice: 90 });
    const { body } = await client.post(url(portfolioId as string, '/reset'));
    expect(body).toEqual({
      success: true,
      portfolioId,
      message: 'Portfolio reset successfully',
      resetSummary: {
        positionsClosed: 1,
        ordersCancelled: 1,
        newCashBalance: 100000,
        oldCashBalance: 99000,
        realizedPnL: 0,
      },
    });
  });

  it('transfers cash', async () => {
    const { portfolioId } = await openPortfolio(client);
    const { status, body } = await client.post(url(portfolioId as string, '/transfers'), {
      amount: -0.01,
      reason: 'out',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      type: 'TRANSFER',
      description: 'out',
      postings: [
        { account: 'SETTLED_CASH', amount: -0.01 },
        { account: 'CAPITAL', amount: 0.01 },
      ],
    });
    expect((await client.post(url(portfolioId as string, '/transfers'), { amount: -100000 })).body).toEqual({
      statusCode: 400,
      message: 'Insufficient funds',
      error: { code: 'INSUFFICIENT_FUNDS', availableCash: 99999.99, requiredAmount: 100000 },
    });
  });
});

describe('History of a portfolio', () => {
  it('lists activities with their categories, ledger, day trades and equity curve', async () => {
    const { portfolioId } = await openPortfolio(client);
    await pushQuote(client);
    await placeOrder(client, portfolioId as string);
    await placeOrder(client, portfolioId as string, { positionIntent: 'SELL_TO_CLOSE', limitPrice: 99.9 });
    const { orderId } = await placeOrder(client, portfolioId as string, { limitPrice: 90 });
    await client.put(`/v1/orders/${orderId}/cancel`);
    await client.put(url(portfolioId as string, '/margin-upgrade'), {
      marginType: 'PORTFOLIO',
      addPromotionalCash: true,
    });
    await client.post('/v1/simulation/clock/advance', { by: 'P2D' });

    const { body } = await client.get(url(portfolioId as string, '/activities'));
    const ids = body.data.map(({ activityId }: Body) => activityId as string) as string[];
    expect(new Set(ids).size).toBe(ids.length);
    const alias = await client.get(`/v1/activity-log/portfolio/${portfolioId as string}`);
    expect(alias.body).toEqual(body);
    for (const category of ['ORDER', 'EXECUTION', 'CASH', 'SETTLEMENT', 'MARGIN', 'SYSTEM']) {
      const filtered = await client.get(url(portfolioId as string, `/activities?category=${category}`));
      expect(filtered.body.data).toEqual(body.data.filter((item: Body) => item.category === category));
      expect(filtered.body.pagination.total, category).toBeGreaterThan(0);
    }
    const ledger = await client.get(url(portfolioId as string, '/ledger'));
    for (const { postings } of ledger.body.data as { postings: { amount: number }[] }[]) {
      expect(Math.abs(postings.reduce((sum, { amount }) => sum + amount, 0))).toBeLessThan(1e-9);
    }
    const trades = await client.get(url(portfolioId as string, '/day-trades'));
    expect(trades.body).toMatchObject({
      data: [
        {
          symbol: 'AAPL',
          tradingDate: '2026-01-05',
          quantity: 10,
          buyPrice: 100,
          sellPrice: 99.9,
          pnl: -1,
          isSameDay: true,
        },
      ],
      pagination: { page: 1, limit: 50, total: 1, totalPages: 1 },
    });
    const dated = async (query: string): Promise<number> =>
      (await client.get(url(portfolioId as string, `/day-trades?${query}`))).body.data.length;
    expect(await dated('from=2026-01-05&to=2026-01-05')).toBe(1);
    expect(await dated('from=2026-01-06')).toBe(0);
    expect(await dated('to=2026-01-04')).toBe(0);
    expect(await dated('to=2026-01-05&limit=1')).toBe(1);
    for (const query of ['from=2026-01-06&to=2026-01-05', 'from=2026-01-05T10:00:00Z', 'to=2026-02-30'])
      expect((await client.get(url(portfolioId as string, `/day-trades?${query}`))).status, query).toBe(400);
    const curve = await client.get(url(portfolioId as string, '/history'));
    expect(curve.body.data.map(({ at }: Body) => at as string)).toEqual([
      '2026-01-06T21:00:00.000Z',
      '2026-01-05T21:00:00.000Z',
    ]);
    const day = await client.get(url(portfolioId as string, '/history?from=2026-01-05&to=2026-01-05'));
    expect(day.body.data).toEqual([curve.body.data[1]]);
  });

  it('describes each ledger entry in words', async () => {
    const { portfolioId } = (await openPortfolio(client, { brokerId: 'broker_03' })) as {
      portfolioId: string;
    };
    for (const transfer of [{ amount: 5 }, { amount: -5 }, { amount: -0.01, reason: 'out' }]) {
      await client.post(url(portfolioId, '/transfers'), transfer);
    }
    await pushQuote(client);
    await client.post('/v1/simulation/corporate-actions', {
      actions: [
        {
          type: 'CASH_DIVIDEND',
          symbol: 'AAPL',
          exDate: '2026-01-06',
          payDate: '2026-01-07',
          amountPerShare: 0.24,
        },
        { type: 'SPLIT', symbol: 'AAPL', exDate: '2026-01-07', ratio: { new: 3, old: 2 } },
      ],
    });
    await placeOrder(client, portfolioId, { quantity: 100 });
    const sale = await placeOrder(client, portfolioId, {
      positionIntent: 'SELL_TO_CLOSE',
      quantity: 51,
      limitPrice: 99.9,
    });
    await client.post('/v1/simulation/clock/advance', { by: 'P2D' });
    await client.put(url(portfolioId, '/margin-upgrade'), {
      marginType: 'PORTFOLIO',
      addPromotionalCash: true,
    });
    await client.post(url(portfolioId, '/reset'));

    const { body } = await client.get(url(portfolioId, '/ledger'));
    const entries = (body.data as Body[]).toReversed();
    expect(entries.map(({ description }) => description as string)).toEqual([
      'Initial cash',
      'Deposit',
      'Withdrawal',
      'out',
      'Bought 100 AAPL at 100',
      'Commission',
      'Sold 51 AAPL at 99.9',
      'Commission',
      'TAF',
      'Dividend of 0.24 a share on AAPL',
      'Settlement of 2026-01-06',
      // 49 shares × 3 / 2 = 73.5.
      'Cash in lieu of 0.5 AAPL',
      'Settlement of 2026-01-07',
      'Promotional cash',
      'Reset to the initial state',
    ]);
    const ids = entries.map(({ entryId }) => entryId as string);
    expect(new Set(ids).size).toBe(ids.length);
    const executions = await client.get(`/v1/orders/${sale.orderId as string}/executions`);
    const { executionId } = executions.body.data[0] as { executionId: string };
    for (const entry of entries.slice(6, 9)) {
      expect(entry).toMatchObject({ orderId: sale.orderId as string, executionId });
    }
  });

  it('order events: show the order as of each event', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    await pushQuote(client, { bid: 99.9, ask: 101 });
    const { orderId } = await placeOrder(client, portfolioId);
    await client.put(`/v1/orders/${orderId as string}`, { quantity: 8 });
    for (const askSize of [3, 5]) await pushQuote(client, { ask: 100, askSize });
    const { body } = await client.get(url(portfolioId, '/activities'));
    const told = (body.data as Body[]).filter((item) => item.orderId === orderId).toReversed();
    expect(told.map(({ type, description }) => [type as string, description as string])).toEqual([
      ['CREATED', 'LIMIT order to buy 10 AAPL created'],
      ['REPLACED', 'Order to buy 8 AAPL updated'],
      ['PARTIALLY_FILLED', 'Bought 3 AAPL at 100.00'],
      ['FILLED', 'Bought 5 AAPL at 100.00'],
    ]);
  });
});
