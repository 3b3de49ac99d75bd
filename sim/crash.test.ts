import { expect, it } from 'vitest';
import { crash } from './crash.js';

it('a server killed under load keeps exactly the acknowledged and submitted records', async () => {
  const report = await crash({ kills: 4, seed: 20_260_105, loadMs: 150 });
  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ lost: 0, phantom: 0, doubled: 0 });
  expect(report.kills).toBeGreaterThanOrEqual(4);
  expect(report.acks).toBeGreaterThan(40);
  expect(report.streamed).toBeGreaterThan(report.acks / 2);
}, 120_000);
