/**
 * Four recorded years of AAPL, with dividends, a split, a deposit and a sale: every figure of the performance against a computation from the
 * CSV files alone, by the definitions of docs/rules/performance.md (D186).
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

const SAMPLES = fileURLToPath(new URL('../../../../samples/equities', import.meta.url));
const START = '2012-01-03T09:00:00-05:00';
const CASH = 300_000;
const DEPOSIT = 50_000;
const RISK_FREE = 0.02;
const YEAR = 252;

/** Trades and deposits at 09:45 New York time, by date. */
const DEEDS = {
  '2012-01-03': { buy: 300 },
  '2013-06-03': { deposit: DEPOSIT, buy: 100 },
  '2014-11-03': { buy: -700 },
} as const;
type Deed = { readonly buy: number; readonly deposit?: number } | undefined;
const deedOf = (date: string): Deed => new Map<string, Deed>(Object.entries(DEEDS)).get(date);

let test: TestApp;
let client: TestClient;
let found: Body;

beforeAll(async () => {
  test = await TestApp.open({
    settings: { MARKET_FEED: 'replay', REPLAY_PATH: SAMPLES },
    config: { feed: 'replay', start: Date.parse(START) },
  });
  client = test.as();
  const { portfolioId } = (await openPortfolio(client, { initialCash: CASH, portfolioType: 'CASH' })) as {
    portfolioId: string;
  };
  const path = `/v1/accounts/portfolios/${portfolioId}`;
  for (const [date, deed] of Object.entries<NonNullable<Deed>>(DEEDS)) {
    const offset = /-(0[4-9]|10)-/.test(date) ? '-04:00' : '-05:00';
    await client.post('/v1/simulation/clock/advance', { to: `${date}T09:45:00${offset}` });
    if (deed.deposit !== undefined) await client.post(`${path}/transfers`, { amount: deed.deposit });
    const { status, text } = await client.post('/v1/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: deed.buy > 0 ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
      quantity: Math.abs(deed.buy),
      timeInForce: 'DAY',
    });
    expect(status, text).toBe(201);
  }
  await client.post('/v1/simulation/clock/advance', { to: '2015-12-31T16:00:00-05:00' });
  const reply = await client.get(`${path}/performance?benchmark=AAPL&riskFreeRate=${RISK_FREE}&series=true`);
  expect(reply.status, reply.text).toBe(200);
  found = reply.body;
}, 60_000);
afterAll(() => test.close());

interface Row {
  readonly date: string;
  readonly open: number;
  readonly close: number;
  readonly split: number;
  readonly dividend: number;
}

function recordedRows(): readonly Row[] {
  const cellsOf = (text: string): string[][] =>
    text
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
  const actions = cellsOf(readFileSync(`${SAMPLES}/corporate_actions.csv`, 'utf8')).filter(
    ([, symbol]) => symbol === 'AAPL',
  );
  return cellsOf(gunzipSync(readFileSync(`${SAMPLES}/daily_bars.csv.gz`)).toString())
    .filter(([date = '', symbol]) => symbol === 'AAPL' && date >= '2011-12-30' && date <= '2015-12-31')
    .map(([date = '', , open, , , close]) => {
      const own = actions.filter(([day]) => day === date);
      const [many = '1', one = '1'] = (own.find(([, , type]) => type === 'split')?.[3] ?? '1:1').split(':');
      const dividend = Number(own.find(([, , type]) => type === 'cash_dividend')?.[4] ?? 0);
      return { date, open: Number(open), close: Number(close), split: Number(many) / Number(one), dividend };
    });
}

