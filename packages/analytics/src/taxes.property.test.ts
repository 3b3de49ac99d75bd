/**
 * Taxes of random histories, computed a second time without any code of the product: after each event every loss is offered to every lot. Prices
 * are whole dollars and splits are powers of two, so that plain numbers are exact.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { BookEvent } from './book-event.js';
import type { LotMethod } from './lot-book.js';
import { taxBooksOf, type TaxSplit } from './taxes.js';

const DAY = 86_400_000;
const FIRST = Date.UTC(2024, 5, 3);
const dateOf = (day: number): string => new Date(FIRST + day * DAY).toISOString().slice(0, 10);

interface Life {
  readonly events: readonly BookEvent[];
  readonly splits: readonly TaxSplit[];
  /** The same life as the second computation reads it. */
  readonly steps: readonly Step[];
}

type Step =
  | {
      readonly kind: 'trade';
      readonly symbol: string;
      readonly day: number;
      readonly acquired: number;
      readonly signed: number;
      /** Dollars a unit, charges in it. */
      readonly price: number;
      readonly purchase: string;
    }
  | {
      readonly kind: 'convert';
      readonly symbol: string;
      readonly day: number;
      readonly contracts: number;
      readonly signed: number;
      readonly strike: number;
      readonly purchase: string;
    }
  | { readonly kind: 'split'; readonly factor: number };

const OPTIONS = {
  CALL: 'AAA261218C00020000',
  PUT: 'AAA261218P00020000',
} as const;

const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('trade' as const),
      wait: fc.constantFrom(0, 0, 1, 8, 25, 40, 200),
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      quantity: fc.constantFrom(16, 32, 64, 128),
      price: fc.integer({ min: 5, max: 30 }),
      fee: fc.constantFrom(0, 0, 1),
      /** Continues one of the latest orders of this side. */
      order: fc.constantFrom('new' as const, 'new' as const, 'last' as const, 'before' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('split' as const),
      wait: fc.constantFrom(1, 10),
      factor: fc.constantFrom(2, 0.5),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('option' as const),
      wait: fc.constantFrom(0, 1, 8),
      type: fc.constantFrom('CALL' as const, 'PUT' as const),
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      quantity: fc.constantFrom(1, 2, 4),
      price: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      wait: fc.constantFrom(0, 3, 20),
      type: fc.constantFrom('CALL' as const, 'PUT' as const),
      quantity: fc.constantFrom(1, 2, 4, 8),
      strike: fc.integer({ min: 8, max: 25 }),
      isWorthless: fc.boolean(),
    }),
  },
);

const imported = fc.array(
  fc.record({
    quantity: fc.constantFrom(16, 64),
    price: fc.integer({ min: 5, max: 30 }),
    daysAgo: fc.constantFrom(0, 5, 5, 20, 100, 400),
  }),
  { maxLength: 3 },
);

const BEGINS = 500;

