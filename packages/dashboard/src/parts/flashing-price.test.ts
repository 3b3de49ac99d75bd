import { expect, it } from 'vitest';
import { moveOf } from './flashing-price.tsx';

it('a price flashes up or down when it moves, not at first and not while it stays', () => {
  expect([moveOf(undefined, 10), moveOf(10, 10), moveOf(10, undefined)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect([moveOf(10, 10.01), moveOf(10, 9.99)]).toEqual(['up', 'down']);
});
