import { describe, expect, it } from 'vitest';
import { calendarById } from '../calendar/calendars.js';
import type { Dividend } from '../corporate-actions/corporate-action.js';
import { plainEquity } from '../instruments/equity.js';
import type { Instrument } from '../instruments/instrument.js';
import type { OptionContract } from '../instruments/option.js';
import { optionContract } from '../instruments/option-roots.js';
import { parseOsi } from '../instruments/osi.js';
import type { Quote } from '../market/quote.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import { conditionsAt } from './model/conditions.js';
import { optionGreeks, optionValue } from './model/valuation.js';
import { greeksOf, markOfOption, markOfSymbol, optionFiguresOf } from './option-figures.js';
import type { OptionMarket } from './option-market.js';
import { underlyingPriceOf } from './underlying.js';

const nyse = calendarById('XNYS');
const contractOf = (symbol: string, said: Partial<OptionContract> = {}): OptionContract =>
  optionContract(parseOsi(symbol)!, said, () => undefined)!;

type Sides = Partial<Record<'bid' | 'ask' | 'last', string>>;

/** Friday 2026-01-16 at 15:00 New York; the quoted contracts are listed. */
function marketOf(
  quotes: Readonly<Record<string, Sides>>,
  more: Partial<OptionMarket> & { readonly listed?: readonly OptionContract[] } = {},
): OptionMarket {
  const now = more.at ?? nyse.instantOf(TradingDate.of('2026-01-16'), 15, 0);
  const known = new Map<string, Instrument>((more.listed ?? []).map((one) => [one.symbol, one]));
  for (const symbol of Object.keys(quotes)) {
    if (!known.has(symbol))
      known.set(
        symbol,
        symbol.length > 15 ? contractOf(symbol) : { ...plainEquity(symbol), dailyVolatility: 0.02 },
      );
  }
  return {
    at: now,
    calendar: nyse,
    riskFreeRate: 0.04,
    quote: (symbol): Quote | undefined => {
      const sides = quotes[symbol];
      if (sides === undefined) return undefined;
      const prices = Object.entries(sides).map(([side, price]) => [side, Price.of(price)]);
      return { symbol, at: now, ...(Object.fromEntries(prices) as Partial<Quote>) };
    },
    instrument: (symbol) => known.get(symbol),
    dividendsOn: () => [],
    optionsListed: (underlying, expiration) =>
      [...known.values()].filter(
        (one): one is OptionContract =>
          one.assetClass === 'OPTION' && one.underlying === underlying && one.expiration === expiration,
      ),
    ...more,
  };
}

const CALL = 'AAPL260220C00200000';
const PUT = 'AAPL260220P00200000';
/** From 15:00 on January 16 to 16:00 on February 20. */
const YEARS = (35 * 24 + 1) / (365 * 24);

describe('the mark of an option position (D72)', () => {
  it('is its quote, or the model value at the usual volatility of the underlying', () => {
    expect(markOfOption(contractOf(CALL), marketOf({ [CALL]: { ask: '0.05' }, AAPL: { last: '100' } }))).toBe(
      Price.of('0.025'),
    );
    const market = marketOf({ AAPL: { bid: '204.9', ask: '205.1' } });
    const usual = 0.02 * Math.sqrt(252);
    const value = optionValue(
      { optionType: 'CALL', style: 'AMERICAN', strike: 200 },
      conditionsAt(205, YEARS, 0.04),
      usual,
    );
    expect(markOfOption(contractOf(CALL), market)! / 1e8).toBeCloseTo(value, 7);
    expect(markOfOption(contractOf(CALL), marketOf({}))).toBeUndefined();
  });

  it('other things by their quotes, options by their own rule', () => {
    const market = marketOf({
      [CALL]: { bid: '7', ask: '8' },
      AAPL: { bid: '204', last: '300', ask: '206' },
    });
    expect(markOfSymbol(CALL, market)).toBe(Price.of('7.5'));
    expect(markOfSymbol('AAPL', market)).toBe(Price.of('206'));
    expect(markOfSymbol('NOPE', market)).toBeUndefined();
  });
});

