import { hash } from 'node:crypto';
import type { ClusterNode } from '../store/ownership.js';

/** A node whose wall clock differs from the database's by more accepts no cells (D202). */
const MOST_SKEW_MS = 500;

/** The fact that identifies the nodes' signing secret. A node that differs does not start. */
export const JWT_FACT = 'JWT_SECRET';

/** Reason of a node that hands its tenants over and accepts no others. */
export const STOPPING = 'stopping';
/** Reason of a node that has handed its tenants over. */
export const STOPPED = 'stopped';

/** A digest of data that must be the same on all nodes. */
export const digestOf = (what: unknown): string => hash('sha256', JSON.stringify(what)).slice(0, 16);

/**
 * Reasons why a node accepts no cells: differences from the oldest node of the cluster, and a wrong clock. Empty = it accepts cells. The
 * oldest node decides, so that the nodes of a new version acquire tenants when the last one of the old version has left.
 */
export function reasonsAgainst(
  own: Pick<ClusterNode, 'incarnation' | 'facts'>,
  nodes: readonly ClusterNode[],
  skewMs: number,
): readonly string[] {
  const [oldest] = nodes;
  const reasons: string[] = [];
  if (oldest !== undefined && oldest.incarnation < own.incarnation)
    for (const name of new Set([...Object.keys(oldest.facts), ...Object.keys(own.facts)]))
      if (name !== JWT_FACT && oldest.facts[name] !== own.facts[name])
        reasons.push(`${name} differs from that of node ${oldest.nodeId}`);
  if (Math.abs(skewMs) > MOST_SKEW_MS)
    reasons.push(
      `the clock of this machine is ${Math.round(Math.abs(skewMs))} ms ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`,
    );
  return reasons;
}

/** Reasons without the figures in them, which change from second to second. */
export const kindsOf = (reasons: readonly string[]): string => JSON.stringify(reasons).replace(/\d+ ms/g, '');
