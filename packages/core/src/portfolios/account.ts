import type { Instant } from '../values/instant.js';

export type AccountType = 'INDIVIDUAL' | 'IRA' | 'ROTH_IRA';
export type PortfolioType = 'CASH' | 'MARGIN';

/** A customer's account: the owner of portfolios. */
export interface Account {
  readonly accountId: string;
  name?: string;
  readonly accountType: AccountType;
  /** The type that its portfolios must have: set if it was opened as a retirement account (D140). */
  readonly requiredType?: AccountType;
  portfolioType?: PortfolioType;
  firstName?: string;
  lastName?: string;
  status: 'ACTIVE' | 'FROZEN';
  readonly createdAt: Instant;
  updatedAt: Instant;
  /** Oldest first; open ones only. */
  readonly portfolioIds: string[];
}
