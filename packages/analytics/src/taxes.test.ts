import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BookEvent } from './book-event.js';
import type { LotMethod } from './lot-book.js';
import { gainTotals, type TaxBooks, taxBooksOf, type YearEnd } from './taxes.js';
import { converted, restated, traded } from './testing/events.js';

const taxes = (
  events: readonly BookEvent[],
  { method = 'FIFO', yearEnds = [] }: { method?: LotMethod; yearEnds?: readonly YearEnd[] } = {},
): TaxBooks => taxBooksOf({ events, method, yearEnds, washSales: true });

describe('term of a gain', () => {
  it.each([
    ['2026-01-05', 'SHORT'],
    ['2026-01-06', 'LONG'],
  ])('bought on 2025-01-05 and sold on %s is %s', (sold, term) => {
    const { gains } = taxes([traded('2025-01-05', 'BUY', 1, 10), traded(sold, 'SELL', 1, 11)]);
    expect(gains[0]).toMatchObject({ term, acquiredAt: '2025-01-05', soldAt: sold, gain: 1 });
  });

  it.each([
    ['2025-02-28', 'SHORT'],
    ['2025-03-01', 'LONG'],
  ])('bought on 2024-02-28 and sold on %s is %s: the holding period begins on February 29', (sold, term) => {
    const { gains } = taxes([traded('2024-02-28', 'BUY', 1, 10), traded(sold, 'SELL', 1, 11)]);
    expect(gains[0]).toMatchObject({ term });
  });

  it('of a short sale is short, acquired when it is covered', () => {
    const { gains } = taxes([
      traded('2024-01-05', 'SELL', 10, 20),
      traded('2026-01-05', 'BUY', 10, 15, { settlementDate: '2026-01-06' }),
    ]);
    expect(gains[0]).toMatchObject({
      term: 'SHORT',
      acquiredAt: '2026-01-05',
      soldAt: '2026-01-05',
      gain: 50,
    });
  });

  it('of a short sale at a loss counts in the year in which the cover settles', () => {
    const { gains } = taxes([
      traded('2025-12-01', 'SELL', 10, 20),
      traded('2025-12-31', 'BUY', 10, 25, { settlementDate: '2026-01-02' }),
    ]);
    expect(gains[0]).toMatchObject({ soldAt: '2026-01-02', gain: -50 });
  });
});

describe('charges', () => {
  it('raise the basis and lower the proceeds', () => {
    const { gains } = taxes([
      traded('2026-01-05', 'BUY', 10, 10, { commission: 1 }),
      traded('2026-02-05', 'SELL', 10, 12, { commission: 1, fees: 0.02 }),
    ]);
    expect(gains[0]).toMatchObject({ costBasis: 101, proceeds: 118.98, gain: 17.98 });
  });
});

describe('exercise', () => {
  it('of a put that cost more than its strike lowers the proceeds below zero, so that no loss disappears', () => {
    const put = { symbol: 'AAA260116P00010000', assetClass: 'OPTION', multiplier: 100 } as const;
    const { gains, lots } = taxes([
      traded('2026-01-05', 'BUY', 100, 10),
      traded('2026-01-05', 'BUY', 1, 12, put),
      converted('2026-01-05', 'EXERCISE', 'SELL', 10, { symbol: put.symbol }),
    ]);
    expect(gains).toEqual([expect.objectContaining({ proceeds: -200, costBasis: 1000, gain: -1200 })]);
    expect(lots).toEqual([]);
  });
});

