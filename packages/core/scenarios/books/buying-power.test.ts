import { describe, expect, it } from 'vitest';
import { Quantity } from '../../src/values/quantity.js';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';

function regT(cash: number, price = '100.00') {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash });
  market.quote('AAPL', price, price);
  return { market, portfolio };
}

describe('the worst price of a short option (D108)', () => {
  it('is its limit or its mark, not its ask: a high ask frees no buying power for a spread', () => {
    const { market, portfolio } = regT(10_000, '50.00');
    const [sold, held] = ['AAPL260220C00055000', 'AAPL260220C00060000'];
    market.quote(held, '0.10', '0.10');
    market.quote(sold, '1.00', '9.00', { last: '1.00' });
    market.quote('KO', '50.00', '50.00');
    market.place(portfolio, { symbol: held, quantity: 1, limit: '0.10' });
    market.place(portfolio, { symbol: 'KO', quantity: 391, limit: '50.00' });
    expect(dollars(market.value(portfolio).smaBalance)).toBe(214.5);
    // The spread requires its width of 500, less a premium of 100 minus 0.50.
    const order = { symbol: sold, intent: 'SELL_TO_OPEN', quantity: 1 } as const;
    expect(market.submit(portfolio, order)).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      requiredBuyingPower: Money.ofDollars(801),
    });
    expect(market.submit(portfolio, { ...order, limit: '3.00' })).toEqual(expect.any(String));
  });
});

describe('overnight buying power', () => {
  it('of a new REG_T portfolio is twice its cash', () => {
    const { market, portfolio } = regT(100_000);
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(200_000);
  });

  it('refuses larger orders, with the figures without and with borrowing (D152)', () => {
    const { market, portfolio } = regT(100_000);
    expect(market.submit(portfolio, { quantity: 2001, limit: '100.00' })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: Money.ofDollars(100_000),
      requiredAmount: Money.ofDollars(200_100),
      availableBuyingPower: Money.ofDollars(200_000),
      requiredBuyingPower: Money.ofDollars(200_100),
    });
    market.place(portfolio, { quantity: 2000, limit: '100.00' });
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(0);
  });

  it('is twice the excess over the Reg T requirement', () => {
    const { market, portfolio } = regT(100_000);
    market.place(portfolio, { quantity: 1000, limit: '100.00' });
    // min(2 × (100,000 − 50,000), (100,000 − 25,000) / 25 %)
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(100_000);
  });

  it('is bound by the maintenance excess if the house requires more than half', () => {
    const broker = testBroker('default', { houseMaintenanceLongBps: 8000 });
    const market = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 1000, limit: '100.00' });
    // min(2 × 50,000, (100,000 − 80,000) / 80 %)
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(25_000);
  });

  it('of a CASH portfolio is its free settled cash, for day trades too (D52)', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ cash: 1000 });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 3, limit: '90.00' });
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(730);
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(730);
  });
});

