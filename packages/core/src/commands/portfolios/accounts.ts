import type { Command, Requester } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { AccountDetails } from '../../event.js';
import type { Account, AccountType } from '../../portfolios/account.js';
import type { Rejection } from '../../rejection.js';

const NOT_FOUND: Rejection = { code: 'NOT_FOUND', what: 'Account' };

/** Opens an account (D6, D8). */
export function openAccount(
  d: Decision,
  command: Extract<Command, { type: 'OpenAccount' }>,
): Account | Rejection {
  const { by, accountId, details, proAccounts } = command;
  if (d.state.accounts.has(accountId)) {
    return { code: 'CONFLICT', message: 'An account with this accountId already exists' };
  }
  const { accountType = 'INDIVIDUAL' } = details;
  const requiredType = accountType === 'INDIVIDUAL' ? undefined : accountType;
  return (
    accountLimitRejection(d, by, proAccounts) ??
    openNewAccount(d, accountId, { ...details, accountType }, requiredType)
  );
}

/** BASIC has one account, PRO a configured number, ENTERPRISE any number (D8). */
export function accountLimitRejection(
  d: Decision,
  by: Requester,
  proAccounts: number,
): Rejection | undefined {
  if (by.tier === 'ENTERPRISE') return undefined;
  const allowed = by.tier === 'BASIC' ? 1 : proAccounts;
  if (d.state.accounts.size < allowed) return undefined;
  return {
    code: 'FEATURE_NOT_AVAILABLE',
    message: `The ${by.tier} tier includes ${allowed} account${allowed === 1 ? '' : 's'}`,
    currentTier: by.tier,
    requiredTier: by.tier === 'BASIC' ? 'PRO' : 'ENTERPRISE',
  };
}

/** `requiredType` is the type that the owner chose for the account; an account opened with its first portfolio has none (D140). */
export function openNewAccount(
  d: Decision,
  accountId: string,
  details: AccountDetails & { readonly accountType: AccountType },
  requiredType?: AccountType,
): Account {
  d.emit({
    type: 'AccountOpened',
    accountId,
    details,
    ...(requiredType !== undefined && { requiredType }),
    at: d.at,
  });
  const account = d.state.accounts.get(accountId);
  if (account === undefined) throw new RangeError('account was not opened');
  return account;
}

export function updateAccount(
  d: Decision,
  command: Extract<Command, { type: 'UpdateAccount' }>,
): Account | Rejection {
  const { accountId, names } = command;
  const account = d.state.accounts.get(accountId);
  if (account === undefined) return NOT_FOUND;
  d.emit({ type: 'AccountUpdated', accountId, names, at: d.at });
  return account;
}

/** Freezes or unfreezes (D9). A request for the current status has no effect. */
export function setAccountStatus(
  d: Decision,
  command: Extract<Command, { type: 'SetAccountStatus' }>,
): Account | Rejection {
  const { accountId, status } = command;
  const account = d.state.accounts.get(accountId);
  if (account === undefined) return NOT_FOUND;
  if (account.status !== status) {
    d.emit({ type: 'AccountStatusChanged', accountId, status, at: d.at });
  }
  return account;
}

/** Deletes an account whose portfolios are all closed (D143). Their history stays readable under their ids. */
export function deleteAccount(
  d: Decision,
  command: Extract<Command, { type: 'DeleteAccount' }>,
): Account | Rejection {
  const { accountId } = command;
  const account = d.state.accounts.get(accountId);
  if (account === undefined) return NOT_FOUND;
  const frozen = frozenAccountRejection(account, 'it cannot be deleted');
  if (frozen !== undefined) return frozen;
  if (account.portfolioIds.length > 0) {
    return { code: 'CONFLICT', message: 'Account still has open portfolios' };
  }
  d.emit({ type: 'AccountDeleted', accountId, at: d.at });
  return account;
}

/** The refusal of changes to orders, cash or portfolios while an account is frozen (D9, D141). `refused` ends its sentence. */
export function frozenAccountRejection(account: Account | undefined, refused: string): Rejection | undefined {
  if (account?.status !== 'FROZEN') return undefined;
  return {
    code: 'ACCOUNT_FROZEN',
    message: `The account is frozen: ${refused}`,
    accountId: account.accountId,
  };
}
