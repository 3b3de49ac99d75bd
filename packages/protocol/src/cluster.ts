/** Nodes of an installation, and which of them serves which tenant (D201). */
import type { Static } from 'typebox';
import { anyText, choice, closed, count, listOf, number, optional, parameters, text } from './fields.js';

export const ClusterNodeState = closed('ClusterNodeState', {
  nodeId: anyText({ description: '`NODE_ID` of the node.', examples: ['node-1'] }),
  url: optional(
    anyText({
      description: 'URL at which other nodes reach this node; absent without a cluster.',
    }),
  ),
  incarnation: count({ description: 'Incarnation number of the node, one per start; 0 without a cluster.' }),
  version: anyText({ description: 'Version of the server.' }),
  status: choice(['LIVE', 'SILENT'], {
    description: '`SILENT`: the node did not answer within 2.5 seconds and is not evicted yet.',
  }),
  reasons: listOf(anyText(), {
    description: 'Reasons why the node accepts no tenants; empty = it accepts tenants.',
  }),
  tenants: optional(count({ description: 'Tenants that the node serves.' })),
  cells: optional(count({ description: 'Simulations that the node owns, the market included.' })),
  lag: optional(
    closed('ClusterNodeLag', {
      history: count({ description: 'Journal records that are not in the history tables yet.' }),
      market: count({ description: 'Market records that the node has not applied yet.' }),
    }),
  ),
  clockSkewMs: optional(
    number({ description: 'Wall clock of the node minus that of the database, in milliseconds.' }),
  ),
});
export type ClusterNodeState = Static<typeof ClusterNodeState>;

export const ClusterTenant = closed('ClusterTenant', {
  tenantId: anyText({ description: 'The tenant.' }),
  nodeId: optional(anyText({ description: 'Node that serves the tenant; absent while no live node does.' })),
  epoch: count({ description: 'Number of times that a node has acquired the tenant.' }),
});
export type ClusterTenant = Static<typeof ClusterTenant>;

export const ClusterCell = closed('ClusterCell', {
  simulationId: anyText({
    description: 'Id of the simulation; `main` for the default simulation of the tenant.',
  }),
  epoch: count({ description: 'Number of times that a node has acquired the simulation.' }),
  sequence: count({ description: 'Last record of its journal.' }),
});
export type ClusterCell = Static<typeof ClusterCell>;

export const ClusterState = closed('ClusterState', {
  nodeId: anyText({ description: 'The node that answers.' }),
  durability: choice(['LOCAL', 'REPLICATED'], {
    description: '`REPLICATED`: a commit waits for a synchronous standby of the database.',
  }),
  nodes: listOf(ClusterNodeState, { description: 'Nodes that are not evicted, oldest first.' }),
  market: optional(ClusterTenant),
  tenantCount: count({ description: 'Number of tenants that a node has acquired.' }),
  tenants: listOf(ClusterTenant, {
    description: 'The first 1,000 tenants by id, or the tenant of the query.',
  }),
  cells: optional(listOf(ClusterCell, { description: 'With `tenantId`: the simulations of the tenant.' })),
});
export type ClusterState = Static<typeof ClusterState>;

export const ClusterQuery = parameters({
  tenantId: optional(text({ description: 'Shows this tenant alone, with its simulations.' })),
});
