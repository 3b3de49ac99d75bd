import { describe, expect, it } from 'vitest';
import { reservedShares } from '../../../src/portfolios/portfolio.js';
import { TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Price } from '../../../src/values/price.js';

const bracket = (target: string, stop: string, more: object = {}): TestOrder => ({
  more: {
    bracketConfig: {
      profitTarget: { orderType: 'LIMIT', limitPrice: Price.of(target) },
      stopLoss: { orderType: 'STOP', stopPrice: Price.of(stop) },
      ...more,
    },
  },
});

/** An entry for ten at 100.00 or better that rests, with exits at 110.00 and 95.00. */
function resting(order: TestOrder = {}) {
  const market = new TestMarket();
  market.quote('AAPL', '100.90', '101.00', { last: '101.00' });
  const portfolio = market.openPortfolio();
  const entry = market.place(portfolio, { limit: '100.00', ...bracket('110.00', '95.00'), ...order });
  const [target = '', stop = ''] = market.exits(entry);
  const reserved = () => reservedShares(market.portfolio(portfolio), 'AAPL') / 1_000_000;
  return { market, portfolio, entry, target, stop, reserved };
}

describe('the exits of a bracket', () => {
  it('are created with the entry and wait for it', () => {
    const { market, entry, target, stop } = resting();
    expect(market.order(target)).toMatchObject({
      status: 'CREATED',
      timeInForce: 'GTC',
      limitPrice: Price.of('110'),
    });
    expect(market.order(stop)).toMatchObject({
      status: 'CREATED',
      timeInForce: 'GTC',
      stopPrice: Price.of('95'),
    });
    expect(market.waitingFor(target)).toBe('entry order to fill');
    expect(market.cancel(target)).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
    expect(market.replace(stop, { stop: '96.00' })).toMatchObject({ code: 'ORDER_NOT_UPDATABLE' });
    const numbers = [target, stop].map((id) => market.numberOf(id));
    expect(market.terms(entry).bracket).toMatchObject({ part: 'ENTRY', exits: numbers });
    expect(market.terms(target)).toMatchObject({
      bracket: { part: 'PROFIT_TARGET', sibling: numbers[1] },
      positionIntent: 'SELL_TO_CLOSE',
    });
    expect(market.terms(stop)).toMatchObject({
      bracket: { part: 'STOP_LOSS', sibling: numbers[0] },
      orderType: 'STOP',
    });
  });

  it('go to work when the entry fills, and set its shares aside once', () => {
    const { market, entry, target, stop, reserved } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    expect(market.order(entry).status).toBe('FILLED');
    expect(market.statuses(target)).toEqual(['CREATED', 'ACTIVE']);
    expect(market.statuses(stop)).toEqual(['CREATED', 'ACTIVE']);
    expect(reserved()).toBe(10);
  });

  it('cover the filled quantity of the entry, and grow with it', () => {
    const { market, target, stop, reserved } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 4 });
    expect([market.order(target).quantity, market.order(stop).quantity]).toEqual([4_000_000, 4_000_000]);
    expect(reserved()).toBe(4);
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 3 });
    expect([market.order(target).quantity, market.order(stop).quantity]).toEqual([7_000_000, 7_000_000]);
    expect(reserved()).toBe(7);
  });

  it('have the time in force of the bracket', () => {
    const { market, target } = resting(bracket('110.00', '95.00', { timeInForce: 'DAY' }));
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    market.advanceTo('2026-01-05', 16, 0);
    expect(market.order(target)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });

  it('there may be one alone', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    const portfolio = market.openPortfolio();
    const stopLoss = { orderType: 'STOP' as const, stopPrice: Price.of('95') };
    const entry = market.place(portfolio, { more: { bracketConfig: { stopLoss } } });
    const exits = market.exits(entry);
    expect(exits).toHaveLength(1);
    market.quote('AAPL', '94.90', '95.10', { last: '95.00' });
    expect(market.fills(exits[0] ?? '')).toEqual(['10 @ 94.9']);
    expect(market.brokerage.state.orders.size).toBe(0);
  });

  it('if the entry filled after hours they wait for the open', () => {
    const market = new TestMarket({ hour: 17 });
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 4 });
    const portfolio = market.openPortfolio();
    const entry = market.place(portfolio, {
      limit: '100.00',
      session: 'EXTENDED',
      ...bracket('110.00', '95.00'),
    });
    const [target = '', stop = ''] = market.exits(entry);
    expect(market.waitingFor(target)).toBe('market opens 2026-01-06T09:30:00-05:00');
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    expect(market.order(stop)).toMatchObject({ status: 'PENDING_MARKET_OPEN', quantity: 10_000_000 });
    market.advanceTo('2026-01-06', 9, 30);
    expect(market.statuses(stop)).toEqual(['CREATED', 'PENDING_MARKET_OPEN', 'RESERVING', 'ACTIVE']);
    market.quote('AAPL', '110.00', '110.10', { last: '110.00' });
    expect(market.fills(target)).toEqual(['10 @ 110']);
  });

  it('survive a restart', () => {
    const { market, target, stop } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 4 });
    market.restart();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    market.quote('AAPL', '94.90', '95.10', { last: '95.00' });
    expect(market.fills(stop)).toEqual(['10 @ 94.9']);
    expect(market.order(target)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });
});

