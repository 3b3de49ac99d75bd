/** Contracts as option notebooks look for them. */
import { afterEach, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import { openPortfolio, TestApp } from '../../../server/src/testing/test-app.js';

let test: TestApp;
afterEach(() => test.close());

async function at(start: string): Promise<AlpacaSend> {
  test = await TestApp.open({ config: { feed: 'synthetic', start: Date.parse(start) } });
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  return alpacaSender(test, await keyPairOf(owner, portfolioId));
}

it.each([
  ['Thursday', '2026-01-08T15:00:00Z', '2026-01-09'],
  ['Friday', '2026-01-09T15:00:00Z', '2026-01-16'],
  ['Saturday', '2026-01-10T15:00:00Z', '2026-01-16'],
  ['Sunday', '2026-01-11T15:00:00Z', '2026-01-16'],
])(
  'contracts without dates: on a %s, lists expirations up to the next weekend',
  async (_day, start, latest) => {
    const send = await at(start);
    const { body } = await send('GET', '/v2/options/contracts?underlying_symbols=AAPL&limit=10000');
    const dates = (body.option_contracts as { expiration_date: string }[]).map((one) => one.expiration_date);
    expect(dates.sort().at(-1)).toBe(latest);
  },
);

it('open interest: there for every contract, most at the money, the same all day', async () => {
  const send = await at('2026-01-08T15:00:00Z');
  const price = (await send('GET', '/v2/stocks/AAPL/trades/latest')).body.trade.p as number;
  const url =
    '/v2/options/contracts?underlying_symbols=AAPL&type=call&limit=10000&expiration_date=2026-01-16';
  const read = async () =>
    (await send('GET', url)).body.option_contracts as { open_interest: string; strike_price: string }[];
  const contracts = await read();
  const interest = (low: number, high: number) => {
    const some = contracts.filter(({ strike_price }) => {
      const part = Number(strike_price) / price;
      return part >= low && part < high;
    });
    return some.reduce((sum, one) => sum + Number(one.open_interest), 0) / some.length;
  };
  expect(contracts.every(({ open_interest }) => Number(open_interest) > 0)).toBe(true);
  expect(interest(0.95, 1.05)).toBeGreaterThan(2 * interest(1.15, 2));
  await test.as({ tier: 'ENTERPRISE' }).post('/v1/simulation/clock/advance', { by: 'PT2H' });
  expect((await read()).map((one) => one.open_interest)).toEqual(contracts.map((one) => one.open_interest));
});

it('deliverables: of adjusted contracts every share with its number, and the cash', async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  const send = alpacaSender(test, await keyPairOf(owner, portfolioId));
  const [split, spunOff] = ['DLVA1260320C00025000', 'DLVA2260320C00025000'];
  const quotes = ['DLVA', 'DLVB'].map((symbol) => ({ symbol, bid: 30, ask: 30, last: 30 }));
  await owner.put('/v1/simulation/quotes', { quotes });
  const option = { assetClass: 'OPTION', underlying: 'DLVA' };
  const listed = await owner.put('/v1/simulation/instruments', {
    instruments: [
      { ...option, symbol: split, deliverable: 150 },
      {
        ...option,
        symbol: spunOff,
        deliverables: [{ symbol: 'DLVA', quantity: 100 }, { symbol: 'DLVB', quantity: 25 }, { cash: 5.58 }],
      },
    ],
  });
  expect(listed.status, listed.text).toBe(200);
  const of = async (symbol: string): Promise<unknown> => {
    const { body } = await send('GET', `/v2/options/contracts/${symbol}?show_deliverables=true`);
    return (body.deliverables as { type: string; symbol: string; amount: string }[]).map((one) => [
      one.type,
      one.symbol,
      one.amount,
    ]);
  };
  expect(await of(split)).toEqual([['equity', 'DLVA', '150']]);
  expect(await of(spunOff)).toEqual([
    ['equity', 'DLVA', '100'],
    ['equity', 'DLVB', '25'],
    ['cash', 'USD', '5.58'],
  ]);
});
