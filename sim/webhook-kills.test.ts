import { expect, it } from 'vitest';
import { webhookKills } from './webhook-kills.js';

it('a server with webhooks killed under load loses no event and repeats only deliveries in progress', async () => {
  const report = await webhookKills({ kills: 3, seed: 7 });
  expect(report).toMatchObject({ kills: 3, lost: 0, madeUp: 0, outOfOrder: 0 });
  expect(report.expected).toBeGreaterThan(20);
  // 64 at once at most.
  expect(report.repeated).toBeLessThanOrEqual(3 * 64);
}, 120_000);
