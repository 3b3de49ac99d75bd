/** Activities of the dialect explain the cash of an account, whatever has moved it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import {
  type Body,
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../../../server/src/testing/test-app.js';

const CALL = 'AAPL260116C00090000';
const SHORT_PUT = 'AAPL260116P00110000';
const LOST_CALL = 'AAPL260116C00130000';

let test: TestApp;
let owner: TestClient;
let portfolioId: string;
let send: AlpacaSend;

beforeEach(async () => {
  test = await TestApp.open();
  owner = test.as({ tier: 'ENTERPRISE' });
  await open({});
});
afterEach(() => test.close());

async function open(portfolio: object): Promise<void> {
  ({ portfolioId } = (await openPortfolio(owner, portfolio)) as { portfolioId: string });
  send = alpacaSender(test, await keyPairOf(owner, portfolioId));
}

const post = async (what: string, body: object = {}): Promise<Body> => {
  const reply = await owner.post(`/v1/accounts/portfolios/${portfolioId}/${what}`, body);
  expect([reply.status < 300, reply.body]).toEqual([true, reply.body]);
  return reply.body;
};
const advance = async (by: string): Promise<void> => {
  expect((await owner.post('/v1/simulation/clock/advance', { by })).status).toBe(200);
};
const trade = (symbol: string, positionIntent: string, quantity: number, more: object = {}): Promise<Body> =>
  placeOrder(owner, portfolioId, {
    symbol,
    positionIntent,
    quantity,
    orderType: 'MARKET',
    limitPrice: undefined,
    ...more,
  });
const cash = async (): Promise<number> => Number((await send('GET', '/v2/account')).body.cash);

async function list(query = '', type = ''): Promise<readonly Body[]> {
  const { status, body } = await send('GET', `/v2/account/activities${type}${query}`);
  expect([status, body]).toEqual([200, body]);
  return body as Body[];
}

/** All activities, in pages. */
async function paged(direction: 'asc' | 'desc', size = 7, query = ''): Promise<readonly Body[]> {
  const all: Body[] = [];
  for (;;) {
    const last = all.at(-1)?.id;
    const token = last === undefined ? '' : `&page_token=${encodeURIComponent(String(last))}`;
    const page = await list(`?direction=${direction}&page_size=${size}${query}${token}`);
    all.push(...page);
    if (page.length < size) return all;
  }
}

const cents = (activities: readonly Body[]): number =>
  Math.round(activities.reduce((sum: number, { net_amount }) => sum + Number(net_amount) * 100, 0));

/** Holds the sum of all activities against the cash, and their pages against each other. */
async function explained(): Promise<readonly Body[]> {
  const [ascending, descending] = [await paged('asc'), await paged('desc', 11)];
  const ids = ascending.map(({ id }) => String(id));
  expect(descending.map(({ id }) => id)).toEqual(ids.toReversed());
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^\d{17}::\d{16}-\d{6}$/);
  expect(cents(ascending)).toBe(Math.round((await cash()) * 100));
  return ascending;
}

const typesOf = (activities: readonly Body[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { activity_type } of activities) {
    const type = String(activity_type);
    counts[type] = (counts[type] ?? 0) + 1;
  }
  return counts;
};

