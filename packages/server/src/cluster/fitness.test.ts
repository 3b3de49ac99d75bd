import { expect, it } from 'vitest';
import type { ClusterNode } from '../store/ownership.js';
import { kindsOf, reasonsAgainst } from './fitness.js';

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

it('kindsOf: another figure is no other reason, another direction or another node is', () => {
  const node = nodeOf(1);
  const kindsAt = (skewMs: number): string => kindsOf(reasonsAgainst(node, [node], skewMs));
  expect(kindsAt(180_000)).toBe(kindsAt(180_001));
  expect(kindsAt(180_000)).not.toBe(kindsAt(-180_000));
  expect(kindsAt(180_000)).not.toBe(kindsAt(0));
  const younger = nodeOf(3, { ...FACTS, rules: 'other' });
  expect(kindsOf(reasonsAgainst(younger, [nodeOf(1), younger], 0))).not.toBe(
    kindsOf(reasonsAgainst(younger, [nodeOf(2), younger], 0)),
  );
});
