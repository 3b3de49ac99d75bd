import { describe, expect, it } from 'vitest';
import { Quantity } from '../../src/values/quantity.js';
import { percent, price, TestEntry } from './entry.js';

const CALL = 'AAPL260116C00100000';

describe('the rules of a competition (D195)', () => {
  it('assetClasses: refuses to open positions in other classes', () => {
    const entry = new TestEntry({ assetClasses: ['OPTION'] });
    entry.quote(CALL, 2);
    expect(entry.submit({ quantity: 1 })).toBe('COMPETITION_RULE assetClasses');
    expect(entry.m.place(entry.portfolio, { symbol: CALL, quantity: 1 })).toBeTypeOf('string');
  });

  it('symbols: refuses to open other symbols, and options on them', () => {
    const entry = new TestEntry({ assetClasses: ['EQUITY', 'OPTION'], symbols: ['MSFT'] });
    entry.quote('MSFT', 100);
    entry.quote(CALL, 2);
    expect(entry.submit({ quantity: 1 })).toBe('COMPETITION_RULE symbols');
    expect(entry.submit({ symbol: CALL, quantity: 1 })).toBe('COMPETITION_RULE symbols');
    entry.buy('MSFT', 1);
  });

  it('optionLevel: refuses orders that require a higher level than the competition allows', () => {
    const entry = new TestEntry({ assetClasses: ['EQUITY', 'OPTION'], optionLevel: 1 });
    entry.quote(CALL, 2);
    // A long call is level 2, a covered call level 1.
    expect(entry.submit({ symbol: CALL, quantity: 1 })).toBe('COMPETITION_RULE optionLevel');
    expect(entry.submit({ symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' })).toBe(
      'COMPETITION_RULE optionLevel',
    );
    entry.buy('AAPL', 100);
    entry.m.place(entry.portfolio, { symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' });
    // The shares that cover it cannot be sold, as at a broker of that level.
    expect(entry.submit({ quantity: 100, intent: 'SELL_TO_CLOSE' })).toBe('INSUFFICIENT_POSITION');
    expect(entry.submit({ symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' })).toBe(
      'COMPETITION_RULE optionLevel',
    );
  });

  it('shortSelling: refuses short sales of shares', () => {
    const entry = new TestEntry({ shortSelling: false });
    expect(entry.submit({ quantity: 1, intent: 'SELL_TO_OPEN' })).toBe('COMPETITION_RULE shortSelling');
  });

  it('latencyProfile: delays every order, regardless of its symbol', () => {
    const entry = new TestEntry({ latencyProfile: 'RETAIL' });
    const order = entry.m.place(entry.portfolio, {
      quantity: 1,
      more: { latencyProfile: 'CUSTOM', latencyMs: 0 },
    });
    expect(entry.m.terms(order)).toMatchObject({ latencyProfile: 'RETAIL' });
    expect(entry.m.fills(order)).toEqual([]);
  });

  it('minPrice: refuses to open below the last price that the competition asks for', () => {
    const entry = new TestEntry({ minPrice: price(5) });
    entry.quote('F', 4.99);
    expect(entry.submit({ symbol: 'F', quantity: 1 })).toBe('COMPETITION_RULE minPrice');
    entry.quote('F', 5);
    const bought = entry.buy('F', 1);
    expect(entry.m.fills(bought)).toEqual(['1 @ 5']);
    // Closing is possible at any price.
    entry.quote('F', 1);
    entry.m.place(entry.portfolio, { symbol: 'F', quantity: 1, intent: 'SELL_TO_CLOSE' });
  });

  it('maxOrdersPerMinute: counts accepted orders by the minute of the clock, closing ones too', () => {
    const entry = new TestEntry({ maxOrdersPerMinute: 2 });
    entry.buy('AAPL', 2);
    const order = entry.m.place(entry.portfolio, { quantity: 1, limit: '50.00' });
    const third = { quantity: 1, intent: 'SELL_TO_CLOSE' } as const;
    expect(entry.submit(third)).toBe('COMPETITION_RULE maxOrdersPerMinute');
    entry.m.cancel(order);
    expect(entry.submit(third)).toBe('COMPETITION_RULE maxOrdersPerMinute');
    entry.m.advanceTo('2026-01-05', 10, 1);
    entry.m.place(entry.portfolio, third);
  });
});

describe('maxPositionPercent of a competition (D195)', () => {
  const limited = (limit = 50): TestEntry =>
    new TestEntry({ assetClasses: ['EQUITY', 'OPTION'], maxPosition: percent(limit) });
  const REFUSED = 'COMPETITION_RULE maxPositionPercent';

  it('limits a position, short ones too, to the percentage of equity', () => {
    const entry = limited();
    expect(entry.submit({ quantity: 501 })).toBe(REFUSED);
    expect(entry.submit({ quantity: 501, intent: 'SELL_TO_OPEN' })).toBe(REFUSED);
    entry.buy('AAPL', 500);
    expect(entry.submit({ quantity: 1 })).toBe(REFUSED);
  });

  it('limits leverage: positions in several symbols are limited each', () => {
    const entry = limited(40);
    for (const symbol of ['MSFT', 'KO', 'SPY']) {
      entry.quote(symbol, 100);
      entry.buy(symbol, 400);
      expect(entry.submit({ symbol, quantity: 1 })).toBe(REFUSED);
    }
  });

  it('counts open orders at their worst price, and an order that is changed', () => {
    const entry = limited();
    const open = entry.m.place(entry.portfolio, { quantity: 300, limit: '99.00' });
    expect(entry.submit({ quantity: 300, limit: '99.00' })).toBe(REFUSED);
    expect(entry.m.replace(open, { quantity: 506 })).toMatchObject({ rule: 'maxPositionPercent' });
    expect(entry.m.replace(open, { quantity: 400 })).toBeUndefined();
    entry.m.cancel(open);
    const low = entry.m.place(entry.portfolio, { quantity: 500, limit: '90.00' });
    expect(entry.m.replace(low, { limit: '101.00' })).toMatchObject({ rule: 'maxPositionPercent' });
  });

  it('counts orders for an amount of money', () => {
    const entry = limited();
    expect(entry.submit({ notional: '50001.00' })).toBe(REFUSED);
    entry.m.place(entry.portfolio, { notional: '47000.00' });
  });

  it('counts options on the symbol together with its shares', () => {
    const entry = limited();
    entry.quote(CALL, 10);
    entry.buy('AAPL', 400);
    // 40,000 dollars of shares and 1,000 for each contract.
    expect(entry.submit({ symbol: CALL, quantity: 11, limit: '10.00' })).toBe(REFUSED);
    entry.m.place(entry.portfolio, { symbol: CALL, quantity: 10, limit: '10.00' });
  });

  it('always allows to close', () => {
    const entry = limited();
    entry.buy('AAPL', 500);
    entry.quote('AAPL', 150);
    expect(entry.submit({ quantity: 1 })).toBe(REFUSED);
    entry.m.place(entry.portfolio, { quantity: 500, intent: 'SELL_TO_CLOSE' });
    expect(entry.held('AAPL')).toBe(0);
  });
});

describe('the exercise of an option in a competition (D195)', () => {
  /** An entry that holds ten calls or puts, whose refusal of an exercise is returned. */
  const exercise = (
    rules: ConstructorParameters<typeof TestEntry>[0],
    symbol: string,
    shares = 0,
    quantity = 10,
  ): string | undefined => {
    const entry = new TestEntry({ assetClasses: ['EQUITY', 'OPTION'], ...rules });
    entry.quote(symbol, 2);
    entry.buy(symbol, 10);
    if (shares > 0) entry.buy('AAPL', shares);
    const { m, portfolio: portfolioId } = entry;
    const { result } = m.execute<'ExerciseOption'>({
      type: 'ExerciseOption',
      by: m.by,
      portfolioId,
      symbol,
      quantity: Quantity.of(quantity),
    });
    return 'code' in result && 'rule' in result ? `${result.code} ${result.rule}` : undefined;
  };
  const PUT = 'AAPL260116P00100000';

  it('is refused when it opens shares that an order could not open', () => {
    expect(exercise({ assetClasses: ['OPTION'] }, CALL)).toBe('COMPETITION_RULE assetClasses');
    expect(exercise({ symbols: [CALL] }, CALL)).toBe('COMPETITION_RULE symbols');
    expect(exercise({ shortSelling: false }, PUT)).toBe('COMPETITION_RULE shortSelling');
    expect(exercise({ maxPosition: percent(50) }, CALL)).toBe('COMPETITION_RULE maxPositionPercent');
    expect(exercise({}, CALL)).toBeUndefined();
    expect(exercise({ maxPosition: percent(50) }, CALL, 0, 4)).toBeUndefined();
  });

  it('passes every rule when it delivers shares that are held', () => {
    expect(exercise({ shortSelling: false, maxPosition: percent(50) }, PUT, 400, 4)).toBeUndefined();
    expect(exercise({ shortSelling: false }, PUT, 400, 5)).toBe('COMPETITION_RULE shortSelling');
  });
});

describe('trading in a competition (D195)', () => {
  it('orders before the start, in a pause and after the end are refused with COMPETITION_NOT_RUNNING', () => {
    const entry = new TestEntry({}, 'OPEN');
    expect(entry.submit({ quantity: 1 })).toBe('COMPETITION_NOT_RUNNING');
    entry.phase('RUNNING');
    const open = entry.m.place(entry.portfolio, { quantity: 1, limit: '50.00', tif: 'GTC' });
    entry.phase('PAUSED');
    expect(entry.submit({ quantity: 1 })).toBe('COMPETITION_NOT_RUNNING');
    expect(entry.m.replace(open, { limit: '51.00' })?.code).toBe('COMPETITION_NOT_RUNNING');
    expect(entry.m.order(open).status).toBe('ACTIVE');
    entry.phase('RUNNING');
    entry.m.advanceTo('2026-01-07', 16);
    expect(entry.competition.phase).toBe('FINISHED');
    expect(entry.m.order(open)).toMatchObject({ status: 'CANCELED', cancelReason: 'COMPETITION' });
    expect(entry.submit({ quantity: 1 })).toBe('COMPETITION_NOT_RUNNING');
    // A competition that is over does not begin again.
    entry.phase('RUNNING');
    expect(entry.competition.phase).toBe('FINISHED');
  });

  it('equity is recorded at the start, at full hours and closes, and at the end', () => {
    const entry = new TestEntry();
    entry.buy('AAPL', 100);
    entry.quote('AAPL', 110);
    entry.m.advanceTo('2026-01-07', 17);
    const points = entry.competition.points.map(({ at, equity }) => [
      entry.m.time(at)?.slice(5, 16),
      equity / 10_000,
    ]);
    // The hours from 10 to 15 and the closes of three days; the start is the hour of the first.
    expect(points).toHaveLength(21);
    expect(points[0]).toEqual(['01-05T10:00', 100_000]);
    expect(points[1]).toEqual(['01-05T11:00', 101_000]);
    expect(points.at(-1)).toEqual(['01-07T16:00', 101_000]);
  });

  it('a withdrawn or disqualified entry trades no more, and its orders are canceled', () => {
    for (const status of ['WITHDRAWN', 'DISQUALIFIED'] as const) {
      const entry = new TestEntry();
      const open = entry.m.place(entry.portfolio, { quantity: 1, limit: '50.00' });
      entry.m.execute<'RemoveEntry'>({ type: 'RemoveEntry', status });
      expect(entry.m.order(open).cancelReason).toBe('COMPETITION');
      expect(entry.submit({ quantity: 1 })).toBe('COMPETITION_NOT_RUNNING');
      expect(entry.competition.removed).toMatchObject({ status, at: entry.m.now });
    }
  });
});