describe('activities of the Alpaca dialect (D280)', () => {
  it('explain the cash and name the shares of spin-offs, new names and mergers', async () => {
    await pushQuote(owner, { symbol: 'AAPL' });
    await trade('AAPL', 'BUY_TO_OPEN', 101);
    const action = (exDate: string, more: object) => ({ symbol: 'AAPL', exDate, ...more });
    const { status } = await owner.post('/v1/simulation/corporate-actions', {
      actions: [
        action('2026-01-07', {
          type: 'SPIN_OFF',
          newSymbol: 'SPUN',
          ratio: { new: 1, old: 2 },
          basisPercent: 10,
        }),
        { ...action('2026-01-08', { type: 'SYMBOL_CHANGE', newSymbol: 'SPAN' }), symbol: 'SPUN' },
        action('2026-01-09', { type: 'MERGER', cashPerShare: 95 }),
      ],
    });
    expect(status).toBe(201);
    await advance('P7D');
    const activities = await explained();
    expect(typesOf(activities)).toMatchObject({ SPIN: 1, CIL: 1, NC: 2 });
    const shown = (type: string) => activities.filter(({ activity_type }) => activity_type === type);
    expect(shown('SPIN')).toMatchObject([{ symbol: 'SPUN', qty: '50' }]);
    expect(shown('NC').map(({ symbol, qty }) => [symbol, qty])).toEqual([
      ['SPUN', '-50'],
      ['SPAN', '50'],
    ]);
    expect(cents(shown('MA'))).toBe(959_500);
  });

  it('deposits, withdrawals, trades, commissions and fees sum up to the cash', async () => {
    await open({ brokerId: 'broker_01' });
    await post('transfers', { amount: 5000 });
    await post('transfers', { amount: -1234.56 });
    await pushQuote(owner);
    await trade('AAPL', 'BUY_TO_OPEN', 33.333333);
    await trade('AAPL', 'SELL_TO_CLOSE', 12.5);
    const all = await explained();
    expect(typesOf(all)).toMatchObject({ CSD: 2, CSW: 1, FILL: 2 });
    const fills = all.filter(({ activity_type }) => activity_type === 'FILL');
    // 33.333333 × 100 is 3,333.3333: whole cents move.
    expect(fills.map(({ net_amount }) => net_amount)).toEqual(['-3333.33', '1248.75']);
    const sold = all.filter(({ activity_sub_type }) =>
      ['COM', 'REG', 'TAF'].includes(activity_sub_type as string),
    );
    expect(sold.length).toBeGreaterThan(0);
    for (const { net_amount } of sold) expect(Number(net_amount)).toBeLessThan(0);
  });

  it('dividends have both signs, the shares and the amount of a share', async () => {
    await pushQuote(owner);
    await pushQuote(owner, { symbol: 'MSFT' });
    await trade('AAPL', 'BUY_TO_OPEN', 60);
    await trade('MSFT', 'SELL_TO_OPEN', 40);
    const dividend = { type: 'CASH_DIVIDEND', exDate: '2026-01-06', payDate: '2026-01-12' };
    await owner.post('/v1/simulation/corporate-actions', {
      actions: [
        { ...dividend, symbol: 'AAPL', amountPerShare: 0.37 },
        { ...dividend, symbol: 'MSFT', amountPerShare: 0.83 },
      ],
    });
    const before = await cash();
    await advance('P1D');
    expect(await cash()).toBe(before + 22.2 - 33.2);
    const found = await list('', '/DIV');
    expect(
      found.map((one) => [one.symbol, one.qty, one.per_share_amount, one.net_amount, one.date]).sort(),
    ).toEqual([
      ['AAPL', '60', '0.37', '22.2', '2026-01-06'],
      ['MSFT', '-40', '0.83', '-33.2', '2026-01-06'],
    ]);
    await advance('P14D');
    expect(await list('', '/DIV')).toEqual(found);
    await explained();
  });

  it('splits and cash in lieu, also at a broker of whole shares', async () => {
    await open({ brokerId: 'broker_01' });
    await pushQuote(owner);
    await trade('AAPL', 'BUY_TO_OPEN', 33);
    await owner.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: '2026-01-06', ratio: { new: 3, old: 2 } }],
    });
    await advance('P1D');
    const all = await explained();
    const [split] = all.filter(({ activity_type }) => activity_type === 'SPLIT');
    const lieu = all.filter(({ activity_type }) => activity_type === 'CIL');
    // 33 shares become 49.5.
    expect([split.symbol, split.net_amount]).toEqual(['AAPL', '0']);
    expect(Number(split.qty)).toBe(lieu.length === 0 ? 16.5 : 16);
  });

  it('interest on a loan and fees for borrowed stock', async () => {
    await pushQuote(owner);
    await pushQuote(owner, { symbol: 'MSFT' });
    await trade('AAPL', 'BUY_TO_OPEN', 1500);
    await trade('MSFT', 'SELL_TO_OPEN', 200);
    await advance('P35D');
    const types = typesOf(await explained());
    expect(types).toMatchObject({ INT: 1, FEE: 1 });
  });

  it('exercise, assignment and expiry of options: the shares once, with the strike', async () => {
    await pushQuote(owner);
    for (const symbol of [CALL, SHORT_PUT, LOST_CALL])
      await pushQuote(owner, { symbol, bid: 2, ask: 2, last: 2 });
    await trade(CALL, 'BUY_TO_OPEN', 2, { assetClass: 'OPTION' });
    await trade(SHORT_PUT, 'SELL_TO_OPEN', 1, { assetClass: 'OPTION' });
    await trade(LOST_CALL, 'BUY_TO_OPEN', 3, { assetClass: 'OPTION' });
    await post(`options/${CALL}/exercise`, { quantity: 1 });
    await advance('P14D');
    const all = await explained();
    const shown = all
      .filter(({ activity_type }) => String(activity_type).startsWith('OP'))
      .map((one) => [one.activity_type, one.symbol, one.qty, one.net_amount])
      .sort();
    expect(shown).toEqual([
      ['OPASN', SHORT_PUT, '1', '0'],
      ['OPEXC', CALL, '1', '0'],
      ['OPEXC', CALL, '1', '0'],
      ['OPEXP', LOST_CALL, '3', '0'],
      ['OPTRD', 'AAPL', '100', '-11000'],
      ['OPTRD', 'AAPL', '100', '-9000'],
      ['OPTRD', 'AAPL', '100', '-9000'],
    ]);
  });

  it('an index option is settled in cash', async () => {
    await pushQuote(owner, { symbol: 'SPX', bid: 6000, ask: 6000, last: 6000 });
    const symbol = 'SPXW260116C05900000';
    await pushQuote(owner, { symbol, bid: 120, ask: 120, last: 120 });
    await trade(symbol, 'BUY_TO_OPEN', 1, { assetClass: 'OPTION' });
    await advance('P14D');
    const ended = (await explained()).filter(({ activity_type }) => activity_type === 'OPCSH');
    expect(ended.map((one) => [one.symbol, one.qty, one.net_amount])).toEqual([[symbol, '1', '10000']]);
  });

  it('the variation of futures, whose fills are not shown', async () => {
    await pushQuote(owner, { symbol: 'ESH26', bid: 6000, ask: 6000, last: 6000 });
    await trade('ESH26', 'BUY_TO_OPEN', 1, { assetClass: 'FUTURE' });
    await pushQuote(owner, { symbol: 'ESH26', bid: 6010, ask: 6010, last: 6010 });
    await advance('P1D');
    await pushQuote(owner, { symbol: 'ESH26', bid: 6015, ask: 6015, last: 6015 });
    await trade('ESH26', 'SELL_TO_CLOSE', 1, { assetClass: 'FUTURE' });
    await advance('P1D');
    const types = typesOf(await explained());
    expect(types['FILL']).toBeUndefined();
    expect(types['JNLC']).toBeGreaterThan(0);
  });

  it('imported cash and positions, and a reset', async () => {
    await pushQuote(owner, { bid: 200, ask: 200, last: 200 });
    await post('import', {
      cash: 2500.25,
      positions: [
        { symbol: 'AAPL', quantity: 30, lots: [{ quantity: 30, price: 120, acquiredAt: '2024-03-01' }] },
      ],
    });
    const imported = await explained();
    expect(typesOf(imported)).toEqual({ CSD: 1, ACATC: 1, ACATS: 1 });
    expect(imported.at(-1)).toMatchObject({
      activity_type: 'ACATS',
      symbol: 'AAPL',
      qty: '30',
      net_amount: '0',
    });
    await post('reset', {});
    expect(typesOf(await explained())).toEqual({ CSD: 1, ACATC: 1, ACATS: 1, JNLC: 1 });
    expect(await cash()).toBe(100_000);
  });

  it('multi-leg orders, orders in part filled, and every filter and page', async () => {
    await pushQuote(owner, { bidSize: 4, askSize: 4 });
    const { body: order } = await send('POST', '/v2/orders', {
      symbol: 'AAPL',
      qty: 10,
      side: 'buy',
      type: 'limit',
      limit_price: 100,
      time_in_force: 'gtc',
    });
    await pushQuote(owner, { bidSize: 4, askSize: 4, ask: 99.99 });
    const [call, put] = ['AAPL260116C00110000', 'AAPL260116P00090000'] as const;
    for (const symbol of [call, put]) await pushQuote(owner, { symbol, bid: 2, ask: 2.1, last: 2 });
    const legs = [call, put].map((symbol) => ({ symbol, ratio_qty: '1', side: 'buy' }));
    const mleg = { order_class: 'mleg', qty: 2, type: 'market', time_in_force: 'day', legs };
    expect((await send('POST', '/v2/orders', mleg)).status).toBe(200);
    const all = await explained();
    const fills = all.filter(({ symbol }) => symbol === 'AAPL');
    expect(fills.map(({ qty, cum_qty, leaves_qty, type }) => [qty, cum_qty, leaves_qty, type])).toEqual([
      ['4', '4', '6', 'partial_fill'],
      ['4', '8', '2', 'partial_fill'],
    ]);
    for (const { order_id } of fills) expect(order_id).toBe(order.id);
    expect(all.filter(({ symbol }) => symbol === call || symbol === put)).toHaveLength(2);
    for (const size of [1, 2, 3])
      for (const direction of ['asc', 'desc'] as const)
        for (const query of [
          '',
          '&activity_types=FILL',
          '&activity_types=FILL,CSD',
          '&category=trade_activity',
        ])
          expect(await paged(direction, size, query)).toEqual(
            (direction === 'asc' ? all : all.toReversed()).filter(
              ({ activity_type: type }) =>
                query === '' || type === 'FILL' || (type === 'CSD' && query.includes(type)),
            ),
          );
    expect(await list('?activity_types=TRANS')).toHaveLength(1);
    expect(typesOf(await list('?activity_types=MISC'))).toEqual({ FEE: 2 });
    expect(await list('?category=non_trade_activity')).toHaveLength(3);
  });

  it('dates are days of New York, and a day is listed whole', async () => {
    // 22:00 in New York of the 5th is the 6th in UTC.
    await advance('PT12H');
    for (let i = 0; i < 120; i++) await post('transfers', { amount: 1 });
    const day = await list('?date=2026-01-05');
    expect(day).toHaveLength(121);
    expect(new Set(day.map(({ date }) => date))).toEqual(new Set(['2026-01-05']));
    expect(day[0].id).toMatch(/^20260105220000000::/);
    expect(await list('?date=2026-01-06')).toEqual([]);
    expect(await list('?date=2026-01-05T05:00:00Z')).toHaveLength(121);
    expect(await paged('asc', 50, '&date=2026-01-05')).toHaveLength(121);
    expect(await list('')).toHaveLength(100);
    expect(await list('?after=2026-01-06')).toEqual([]);
    expect(await list('?until=2026-01-06&page_size=1')).toHaveLength(1);
    expect(await list('?until=2026-01-05')).toEqual([]);
    expect(await list('?after=2026-01-05T20:00:00Z&until=2026-01-07T00:00:00Z&page_size=5')).toHaveLength(5);
  });

  it('ids keep their order in the hour that comes twice', async () => {
    await owner.post('/v1/simulation/clock/advance', { to: '2026-11-01T05:50:00Z' });
    await post('transfers', { amount: 1 });
    for (const by of ['PT20M', 'PT10M', 'PT45M']) {
      await advance(by);
      await post('transfers', { amount: 1 });
    }
    const all = await explained();
    expect(all.slice(-4).map(({ id }) => String(id).slice(8, 17))).toEqual([
      '015000000',
      '015959999',
      '015959999',
      '020500000',
    ]);
  });

  it('pages begin behind ids of earlier releases, and far, unknown or invalid ones end', async () => {
    await pushQuote(owner);
    for (let i = 0; i < 3; i++) await trade('AAPL', 'BUY_TO_OPEN', 1);
    const all = await list('?direction=asc');
    const { data } = (await owner.get(`/v1/accounts/portfolios/${portfolioId}/activities?category=EXECUTION`))
      .body;
    const old = `20260105150000000::${(data as Body[])[1]?.activityId as string}`;
    const token = encodeURIComponent(old);
    expect(await list(`?direction=asc&page_token=${token}`)).toEqual(all.slice(3));
    expect(await list(`?page_token=${token}`)).toEqual(all.slice(0, 2).reverse());
    for (const far of [
      '19700101000000000::0000000000000000-000000',
      '99991231235959999::9999999999999999-999999',
    ]) {
      const status = (await send('GET', `/v2/account/activities?page_token=${far}`)).status;
      expect(status).toBe(200);
    }
    for (const bad of ['nope', '20261301000000000::0000000000000000-000000', 'x'.repeat(500), '::'])
      expect((await send('GET', `/v2/account/activities?page_token=${bad}`)).status).toBe(422);
    for (const query of [
      '?date=2026-02-31',
      '?date=2026-01-05&after=2026-01-01',
      '?page_token=a&page_token=b',
    ])
      expect((await send('GET', `/v2/account/activities${query}`)).status).toBe(422);
    for (const query of ['?date=9999-12-31', '?date=0000-01-01', '?after=9999-12-31', '?until=0001-01-01'])
      expect(await list(query)).toEqual([]);
    expect(await list('?page_token=&date=&after=&until=&activity_types=&direction=&page_size=')).toHaveLength(
      4,
    );
  });
});

describe('cashflow of the portfolio history', () => {
  it('has what moved cash between the points, by type', async () => {
    await advance('P1D');
    await post('transfers', { amount: 500.5 });
    await post('transfers', { amount: 1 });
    await post('transfers', { amount: -20 });
    await advance('P1D');
    const history = async (query = '') =>
      (await send('GET', `/v2/account/portfolio/history?period=1M${query}`)).body;
    const { cashflow, timestamp } = await history();
    // Closes of the 5th and the 6th, and now.
    expect(timestamp).toHaveLength(3);
    expect(cashflow).toEqual({ CSD: [100_000, 501.5, 0], CSW: [0, -20, 0] });
    expect((await history('&cashflow_types=CSW,DIV')).cashflow).toEqual({ CSW: [0, -20, 0] });
    expect((await history('&cashflow_types=NONE')).cashflow).toEqual({});
    expect((await history('&start=2026-01-06T22:00:00Z&end=&period=')).cashflow).toEqual({});
    expect((await history('&pnl_reset=never')).code).toBe(40010001);
    expect((await history('&start=2026-01-01&end=2026-01-02')).code).toBe(40010001);
  });
});
