import { describe, expect, it } from 'vitest';
import type { CorporateAction } from '../../../src/corporate-actions/corporate-action.js';
import { TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';
import { TradingDate } from '../../../src/values/trading-date.js';

const bracket = (target: string, stop: string, limit?: string): TestOrder => ({
  more: {
    bracketConfig: {
      profitTarget: { orderType: 'LIMIT', limitPrice: Price.of(target) },
      stopLoss: {
        orderType: limit === undefined ? 'STOP' : 'STOP_LIMIT',
        stopPrice: Price.of(stop),
        ...(limit !== undefined && { limitPrice: Price.of(limit) }),
      },
    },
  },
});

/** An entry for ten at 100.00 or better that rests until canceled, with exits at 110.00 and 95.00. */
function resting(order: TestOrder = {}) {
  const market = new TestMarket();
  market.quote('AAPL', '100.90', '101.00', { last: '101.00' });
  const portfolio = market.openPortfolio({ type: 'MARGIN' });
  const entry = market.place(portfolio, {
    limit: '100.00',
    tif: 'GTC',
    ...bracket('110.00', '95.00'),
    ...order,
  });
  const [target = '', stop = ''] = market.exits(entry);
  const fill = (askSize = 10) => market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize });
  return { market, portfolio, entry, target, stop, fill };
}

const EX = TradingDate.of('2026-01-06');

function happens(market: TestMarket, action: CorporateAction): void {
  market.execute<'AnnounceActions'>({ type: 'AnnounceActions', actions: [action] });
  market.advanceTo(EX, 3);
}

const split = (market: TestMarket) =>
  happens(market, { type: 'SPLIT', symbol: 'AAPL', exDate: EX, ratio: { new: 2, old: 1 } });
const dividend = (market: TestMarket) =>
  happens(market, { type: 'CASH_DIVIDEND', symbol: 'AAPL', exDate: EX, amountPerShare: Price.of('2') });

const TARGET = 'bracketConfig.profitTarget.limitPrice';
const STOP = 'bracketConfig.stopLoss.stopPrice';
const refused = (...messages: string[]) => ({ code: 'INVALID', messages });

describe('an update of the entry is checked against its current exits (D134)', () => {
  it('with their original prices, while nothing has changed', () => {
    const { market, entry } = resting();
    expect(market.replace(entry, { limit: '95.00' })).toEqual(
      refused(`${STOP} must be below the entry price 95`),
    );
    expect(market.replace(entry, { limit: '95.01' })).toBeUndefined();
  });

  it('after a split: 110 and 95 have become 55 and 47.50', () => {
    const { market, entry } = resting();
    split(market);
    expect(market.replace(entry, { limit: '55.00' })).toEqual(
      refused(`${TARGET} must be above the entry price 55`),
    );
    expect(market.replace(entry, { limit: '47.50' })).toEqual(
      refused(`${STOP} must be below the entry price 47.5`),
    );
    expect(market.replace(entry, { limit: '54.99' })).toBeUndefined();
  });

  it('after a dividend: a stop to sell comes down by it, a limit to sell does not', () => {
    const { market, entry } = resting();
    dividend(market);
    expect(market.replace(entry, { limit: '93.00' })).toEqual(
      refused(`${STOP} must be below the entry price 93`),
    );
    expect(market.replace(entry, { limit: '93.01' })).toBeUndefined();
    expect(market.replace(entry, { limit: '110.00' })).toEqual(
      refused(`${TARGET} must be above the entry price 110`),
    );
  });

  it('after a part has filled, and an exit that is at work was updated', () => {
    const { market, entry, target, fill } = resting();
    fill(4);
    expect(market.replace(entry, { limit: '110.00' })).toEqual(
      refused(`${TARGET} must be above the entry price 110`),
    );
    expect(market.replace(target, { limit: '105.00' })).toBeUndefined();
    expect(market.replace(entry, { limit: '105.00' })).toEqual(
      refused(`${TARGET} must be above the entry price 105`),
    );
  });

  it('of a short sale the other way round', () => {
    const { market, entry } = resting({
      intent: 'SELL_TO_OPEN',
      limit: '102.00',
      ...bracket('90.00', '104.00'),
    });
    split(market);
    expect(market.replace(entry, { limit: '52.00' })).toEqual(
      refused(`${STOP} must be above the entry price 52`),
    );
    expect(market.replace(entry, { limit: '51.50' })).toBeUndefined();
  });

  it('an exit that is over is nothing to be judged by', () => {
    const { market, entry, stop, fill } = resting();
    fill(4);
    market.cancel(stop);
    expect(market.replace(entry, { limit: '90.00' })).toBeUndefined();
  });
});

describe('an update of an exit is checked against the current entry and the other exit (D134)', () => {
  it('while the entry still works: by its price', () => {
    const { market, entry, target, stop, fill } = resting();
    fill(4);
    expect(market.replace(stop, { stop: '100.00' })).toEqual(
      refused(`${STOP} must be below the entry price 100`),
    );
    expect(market.replace(entry, { limit: '98.00' })).toBeUndefined();
    expect(market.replace(stop, { stop: '98.00' })).toEqual(
      refused(`${STOP} must be below the entry price 98`),
    );
    expect(market.replace(target, { limit: '98.00' })).toEqual(
      refused(`${TARGET} must be above the entry price 98`),
    );
    expect(market.replace(target, { limit: '98.01' })).toBeUndefined();
  });

  it('once it has filled a stop may protect a profit, below the target', () => {
    const { market, target, stop, fill } = resting();
    fill();
    market.quote('AAPL', '107.90', '108.00', { last: '108.00' });
    expect(market.replace(stop, { stop: '105.00' })).toBeUndefined();
    expect(market.replace(target, { limit: '105.00' })).toEqual(refused(`${TARGET} must be above ${STOP}`));
    expect(market.replace(target, { limit: '109.00' })).toBeUndefined();
    expect(market.replace(stop, { stop: '109.00' })).toEqual(refused(`${TARGET} must be above ${STOP}`));
  });

  it('after a split and an update of the other: 110 became 55, then 52', () => {
    const { market, target, stop, fill } = resting();
    fill();
    split(market);
    expect(market.replace(target, { limit: '52.00' })).toBeUndefined();
    expect(market.replace(stop, { stop: '52.00' })).toEqual(refused(`${TARGET} must be above ${STOP}`));
    expect(market.replace(stop, { stop: '51.99' })).toBeUndefined();
  });

  it('a stop loss with a limit: by its own limit, as a dividend has left it', () => {
    const { market, stop, fill } = resting(bracket('110.00', '95.00', '94.00'));
    fill();
    dividend(market);
    expect(market.order(stop)).toMatchObject({ stopPrice: Price.of('93'), limitPrice: Price.of('92') });
    expect(market.replace(stop, { limit: '93.01' })).toEqual(
      refused(`bracketConfig.stopLoss.limitPrice must not be above ${STOP}`),
    );
    expect(market.replace(stop, { stop: '91.99' })).toEqual(
      refused(`bracketConfig.stopLoss.limitPrice must not be above ${STOP}`),
    );
    expect(market.replace(stop, { stop: '92.50', limit: '92.50' })).toBeUndefined();
  });

  it('a new time in force is no question of prices', () => {
    const { market, stop, fill } = resting();
    fill();
    expect(market.replace(stop, { tif: 'DAY' })).toBeUndefined();
  });
});
