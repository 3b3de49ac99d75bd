import { describe, expect, it } from 'vitest';
import { announcementOf } from '../../src/commands/market/market-setup.js';
import type { CorporateAction } from '../../src/corporate-actions/corporate-action.js';
import { Position } from '../../src/positions/position.js';
import { stateHash } from '../../src/state-hash.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { dollars, shares, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const audited = auditAfterEach();
const EX_DATE = TradingDate.of('2026-01-07');

type Terms<T extends CorporateAction['type']> = Omit<
  Extract<CorporateAction, { type: T }>,
  'type' | 'exDate'
>;

function announce<T extends CorporateAction['type']>(market: TestMarket, type: T, terms: Terms<T>) {
  const action = { type, exDate: EX_DATE, ...terms } as unknown as CorporateAction;
  return market.execute<'AnnounceActions'>(announcementOf([action])).result;
}

/** A portfolio with lots of XYZ at these prices, one purchase (or short sale) each. */
function holding(
  lots: readonly (readonly [quantity: number, price: string])[],
  {
    intent = 'BUY_TO_OPEN',
    cash = 1_000_000,
  }: { readonly intent?: 'BUY_TO_OPEN' | 'SELL_TO_OPEN'; readonly cash?: number } = {},
) {
  const market = audited(new TestMarket());
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash });
  for (const [quantity, price] of lots) {
    market.quote('XYZ', price, price);
    market.place(portfolio, { symbol: 'XYZ', intent, quantity });
  }
  const position = (symbol: string) => market.portfolio(portfolio).positions.get(symbol);
  const held = (symbol: string): number => {
    const one = position(symbol);
    return one === undefined ? 0 : shares(Position.held(one));
  };
  const costs = (symbol: string): number[] => (position(symbol)?.lots ?? []).map(({ cost }) => dollars(cost));
  const apply = (): void => market.advanceTo('2026-01-07', 3);
  return { market, portfolio, position, held, costs, apply };
}

describe('a special dividend', () => {
  it('pays holders and reduces buy limits, as COST did on 2023-12-27', () => {
    const { market, portfolio, apply } = holding([[100, '660.00']]);
    const reduced = market.place(portfolio, {
      symbol: 'XYZ',
      quantity: 1,
      type: 'LIMIT',
      limit: '640.00',
      tif: 'GTC',
    });
    const low = market.place(portfolio, {
      symbol: 'XYZ',
      quantity: 1,
      type: 'LIMIT',
      limit: '15.00',
      tif: 'GTC',
    });
    announce(market, 'SPECIAL_DIVIDEND', {
      symbol: 'XYZ',
      amountPerShare: Price.of('15'),
      payDate: TradingDate.of('2026-01-23'),
    });
    apply();
    expect(dollars(market.value(portfolio).pendingCash)).toBe(1500);
    expect(market.openOrder(reduced)?.progress.limitPrice).toBe(Price.of('625'));
    expect(market.openOrder(low)).toBeUndefined();
    expect(market.events('DividendAccrued')).toMatchObject([
      { action: 'SPECIAL_DIVIDEND', payDate: '2026-01-23' },
    ]);
  });
});

describe('a stock dividend', () => {
  it('multiplies shares at the same cost', () => {
    const { market, held, costs, apply } = holding([[100, '110.00']]);
    announce(market, 'STOCK_DIVIDEND', { symbol: 'XYZ', rate: 0.1 });
    apply();
    expect(held('XYZ')).toBe(110);
    expect(costs('XYZ')).toEqual([11_000]);
    expect(market.brokerage.mark('XYZ')).toBe(Price.of('100'));
    expect(market.events('PositionSplit')).toMatchObject([
      { action: 'STOCK_DIVIDEND', ratio: { new: 11, old: 10 } },
    ]);
  });
});