describe('the margin check: an order needs its requirement, not its value (D108)', () => {
  const short = { intent: 'SELL_TO_OPEN' } as const;

  it('5,000 shares at 100 ask for 500,000', () => {
    const { market, portfolio } = regT(100_000);
    expect(market.submit(portfolio, { quantity: 5000, limit: '100.00' })).toMatchObject({
      availableBuyingPower: Money.ofDollars(200_000),
      requiredBuyingPower: Money.ofDollars(500_000),
    });
  });

  it('10,000 shares sold short at 2.00 require 50,000: 2.50 a share', () => {
    const poorer = regT(24_000, '2.00');
    expect(poorer.market.submit(poorer.portfolio, { ...short, quantity: 10_000 })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: Money.ofDollars(24_000),
      requiredAmount: Money.ofDollars(20_000),
      availableBuyingPower: Money.ofDollars(48_000),
      requiredBuyingPower: Money.ofDollars(50_000),
    });
    const { market, portfolio } = regT(25_000, '2.00');
    market.place(portfolio, { ...short, quantity: 10_000 });
    expect(market.value(portfolio)).toMatchObject({ maintenanceExcess: 0, marginCallActive: false });
  });

  it('a short sale is checked at the ask, or at its limit if that is higher', () => {
    const { market, portfolio } = regT(10_000);
    market.quote('AAPL', '100.00', '101.00');
    // Half of 198 × 101 is 9,999; the bid would have let 200 pass.
    expect(market.submit(portfolio, { ...short, quantity: 199 })).toMatchObject({
      requiredBuyingPower: Money.ofDollars(20_099),
    });
    expect(market.submit(portfolio, { ...short, quantity: 182, limit: '110.00' })).toMatchObject({
      requiredBuyingPower: Money.ofDollars(20_020),
    });
    market.place(portfolio, { ...short, quantity: 198 });
  });

  it('a market purchase is judged at the ask and the collar', () => {
    const { market, portfolio } = regT(10_000);
    // 105.00 a share: 190 of them require 19,950.
    expect(market.submit(portfolio, { quantity: 191 })).toMatchObject({
      requiredAmount: Money.ofDollars(20_055),
      requiredBuyingPower: Money.ofDollars(20_055),
    });
    market.place(portfolio, { quantity: 190 });
  });

  it('refuses a fund with factor 3 for its maintenance requirement alone', () => {
    const { market, portfolio } = regT(100_000);
    market.quote('TQQQ', '100.00', '100.00');
    // 75 % of 150,000 is 112,500, the requirement of 450,000 of plain stock; half of it would have been available.
    expect(market.submit(portfolio, { symbol: 'TQQQ', quantity: 1500, limit: '100.00' })).toMatchObject({
      availableBuyingPower: Money.ofDollars(200_000),
      requiredBuyingPower: Money.ofDollars(450_000),
    });
    market.place(portfolio, { symbol: 'TQQQ', quantity: 1333, limit: '100.00' });
    expect(market.value(portfolio).marginCallActive).toBe(false);
  });

  it('charges are required in full, on borrowed money too', () => {
    const broker = testBroker('default', {
      equityCommission: { perOrder: Money.ofDollars(7), perUnit: Money.zero },
    });
    const market = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    market.quote('AAPL', '100.00', '100.00');
    expect(market.submit(portfolio, { quantity: 200, limit: '100.00' })).toMatchObject({
      requiredAmount: Money.ofDollars(20_007),
      requiredBuyingPower: Money.ofDollars(20_014),
    });
    market.place(portfolio, { quantity: 199, limit: '100.00' });
  });

  it('under portfolio margin at 15 %', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', marginType: 'PORTFOLIO', cash: 150_000 });
    market.quote('AAPL', '100.00', '100.00');
    expect(market.submit(portfolio, { quantity: 10_001, limit: '100.00' })).toMatchObject({
      availableBuyingPower: Money.ofDollars(1_000_000),
      requiredBuyingPower: Money.ofDollars(1_000_100),
    });
    market.place(portfolio, { quantity: 10_000, limit: '100.00' });
  });

  it('closing is never refused for want of funds, in a call either', () => {
    const { market, portfolio } = regT(100_000);
    market.place(portfolio, { quantity: 2000, limit: '100.00' });
    market.quote('AAPL', '60.00', '60.00');
    expect(market.value(portfolio)).toMatchObject({ marginCallActive: true, overnightBuyingPower: 0 });
    expect(market.submit(portfolio, { quantity: 1, limit: '60.00' })).toMatchObject({
      code: 'MARGIN_CALL_ACTIVE',
    });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 500 });
  });
});

