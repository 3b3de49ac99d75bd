/** Nodes of an installation, and which of them serves which tenant (D201). */
import type { Static } from 'typebox';
import { anyText, choice, closed, count, listOf, number, optional, parameters, text } from './fields.js';

export const ClusterNodeState = closed('ClusterNodeState', {
  nodeId: anyText({ description: '`NODE_ID` of the node.', examples: ['node-1'] }),
  url: optional(
    anyText({
      description: 'Origin at which other nodes reach it; absent for a server without a cluster.',
    }),
  ),
  incarnation: count({ description: 'Number of this start of the node; 0 for a server without a cluster.' }),
  version: anyText({ description: 'Version of the server.' }),
  status: choice(['LIVE', 'SILENT'], {
    description: '`SILENT`: the node did not answer within 2.5 seconds and is not struck out yet.',
  }),
  reasons: listOf(anyText(), {
    description: 'Reasons why the node accepts no tenants; empty = it accepts tenants.',
  }),
  tenants: optional(count({ description: 'Tenants that the node serves.' })),
  cells: optional(count({ description: 'Simulations that the node owns, the market included.' })),
  lag: optional(
    closed('ClusterNodeLag', {
      history: count({ description: 'Records that the history tables do not include yet.' }),
      market: count({ description: 'Records of the market that the node has not followed yet.' }),
    }),
  ),
  clockSkewMs: optional(
    number({ description: 'Wall clock of the node minus that of the database, in milliseconds.' }),
  ),
});
export type ClusterNodeState = Static<typeof ClusterNodeState>;

export const ClusterTenant = closed('ClusterTenant', {
  tenantId: anyText({ description: 'The tenant.' }),
  nodeId: optional(anyText({ description: 'The node that serves it; absent while no live node does.' })),
  epoch: count({ description: 'Number of times that a node has taken the tenant.' }),
});
export type ClusterTenant = Static<typeof ClusterTenant>;

export const ClusterCell = closed('ClusterCell', {
  simulationId: anyText({ description: 'The simulation; `main` for the one that every tenant has.' }),
  epoch: count({ description: 'Number of times that a node has taken the simulation.' }),
  sequence: count({ description: 'Last record of its journal.' }),
});
export type ClusterCell = Static<typeof ClusterCell>;

export const ClusterState = closed('ClusterState', {
  nodeId: anyText({ description: 'The node that answers.' }),
  durability: choice(['LOCAL', 'REPLICATED'], {
    description: '`REPLICATED`: a commit waits for a synchronous standby of the database.',
  }),
  nodes: listOf(ClusterNodeState, { description: 'Nodes that are not struck out, oldest first.' }),
  market: optional(ClusterTenant),
  tenantCount: count({ description: 'Tenants that a node has taken.' }),
  tenants: listOf(ClusterTenant, { description: 'The first 1,000 tenants by id, or the one of the query.' }),
  cells: optional(listOf(ClusterCell, { description: 'With `tenantId`: the simulations of the tenant.' })),
});
export type ClusterState = Static<typeof ClusterState>;

export const ClusterQuery = parameters({
  tenantId: optional(text({ description: 'Shows this tenant alone, with its simulations.' })),
});
