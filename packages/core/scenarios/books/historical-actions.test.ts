/** Published corporate actions with their figures (D208); quotes are invented. */
import { describe, expect, it } from 'vitest';
import { announcementOf } from '../../src/commands/market/market-setup.js';
import type { CorporateAction } from '../../src/corporate-actions/corporate-action.js';
import { Position } from '../../src/positions/position.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { dollars, shares, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const audited = auditAfterEach();

/** A portfolio on the day before an action, after purchases at these prices. */
function holding(date: string, bought: Readonly<Record<string, readonly [quantity: number, price: string]>>) {
  const market = audited(new TestMarket({ date }));
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
  for (const [symbol, [quantity, price]] of Object.entries(bought)) {
    market.quote(symbol, price, price);
    market.place(portfolio, { symbol, quantity });
  }
  const positions = () => [...market.portfolio(portfolio).positions.values()];
  const held = () => Object.fromEntries(positions().map((one) => [one.symbol, shares(Position.held(one))]));
  const costs = (symbol: string): number[] =>
    (market.portfolio(portfolio).positions.get(symbol)?.lots ?? []).map(({ cost }) => dollars(cost));
  const apply = (action: CorporateAction): void => {
    market.execute<'AnnounceActions'>(announcementOf([action]));
    market.advanceTo(action.exDate, 10);
  };
  const ended = () =>
    market
      .events('OptionEnded')
      .map(({ act, symbol, shares: moved, amount }) => [act, moved?.symbol ?? symbol, dollars(amount)]);
  const contract = (symbol: string) => market.brokerage.instrument(symbol);
  return { market, portfolio, held, costs, apply, ended, contract };
}

describe('historical corporate actions', () => {
  it('COST, special dividend of 15.00 on 2023-12-27, paid on 2024-01-12', () => {
    const { market, portfolio, held, apply, contract } = holding('2023-12-26', {
      COST: [100, '660.00'],
      COST240216C00660000: [1, '20.00'],
    });
    const short = market.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
    market.place(short, { symbol: 'COST', quantity: 40, intent: 'SELL_TO_OPEN' });
    const limited = { quantity: 1, type: 'LIMIT', limit: '640.00', tif: 'GTC' } as const;
    const order = market.place(portfolio, { symbol: 'COST', ...limited });
    const payDate = TradingDate.of('2024-01-12');
    apply({
      type: 'SPECIAL_DIVIDEND',
      symbol: 'COST',
      exDate: TradingDate.of('2023-12-27'),
      amountPerShare: Price.of('15'),
      payDate,
    });
    expect(held()).toEqual({ COST: 100, COST240216C00645000: 1 });
    expect(contract('COST240216C00645000')).toMatchObject({
      strike: Price.of('645'),
      deliverable: 100,
      multiplier: 100,
    });
    expect(market.openOrder(order)?.progress.limitPrice).toBe(Price.of('625'));
    expect(
      market.events('DividendAccrued').map(({ amount, payDate: paid }) => [dollars(amount), paid]),
    ).toEqual([
      [1500, payDate],
      [-600, payDate],
    ]);
  });

  it('CGNX, special dividend of 2.00 on 2020-12-11', () => {
    const { market, held, apply, contract } = holding('2020-12-10', {
      CGNX: [100, '75.00'],
      CGNX210115C00070000: [2, '6.00'],
    });
    apply({
      type: 'SPECIAL_DIVIDEND',
      symbol: 'CGNX',
      exDate: TradingDate.of('2020-12-11'),
      amountPerShare: Price.of('2'),
    });
    expect(held()).toEqual({ CGNX: 100, CGNX210115C00068000: 2 });
    expect(contract('CGNX210115C00068000')).toMatchObject({ underlying: 'CGNX', deliverable: 100 });
    expect(market.events('DividendAccrued').map(({ amount }) => dollars(amount))).toEqual([200]);
  });

  it('T, spin-off of 0.241917 WBD with 23.48 % of the cost on 2022-04-11', () => {
    const { market, held, costs, apply, ended, contract } = holding('2022-04-08', {
      T: [1000, '30.00'],
      T220617C00025000: [1, '5.50'],
    });
    apply({
      type: 'SPIN_OFF',
      symbol: 'T',
      newSymbol: 'WBD',
      exDate: TradingDate.of('2022-04-11'),
      ratio: 0.241917,
      basisPercent: 23.48,
    });
    expect(held()).toEqual({ T: 1000, WBD: 241, T1220617C00025000: 1 });
    // 30,000.00 x 76.52 %; 7,044.00 x 241 / 241.917.
    expect([costs('T'), costs('WBD')]).toEqual([[22_956], [7017.2993]]);
    // 0.1917 of a share at 30 x 0.2348 / 0.241917.
    expect(contract('T1220617C00025000')).toMatchObject({
      deliverable: 100,
      others: [{ symbol: 'WBD', shares: 24 }],
      cash: 55_800,
    });
    // (100 x 19.56 + 24 x 24.68) / 100 = 25.48 before the cash: in the money with T below 20. 2,494.42 by marks.
    market.quote('T', '19.56', '19.56');
    market.quote('WBD', '24.68', '24.68');
    market.advanceTo('2022-06-17', 17);
    expect(ended()).toEqual([
      ['EXERCISED', 'T', -1914.63],
      ['EXERCISED', 'WBD', -579.79],
    ]);
  });

  it('GE, spin-off of one GEHC for three on 2023-01-04', () => {
    const { held, costs, apply, contract } = holding('2023-01-03', {
      GE: [100, '90.00'],
      GE230217C00080000: [1, '12.00'],
    });
    apply({
      type: 'SPIN_OFF',
      symbol: 'GE',
      newSymbol: 'GEHC',
      exDate: TradingDate.of('2023-01-04'),
      ratio: { new: 1, old: 3 },
      basisPercent: 25,
    });
    expect(held()).toEqual({ GE: 100, GEHC: 33, GE1230217C00080000: 1 });
    // A new share counts 90 x 25 % x 3 = 67.50, its third 22.50.
    expect([costs('GE'), costs('GEHC')]).toEqual([[6750], [2227.5]]);
    expect(contract('GE1230217C00080000')).toMatchObject({
      deliverable: 100,
      others: [{ symbol: 'GEHC', shares: 33 }],
      cash: 225_000,
    });
  });

  it('ATVI, merger for 95.00 in cash on 2023-10-13', () => {
    const { market, portfolio, held, apply, ended } = holding('2023-10-12', {
      ATVI: [100, '90.00'],
      ATVI231117C00092000: [1, '2.50'],
      ATVI231117C00095000: [1, '0.50'],
    });
    apply({
      type: 'MERGER',
      symbol: 'ATVI',
      exDate: TradingDate.of('2023-10-13'),
      cashPerShare: Price.of('95'),
    });
    expect(held()).toEqual({});
    expect(market.events('PositionConverted').map(({ amount = Money.zero }) => dollars(amount))).toEqual([
      9500,
    ]);
    // The 92 call is worth 3.00 a share.
    expect(ended()).toEqual([
      ['CASH_SETTLED', 'ATVI231117C00092000', 300],
      ['EXPIRED', 'ATVI231117C00095000', 0],
    ]);
    // 500.00 on the shares, 50.00 and -50.00 on the calls: a gain is negative in the ledger.
    expect(dollars(market.portfolio(portfolio).balances.REALIZED_PNL)).toBe(-500);
  });
});