describe('open orders (D108)', () => {
  it('each reduces buying power by its requirement', () => {
    const { market, portfolio } = regT(100_000);
    const first = market.place(portfolio, { quantity: 1000, limit: '90.00' });
    market.place(portfolio, { quantity: 500, limit: '80.00' });
    // 200,000 less 90,000 and 40,000.
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(70_000);
    expect(market.submit(portfolio, { quantity: 701, limit: '100.00' })).toMatchObject({
      availableBuyingPower: Money.ofDollars(70_000),
      requiredBuyingPower: Money.ofDollars(70_100),
    });
    market.cancel(first);
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(160_000);
  });

  it('closing orders and the exits of a bracket require no margin', () => {
    const { market, portfolio } = regT(100_000);
    market.place(portfolio, { quantity: 1000, limit: '100.00' });
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(100_000);
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100, limit: '120.00' });
    market.place(portfolio, {
      quantity: 100,
      limit: '90.00',
      more: {
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('110.00') },
          stopLoss: { orderType: 'STOP', stopPrice: Price.of('80.00') },
        },
      },
    });
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(91_000);
  });

  it('an update may use the margin that its order already reserves', () => {
    const { market, portfolio } = regT(10_000);
    const order = market.place(portfolio, { quantity: 200, limit: '90.00' });
    expect(market.replace(order, { quantity: 223 })).toMatchObject({
      availableBuyingPower: Money.ofDollars(20_000),
      requiredBuyingPower: Money.ofDollars(20_070),
    });
    expect(market.replace(order, { quantity: 222 })).toBeUndefined();
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(20);
  });

  it('one that fills no worse than it was judged is not judged again', () => {
    const { market, portfolio } = regT(10_000);
    market.quote('KO', '50.00', '50.00');
    market.place(portfolio, { symbol: 'KO', quantity: 200, limit: '50.00' });
    const order = market.place(portfolio, { quantity: 100, limit: '90.00' });
    // The position loses 2,000; the order of 9,000 still fills.
    market.quote('KO', '40.00', '40.00');
    market.quote('AAPL', '90.00', '90.00');
    expect(market.fills(order)).toEqual(['100 @ 90']);
  });

  it('an order after a price move fills if margin suffices, else it is rejected with its figures', () => {
    const stop = { type: 'STOP', stop: '110.00', quantity: 150 } as const;
    const within = regT(10_000);
    const filled = within.market.place(within.portfolio, stop);
    // The check used 150 × 115.50. Half of 150 × 130 is 9,750.
    within.market.quote('AAPL', '130.00', '130.00', { last: '130.00' });
    expect(within.market.fills(filled)).toEqual(['150 @ 130']);
    const { market, portfolio } = regT(10_000);
    const rejected = market.place(portfolio, stop);
    market.quote('AAPL', '140.00', '140.00', { last: '140.00' });
    expect(market.order(rejected)).toMatchObject({
      status: 'REJECTED',
      rejectReason: {
        code: 'INSUFFICIENT_FUNDS',
        availableBuyingPower: Money.ofDollars(20_000),
        requiredBuyingPower: Money.ofDollars(21_000),
      },
    });
  });

  it('continue under the rules of a new margin type', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', marginType: 'PORTFOLIO', cash: 150_000 });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 1000, limit: '90.00' });
    const power = () => dollars(market.value(portfolio).overnightBuyingPower);
    // 1,000,000 less 90,000.
    expect(power()).toBe(910_000);
    market.execute<'UpgradeMargin'>({
      type: 'UpgradeMargin',
      by: market.by,
      portfolioId: portfolio,
      marginType: 'REG_T',
      addPromotionalCash: false,
    });
    expect(power()).toBe(210_000);
  });
});

describe('below 2,000 of equity', () => {
  it('purchases must be paid in full', () => {
    const { market, portfolio } = regT(1500);
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(1500);
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(1500);
    expect(market.submit(portfolio, { quantity: 16, limit: '100.00' })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: Money.ofDollars(1500),
      requiredAmount: Money.ofDollars(1600),
      availableBuyingPower: Money.ofDollars(1500),
      requiredBuyingPower: Money.ofDollars(1600),
    });
    market.place(portfolio, { quantity: 10, limit: '100.00' });
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(500);
    market.place(portfolio, { quantity: 5, limit: '99.00' });
    // Reserved cash is not counted twice.
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(5);
    expect(market.submit(portfolio, { quantity: 1, limit: '6.00' })).toMatchObject({
      availableCash: Money.ofDollars(5),
      requiredAmount: Money.ofDollars(6),
    });
  });

  it('the refusal of a future has the buying power that the portfolio shows', () => {
    const { market, portfolio } = regT(1999);
    market.quote('MESH26', '6000', '6000');
    const shown = market.value(portfolio).overnightBuyingPower;
    expect(dollars(shown)).toBe(1999);
    expect(market.submit(portfolio, { symbol: 'MESH26', quantity: 1 })).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      availableBuyingPower: shown,
    });
  });

  it('the proceeds of short sales are not paid-for cash', () => {
    const { market, portfolio } = regT(2500);
    market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: 10 });
    market.quote('AAPL', '160.00', '160.00');
    // 2,500 + 1,000 − 1,600 = 1,900 of equity, all of it free cash.
    expect(dollars(market.value(portfolio).totalEquity)).toBe(1900);
    expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(1900);
  });
});

