import type { Static } from 'typebox';
import { accountStatuses, accountTypes, portfolioTypes } from './enums.js';
import { anyText, closed, instant, namedChoice, nameText, optional, text, uuid } from './fields.js';
import { paged } from './paging.js';
import { ruled } from './rules.js';

export const AccountTypeValue = namedChoice('AccountType', accountTypes);
export const PortfolioTypeValue = namedChoice('PortfolioType', portfolioTypes);

/** Retirement accounts cannot borrow (contract 2.1, D12). */
export const retirementIsCash = 'IRA and ROTH_IRA accounts must use CASH portfolios';

export function isRetirement(accountType: unknown): boolean {
  return accountType === 'IRA' || accountType === 'ROTH_IRA';
}

export const CreateAccountBody = ruled(
  closed('CreateAccountBody', {
    accountId: optional(uuid({ description: 'Chosen by the caller; absent = the service chooses.' })),
    name: optional(nameText()),
    accountType: optional(AccountTypeValue),
    portfolioType: optional(PortfolioTypeValue),
    firstName: optional(text()),
    lastName: optional(text()),
  }),
  (body, report) => {
    if (isRetirement(body.accountType) && body.portfolioType === 'MARGIN') {
      report.sentence('portfolioType', retirementIsCash);
    }
  },
);
export type CreateAccountBody = Static<typeof CreateAccountBody>;

export const UpdateAccountBody = ruled(
  closed('UpdateAccountBody', {
    name: optional(nameText()),
    firstName: optional(text()),
    lastName: optional(text()),
  }),
  (body, report) => {
    if (body.name === undefined && body.firstName === undefined && body.lastName === undefined) {
      report.sentence('name', 'body must contain at least one of name, firstName, lastName');
    }
  },
);
export type UpdateAccountBody = Static<typeof UpdateAccountBody>;

export const Account = closed('Account', {
  accountId: uuid(),
  id: uuid({ description: 'The same as `accountId`.' }),
  name: optional(anyText()),
  accountType: optional(AccountTypeValue),
  portfolioType: optional(PortfolioTypeValue),
  firstName: optional(anyText()),
  lastName: optional(anyText()),
  status: namedChoice('AccountStatus', accountStatuses),
  createdAt: instant(),
  updatedAt: instant(),
});
export type Account = Static<typeof Account>;

export const DeletedAccount = closed('DeletedAccount', { accountId: uuid(), message: anyText() });
export type DeletedAccount = Static<typeof DeletedAccount>;

export const AccountPage = paged('AccountPage', Account, 'Accounts, newest first.');
export type AccountPage = Static<typeof AccountPage>;
