import { describe, expect, it } from 'vitest';
import { announcementOf } from '../../src/commands/market/market-setup.js';
import type { CorporateAction } from '../../src/corporate-actions/corporate-action.js';
import type { Rules } from '../../src/rules.js';
import { stateHash } from '../../src/state-hash.js';
import { Position } from '../../src/positions/position.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { shares, TestMarket } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { TradingDate } from '../../src/values/trading-date.js';

const audited = auditAfterEach();

/** After the spin-off a contract delivers 100 XYZ and 25 ABC: one ABC for four XYZ. */
const CALL = 'XYZ1260220C00025000';
const SALE: TestOrder = {
  symbol: CALL,
  quantity: 1,
  intent: 'SELL_TO_OPEN',
  type: 'LIMIT',
  limit: '9.00',
  tif: 'GTC',
};

/** A CASH portfolio with 200 XYZ, and so with 50 ABC, beside a holder of the call that keeps the series listed. */
function afterSpinOff(rules: Partial<Rules> = {}) {
  const market = audited(new TestMarket({ rules }));
  const portfolio = market.openPortfolio({ type: 'CASH', cash: 100_000 });
  const other = market.openPortfolio({ type: 'CASH', cash: 100_000 });
  market.quote('XYZ', '30.00', '30.00');
  market.quote('XYZ260220C00025000', '6.00', '6.00');
  market.place(portfolio, { symbol: 'XYZ', quantity: 200 });
  market.place(other, { symbol: 'XYZ260220C00025000', quantity: 1 });
  const act = (action: object, day: string): void => {
    const announced = { exDate: TradingDate.of(day), ...action } as unknown as CorporateAction;
    market.execute<'AnnounceActions'>(announcementOf([announced]));
    market.advanceTo(day, 10);
  };
  const ratio = { new: 1, old: 4 };
  act({ type: 'SPIN_OFF', symbol: 'XYZ', newSymbol: 'ABC', ratio, basisPercent: 10 }, '2026-01-07');
  market.quote('XYZ', '27.00', '27.00');
  market.quote('ABC', '12.00', '12.00');
  market.quote(CALL, '5.00', '5.10');
  const reservedBy = (by: 'reservedByOrders' | 'reservedByPositions') =>
    Object.fromEntries(
      [...market.portfolio(portfolio)[by].shares].map(([symbol, size]) => [symbol, shares(size)]),
    );
  const held = (symbol: string): number => {
    const position = market.portfolio(portfolio).positions.get(symbol);
    return position === undefined ? 0 : shares(Position.held(position));
  };
  const sell = (quantity: number, more: Partial<TestOrder> = {}) =>
    ({ symbol: 'ABC', quantity, intent: 'SELL_TO_CLOSE', ...more }) as TestOrder;
  return { market, portfolio, act, reservedBy, held, sell };
}

const REFUSED_SALE = { code: 'INSUFFICIENT_POSITION' };
const UNCOVERED = { code: 'OPTION_LEVEL' };

