import { describe, expect, it } from 'vitest';
import type { CorporateAction } from '../../src/corporate-actions/corporate-action.js';
import { stateHash } from '../../src/state-hash.js';
import { shares, TestMarket } from '../../src/testing/market.js';
import { Position } from '../../src/positions/position.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const split = (exDate: string): CorporateAction => ({
  type: 'SPLIT',
  symbol: 'AAPL',
  exDate: TradingDate.of(exDate),
  ratio: { new: 2, old: 1 },
});

const announce = (market: TestMarket, action: CorporateAction) =>
  market.execute<'AnnounceActions'>({ type: 'AnnounceActions', actions: [action] }).result;

const withdraw = (market: TestMarket, actionId: string) =>
  market.execute<'WithdrawAction'>({ type: 'WithdrawAction', actionId }).result;

const idOf = (result: ReturnType<typeof announce>): string => {
  if ('code' in result) throw new Error(JSON.stringify(result));
  return result[0]?.actionId ?? '';
};

const NOT_TO_COME = {
  code: 'INVALID',
  messages: ['exDate must be a trading day that has not begun'],
};

function holding(hour = 10) {
  const market = new TestMarket({ hour });
  const portfolio = market.openPortfolio({ type: 'MARGIN' });
  market.quote('AAPL', '100.00', '100.00');
  if (hour === 10) market.place(portfolio, { quantity: 100 });
  const held = () =>
    shares(
      Position.held(market.portfolio(portfolio).positions.get('AAPL') ?? Position.open('AAPL', 'EQUITY')),
    );
  return { market, held };
}

describe('an ex-date is a trading day that has not begun', () => {
  it('begins at 03:00 New York', () => {
    const { market } = holding(2);
    market.advanceTo('2026-01-05', 2, 59);
    expect(announce(market, split('2026-01-05'))).toMatchObject([{ status: 'ANNOUNCED' }]);
    const late = new TestMarket({ hour: 3 });
    expect(announce(late, split('2026-01-05'))).toEqual(NOT_TO_COME);
  });

  it('an ex-date is refused if it is today, past, a weekend or a holiday', () => {
    const { market } = holding();
    const before = stateHash(market.brokerage.state);
    for (const exDate of ['2026-01-05', '2026-01-02', '2026-01-10', '2026-01-19']) {
      expect(announce(market, split(exDate))).toEqual(NOT_TO_COME);
    }
    expect(stateHash(market.brokerage.state)).toBe(before);
    expect(announce(market, split('2026-01-06'))).toMatchObject([{ status: 'ANNOUNCED' }]);
  });
});

describe('a dividend or split that has not taken effect', () => {
  it('can be withdrawn, and then nothing happens', () => {
    const { market, held } = holding();
    const actionId = idOf(announce(market, split('2026-01-06')));
    expect(withdraw(market, actionId)).toMatchObject({ actionId });
    expect(withdraw(market, actionId)).toEqual({ code: 'NOT_FOUND', what: 'Corporate action' });
    market.advanceTo('2026-01-06', 10);
    expect(held()).toBe(100);
    expect(market.brokerage.mark('AAPL')).toBe(Price.of('100'));
  });

  it('can be announced again, and then applies once, after later announcements', () => {
    const { market, held } = holding();
    const actionId = idOf(announce(market, split('2026-01-06')));
    withdraw(market, actionId);
    announce(market, {
      type: 'CASH_DIVIDEND',
      symbol: 'AAPL',
      exDate: TradingDate.of('2026-01-06'),
      amountPerShare: Price.of('0.25'),
    });
    announce(market, split('2026-01-06'));
    market.restart();
    market.advanceTo('2026-01-06', 10);
    expect(held()).toBe(200);
    // 0.25 on the 100 shares before the split.
    expect(market.events('DividendAccrued')).toMatchObject([{ amount: 250_000 }]);
    expect(market.events('ActionDone').map(({ action }) => action.type)).toEqual(['CASH_DIVIDEND', 'SPLIT']);
  });
});

it('a corporate action in effect cannot be withdrawn', () => {
  const { market, held } = holding();
  const actionId = idOf(announce(market, split('2026-01-06')));
  market.advanceTo('2026-01-06', 3);
  expect(withdraw(market, actionId)).toEqual({
    code: 'CONFLICT',
    message: 'The corporate action has taken effect',
  });
  expect(withdraw(market, 'SPLIT:AAPL:2026-01-07')).toEqual({ code: 'NOT_FOUND', what: 'Corporate action' });
  expect(held()).toBe(200);
});