describe('one cancels the other', () => {
  it('the stop loss fills: the profit target is canceled', () => {
    const { market, portfolio, target, stop, reserved } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    market.quote('AAPL', '94.90', '95.10', { last: '95.00' });
    expect(market.fills(stop)).toEqual(['10 @ 94.9']);
    expect(market.order(target)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'OCO',
      filledQuantity: 0,
    });
    expect(reserved()).toBe(0);
    expect(market.portfolio(portfolio).openOrders.size).toBe(0);
  });

  it('the profit target fills: the stop loss is canceled', () => {
    const { market, target, stop } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    market.quote('AAPL', '110.20', '110.30', { last: '110.20' });
    expect(market.fills(target)).toEqual(['10 @ 110']);
    expect(market.order(stop)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });

  it('an exit that fills in part leaves the remainder to the other', () => {
    const { market, target, stop, reserved } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    market.quote('AAPL', '110.20', '110.30', { last: '110.20', bidSize: 4 });
    expect(market.fills(target)).toEqual(['4 @ 110']);
    expect(market.order(stop)).toMatchObject({ status: 'ACTIVE', quantity: 6_000_000 });
    expect(reserved()).toBe(6);
    market.quote('AAPL', '94.90', '95.10', { last: '95.00', bidSize: 5 });
    expect(market.fills(stop)).toEqual(['5 @ 94.9']);
    expect(market.order(target)).toMatchObject({ quantity: 5_000_000, filledQuantity: 4_000_000 });
    market.quote('AAPL', '94.90', '95.10', { last: '95.00' });
    expect(market.fills(stop)).toEqual(['5 @ 94.9', '1 @ 94.9']);
    expect(market.order(stop).status).toBe('FILLED');
    expect(market.order(target)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
    expect(reserved()).toBe(0);
  });

  it('never do both sell, though one quote sets off both', () => {
    const { market, portfolio, target, stop } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    // The last trade is at the stop, the bid at the target.
    market.quote('AAPL', '110.00', '110.10', { last: '95.00', bidSize: 6 });
    const sold = [...market.executions(target), ...market.executions(stop)];
    expect(sold.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(6_000_000);
    market.quote('AAPL', '110.00', '110.10', { last: '95.00' });
    expect(market.portfolio(portfolio).positions.get('AAPL')?.lots).toEqual([]);
    expect(market.portfolio(portfolio).openOrders.size).toBe(0);
  });
});

describe('the shares that exits reserve', () => {
  it('cannot be sold by another order', () => {
    const { market, portfolio } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    expect(market.submit(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 1 })).toEqual({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: 0,
      requiredQuantity: 1_000_000,
    });
  });

  it.each(['target', 'stop'] as const)('pass to the other when the %s is canceled', (canceled) => {
    const bracketed = resting();
    const { market, portfolio, reserved } = bracketed;
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    market.cancel(bracketed[canceled]);
    const other = canceled === 'target' ? bracketed.stop : bracketed.target;
    expect(market.order(other)).toMatchObject({ status: 'ACTIVE', reservedQuantity: 10_000_000 });
    expect(reserved()).toBe(10);
    expect(market.submit(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 1 })).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
    });
    market.cancel(other);
    expect(reserved()).toBe(0);
  });

  it('after a partial exit and its cancel, later fills of the entry are reserved exactly', () => {
    const { market, target, stop, reserved } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 4 });
    market.quote('AAPL', '110.20', '110.30', { last: '110.20', bidSize: 2 });
    market.cancel(target);
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 6 });
    // Ten bought, two sold.
    expect(market.order(stop)).toMatchObject({ quantity: 8_000_000, reservedQuantity: 8_000_000 });
    expect(reserved()).toBe(8);
  });
});

