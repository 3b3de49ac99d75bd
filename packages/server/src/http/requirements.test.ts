import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Body, pushQuote, type Reply, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;

beforeAll(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterAll(() => test.close());

const ask = (body: object): Promise<Reply> => client.post('/v1/margin/requirements', body);

async function regT(positions: object[], prices: object, more: object = {}): Promise<Body> {
  const { status, body } = await ask({ marginType: 'REG_T', positions, prices, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const figures = (body: Body): unknown[] =>
  (body.groups as Body[]).map(({ strategy, initial, maintenance }) => [strategy, initial, maintenance]);

describe('a book under REG_T (D43, D99–D106)', () => {
  it('requires no margin if it is empty', async () => {
    const nothing = {
      initialRequirement: 0,
      maintenanceRequirement: 0,
      fedRequirement: 0,
      houseRequirement: 0,
      groups: [],
    };
    expect(await regT([], {})).toEqual(nothing);
    expect((await ask({ marginType: 'PORTFOLIO', positions: [], prices: {} })).body).toEqual({
      ...nothing,
      scenarios: [],
    });
  });

  it('lists long and short stock in the order of its symbols', async () => {
    const positions = [
      { symbol: 'KO', quantity: 100 },
      { symbol: 'F', quantity: -100 },
    ];
    const body = await regT(positions, { KO: 60, F: 8 });
    expect(figures(body)).toEqual([
      ['SHORT_STOCK', 500, 500],
      ['LONG_STOCK', 3000, 1500],
    ]);
    expect([body.fedRequirement, body.houseRequirement, body.initialRequirement]).toEqual([3400, 2000, 3500]);
    expect(body.groups[0].rule).toContain('4210(c)');
  });

  it('an iron condor entered leg by leg, padded and twice, is one group; its wider side', async () => {
    const leg = (optionSymbol: string, quantity: number) => ({ optionSymbol, quantity });
    const positions = [
      leg('AAPL  260116P00090000', 1),
      leg('AAPL260116P00095000', -1),
      leg('AAPL260116C00105000', -1),
      leg('aapl260116c00112000', 1),
      leg('AAPL260116P00090000', 1),
      leg('AAPL260116P00095000', -1),
      leg('AAPL260116C00105000', -1),
      leg('AAPL260116C00112000', 1),
    ];
    const prices = {
      AAPL: 100,
      'AAPL  260116P00090000': 0.5,
      AAPL260116P00095000: 1.5,
      AAPL260116C00105000: 1.4,
      AAPL260116C00112000: 0.3,
    };
    const body = await regT(positions, prices);
    // The call side is seven wide; the longs are paid in full.
    expect(figures(body)).toEqual([['IRON_CONDOR', 1400 + 2 * 80, 1400]]);
    expect(body.groups[0].legs).toHaveLength(4);
    expect(body.groups[0].underlying).toBe('AAPL');
  });

  it('totals are rounded at the end, and groups add up to them (D106)', async () => {
    const positions = ['AAPL', 'F', 'KO'].map((symbol) => ({ symbol, quantity: 1 }));
    const body = await regT(positions, { AAPL: 10.01, F: 10.01, KO: 10.01 });
    // 3 × 5.005 and 3 × 2.5025.
    expect([body.fedRequirement, body.initialRequirement, body.houseRequirement]).toEqual([
      15.02, 15.02, 7.51,
    ]);
    expect(figures(body)).toEqual([
      ['LONG_STOCK', 5.01, 2.5],
      ['LONG_STOCK', 5, 2.51],
      ['LONG_STOCK', 5.01, 2.5],
    ]);
  });

  it('margins naked options at the rate of their class; the root of an index option prices its index', async () => {
    const body = await regT(
      [
        { symbol: 'SPXW260116P06000000', quantity: -1 },
        { symbol: 'AAPL260116C00100000', quantity: -1 },
      ],
      { SPXW: 6100, SPXW260116P06000000: 20, AAPL: 97.73, AAPL260116C00100000: 1.68 },
    );
    // 1.68 + 20 % of 97.73 − 2.27; 20 + 15 % of 6,100 − 100.
    expect(figures(body)).toEqual([
      ['NAKED_CALL', 1895.6, 1895.6],
      ['NAKED_PUT', 83_500, 83_500],
    ]);
  });

  it('margins futures by maintenance, and opposite months by the pair', async () => {
    await client.put('/v1/simulation/instruments', {
      instruments: [
        { assetClass: 'FUTURE', symbol: 'ESH26', initialMargin: 22_000, maintenanceMargin: 20_000 },
        { assetClass: 'FUTURE', symbol: 'ESM26', initialMargin: 22_000, maintenanceMargin: 20_000 },
      ],
    });
    const positions = [
      { symbol: 'ESH6', quantity: 3 },
      { symbol: 'ESM26', quantity: -1 },
    ];
    const prices = { ESH26: 6000, ESM26: 6050 };
    const body = await regT(positions, prices);
    expect(figures(body)).toEqual([
      ['FUTURE', 44_000, 40_000],
      ['FUTURE_SPREAD', 4400, 4000],
    ]);
    expect([body.fedRequirement, body.houseRequirement]).toEqual([0, 44_000]);
    const span = await ask({
      marginType: 'PORTFOLIO',
      portfolioMarginEngineType: 'SPAN',
      positions,
      prices,
    });
    expect(span.body.maintenanceRequirement).toBe(44_000);
    expect(span.body.initialRequirement).toBe(48_400);
    expect(span.body.scenarios).toHaveLength(16);
  });

  it('applies the rates of a broker', async () => {
    const house = await regT([{ symbol: 'KO', quantity: 100 }], { KO: 60 }, { brokerId: 'broker_03' });
    expect(house.fedRequirement).toBe(3000);
    const unknown = await ask({ marginType: 'REG_T', positions: [], prices: {}, brokerId: 'nobody' });
    expect(unknown.status).toBe(400);
    expect(unknown.body.message).toContain('default');
  });
});

describe('a book under PORTFOLIO (D114–D117)', () => {
  const positions = [
    { symbol: 'KO', quantity: 100 },
    { optionSymbol: 'KO260220P00060000', quantity: 1 },
  ];
  const prices = { KO: 60, KO260220P00060000: 1.5 };

  it.each(['TIMS', 'SIMPLE', 'SPAN'])(
    '%s: one class group, initial as maintenance, every point',
    async (engine) => {
      const { status, body } = await ask({
        marginType: 'PORTFOLIO',
        portfolioMarginEngineType: engine,
        positions,
        prices,
        asOf: '2026-01-05T15:00:00Z',
      });
      expect(status).toBe(200);
      expect(body.groups).toHaveLength(1);
      const [{ strategy, initial, maintenance }] = body.groups;
      expect(strategy).toBe('CLASS_GROUP');
      expect(initial).toBe(maintenance);
      expect(body.fedRequirement).toBe(0);
      // Hedged: less than the 900 of the stock alone.
      expect(maintenance).toBeGreaterThan(0);
      expect(maintenance).toBeLessThan(300);
      expect(body.scenarios).toHaveLength({ TIMS: 10, SIMPLE: 7, SPAN: 16 }[engine] ?? 0);
    },
  );

  it('requires 15 % for stock under TIMS, which is the default', async () => {
    const of = async (more: object): Promise<Body> =>
      (await ask({ marginType: 'PORTFOLIO', positions: [positions[0]], prices, ...more })).body;
    expect((await of({})).maintenanceRequirement).toBe(900);
    expect(await of({ portfolioMarginEngineType: 'TIMS' })).toEqual(await of({}));
  });

  it('uses given volatilities instead of implied ones', async () => {
    const of = async (volatility: number): Promise<number> =>
      (
        await ask({
          marginType: 'PORTFOLIO',
          positions: [{ symbol: 'KO260220P00060000', quantity: -10 }],
          prices,
          volatilities: { KO: volatility },
        })
      ).body.maintenanceRequirement;
    expect(await of(0.1)).not.toBe(await of(0.8));
  });
});

describe('books without a requirement (D106)', () => {
  it.each<[string, object, string]>([
    [
      'prices that are missing, of the underlying too',
      {
        positions: [
          { symbol: 'KO', quantity: 1 },
          { symbol: 'AAPL260116C00100000', quantity: -1 },
        ],
      },
      'prices must contain KO|prices must contain AAPL260116C00100000|prices must contain AAPL',
    ],
    [
      'an expired option',
      { positions: [{ symbol: 'AAPL251219C00100000', quantity: 1 }], prices: { AAPL251219C00100000: 1 } },
      'positions.0.symbol must not be expired: AAPL251219C00100000',
    ],
    [
      'parts of a contract',
      { positions: [{ symbol: 'AAPL260116C00100000', quantity: 0.5 }], prices: { AAPL260116C00100000: 1 } },
      'positions.0.quantity must be a whole number of contracts',
    ],
    [
      'an engine without PORTFOLIO',
      { positions: [], portfolioMarginEngineType: 'TIMS' },
      'portfolioMarginEngineType is only allowed for PORTFOLIO margin',
    ],
  ])('%s', async (_name, body, messages) => {
    const { status, body: answer } = await ask({ marginType: 'REG_T', prices: {}, ...body });
    expect([status, answer.error]).toEqual([400, 'Bad Request']);
    expect(answer.message).toEqual(messages.split('|'));
  });

  it('a long option requires the price of its underlying under PORTFOLIO only', async () => {
    const body = {
      positions: [{ symbol: 'AAPL260116C00100000', quantity: 1 }],
      prices: { AAPL260116C00100000: 1 },
    };
    expect((await ask({ marginType: 'REG_T', ...body })).status).toBe(200);
    expect((await ask({ marginType: 'PORTFOLIO', ...body })).body.message).toEqual([
      'prices must contain AAPL',
    ]);
  });

  it('an unknown stock, and an index', async () => {
    const of = (symbol: string): Promise<Reply> =>
      ask({ marginType: 'REG_T', positions: [{ symbol, quantity: 1 }], prices: { [symbol]: 1 } });
    expect((await of('NOSUCH')).body).toMatchObject({
      statusCode: 400,
      message: 'Unknown symbol NOSUCH',
      error: { code: 'UNKNOWN_SYMBOL', symbol: 'NOSUCH' },
    });
    await pushQuote(client, { symbol: 'SPX', bid: 6000, ask: 6001, last: 6000 });
    expect((await of('SPX')).body.error.code).toBe('INSTRUMENT_NOT_TRADABLE');
  });

  it('more than a thousand positions', async () => {
    const positions = Array.from({ length: 1001 }, () => ({ symbol: 'KO', quantity: 1 }));
    expect((await ask({ marginType: 'REG_T', positions, prices: { KO: 60 } })).status).toBe(400);
  });
});

it('a thousand option positions of one underlying, and absurd figures, are answered', async () => {
  const positions = [];
  const prices: Record<string, number> = { AAPL: 100 };
  for (let i = 0; i < 1000; i++) {
    const optionSymbol = `AAPL26${['0116', '0220', '0320', '0619', '0918'][i % 5]}${i % 2 ? 'C' : 'P'}${String((50 + (i >> 1) / 4) * 1000).padStart(8, '0')}`;
    positions.push({ optionSymbol, quantity: ((i * 7919) % 11) - 5 || 1 });
    prices[optionSymbol] = 1 + ((i * 31) % 500) / 100;
  }
  const body = await regT(positions, prices);
  expect(body.maintenanceRequirement).toBeGreaterThan(0);
  const absurd = await regT(
    [
      { symbol: 'AAPL260116C00100000', quantity: -1e9 },
      { symbol: 'AAPL260116C99000000', quantity: 1e9 },
      { symbol: 'AAPL', quantity: 1e9 },
    ],
    { AAPL: 1e7, AAPL260116C00100000: 1e7, AAPL260116C99000000: 1e7 },
  );
  expect(absurd.maintenanceRequirement).toBeGreaterThan(0);
});