describe('a change of the symbol', () => {
  it('moves shares, lots, dates and open orders', () => {
    const { market, portfolio, position, held, apply } = holding([
      [100, '50.00'],
      [50, '60.00'],
    ]);
    const order = market.place(portfolio, {
      symbol: 'XYZ',
      intent: 'SELL_TO_CLOSE',
      quantity: 120,
      type: 'LIMIT',
      limit: '70.00',
      tif: 'GTC',
    });
    const before = [...(position('XYZ')?.lots ?? [])];
    announce(market, 'SYMBOL_CHANGE', { symbol: 'XYZ', newSymbol: 'NEWX' });
    apply();
    expect([held('XYZ'), held('NEWX')]).toEqual([0, 150]);
    expect(position('NEWX')?.lots).toEqual(before);
    expect(market.brokerage.mark('NEWX')).toBe(Price.of('60'));
    expect(market.submit(portfolio, { symbol: 'XYZ', quantity: 1 })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
      message: 'XYZ no longer trades: it is NEWX now',
    });
    expect(market.openOrder(order)?.terms.symbol).toBe('NEWX');
    market.advanceTo('2026-01-07', 10);
    market.quote('NEWX', '70.00', '70.01');
    expect(held('NEWX')).toBe(30);
  });

  it('carries later actions over, and lets another company have the old symbol', () => {
    const { market, portfolio, apply } = holding([[100, '50.00']]);
    announce(market, 'SYMBOL_CHANGE', { symbol: 'XYZ', newSymbol: 'NEWX' });
    announce(market, 'CASH_DIVIDEND', {
      symbol: 'XYZ',
      exDate: TradingDate.of('2026-01-09'),
      amountPerShare: Price.of('1'),
    } as never);
    apply();
    market.restart();
    market.advanceTo('2026-01-09', 3);
    expect(dollars(market.value(portfolio).pendingCash)).toBe(100);
    market.advanceTo('2026-01-09', 10);
    market.quote('XYZ', '10.00', '10.01');
    market.place(portfolio, { symbol: 'XYZ', quantity: 1 });
  });

  it('is rejected for a symbol that is quoted', () => {
    const { market } = holding([[100, '50.00']]);
    market.quote('NEWX', '1.00', '1.01');
    expect(announce(market, 'SYMBOL_CHANGE', { symbol: 'XYZ', newSymbol: 'NEWX' })).toEqual({
      code: 'INVALID',
      messages: ['actions.0.newSymbol must have no quote, position or order in the simulation'],
    });
  });
});

describe('a spin-off', () => {
  it('divides the cost and pays the fraction, as T and WBD did in 2022', () => {
    const { market, portfolio, held, costs, apply } = holding([[1000, '30.00']]);
    announce(market, 'SPIN_OFF', { symbol: 'XYZ', newSymbol: 'WBDX', ratio: 0.241917, basisPercent: 23.48 });
    apply();
    expect([held('XYZ'), held('WBDX')]).toEqual([1000, 241]);
    expect(costs('XYZ')).toEqual([22_956]);
    // 7,044.00 less the part of 0.917 of 241.917 shares.
    expect(costs('WBDX')).toEqual([7017.2993]);
    // Mark of a new share: 30 x 0.2348 / 0.241917 = 29.11742457; 0.917 of it is 26.70.
    expect(market.brokerage.mark('WBDX')).toBe(Price.of('29.11742457'));
    expect(market.brokerage.mark('XYZ')).toBe(Price.of('22.956'));
    expect(market.events('PositionConverted')).toMatchObject([{ inLieu: 267_000, fraction: 917_000 }]);
    const { totalEquity } = market.value(portfolio);
    expect(Math.abs(dollars(totalEquity) - 1_000_000)).toBeLessThan(0.01);
  });

  it('owes the new shares for a short position and cancels open orders', () => {
    const { market, portfolio, held, costs, apply } = holding([[100, '30.00']], { intent: 'SELL_TO_OPEN' });
    const order = market.place(portfolio, {
      symbol: 'XYZ',
      quantity: 1,
      type: 'LIMIT',
      limit: '20.00',
      tif: 'GTC',
      intent: 'BUY_TO_CLOSE',
    });
    announce(market, 'SPIN_OFF', {
      symbol: 'XYZ',
      newSymbol: 'SPUN',
      ratio: { new: 1, old: 3 },
      basisPercent: 25,
    });
    apply();
    expect([held('XYZ'), held('SPUN')]).toEqual([-100, -33]);
    // 100/3 shares, rounded down to 33.333333: 33 of these for 750.00.
    expect(costs('XYZ')).toEqual([2250]);
    expect(costs('SPUN')).toEqual([742.5]);
    expect(market.openOrder(order)).toBeUndefined();
  });

  it('meets an opposite position in the new symbol', () => {
    const { market, portfolio, held, apply } = holding([[100, '40.00']]);
    market.quote('SPUN', '10.00', '10.00');
    market.place(portfolio, { symbol: 'SPUN', intent: 'SELL_TO_OPEN', quantity: 30 });
    announce(market, 'SPIN_OFF', { symbol: 'XYZ', newSymbol: 'SPUN', ratio: 1, basisPercent: 20 });
    apply();
    // 30 of 100 new shares at 8.00 close the short sale at 10.00.
    expect(held('SPUN')).toBe(70);
    expect(dollars(market.portfolio(portfolio).balances.REALIZED_PNL)).toBe(-60);
    // The quoted new symbol keeps its mark: old 40 - 10.
    expect(market.brokerage.mark('XYZ')).toBe(Price.of('30'));
  });
});

