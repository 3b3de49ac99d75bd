import type { Command, Requester } from '../command.js';
import type { Decision } from '../decision.js';
import type { AccountDetails } from '../event.js';
import { accountKey } from '../portfolios/account.js';
import type { Account, AccountType } from '../portfolios/account.js';
import type { Rejection } from '../rejection.js';

const NOT_FOUND: Rejection = { code: 'NOT_FOUND', what: 'Account' };

/** Opens an account (D6, D8). An id this tenant has already is a conflict; another tenant's id is nobody's business. */
export function openAccount(
  d: Decision,
  command: Extract<Command, { type: 'OpenAccount' }>,
): Account | Rejection {
  const { by, accountId, details, proAccounts } = command;
  if (d.state.accounts.has(accountKey(by.tenantId, accountId))) {
    return { code: 'CONFLICT', message: 'An account with this accountId already exists' };
  }
  return (
    tooManyAccounts(d, by, proAccounts) ??
    openNewAccount(d, by, accountId, { ...details, accountType: details.accountType ?? 'INDIVIDUAL' })
  );
}

/** BASIC has one account, PRO a configured number, ENTERPRISE as many as it likes (D8). */
export function tooManyAccounts(d: Decision, by: Requester, proAccounts: number): Rejection | undefined {
  if (by.tier === 'ENTERPRISE') return undefined;
  const allowed = by.tier === 'BASIC' ? 1 : proAccounts;
  if ((d.state.accountsPerTenant.get(by.tenantId) ?? 0) < allowed) return undefined;
  return {
    code: 'FEATURE_NOT_AVAILABLE',
    message: `The ${by.tier} tier includes ${allowed} account${allowed === 1 ? '' : 's'}`,
    currentTier: by.tier,
    requiredTier: by.tier === 'BASIC' ? 'PRO' : 'ENTERPRISE',
  };
}

export function openNewAccount(
  d: Decision,
  by: Requester,
  accountId: string,
  details: AccountDetails & { readonly accountType: AccountType },
): Account {
  d.emit({ type: 'AccountOpened', tenantId: by.tenantId, accountId, details, at: d.at });
  const account = d.state.accounts.get(accountKey(by.tenantId, accountId));
  if (account === undefined) throw new RangeError('account was not opened');
  return account;
}

export function updateAccount(
  d: Decision,
  command: Extract<Command, { type: 'UpdateAccount' }>,
): Account | Rejection {
  const { by, accountId, details } = command;
  const account = d.state.accounts.get(accountKey(by.tenantId, accountId));
  if (account === undefined) return NOT_FOUND;
  d.emit({ type: 'AccountUpdated', tenantId: by.tenantId, accountId, details, at: d.at });
  return account;
}

/** Freezes or unfreezes (D9). Asking for what already is changes nothing. */
export function setAccountStatus(
  d: Decision,
  command: Extract<Command, { type: 'SetAccountStatus' }>,
): Account | Rejection {
  const { by, accountId, status } = command;
  const account = d.state.accounts.get(accountKey(by.tenantId, accountId));
  if (account === undefined) return NOT_FOUND;
  if (account.status !== status) {
    d.emit({ type: 'AccountStatusChanged', tenantId: by.tenantId, accountId, status, at: d.at });
  }
  return account;
}
