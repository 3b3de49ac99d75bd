import { describe, expect, it } from 'vitest';
import { calendarById } from '../calendar/calendars.js';
import type { CashDividend } from '../corporate-actions/corporate-action.js';
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
  optionContract(parseOsi(symbol)!, said, () => false)!;

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
  it('its quote; without one the model, at the usual volatility of the underlying', () => {
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
    const dividend: CashDividend = {
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

describe('implied volatility (D220)', () => {
  const conditions = conditionsAt(205, YEARS, 0.04);
  const volatilityAt = (mark: string) =>
    optionFiguresOf(contractOf(CALL), Price.of(mark), conditions).impliedVolatility;

  it('is left out within half a tick of the intrinsic value, and below it', () => {
    // 5.00 in the money, in nickels.
    for (const mark of ['4.00', '5.00', '5.02']) expect(volatilityAt(mark)).toBeUndefined();
    expect(volatilityAt('10')).toBeGreaterThan(0.1);
    expect(optionFiguresOf(contractOf(CALL), Price.of('5'), conditions).delta).toBeGreaterThan(0.9);
  });
});
