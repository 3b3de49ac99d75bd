import { refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { delayMsOf, type Faults } from '../faults.js';
import { pageOfAll } from '../translate/pages.js';

type FaultHandlers = Pick<Handlers, 'createFault' | 'listFaults' | 'deleteFault' | 'deleteFaults'>;

const FAULT_NOT_FOUND = refuse(404, 'Fault not found');
const TOO_MANY_FAULTS = refuse(409, 'There are 1000 faults already: delete some first');
const TOO_LONG = refuse(400, ['fault.delay must be at most PT60S']);

/** Faults of the requests to a simulation (D177). */
export function faultHandlers(faults: Faults): FaultHandlers {
  return {
    createFault({ simulation, principal, body }) {
      const { delay = 'PT0S' } = body.fault;
      const delayMs = delayMsOf(delay);
      if (delayMs === undefined) return TOO_LONG;
      return faults.add(simulation.id, principal.tenantId, body, delayMs) ?? TOO_MANY_FAULTS;
    },

    listFaults: ({ simulation, principal, query }) =>
      pageOfAll(
        faults.list(simulation.id, principal.tenantId),
        query,
        ({ faultId }) => faultId,
        (fault) => fault,
      ),

    deleteFault({ simulation, principal, params: { faultId } }) {
      const deleted = faults.delete(simulation.id, principal.tenantId, faultId);
      return deleted === 0 ? FAULT_NOT_FOUND : { faultId, message: 'Fault deleted' };
    },

    deleteFaults: ({ simulation, principal }) => ({
      deleted: faults.delete(simulation.id, principal.tenantId),
      message: 'Faults deleted',
    }),
  };
}