describe('wash sales', () => {
  it('Publication 550: the disallowed loss of 250 makes the basis of the new shares 1,050', () => {
    const { gains, lots } = taxes([
      traded('2026-01-05', 'BUY', 100, 10),
      traded('2026-06-01', 'SELL', 100, 7.5),
      traded('2026-06-20', 'BUY', 100, 8),
    ]);
    expect(gains[0]).toMatchObject({ washSaleDisallowed: 250, gain: 0, code: 'W', washSale: true });
    expect(lots[0]).toMatchObject({ costBasis: 1050, washSaleDisallowed: 250 });
  });

  it('26 CFR 1.1091-1(h) example 2: 75 of 100 shares are replaced, 250 of 1,000 can be deducted', () => {
    const { gains } = taxes([
      traded('2024-09-20', 'BUY', 100, 50),
      traded('2024-12-20', 'BUY', 50, 55),
      traded('2024-12-27', 'BUY', 25, 45),
      traded('2025-01-03', 'SELL', 100, 40),
    ]);
    expect(gains).toEqual([expect.objectContaining({ washSaleDisallowed: 750, gain: -250 })]);
  });

  it('26 CFR 1.1091-1(h) example 3: of four purchases of 50 the first two replace 100 shares', () => {
    const { gains, lots } = taxes([
      traded('2024-09-16', 'BUY', 100, 50),
      traded('2026-02-02', 'SELL', 100, 40),
      ...['2026-02-16', '2026-02-17', '2026-02-18', '2026-02-19'].map((date) => traded(date, 'BUY', 50, 40)),
    ]);
    expect(gains[0]).toMatchObject({ washSaleDisallowed: 1000, gain: 0 });
    expect(lots.map(({ washSaleDisallowed }) => washSaleDisallowed)).toEqual([500, 500, 0, 0]);
  });

  it.each([
    ['bought for 90', 90, 110],
    ['bought for 70', 70, 90],
  ])('26 CFR 1.1091-2: a share of 100 sold for 80 and %s has a basis of %d', (_, price, basis) => {
    const { lots } = taxes([
      traded('2024-01-02', 'BUY', 1, 100),
      traded('2025-01-15', 'SELL', 1, 80),
      traded('2025-02-03', 'BUY', 1, price),
    ]);
    expect(lots[0]?.costBasis).toBe(basis);
  });

  it.each([
    [30, 250],
    [31, 0],
  ])('a purchase %d days after the sale inherits a loss of %d', (days, disallowed) => {
    const { gains } = taxes([
      traded('2026-01-05', 'BUY', 100, 10),
      traded('2026-06-01', 'SELL', 100, 7.5),
      traded(
        new Date(Date.parse('2026-06-01') + days * 86_400_000).toISOString().slice(0, 10),
        'BUY',
        100,
        8,
      ),
    ]);
    expect(gains[0]?.washSaleDisallowed).toBe(disallowed);
  });

  it('shares sold in the same order replace nothing', () => {
    const { gains } = taxes([
      traded('2026-05-20', 'BUY', 100, 10),
      traded('2026-05-25', 'BUY', 100, 10),
      traded('2026-06-01', 'SELL', 200, 7.5),
    ]);
    expect(gains.map(({ washSaleDisallowed }) => washSaleDisallowed)).toEqual([0, 0]);
  });

  it('the holding period of the replacement counts the days of the shares sold', () => {
    const { lots, gains } = taxes([
      traded('2025-06-02', 'BUY', 10, 10),
      traded('2026-02-02', 'SELL', 10, 8),
      traded('2026-02-10', 'BUY', 10, 8),
      traded('2026-06-12', 'SELL', 10, 12),
    ]);
    expect(lots).toEqual([]);
    expect(gains[1]).toMatchObject({
      acquiredAt: '2026-02-10',
      holdingFrom: '2025-06-10',
      term: 'LONG',
      gain: 20,
    });
  });

  it('a replacement after a split is counted in new shares', () => {
    const { gains, lots } = taxes([
      traded('2026-01-05', 'BUY', 10, 100),
      traded('2026-06-01', 'SELL', 10, 80),
      restated('2026-06-10', 'AAA', 4, 1),
      traded('2026-06-15', 'BUY', 20, 20),
    ]);
    expect(gains[0]).toMatchObject({ washSaleDisallowed: 100, gain: -100 });
    expect(lots[0]).toMatchObject({ quantity: 20, costBasis: 500 });
  });

  it('shares from an assigned put replace the shares sold', () => {
    const put = { symbol: 'AAA260619P00080000', assetClass: 'OPTION', multiplier: 100 } as const;
    const { gains, lots } = taxes([
      traded('2026-01-05', 'BUY', 100, 100),
      traded('2026-06-01', 'SELL', 100, 90),
      traded('2026-06-01', 'SELL', 1, 2, put),
      converted('2026-06-19', 'ASSIGNMENT', 'BUY', 80, { symbol: put.symbol }),
    ]);
    expect(gains[0]).toMatchObject({ washSaleDisallowed: 1000, gain: 0 });
    expect(lots).toEqual([expect.objectContaining({ symbol: 'AAA', costBasis: 8800 })]);
  });

  it.each([
    ['long', 'BUY', 'SELL', 'EXERCISE', 4, 1, { side: 'LONG', costBasis: 10_700 }],
    [
      'short',
      'SELL',
      'BUY',
      'ASSIGNMENT',
      1,
      4,
      { side: 'SHORT', costBasis: 10_100, washSaleDisallowed: 300 },
    ],
  ] as const)(
    'a disallowed loss in a %s call is in the basis of the shares that it becomes',
    (_, open, close, by, first, last, shares) => {
      const call = { symbol: 'AAA260116C00100000', assetClass: 'OPTION', multiplier: 100 } as const;
      const { gains, lots } = taxes([
        traded('2026-01-05', open, 1, first, call),
        traded('2026-01-06', open, 1, first, call),
        traded('2026-01-07', close, 1, last, call),
        converted('2026-01-16', by, open, 100, { symbol: call.symbol }),
      ]);
      expect(gains).toEqual([expect.objectContaining({ washSaleDisallowed: 300, gain: 0 })]);
      expect(lots).toEqual([expect.objectContaining({ symbol: 'AAA', ...shares })]);
    },
  );

  it('a loss on covering is carried to a new short sale', () => {
    const { gains } = taxes([
      traded('2026-01-05', 'SELL', 10, 20),
      traded('2026-02-02', 'BUY', 10, 25),
      traded('2026-02-10', 'SELL', 10, 24),
      traded('2026-03-30', 'BUY', 10, 10),
    ]);
    expect(gains.map(({ gain, washSaleDisallowed }) => [gain, washSaleDisallowed])).toEqual([
      [0, 50],
      [90, 0],
    ]);
  });

  it('property: every disallowed loss is in the basis of the replacement shares', () => {
    const day = fc.integer({ min: 0, max: 200 });
    const trade = fc.record({
      day,
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      quantity: fc.integer({ min: 1, max: 300 }),
      price: fc.integer({ min: 100, max: 2000 }).map((cents) => cents / 100),
    });
    const dateOf = (offset: number): string =>
      new Date(Date.parse('2025-06-02') + offset * 86_400_000).toISOString().slice(0, 10);
    fc.assert(
      fc.property(
        fc.array(trade, { maxLength: 25 }),
        fc.constantFrom('FIFO' as const, 'LIFO' as const, 'HIFO' as const),
        (trades, method) => {
          const events = trades
            .toSorted((a, b) => a.day - b.day)
            .map(({ day: offset, side, quantity, price }) => traded(dateOf(offset), side, quantity, price));
          const { gains, lots } = taxes(events, { method });
          const units = (amount: number): number => Math.round(amount * 10_000);
          const total = (amounts: readonly number[]): number => amounts.reduce((sum, one) => sum + one, 0);
          const cash = total(events.map(({ side, value }) => units(side === 'SELL' ? value : -value)));
          const basis = total(
            lots.map(({ side, costBasis, washSaleDisallowed }) =>
              side === 'LONG' ? units(costBasis) : units(washSaleDisallowed) - units(costBasis),
            ),
          );
          expect(total(gains.map(({ gain }) => units(gain)))).toBe(cash + basis);
        },
      ),
    );
  });
});

