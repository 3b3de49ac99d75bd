/** Permissions of tokens for the simulations of competitions and evaluations, on every entry point (D195, D210). */
import { type OperationId, type Route, routes } from '@sandpit/protocol';
import type { SimulationPlace } from '../competitions/directory.js';
import type { CellPlaceInfo } from '../evaluations/directory.js';
import { type Answer, refuseCoded } from './answer.js';

export const NOT_FOR_ENTRIES = refuseCoded(
  'ENTRY_TOKEN',
  'The token of an entry trades its portfolio and reads its market, and nothing else',
  {},
);
const NOT_FOR_MARKETS = refuseCoded(
  'ENTRY_TOKEN',
  'The token of the market of a competition drives the market, and nothing else',
  {},
);

/** Roles of simulations in competitions and evaluations. */
export interface Places {
  placeOf(simulationId: string): SimulationPlace | CellPlaceInfo | undefined;
}

/** Reason why a token for a simulation of a competition or an evaluation may not perform an operation; undefined if it may. */
export function competitionRefusal(
  places: Places,
  simulationId: string,
  id: OperationId,
): Answer | undefined {
  const place = places.placeOf(simulationId);
  if (place === undefined) return undefined;
  const { access, tag }: Route = routes[id];
  const isOfEntries = access.contest === 'entry' || access.contest === 'both';
  switch (place.role) {
    case 'CELL':
      // Nothing leads from a cell to a competition, nor to its evaluation.
      if (access.cells !== true && !(isOfEntries && tag !== 'Competitions')) return NOT_FOR_ENTRIES;
      return place.hasEnded && isOfRun(id) ? RUN_ENDED : undefined;
    case 'ENTRY':
      return isOfEntries ? undefined : NOT_FOR_ENTRIES;
    case 'MARKET':
      return access.contest === 'market' || access.contest === 'both' ? undefined : NOT_FOR_MARKETS;
  }
}

/** True for orders, exercises and moves of the clock: they end with the run of a cell. */
function isOfRun(id: OperationId): boolean {
  const { method, scope, access, tag }: Route = routes[id];
  return (
    method !== 'GET' &&
    scope !== 'read' &&
    access.about !== 'none' &&
    access.agents !== 'never' &&
    tag !== 'Service'
  );
}

const RUN_ENDED = refuseCoded('EVALUATION_NOT_RUNNING', 'The run has ended', {});

/** The refusal of a request about a simulation whose competition, or whose run, is not over. */
export const notOverYet = ({ role }: { readonly role: string }): Answer =>
  role === 'CELL' ? RUN_NOT_OVER : NOT_OVER_YET;

const RUN_NOT_OVER = refuseCoded(
  'EVALUATION_NOT_FINISHED',
  'The cell of an evaluation cannot be forked, exported, stepped or compared before it has ended',
  {},
);

const NOT_OVER_YET = refuseCoded(
  'COMPETITION_NOT_FINISHED',
  'The simulations of a competition cannot be forked, exported, stepped or deleted before it is over',
  {},
);
