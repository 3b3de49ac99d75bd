import { expect, it } from 'vitest';
import type { ClusterNode } from '../store/ownership.js';
import { reasonsAgainst } from './fitness.js';

const FACTS = { version: '1.0.0', rules: 'r', CLUSTER_SECRET: 's' };
const nodeOf = (incarnation: number, facts: Readonly<Record<string, string>> = FACTS): ClusterNode => ({
  incarnation,
  nodeId: `node-${incarnation}`,
  url: `http://node-${incarnation}`,
  version: '1.0.0',
  facts,
  unfit: [],
});

it('reasonsAgainst: a node whose clock differs by minutes takes no cells, whichever way it differs', () => {
  const node = nodeOf(1);
  expect(reasonsAgainst(node, [node], 500)).toEqual([]);
  expect(reasonsAgainst(node, [node], -500)).toEqual([]);
  expect(reasonsAgainst(node, [node], 180_000)).toEqual([
    "the clock of this machine is 180000 ms ahead of the database's",
  ]);
  expect(reasonsAgainst(node, [node], -180_000)).toEqual([
    "the clock of this machine is 180000 ms behind the database's",
  ]);
});

it('reasonsAgainst: names every difference of the younger node from the oldest one, and none of the oldest', () => {
  const oldest = nodeOf(1);
  const younger = nodeOf(2, { version: '1.1.0', rules: 'other', recordings: 'x', CLUSTER_SECRET: 's' });
  const nodes = [oldest, younger];
  expect(reasonsAgainst(oldest, nodes, 0)).toEqual([]);
  expect(reasonsAgainst(younger, nodes, 0)).toEqual([
    'version differs from that of node node-1',
    'rules differs from that of node node-1',
    'recordings differs from that of node node-1',
  ]);
});