describe('a merger', () => {
  it('for shares and cash recognizes a gain up to the cash, as TWX and T did in 2018', () => {
    const { market, portfolio, held, costs, apply } = holding([
      [100, '60.00'],
      [100, '95.00'],
      [50, '110.00'],
    ]);
    market.quote('T', '32.52', '32.52');
    announce(market, 'MERGER', {
      symbol: 'XYZ',
      newSymbol: 'T',
      ratio: 1.437,
      cashPerShare: Price.of('53.75'),
    });
    apply();
    expect([held('XYZ'), held('T')]).toEqual([0, 359]);
    expect(dollars(market.value(portfolio).pendingCash)).toBe(13_437.5);
    const event = market.events('PositionConverted')[0];
    // V = 100.48124 a share: gains 4,048.124, 548.124 and 0.
    expect(event?.realized).toBe(45_962_480);
    expect(event?.inLieu).toBe(81_300);
    // 46.73124 a share of the first two lots, 56.25 of the third less a quarter of one of its 71.85 new shares.
    expect(costs('T')).toEqual([4673.124, 4673.124, 2802.714]);
  });

  it('for cash closes the shares, as ATVI did in 2023', () => {
    const { market, portfolio, held, apply } = holding([[100, '90.00']]);
    const order = market.place(portfolio, {
      symbol: 'XYZ',
      quantity: 1,
      type: 'LIMIT',
      limit: '80.00',
      tif: 'GTC',
    });
    announce(market, 'MERGER', {
      symbol: 'XYZ',
      cashPerShare: Price.of('95'),
      payDate: TradingDate.of('2026-01-09'),
    });
    announce(market, 'CASH_DIVIDEND', {
      symbol: 'XYZ',
      exDate: TradingDate.of('2026-01-09'),
      amountPerShare: Price.of('1'),
    } as never);
    apply();
    expect(held('XYZ')).toBe(0);
    expect(market.openOrder(order)).toBeUndefined();
    expect(dollars(market.value(portfolio).pendingCash)).toBe(9500);
    expect(dollars(market.portfolio(portfolio).balances.REALIZED_PNL)).toBe(-500);
    market.advanceTo('2026-01-09', 9);
    expect(dollars(market.portfolio(portfolio).balances.SETTLED_CASH)).toBe(1_000_500);
    expect(market.events('DividendAccrued')).toEqual([]);
  });

  it('orders the lots of both companies by date', () => {
    const { market, portfolio, costs, apply } = holding([[100, '50.00']]);
    market.quote('ACQ', '100.00', '100.00');
    market.place(portfolio, { symbol: 'ACQ', quantity: 10 });
    market.advanceTo('2026-01-06', 10);
    market.quote('XYZ', '60.00', '60.00');
    market.place(portfolio, { symbol: 'XYZ', quantity: 100 });
    announce(market, 'MERGER', { symbol: 'XYZ', newSymbol: 'ACQ', ratio: { new: 1, old: 2 } });
    apply();
    expect(costs('ACQ')).toEqual([1000, 5000, 6000]);
  });
});

