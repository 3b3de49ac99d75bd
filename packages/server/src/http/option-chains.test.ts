/** Expirations and chains (D73) of contracts listed by rule (D126). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MONDAY_TEN } from '../testing/simulations.js';
import { type Body, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;

const symbols = (reply: { body: Body }): string[] =>
  reply.body.contracts.map(({ optionSymbol }: Body) => optionSymbol as string);

describe('Option chains in a synthetic market', () => {
  beforeEach(async () => {
    test = await TestApp.open({ config: { feed: 'synthetic' } });
    client = test.as();
  });
  afterEach(() => test.close());

  it('lists 22 expirations of each stock', async () => {
    const { body } = await client.get('/v1/market-data/options/aapl/expirations');
    expect(body.underlying).toBe('AAPL');
    expect(body.expirations).toHaveLength(22);
    expect(body.expirations.slice(0, 3)).toEqual(['2026-01-09', '2026-01-16', '2026-01-23']);
    expect(body.expirations.slice(-2)).toEqual(['2027-01-15', '2028-01-21']);
    expect((await client.get('/v1/market-data/options/NOPE/expirations')).status).toBe(404);
  });

  it('lists strikes around the price, and each contract individually', async () => {
    const chain = await client.get('/v1/market-data/options/AAPL/chain?expiration=2026-01-16');
    const { underlyingPrice, contracts } = chain.body;
    const strikes = contracts.map(({ strike }: Body) => strike as number);
    expect(strikes.filter((strike: number) => strike < underlyingPrice).length).toBeGreaterThanOrEqual(30);
    expect(strikes.filter((strike: number) => strike > underlyingPrice).length).toBeGreaterThanOrEqual(30);
    expect(contracts.slice(0, 2).map(({ optionType }: Body) => optionType as string)).toEqual([
      'CALL',
      'PUT',
    ]);
    const [symbol] = symbols(chain);
    const found = await client.get(`/v1/market-data/instruments?symbol=${symbol}`);
    expect(found.body.data).toMatchObject([
      { symbol, underlying: 'AAPL', style: 'AMERICAN', lastTradeDate: '2026-01-16' },
    ]);
    const open = await client.get(`/v1/market-data/is-market-open/${symbol}`);
    expect(open.body).toMatchObject({ isOpen: true });
  });

  it('has quotes, volatility and Greeks of each contract (D71, D73)', async () => {
    const { body } = await client.get('/v1/market-data/options/AAPL/chain?expiration=2026-02-20');
    const { underlyingPrice, contracts } = body;
    for (const contract of contracts as Body[]) {
      const { strike, optionType, price, ask, impliedVolatility, delta, gamma, theta, vega } = contract;
      expect(ask).toBeGreaterThan(contract.bid ?? 0);
      expect(price).toBeGreaterThan(0);
      // A price that no volatility explains has the Greeks of its exercise value (D252).
      if (impliedVolatility === undefined) {
        expect(contract).toMatchObject({ model: 'INTRINSIC', gamma: 0, vega: 0 });
        expect([0, 1]).toContain(Math.abs(delta));
      } else {
        expect(contract).not.toHaveProperty('model');
        expect(impliedVolatility).toBeGreaterThanOrEqual(0.01);
        expect(impliedVolatility).toBeLessThanOrEqual(5);
        expect(optionType === 'CALL' ? contract.rho : -contract.rho).toBeGreaterThanOrEqual(0);
      }
      expect(optionType === 'CALL' ? delta : -delta).toBeGreaterThanOrEqual(0);
      expect(Math.abs(delta)).toBeLessThanOrEqual(1);
      if (Math.abs(strike - underlyingPrice) > 15) continue;
      // At the money: plausible values for a one-month option on a share of 220.
      expect(impliedVolatility).toBeGreaterThan(0.15);
      expect(impliedVolatility).toBeLessThan(0.6);
      expect(gamma).toBeGreaterThan(0.001);
      expect(theta).toBeLessThan(-0.02);
      expect(vega).toBeGreaterThan(0.1);
    }
    expect(contracts[0]).not.toHaveProperty('openInterest');
    const deltas = (contracts as Body[])
      .filter(({ optionType, strike }) => optionType === 'CALL' && Math.abs(strike - underlyingPrice) < 30)
      .map(({ delta }) => delta as number);
    expect(deltas).toEqual([...deltas].sort((a, b) => b - a));
  });

  it('getQuote: accepts padded and unpadded contract symbols, and keeps no state for untraded ones', async () => {
    const { price } = (await client.get('/v1/market-data/quote/SPX')).body;
    const strike = Math.floor(price / 5) * 5;
    const chain = await client.get(
      `/v1/market-data/options/SPX/chain?expiration=2026-01-16&minStrike=${strike}&maxStrike=${strike}`,
    );
    const [call, put] = chain.body.contracts as Body[];
    expect(call.optionSymbol).toBe(`SPX260116C0${strike}000`);
    const quote = await client.get(`/v1/market-data/quote/SPX%20%20%20260116C0${strike}000`);
    expect(quote.body).toMatchObject({
      symbol: call.optionSymbol,
      price: call.price,
      bid: call.bid,
      ask: call.ask,
      bidSize: call.bidSize,
      askSize: call.askSize,
    });
    const batch = await client.post('/v1/market-data/quotes/batch', {
      symbols: [`spx260116p0${strike}000`, 'SPX', 'ESH6', 'SPX260116P05500010'],
    });
    expect(batch.body.quotes).toMatchObject([
      { symbol: put.optionSymbol, ask: put.ask },
      { symbol: 'SPX', price: chain.body.underlyingPrice },
      { symbol: 'ESH26' },
    ]);
    expect(batch.body.notFound).toEqual(['SPX260116P05500010']);
    expect((await client.get(`/v1/market-data/trade/${put.optionSymbol}`)).body.price).toBe(put.last);
    expect([...test.main.brokerage.state.books.keys()].filter((symbol) => symbol.length > 10)).toEqual([]);
  });

  it('European contracts agree with put–call parity inside the spread', async () => {
    const { body } = await client.get('/v1/market-data/options/SPX/chain?expiration=2026-03-20');
    const years = (Date.parse('2026-03-20T13:30:00Z') - MONDAY_TEN) / (365 * 86_400_000);
    const contracts = body.contracts as Body[];
    for (let i = 0; i < contracts.length; i += 2) {
      const [call, put] = [contracts[i]!, contracts[i + 1]!];
      const parity = body.underlyingPrice - call.strike * Math.exp(-0.04 * years);
      expect((call.bid ?? 0) - put.ask).toBeLessThanOrEqual(parity + 0.01);
      expect(call.ask - (put.bid ?? 0)).toBeGreaterThanOrEqual(parity - 0.01);
    }
  });

  it('lists all options on an index by pages', async () => {
    const first = await client.get('/v1/market-data/instruments?underlying=SPX&limit=200');
    const { total } = first.body.pagination;
    expect(total).toBeGreaterThan(10_000);
    const all = first.body.data.map(({ symbol }: Body) => symbol as string);
    expect(all).toEqual([...all].sort());
    const last = await client.get(
      `/v1/market-data/instruments?underlying=SPX&limit=200&page=${Math.ceil(total / 200)}`,
    );
    expect(last.body.data.at(-1).symbol).toMatch(/^SPXW/);
  });

  it('leaves out unrequested and expired contracts', async () => {
    const url = '/v1/market-data/options/AAPL/chain?expiration=2026-01-09';
    const whole = await client.get(url);
    const middle = whole.body.contracts[Math.floor(whole.body.contracts.length / 2)].strike as number;
    const puts = await client.get(`${url}&optionType=PUT&minStrike=${middle - 10}&maxStrike=${middle + 10}`);
    expect(puts.body.contracts.length).toBeGreaterThan(3);
    for (const { optionType, strike } of puts.body.contracts as Body[]) {
      expect(optionType).toBe('PUT');
      expect(Math.abs(strike - middle)).toBeLessThanOrEqual(10);
    }
    await client.put('/v1/simulation/clock', { now: '2026-01-09T16:00:00-05:00' });
    expect((await client.get(url)).body.contracts).toEqual([]);
    const { body } = await client.get('/v1/market-data/options/AAPL/expirations');
    expect(body.expirations[0]).toBe('2026-01-16');
    // Funds trade a quarter of an hour longer.
    const funds = await client.get('/v1/market-data/options/SPY/expirations');
    expect(funds.body.expirations[0]).toBe('2026-01-09');
    const bad = await client.get(`${url}&optionType=BOTH&minStrike=-1`);
    expect(bad.body.message).toEqual([
      'optionType must be CALL or PUT',
      'minStrike must be a non-negative number',
    ]);
  });
});

describe('Option chains in a pushed market', () => {
  beforeEach(async () => {
    test = await TestApp.open();
    client = test.as();
  });
  afterEach(() => test.close());

  it('Greeks need a price of the underlying, or parity (D71, D85)', async () => {
    const chain = async (): Promise<Body> =>
      (await client.get('/v1/market-data/options/AAPL/chain?expiration=2026-01-16')).body;
    await pushQuote(client, { symbol: 'AAPL260116C00150000', bid: 5.9, ask: 6.1, last: undefined });
    const alone = await chain();
    expect(alone).not.toHaveProperty('underlyingPrice');
    expect(alone.contracts[0]).toMatchObject({ price: 6 });
    for (const figure of ['impliedVolatility', 'delta', 'gamma', 'theta', 'vega'])
      expect(alone.contracts[0]).not.toHaveProperty(figure);
    // A pair implies the price of the underlying: 150 discounted, and 6 − 4.
    await pushQuote(client, { symbol: 'AAPL260116P00150000', bid: 3.9, ask: 4.1, last: undefined });
    const years = (Date.parse('2026-01-16T21:00:00Z') - MONDAY_TEN) / (365 * 86_400_000);
    const pair = await chain();
    expect(pair.underlyingPrice).toBeCloseTo(150 * Math.exp(-0.04 * years) + 2, 7);
    expect(pair.contracts[0].delta - pair.contracts[1].delta).toBeCloseTo(1, 1);
    // Its own quote goes before.
    await pushQuote(client, { symbol: 'AAPL', bid: 151, ask: 151, last: undefined });
    await client.put('/v1/simulation/instruments', {
      instruments: [{ assetClass: 'OPTION', symbol: 'AAPL260116C00155000' }],
    });
    const quoted = await chain();
    expect(quoted.underlyingPrice).toBe(151);
    // Without a quote: the model, at the 1.6 % a day of the catalog.
    expect(quoted.contracts[2].impliedVolatility).toBeCloseTo(0.016 * Math.sqrt(252), 6);
    expect(quoted.contracts[2]).not.toHaveProperty('bid');
    await client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'CASH_DIVIDEND', symbol: 'AAPL', exDate: '2026-01-12', amountPerShare: 1 }],
    });
    // Announced dividends count: a call is worth less, so that the same price speaks of more volatility.
    expect((await chain()).contracts[0].impliedVolatility).toBeGreaterThan(
      quoted.contracts[0].impliedVolatility,
    );
  });

  it('values depend on RISK_FREE_RATE', async () => {
    const other = await TestApp.open({ settings: { RISK_FREE_RATE: '0' } });
    try {
      for (const [symbol, bid] of [
        ['AAPL270115C00150000', 6],
        ['AAPL270115P00150000', 4],
      ] as const)
        await pushQuote(other.as(), { symbol, bid, ask: bid, last: undefined });
      const { body } = await other.as().get('/v1/market-data/options/AAPL/chain');
      expect(body.underlyingPrice).toBe(152);
    } finally {
      await other.close();
    }
  });

  it('getOptionChain: sums the sizes of the trades pushed in a session', async () => {
    const symbol = 'AAPL260116C00150000';
    const volume = async (): Promise<unknown> =>
      (await client.get('/v1/market-data/options/AAPL/chain?expiration=2026-01-16')).body.contracts[0].volume;
    await pushQuote(client, { symbol, bid: 1.2, ask: 1.3, last: 1.25, lastSize: 4 });
    await pushQuote(client, { symbol, bid: 1.2, ask: 1.3, last: 1.3, lastSize: 3 });
    expect(await volume()).toBe(7);
    await client.post('/v1/simulation/clock/advance', { by: 'P1D' });
    expect(await volume()).toBeUndefined();
  });

  it('the chain includes the contracts with pushed quotes (D68)', async () => {
    for (const symbol of ['AAPL  260116P00150000', 'aapl260116c00150000', 'AAPL260109C00150000']) {
      expect((await pushQuote(client, { symbol, bid: 1.2, ask: 1.3, last: undefined })).status).toBe(200);
    }
    expect((await client.get('/v1/market-data/options/AAPL/expirations')).body.expirations).toEqual([
      '2026-01-09',
      '2026-01-16',
    ]);
    const chain = await client.get('/v1/market-data/options/AAPL/chain?expiration=2026-01-16');
    expect(symbols(chain)).toEqual(['AAPL260116C00150000', 'AAPL260116P00150000']);
    expect(chain.body.contracts[0]).toMatchObject({ bid: 1.2, ask: 1.3, price: 1.25 });
    expect(
      (await client.get('/v1/market-data/instruments?symbol=AAPL260116C00150000')).body.data,
    ).toHaveLength(1);
    await pushQuote(client, { symbol: 'spxw260109p06000000', bid: 0, ask: 0.05, last: undefined });
    expect(
      (await client.get('/v1/market-data/instruments?symbol=SPXW260109P06000000')).body.data,
    ).toMatchObject([{ underlying: 'SPX', style: 'EUROPEAN', settlement: 'CASH', settleSession: 'PM' }]);
  });
});
