import { hostname } from 'node:os';
import type { ClusterNodeState, ClusterTenant } from '@sandpit/protocol';
import type { Cluster } from '../../cluster/cluster.js';
import type { ClusterReport } from '../../cluster/cluster.js';
import { MAINS, MAIN } from '../../engine/values/cell-names.js';
import type { Simulations } from '../../engine/directory/simulations.js';
import { MARKET_TENANT } from '../../store/ownership.js';
import type { Placement } from '../../store/ownership.js';
import type { Store } from '../../store/store.js';
import type { Handlers } from '../call.js';

/** Tenants in one answer. */
const MOST_TENANTS = 1_000;

interface ClusterDeps {
  readonly store: Store;
  readonly simulations: Simulations;
  readonly version?: string;
  readonly cluster?:
    { readonly cluster: Cluster; readonly settings: { readonly nodeId: string } } | undefined;
}

/** Nodes, tenants and cells of a cluster (D201); of a server that is alone, itself. */
export function clusterHandlers(deps: ClusterDeps): Pick<Handlers, 'getCluster'> {
  return {
    async getCluster({ query: { tenantId } }) {
      const { cluster } = deps;
      if (cluster === undefined) return { ...alone(deps), ...(tenantId !== undefined && { cells: [] }) };
      const report = await cluster.cluster.report();
      const tenants = tenantsOf(report);
      const cells = tenantId === undefined ? undefined : await cluster.cluster.cellsOf(tenantId);
      const market = tenants.find((one) => one.tenantId === MARKET_TENANT);
      const others = tenants.filter((one) => one.tenantId !== MARKET_TENANT);
      const asked = tenantId === undefined ? others : others.filter((one) => one.tenantId === tenantId);
      return {
        nodeId: cluster.settings.nodeId,
        durability: report.isReplicated ? 'REPLICATED' : 'LOCAL',
        nodes: report.nodes.map(nodeStateOf),
        ...(market !== undefined && { market: { ...market, tenantId: 'market' } }),
        tenantCount: others.length,
        tenants: asked.slice(0, MOST_TENANTS),
        ...(cells !== undefined && {
          cells: cells.map((cell) => ({
            ...cell,
            simulationId: cell.simulationId.startsWith(MAINS) ? MAIN : cell.simulationId,
          })),
        }),
      };
    },
  };
}

function alone({ store, simulations, version = '0.1.0' }: ClusterDeps) {
  const all = store.registry.simulations();
  const tenants = new Set(all.flatMap(({ tenantId }) => tenantId ?? []));
  const nodeId = hostname();
  const state: ClusterNodeState = {
    nodeId,
    incarnation: 0,
    version,
    status: 'LIVE',
    reasons: [],
    tenants: tenants.size,
    cells: all.length,
    lag: { history: store.history.health().behind, market: 0 },
  };
  const ids = [...tenants].sort().slice(0, MOST_TENANTS);
  return {
    nodeId,
    durability: 'LOCAL' as const,
    nodes: [state],
    ...(all.some(({ id }) => id === simulations.market.id) && {
      market: { tenantId: 'market', nodeId, epoch: 1 },
    }),
    tenantCount: tenants.size,
    tenants: ids.map((tenantId) => ({ tenantId, nodeId, epoch: 1 })),
  };
}

function nodeStateOf(node: ClusterReport['nodes'][number]): ClusterNodeState {
  const { nodeId, url, incarnation, version, unfit, status } = node;
  return {
    nodeId,
    url,
    incarnation,
    version,
    status: status === undefined ? 'SILENT' : 'LIVE',
    reasons: [...unfit],
    ...(status !== undefined && {
      tenants: status.tenants,
      cells: status.cells,
      lag: { history: status.historyLag, market: status.marketLag },
      clockSkewMs: status.clockSkewMs,
    }),
  };
}

function tenantsOf({ nodes, placements }: ClusterReport): readonly ClusterTenant[] {
  const names = new Map(nodes.map(({ incarnation, nodeId }) => [incarnation, nodeId]));
  const nodeOf = ({ incarnation, isLost }: Placement): string | undefined =>
    incarnation === undefined || isLost ? undefined : names.get(incarnation);
  return placements
    .map((placement) => {
      const nodeId = nodeOf(placement);
      const { tenantId, epoch } = placement;
      return { tenantId, ...(nodeId !== undefined && { nodeId }), epoch };
    })
    .sort((a, b) => (a.tenantId < b.tenantId ? -1 : 1));
}
