import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MarginExcess } from '../orders/margin-excess.js';
import { alwaysOpen } from '../calendar/always-open.js';
import { NO_MARKET } from '../testing/margin-legs.js';
import { testBroker, testEquity } from '../testing/market.js';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { Holding, MarginBook } from './book.js';
import { effectOf as effectOnChain, fitsExcess, marginRequiredBy } from './effect.js';
import type { MarginTrade } from './effect.js';
import { amountsOf } from './requirement.js';

const STOCKS = [
  testEquity('A'),
  testEquity('B', { leverageFactor: 2 }),
  testEquity('C', { leverageFactor: -3 }),
];

const stock = fc.constantFrom(...STOCKS);
const cents = fc.integer({ min: 1, max: 50_000 }).map((count) => Price.ofUnits(count * 1_000_000));
const shares = fc.integer({ min: -5000, max: 5000 }).map(Quantity.of);
const marginType = fc.constantFrom('REG_T' as const, 'PORTFOLIO' as const);

/** Whole shares at whole cents, each stock once: every percentage is exact. */
const holdings = fc.uniqueArray(fc.record({ instrument: stock, quantity: shares, mark: cents }), {
  selector: ({ instrument }) => instrument.symbol,
});

const trade = fc
  .record({ instrument: stock, quantity: shares, price: cents, charges: fc.nat({ max: 1000 }) })
  .map(({ charges, ...traded }): MarginTrade => tradeOf(traded, charges));

function tradeOf(traded: Omit<MarginTrade, 'cash'>, chargedCents: number): MarginTrade {
  const value = Money.of(traded.price, traded.quantity);
  return { ...traded, cash: Money.ofUnits(0 - value - chargedCents * 100) };
}

const bookOf = (held: readonly Holding[], type: MarginBook['marginType']): MarginBook => ({
  marginType: type,
  engine: undefined,
  house: testBroker('b'),
  asOf: Instant.ofMs(0),
  calendar: alwaysOpen,
  market: NO_MARKET,
  holdings: held,
});

/** Margin impact of a trade on a position in its instrument. */
function effectOf(book: MarginBook, held: Quantity, done: MarginTrade): MarginExcess {
  const { instrument, price: mark } = done;
  return effectOnChain(book, NO_MARKET, held === 0 ? [] : [{ instrument, quantity: held, mark }], done);
}

/** Margin excess of a whole portfolio with some cash. */
function headroomOf(book: MarginBook, cash: Money): MarginExcess {
  const { fed, house, counted } = amountsOf(book);
  const equity = Money.add(cash, counted);
  return { initial: Money.subtract(equity, fed), maintenance: Money.subtract(equity, house) };
}

const ownOf = (held: readonly Holding[], { instrument }: MarginTrade): Quantity =>
  held.find((holding) => holding.instrument === instrument)?.quantity ?? Quantity.zero;

/** Holdings with the instrument marked at the trade's price; after the trade, or before it if `done` is false. */
function marked(held: readonly Holding[], trade: MarginTrade, done: boolean): Holding[] {
  const { instrument, quantity, price } = trade;
  const before = ownOf(held, trade);
  const others = held.filter((holding) => holding.instrument !== instrument);
  return [...others, { instrument, quantity: done ? Quantity.add(before, quantity) : before, mark: price }];
}

it('the margin impact of a trade equals the change of the whole book', () => {
  fc.assert(
    fc.property(holdings, trade, marginType, (held, done, type) => {
      const before = headroomOf(bookOf(marked(held, done, false), type), Money.zero);
      const after = headroomOf(bookOf(marked(held, done, true), type), done.cash);
      const expected = MarginExcess.subtract(after, before);
      expect(effectOf(bookOf([], type), ownOf(held, done), done)).toEqual(expected);
    }),
  );
});

it('the margin impact grows with the trade and the position in its instrument', () => {
  fc.assert(
    fc.property(shares, trade, marginType, fc.integer({ min: 2, max: 9 }), (held, done, type, n) => {
      const terms = bookOf([], type);
      const effect = effectOf(terms, held, done);
      const times = (quantity: Quantity): Quantity => Quantity.ofUnits(quantity * n);
      const larger = { ...done, quantity: times(done.quantity), cash: Money.ofUnits(done.cash * n) };
      expect(effectOf(terms, times(held), larger)).toEqual({
        initial: effect.initial * n,
        maintenance: effect.maintenance * n,
      });
    }),
  );
});

it('margin effect: partial orders add up to the whole', () => {
  fc.assert(
    fc.property(shares, trade, marginType, shares, (held, done, type, part) => {
      const terms = bookOf([], type);
      const value = Money.of(done.price, part);
      const first = { ...done, quantity: part, cash: Money.negate(value) };
      const rest = {
        ...done,
        quantity: Quantity.subtract(done.quantity, part),
        cash: Money.add(done.cash, value),
      };
      const sum = MarginExcess.add(
        effectOf(terms, held, first),
        effectOf(terms, Quantity.add(held, part), rest),
      );
      expect(sum).toEqual(effectOf(terms, held, done));
    }),
  );
});

const orders = fc.array(
  fc.record({
    buy: fc.boolean(),
    quantity: fc.integer({ min: 1, max: 500 }).map(Quantity.of),
    worst: cents,
    /** Fill price in percent of the worst price. */
    percent: fc.integer({ min: 1, max: 100 }),
    charges: fc.nat({ max: 1000 }),
  }),
  { maxLength: 8 },
);

it('an accepted order that fills at or inside its worst price leaves no negative excess', () => {
  fc.assert(
    fc.property(fc.nat({ max: 500_000 }), orders, marginType, (dollars, asked, type) => {
      const start = { initial: Money.ofDollars(dollars), maintenance: Money.ofDollars(dollars) };
      let left: MarginExcess = start;
      const accepted: { readonly order: MarginTrade; readonly fill: MarginTrade }[] = [];
      for (const [i, { buy, quantity, worst, percent, charges }] of asked.entries()) {
        // Each order has its own stock, so that fills of one do not mark another.
        const traded = {
          instrument: testEquity(`S${i}`),
          quantity: buy ? quantity : Quantity.negate(quantity),
        };
        const price = Price.ofUnits(Math.ceil((worst / 1e8) * percent) * 1_000_000);
        const order = tradeOf({ ...traded, price: worst }, charges);
        const fill = tradeOf({ ...traded, price: Price.ofUnits(Math.min(price, worst)) }, charges);
        const effect = effectOf(bookOf([], type), Quantity.zero, order);
        if (!fitsExcess(effect, left)) continue;
        left = MarginExcess.subtract(left, marginRequiredBy(effect));
        accepted.push({ order, fill });
      }
      let cash = start.initial;
      const held: Holding[] = [];
      for (const { order, fill } of accepted) {
        const taken = marginRequiredBy(effectOf(bookOf([], type), Quantity.zero, order));
        const effect = effectOf(bookOf([], type), Quantity.zero, fill);
        const own = MarginExcess.add(left, taken);
        // Low-priced stock requires more the lower it is sold short: such a fill is checked again.
        const beyond = 0 - effect.initial > taken.initial || 0 - effect.maintenance > taken.maintenance;
        if (beyond && !fitsExcess(effect, own)) continue;
        left = MarginExcess.subtract(own, marginRequiredBy(effect));
        cash = Money.add(cash, fill.cash);
        held.push({ instrument: fill.instrument, quantity: fill.quantity, mark: fill.price });
        const now = headroomOf(bookOf(held, type), cash);
        expect(now.initial).toBeGreaterThanOrEqual(0);
        expect(now.maintenance).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
