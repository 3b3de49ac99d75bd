import { hash32 } from '@sandpit/core';
import { describe, expect, test } from 'vitest';
import { BrownianPath } from './brownian-path.js';
import type { Draws } from './brownian-path.js';

const ROOT_THREE = Math.sqrt(3);
/** Uniform draws with variance 1. */
const draws: Draws = {
  bound: ROOT_THREE,
  of: (second) => (2 * (hash32(7, 11, second) / 2 ** 32) - 1) * ROOT_THREE,
};
const START = 1_767_000_000;

describe('BrownianPath', () => {
  test('returns the same value for a second, in any order of reads', () => {
    const walked = new BrownianPath(draws);
    const forward = Array.from({ length: 5000 }, (_, i) => walked.at(START + i));
    const backwards = new BrownianPath(draws);
    for (let i = 4999; i >= 0; i -= 7) expect(backwards.at(START + i)).toBe(forward[i]);
    for (let i = 0; i < 200; i++) {
      const index = hash32(1, 2, i) % 5000;
      expect(new BrownianPath(draws).at(START + index)).toBe(forward[index]);
      expect(backwards.at(START + index)).toBe(forward[index]);
    }
  });

  test('is continuous across block boundaries, and before 1970', () => {
    const path = new BrownianPath(draws);
    for (const cut of [105 * 2 ** 24, 0, -(2 ** 24)]) {
      for (let second = cut - 50; second < cut + 50; second++) {
        expect(Math.abs(path.at(second + 1) - path.at(second))).toBeLessThan(10);
      }
    }
  });

  test('moves by 1 per second and √n per n seconds', () => {
    const path = new BrownianPath(draws);
    for (const step of [1, 60, 3600]) {
      let squares = 0;
      for (let i = 0; i < 4000; i++) {
        const change = path.at(START + (i + 1) * step) - path.at(START + i * step);
        squares += change * change;
      }
      expect(Math.sqrt(squares / 4000 / step)).toBeGreaterThan(0.9);
      expect(Math.sqrt(squares / 4000 / step)).toBeLessThan(1.1);
    }
  });

  test('explore: finds the true extremes and skips most of the seconds', () => {
    const path = new BrownianPath(draws);
    const from = START + 12_345;
    const until = from + 20_000;
    const values = Array.from({ length: until - from }, (_, i) => path.at(from + i));
    let highest = values[0]!;
    let visited = 0;
    path.explore(
      from,
      until,
      (_, high) => high >= highest,
      (second, value) => {
        visited++;
        expect(value).toBe(values[second - from]);
        highest = Math.max(highest, value);
      },
    );
    expect(highest).toBe(values.reduce((a, b) => Math.max(a, b)));
    expect(visited).toBeLessThan(3000);
  });
});
