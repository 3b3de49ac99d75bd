import fc from 'fast-check';
import { expect, it } from 'vitest';
import { alwaysOpen } from '../../calendar/always-open.js';
import { optionContract } from '../../instruments/option-roots.js';
import { parseOsi } from '../../instruments/osi.js';
import { testBroker, testEquity } from '../../testing/market.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import type { Holding, MarginBook } from '../book.js';
import { requirementOf } from '../requirement.js';
import { KnownModels } from './known-models.js';

const NOON = Instant.ofMs(Date.UTC(2026, 0, 5, 17));

const price = (dollars: number): Price => Price.ofUnits(Math.round(dollars * 1e8));

/** Few different inputs, so that books share some of them and differ in others. */
const option = fc
  .record({
    underlying: fc.constantFrom('X', 'Y'),
    right: fc.constantFrom('C', 'P'),
    strike: fc.constantFrom(95, 105),
    dollars: fc.constantFrom(1, 7),
    count: fc.constantFrom(-2, 1),
  })
  .map(({ underlying, right, strike, dollars, count }): Holding => {
    const named = parseOsi(`${underlying}260320${right}${String(strike * 1000).padStart(8, '0')}`);
    const instrument = named && optionContract(named, {}, () => undefined);
    if (instrument === undefined) throw new Error('no option');
    return { instrument, quantity: Quantity.of(count), mark: price(dollars) };
  });

const book = fc
  .record({
    options: fc.uniqueArray(option, { maxLength: 4, selector: ({ instrument }) => instrument.symbol }),
    shares: fc.constantFrom(0, 100),
    engine: fc.constantFrom('TIMS' as const, 'SPAN' as const, 'SIMPLE' as const),
    spot: fc.constantFrom(90, 100),
    days: fc.constantFrom(0, 1),
    rate: fc.constantFrom(0.02, 0.04),
    dividend: fc.constantFrom(0, 0.5, 1),
    volatility: fc.constantFrom(undefined, 0.2),
  })
  .map(({ options, shares, engine, spot, days, rate, dividend, volatility }): MarginBook => ({
    marginType: 'PORTFOLIO',
    engine,
    house: testBroker('b'),
    asOf: Instant.plusMs(NOON, days * 86_400_000),
    calendar: alwaysOpen,
    market: {
      rate,
      ...(volatility !== undefined && { volatility: () => volatility }),
      underlying: (symbol) => ({
        price: price(spot),
        leverageFactor: 1,
        dividends:
          dividend === 0
            ? []
            : [
                {
                  type: 'CASH_DIVIDEND',
                  symbol,
                  exDate: TradingDate.of('2026-02-06'),
                  amountPerShare: price(dividend),
                },
              ],
      }),
    },
    holdings: [
      ...options,
      ...(shares === 0
        ? []
        : [{ instrument: testEquity('X'), quantity: Quantity.of(shares), mark: price(spot) }]),
    ],
  }));

it('known model values change no figure of a requirement', () => {
  fc.assert(
    fc.property(fc.array(book, { minLength: 2, maxLength: 6 }), (books) => {
      const models = new KnownModels();
      for (const one of books) expect(requirementOf({ ...one, models })).toEqual(requirementOf(one));
    }),
  );
});

it('an option is modeled once, until 1,024 others have been', () => {
  const models = new KnownModels();
  const modeled: string[] = [];
  const ask = (inputs: string): void => {
    models.of(inputs, () => {
      modeled.push(inputs);
      return {} as ReturnType<KnownModels['of']>;
    });
  };
  for (const inputs of ['a', 'a', 'b', 'a']) ask(inputs);
  expect(modeled).toEqual(['a', 'b']);
  for (let i = 0; i < 1023; i += 1) ask(String(i));
  modeled.length = 0;
  for (const inputs of ['b', 'a']) ask(inputs);
  expect(modeled).toEqual(['a']);
});
