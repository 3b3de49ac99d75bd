import { hash } from 'node:crypto';
import type { Brokerage } from '@sandpit/core';
import type { CreateAccountBody } from '@sandpit/protocol';
import { ACCOUNT_NOT_FOUND, type Answer } from '../answer.js';
import { type Call, execute, type Handlers } from '../call.js';
import type { HttpSettings } from '../settings.js';
import { pageOfAll } from '../translate/pages.js';
import { accountOf, portfolioSummary } from '../translate/portfolios.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { holdingsOf } from '../owned.js';

type AccountHandlers = Pick<
  Handlers,
  | 'createAccount'
  | 'listAccounts'
  | 'getAccount'
  | 'updateAccount'
  | 'freezeAccount'
  | 'unfreezeAccount'
  | 'deleteAccount'
  | 'listAccountPortfolios'
>;

export function accountHandlers(settings: HttpSettings): AccountHandlers {
  return {
    async createAccount(call) {
      const { accountId } = call.body;
      if (accountId !== undefined) return openAccount(call, accountId, settings.proAccounts);
      return openAccount(call, await freeAccountId(call), settings.proAccounts);
    },

    listAccounts: ({ simulation, principal, query }) =>
      simulation.read([principal], ({ state }) =>
        pageOfAll([...state.accounts.values()].reverse(), query, ({ accountId }) => accountId, accountOf),
      ),

    getAccount: ({ simulation, principal, params }) =>
      simulation.read([principal], ({ state }) => {
        const account = state.accounts.get(params.accountId);
        return account === undefined ? ACCOUNT_NOT_FOUND : accountOf(account);
      }),

    updateAccount: (call) =>
      execute<'UpdateAccount'>(
        call,
        {
          type: 'UpdateAccount',
          by: call.principal.by,
          accountId: call.params.accountId,
          names: call.body,
        },
        ({ result }) => (isRejection(result) ? answerTo(result) : accountOf(result)),
      ),

    freezeAccount: (call) => setStatus(call, 'FROZEN'),
    unfreezeAccount: (call) => setStatus(call, 'ACTIVE'),

    deleteAccount: (call) =>
      execute<'DeleteAccount'>(
        call,
        { type: 'DeleteAccount', by: call.principal.by, accountId: call.params.accountId },
        ({ result }) =>
          isRejection(result)
            ? answerTo(result)
            : { accountId: call.params.accountId, message: 'Account deleted successfully' },
      ),

    listAccountPortfolios({ simulation, principal, params }) {
      const portfolios = (brokerage: Brokerage) =>
        (brokerage.state.accounts.get(params.accountId)?.portfolioIds ?? []).flatMap(
          (id) => brokerage.state.portfolios.get(id) ?? [],
        );
      return simulation.read(
        [principal],
        (brokerage) =>
          brokerage.state.accounts.has(params.accountId)
            ? portfolios(brokerage).map((portfolio) => portfolioSummary(brokerage, portfolio))
            : ACCOUNT_NOT_FOUND,
        holdingsOf(portfolios(simulation.brokerage)),
      );
    },
  };
}

function openAccount(call: Call<'createAccount'>, accountId: string, proAccounts: number): Promise<Answer> {
  const details: CreateAccountBody = { ...call.body };
  delete details.accountId;
  return execute<'OpenAccount'>(
    call,
    { type: 'OpenAccount', by: call.principal.by, accountId, details, proAccounts },
    ({ result }) => (isRejection(result) ? answerTo(result) : accountOf(result)),
  );
}

/**
 * An id that the service chooses. It derives from the secret of all ids, so that the same calls give the same ids and others cannot predict
 * them.
 */
function freeAccountId({ simulation, principal }: Call<'createAccount'>): Promise<string> {
  return simulation.read([principal], ({ state }) => {
    for (let number = state.counters.account + 1; ; number++) {
      const id = uuidOf(hash('sha256', `${state.idSecret} account ${number}`));
      if (!state.accounts.has(id)) return id;
    }
  });
}

/** A version 4 UUID (RFC 9562) of the first digits of a hash. */
const uuidOf = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;

function setStatus(
  call: Call<'freezeAccount'> | Call<'unfreezeAccount'>,
  status: 'ACTIVE' | 'FROZEN',
): Promise<Answer> {
  return execute<'SetAccountStatus'>(
    call,
    { type: 'SetAccountStatus', by: call.principal.by, accountId: call.params.accountId, status },
    ({ result }) => (isRejection(result) ? answerTo(result) : accountOf(result)),
  );
}
