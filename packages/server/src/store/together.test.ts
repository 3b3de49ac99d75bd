import { describe, expect, it } from 'vitest';
import { Together } from './together.js';

describe('Work that is done together', () => {
  it('begins after each item of it was added, never twice at a time and for as many items as it may', async () => {
    const done: (readonly number[])[] = [];
    let underWay = 0;
    const doubled = new Together<number, number>(async (items) => {
      underWay += 1;
      expect(underWay).toBe(1);
      await Promise.resolve();
      done.push(items);
      underWay -= 1;
      return items.map((item) => 2 * item);
    }, 2);
    const first = doubled.add(1);
    const others = first.then(() => Promise.all([2, 3, 4].map((item) => doubled.add(item))));
    expect([await first, ...(await others)]).toEqual([2, 4, 6, 8]);
    expect(await doubled.add(5)).toBe(10);
    expect(done).toEqual([[1], [2, 3], [4], [5]]);
  });

  it('fails for the items that share it, and goes on with the next ones', async () => {
    const checked = new Together<number, number>(
      (items) => (items.includes(0) ? Promise.reject(new Error('refused')) : Promise.resolve(items)),
      2,
    );
    const outcomes = await Promise.allSettled([0, 1, 2].map((item) => checked.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });
});
