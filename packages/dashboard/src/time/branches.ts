/** Snapshots and forks of the page's simulation, and functions to create them. */
import type { Simulation, Snapshot } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { useLoad } from '../load.ts';
import { go, hrefOf } from '../route.ts';
import { keepToken, MAIN } from '../session.ts';
import { type Branch, branchesOf } from './coming.ts';

/** Snapshots and forks of the simulation of the page. */
export function useBranches(simulation: Simulation | undefined): {
  readonly snapshots: readonly Snapshot[];
  readonly branches: readonly Branch[];
  readonly reload: () => void;
} {
  const broker = useBroker();
  const found = useLoad(async () => {
    if (simulation === undefined) return undefined;
    const [{ data }, branches] = await Promise.all([
      broker.call('listSnapshots', {
        params: { simulationId: simulation.simulationId },
        query: { limit: 500 },
      }),
      branchesOf(broker, simulation),
    ]);
    return { snapshots: data, branches };
  }, [simulation?.simulationId]);
  useEffect(() => {
    addEventListener('branches', found.reload);
    return () => removeEventListener('branches', found.reload);
  }, []);
  return {
    snapshots: found.value?.snapshots ?? [],
    branches: found.value?.branches ?? [],
    reload: tellBranchesChanged,
  };
}

/** Notifies the page that a snapshot or a fork was created or deleted. */
export const tellBranchesChanged = (): void => {
  dispatchEvent(new Event('branches'));
};

/** Forks a simulation and goes there. */
export async function forkAndGo(
  broker: Broker,
  { simulationId, name }: Pick<Simulation, 'simulationId' | 'name'>,
  from: { readonly at: string } | { readonly snapshotId: string } | undefined,
  title?: string,
): Promise<void> {
  const of = name ?? (simulationId === MAIN ? 'main' : simulationId.slice(0, 8));
  const fork = await broker.call('forkSimulation', {
    params: { simulationId },
    body: { name: title ?? `Fork of ${of}`, ...(from !== undefined && { from }) },
  });
  keepToken(fork.token);
  tellBranchesChanged();
  go(hrefOf(fork.simulationId, 'time'));
}
