import type { Instant } from '../values/instant.js';

export type AccountType = 'INDIVIDUAL' | 'IRA' | 'ROTH_IRA';
export type PortfolioType = 'CASH' | 'MARGIN';

/** A customer's account: the owner of portfolios, within one tenant. */
export interface Account {
  readonly tenantId: string;
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

/** Account ids are per tenant (D7): the pair is the identity. */
export const accountKey = (tenantId: string, accountId: string): string => `${tenantId}/${accountId}`;