describe('day-trade buying power', () => {
  it('of a new portfolio is four times its cash (D54)', () => {
    const { market, portfolio } = regT(100_000);
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(400_000);
  });

  it('is four times the maintenance excess at the previous close, and stays through the day', () => {
    const { market, portfolio } = regT(100_000);
    market.place(portfolio, { quantity: 1000, limit: '100.00' });
    market.quote('AAPL', '110.00', '110.00');
    // Today's opening had an initial requirement of 50,000: four times as much is used.
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(200_000);
    market.advanceTo('2026-01-05', 16);
    // Equity 110,000 less 25 % of 110,000, times four.
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(330_000);
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '50.00', '50.00');
    market.execute<'TransferCash'>({
      type: 'TransferCash',
      by: market.by,
      portfolioId: portfolio,
      amount: Money.ofDollars(50_000),
    });
    expect(dollars(market.value(portfolio).dayTradeBuyingPower)).toBe(330_000);
  });

  it('is nothing after a close with a maintenance deficit', () => {
    const { market, portfolio } = regT(10_000);
    market.place(portfolio, { quantity: 200, limit: '100.00' });
    market.quote('AAPL', '60.00', '60.00');
    market.advanceTo('2026-01-05', 16);
    expect(market.value(portfolio).dayTradeBuyingPower).toBe(0);
  });
});

describe('below 2,000 of equity (D109)', () => {
  it('a covered call can be written despite a loan, for it borrows nothing', () => {
    const { market, portfolio } = regT(2500, '10.00');
    market.place(portfolio, { quantity: 480, limit: '10.00' });
    const call = 'AAPL260220C00012000';
    market.quote(call, '0.50', '0.50');
    market.quote('AAPL', '8.50', '8.50');
    // 4,080 of stock and a loan of 2,300.
    expect(dollars(market.value(portfolio).totalEquity)).toBe(1780);
    const write = { symbol: call, intent: 'SELL_TO_OPEN', limit: '0.50' } as const;
    expect(market.submit(portfolio, { ...write, quantity: 5 })).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    const order = market.place(portfolio, { ...write, quantity: 4 });
    expect(market.order(order).status).toBe('FILLED');
    expect(market.submit(portfolio, { quantity: 1, limit: '9.00' })).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
  });

  const LOW = 'AAPL260116C00150000';
  const HIGH = 'AAPL260116C00160000';
  /** A debit vertical of 3.10, or a credit vertical of 3.00. */
  const vertical = (way: 'BUY' | 'SELL', quantity: number) => ({
    symbol: 'AAPL',
    intent: `${way}_TO_OPEN` as const,
    quantity,
    limit: way === 'BUY' ? '3.10' : '2.90',
    more: {
      assetClass: 'OPTION' as const,
      strategy: 'VERTICAL_SPREAD',
      legs: [
        { optionSymbol: LOW, positionIntent: `${way}_TO_OPEN` as const, quantity: Quantity.of(quantity) },
        {
          optionSymbol: HIGH,
          positionIntent: way === 'BUY' ? ('SELL_TO_OPEN' as const) : ('BUY_TO_OPEN' as const),
          quantity: Quantity.of(quantity),
        },
      ],
    },
  });
  const withOptions = (cash: number) => {
    const { market, portfolio } = regT(cash, '150.00');
    market.quote(LOW, '5.00', '5.10');
    market.quote(HIGH, '2.00', '2.10');
    return { market, portfolio };
  };

  it('is of total equity: a debit vertical in an account of 2,398 leaves less than 2,000 of margin equity, and another one is bought', () => {
    const { market, portfolio } = withOptions(2398);
    for (const units of [4, 1]) {
      const order = market.place(portfolio, vertical('BUY', units));
      expect(market.order(order).status).toBe('FILLED');
    }
    const { marginEquity, houseRequirement, totalEquity } = market.value(portfolio);
    expect(dollars(marginEquity)).toBeLessThan(2000);
    expect(dollars(houseRequirement)).toBe(0);
    expect(dollars(totalEquity)).toBeGreaterThan(2000);
  });

  it('debit verticals are still bought below it, credit verticals and naked options not sold', () => {
    const { market, portfolio } = withOptions(1900);
    expect(market.order(market.place(portfolio, vertical('BUY', 1))).status).toBe('FILLED');
    expect(market.submit(portfolio, vertical('SELL', 1))).toMatchObject({ code: 'POSITION_CONFLICT' });
    const fresh = withOptions(1900);
    expect(fresh.market.submit(fresh.portfolio, vertical('SELL', 1))).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
    const naked = { symbol: HIGH, intent: 'SELL_TO_OPEN', quantity: 1, limit: '2.00' } as const;
    expect(fresh.market.submit(fresh.portfolio, naked)).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  });
});
