import { describe, expect, it } from 'vitest';
import { calendarById } from '../../calendar/calendars.js';
import type { Dividend } from '../../corporate-actions/corporate-action.js';
import { optionContract } from '../../instruments/option-roots.js';
import { parseOsi } from '../../instruments/osi.js';
import type { Quote } from '../../market/quote.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { TradingDate } from '../../values/trading-date.js';
import { optionMarkOf } from './mark.js';
import type { OptionTerms } from './option-terms.js';
import {
  conditionsOf,
  optionGreeks,
  optionPrice,
  optionTermsOf,
  optionValue,
  roundedPrice,
  settlesAt,
} from './valuation.js';

const nyse = calendarById('XNYS');
const at = (text: string): Instant => Instant.ofMs(Date.parse(text));
const date = (text: string): TradingDate => TradingDate.parse(text)!;
const contractOf = (text: string) => optionContract(parseOsi(text)!, {}, () => undefined)!;

const dividend = (exDate: string, amount: string): Dividend => ({
  type: 'CASH_DIVIDEND',
  symbol: 'AAPL',
  exDate: date(exDate),
  amountPerShare: Price.of(amount),
});

describe('the time to expiry (D71)', () => {
  it.each([
    ['AAPL260116C00150000', '2026-01-16T21:00:00Z', 'to the end of trading'],
    ['SPY260116C00600000', '2026-01-16T21:15:00Z', 'to 16:15 where that is the end'],
    ['SPXW260116C06000000', '2026-01-16T21:00:00Z', 'a series settled in cash at the close: to 16:00'],
    ['SPX260116C06000000', '2026-01-16T14:30:00Z', 'one settled in the morning: to the opening'],
    ['AAPL261127C00150000', '2026-11-27T18:00:00Z', 'on a short day'],
    ['AAPL140118C00500000', '2014-01-17T21:00:00Z', 'a Saturday: the Friday'],
  ])('%s: %s, %s', (symbol, instant) => {
    expect(new Date(settlesAt(contractOf(symbol), nyse)).toISOString()).toBe(instant.replace('Z', '.000Z'));
  });

  const now = at('2026-01-16T20:00:00Z');
  const underlying = { price: Price.of('150'), now, rate: 0.04, dividends: [] };

  it('counts in years of 365 days, and never less than a minute', () => {
    const year = Instant.plusMs(now, 365 * 86_400_000);
    expect(conditionsOf(underlying, year, nyse).years).toBe(1);
    for (const left of [59_999, 1, 0, -3_600_000]) {
      expect(conditionsOf(underlying, Instant.plusMs(now, left), nyse).years).toBe(1 / (365 * 24 * 60));
    }
  });

  it('includes dividends with an ex-date after now and before the settlement', () => {
    const dividends = [
      dividend('2026-03-20', '0.30'),
      dividend('2026-01-16', '1'),
      dividend('2026-02-06', '0.25'),
      dividend('2025-11-10', '0.25'),
      dividend('2026-03-21', '5'),
    ];
    const settlement = settlesAt(contractOf('AAPL260320C00150000'), nyse);
    const conditions = conditionsOf({ ...underlying, dividends }, settlement, nyse);
    expect(conditions.dividends.map(({ amount }) => amount)).toEqual([0.25, 0.3]);
    const worth = conditions.dividends.map(({ years, amount }) => amount * Math.exp(-0.04 * years));
    expect(conditions.escrowed).toBeCloseTo(150 - worth[0]! - worth[1]!, 12);
  });
});