describe('the underlying of options that has no quote (D85)', () => {
  it('is priced by put–call parity of the pair with the smallest difference', () => {
    const quotes = {
      AAPL260220C00190000: { bid: '16.90', ask: '17.10' },
      AAPL260220P00190000: { bid: '1.30', ask: '1.50' },
      [CALL]: { bid: '9.90', ask: '10.10' },
      [PUT]: { bid: '4.40', ask: '4.60' },
      // No put to compare it with.
      AAPL260220C00210000: { bid: '4.5', ask: '4.6' },
      // Another expiration.
      AAPL260320C00205000: { bid: '6', ask: '6' },
      AAPL260320P00205000: { bid: '6', ask: '6' },
    };
    const price = underlyingPriceOf(contractOf(CALL), marketOf(quotes))! / 1e8;
    expect(price).toBeCloseTo(200 * Math.exp(-0.04 * YEARS) + 10 - 4.5, 7);
    const dividend: Dividend = {
      type: 'CASH_DIVIDEND',
      symbol: 'AAPL',
      exDate: TradingDate.of('2026-02-09'),
      amountPerShare: Price.of('2'),
    };
    const cum =
      underlyingPriceOf(contractOf(CALL), marketOf(quotes, { dividendsOn: () => [dividend] }))! / 1e8;
    expect(cum - price).toBeCloseTo(2 * Math.exp((-0.04 * (24 * 24 - 12)) / (365 * 24)), 6);
    // At the end there is no discount.
    const end = marketOf(quotes, { at: nyse.instantOf(TradingDate.of('2026-02-20'), 16, 0) });
    expect(underlyingPriceOf(contractOf(CALL), end)).toBe(Price.of('205.5'));
  });

  it('is unknown without such a pair, and if it would be 0 or less', () => {
    expect(underlyingPriceOf(contractOf(CALL), marketOf({ [CALL]: { bid: '1', ask: '2' } }))).toBeUndefined();
    const absurd = marketOf({ [CALL]: { bid: '0.01', ask: '0.01' }, [PUT]: { bid: '300', ask: '300' } });
    expect(underlyingPriceOf(contractOf(CALL), absurd)).toBeUndefined();
  });
});

describe('the Greeks of a contract (D71)', () => {
  const quotes = { AAPL: { last: '205' }, [CALL]: { bid: '9.90', ask: '10.10' } };

  it('are those of a share × multiplier at the implied volatility of its mark', () => {
    const { deltaPerContract, gammaPerContract, thetaPerContract, vegaPerContract } = greeksOf(
      contractOf(CALL),
      marketOf(quotes),
    );
    const conditions = conditionsAt(205, YEARS, 0.04);
    const terms = { optionType: 'CALL', style: 'AMERICAN', strike: 200 } as const;
    // Finds the volatility at which it is worth 10, by bisection.
    let [low, high] = [0.01, 5];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (optionValue(terms, conditions, middle) < 10) low = middle;
      else high = middle;
    }
    const share = optionGreeks(terms, conditions, low);
    expect(deltaPerContract).toBeCloseTo(100 * share.delta, 6);
    expect(gammaPerContract).toBeCloseTo(100 * share.gamma, 6);
    expect(thetaPerContract).toBeCloseTo(100 * share.theta, 6);
    expect(vegaPerContract).toBeCloseTo(100 * share.vega, 6);
  });

  it('are 0 if the underlying has no price', () => {
    expect(greeksOf(contractOf(CALL), marketOf({ [CALL]: { bid: '9.90', ask: '10.10' } }))).toEqual({
      deltaPerContract: 0,
      gammaPerContract: 0,
      thetaPerContract: 0,
      vegaPerContract: 0,
      rhoPerContract: 0,
    });
  });

  it('of a series that delivers 150 shares at the price of 100 count 150', () => {
    const adjusted = contractOf('AAPL1260220C00200000', { deliverable: 150, inLieu: Quantity.zero });
    // Deep in the money: its value is the shares less the strike.
    const market = marketOf(
      { AAPL: { last: '400' }, AAPL1260220C00200000: { bid: '399.9', ask: '401.3' } },
      { listed: [adjusted] },
    );
    expect(greeksOf(adjusted, market).deltaPerContract).toBeCloseTo(150, 1);
    const unquoted = marketOf({ AAPL: { last: '400' } }, { listed: [adjusted] });
    expect(markOfOption(adjusted, unquoted)! / 1e8).toBeCloseTo(600 - 200 * Math.exp(-0.04 * YEARS), 2);
  });
});

