/** Worked examples of wash sales and of lots by premium (D243, D244). */
import { describe, expect, it } from 'vitest';
import type { BookEvent } from './book-event.js';
import type { LotMethod } from './lot-book.js';
import { type TaxBooks, taxBooksOf, type TaxSplit } from './taxes.js';
import { roundTripsOf } from './round-trips.js';
import { converted, traded } from './testing/events.js';

const taxes = (
  events: readonly BookEvent[],
  { method = 'FIFO', splits = [] }: { method?: LotMethod; splits?: readonly TaxSplit[] } = {},
): TaxBooks => taxBooksOf({ events, method, yearEnds: [], splits, washSales: true });

const disallowed = ({ gains }: TaxBooks): number =>
  gains.reduce((sum, { washSaleDisallowed }) => sum + washSaleDisallowed, 0);

describe('the rest of the purchase that was sold', () => {
  it.each([
    ['one execution', [100]],
    ['two executions', [60, 40]],
  ])('replaces nothing: %s of one order', (_, parts) => {
    const books = taxes([
      ...parts.map((quantity) => traded('2026-02-02', 'BUY', quantity, 100, { orderId: 'purchase' })),
      traded('2026-02-10', 'SELL', 40, 90),
    ]);
    expect(books.gains).toEqual([expect.objectContaining({ washSaleDisallowed: 0, gain: -400 })]);
    expect(books.lots.every(({ washSaleDisallowed }) => washSaleDisallowed === 0)).toBe(true);
  });

  it('replaces the shares sold if the same order buys it later', () => {
    const { gains, lots } = taxes([
      traded('2026-02-02', 'BUY', 50, 100, { orderId: 'gtc' }),
      traded('2026-02-10', 'SELL', 50, 90),
      traded('2026-02-12', 'BUY', 50, 92, { orderId: 'gtc' }),
    ]);
    expect(gains).toEqual([expect.objectContaining({ washSaleDisallowed: 500, gain: 0 })]);
    expect(lots).toEqual([expect.objectContaining({ costBasis: 5100 })]);
  });

  it('replaces the shares sold if the same order buys it on the same day, after the sale', () => {
    const books = taxes([
      traded('2026-02-02', 'BUY', 50, 100, { orderId: 'day' }),
      traded('2026-02-02', 'SELL', 50, 90),
      traded('2026-02-02', 'BUY', 50, 92, { orderId: 'day' }),
    ]);
    expect(disallowed(books)).toBe(500);
  });

  it('of another order of the same day replaces the shares sold', () => {
    const books = taxes([
      traded('2026-02-02', 'BUY', 100, 100),
      traded('2026-02-02', 'BUY', 100, 100),
      traded('2026-02-10', 'SELL', 100, 90),
    ]);
    expect(disallowed(books)).toBe(1000);
  });

  it('of an import replaces the shares sold only if it was acquired at another time', () => {
    const imported = (acquiredDate: string, price: number): BookEvent =>
      traded('2026-02-01', 'BUY', 100, price, {
        key: `import ${acquiredDate} ${price}`,
        by: 'IMPORT',
        transaction: `import ${acquiredDate}`,
        acquiredDate,
      });
    const { gains, lots } = taxes([
      imported('2025-06-02', 60),
      imported('2026-01-20', 52),
      traded('2026-02-02', 'SELL', 100, 50),
    ]);
    expect(gains).toEqual([expect.objectContaining({ washSaleDisallowed: 1000, gain: 0 })]);
    expect(lots).toEqual([
      expect.objectContaining({ costBasis: 6200, acquiredAt: '2026-01-20', holdingFrom: '2025-05-20' }),
    ]);
    const once = taxes([
      imported('2026-01-20', 60),
      imported('2026-01-20', 52),
      traded('2026-02-02', 'SELL', 100, 50),
    ]);
    expect(disallowed(once)).toBe(0);
  });

  it('of one assignment replaces nothing, whatever the premiums of its lots', () => {
    const put = { symbol: 'AAA260116P00100000', assetClass: 'OPTION', multiplier: 100 } as const;
    const books = taxes([
      traded('2026-01-05', 'SELL', 1, 1, put),
      traded('2026-01-06', 'SELL', 1, 2, put),
      converted('2026-01-16', 'ASSIGNMENT', 'BUY', 100, {
        symbol: put.symbol,
        quantity: 2,
        shares: { symbol: 'AAA', side: 'BUY', quantity: 200, cash: 20_000 },
      }),
      traded('2026-01-20', 'SELL', 100, 90),
    ]);
    expect(books.gains).toContainEqual(expect.objectContaining({ symbol: 'AAA', gain: -900 }));
    expect(disallowed(books)).toBe(0);
  });

  it('of a written option replaces nothing', () => {
    const call = { symbol: 'AAA260116C00100000', assetClass: 'OPTION', multiplier: 100 } as const;
    const books = taxes([traded('2026-01-05', 'SELL', 5, 1, call), traded('2026-01-07', 'BUY', 2, 3, call)]);
    expect(books.gains).toEqual([expect.objectContaining({ washSaleDisallowed: 0, gain: -400 })]);
  });
});

