import { describe, expect, it } from 'vitest';
import { Position } from '../../src/positions/position.js';
import { dollars, shares, testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const NEW_YORK_NOON = 'T17:00:00.000Z';

/** 10,000 of cash and 180 shares at 100: 8,000 borrowed, 5,500 above the requirement. */
function borrowed(): { market: TestMarket; portfolio: string } {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
  market.quote('AAPL', '99.99', '100.00', { last: '100.00' });
  market.place(portfolio, { quantity: 180 });
  return { market, portfolio };
}

const sma = (market: TestMarket, portfolio: string): number => dollars(market.value(portfolio).smaBalance);
const calls = (market: TestMarket, portfolio: string): unknown[] =>
  market
    .portfolio(portfolio)
    .margin.calls.map(({ type, amount, dueAt }) => [type, dollars(amount), new Date(dueAt).toISOString()]);

describe('the memorandum account (D107)', () => {
  it('starts at the cash, falls by half of a purchase, rises by half of a sale, and ignores falling prices', () => {
    const { market, portfolio } = borrowed();
    expect(sma(market, portfolio)).toBe(1000);
    market.quote('AAPL', '89.99', '90.00', { last: '90.00' });
    expect(sma(market, portfolio)).toBe(1000);
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100 });
    // Half of 8,999.
    expect(sma(market, portfolio)).toBe(1000 + 4499.5);
  });

  it('is raised by the close, and then kept', () => {
    const { market, portfolio } = borrowed();
    market.quote('AAPL', '119.99', '120.00', { last: '120.00' });
    market.advanceTo('2026-01-05', 16, 1);
    // 21,600 − 8,000 of equity, half of 21,600 required.
    expect(sma(market, portfolio)).toBe(2800);
    market.quote('AAPL', '99.99', '100.00', { last: '100.00' });
    market.advanceTo('2026-01-06', 16, 1);
    expect(sma(market, portfolio)).toBe(2800);
  });

  it('gates purchases: at its end nothing more is bought, however the market has risen since', () => {
    const { market, portfolio } = borrowed();
    market.quote('AAPL', '149.99', '150.00', { last: '150.00' });
    expect(market.submit(portfolio, { quantity: 14, limit: '150.00' })).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
    market.place(portfolio, { quantity: 13, limit: '150.00' });
    expect(sma(market, portfolio)).toBe(25);
  });

  it('a long option costs its premium, a short one its requirement less premium; transfers and dividends count in full', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 50_000 });
    const [put, call] = ['KO260220P00050000', 'KO260220C00070000'];
    market.quote('KO', '60.00', '60.00');
    market.quote(put, '1.00', '1.00');
    market.quote(call, '1.00', '1.00');
    market.quote('AAPL', '100.00', '100.00');
    // A contract costs 0.50 of commission.
    market.place(portfolio, { symbol: put, quantity: 1, limit: '1.00' });
    expect(sma(market, portfolio)).toBe(49_899.5);
    // 1 and the greater of 20 % of 60 less 10, and 6: 700, of which 100 have been received.
    market.place(portfolio, { symbol: call, intent: 'SELL_TO_OPEN', quantity: 1, limit: '1.00' });
    expect(sma(market, portfolio)).toBe(49_299);
    market.place(portfolio, { quantity: 100, limit: '100.00' });
    expect(sma(market, portfolio)).toBe(44_299);
    market.execute<'TransferCash'>({
      type: 'TransferCash',
      by: market.by,
      portfolioId: portfolio,
      amount: Money.ofDollars(-300),
    });
    expect(sma(market, portfolio)).toBe(43_999);
    market.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [
        {
          type: 'CASH_DIVIDEND',
          symbol: 'AAPL',
          exDate: TradingDate.of('2026-01-07'),
          payDate: TradingDate.of('2026-01-14'),
          amountPerShare: Price.of('0.50'),
        },
      ],
    });
    // The decline leaves the excess at the closes below the current SMA.
    market.quote('AAPL', '90.00', '90.00');
    market.advanceTo('2026-01-14', 8, 59);
    expect(sma(market, portfolio)).toBe(43_999);
    market.advanceTo('2026-01-14', 9, 1);
    expect(sma(market, portfolio)).toBe(44_049);
  });
});

describe('calls (D119, D120)', () => {
  it('are found with the quote, due on the third business day at noon, and met when the excess is back', () => {
    const { market, portfolio } = borrowed();
    market.quote('AAPL', '58.99', '59.00', { last: '59.00' });
    market.advanceMs(2000);
    // 180 × 59 − 8,000 = 2,620 against 2,655.
    expect(calls(market, portfolio)).toEqual([['MAINTENANCE', 35, `2026-01-08${NEW_YORK_NOON}`]]);
    expect(market.value(portfolio).marginCallActive).toBe(true);
    expect(market.value(portfolio).overnightBuyingPower).toBe(0);
    expect(market.submit(portfolio, { quantity: 1 })).toMatchObject({ code: 'MARGIN_CALL_ACTIVE' });
    market.quote('AAPL', '69.99', '70.00', { last: '70.00' });
    market.advanceMs(2000);
    expect(calls(market, portfolio)).toEqual([]);
    expect(market.value(portfolio).marginCallActive).toBe(false);
  });

  it('a margin call that is not met is liquidated when due, and no more than necessary', () => {
    const { market, portfolio } = borrowed();
    market.quote('AAPL', '56.99', '57.00', { last: '57.00' });
    market.advanceTo('2026-01-08', 11, 59);
    market.quote('AAPL', '56.99', '57.00', { last: '57.00' });
    expect(calls(market, portfolio)).toHaveLength(1);
    market.advanceTo('2026-01-08', 12, 1);
    expect(calls(market, portfolio)).toEqual([]);
    const left = shares(Position.held(market.portfolio(portfolio).positions.get('AAPL')!));
    expect(dollars(market.value(portfolio).maintenanceExcess)).toBeGreaterThanOrEqual(0);
    // 305 are lacking, and a dollar sold frees a quarter: some 22 shares and 5 % more.
    expect(left).toBe(157);
  });

  it('survive a restart', () => {
    const { market, portfolio } = borrowed();
    market.quote('AAPL', '54.99', '55.00', { last: '55.00' });
    market.advanceMs(2000);
    const before = calls(market, portfolio);
    market.restart();
    expect(calls(market, portfolio)).toEqual(before);
  });
});