describe('implied volatility and Greeks at the bounds (D252)', () => {
  const conditions = conditionsAt(205, YEARS, 0.04);
  const figuresAt = (mark: string, symbol = CALL, of = conditions) =>
    optionFiguresOf(contractOf(symbol), Price.of(mark), of);
  /** 74 days to the settlement, index at 7,000. */
  const index = conditionsAt(7000, 74 / 365, 0.04);

  it('of a European put below its exercise value: 15 %', () => {
    const put = optionContract(parseOsi('SPXW260331P07600000')!, {}, () => undefined)!;
    const { impliedVolatility, model } = optionFiguresOf(put, Price.of('572.43'), index);
    expect(impliedVolatility).toBeCloseTo(0.15, 3);
    expect(model).toBeUndefined();
    expect(optionValue({ style: 'EUROPEAN', optionType: 'PUT', strike: 7600 }, index, 0.01)).toBeCloseTo(
      538.62,
      2,
    );
    const least = optionFiguresOf(put, Price.of('538.50'), index);
    const discounted = 7600 * Math.exp((-0.04 * 74) / 365);
    expect(least).toMatchObject({ model: 'INTRINSIC', delta: -1, gamma: 0, vega: 0 });
    expect(least.theta).toBeCloseTo((0.04 * discounted) / 365, 9);
    expect(least.rho).toBeCloseTo((-74 / 365) * discounted * 0.01, 9);
  });

  it('of a call below its discounted exercise value: none', () => {
    const call = optionContract(parseOsi('SPXW260331C05700000')!, {}, () => undefined)!;
    expect(optionValue({ style: 'EUROPEAN', optionType: 'CALL', strike: 5700 }, index, 0.01)).toBeCloseTo(
      1346.04,
      2,
    );
    const figures = optionFiguresOf(call, Price.of('1315'), index);
    const discounted = 5700 * Math.exp((-0.04 * 74) / 365);
    expect(figures).toMatchObject({ model: 'INTRINSIC', delta: 1, gamma: 0, vega: 0 });
    expect(figures).not.toHaveProperty('impliedVolatility');
    expect(figures.theta).toBeCloseTo((-0.04 * discounted) / 365, 9);
    expect(figures.rho).toBeCloseTo((74 / 365) * discounted * 0.01, 9);
  });

  it('is left out from below the least value plus half a tick, and above the greatest', () => {
    const least = optionValue({ style: 'AMERICAN', optionType: 'CALL', strike: 200 }, conditions, 0.01);
    // In nickels.
    expect(figuresAt((least + 0.024).toFixed(8))).toHaveProperty('model');
    expect(figuresAt((least + 0.026).toFixed(8)).impliedVolatility).toBeGreaterThan(0.01);
    expect(figuresAt('204.99')).toMatchObject({ model: 'INTRINSIC', delta: 1 });
    expect(figuresAt('10').impliedVolatility).toBeGreaterThan(0.1);
  });

  it('an American put whose exercise is due at once has a delta alone', () => {
    const figures = figuresAt('45.00', 'AAPL260220P00250000');
    expect(figures).toEqual({ model: 'INTRINSIC', delta: -1, gamma: 0, theta: 0, vega: 0, rho: 0 });
  });

  it('out of the money without a price all Greeks are 0', () => {
    const figures = figuresAt('0.00', 'AAPL260220C00300000');
    expect(figures).toEqual({ model: 'INTRINSIC', delta: 0, gamma: 0, theta: 0, vega: 0, rho: 0 });
  });

  it('rho is the change for a point of the rate: 0.5187 and −0.4421 at the money', () => {
    const year = conditionsAt(100, 1, 0.04);
    const of = (optionType: 'CALL' | 'PUT') =>
      optionGreeks({ style: 'EUROPEAN', optionType, strike: 100 }, year, 0.2);
    expect(of('CALL').value).toBeCloseTo(9.92505, 5);
    expect(of('CALL').rho).toBeCloseTo(0.5187, 4);
    expect(of('PUT').rho).toBeCloseTo(-0.4421, 4);
  });

  it.each([
    ['a put', 'PUT', []],
    ['a call with a dividend', 'CALL', [{ years: 0.3, amount: 3 }]],
    ['a put with a dividend', 'PUT', [{ years: 0.3, amount: 3 }]],
  ] as const)(
    'rho of an American option is the slope of its value over the rate: %s',
    (_, optionType, dividends) => {
      const terms = { style: 'AMERICAN', optionType, strike: 100 } as const;
      const valueAt = (rate: number): number =>
        optionValue(terms, conditionsAt(98, 1, rate, dividends), 0.25);
      const slope = (valueAt(0.05) - valueAt(0.03)) / 2;
      expect(optionGreeks(terms, conditionsAt(98, 1, 0.04, dividends), 0.25).rho).toBeCloseTo(slope, 2);
    },
  );
});