describe('wash sales among thousands of lots', () => {
  const LOTS = 4_000;
  const bought = (): BookEvent[] => Array.from({ length: LOTS }, () => traded('2026-01-05', 'BUY', 1, 10));
  const sold = (date: string): BookEvent[] => Array.from({ length: LOTS }, () => traded(date, 'SELL', 1, 9));

  // Checking every pair of losses and lots after every sale would last hours.
  it.each<LotMethod>(['FIFO', 'LIFO'])(
    'sold one by one later than 30 days, all losses count (%s)',
    (method) => {
      const { gains, lots } = taxes([...bought(), ...sold('2026-03-05')], { method });
      expect(gains).toHaveLength(LOTS);
      expect(gains.every(({ gain, washSale }) => gain === -1 && !washSale)).toBe(true);
      expect(lots).toEqual([]);
    },
  );

  it.each<LotMethod>(['FIFO', 'LIFO'])(
    'sold one by one the day after, no loss is gone at the end (%s)',
    (method) => {
      const { gains } = taxes([...bought(), ...sold('2026-01-06')], { method });
      expect(gains.filter(({ washSale }) => washSale).length).toBeGreaterThan(LOTS / 4);
      expect(gains.reduce((sum, { gain }) => sum + gain, 0)).toBe(-LOTS);
    },
  );

  it('bought again one by one, every share absorbs the loss of one', () => {
    const { gains, lots } = taxes([
      traded('2026-01-05', 'BUY', LOTS, 10),
      ...sold('2026-03-05'),
      ...Array.from({ length: LOTS }, () => traded('2026-03-06', 'BUY', 1, 9)),
    ]);
    expect(gains.every(({ gain, washSaleDisallowed }) => gain === 0 && washSaleDisallowed === 1)).toBe(true);
    expect(lots).toHaveLength(LOTS);
    expect(lots.every(({ costBasis }) => costBasis === 10)).toBe(true);
  });
});

describe('Section 1256', () => {
  const es = { symbol: 'ESH26', assetClass: 'FUTURE', multiplier: 50, isSection1256: true } as const;
  const yearEnd: YearEnd = {
    at: Date.parse('2025-12-31T22:00:00Z'),
    date: '2025-12-31',
    marks: { ESH26: 6000 },
  };

  it('contracts held over the end of the year are marked, and continue at the mark', () => {
    const { gains } = taxes(
      [traded('2025-12-01', 'BUY', 1, 5900, es), traded('2026-01-15', 'SELL', 1, 5950, es)],
      { yearEnds: [yearEnd] },
    );
    expect(gains.map(({ soldAt, gain, term }) => [soldAt, gain, term])).toEqual([
      ['2025-12-31', 5000, 'SECTION_1256'],
      ['2026-01-15', -2500, 'SECTION_1256'],
    ]);
    expect(gainTotals(gains).SECTION_1256.gain).toBe(2500);
  });

  it('losses on them are never wash sales', () => {
    const { gains } = taxes([
      traded('2026-01-05', 'BUY', 1, 6000, es),
      traded('2026-01-06', 'SELL', 1, 5900, es),
      traded('2026-01-07', 'BUY', 1, 5900, es),
    ]);
    expect(gains[0]).toMatchObject({ washSale: false, gain: -5000 });
  });
});