function lifeOf(
  lots: readonly { quantity: number; price: number; daysAgo: number }[],
  actions: readonly (typeof action extends fc.Arbitrary<infer T> ? T : never)[],
): Life {
  const events: BookEvent[] = [];
  const splits: TaxSplit[] = [];
  const steps: Step[] = [];
  const held = new Map<string, number>();
  const factors = { 2: 0, 0.5: 0 };
  const orders: Record<'BUY' | 'SELL', string[]> = { BUY: [], SELL: [] };
  let day = BEGINS;
  const happened = (hour: number, key: string) => ({
    at: FIRST + day * DAY + hour * 3_600_000,
    date: dateOf(day),
    epoch: 1,
    key,
  });
  const trade = (
    symbol: string,
    side: 'BUY' | 'SELL',
    quantity: number,
    price: number,
    fee: number,
    more: { orderId?: string; transaction?: string; acquired?: number; by?: 'IMPORT' | 'EXPIRATION' } = {},
  ): void => {
    const isOption = symbol !== 'AAA';
    const multiplier = isOption ? 100 : 1;
    const { orderId, transaction, acquired = day, by = 'TRADE' } = more;
    const key = orderId ?? `event ${events.length}`;
    events.push({
      type: 'TRADED',
      ...happened(16, key),
      symbol,
      assetClass: isOption ? 'OPTION' : 'EQUITY',
      multiplier,
      by,
      side,
      quantity,
      price,
      value: price * quantity * multiplier,
      commission: fee * quantity,
      fees: 0,
      ...(orderId !== undefined && { orderId }),
      ...(transaction !== undefined && { transaction }),
      ...(by === 'IMPORT' && { acquiredDate: dateOf(acquired) }),
    });
    const way = side === 'BUY' ? 1 : -1;
    steps.push({
      kind: 'trade',
      symbol,
      day,
      acquired,
      signed: way * quantity,
      price: price * multiplier + way * fee,
      purchase: transaction ?? `${key} on ${day}`,
    });
    held.set(symbol, (held.get(symbol) ?? 0) + way * quantity);
  };
  for (const { quantity, price, daysAgo } of lots)
    trade('AAA', 'BUY', quantity, price, 0, {
      transaction: `import ${daysAgo}`,
      acquired: day - daysAgo,
      by: 'IMPORT',
    });
  for (const one of actions) {
    day += one.wait;
    switch (one.kind) {
      case 'trade': {
        const known = orders[one.side];
        const orderId =
          (one.order === 'last' ? known.at(-1) : one.order === 'before' ? known.at(-2) : undefined) ??
          `order ${events.length}`;
        if (!known.includes(orderId)) known.push(orderId);
        trade('AAA', one.side, one.quantity, one.price, one.fee, { orderId });
        break;
      }
      case 'option':
        trade(OPTIONS[one.type], one.side, one.quantity, one.price, 0, {
          orderId: `order ${events.length}`,
        });
        break;
      case 'split': {
        const times = one.factor === 2 ? 2 : 0.5;
        if (factors[times] === 2) break;
        factors[times] += 1;
        const [numerator, denominator] = times === 2 ? [2, 1] : [1, 2];
        const at = happened(8, `split ${day}`);
        splits.push({ at: at.at, symbol: 'AAA', numerator, denominator });
        const before = held.get('AAA') ?? 0;
        if (before !== 0) events.push({ type: 'RESTATED', ...at, symbol: 'AAA', numerator, denominator });
        held.set('AAA', before * times);
        steps.push({ kind: 'split', factor: times });
        break;
      }
      case 'end': {
        const symbol = OPTIONS[one.type];
        const position = held.get(symbol) ?? 0;
        const quantity = Math.min(one.quantity, Math.abs(position));
        if (quantity === 0) break;
        const isLong = position > 0;
        if (one.isWorthless) {
          trade(symbol, isLong ? 'SELL' : 'BUY', quantity, 0, 0, { by: 'EXPIRATION' });
          break;
        }
        const side = (one.type === 'CALL') === isLong ? 'BUY' : 'SELL';
        const key = `event ${events.length}`;
        events.push({
          type: 'CONVERTED',
          ...happened(21, key),
          symbol,
          assetClass: 'OPTION',
          multiplier: 100,
          commission: 0,
          fees: 0,
          by: isLong ? 'EXERCISE' : 'ASSIGNMENT',
          quantity,
          shares: { symbol: 'AAA', side, quantity: 100 * quantity, cash: one.strike * 100 * quantity },
        });
        const signed = (side === 'BUY' ? 100 : -100) * quantity;
        steps.push({
          kind: 'convert',
          symbol,
          day,
          contracts: quantity,
          signed,
          strike: one.strike,
          purchase: `${key} on ${day}`,
        });
        held.set(symbol, position + (isLong ? -quantity : quantity));
        held.set('AAA', (held.get('AAA') ?? 0) + signed);
        // Later events of the life fall on the next day.
        day += 1;
      }
    }
  }
  return { events, splits, steps };
}

interface Lot {
  readonly symbol: string;
  readonly isLong: boolean;
  quantity: number;
  /** A unit: paid for a long, received for a short. */
  price: number;
  /** Disallowed losses, a unit. */
  carried: number;
  readonly purchase: string;
  readonly step: number;
  readonly acquired: number;
  from: number;
  hasReplaced: boolean;
}