/** Sums of what the definitions need, in the order of time. */
function computed() {
  const [before, ...rows] = recordedRows();
  let cash = CASH;
  let shares = 0;
  let index = 1;
  let previous = CASH;
  let traded = 0;
  const days: { date: string; r: number; b: number; equity: number; gross: number; index: number }[] = [];
  const indices = [1];
  let closeBefore = before?.close ?? NaN;
  for (const { date, open, close, split, dividend } of rows) {
    // Holders of the day before receive the dividend.
    cash += Math.round(shares * dividend * 100) / 100;
    shares *= split;
    const deed = deedOf(date);
    let growth = 1;
    if (deed?.deposit !== undefined) {
      const before = cash + shares * open;
      growth = before / previous;
      indices.push(index * growth);
      cash += deed.deposit;
      previous = before + deed.deposit;
    }
    if (deed !== undefined) {
      cash -= Math.round(deed.buy * open * 100) / 100;
      shares += deed.buy;
      traded += Math.abs(deed.buy * open);
    }
    const equity = cash + shares * close;
    const r = growth * (equity / previous) - 1;
    index *= 1 + r;
    indices.push(index);
    const b = (close * split + dividend) / closeBefore - 1;
    days.push({ date, r, b, equity, gross: shares * close, index });
    previous = equity;
    closeBefore = close;
  }
  return { days, indices, traded, end: previous };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const covariance = (xs: readonly number[], ys: readonly number[]): number =>
  xs.reduce((sum, x, i) => sum + (x - mean(xs)) * ((ys[i] ?? NaN) - mean(ys)), 0) / (xs.length - 1);
const deviation = (values: readonly number[]): number => {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
};

/** Equal to 1e-9, relative to values above 1. */
function expectEqual(actual: unknown, wanted: number, name: string): void {
  expect(Math.abs((actual as number) - wanted), `${name}: ${String(actual)} ${wanted}`).toBeLessThanOrEqual(
    1e-9 * Math.max(1, Math.abs(wanted)),
  );
}

describe('performance of a recorded run of AAPL, 2012 to 2015', () => {
  it('has the equity and the return of the files', () => {
    const { days, end } = computed();
    expect(days).toHaveLength(1006);
    expectEqual(found.endEquity, end, 'endEquity');
    expectEqual(found.pnl, end - CASH - DEPOSIT, 'pnl');
    expectEqual(found.netFlows, DEPOSIT, 'netFlows');
    expectEqual(found.timeWeightedReturn, (days.at(-1)?.index ?? NaN) - 1, 'timeWeightedReturn');
    const closes = new Map<string, Body>(found.series.map((point: Body) => [point.at, point]));
    expect(closes.size).toBeGreaterThanOrEqual(1008);
    const months = new Map(days.map((day) => [day.date.slice(0, 7), day.index]));
    let before = 1;
    expect(found.monthly).toHaveLength(48);
    for (const { month, return: value } of found.monthly as Body[]) {
      expectEqual(value, (months.get(month as string) ?? NaN) / before - 1, month as string);
      before = months.get(month as string) ?? NaN;
    }
  });

  it('has the risk figures by their definitions', () => {
    const { days, indices } = computed();
    const returns = days.map(({ r }) => r);
    const excess = returns.map((r) => r - RISK_FREE / YEAR);
    const yearly = Math.sqrt(YEAR);
    expectEqual(found.volatility, deviation(returns) * yearly, 'volatility');
    expectEqual(found.sharpe, (mean(excess) / deviation(excess)) * yearly, 'sharpe');
    const downside = Math.sqrt(mean(excess.map((x) => Math.min(x, 0) ** 2)));
    expectEqual(found.sortino, (mean(excess) / downside) * yearly, 'sortino');
    const annualized = (days.at(-1)?.index ?? NaN) ** (YEAR / days.length) - 1;
    expectEqual(found.annualizedReturn, annualized, 'annualizedReturn');
    let peak = -Infinity;
    let deepest = 0;
    for (const index of indices) {
      peak = Math.max(peak, index);
      deepest = Math.min(deepest, index / peak - 1);
    }
    expectEqual(found.maxDrawdown.fraction, deepest, 'maxDrawdown');
    expectEqual(found.calmar, annualized / Math.abs(deepest), 'calmar');
    expect(found.positiveDays).toBe(returns.filter((r) => r > 0).length);
    expect(found.negativeDays).toBe(returns.filter((r) => r < 0).length);
    expectEqual(found.bestDay.return, Math.max(...returns), 'bestDay');
    expectEqual(found.worstDay.return, Math.min(...returns), 'worstDay');
  });

  it('has exposure, turnover and the money-weighted return by their definitions', () => {
    const { days, traded, end } = computed();
    expectEqual(found.exposure, mean(days.map(({ gross, equity }) => gross / equity)), 'exposure');
    expect(found.timeInMarket).toBe(1);
    expectEqual(found.turnover, traded / 2 / mean(days.map(({ equity }) => equity)), 'turnover');
    const dayMs = 86_400_000;
    const daysTo = (at: string): number => (Date.parse(at) - Date.parse(START)) / dayMs;
    const worth = (rate: number): number =>
      -CASH -
      DEPOSIT * (1 + rate) ** (-daysTo('2013-06-03T09:45:00-04:00') / 365) +
      end * (1 + rate) ** (-daysTo('2015-12-31T16:00:00-05:00') / 365);
    let low = -0.5;
    let high = 2;
    for (let i = 0; i < 200; i += 1) {
      const middle = (low + high) / 2;
      if (worth(middle) > 0) low = middle;
      else high = middle;
    }
    expect(found.annualized).toBe(true);
    expectEqual(found.moneyWeightedReturn, low, 'moneyWeightedReturn');
  });

  it('compares with the total return of the share by the definitions', () => {
    const { days } = computed();
    const { benchmark } = found;
    const r = days.map((one) => one.r);
    const b = days.map((one) => one.b);
    const rf = RISK_FREE / YEAR;
    const beta = covariance(r, b) / covariance(b, b);
    const differences = r.map((x, i) => x - (b[i] ?? NaN));
    expectEqual(benchmark.return, b.reduce((growth, x) => growth * (1 + x), 1) - 1, 'return');
    expectEqual(benchmark.beta, beta, 'beta');
    expectEqual(benchmark.alpha, mean(r.map((x, i) => x - rf - beta * ((b[i] ?? NaN) - rf))) * YEAR, 'alpha');
    expectEqual(benchmark.correlation, covariance(r, b) / deviation(r) / deviation(b), 'correlation');
    expectEqual(benchmark.trackingError, deviation(differences) * Math.sqrt(YEAR), 'trackingError');
    expectEqual(
      benchmark.informationRatio,
      (mean(differences) / deviation(differences)) * Math.sqrt(YEAR),
      'informationRatio',
    );
  });
});
