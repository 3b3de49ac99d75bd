import { describe, expect, it } from 'vitest';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import { Position } from '../../src/positions/position.js';
import { Money } from '../../src/values/money.js';

const CALL = 'AAPL260116C00150000';
const HIGHER = 'AAPL260116C00160000';
const PUT = 'AAPL260116P00140000';
const LOWER_PUT = 'AAPL260116P00130000';

/** Monday 2026-01-05, 10:00; AAPL at 150, some options around it. */
function market(options: ConstructorParameters<typeof TestMarket>[0] = {}): TestMarket {
  const all = new TestMarket(options);
  all.quote('AAPL', '149.99', '150.01');
  all.quote(CALL, '5.00', '5.10', { bidSize: 20, askSize: 20 });
  all.quote(HIGHER, '2.00', '2.10', { bidSize: 20, askSize: 20 });
  all.quote(PUT, '1.50', '1.60', { bidSize: 20, askSize: 20 });
  all.quote(LOWER_PUT, '0.50', '0.60', { bidSize: 20, askSize: 20 });
  return all;
}

describe('a call bought and sold (D74, D81, D83, D84)', () => {
  it('costs premium × 100 and commission, is worth its mark, and its proceeds settle the next day', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 10_000 });
    const order = m.place(portfolio, { symbol: CALL, quantity: 3, limit: '5.10' });
    expect(m.order(order)).toMatchObject({ status: 'FILLED', averagePrice: 5.1e8 });
    expect(m.fills(order)).toEqual(['3 @ 5.1']);
    let value = m.value(portfolio);
    // 3 × 100 × 5.10, and 0.50 a contract.
    expect(dollars(value.settledCash)).toBe(10_000 - 1530 - 1.5);
    // Marked at 5.05, between bid and ask.
    expect(dollars(value.longMarketValue)).toBe(1515);
    expect(dollars(value.totalEquity)).toBe(10_000 - 1530 - 1.5 + 1515);
    const position = m.portfolio(portfolio).positions.get(CALL)!;
    expect([shares(Position.held(position)), dollars(Position.costBasis(position))]).toEqual([3, 1530]);
    expect([...m.portfolio(portfolio).obligations.values()].map(({ cash }) => cash)).toEqual([0]);

    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_CLOSE', quantity: 3 });
    value = m.value(portfolio);
    expect(dollars(value.pendingCash)).toBe(1500 - 1.5);
    expect(m.portfolio(portfolio).positions.size).toBe(0);
    m.advanceTo('2026-01-06', 9);
    expect(dollars(m.value(portfolio).settledCash)).toBe(10_000 - 30 - 3);
    expect(dollars(m.portfolio(portfolio).balances.REALIZED_PNL)).toBe(30);
  });

  it('fills the displayed size, in whole contracts, and waits for more', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    const order = m.place(portfolio, { symbol: CALL, quantity: 30, limit: '5.10' });
    expect(m.fills(order)).toEqual(['20 @ 5.1']);
    expect(m.waitingFor(order)).toBe('size at ask 5.10');
    m.quote(CALL, '5.00', '5.10', { askSize: 50 });
    expect(m.fills(order)).toEqual(['20 @ 5.1', '10 @ 5.1']);
  });

  it('is set off by bid and ask, never by the last trade', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    const stop = m.place(portfolio, {
      symbol: CALL,
      type: 'STOP',
      intent: 'SELL_TO_CLOSE',
      quantity: 1,
      stop: '4.00',
    });
    m.quote(CALL, '4.50', '4.70', { last: '3.90' });
    expect(m.order(stop).status).toBe('ACTIVE');
    expect(m.waitingFor(stop)).toBe('bid 4.50 above stop 4.00');
    m.quote(CALL, '3.95', '4.70', { last: '4.60' });
    expect(m.fills(stop)).toEqual(['1 @ 3.95']);
  });

  it('has brackets like a share', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    const entry = m.place(portfolio, {
      symbol: CALL,
      quantity: 2,
      limit: '5.10',
      more: {
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT', limitPrice: 7e8 as never },
          stopLoss: { orderType: 'STOP', stopPrice: 4e8 as never },
        },
      },
    });
    const [target, stop] = m.exits(entry);
    expect(m.order(target!).status).toBe('ACTIVE');
    m.quote(CALL, '7.10', '7.20');
    expect(m.order(target!).status).toBe('FILLED');
    expect(m.order(stop!)).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });
});

