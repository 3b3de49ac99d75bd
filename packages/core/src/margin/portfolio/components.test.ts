import { describe, expect, it } from 'vitest';
import { calendarById } from '../../calendar/calendars.js';
import type { OptionContract } from '../../instruments/option.js';
import { dollars, testBroker, testEquity } from '../../testing/market.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import type { Holding, MarginTerms } from '../book.js';
import { bookOfClass, requirementOfHypothetical } from '../hypothetical-book.js';
import type { MarginEngine } from '../margin-type.js';
import { requirementOf } from '../requirement.js';

/*
 * A call for 1.00 on 100 XYZ at 50.00, 25 shares at 40.00 and 200.00 in cash. Without interest and volatility it is worth
 * 50 + 10 + 2 - 1 = 61.00 a share, and gains what its deliverable gains.
 */
const PRICES: Readonly<Record<string, string>> = { XYZ: '50', ABC: '40', SPY: '40', SSO: '40' };
const calendar = calendarById('XNYS');

const call = (other: string, right: 'CALL' | 'PUT' = 'CALL', strike = '1'): OptionContract => ({
  assetClass: 'OPTION',
  symbol: `XYZ1260220${right.charAt(0)}0000${strike}000`,
  underlying: 'XYZ',
  underlyingClass: 'EQUITY',
  optionType: right,
  strike: Price.of(strike),
  expiration: TradingDate.of('2026-02-20'),
  multiplier: 100,
  style: 'AMERICAN',
  settlement: 'PHYSICAL',
  settleSession: 'PM',
  deliverable: 100,
  cash: Money.ofDollars(200 + 25 * 40),
  othersInCash: [{ symbol: other, shares: 25 }],
});

const contracts = (count: number, contract: OptionContract, mark = '61'): Holding => ({
  instrument: contract,
  quantity: Quantity.of(count),
  mark: Price.of(mark),
});

const stock = (symbol: string, count: number): Holding => ({
  instrument: testEquity(symbol),
  quantity: Quantity.of(count),
  mark: Price.of(PRICES[symbol] ?? '0'),
});

const terms = (engine: MarginEngine, more: Partial<MarginTerms> = {}): MarginTerms => ({
  marginType: 'PORTFOLIO',
  engine,
  house: testBroker('default'),
  asOf: calendar.instantOf(TradingDate.of('2026-01-05'), 10, 0),
  calendar,
  components: true,
  ...more,
});

const market = {
  rate: 0,
  volatility: () => 0.01,
  underlying: (symbol: string) => ({
    price: Price.of(PRICES[symbol] ?? '0'),
    leverageFactor: symbol === 'SSO' ? 2 : 1,
    dividends: [],
  }),
};

const required = (engine: MarginEngine, holdings: readonly Holding[], more: Partial<MarginTerms> = {}) =>
  dollars(requirementOf({ ...terms(engine, more), holdings, market }).house);

describe('portfolio margin of a contract on 100 XYZ, 25 other shares and cash', () => {
  it.each(['TIMS', 'SIMPLE', 'SPAN'] as const)(
    '%s: both shares move by 15 %%, the cash does not',
    (engine) => {
      // 100 × 50 × 15 % + 25 × 40 × 15 % = 750 + 150.
      expect(required(engine, [contracts(1, call('ABC'))])).toBe(900);
      expect(required(engine, [contracts(-1, call('ABC'))])).toBe(900);
    },
  );

  it('TIMS: shares of another class move by that class’s range', () => {
    // XYZ 15 % down with SPY 8 % down: 750 + 80. Short: 15 % up with 6 % up: 750 + 60; a fund of twice the index 12 %.
    expect(required('TIMS', [contracts(1, call('SPY'))])).toBe(830);
    expect(required('TIMS', [contracts(-1, call('SPY'))])).toBe(810);
    expect(required('TIMS', [contracts(-1, call('SSO'))])).toBe(870);
  });

  it('SIMPLE, SPAN: a broad index’s fund moves by 10 % and 8 %', () => {
    expect(required('SIMPLE', [contracts(1, call('SPY'))])).toBe(850);
    expect(required('SPAN', [contracts(1, call('SPY'))])).toBe(830);
  });

  it.each(['TIMS', 'SIMPLE', 'SPAN'] as const)('%s: what ABC gains does not pay what XYZ loses', (engine) => {
    // Short 120 XYZ lose 900 at 15 % up. The call gains 750, less 150 with ABC 15 % down: 900 - 600.
    expect(required(engine, [contracts(1, call('ABC')), stock('XYZ', -120)])).toBe(300);
  });

  it('TIMS: held ABC is margined by itself', () => {
    // The short call less the 100 XYZ: 150. The 25 ABC: 150.
    const held = [contracts(-1, call('ABC')), stock('XYZ', 100), stock('ABC', 25)];
    expect(required('TIMS', held)).toBe(300);
  });

  it('TIMS: a spread of equal deliverables nets in every direction', () => {
    const [low, high] = [call('ABC'), call('ABC', 'CALL', '2')];
    // No move changes the width; two contracts require 37.50 each.
    expect(required('TIMS', [contracts(1, low), contracts(-1, high, '60')])).toBe(75);
  });

  it('without a move of components all of it moves with XYZ, as journals of earlier versions have it', () => {
    // 62 × 100 × 15 %.
    const before = terms('TIMS');
    const { components: _, ...earlier } = before;
    const holdings = [contracts(1, call('ABC'))];
    expect(dollars(requirementOf({ ...earlier, holdings, market }).house)).toBe(930);
  });

  it('is the same in another thread', () => {
    const holdings = [contracts(1, call('SPY'))];
    const book = { ...bookOfClass(holdings, terms('TIMS'), market), volatilities: new Map([['XYZ', 0.01]]) };
    expect(dollars(requirementOfHypothetical(structuredClone(book)).house)).toBe(830);
  });
});