describe('inputs of a decision (D125)', () => {
  it('is rounded half up to 10⁻⁸', () => {
    expect([0, 4e-9, 5e-9, 0.015625, 1.234567894999].map(roundedPrice)).toEqual([
      0, 0, 1, 1_562_500, 123_456_789,
    ]);
    expect(() => roundedPrice(1e9)).toThrow(RangeError);
    expect(() => roundedPrice(NaN)).toThrow(RangeError);
  });

  it('is the value of the contract per share', () => {
    const contract = contractOf('AAPL260618P00150000');
    const now = at('2026-01-16T20:00:00Z');
    const conditions = conditionsOf(
      { price: Price.of('151.25'), now, rate: 0.04, dividends: [dividend('2026-02-06', '0.25')] },
      settlesAt(contract, nyse),
      nyse,
    );
    const terms = optionTermsOf(contract);
    expect(terms).toEqual({ optionType: 'PUT', style: 'AMERICAN', strike: 150 });
    // Binomial trees of 8,001 and 8,002 steps, computed apart: 9.3222 and 9.3225.
    expect(Math.abs(optionPrice(terms, conditions, 0.28) / 1e8 - 9.32235)).toBeLessThan(0.001);
    expect(
      Math.abs(optionPrice(terms, conditions, 0.28) / 1e8 - optionValue(terms, conditions, 0.28)),
    ).toBeLessThan(1e-8);
  });

  it('needs a volatility', () => {
    const terms: OptionTerms = { optionType: 'CALL', style: 'AMERICAN', strike: 100 };
    const conditions = conditionsOf(
      { price: Price.of('100'), now: at('2026-01-16T20:00:00Z'), rate: 0.04, dividends: [] },
      at('2026-02-16T20:00:00Z'),
      nyse,
    );
    for (const none of [0, -0.2, NaN, Infinity]) {
      expect(() => optionValue(terms, conditions, none)).toThrow(RangeError);
      expect(() => optionGreeks(terms, conditions, none)).toThrow(RangeError);
    }
  });
});

it('a minute before expiry an option is worth its intrinsic value', () => {
  const contract = contractOf('AAPL260116C00150000');
  const settlement = settlesAt(contract, nyse);
  for (const price of ['140', '149.5', '150.5', '163']) {
    const conditions = conditionsOf(
      { price: Price.of(price), now: settlement, rate: 0.04, dividends: [] },
      settlement,
      nyse,
    );
    expect(optionValue(optionTermsOf(contract), conditions, 0.3)).toBeCloseTo(
      Math.max(0, Number(price) - 150),
      3,
    );
  }
});

describe('the mark of an option (D72)', () => {
  const mark = (bid?: string, ask?: string, last?: string): string | undefined => {
    const sides = Object.entries({ bid, ask, last }).filter(([, price]) => price !== undefined);
    const quote = Object.fromEntries(
      sides.map(([side, price]) => [side, Price.of(price!)]),
    ) as Partial<Quote>;
    const found = optionMarkOf({ symbol: 'AAPL260116C00150000', at: at('2026-01-16T20:00:00Z'), ...quote });
    return found === undefined ? undefined : Price.format(found);
  };

  it.each([
    ['1.00', '1.10', '1.04', '1.04', 'the last trade inside the market'],
    ['1.00', '1.10', '0.90', '1', 'else the nearer side'],
    ['1.00', '1.10', '1.30', '1.1', 'else the nearer side'],
    ['1.00', '1.10', undefined, '1.05', 'without a trade the middle'],
    [undefined, '0.05', undefined, '0.025', 'no bid is a bid of 0: 0 / 0.05 is 0.025, not 0.05'],
    ['0', '0.05', undefined, '0.025', 'and so is 0'],
    [undefined, '0.05', '0.03', '0.03', 'a trade below the ask without a bid'],
    [undefined, '0.05', '4', '0.05', 'a trade of long ago'],
    ['1.00', undefined, '1.20', '1.2', 'without an ask the greater of last and bid'],
    ['1.00', undefined, '0.80', '1', 'without an ask the greater of last and bid'],
    ['1.00', undefined, undefined, '1', 'a bid alone'],
    [undefined, undefined, '0.70', '0.7', 'a trade alone'],
    [undefined, undefined, undefined, undefined, 'nothing: the model or the cost decides'],
  ])('bid %s, ask %s, last %s: %s, %s', (bid, ask, last, expected, _why) => {
    expect(mark(bid, ask, last)).toBe(expected);
  });
});
