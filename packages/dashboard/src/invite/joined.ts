/** Invitations by which this browser has joined. */
import { claimsOf, MAIN, tokenFor } from '../session.ts';

const KEY = 'sandpit-joined';

export interface JoinedAs {
  readonly displayName: string;
  readonly tenantId: string;
  readonly simulationId: string;
  readonly portfolioId: string;
}

function all(): Readonly<Record<string, JoinedAs>> {
  try {
    return (JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {}) as Readonly<Record<string, JoinedAs>>;
  } catch {
    return {};
  }
}

export const keepJoined = (code: string, joined: JoinedAs): void =>
  localStorage.setItem(KEY, JSON.stringify({ ...all(), [code]: joined }));

/** The member of an invitation that this browser is logged in as. */
export function joinedAs(code: string): JoinedAs | undefined {
  const joined = Object.entries(all()).find(([one]) => one === code)?.[1];
  const claims = claimsOf(tokenFor(joined?.simulationId ?? MAIN) ?? '');
  // An entry belongs to the organizer's tenant; its simulation is the member's alone.
  const isSame = claims?.isEntry === true || claims?.tenantId === joined?.tenantId;
  return claims !== undefined && isSame ? joined : undefined;
}
