import { expect, it } from 'vitest';
import type { Broker } from '../broker.ts';
import { LiveCards } from './cards.ts';

/** A broker with portfolios that answers at once and counts what it is asked. */
function counting(portfolios: number) {
  const asked = new Map<string, number>();
  const data = Array.from({ length: portfolios }, (_, index) => ({
    portfolioId: `p${index}`,
    totalEquity: 100,
    settledCash: 100,
  }));
  const call = (id: string): Promise<unknown> => {
    asked.set(id, (asked.get(id) ?? 0) + 1);
    if (id === 'listPortfolios') return Promise.resolve({ data, pagination: { total: portfolios } });
    return Promise.resolve(id === 'getPortfolio' ? {} : { data: [], pagination: { total: 0 } });
  };
  const broker = { call } as unknown as Pick<Broker, 'call' | 'orderEvents'>;
  return { broker, countOf: (id: string): number => asked.get(id) ?? 0 };
}

const TABS = 4;
const PORTFOLIOS = 24;
/** Requests a minute and route of a tenant, by default. */
const LIMIT = 1000;

it.each([
  ['quiet', false],
  ['with an order event in every portfolio every second', true],
])('four tabs with 24 portfolios, %s: stay within the rate limit of the tenant', async (_, isBusy) => {
  const { broker, countOf } = counting(PORTFOLIOS);
  let nowMs = 0;
  const tabs = Array.from(
    { length: TABS },
    () =>
      new LiveCards(
        broker,
        1,
        () => undefined,
        () => nowMs,
      ),
  );
  for (; nowMs < 60_000; nowMs += 4000)
    for (const tab of tabs) {
      if (isBusy) for (let index = 0; index < PORTFOLIOS; index += 1) tab.note(`p${index}`);
      await tab.read();
    }
  for (const route of ['listPortfolios', 'getPortfolio', 'listOrders', 'getEquityCurve'])
    expect(countOf(route), route).toBeLessThan(LIMIT);
  expect(countOf('getPortfolio')).toBe(TABS * PORTFOLIOS * (isBusy ? 5 : 1));
});

it('an order event makes the details of its portfolio due, and of no other', async () => {
  const { broker, countOf } = counting(2);
  let nowMs = 0;
  const cards = new LiveCards(
    broker,
    1,
    () => undefined,
    () => nowMs,
  );
  await cards.read();
  cards.note('p1');
  nowMs = 4000;
  await cards.read();
  expect(countOf('getPortfolio')).toBe(2);
  nowMs = 12_000;
  await cards.read();
  expect(countOf('getPortfolio')).toBe(3);
  await cards.read(true);
  expect(countOf('getPortfolio')).toBe(5);
});
