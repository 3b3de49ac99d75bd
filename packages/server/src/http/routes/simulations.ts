import { NotRecorded } from '../../engine/simulations.js';
import { Answer, refuse, SIMULATION_NOT_FOUND } from '../answer.js';
import { issueToken } from '../auth.js';
import type { Handlers } from '../call.js';
import type { HttpDeps } from '../settings.js';
import type { Streams } from '../stream/streams.js';
import { pageOfAll } from '../translate/pages.js';
import { simulationConfigOf, simulationOf } from '../translate/simulations.js';

type SimulationsHandlers = Pick<
  Handlers,
  'createSimulation' | 'listSimulations' | 'getSimulation' | 'deleteSimulation'
>;

const NO_TOKENS = refuse(409, 'This server does not issue tokens: they come from its identity provider');
const MAIN_STAYS = refuse(409, 'The main simulation cannot be deleted');

/** Simulations of a tenant (D44). */
export function simulationsHandlers(
  { simulations, settings, clockMs }: HttpDeps,
  streams: Streams,
): SimulationsHandlers {
  return {
    async createSimulation({ principal, body }) {
      const { tenantId, tier, scopes, expiresAtMs } = principal;
      if (settings.jwtSecret === undefined) return NO_TOKENS;
      const simulation = await unlessNotRecorded(
        simulations.create(tenantId, simulationConfigOf(body, clockMs())),
      );
      if (simulation instanceof Answer) return simulation;
      const info = simulations.info(simulation.id, tenantId);
      const issued = await issueToken(
        settings,
        {
          tenantId,
          tier,
          scope: [...scopes].join(' '),
          simulationId: simulation.id,
          // A right that ends is not made to last by passing it on.
          notAfterMs: expiresAtMs,
        },
        clockMs(),
      );
      if (info === undefined || issued === undefined) return SIMULATION_NOT_FOUND;
      return { ...simulationOf(info, simulation.now()), token: issued.token };
    },

    listSimulations: ({ principal, query }) =>
      pageOfAll(simulations.list(principal.tenantId).toReversed(), query, (info) => simulationOf(info)),

    async getSimulation({ principal, params }) {
      const info = simulations.info(params.simulationId, principal.tenantId);
      const simulation = await simulations.find(params.simulationId, principal.tenantId);
      if (info === undefined || simulation === undefined) return SIMULATION_NOT_FOUND;
      return simulationOf(info, simulation.now());
    },

    async deleteSimulation({ principal, params }) {
      const { simulationId } = params;
      if (simulationId === simulations.main.id) return MAIN_STAYS;
      const removed = await simulations.remove(simulationId, principal.tenantId);
      if (!removed) return SIMULATION_NOT_FOUND;
      streams.endSimulation(simulationId);
      return { simulationId, message: 'Simulation deleted' };
    },
  };
}

async function unlessNotRecorded<T>(creation: Promise<T>): Promise<T | Answer> {
  try {
    return await creation;
  } catch (error) {
    if (!(error instanceof NotRecorded)) throw error;
    return refuse(400, [`replay must name recorded symbols, which ${error.symbols.join(', ')} are not`]);
  }
}
