/** Expirations and chains (D73), of what is listed by rule (D126). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Body, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;

const symbols = (reply: { body: Body }): string[] =>
  reply.body.contracts.map(({ optionSymbol }: Body) => optionSymbol as string);

describe('in a synthetic market', () => {
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

  it('lists strikes around the price, each contract by itself as well', async () => {
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

  it('leaves out what is not asked for, and what is over', async () => {
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

describe('where quotes are pushed', () => {
  beforeEach(async () => {
    test = await TestApp.open();
    client = test.as();
  });
  afterEach(() => test.close());

  it('there are the contracts that were pushed (D68)', async () => {
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
