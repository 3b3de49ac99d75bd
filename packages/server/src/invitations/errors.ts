/** Why a request about an invitation is refused. */
export type InvitationProblem =
  | { readonly code: 'NOT_FOUND' }
  | { readonly code: 'MEMBER_NOT_FOUND' }
  | { readonly code: 'FULL'; readonly capacity: number }
  | { readonly code: 'EXPIRED'; readonly expiredAt: number }
  | { readonly code: 'TOO_MANY' }
  | { readonly code: 'RATE'; readonly retryAfter: number }
  | { readonly code: 'KEY_USED' }
  | { readonly code: 'UNDER_WAY' }
  | { readonly code: 'IN_COMPETITION' }
  /** An answer of another part: the brokerage, a simulation, a competition. */
  | { readonly code: 'ANSWER'; readonly status: number; readonly text: string };

/** Thrown by `Invitations`; the message is for people. Plain data, so that it passes between nodes. */
export class InvitationRefused extends Error {
  override readonly name = 'InvitationRefused';
  readonly problem: InvitationProblem;

  constructor(problem: InvitationProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