describe('prices and hours (D69, D70)', () => {
  it('from three dollars on in nickels', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    expect(m.submit(portfolio, { symbol: CALL, quantity: 1, limit: '5.01' })).toEqual({
      code: 'INVALID',
      messages: ['limitPrice must be a multiple of 0.05'],
    });
    m.place(portfolio, { symbol: PUT, quantity: 1, limit: '1.49' });
  });

  it('an order dies with the series it is for', () => {
    const m = market({ date: '2026-01-16' });
    const portfolio = m.openPortfolio();
    const order = m.place(portfolio, { symbol: CALL, quantity: 1, limit: '1.00', tif: 'GTC' });
    m.advanceTo('2026-01-16', 16, 1);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'INSTRUMENT_EXPIRED' });
    expect(m.submit(portfolio, { symbol: CALL, quantity: 1 })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
    });
  });

  it('waits for the open of the options market', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    m.advanceTo('2026-01-05', 17);
    const order = m.place(portfolio, { symbol: CALL, quantity: 1, limit: '5.10' });
    expect(m.order(order).status).toBe('PENDING_MARKET_OPEN');
    expect(m.submit(portfolio, { symbol: CALL, quantity: 1, limit: '5.10', tif: 'IOC' })).toEqual({
      code: 'MARKET_CLOSED',
      nextOpen: '2026-01-06T09:30:00-05:00',
    });
  });
});

describe('short options in a CASH portfolio (D80, D81, D160)', () => {
  it('a covered call keeps the shares from being sold', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 40_000 });
    m.place(portfolio, { quantity: 150 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    const { reservedByPositions } = m.portfolio(portfolio);
    expect(shares(reservedByPositions.shares.get('AAPL')!)).toBe(100);
    expect(m.submit(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 51 })).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: 50_000_000,
    });
    expect(m.submit(portfolio, { symbol: HIGHER, intent: 'SELL_TO_OPEN', quantity: 1 })).toMatchObject({
      code: 'OPTION_LEVEL',
      currentLevel: 2,
      requiredLevel: 4,
    });
    expect(dollars(m.value(portfolio).shortMarketValue)).toBe(505);
    m.place(portfolio, { symbol: CALL, intent: 'BUY_TO_CLOSE', quantity: 1 });
    expect(reservedByPositions.shares.size).toBe(0);
    m.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 150 });
  });

  it('holds the shares while the order waits, too', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 40_000 });
    m.place(portfolio, { quantity: 100 });
    const order = m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1, limit: '6.00' });
    expect(m.submit(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 1 })).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
    });
    m.cancel(order);
    m.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100 });
  });

  it('a put is secured by its strike; the premium does not count before it settles', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 14_000 });
    const order = m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    expect(m.order(order).status).toBe('FILLED');
    expect(m.value(portfolio)).toMatchObject({
      reservedCash: Money.ofDollars(14_000),
      settledCash: 0,
      pendingCash: 1_495_000,
    });
    expect(m.submit(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 })).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: 0,
      requiredAmount: Money.ofDollars(14_000),
    });
    // Buying it back may use the cash that secures it.
    m.place(portfolio, { symbol: PUT, intent: 'BUY_TO_CLOSE', quantity: 1 });
    expect(m.value(portfolio).reservedCash).toBe(0);
    expect(dollars(m.value(portfolio).settledCash)).toBe(14_000 - 160.5);
  });

  it('the reservation ends once the portfolio has margin at a broker of level 4', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 50_000 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.place(portfolio, { quantity: 100 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    expect(m.value(portfolio).reservedCash).toBe(Money.ofDollars(14_000));
    m.execute<'UpgradeMargin'>({
      type: 'UpgradeMargin',
      by: m.by,
      portfolioId: portfolio,
      marginType: 'REG_T',
      addPromotionalCash: false,
    });
    expect(m.value(portfolio).reservedCash).toBe(0);
    m.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100 });
  });

  it('spreads against the largest loss if the broker allows them, by an existing long', () => {
    const broker = testBroker('default', { spreadsInCashAccounts: true });
    const m = market({ rules: { brokers: new Map([['default', broker]]) } });
    const portfolio = m.openPortfolio({ cash: 10_000 });
    m.place(portfolio, { symbol: HIGHER, quantity: 1 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    expect(m.value(portfolio).reservedCash).toBe(Money.ofDollars(1000));
    // Selling the long would leave the short uncovered.
    expect(m.submit(portfolio, { symbol: HIGHER, intent: 'SELL_TO_CLOSE', quantity: 1 })).toMatchObject({
      code: 'OPTION_LEVEL',
      requiredLevel: 4,
    });
    m.place(portfolio, { symbol: LOWER_PUT, quantity: 1 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    // Both sides of the condor cannot lose at once.
    expect(m.value(portfolio).reservedCash).toBe(Money.ofDollars(1000));
  });

  it('a long that an open order sells is no spread with that order', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    m.place(portfolio, { symbol: HIGHER, quantity: 1 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_CLOSE', quantity: 1, limit: '90.00' });
    const lower = 'AAPL260116C00145000';
    m.quote(lower, '8.00', '8.10');
    // The existing spread of the portfolio would have allowed it.
    expect(m.submit(portfolio, { symbol: lower, intent: 'SELL_TO_OPEN', quantity: 1 })).toMatchObject({
      code: 'OPTION_LEVEL',
      requiredLevel: 3,
    });
  });

  it('a broker of level 2 sells no spread there', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    m.place(portfolio, { symbol: HIGHER, quantity: 1 });
    expect(m.submit(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 })).toMatchObject({
      code: 'OPTION_LEVEL',
      currentLevel: 2,
      requiredLevel: 3,
    });
  });
});

describe('refusals', () => {
  it('names the reason', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    expect(m.submit(portfolio, { symbol: 'AAPL260116C00151000', quantity: 1 })).toMatchObject({
      code: 'UNKNOWN_SYMBOL',
    });
    expect(m.submit(portfolio, { symbol: 'AAPL', quantity: 1, more: { assetClass: 'OPTION' } })).toEqual({
      code: 'INSTRUMENT_NOT_TRADABLE',
      message: 'AAPL is not an option',
    });
    expect(m.submit(portfolio, { symbol: CALL, quantity: 1, more: { assetClass: 'EQUITY' } })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
    });
    expect(m.submit(portfolio, { symbol: CALL, intent: 'SELL_TO_CLOSE', quantity: 1 })).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
    });
    expect(m.submit(portfolio, { symbol: CALL, quantity: 200, limit: '5.10' })).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      // 200 × 100 × 5.10, and 0.50 a contract.
      requiredAmount: Money.ofDollars(102_100),
    });
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    expect(m.submit(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 })).toMatchObject({
      code: 'POSITION_CONFLICT',
    });
  });
});

