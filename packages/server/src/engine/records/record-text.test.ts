import { Price, Quantity } from '@sandpit/core';
import type { Quote } from '@sandpit/core';
import { describe, expect, it } from 'vitest';
import { allOf } from '../../store/fixtures.contract.js';
import { BY, openTestPortfolio, placeTestOrder, startSimulations } from '../../testing/simulations.js';
import { commandOf, payloadOf } from './record-text.js';

async function records() {
  const { main, store } = await startSimulations();
  const portfolioId = await openTestPortfolio(main);
  const quote: Quote = {
    symbol: 'AAPL',
    bid: Price.of('187.40'),
    ask: Price.of('187.50'),
    bidSize: Quantity.of(500),
    askSize: Quantity.of(800),
    at: main.now(),
  };
  // Two moments of one symbol are two events of one command.
  const quotes = [quote, { ...quote, ask: Price.of('187.60') }];
  await main.pushQuotes(quotes);
  // The first order of a symbol carries its quote, which the journal knows from then on.
  await placeTestOrder(main, portfolioId);
  await placeTestOrder(main, portfolioId, { clientOrderId: 'mine' });
  const [pushed] = await allOf(store.journal.read(main.market.id, 0));
  const [, , placed] = await allOf(store.journal.read(main.id, 0));
  if (pushed === undefined || placed === undefined) throw new Error('no records');
  return { portfolioId, quotes, pushed, placed };
}

describe('the text of a record', () => {
  it('stores the request once and restores it', async () => {
    const { portfolioId, quotes, pushed, placed } = await records();
    expect(payloadOf(placed).command).toEqual({ type: 'SubmitOrder' });
    expect(commandOf(payloadOf(placed))).toEqual({
      type: 'SubmitOrder',
      by: BY,
      order: {
        portfolioId,
        symbol: 'AAPL',
        assetClass: 'EQUITY',
        orderType: 'MARKET',
        positionIntent: 'BUY_TO_OPEN',
        quantity: Quantity.of(10),
        timeInForce: 'DAY',
        clientOrderId: 'mine',
      },
    });
    expect(payloadOf(pushed).command).toEqual({ type: 'UpdateMarket', pushed: true });
    expect(commandOf(payloadOf(pushed))).toEqual({ type: 'UpdateMarket', pushed: true, quotes });
  });

  it('needs less than 750 bytes for an order and its execution', async () => {
    const { placed } = await records();
    expect(placed.payload.length).toBeLessThan(750);
  });
});