describe('an open order that writes calls on 100 XYZ and 25 ABC', () => {
  it('reserves both, so that the shares cover two orders and no third', () => {
    const { market, portfolio, reservedBy, held } = afterSpinOff();
    expect([held('XYZ'), held('ABC')]).toEqual([200, 50]);
    market.place(portfolio, SALE);
    expect(reservedBy('reservedByOrders')).toEqual({ XYZ: 100, ABC: 25 });
    market.place(portfolio, SALE);
    expect(reservedBy('reservedByOrders')).toEqual({ XYZ: 200, ABC: 50 });
    expect(market.submit(portfolio, SALE)).toMatchObject(UNCOVERED);
  });

  it('a second one is refused without ABC for it, whatever there is of XYZ', () => {
    const { market, portfolio, sell } = afterSpinOff();
    market.place(portfolio, sell(1));
    market.place(portfolio, SALE);
    expect(market.submit(portfolio, SALE)).toMatchObject(UNCOVERED);
    expect(market.submit(portfolio, { ...SALE, quantity: 2 })).toMatchObject(UNCOVERED);
  });

  it('keeps ABC from a sale until it is canceled', () => {
    const { market, portfolio, sell, held } = afterSpinOff();
    const order = market.place(portfolio, { ...SALE, quantity: 2 });
    expect(market.submit(portfolio, sell(1))).toMatchObject({ ...REFUSED_SALE, availableQuantity: 0 });
    market.cancel(order);
    market.place(portfolio, sell(50));
    expect(held('ABC')).toBe(0);
  });

  it('is refused while an order to sell ABC is open', () => {
    const { market, portfolio, sell } = afterSpinOff();
    const sale = market.place(portfolio, sell(26, { type: 'LIMIT', limit: '20.00' }));
    expect(market.submit(portfolio, SALE)).toMatchObject(UNCOVERED);
    market.cancel(sale);
    market.place(portfolio, SALE);
  });

  it('is not enlarged beyond the ABC that is free', () => {
    const { market, portfolio, sell, reservedBy } = afterSpinOff();
    market.place(portfolio, sell(10));
    const order = market.place(portfolio, SALE);
    expect(market.replace(order, { quantity: 2 })).toMatchObject(UNCOVERED);
    expect(reservedBy('reservedByOrders')).toEqual({ XYZ: 100, ABC: 25 });
  });

  it('filled in part it reserves the rest, and the calls reserve theirs', () => {
    const { market, portfolio, reservedBy, sell } = afterSpinOff();
    const order = market.place(portfolio, { ...SALE, quantity: 2 });
    market.quote(CALL, '9.00', '9.10', { bidSize: 1, askSize: 1 });
    expect(market.order(order).filledQuantity).toBe(1_000_000);
    expect(reservedBy('reservedByOrders')).toEqual({ XYZ: 100, ABC: 25 });
    expect(reservedBy('reservedByPositions')).toEqual({ XYZ: 100, ABC: 25 });
    expect(market.submit(portfolio, sell(1))).toMatchObject(REFUSED_SALE);
    market.cancel(order);
    market.place(portfolio, sell(25));
    expect(market.submit(portfolio, sell(1))).toMatchObject(REFUSED_SALE);
  });

  it('reserves the shares under their new name after ABC is renamed, and still fills', () => {
    const { market, portfolio, act, reservedBy } = afterSpinOff();
    const order = market.place(portfolio, SALE);
    act({ type: 'SYMBOL_CHANGE', symbol: 'ABC', newSymbol: 'ABD' }, '2026-01-08');
    expect(reservedBy('reservedByOrders')).toEqual({ XYZ: 100, ABD: 25 });
    market.restart();
    market.quote(CALL, '9.00', '9.10');
    expect(market.order(order).status).toBe('FILLED');
    expect(reservedBy('reservedByPositions')).toEqual({ XYZ: 100, ABD: 25 });
    expect(reservedBy('reservedByOrders')).toEqual({});
  });

  it.each([
    ['a split of ABC', { type: 'SPLIT', symbol: 'ABC', ratio: { new: 2, old: 1 } }],
    ['a delisting of ABC', { type: 'DELISTING', symbol: 'ABC', cashPerShare: 1_200_000_000 }],
    ['a merger of ABC', { type: 'MERGER', symbol: 'ABC', newSymbol: 'ACQ', ratio: 0.5 }],
    ['a spin-off of XYZ', { type: 'SPIN_OFF', symbol: 'XYZ', newSymbol: 'TWO', ratio: 0.5, basisPercent: 5 }],
  ])('ends at %s, and reserves nothing any more', (_, action) => {
    const { market, portfolio, act, reservedBy } = afterSpinOff();
    const order = market.place(portfolio, SALE);
    act(action, '2026-01-08');
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'CORPORATE_ACTION' });
    expect(reservedBy('reservedByOrders')).toEqual({});
  });

  it('has the same reservation after a recovery', () => {
    const { market, portfolio } = afterSpinOff();
    market.place(portfolio, SALE);
    const before = stateHash(market.brokerage.state);
    market.restart();
    expect(stateHash(market.brokerage.state)).toBe(before);
  });

  it('under the rules of earlier journals reserves XYZ alone', () => {
    const { market, portfolio, reservedBy } = afterSpinOff({ components: undefined as never });
    const order = market.place(portfolio, SALE);
    expect(reservedBy('reservedByOrders')).toEqual({ XYZ: 100 });
    expect(market.order(order).coverOthers).toBeUndefined();
  });
});

