import { describe, expect, it } from 'vitest';
import type { Tradable } from '../instruments/instrument.js';
import { alwaysOpen } from '../calendar/always-open.js';
import { optionContract } from '../instruments/option-roots.js';
import { parseOsi } from '../instruments/osi.js';
import { NO_MARKET } from '../testing/margin-legs.js';
import { dollars, testBroker, testEquity } from '../testing/market.js';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import type { Holding, MarginBook } from './book.js';
import { amountsOf, requirementOf } from './requirement.js';

const book = (holdings: Holding[], more: Partial<MarginBook> = {}): MarginBook => ({
  marginType: 'REG_T',
  engine: undefined,
  house: testBroker('b'),
  asOf: Instant.ofMs(0),
  calendar: alwaysOpen,
  market: NO_MARKET,
  holdings,
  ...more,
});

const stock = (symbol: string, quantity: number, mark: string): Holding => ({
  instrument: testEquity(symbol),
  quantity: Quantity.of(quantity),
  mark: Price.of(mark),
});

describe('the requirement of a book', () => {
  it('is the sum of its groups, one for each stock, named by the rule', () => {
    const { groups, ...sums } = requirementOf(book([stock('KO', 100, '60.00'), stock('F', -100, '8.00')]));
    expect(groups.map(({ strategy, legs }) => [strategy, ...legs.map(({ symbol }) => symbol)])).toEqual([
      ['SHORT_STOCK', 'F'],
      ['LONG_STOCK', 'KO'],
    ]);
    // KO: 50 % and 25 % of 6,000. F: 50 % of 800, and 5.00 a share.
    expect(groups.map(({ amounts }) => [amounts.fed, amounts.house].map(dollars))).toEqual([
      [400, 500],
      [3000, 1500],
    ]);
    expect([sums.fed, sums.house, sums.initial, sums.counted].map(dollars)).toEqual([3400, 2000, 3500, 5200]);
  });

  it('under portfolio margin has class groups and nothing by Reg T', () => {
    const requirement = requirementOf(
      book([stock('KO', 100, '60.00')], { marginType: 'PORTFOLIO', engine: 'TIMS' }),
    );
    expect(requirement.groups.map(({ strategy }) => strategy)).toEqual(['CLASS_GROUP']);
    expect([requirement.fed, requirement.house, requirement.initial].map(dollars)).toEqual([0, 900, 900]);
  });

  it('adds up repeated positions; an empty book requires nothing', () => {
    const halves = book([stock('KO', 70, '60.00'), stock('F', 5, '8.00'), stock('KO', 30, '60.00')]);
    const whole = book([stock('KO', 100, '60.00'), stock('F', 5, '8.00')]);
    expect(requirementOf(halves)).toEqual(requirementOf(whole));
    const nothing = { fed: 0, house: 0, opening: 0, initial: 0, counted: 0, groups: [] };
    expect(requirementOf(book([]))).toEqual(nothing);
    expect(requirementOf(book([stock('KO', 10, '60.00'), stock('KO', -10, '60.00')]))).toEqual(nothing);
  });
});

describe('groups', () => {
  it('come by underlying, then in the order of the names (D106)', () => {
    const expiration = TradingDate.of('2026-03-20');
    const call = (underlying: string, strike: string, quantity: number): Holding => {
      const named = parseOsi(`${underlying}260320C000${strike}000`);
      const instrument = named && optionContract(named, {}, () => undefined);
      if (instrument === undefined) throw new Error('no option');
      return { instrument, quantity: Quantity.of(quantity), mark: Price.of('1') };
    };
    const market = {
      ...NO_MARKET,
      underlying: () => ({ price: Price.of('50'), leverageFactor: 1, dividends: [] }),
    };
    const held = [
      call('KO', '60', -1),
      call('F', '60', -1),
      stock('KO', 50, '50.00'),
      call('F', '70', 1),
      stock('F', 50, '50.00'),
      call('F', '55', -1),
    ];
    for (const holdings of [held, held.toReversed()]) {
      const { groups } = requirementOf(
        book(holdings, {
          market,
          asOf: Instant.ofMs(TradingDate.dayOf(expiration) * 86_400_000 - 86_400_000),
        }),
      );
      expect(groups.map(({ underlying, strategy }) => `${underlying} ${strategy}`)).toEqual([
        'F LONG_STOCK',
        'F LONG_CALL',
        'F NAKED_CALL',
        'F NAKED_CALL',
        'KO LONG_STOCK',
        'KO NAKED_CALL',
      ]);
    }
  });
});

describe('a future that nothing is known of', () => {
  it('requires its full notional', () => {
    const instrument: Tradable = {
      assetClass: 'FUTURE',
      symbol: 'QQH6',
      root: 'QQ',
      multiplier: 50,
      tickSize: Price.of('0.25'),
      settlement: 'CASH',
      lastTradeDate: TradingDate.of('2026-03-20'),
    };
    const held = book([{ instrument, quantity: Quantity.of(-2), mark: Price.of('10') }]);
    expect(dollars(requirementOf(held).house)).toBe(1000);
    expect(amountsOf(held)).toMatchObject({ fed: 0, counted: 0 });
  });
});

describe('months of one root', () => {
  it('require their spread margin per pair, and a tenth more initially (D94)', () => {
    const month = (symbol: string, date: string, quantity: number): Holding => ({
      instrument: {
        assetClass: 'FUTURE',
        symbol,
        root: 'QQ',
        multiplier: 50,
        tickSize: Price.of('0.25'),
        settlement: 'CASH',
        lastTradeDate: TradingDate.of(date),
        initialMargin: Money.ofDollars(11_000),
        maintenanceMargin: Money.ofDollars(10_000),
      },
      quantity: Quantity.of(quantity),
      mark: Price.of('10'),
    });
    const { groups } = requirementOf(book([month('QQH6', '2026-03-20', 3), month('QQM6', '2026-06-19', -2)]));
    expect(
      groups.map(({ strategy, amounts }) => [strategy, dollars(amounts.house), dollars(amounts.initial)]),
    ).toEqual([
      ['FUTURE', 10_000, 11_000],
      ['FUTURE_SPREAD', 4000, 4400],
    ]);
  });
});