describe('the entry', () => {
  it('canceled before it fills cancels its exits', () => {
    const { market, portfolio, entry, target, stop } = resting();
    market.cancel(entry);
    for (const order of [entry, target, stop]) {
      expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'USER' });
    }
    expect(market.portfolio(portfolio).openOrders.size).toBe(0);
  });

  it('expired, too', () => {
    const { market, target } = resting();
    market.advanceTo('2026-01-05', 16, 0);
    expect(market.order(target)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });

  it('canceled after a part was filled leaves that part protected', () => {
    const { market, entry, target, stop, reserved } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 4 });
    market.cancel(entry);
    expect(market.order(target)).toMatchObject({ status: 'ACTIVE', quantity: 4_000_000 });
    expect(market.order(stop)).toMatchObject({ status: 'ACTIVE', quantity: 4_000_000 });
    expect(reserved()).toBe(4);
  });

  it('is canceled when an exit has closed all it had filled: nothing is bought that nothing protects', () => {
    const { market, portfolio, entry, target, stop } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 4 });
    market.quote('AAPL', '110.20', '110.30', { last: '110.20' });
    expect(market.fills(target)).toEqual(['4 @ 110']);
    expect(market.order(entry)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'OCO',
      filledQuantity: 4_000_000,
    });
    expect(market.order(stop)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    expect(market.portfolio(portfolio).positions.get('AAPL')?.lots).toEqual([]);
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(0);
  });

  it('is not canceled while an exit has closed only a part', () => {
    const { market, entry, stop, reserved } = resting();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00', askSize: 4 });
    market.quote('AAPL', '110.20', '110.30', { last: '110.20', bidSize: 3 });
    expect(market.order(entry).status).toBe('ACTIVE');
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    expect(market.order(entry).status).toBe('FILLED');
    expect(market.order(stop)).toMatchObject({ quantity: 7_000_000, reservedQuantity: 0 });
    expect(reserved()).toBe(7);
  });

  it('an update that would put it beyond an exit is refused', () => {
    const { market, entry } = resting();
    expect(market.replace(entry, { limit: '111.00' })).toEqual({
      code: 'INVALID',
      messages: ['bracketConfig.profitTarget.limitPrice must be above the entry price 111'],
    });
    expect(market.replace(entry, { limit: '95.00' })).toEqual({
      code: 'INVALID',
      messages: ['bracketConfig.stopLoss.stopPrice must be below the entry price 95'],
    });
    expect(market.replace(entry, { limit: '99.00' })).toBeUndefined();
    expect(market.replace(entry, { quantity: 5 })).toMatchObject({
      messages: ['quantity cannot be updated on bracket orders'],
    });
  });
});

describe('a short bracket is the mirror image', () => {
  function short() {
    const market = new TestMarket();
    market.quote('AAPL', '100.00', '100.10', { last: '100.00' });
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    const entry = market.place(portfolio, { intent: 'SELL_TO_OPEN', ...bracket('90.00', '105.00') });
    const [target = '', stop = ''] = market.exits(entry);
    return { market, portfolio, entry, target, stop };
  }

  it('profit below', () => {
    const { market, target, stop } = short();
    expect(market.terms(target).positionIntent).toBe('BUY_TO_CLOSE');
    market.quote('AAPL', '89.80', '89.90', { last: '89.90' });
    expect(market.fills(target)).toEqual(['10 @ 90']);
    expect(market.order(stop)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });

  it('loss above', () => {
    const { market, portfolio, target, stop } = short();
    market.quote('AAPL', '105.00', '105.10', { last: '105.00' });
    expect(market.fills(stop)).toEqual(['10 @ 105.1']);
    expect(market.order(target)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
    expect(market.portfolio(portfolio).positions.get('AAPL')?.lots).toEqual([]);
  });

  it('the shares to buy back are reserved', () => {
    const { market, portfolio } = short();
    expect(market.submit(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 1 })).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: 0,
    });
  });
});

describe('a stop-limit as stop loss', () => {
  it('triggers at its stop and rests at its limit', () => {
    const stopLoss = { orderType: 'STOP_LIMIT', stopPrice: Price.of('95'), limitPrice: Price.of('94.5') };
    const { market, stop, target } = resting(bracket('110.00', '95.00', { stopLoss }));
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    market.quote('AAPL', '93.00', '93.10', { last: '93.00' });
    expect(market.fills(stop)).toEqual([]);
    expect(market.order(target).status).toBe('ACTIVE');
    market.quote('AAPL', '94.60', '94.70', { last: '94.60' });
    expect(market.fills(stop)).toEqual(['10 @ 94.5']);
  });
});