describe('an expiring put that delivers 100 XYZ and 25 ABC', () => {
  it('ends an order that sells the delivered ABC', () => {
    const market = audited(new TestMarket());
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    const put = 'XYZ260220P00040000';
    market.quote('XYZ', '30.00', '30.00');
    market.quote(put, '10.00', '10.00');
    market.place(portfolio, { symbol: 'XYZ', quantity: 100 });
    market.place(portfolio, { symbol: put, quantity: 1 });
    const spinOff = {
      type: 'SPIN_OFF',
      symbol: 'XYZ',
      newSymbol: 'ABC',
      exDate: TradingDate.of('2026-01-07'),
      ratio: { new: 1, old: 4 },
      basisPercent: 10,
    } as const;
    market.execute<'AnnounceActions'>(announcementOf([spinOff]));
    market.advanceTo('2026-02-20', 10);
    market.quote('XYZ', '27.00', '27.00');
    market.quote('ABC', '12.00', '12.00');
    const sale = market.place(portfolio, {
      symbol: 'ABC',
      quantity: 25,
      intent: 'SELL_TO_CLOSE',
      type: 'LIMIT',
      limit: '20.00',
      tif: 'GTC',
    });
    market.advanceTo('2026-02-20', 17);
    expect(market.order(sale)).toMatchObject({ status: 'CANCELED', cancelReason: 'BROKER' });
    expect(market.portfolio(portfolio).reservedByOrders.shares.size).toBe(0);
  });
});

describe('calls on 100 XYZ and 25 ABC in a MARGIN portfolio', () => {
  /** XYZ 27.00 and ABC 12.00: a contract is worth 27 + 25 % of 12 = 30.00 a share. */
  function onMargin(cash: number, bought: number) {
    const market = audited(new TestMarket());
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash });
    const other = market.openPortfolio({ type: 'CASH', cash: 100_000 });
    market.quote('XYZ', '30.00', '30.00');
    market.quote('XYZ260220C00025000', '6.00', '6.00');
    if (bought > 0) market.place(portfolio, { symbol: 'XYZ', quantity: bought });
    market.place(other, { symbol: 'XYZ260220C00025000', quantity: 1 });
    const spinOff = {
      type: 'SPIN_OFF',
      symbol: 'XYZ',
      newSymbol: 'ABC',
      exDate: TradingDate.of('2026-01-07'),
      ratio: { new: 1, old: 4 },
      basisPercent: 10,
    } as const;
    market.execute<'AnnounceActions'>(announcementOf([spinOff]));
    market.advanceTo('2026-01-07', 10);
    market.quote('XYZ', '27.00', '27.00');
    market.quote('ABC', '12.00', '12.00');
    market.quote(CALL, '5.00', '5.00');
    return { market, portfolio };
  }

  it('a second order is uncovered when the ABC covers one call only', () => {
    const { market, portfolio } = onMargin(100_000, 200);
    market.place(portfolio, { symbol: 'ABC', quantity: 25, intent: 'SELL_TO_CLOSE' });
    const covered = market.place(portfolio, { ...SALE, limit: '5.00', type: 'LIMIT' });
    expect(market.order(covered).status).toBe('FILLED');
    const second = market.place(portfolio, SALE);
    // Before: 25 % of 100 XYZ, and 25 % of 25 plus 5 in the money: 675 + 1,125. After: 25 % of 200 XYZ and two calls that lack ABC,
    // each its premium of 900 and 20 % of 30 × 100: 1,350 + 3,000. Less the proceeds of 900, with the commission of 0.50.
    expect(market.order(second).takes).toEqual({ initial: 17_005_000, maintenance: 16_505_000 });
  });

  it('are checked when ABC alone moves', () => {
    const { market, portfolio } = onMargin(3000, 0);
    market.place(portfolio, { ...SALE, type: 'MARKET', limit: undefined as never, tif: 'DAY' });
    market.advanceMs(5000);
    expect(market.events('CallIssued')).toEqual([]);
    // 27 + 25 % of 600 = 177.00: 20 % of 17,700 is more than the portfolio has.
    market.quote('ABC', '600.00', '600.00');
    market.advanceMs(2000);
    expect(market.events('CallIssued')).toMatchObject([{ portfolioId: portfolio }]);
  });
});
