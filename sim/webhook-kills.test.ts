import { expect, it } from 'vitest';
import { webhookKills } from './webhook-kills.js';

it('A server with webhooks that is killed under load loses no event and repeats only what was under way', async () => {
  const report = await webhookKills({ kills: 3, seed: 7 });
  expect(report).toMatchObject({ kills: 3, lost: 0, madeUp: 0, outOfOrder: 0 });
  expect(report.expected).toBeGreaterThan(20);
  // 64 at once at most.
  expect(report.repeated).toBeLessThanOrEqual(3 * 64);
}, 120_000);
