import { hash } from 'node:crypto';
import type { ClusterNode } from '../store/ownership.js';

/**
 * The node that should have a tenant: the one whose hash with the tenant is the largest. A node that joins or leaves moves only the tenants
 * that it gains or had. Undefined if no node accepts cells.
 */
export function preferredNode(tenantId: string, nodes: readonly ClusterNode[]): ClusterNode | undefined {
  let best: ClusterNode | undefined;
  let most = '';
  for (const node of nodes) {
    if (node.unfit.length > 0) continue;
    const weight = hash('sha256', `${node.nodeId}\n${node.url}\n${tenantId}`);
    if (best === undefined || weight > most) [best, most] = [node, weight];
  }
  return best;
}
