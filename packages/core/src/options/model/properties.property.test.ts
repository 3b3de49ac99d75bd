import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atSpot, conditionsAt } from './conditions.js';
import { impliedVolatility } from './implied-volatility.js';
import type { OptionTerms } from './option-terms.js';
import { optionGreeks, optionValue } from './valuation.js';

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });

const conditions = fc
  .record({
    spot: number(1, 5000),
    years: number(1e-6, 3),
    rate: number(-0.02, 0.12),
    dividends: fc.array(fc.record({ years: number(0, 3), amount: number(0, 0.03) }), { maxLength: 8 }),
  })
  .map(({ spot, years, rate, dividends }) =>
    conditionsAt(
      spot,
      years,
      rate,
      dividends.map((one) => ({ years: one.years, amount: one.amount * spot })),
    ),
  );
const moneyness = number(0.2, 5);
const volatility = number(0.01, 5);
const optionType = fc.constantFrom('CALL' as const, 'PUT' as const);
const style = fc.constantFrom('AMERICAN' as const, 'EUROPEAN' as const);

/** Tolerance of trees, per 1.00 of strike (D71's 0.025 of 100). */
const TREE = 0.00025;

const terms = (of: Partial<OptionTerms> & { strike: number }): OptionTerms => ({
  optionType: 'CALL',
  style: 'EUROPEAN',
  ...of,
});

it('put–call parity: a European call less the put is the discounted spot less the strike', () => {
  fc.assert(
    fc.property(conditions, moneyness, volatility, (now, money, sigma) => {
      const strike = now.spot * money;
      const call = optionValue(terms({ strike }), now, sigma);
      const put = optionValue(terms({ strike, optionType: 'PUT' }), now, sigma);
      const parity = now.escrowed - strike * now.discount;
      expect(Math.abs(call - put - parity)).toBeLessThan(1e-12 * (now.spot + strike));
    }),
  );
});

it('values of series that differ in dividends alone do not depend on which was valued before, at any price of the underlying', () => {
  const other = conditionsAt(90, 0.123, 0.01, [{ years: 0.1, amount: 1 }]);
  fc.assert(
    fc.property(
      conditions,
      fc.array(
        fc.record({ isPaying: fc.boolean(), move: number(0.5, 1.5), money: moneyness, sigma: volatility }),
        { minLength: 2, maxLength: 8 },
      ),
      optionType,
      ({ spot, years, rate, dividends }, asked, type) => {
        const paying = conditionsAt(spot, years, rate, [
          ...dividends,
          { years: years / 2, amount: spot / 50 },
        ]);
        const series = conditionsAt(spot, years, rate, dividends);
        for (const { isPaying, move, money, sigma } of asked) {
          const option = terms({ strike: spot * money, optionType: type, style: 'AMERICAN' });
          const moved = atSpot(isPaying ? paying : series, spot * move);
          const value = optionValue(option, moved, sigma);
          // A tree of other conditions leaves nothing of these behind.
          optionValue(terms({ strike: 100, optionType: 'PUT', style: 'AMERICAN' }), other, 0.3);
          const again = conditionsAt(moved.spot, years, rate, moved.dividends);
          expect(optionValue(option, again, sigma)).toBe(value);
        }
      },
    ),
  );
});

it('an American option is worth at least the European one, its exercise value and zero, and at most the strike or the spot', () => {
  fc.assert(
    fc.property(conditions, moneyness, volatility, optionType, (now, money, sigma, type) => {
      const strike = now.spot * money;
      const american = optionValue(terms({ strike, optionType: type, style: 'AMERICAN' }), now, sigma);
      const european = optionValue(terms({ strike, optionType: type }), now, sigma);
      const atOnce = type === 'CALL' ? now.spot - strike : strike - now.spot;
      // Allows for the last bit of a subtraction.
      const rounding = 1e-14 * (strike + now.spot);
      expect(american).toBeGreaterThanOrEqual(Math.max(european, atOnce, 0) - rounding);
      // At a negative rate the strike is worth more later; dividends that exceed the spot count in full.
      const most =
        type === 'CALL' ? Math.max(now.spot, dividendsOf(now)) : strike * Math.max(1, now.discount);
      expect(american).toBeLessThanOrEqual(most + TREE * (strike + now.spot));
    }),
  );
});

const dividendsOf = ({ dividends, escrowed }: ReturnType<typeof conditionsAt>): number =>
  dividends.reduce((sum, { amount, discount }) => sum + amount * discount, escrowed);

it('more volatility is worth more, and so is a higher strike to a put and a lower one to a call', () => {
  fc.assert(
    fc.property(
      conditions,
      moneyness,
      number(0.05, 2),
      number(1.001, 1.5),
      optionType,
      style,
      (now, money, sigma, factor, type, how) => {
        const strike = now.spot * money;
        const of = (at: number, s: number) =>
          optionValue(terms({ strike: at, optionType: type, style: how }), now, s);
        const slack = (how === 'AMERICAN' ? TREE : 1e-13) * (strike * factor + now.spot);
        expect(of(strike, sigma * factor)).toBeGreaterThanOrEqual(of(strike, sigma) - slack);
        const change = of(strike * factor, sigma) - of(strike, sigma);
        expect(type === 'PUT' ? change : -change).toBeGreaterThanOrEqual(-slack);
      },
    ),
  );
});