describe('a delisting', () => {
  it('without cash closes long and short positions at 0', () => {
    const { market, portfolio, held, apply } = holding([[100, '4.00']]);
    const short = market.openPortfolio({ type: 'MARGIN' });
    market.place(short, { symbol: 'XYZ', intent: 'SELL_TO_OPEN', quantity: 50 });
    announce(market, 'DELISTING', { symbol: 'XYZ', cashPerShare: Price.of('0') });
    apply();
    expect(held('XYZ')).toBe(0);
    expect(dollars(market.portfolio(portfolio).balances.REALIZED_PNL)).toBe(400);
    expect(dollars(market.portfolio(short).balances.REALIZED_PNL)).toBe(-200);
    expect(market.submit(portfolio, { symbol: 'XYZ', quantity: 1 })).toMatchObject({
      message: 'XYZ no longer trades',
    });
  });
});

describe('a day', () => {
  it('has dividends, then a change of the symbol, then one other action', () => {
    const { market, held, apply } = holding([[100, '50.00']]);
    announce(market, 'STOCK_DIVIDEND', { symbol: 'NEWX', rate: 1 });
    announce(market, 'SYMBOL_CHANGE', { symbol: 'XYZ', newSymbol: 'NEWX' });
    announce(market, 'CASH_DIVIDEND', { symbol: 'XYZ', amountPerShare: Price.of('1') });
    apply();
    expect(market.events('ActionDone').map(({ action }) => action.type)).toEqual([
      'CASH_DIVIDEND',
      'SYMBOL_CHANGE',
      'STOCK_DIVIDEND',
    ]);
    expect(held('NEWX')).toBe(200);
  });

  it('takes effect in the order of announcement in journals of earlier versions', () => {
    const { market, apply } = holding([[100, '50.00']]);
    const on = { symbol: 'XYZ', exDate: EX_DATE };
    for (const action of [
      { type: 'SPLIT', ...on, ratio: { new: 2, old: 1 } },
      { type: 'CASH_DIVIDEND', ...on, amountPerShare: Price.of('1') },
    ] as const)
      market.execute<'AnnounceActions'>({ type: 'AnnounceActions', actions: [action] });
    market.restart();
    apply();
    expect(market.events('DividendAccrued')).toMatchObject([{ amount: 2_000_000 }]);
  });

  it('rejects two of split, stock dividend, spin-off, merger and delisting', () => {
    const { market } = holding([[100, '50.00']]);
    announce(market, 'STOCK_DIVIDEND', { symbol: 'XYZ', rate: 1 });
    expect(announce(market, 'DELISTING', { symbol: 'XYZ', cashPerShare: Price.of('0') })).toEqual({
      code: 'CONFLICT',
      message: 'XYZ has a STOCK_DIVIDEND on 2026-01-07; withdraw it first',
    });
  });
});

it('a restart in the middle of a day of actions changes nothing', () => {
  const run = (restarts: boolean): string => {
    const { market, apply } = holding([[101, '50.00']]);
    announce(market, 'SPIN_OFF', { symbol: 'XYZ', newSymbol: 'SPUN', ratio: 0.5, basisPercent: 10 });
    if (restarts) market.restart();
    apply();
    if (restarts) market.restart();
    market.advanceTo('2026-01-08', 10);
    return stateHash(market.brokerage.state);
  };
  expect(run(true)).toBe(run(false));
});
