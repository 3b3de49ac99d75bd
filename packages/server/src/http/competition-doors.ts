/** Permissions of tokens for the simulations of a competition, on every entry point (D195). */
import { type OperationId, routes } from '@sandpit/protocol';
import type { Competitions } from '../competitions/competitions.js';
import { type Answer, refuseCoded } from './answer.js';

const NOT_FOR_ENTRIES = refuseCoded(
  'ENTRY_TOKEN',
  'The token of an entry trades its portfolio and reads its market, and nothing else',
  {},
);
const NOT_FOR_MARKETS = refuseCoded(
  'ENTRY_TOKEN',
  'The token of the market of a competition drives the market, and nothing else',
  {},
);

/** Reason why a token for a simulation of a competition may not perform an operation; undefined if it may. */
export function competitionRefusal(
  competitions: Pick<Competitions, 'placeOf'>,
  simulationId: string,
  id: OperationId,
): Answer | undefined {
  const place = competitions.placeOf(simulationId);
  if (place === undefined) return undefined;
  const { contest } = routes[id].access;
  if (place.role === 'ENTRY') return contest === 'entry' || contest === 'both' ? undefined : NOT_FOR_ENTRIES;
  return contest === 'market' || contest === 'both' ? undefined : NOT_FOR_MARKETS;
}

export const NOT_OVER_YET = refuseCoded(
  'COMPETITION_NOT_FINISHED',
  'The simulations of a competition cannot be forked, exported, stepped or deleted before it is over',
  {},
);