interface Row {
  readonly symbol: string;
  readonly isLong: boolean;
  readonly quantity: number;
  readonly proceeds: number;
  readonly basis: number;
  readonly acquired: number;
  readonly from: number;
  readonly sold: number;
  disallowed: number;
}

interface Loss {
  readonly row: Row;
  readonly purchase: string;
  readonly sale: string;
  readonly heldFrom: number;
  readonly step: number;
  left: number;
  each: number;
}

/** The second computation. */
class BruteForce {
  lots: Lot[] = [];
  readonly rows: Row[] = [];
  readonly #losses: Loss[] = [];
  readonly #method: LotMethod;
  readonly #steps: readonly Step[];

  constructor(method: LotMethod, steps: readonly Step[]) {
    this.#method = method;
    this.#steps = steps;
    for (const [number, step] of steps.entries()) {
      if (step.kind === 'split') this.#split(step.factor);
      else if (step.kind === 'trade')
        this.#move(step.symbol, step.signed, step.price, 0, step, number, step.acquired);
      else this.#convert(step, number);
      this.#disallow(number);
    }
  }

  #split(factor: number): void {
    for (const lot of this.lots.filter(({ symbol }) => symbol === 'AAA')) {
      lot.quantity *= factor;
      lot.price /= factor;
      lot.carried /= factor;
    }
    for (const loss of this.#losses.filter(({ row }) => row.symbol === 'AAA')) {
      loss.left *= factor;
      loss.each /= factor;
    }
  }

  #next(symbol: string): Lot | undefined {
    const own = this.lots.filter((lot) => lot.symbol === symbol);
    if (this.#method === 'FIFO') return own[0];
    if (this.#method === 'LIFO') return own.at(-1);
    const key = ({ isLong, price, carried }: Lot): number => (isLong ? price : -price) + carried;
    return own.find((lot) => own.every((other) => key(other) <= key(lot)));
  }

  /** Parts of lots that a quantity takes, by the method. */
  #take(symbol: string, quantity: number): Lot[] {
    const taken: Lot[] = [];
    for (let left = quantity; left > 0;) {
      const lot = this.#next(symbol);
      if (lot === undefined) throw new Error('more is taken than there is');
      const part = Math.min(left, lot.quantity);
      taken.push({ ...lot, quantity: part });
      lot.quantity -= part;
      left -= part;
      this.lots = this.lots.filter((one) => one.quantity > 0);
    }
    return taken;
  }

  #move(
    symbol: string,
    signed: number,
    price: number,
    carried: number,
    { day, purchase }: { readonly day: number; readonly purchase: string },
    step: number,
    acquired = day,
  ): void {
    const isBought = signed > 0;
    const held = this.lots
      .filter((lot) => lot.symbol === symbol && lot.isLong !== isBought)
      .reduce((sum, lot) => sum + lot.quantity, 0);
    const closes = Math.min(held, Math.abs(signed));
    for (const lot of this.#take(symbol, closes)) {
      const [proceeds, basis] = isBought ? [lot.price, price] : [price, lot.price];
      const row: Row = {
        symbol,
        isLong: lot.isLong,
        quantity: lot.quantity,
        proceeds: proceeds * lot.quantity,
        basis: (basis + lot.carried + carried) * lot.quantity,
        acquired: isBought ? day : lot.acquired,
        from: isBought ? day : lot.from,
        sold: day,
        disallowed: 0,
      };
      this.rows.push(row);
      const each = (row.basis - row.proceeds) / lot.quantity;
      if (each <= 0) continue;
      this.#losses.push({
        row,
        purchase: lot.purchase,
        sale: purchase,
        heldFrom: lot.from,
        step,
        left: lot.quantity,
        each,
      });
    }
    const opens = Math.abs(signed) - closes;
    if (opens > 0)
      this.lots.push({
        symbol,
        isLong: isBought,
        quantity: opens,
        price,
        carried,
        purchase,
        step,
        acquired,
        from: acquired,
        hasReplaced: false,
      });
  }

  #convert(event: Extract<Step, { kind: 'convert' }>, step: number): void {
    const each = event.signed / event.contracts;
    const parts = this.#take(event.symbol, event.contracts);
    // In order of opening; parts of one lot as they lie.
    const inOrder = this.#method === 'LIFO' ? parts.reverse() : [...parts].sort((a, b) => a.step - b.step);
    for (const { isLong, quantity, price, carried } of inOrder) {
      const premium = (isLong ? price + carried : -price) / 100;
      const value = event.signed > 0 ? event.strike + premium : event.strike - premium;
      this.#move('AAA', each * quantity, value, isLong ? 0 : carried / 100, event, step);
    }
  }

  /** Offers every loss of a sale that is over to every lot. */
  #disallow(step: number): void {
    const goesOn = (sale: string): boolean =>
      this.#steps.slice(step + 1).some((one) => one.kind !== 'split' && one.purchase === sale);
    for (const loss of this.#losses) {
      if (goesOn(loss.sale)) continue;
      for (let index = 0; index < this.lots.length && loss.left > 0; index += 1) {
        const lot = this.lots[index];
        if (lot === undefined || lot.symbol !== loss.row.symbol || lot.isLong !== loss.row.isLong) continue;
        if (lot.hasReplaced || Math.abs(lot.acquired - loss.row.sold) > 30) continue;
        if (lot.purchase === loss.purchase && lot.step < loss.step) continue;
        const part = Math.min(lot.quantity, loss.left);
        const rest = { ...lot, quantity: lot.quantity - part };
        lot.quantity = part;
        lot.carried += loss.each;
        lot.from -= loss.row.sold - loss.heldFrom;
        lot.hasReplaced = true;
        if (rest.quantity > 0) this.lots.splice(index + 1, 0, rest);
        loss.left -= part;
        loss.row.disallowed += part * loss.each;
      }
    }
  }
}