describe('a switch of the broker (D124)', () => {
  const low = testBroker('low', { optionLevel: 2, futures: false });
  const spreads = testBroker('default', { spreadsInCashAccounts: true });
  const brokers = new Map([
    ['default', spreads],
    ['low', low],
  ]);
  const switchOf = (m: TestMarket, portfolioId: string) =>
    m.execute<'SwitchBroker'>({ type: 'SwitchBroker', by: m.by, portfolioId, brokerId: 'low' }).result;
  const REFUSED = { code: 'BROKER_RESTRICTION' };

  it('is refused to one that has no futures', () => {
    const m = market({ rules: { brokers } });
    m.quote('ESH26', '6000', '6000.25');
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.place(portfolio, { symbol: 'ESH26', quantity: 1 });
    expect(switchOf(m, portfolio)).toMatchObject(REFUSED);
    m.place(portfolio, { symbol: 'ESH26', quantity: 1, intent: 'SELL_TO_CLOSE' });
    expect(switchOf(m, portfolio)).not.toHaveProperty('code');
  });

  it.each<['CASH' | 'MARGIN', readonly [string, 'BUY_TO_OPEN' | 'SELL_TO_OPEN'][], boolean]>([
    ['MARGIN', [[CALL, 'SELL_TO_OPEN']], true],
    ['MARGIN', [[PUT, 'SELL_TO_OPEN']], false],
    ['MARGIN', [[CALL, 'BUY_TO_OPEN']], false],
    [
      'CASH',
      [
        [HIGHER, 'BUY_TO_OPEN'],
        [CALL, 'SELL_TO_OPEN'],
      ],
      true,
    ],
  ])('is refused below the option level of its positions: %s %j, %s', (type, trades, isRefused) => {
    const m = market({ rules: { brokers } });
    const portfolio = m.openPortfolio({ type, cash: 30_000 });
    for (const [symbol, intent] of trades) m.place(portfolio, { symbol, intent, quantity: 1 });
    const result = switchOf(m, portfolio);
    if (isRefused) expect(result).toMatchObject(REFUSED);
    else expect(result).not.toHaveProperty('code');
  });

  it('is refused without the cash to secure a put', () => {
    const m = market({ rules: { brokers } });
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    expect(switchOf(m, portfolio)).toMatchObject(REFUSED);
  });
});
