import type { Tier } from '@sandpit/core';
import type { Registry } from '../store/registry.js';

/** The body of a request, as the edge understands it. */
type WireBody = Readonly<Record<string, unknown>>;

/** Terms of an invitation. */
export interface InvitationTerms {
  readonly name: string;
  readonly tier: Tier;
  readonly portfolio?: WireBody & { readonly accountId?: string };
  readonly simulation?: WireBody;
  readonly fixture?: string;
  readonly competitionId?: string;
  readonly capacity: number;
  /** Wall-clock ms, like every instant in these notes. */
  readonly expiresAt?: number;
}

/** An invitation in the registry. */
export interface InvitationNote extends InvitationTerms {
  readonly id: string;
  /** The tenant that invites. */
  readonly inviter: string;
  readonly code: string;
  readonly createdAt: number;
  /** True if the link is disabled; members stay. */
  readonly isDeleted?: true;
}

/** A member of an invitation in the registry. */
export interface MemberNote {
  readonly id: string;
  readonly invitationId: string;
  readonly inviter: string;
  readonly tenantId: string;
  readonly tier: Tier;
  /** Scopes of the member's tokens, separated by spaces. */
  readonly scope: string;
  readonly displayName: string;
  readonly accountId: string;
  /** Absent while the join is under way; a crash leaves such a member, which is removed. */
  readonly portfolioId?: string;
  readonly simulationId?: string;
  readonly entry?: { readonly competitionId: string; readonly entryId: string };
  readonly joinedAt: number;
  /** Key from which the tokens of the join derive; its text is not kept by anyone. */
  readonly keyId: string;
  /** Key whose text is the code of the link with which the member returns. */
  readonly linkKeyId: string;
  /** The request that joined, if it had an `Idempotency-Key`. */
  readonly request?: JoinKey;
  /** Tokens with which the inviter views the member. */
  readonly views?: readonly View[];
}

/** Digests of an `Idempotency-Key` and of the request that it came with. */
export interface JoinKey {
  readonly key: string;
  readonly fingerprint: string;
}

interface View {
  readonly tokenId: string;
  readonly expiresAt: number;
}

const INVITATIONS = 'invitation/';
const MEMBERS = 'invitation-member/';
const SEEN = 'invitation-seen/';

export const INVITATION_SETTINGS = INVITATIONS;
export const MEMBER_SETTINGS = MEMBERS;

export const invitationName = (id: string): string => `${INVITATIONS}${id}`;
export const memberName = (id: string): string => `${MEMBERS}${id}`;
/** Last request of a member, wall-clock ms. */
export const seenName = (memberId: string): string => `${SEEN}${memberId}`;

/** Deletes the notes of the invitations and members of a tenant, and of the tenant as a member. The tenants of its members stay. */
export async function eraseInvitationNotes(registry: Registry, tenantId: string): Promise<void> {
  for (const [name, text] of registry.settings(MEMBERS)) {
    const member = JSON.parse(text) as MemberNote;
    if (member.inviter !== tenantId && member.tenantId !== tenantId) continue;
    await registry.deleteSetting(name);
    await registry.deleteSetting(seenName(member.id));
  }
  for (const [name, text] of registry.settings(INVITATIONS))
    if ((JSON.parse(text) as InvitationNote).inviter === tenantId) await registry.deleteSetting(name);
}
