import type { Bar } from '@sandpit/protocol';
import { describe, expect, it } from 'vitest';
import { closeBefore, lineOfDay, readDays } from './watch-figures.ts';
import {
  addSet,
  addSymbol,
  MOST_SYMBOLS,
  moveSet,
  moveSymbol,
  nameProblem,
  removeSet,
  removeSymbol,
  renameSet,
  setsFrom,
  symbolsOf,
} from './watch-sets.ts';

const two = setsFrom(
  JSON.stringify({
    sets: [
      { name: 'Tech', symbols: ['AAPL', 'MSFT', 'NVDA'] },
      { name: 'Funds', symbols: [] },
    ],
    shown: 0,
  }),
);

describe('Watch lists', () => {
  it('keep the single list of earlier versions, and replace unusable data by the default list', () => {
    expect(setsFrom('["AAPL","AAPL",5]').sets).toEqual([{ name: 'Watch list', symbols: ['AAPL'] }]);
    for (const text of [null, '', '{', '7', '{"sets":7}', '{"sets":[]}', '{"sets":[{"name":1}]}'])
      expect(symbolsOf(setsFrom(text))).toEqual(['AAPL', 'MSFT', 'NVDA', 'SPY']);
    expect(setsFrom('{"sets":[{"name":"A","symbols":["X"]}],"shown":9}').shown).toBe(0);
  });

  it('add a symbol once, in capitals, up to the limit, and remove it', () => {
    expect(symbolsOf(addSymbol(two, ' spy '))).toEqual(['AAPL', 'MSFT', 'NVDA', 'SPY']);
    expect(addSymbol(two, 'aapl')).toEqual(two);
    expect(addSymbol(two, '  ')).toBe(two);
    expect(symbolsOf(removeSymbol(two, 'MSFT'))).toEqual(['AAPL', 'NVDA']);
    let full = two;
    for (let number = 0; number < 100; number++) full = addSymbol(full, `S${number}`);
    expect(symbolsOf(full)).toHaveLength(MOST_SYMBOLS);
  });

  it('move a symbol, not beyond the ends', () => {
    expect(symbolsOf(moveSymbol(two, 'MSFT', -1))).toEqual(['MSFT', 'AAPL', 'NVDA']);
    expect(symbolsOf(moveSymbol(two, 'MSFT', 1))).toEqual(['AAPL', 'NVDA', 'MSFT']);
    expect(moveSymbol(two, 'AAPL', -1)).toEqual(two);
    expect(moveSymbol(two, 'ELSE', 1)).toEqual(two);
  });

  it('are made, renamed, reordered and removed; the last one stays, empty', () => {
    const three = addSet(two, ' Oil ');
    expect([three.sets.map(({ name }) => name), three.shown]).toEqual([['Tech', 'Funds', 'Oil'], 2]);
    const up = moveSet(three, -1);
    expect([up.sets.map(({ name }) => name), up.shown]).toEqual([['Tech', 'Oil', 'Funds'], 1]);
    expect(moveSet(three, 1)).toBe(three);
    expect(renameSet(up, 'Energy').sets[1]?.name).toBe('Energy');
    const left = removeSet(removeSet(up));
    expect([left.sets.map(({ name }) => name), left.shown]).toEqual([['Tech'], 0]);
    expect(removeSet(left)).toEqual({ sets: [{ name: 'Tech', symbols: [] }], shown: 0 });
  });

  it('have names of their own', () => {
    expect(nameProblem(two, ' ')).toBe('Enter a name.');
    expect(nameProblem(two, 'tech')).toBe('Another list has this name.');
    expect(nameProblem(two, 'tech', 0)).toBeUndefined();
    expect(nameProblem(two, 'x'.repeat(41))).toBe('A name has at most 40 characters.');
  });
});

const bar = (at: string, close: number): Bar => ({
  timestamp: Date.parse(at),
  open: close,
  high: close,
  low: close,
  close,
  volume: 1,
});

describe('Days of watched symbols', () => {
  it('the line has the bars of the last day in New York', () => {
    const bars = [
      bar('2026-01-05T20:55:00Z', 1),
      bar('2026-01-06T14:30:00Z', 2),
      bar('2026-01-07T00:30:00Z', 3),
    ];
    expect(lineOfDay(bars).map(({ value }) => value)).toEqual([2, 3]);
    expect(lineOfDay([])).toEqual([]);
  });

  it('the change of the day is from the close before it, after the close as well', () => {
    const days = [bar('2026-01-05T14:30:00Z', 100), bar('2026-01-06T14:30:00Z', 110)];
    expect(closeBefore(days, Date.parse('2026-01-07T15:00:00Z'))).toBe(110);
    expect(closeBefore(days, Date.parse('2026-01-06T22:00:00Z'))).toBe(100);
    expect(closeBefore([], Date.parse('2026-01-06T22:00:00Z'))).toBeUndefined();
  });

  it('are read with two requests for fifty symbols, and name unlisted ones', async () => {
    const asked: string[] = [];
    const broker = {
      call: (id: string, given?: { readonly body: { readonly symbols: readonly string[] } }) => {
        asked.push(`${id} ${given?.body.symbols.length ?? 0}`);
        return Promise.resolve(
          id === 'getMarketHours'
            ? { now: '2026-01-06T16:00:00Z' }
            : {
                data: (given?.body.symbols ?? [])
                  .filter((symbol) => symbol !== 'S1')
                  .map((symbol) => ({ symbol, bars: [bar('2026-01-05T14:30:00Z', 100)] })),
              },
        );
      },
    } as unknown as Parameters<typeof readDays>[0];
    const days = await readDays(
      broker,
      Array.from({ length: 50 }, (_, number) => `S${number}`),
    );
    expect(asked.sort()).toEqual(['getBarsOfSymbols 50', 'getBarsOfSymbols 50', 'getMarketHours 0']);
    expect(days.get('S1')).toBeNull();
    expect(days.get('S2')).toMatchObject({ before: 100 });
  });
});