describe('interest and borrow fees (D118)', () => {
  it('accrue for every calendar day and are posted on the third business day of the next month', () => {
    const { market, portfolio } = borrowed();
    market.advanceTo('2026-01-05', 16, 30);
    // The purchase settles on the next day.
    expect(market.portfolio(portfolio).margin.interest).toBe(0);
    market.advanceTo('2026-01-06', 16, 30);
    // 8,000 × 6 % / 360, in 10^-8 dollars.
    expect(market.portfolio(portfolio).margin.interest).toBe(133_333_333);
    market.advanceTo('2026-02-04', 9, 1);
    // 26 days of January; three of February remain.
    expect(market.portfolio(portfolio).margin.interest).toBe(3 * 133_333_333);
    expect(dollars(market.portfolio(portfolio).balances.INTEREST)).toBe(34.67);
  });

  it('of shorts are charged on settled shares, on 102 % of the price in whole dollars', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    market.quote('KO', '59.99', '60.00', { last: '60.00' });
    market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 100 });
    market.advanceTo('2026-01-05', 16, 30);
    expect(market.portfolio(portfolio).margin.borrowFees).toBe(0);
    market.advanceTo('2026-01-06', 16, 30);
    // ⌈61.2⌉ × 100 × 0.3 % / 360
    expect(market.portfolio(portfolio).margin.borrowFees).toBe(Math.round((62 * 100 * 0.003 * 1e8) / 360));
    expect(market.portfolio(portfolio).margin.interest).toBe(0);
  });
});

describe('day trades (D110, D111)', () => {
  it('a small portfolio with three of them opens nothing until one has left the window', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    market.quote('KO', '59.99', '60.00', { last: '60.00' });
    for (let i = 0; i < 3; i++) {
      market.place(portfolio, { symbol: 'KO', quantity: 1 });
      market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_CLOSE', quantity: 1 });
    }
    expect(market.submit(portfolio, { symbol: 'KO', quantity: 1 })).toMatchObject({
      code: 'DAY_TRADE_RESTRICTED',
      dayTradeCount: 3,
      restrictedUntil: '2026-01-12',
    });
    market.advanceTo('2026-01-12', 10);
    market.quote('KO', '59.99', '60.00', { last: '60.00' });
    market.place(portfolio, { symbol: 'KO', quantity: 1 });
  });

  it('positions opened today use day-trade buying power, and closing restores it', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    market.quote('KO', '50.00', '50.00', { last: '50.00' });
    const power = (): number => dollars(market.value(portfolio).dayTradeBuyingPower);
    expect(power()).toBe(400_000);
    market.place(portfolio, { symbol: 'KO', quantity: 200 });
    // Half of 10,000 is the initial requirement.
    expect(power()).toBe(380_000);
    market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_CLOSE', quantity: 200 });
    expect(power()).toBe(400_000);
  });

  it('a broker with intraday leverage allows purchases of four times the excess; overnight positions get a call', () => {
    const rules = testRules();
    const broker = testBroker('day', { dayTradingLeverage: true });
    const market = new TestMarket({ rules: { brokers: new Map([...rules.brokers, ['day', broker]]) } });
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000, brokerId: 'day' });
    market.quote('KO', '50.00', '50.00', { last: '50.00' });
    market.place(portfolio, { symbol: 'KO', quantity: 6000, limit: '50.00' });
    expect(sma(market, portfolio)).toBe(-50_000);
    market.advanceTo('2026-01-05', 16, 1);
    expect(calls(market, portfolio)).toMatchObject([['REG_T', 50_000, `2026-01-08${NEW_YORK_NOON}`]]);
  });
});

describe('the gate of a portfolio with cash (D108)', () => {
  it('values only the instruments of the order', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    const symbols = ['AAPL', 'MSFT', 'KO'];
    const quote = (): void =>
      symbols.forEach((symbol) => void market.quote(symbol, '50.00', '50.00', {}, false));
    quote();
    for (const symbol of symbols) market.place(portfolio, { symbol, quantity: 10 });
    market.advanceMs(5000);
    quote();
    market.place(portfolio, { symbol: 'KO', quantity: 10 });
    const { command, quotes } = market.journal.at(-1)!;
    expect(command.type).toBe('SubmitOrder');
    expect(quotes.map(({ symbol }) => symbol)).toEqual(['KO']);
    // A portfolio with short positions is valued in full.
    market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_CLOSE', quantity: 20 });
    market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 1 });
    market.advanceMs(5000);
    quote();
    market.place(portfolio, { symbol: 'MSFT', quantity: 10 });
    expect(market.journal.at(-1)!.quotes).toHaveLength(3);
  });
});
