import { describe, expect, it } from 'vitest';
import { dollars, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const BILLION = 1_000_000_000;

/** A billion shares bought at 0.0001 each; `TestMarket` checks every invariant after every command. */
function billionShares(type: 'CASH' | 'MARGIN' = 'MARGIN') {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type, cash: BILLION });
  market.quote('AAPL', '0.0001', '0.0001');
  market.place(portfolio, { quantity: BILLION, limit: '0.0001' });
  return { market, portfolio };
}

describe('a billion shares after a jump of their price to ten million dollars', () => {
  it('are worth as much as can be counted, and everything that is derived stays exact', () => {
    const { market, portfolio } = billionShares();
    market.quote('AAPL', '10000000', '10000000');
    const value = market.value(portfolio);
    expect(dollars(value.longMarketValue)).toBe(200 * BILLION);
    for (const figure of Object.values(value)) {
      if (typeof figure === 'number') expect(Number.isSafeInteger(figure)).toBe(true);
    }
    expect(value.totalEquity).toBe(value.settledCash + value.longMarketValue);
    market.advanceTo('2026-01-06', 10);
    expect(Number.isSafeInteger(market.portfolio(portfolio).previousClose?.maintenanceExcess)).toBe(true);
  });

  it('cannot be sold for more than books can hold: the order is rejected, and a small one fills', () => {
    const { market, portfolio } = billionShares();
    market.quote('AAPL', '10000000', '10000000');
    const all = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: BILLION });
    expect(market.order(all)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSTRUMENT_NOT_TRADABLE' },
    });
    const few = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 1000 });
    expect(market.order(few).status).toBe('FILLED');
    expect(dollars(market.value(portfolio).pendingCash)).toBe(10 * BILLION);
  });

  it('sold short leave a margin call and no broken figure', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: BILLION });
    market.quote('AAPL', '0.5', '0.5');
    market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: 100_000_000, limit: '0.5' });
    market.quote('AAPL', '10000000', '10000000');
    expect(market.value(portfolio)).toMatchObject({ marginCallActive: true, overnightBuyingPower: 0 });
    const cover = market.place(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 100_000_000 });
    expect(market.order(cover).status).toBe('REJECTED');
    market.advanceTo('2026-01-06', 10);
    market.execute<'ResetPortfolio'>({ type: 'ResetPortfolio', by: market.by, portfolioId: portfolio });
    expect(dollars(market.value(portfolio).totalEquity)).toBe(BILLION);
  });
});

it('an order with an uncountable value is refused for funds', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio();
  market.quote('AAPL', '10000000', '10000000');
  const order = { quantity: BILLION, limit: '10000000' };
  expect(market.submit(portfolio, order)).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
});

it('no more than two billion shares are ever held: the order that would exceed them is rejected', () => {
  const { market, portfolio } = billionShares();
  market.place(portfolio, { quantity: BILLION, limit: '0.0001' });
  const third = market.place(portfolio, { quantity: 1, limit: '0.0001' });
  expect(market.order(third)).toMatchObject({ status: 'REJECTED' });
});

it('deposits end where the books do', () => {
  const market = new TestMarket();
  const portfolioId = market.openPortfolio({ cash: BILLION });
  const deposit = () =>
    market.execute<'TransferCash'>({
      type: 'TransferCash',
      by: market.by,
      portfolioId,
      amount: Money.ofDollars(33 * BILLION),
    }).result;
  for (let i = 0; i < 3; i++) expect(deposit()).toHaveProperty('postings');
  expect(deposit()).toMatchObject({ code: 'INVALID' });
});

describe('corporate actions beyond counting', () => {
  const announce = (market: TestMarket, action: object) =>
    market.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [{ symbol: 'AAPL', exDate: TradingDate.of('2026-01-06'), ...action } as never],
    });

  it('a split that overflows leaves the position unchanged and cancels its orders', () => {
    const { market, portfolio } = billionShares();
    const order = market.place(portfolio, {
      intent: 'SELL_TO_CLOSE',
      quantity: 10,
      limit: '5.00',
      tif: 'GTC',
    });
    announce(market, { type: 'SPLIT', ratio: { new: 1_000_000, old: 1 } });
    market.advanceTo('2026-01-06', 10);
    expect(market.portfolio(portfolio).positions.get('AAPL')).toMatchObject({ settled: BILLION * 1e6 });
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'CORPORATE_ACTION' });
  });

  it('a dividend is not booked', () => {
    const { market, portfolio } = billionShares();
    announce(market, { type: 'CASH_DIVIDEND', amountPerShare: Price.of('10000000') });
    market.advanceTo('2026-01-06', 10);
    expect(market.events('DividendAccrued')).toEqual([]);
    expect(market.value(portfolio).pendingCash).toBe(0);
  });

  it('a reverse split leaves a quote with countable prices', () => {
    const { market } = billionShares();
    market.quote('AAPL', '10000000', '10000000');
    announce(market, { type: 'SPLIT', ratio: { new: 1, old: 1_000_000 } });
    market.advanceTo('2026-01-06', 10);
    expect(Number.isSafeInteger(market.brokerage.quote('AAPL')?.bid)).toBe(true);
  });
});

it('a fund with an odd leverage factor is margined exactly', () => {
  const market = new TestMarket();
  market.execute<'ListInstruments'>({
    type: 'ListInstruments',
    instruments: [
      {
        assetClass: 'EQUITY',
        symbol: 'ODD',
        name: 'Odd',
        leverageFactor: 1.1,
        shortable: true,
        borrowRateAnnual: 0,
        averageDailyVolume: 1,
        dailyVolatility: 0.01,
      },
    ],
  });
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: BILLION });
  market.quote('ODD', '100.00', '100.00');
  market.place(portfolio, { symbol: 'ODD', quantity: 10_000_000, limit: '100.00' });
  // 25 % × 1.1 of a billion
  expect(dollars(market.value(portfolio).houseRequirement)).toBe(275_000_000);
});
