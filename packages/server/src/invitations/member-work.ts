import type { Tier } from '@sandpit/core';
import type { InvitationTerms, MemberNote } from './notes.js';

/** Simulation, portfolio and fixture of a new member. */
export interface MemberPlan extends Pick<InvitationTerms, 'portfolio' | 'simulation' | 'fixture'> {
  readonly tenantId: string;
  readonly tier: Tier;
  readonly displayName: string;
  readonly accountId: string;
}

export interface OpenedMember {
  readonly accountId: string;
  readonly portfolioId: string;
  /** Absent = in `main`. */
  readonly simulationId?: string;
}

/** The place of a member's portfolio. */
export type MemberPlace = Pick<
  MemberNote,
  'id' | 'tenantId' | 'tier' | 'portfolioId' | 'simulationId' | 'entry' | 'inviter'
>;

export interface MemberFigures {
  /** Dollars. */
  readonly equity?: number;
  /** A fraction. */
  readonly return?: number;
  /** Absent while they cannot be read. */
  readonly orders?: number;
  /** The last request that the node knows of, wall-clock ms. */
  readonly seenAt?: number;
}

/**
 * Work in the simulations of members, by the node that serves them. Everything may be repeated: an answer between nodes can be lost. Refusals
 * are `InvitationRefused`.
 */
export interface MemberWork {
  /** Opens account, portfolio and simulation, or finds those that an earlier call has opened. */
  open(plan: MemberPlan): Promise<OpenedMember>;
  figures(place: MemberPlace): Promise<MemberFigures>;
  reset(place: MemberPlace): Promise<void>;
  /** Ends the tokens of a tenant and erases everything it has. */
  erase(tenantId: string): Promise<void>;
}
