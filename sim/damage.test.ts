import { expect, it } from 'vitest';
import { damageRun } from './damage.js';

it('A damaged data directory is served without a difference, or refused with one clear message', async () => {
  const report = await damageRun({ copies: 12, seed: 20_260_302, starts: 0.1, verifies: 0.1 });
  expect(report.problems).toEqual([]);
  expect(report.whole).toBeGreaterThan(0);
  expect(report.refused).toBeGreaterThan(0);
}, 120_000);