describe('more time is worth more to an American option that no dividend changes', () => {
  /** Decrease of the value with more time, beyond the tolerance of trees for both values. */
  const shortfall = (
    type: OptionTerms['optionType'],
    money: number,
    rate: number,
    sigma: number,
    times: readonly number[],
  ) => {
    const option = terms({ strike: 100 * money, optionType: type, style: 'AMERICAN' });
    const [short, long] = times.map((time) => optionValue(option, conditionsAt(100, time, rate), sigma)) as [
      number,
      number,
    ];
    return short - long - 2 * TREE * option.strike;
  };

  it('up to four deviations of the logarithm', () => {
    fc.assert(
      fc.property(
        number(1e-4, 2),
        number(1.01, 3),
        number(0, 0.1),
        moneyness,
        volatility,
        optionType,
        (years, factor, rate, money, sigma, type) => {
          fc.pre(sigma * Math.sqrt(years * factor) <= 4);
          expect(shortfall(type, money, rate, sigma, [years, years * factor])).toBeLessThanOrEqual(0);
        },
      ),
    );
  });

  it('is missed beyond, because the tree is too coarse', () => {
    const short = shortfall('PUT', 0.317, 0.1, 5, [1.911, 4.182]);
    expect(short).toBeGreaterThan(0);
    // By less than three hundredths of 100 of strike.
    expect(short).toBeLessThan(0.03 * 0.317);
  });
});

it('Greeks are finite and have the signs they must', () => {
  fc.assert(
    fc.property(conditions, moneyness, volatility, optionType, style, (now, money, sigma, type, how) => {
      const greeks = optionGreeks(
        terms({ strike: now.spot * money, optionType: type, style: how }),
        now,
        sigma,
      );
      expect(Object.values(greeks).every(Number.isFinite)).toBe(true);
      expect(greeks.gamma).toBeGreaterThanOrEqual(0);
      expect(greeks.vega).toBeGreaterThanOrEqual(0);
      const delta = type === 'CALL' ? greeks.delta : -greeks.delta;
      expect(delta).toBeGreaterThanOrEqual(-0.02);
      expect(delta).toBeLessThanOrEqual(1.02);
    }),
  );
});

it('European Greeks are the slopes of the value', () => {
  fc.assert(
    fc.property(
      number(0.02, 2),
      number(-0.02, 0.1),
      number(0.7, 1.4),
      number(0.1, 1),
      optionType,
      (years, rate, money, sigma, type) => {
        const option = terms({ strike: 100 * money, optionType: type });
        const at = (spot: number, time: number, s: number) =>
          optionValue(option, conditionsAt(spot, time, rate, [{ years: time - years + 0.01, amount: 1 }]), s);
        const greeks = optionGreeks(
          option,
          conditionsAt(100, years, rate, [{ years: 0.01, amount: 1 }]),
          sigma,
        );
        const slope = (f: (by: number) => number, by: number) => (f(by) - f(-by)) / (2 * by);
        expect(greeks.delta).toBeCloseTo(
          slope((by) => at(100 + by, years, sigma), 1e-3),
          5,
        );
        expect(greeks.vega * 100).toBeCloseTo(
          slope((by) => at(100, years, sigma + by), 1e-4),
          3,
        );
        expect(greeks.theta * 365).toBeCloseTo(
          slope((by) => at(100, years - by, sigma), 1e-6),
          2,
        );
        const curve = (at(100.1, years, sigma) - 2 * at(100, years, sigma) + at(99.9, years, sigma)) / 0.01;
        expect(Math.abs(greeks.gamma - curve)).toBeLessThan(0.001 + greeks.gamma * 0.01);
      },
    ),
  );
});

it('for any price, the implied volatility is between 1 % and 500 % and the closest fit', () => {
  fc.assert(
    fc.property(conditions, moneyness, number(0, 1.5), optionType, style, (now, money, part, type, how) => {
      const option = terms({ strike: now.spot * money, optionType: type, style: how });
      const price = part * Math.max(now.spot, option.strike);
      const found = impliedVolatility(option, now, price);
      expect(found).toBeGreaterThanOrEqual(0.01);
      expect(found).toBeLessThanOrEqual(5);
      const slack = (how === 'AMERICAN' ? TREE : 1e-9) * (now.spot + option.strike);
      const value = optionValue(option, now, found);
      if (found > 0.01) expect(value).toBeLessThanOrEqual(price + slack);
      if (found < 5) expect(value).toBeGreaterThanOrEqual(price - slack);
    }),
  );
});
