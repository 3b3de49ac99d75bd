import { Account, AccountPage, CreateAccountBody, DeletedAccount, UpdateAccountBody } from '../accounts.js';
import { AccountParams } from '../ids.js';
import { PageQuery } from '../paging.js';
import { PortfolioSummaries } from '../portfolios.js';
import { table } from './route.js';

export const accountRoutes = table({
  createAccount: {
    method: 'POST',
    path: '/v1/accounts',
    tag: 'Accounts',
    summary: 'Create an account',
    description:
      'Creates an account, which owns portfolios. Without `accountId` the server chooses one. A BASIC tenant may have 1 account, a PRO tenant 10 (setting `PRO_ACCOUNTS`), an ENTERPRISE tenant any number.',
    auth: 'bearer',
    scope: 'trade',
    body: CreateAccountBody,
    responses: { 201: Account },
    errors: [409],
    codes: ['FEATURE_NOT_AVAILABLE'],
  },
  listAccounts: {
    method: 'GET',
    path: '/v1/accounts',
    tag: 'Accounts',
    summary: 'List accounts',
    description:
      'Lists the accounts of the tenant, newest first, by page or by cursor. Deleted accounts are left out.',
    auth: 'bearer',
    scope: 'read',
    query: PageQuery,
    responses: { 200: AccountPage },
  },
  getAccount: {
    method: 'GET',
    path: '/v1/accounts/:accountId',
    tag: 'Accounts',
    summary: 'Get an account',
    description: 'Returns one account. A deleted account answers 404.',
    auth: 'bearer',
    scope: 'read',
    params: AccountParams,
    responses: { 200: Account },
    errors: [404],
  },
  updateAccount: {
    method: 'PUT',
    path: '/v1/accounts/:accountId',
    tag: 'Accounts',
    summary: 'Rename an account',
    description:
      'Changes the names of an account. Fields that the body leaves out keep their values; at least one is required.',
    auth: 'bearer',
    scope: 'trade',
    params: AccountParams,
    body: UpdateAccountBody,
    responses: { 200: Account },
    errors: [404],
  },
  freezeAccount: {
    method: 'PUT',
    path: '/v1/accounts/:accountId/freeze',
    tag: 'Accounts',
    summary: 'Freeze an account',
    description:
      'Blocks changes to orders, cash and portfolios of the account: they answer `ACCOUNT_FROZEN`. Reads and cancels keep working, and open orders stay open.',
    auth: 'bearer',
    scope: 'trade',
    params: AccountParams,
    responses: { 200: Account },
    errors: [404],
  },
  unfreezeAccount: {
    method: 'PUT',
    path: '/v1/accounts/:accountId/unfreeze',
    tag: 'Accounts',
    summary: 'Unfreeze an account',
    description: 'Allows all operations on the account again.',
    auth: 'bearer',
    scope: 'trade',
    params: AccountParams,
    responses: { 200: Account },
    errors: [404],
  },
  deleteAccount: {
    method: 'DELETE',
    path: '/v1/accounts/:accountId',
    tag: 'Accounts',
    summary: 'Delete an account',
    description:
      'Deletes an account whose portfolios are all closed; 409 otherwise. The history of its portfolios stays readable under their ids.',
    auth: 'bearer',
    scope: 'trade',
    params: AccountParams,
    responses: { 200: DeletedAccount },
    errors: [404, 409],
    codes: ['ACCOUNT_FROZEN'],
  },
  listAccountPortfolios: {
    method: 'GET',
    path: '/v1/accounts/:accountId/portfolios',
    tag: 'Accounts',
    summary: 'List the portfolios of an account',
    description:
      'Lists the open portfolios of one account as a plain array without pages. `GET /v1/portfolios` lists those of all accounts.',
    auth: 'bearer',
    scope: 'read',
    params: AccountParams,
    responses: { 200: PortfolioSummaries },
    csv: true,
    errors: [404],
  },
});