describe('a sale in several executions', () => {
  it('sells all of its shares at once: those of its later executions replace nothing', () => {
    const books = taxes([
      traded('2026-05-20', 'BUY', 100, 10),
      traded('2026-05-25', 'BUY', 100, 10),
      traded('2026-06-01', 'SELL', 100, 7.5, { orderId: 'sale' }),
      traded('2026-06-01', 'SELL', 100, 7.5, { orderId: 'sale' }),
    ]);
    expect(books.gains.map(({ gain }) => gain)).toEqual([-250, -250]);
  });

  it('is followed by the replacement when another order buys between its executions', () => {
    const { gains, lots } = taxes([
      traded('2026-05-20', 'BUY', 200, 10),
      traded('2026-06-01', 'SELL', 100, 7.5, { orderId: 'sale' }),
      traded('2026-06-01', 'BUY', 150, 7.5),
      traded('2026-06-01', 'SELL', 100, 7.5, { orderId: 'sale' }),
    ]);
    expect(gains.map(({ washSaleDisallowed }) => washSaleDisallowed)).toEqual([250, 125]);
    expect(lots.map(({ quantity, washSaleDisallowed }) => [quantity, washSaleDisallowed])).toEqual([
      [100, 250],
      [50, 125],
    ]);
  });
});

describe('a loss on covering a short', () => {
  const opened = traded('2026-02-02', 'SELL', 100, 40, { orderId: 'short' });
  const covered = traded('2026-02-10', 'BUY', 40, 45);

  it('counts where no other short sale is near', () => {
    expect(taxes([opened, covered]).gains).toEqual([
      expect.objectContaining({ gain: -200, washSaleDisallowed: 0 }),
    ]);
  });

  it('is added to the basis of the row that covers the replacement; its proceeds stay as confirmed', () => {
    const { gains, lots } = taxes([opened, covered, traded('2026-02-20', 'SELL', 40, 44)]);
    expect(gains).toEqual([expect.objectContaining({ gain: 0, washSaleDisallowed: 200 })]);
    expect(lots.at(-1)).toMatchObject({ quantity: 40, costBasis: 1760, washSaleDisallowed: 200 });
    const after = taxes(
      [opened, covered, traded('2026-02-20', 'SELL', 40, 44), traded('2026-04-20', 'BUY', 100, 30)],
      { method: 'LIFO' },
    );
    expect(after.gains.at(1)).toMatchObject({ quantity: 40, proceeds: 1760, costBasis: 1400, gain: 360 });
  });
});

describe('a split while nothing is held', () => {
  const split = (numerator: number, denominator: number): TaxSplit => ({
    at: Date.parse('2026-06-10T08:00:00Z'),
    symbol: 'AAA',
    numerator,
    denominator,
  });

  it.each([
    [10, 20, '4:1', split(4, 1), 20, 100],
    [40, 20, '1:4', split(1, 4), 10, 800],
    [3, 10, '3:2', split(3, 2), 3, 20],
  ])(
    '%d sold at a loss of %d each, %s: a purchase counts in new shares',
    (sold, loss, _, one, bought, expected) => {
      const books = taxes(
        [
          traded('2026-01-05', 'BUY', sold, 100),
          traded('2026-06-01', 'SELL', sold, 100 - loss),
          traded('2026-06-15', 'BUY', bought, 20),
        ],
        { splits: [one] },
      );
      expect(disallowed(books)).toBe(expected);
      expect(books.lots[0]).toMatchObject({ costBasis: 20 * bought + expected });
    },
  );
});

describe('HIFO of shorts', () => {
  it('covers the lowest proceeds first', () => {
    const { gains } = taxes(
      [
        traded('2026-01-05', 'SELL', 100, 40),
        traded('2026-01-06', 'SELL', 100, 50),
        traded('2026-06-01', 'BUY', 100, 45),
      ],
      { method: 'HIFO' },
    );
    expect(gains).toEqual([expect.objectContaining({ gain: -500 })]);
  });

  it('counts charges and the disallowed loss carried, and prefers the oldest of equal ones', () => {
    const { lots } = taxes(
      [
        traded('2026-01-05', 'SELL', 10, 41, { commission: 10, orderId: 'charged' }),
        traded('2026-01-06', 'SELL', 10, 40, { orderId: 'equal' }),
        traded('2026-01-07', 'SELL', 10, 40.5, { orderId: 'dear' }),
        traded('2026-06-01', 'BUY', 10, 30),
      ],
      { method: 'HIFO' },
    );
    expect(lots.map(({ orderIds }) => orderIds)).toEqual([['equal'], ['dear']]);
  });
});

