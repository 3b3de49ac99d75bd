import { useBroker } from '../broker.ts';
import { useLoad } from '../load.ts';

/** Loads the simulation that the pages show; without a value if the token must not read simulations. */
export function useOwnSimulation() {
  const broker = useBroker();
  return useLoad(
    async () =>
      broker.may('simulate')
        ? await broker.call('getSimulation', { params: { simulationId: broker.simulationId } })
        : undefined,
    [broker.simulationId],
  );
}
