import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PLANTED } from './cluster-faults/planted.js';
import { clusterFaults } from './cluster-faults.js';

it.each(Object.entries(PLANTED))(
  'The planted defect %s fits the compiled server',
  (_, { patch: { file, from } }) => {
    const compiled = readFileSync(new URL(`../packages/${file}`, import.meta.url), 'utf8');
    expect(compiled.split(from)).toHaveLength(2);
  },
);

it('A cluster that loses a node and its PostgreSQL keeps every acknowledged order once, and its streams go on', async () => {
  const report = await clusterFaults({ faults: 2, seed: 20_260_105, kinds: ['kill', 'database'] });
  expect(report).toMatchObject({ problems: [], faults: 2 });
  expect(report.acknowledged).toBeGreaterThan(50);
  expect(report.streamed).toBeGreaterThan(report.acknowledged);
}, 120_000);
