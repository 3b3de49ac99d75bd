/** The nodes of the server, the tenants that they serve, and the simulations of one tenant. */
import type { ClusterCell, ClusterNodeState, ClusterTenant } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { quantity, words } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';

const AGAIN_MS = 10_000;

export function ServerTenants() {
  const broker = useBroker();
  const [chosen, setChosen] = useState<string>();
  const found = useLoad(async () => {
    const all = await broker.call('getCluster', { query: {} });
    const one =
      chosen === undefined ? undefined : await broker.call('getCluster', { query: { tenantId: chosen } });
    return { ...all, cells: one?.cells };
  }, [chosen]);
  useEvery(AGAIN_MS, found.reload);
  const { value, error, reload } = found;
  // Simulations are listed for the tenants of a cluster alone.
  const isCluster = value?.nodes.some(({ url }) => url !== undefined) === true;
  return (
    <section class="panel" aria-label="Tenants of the server">
      <h2>
        {value === undefined
          ? 'Tenants'
          : `${quantity(value.tenantCount)} ${value.tenantCount === 1 ? 'tenant' : 'tenants'} on ${nodesText(value.nodes)}`}
      </h2>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {value !== undefined && (
        <>
          <Table label="Nodes" columns={NODES} rows={value.nodes} keyOf={({ nodeId }) => nodeId} isDense />
          {value.tenants.length > 0 && (
            <Table
              label="Tenants"
              columns={[
                {
                  title: 'Tenant',
                  isLong: true,
                  cell: ({ tenantId }) =>
                    isCluster ? (
                      <button type="button" class="quiet" onClick={() => setChosen(tenantId)}>
                        {tenantId}
                      </button>
                    ) : (
                      tenantId
                    ),
                },
                ...TENANTS,
              ]}
              rows={value.tenants}
              keyOf={({ tenantId }) => tenantId}
              isDense
            />
          )}
          {value.cells !== undefined && (
            <Table
              label={`Simulations of ${chosen ?? ''}`}
              columns={CELLS}
              rows={value.cells}
              keyOf={({ simulationId }) => simulationId}
              isDense
            />
          )}
        </>
      )}
    </section>
  );
}

const nodesText = (nodes: readonly ClusterNodeState[]): string =>
  nodes.length === 1 ? 'one server' : `${quantity(nodes.length)} nodes`;

const NODES: readonly Column<ClusterNodeState>[] = [
  { title: 'Node', isLong: true, cell: ({ nodeId }) => nodeId },
  {
    title: 'Status',
    cell: ({ status, reasons }) => (
      <span class={status === 'LIVE' && reasons.length === 0 ? 'up' : 'down'} title={reasons.join(' ')}>
        {reasons.length === 0 ? words(status) : reasons.join(' ')}
      </span>
    ),
  },
  { title: 'Tenants', isNumber: true, cell: ({ tenants }) => quantity(tenants) },
  { title: 'Simulations', isNumber: true, cell: ({ cells }) => quantity(cells) },
  { title: 'Behind', isNumber: true, isSecondary: true, cell: ({ lag }) => quantity(lag?.history) },
  { title: 'Version', isSecondary: true, cell: ({ version }) => version },
];
const TENANTS: readonly Column<ClusterTenant>[] = [
  { title: 'Node', cell: ({ nodeId }) => nodeId ?? 'none' },
  { title: 'Moves', isNumber: true, isSecondary: true, cell: ({ epoch }) => quantity(epoch - 1) },
];
const CELLS: readonly Column<ClusterCell>[] = [
  { title: 'Simulation', isLong: true, cell: ({ simulationId }) => simulationId },
  { title: 'Records', isNumber: true, cell: ({ sequence }) => quantity(sequence) },
];