describe('lots by premium (D244)', () => {
  const put = { symbol: 'AAA260116P00100000', assetClass: 'OPTION', multiplier: 100 } as const;
  const call = { symbol: 'AAA260116C00055000', assetClass: 'OPTION', multiplier: 100 } as const;
  const assigned: readonly BookEvent[] = [
    traded('2026-01-05', 'SELL', 5, 1, { ...put, orderId: 'first' }),
    traded('2026-01-06', 'SELL', 5, 2, { ...put, orderId: 'second' }),
    converted('2026-01-16', 'ASSIGNMENT', 'BUY', 100, {
      symbol: put.symbol,
      quantity: 10,
      shares: { symbol: 'AAA', side: 'BUY', quantity: 1000, cash: 100_000 },
    }),
  ];

  it.each<[LotMethod, number, number]>([
    ['FIFO', 3000, 49_000],
    ['LIFO', 3500, 49_500],
    ['HIFO', 3000, 49_000],
  ])('assigned puts of two premiums are two lots of shares: %s gains %d', (method, gain, basis) => {
    const { gains, lots } = taxes([...assigned, traded('2026-06-01', 'SELL', 500, 105)], { method });
    expect(gains).toEqual([expect.objectContaining({ symbol: 'AAA', gain })]);
    expect(lots).toEqual([expect.objectContaining({ quantity: 500, costBasis: basis })]);
  });

  it('LIFO assigns the latest contracts first, and the later contract is the later lot of shares', () => {
    const { lots } = taxes(
      [
        ...assigned.slice(0, 2),
        converted('2026-01-16', 'ASSIGNMENT', 'BUY', 100, {
          symbol: put.symbol,
          quantity: 7,
          shares: { symbol: 'AAA', side: 'BUY', quantity: 700, cash: 70_000 },
        }),
      ],
      { method: 'LIFO' },
    );
    expect(lots.map(({ symbol, quantity, costBasis }) => [symbol, quantity, costBasis])).toEqual([
      [put.symbol, 3, 300],
      ['AAA', 200, 19_800],
      ['AAA', 500, 49_000],
    ]);
  });

  it('shares that assigned calls close pair with their premiums, oldest first', () => {
    const events = [
      traded('2026-01-05', 'BUY', 100, 50),
      traded('2026-01-06', 'BUY', 100, 60),
      traded('2026-01-07', 'SELL', 1, 3, call),
      traded('2026-01-08', 'SELL', 1, 5, call),
      converted('2026-01-16', 'ASSIGNMENT', 'SELL', 55, {
        symbol: call.symbol,
        quantity: 2,
        shares: { symbol: 'AAA', side: 'SELL', quantity: 200, cash: 11_000 },
      }),
    ];
    expect(taxes(events).gains.map(({ gain }) => gain)).toEqual([800, 0]);
    const shares = roundTripsOf(events).trips.filter(({ symbol }) => symbol === 'AAA');
    expect(shares.map(({ exitPrice, grossPnl }) => [exitPrice, grossPnl])).toEqual([
      [58, 800],
      [60, 0],
    ]);
  });

  it('trades keep premiums of different orders apart, and join those of one order', () => {
    const { trips } = roundTripsOf([...assigned, traded('2026-06-01', 'SELL', 1000, 105)]);
    expect(
      trips
        .filter(({ symbol }) => symbol === 'AAA')
        .map(({ quantity, entryPrice }) => [quantity, entryPrice]),
    ).toEqual([
      [500, 99],
      [500, 98],
    ]);
    const [first, , end] = assigned;
    const second = traded('2026-01-05', 'SELL', 5, 2, { ...put, orderId: 'first' });
    const joined = roundTripsOf([first, second, end, traded('2026-06-01', 'SELL', 1000, 105)] as BookEvent[]);
    expect(joined.trips.filter(({ symbol }) => symbol === 'AAA')).toEqual([
      expect.objectContaining({ quantity: 1000, entryPrice: 98.5, grossPnl: 6500 }),
    ]);
  });

  it('cents that do not divide are in the last lot', () => {
    const { lots } = taxes([
      traded('2026-01-05', 'SELL', 1, 1, put),
      traded('2026-01-06', 'SELL', 1, 1, put),
      traded('2026-01-07', 'SELL', 1, 1, put),
      converted('2026-01-16', 'ASSIGNMENT', 'BUY', 100, {
        symbol: put.symbol,
        quantity: 3,
        shares: { symbol: 'AAA', side: 'BUY', quantity: 99, cash: 29_670.02 },
      }),
    ]);
    expect(lots.map(({ quantity, costBasis }) => [quantity, costBasis])).toEqual([
      [33, 9790],
      [33, 9790],
      [33, 9790.02],
    ]);
  });
});
