/** Performance of random histories of a portfolio, against figures observed on the way and the sums of its ledger (D238 to D241). */
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

const CALL = 'AAPL260116C00150000';
const FUTURE = 'ESH26';
const SHARES = ['AAPL', 'TSLA', 'MSFT'] as const;
const INITIAL = 1_000_000;

type Deed =
  | { readonly type: 'quote'; readonly symbol: string; readonly change: number }
  | { readonly type: 'trade'; readonly symbol: string; readonly units: number }
  | { readonly type: 'transfer'; readonly amount: number }
  | { readonly type: 'advance'; readonly by: string }
  | { readonly type: 'split'; readonly ratio: { readonly new: number; readonly old: number } }
  | { readonly type: 'dividend'; readonly cents: number }
  | { readonly type: 'exercise' }
  | { readonly type: 'reset' };

const symbol = fc.constantFrom(...SHARES, CALL, FUTURE);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('quote'),
      symbol,
      change: fc.integer({ min: -1500, max: 1500 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({ type: fc.constant('trade'), symbol, units: fc.integer({ min: -40, max: 40 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('transfer'),
      amount: fc.integer({ min: -50_000, max: 50_000 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('advance'),
      by: fc.constantFrom('PT7.5S', 'PT7.5S', 'PT1H', 'P1D', 'P1D', 'P7D', 'P28D'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('split'),
      ratio: fc.constantFrom({ new: 2, old: 1 }, { new: 3, old: 2 }, { new: 1, old: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('dividend'), cents: fc.integer({ min: 1, max: 300 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ type: 'exercise' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'reset' as const }) },
);

interface Life {
  readonly deeds: readonly Deed[];
  readonly isImported: boolean;
  /** Deposits followed by the same withdrawal at once. */
  readonly detours: boolean;
}

interface Observed {
  readonly path: string;
  readonly client: TestClient;
  /** Equity after everything at an instant of the present epoch. */
  readonly equityAt: ReadonlyMap<string, number>;
  /** Equity before and after each flow of the present epoch. */
  readonly flows: readonly (readonly [before: number, after: number])[];
  readonly isFirstEpoch: boolean;
}

let test: TestApp | undefined;
afterEach(() => test?.close());

async function live({ deeds, isImported, detours }: Life): Promise<Observed> {
  await test?.close();
  test = await TestApp.open();
  const client = test.as();
  const prices: Record<string, number> = { AAPL: 155, TSLA: 50, MSFT: 400, [CALL]: 9, [FUTURE]: 6000 };
  const push = (of: string) => {
    const price = Math.round((prices[of] ?? 0) * 100) / 100;
    return client.put('/v1/simulation/quotes', {
      quotes: [{ symbol: of, bid: price, ask: price, last: price }],
    });
  };
  await client.put('/v1/simulation/instruments', { instruments: [{ symbol: FUTURE, assetClass: 'FUTURE' }] });
  for (const of of Object.keys(prices)) await push(of);
  const { portfolioId } = (await openPortfolio(client, { initialCash: INITIAL })) as { portfolioId: string };
  const path = `/v1/accounts/portfolios/${portfolioId}`;
  const equity = async (): Promise<number> => (await client.get(path)).body.totalEquity as number;
  let equityAt = new Map<string, number>();
  let flows: (readonly [number, number])[] = [];
  let isFirstEpoch = true;
  const flow = async (url: string, body: object): Promise<void> => {
    const before = await equity();
    const { status } = await client.post(`${path}/${url}`, body);
    if (status < 300) flows.push([before, await equity()]);
  };
  const note = async (): Promise<void> => {
    const { now } = (await client.get('/v1/market-data/market-hours')).body as { now: string };
    equityAt.set(now, await equity());
  };
  if (isImported)
    await flow('import', {
      cash: -20_000,
      positions: [
        { symbol: 'TSLA', quantity: -30, price: 71.5 },
        { symbol: 'AAPL', quantity: 33, price: 120 },
        { symbol: 'AAPL', quantity: 17, price: 199.99, acquiredAt: '2025-06-02' },
        { symbol: CALL, quantity: 3, price: 4.5 },
        { symbol: FUTURE, quantity: 1, price: 5900 },
      ],
    });
  for (const one of deeds) {
    switch (one.type) {
      case 'quote':
        prices[one.symbol] = Math.max(1, (prices[one.symbol] ?? 0) * (1 + one.change / 10_000));
        await push(one.symbol);
        break;
      case 'trade': {
        const held = await heldIn(client, path, one.symbol);
        const isBuy = one.units > 0;
        const closes = held !== 0 && held < 0 === isBuy;
        const size =
          one.symbol === FUTURE
            ? 1
            : one.symbol === CALL
              ? (Math.abs(one.units) % 4) + 1
              : Math.abs(one.units) / 2;
        await push(one.symbol);
        await client.post('/v1/orders', {
          portfolioId,
          symbol: one.symbol,
          assetClass: one.symbol === FUTURE ? 'FUTURE' : one.symbol === CALL ? 'OPTION' : 'EQUITY',
          orderType: 'MARKET',
          positionIntent: `${isBuy ? 'BUY' : 'SELL'}_TO_${closes ? 'CLOSE' : 'OPEN'}`,
          quantity: closes
            ? Math.min(Math.abs(held), size)
            : isBuy || one.symbol === CALL
              ? size
              : Math.ceil(size),
          timeInForce: 'DAY',
        });
        break;
      }
      case 'transfer':
        await flow('transfers', { amount: one.amount });
        if (!detours) break;
        await flow('transfers', { amount: 77_777.77 });
        await flow('transfers', { amount: -77_777.77 });
        break;
      case 'advance':
        await client.post('/v1/simulation/clock/advance', { by: one.by });
        break;
      case 'split':
      case 'dividend': {
        const exDate = await nextDay(client);
        const action =
          one.type === 'split'
            ? { type: 'SPLIT', symbol: 'AAPL', exDate, ratio: one.ratio }
            : { type: 'CASH_DIVIDEND', symbol: 'TSLA', exDate, amountPerShare: one.cents / 100 };
        await client.post('/v1/simulation/corporate-actions', { actions: [action] });
        break;
      }
      case 'exercise':
        await client.post(`${path}/options/${CALL}/exercise`, { quantity: 1 });
        break;
      case 'reset':
        if ((await client.post(`${path}/reset`)).status >= 300) break;
        equityAt = new Map();
        flows = [];
        isFirstEpoch = false;
    }
    await note();
  }
  return { path, client, equityAt, flows, isFirstEpoch };
}

async function heldIn(client: TestClient, path: string, symbol: string): Promise<number> {
  const kind = symbol === FUTURE ? 'futures' : symbol === CALL ? 'options' : 'equities';
  const { body } = await client.get(`${path}/${kind}`);
  const positions = (Array.isArray(body) ? body : (body.data ?? [])) as Body[];
  const position = positions.find((one) => (one.optionSymbol ?? one.symbol) === symbol);
  if (position === undefined) return 0;
  const { quantity, settledQuantity, pendingQuantity } = position as Record<string, number>;
  return quantity ?? (settledQuantity ?? 0) + (pendingQuantity ?? 0);
}

async function nextDay(client: TestClient): Promise<string> {
  const { now } = (await client.get('/v1/market-data/market-hours')).body as { now: string };
  const day = new Date(Date.parse(now) + 86_400_000);
  while ([0, 6].includes(day.getUTCDay())) day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
}

const cents = (dollars: number): number => Math.round(dollars * 100);
const sumOf = (parts: Record<string, number>): number =>
  cents(Object.values(parts).reduce((a, b) => a + b, 0));

async function performance({ client, path }: Observed, query = ''): Promise<Body> {
  const { status, body, text } = await client.get(`${path}/performance?series=true${query}`);
  expect(status, text).toBe(200);
  return body;
}

/** Sums of the ledger since the last reset by account, dollars. */
async function ledgerOf({ client, path }: Observed): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (let page = 1; ; page += 1) {
    const { data, pagination } = (await client.get(`${path}/ledger?limit=500&page=${page}`)).body as {
      data: Body[];
      pagination: { totalPages: number };
    };
    for (const { type, postings } of data) {
      if (type === 'RESET') return sums;
      for (const { account, amount } of postings as { account: string; amount: number }[])
        sums[account] = (sums[account] ?? 0) + amount;
    }
    if (page >= pagination.totalPages) return sums;
  }
}

const lives = fc.record({
  deeds: fc.array(deed, { minLength: 12, maxLength: 30 }),
  isImported: fc.boolean(),
});

it(
  'property: P&L is that of equity and flows, adds up by cause and over adjoining periods',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(lives, fc.nat(), async (life, cut) => {
        const observed = await live({ ...life, detours: false });
        const { flows, equityAt } = observed;
        const instants = [...equityAt.keys()];
        const end = equityAt.get(instants.at(-1) ?? '') ?? INITIAL;
        const whole = await performance(observed);
        const netFlows = flows.reduce((sum, [before, after]) => sum + after - before, 0);
        expect(cents(whole.endEquity as number)).toBe(cents(end));
        expect(cents(whole.netFlows as number)).toBe(cents(netFlows));
        expect(Math.abs(cents(whole.pnl as number) - cents(end - INITIAL - netFlows))).toBeLessThanOrEqual(1);
        expect(sumOf(whole.attribution)).toBe(cents(whole.pnl as number));
        expect(whole.attribution.other).toBe(0);

        // Returns: growth between flows.
        let growth = 1;
        let last = INITIAL;
        for (const [before, after] of flows) {
          growth *= before / last;
          last = after;
        }
        expect(whole.timeWeightedReturn).toBeCloseTo((growth * end) / last - 1, 9);

        // Causes: the sums of the ledger.
        const sums = await ledgerOf(observed);
        const of = (account: string): number => sums[account] ?? 0;
        const { attribution } = whole;
        for (const [cause, account] of [
          ['dividends', 'DIVIDENDS'],
          ['interest', 'INTEREST'],
          ['borrowFees', 'BORROW_FEES'],
          ['commissions', 'COMMISSIONS'],
          ['fees', 'FEES'],
        ] as const)
          expect(cents(attribution[cause]) + cents(of(account)), cause).toBe(0);
        if (!life.isImported || !observed.isFirstEpoch)
          expect(
            Math.abs(
              cents(attribution.realized) + cents(of('REALIZED_PNL') + of('FUTURES_PNL') + of('ROUNDING')),
            ),
          ).toBeLessThanOrEqual(1);

        // Adjoining periods.
        const at = instants[cut % Math.max(1, instants.length)];
        const begin = whole.from as string;
        const isNow = at === whole.to;
        if (at === undefined || at <= begin || isNow) return;
        const [before, after] = [
          await performance(observed, `&to=${at}`),
          await performance(observed, `&from=${at}`),
        ];
        expect(cents(before.endEquity as number), at).toBe(cents(equityAt.get(at) ?? NaN));
        expect(cents(after.startEquity as number), at).toBe(cents(equityAt.get(at) ?? NaN));
        expect(cents(before.pnl as number) + cents(after.pnl as number)).toBe(cents(whole.pnl as number));
        for (const part of [before, after]) expect(sumOf(part.attribution)).toBe(cents(part.pnl as number));
        const linked =
          (1 + (before.timeWeightedReturn as number)) * (1 + (after.timeWeightedReturn as number));
        expect(linked - 1).toBeCloseTo(whole.timeWeightedReturn as number, 9);
      }),
      { numRuns: 8 },
    );
  },
);

it(
  'property: deposits that are withdrawn at once change neither the P&L nor the time-weighted return',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(lives, async (life) => {
        const plain = await performance(await live({ ...life, detours: false }));
        const observed = await live({ ...life, detours: true });
        const detoured = await performance(observed);
        expect(detoured.pnl).toBe(plain.pnl);
        expect(detoured.attribution).toEqual(plain.attribution);
        expect(detoured.timeWeightedReturn).toBeCloseTo(plain.timeWeightedReturn as number, 9);
        expect(detoured.maxDrawdown.fraction).toBeCloseTo(plain.maxDrawdown.fraction as number, 9);
      }),
      { numRuns: 3 },
    );
  },
);
