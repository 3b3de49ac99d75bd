import { afterEach, describe, expect, it } from 'vitest';
import { Instant, markOf, Money, Price, Quantity, valuationOf } from '@sandpit/core';
import type { OrderRequest } from '@sandpit/core';
import { openTestPortfolio, placeTestOrder, startSimulations } from '../../testing/simulations.js';
import type { Simulation } from './simulation.js';
import { verifyJournal } from '../recovery/verify.js';

const SECOND = 1000;
const CASH = 5000;

let close: () => Promise<void>;
afterEach(() => close());

async function synthetic() {
  const { main, simulations, store } = await startSimulations({ feed: 'synthetic' });
  close = async () => {
    await simulations.close();
    await store.close();
  };
  return { main, market: simulations.market, store };
}

const valueIn = ({ brokerage }: Simulation, portfolioId: string) => {
  const portfolio = brokerage.state.portfolios.get(portfolioId);
  const broker = brokerage.rules.brokers.get('default');
  if (portfolio === undefined || broker === undefined) throw new Error('no such portfolio');
  return valuationOf(portfolio, brokerage, broker);
};

/** Enough shares of a fund with factor 3, which require 75 %, to leave little margin. */
async function nearlyTooMuch(main: Simulation, symbol: string): Promise<string> {
  const portfolioId = await openTestPortfolio(main, { type: 'MARGIN', cash: CASH });
  const quote = main.feed.quoteAt(symbol, main.now());
  const ask = quote?.ask ?? Price.ofUnits(0);
  // Few enough to be bought at once, and fractions, so that hardly anything is left.
  const thousandths = Math.floor((CASH / 0.75 / (ask / 1e8)) * 0.9999 * 1000);
  const order: Partial<OrderRequest> = {
    symbol,
    orderType: 'LIMIT',
    quantity: Quantity.ofUnits(thousandths * 1000),
    limitPrice: ask,
  };
  await placeTestOrder(main, portfolioId, order);
  return portfolioId;
}

/** The first second at which the excess is negative by the feed's own quotes; they have not been requested yet. */
function firstBreach(
  main: Simulation,
  portfolioId: string,
  symbol: string,
  until: number,
): number | undefined {
  const portfolio = main.brokerage.state.portfolios.get(portfolioId);
  const held = portfolio?.positions.get(symbol);
  if (portfolio === undefined || held === undefined) throw new Error('nothing is held');
  const shares = (held.settled + held.pending) / 1e6;
  const { SETTLED_CASH, PENDING_CASH } = portfolio.balances;
  for (let at = main.now() + SECOND; at <= until; at += SECOND) {
    const quote = main.feed.quoteAt(symbol, Instant.ofMs(at));
    const mark = (quote && markOf(quote)) ?? 0;
    if ((SETTLED_CASH + PENDING_CASH) / 1e4 + shares * (mark / 1e8) * 0.25 < 0) return at;
  }
  return undefined;
}

describe('the margin watch on computed quotes (D119)', () => {
  it('finds a breach within two seconds of the quote without a request or trade; re-execution finds it too', async () => {
    const { main, store } = await synthetic();
    const end = main.now() + 3_600_000;
    const breaches: number[] = [];
    // The two symbols move in opposite directions.
    for (const symbol of ['TQQQ', 'SQQQ']) {
      const portfolioId = await nearlyTooMuch(main, symbol);
      const breach = firstBreach(main, portfolioId, symbol, end);
      if (breach !== undefined) breaches.push(breach);
    }
    expect(main.brokerage.state.orders.size).toBe(0);
    const breach = Math.min(...breaches);
    expect(breach).toBeLessThanOrEqual(end);
    await main.moveClock(Instant.ofMs(end));
    const told: number[] = [];
    for await (const record of store.journal.read(main.id, 0)) {
      const { events } = JSON.parse(record.payload) as { events: { type: string }[] };
      if (events.some(({ type }) => type === 'CallIssued')) told.push(record.at);
    }
    expect(told[0]).toBeGreaterThanOrEqual(breach);
    expect(told[0]).toBeLessThanOrEqual(breach + 2 * SECOND);
    expect((await verifyJournal(store, main.id)).problems).toEqual([]);
  });

  it('yields between the portfolios that it checks at one instant', async () => {
    const { market } = await synthetic();
    for (let i = 0; i < 3; i += 1) await nearlyTooMuch(market, 'TQQQ');
    const step = await market.beginStep();
    await step.open([]);
    const due: number[] = [];
    const breathe = (): Promise<void> => {
      due.push(market.brokerage.state.watch.portfolios.size);
      return Promise.resolve();
    };
    await step.advance(Instant.ofMs(market.now() + 5 * SECOND), { pace: { breathe } });
    step.commit();
    expect(due.join('')).toContain('210');
  });

  it('skips portfolios far from a call', async () => {
    const { main } = await synthetic();
    const portfolioId = await openTestPortfolio(main, { type: 'MARGIN', cash: 100_000 });
    const ask = main.feed.quoteAt('TQQQ', main.now())?.ask ?? Price.ofUnits(0);
    await placeTestOrder(main, portfolioId, {
      symbol: 'TQQQ',
      orderType: 'LIMIT',
      quantity: Quantity.of(100),
      limitPrice: ask,
    });
    await main.moveClock(Instant.ofMs(main.now() + 5 * SECOND));
    expect(valueIn(main, portfolioId).maintenanceExcess).toBeGreaterThan(Money.ofDollars(80_000));
    expect(main.brokerage.nextLook(true)).toBeGreaterThan(main.now() + 7 * 86_400_000);
  });
});