it.each<LotMethod>(['FIFO', 'LIFO', 'HIFO'])(
  'property: sales, lots and disallowed losses are those of a second computation, and no dollar is lost (%s)',
  (method) => {
    fc.assert(
      fc.property(imported, fc.array(action, { maxLength: 30 }), (lots, actions) => {
        const { events, splits, steps } = lifeOf(lots, actions);
        const books = taxBooksOf({ events, method, yearEnds: [], splits, washSales: true });
        const expected = new BruteForce(method, steps);
        expect(
          books.gains.map((row) => [
            row.symbol,
            row.quantity,
            row.acquiredAt,
            row.holdingFrom,
            row.soldAt,
            row.proceeds,
            row.costBasis,
            row.washSaleDisallowed,
            row.gain,
          ]),
        ).toEqual(
          expected.rows.map((row) => [
            row.symbol,
            row.quantity,
            dateOf(row.acquired),
            dateOf(row.from),
            dateOf(row.sold),
            row.proceeds,
            row.basis,
            row.disallowed,
            row.proceeds - row.basis + row.disallowed,
          ]),
        );
        const shown = books.lots.map((lot) => [
          lot.symbol,
          lot.side,
          lot.quantity,
          lot.acquiredAt,
          lot.holdingFrom,
          lot.costBasis,
          lot.washSaleDisallowed,
        ]);
        const open = expected.lots.map((lot) => [
          lot.symbol,
          lot.isLong ? 'LONG' : 'SHORT',
          lot.quantity,
          dateOf(lot.acquired),
          dateOf(lot.from),
          (lot.price + (lot.isLong ? lot.carried : 0)) * lot.quantity,
          lot.carried * lot.quantity,
        ]);
        for (const symbol of ['AAA', ...Object.values(OPTIONS)])
          expect(shown.filter(([of]) => of === symbol)).toEqual(open.filter(([of]) => of === symbol));
        const cash = steps.reduce((sum, step) => {
          if (step.kind === 'split') return sum;
          return sum - step.signed * (step.kind === 'trade' ? step.price : step.strike);
        }, 0);
        const held = books.lots.reduce(
          (sum, { side, costBasis, washSaleDisallowed }) =>
            sum + (side === 'LONG' ? costBasis : washSaleDisallowed - costBasis),
          0,
        );
        // Gains that count are the economic ones, and the rest of the disallowed losses is in open lots.
        expect(books.gains.reduce((sum, { gain }) => sum + gain, 0)).toBe(cash + held);
      }),
    );
  },
);
