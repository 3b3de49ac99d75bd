import { type Brokerage, type Command, type Outcome } from '@sandpit/core';
import type { BatchResult } from '@sandpit/protocol';
import type { Charge } from '../admission.js';
import { ACCOUNT_NOT_FOUND, Answer, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers } from '../call.js';
import { symbolIn } from '../listed.js';
import { orderRequestOf } from '../translate/orders.js';
import { answerTo, isRejection } from '../translate/rejections.js';

type Submit = Extract<Command, { type: 'SubmitOrder' }>;

/** Outcome of one account: its index among the commands, or the reason why it has none. */
type Part =
  | { readonly accountId: string; readonly index: number }
  | { readonly accountId: string; readonly refused: Answer };

/** The same order for many accounts: one turn, one commit, an outcome for each (D23). Each account counts as a request. */
export const orderBatchHandlers = (charge: Charge): Pick<Handlers, 'createOrders'> => ({
  async createOrders(call) {
    const { simulation, body } = call;
    const tooMany = charge(call, body.accountIds.length);
    if (tooMany !== undefined) return tooMany;
    const { calendar } = simulation.brokerage.rules;
    const portfolios = await simulation.read([call.principal], (brokerage) =>
      body.accountIds.map((accountId) => portfolioFor(brokerage, call, accountId)),
    );
    const commands: Submit[] = [];
    const parts = body.accountIds.map((accountId, i): Part => {
      const portfolioId = portfolios[i];
      if (portfolioId instanceof Answer || portfolioId === undefined) {
        return { accountId, refused: portfolioId ?? ACCOUNT_NOT_FOUND };
      }
      commands.push({
        type: 'SubmitOrder',
        by: call.principal.by,
        order: orderRequestOf(body.orderData, portfolioId, calendar, simulation.now()),
      });
      return { accountId, index: commands.length - 1 };
    });
    if (commands.length === 0) return resultOf(parts, []);
    let answer: Answer | undefined;
    const outcomes = await simulation.submitAll<'SubmitOrder'>(commands, (done) => {
      answer = answerOf(call, parts, done);
      return call.pending?.keep(answer);
    });
    return answer ?? answerOf(call, parts, outcomes);
  },
});

/** The portfolio of an account: the one that the order names if the account owns it, else the oldest open one. */
function portfolioFor(
  { state }: Brokerage,
  { body }: Call<'createOrders'>,
  accountId: string,
): string | Answer {
  const account = state.accounts.get(accountId);
  if (account === undefined) return ACCOUNT_NOT_FOUND;
  const named = body.orderData.portfolioId;
  if (named !== undefined && account.portfolioIds.includes(named)) return named;
  return account.portfolioIds[0] ?? PORTFOLIO_NOT_FOUND;
}

function answerOf(
  call: Call<'createOrders'>,
  parts: readonly Part[],
  outcomes: readonly Outcome<'SubmitOrder'>[],
): Answer {
  const symbol = symbolIn(call.simulation, call.body.orderData.symbol);
  const { ids } = call.simulation.brokerage.state;
  const answers = outcomes.map(({ result }) =>
    isRejection(result) ? answerTo(result, { symbol, ids }) : ids.idOf('ORDER', result.terms.number),
  );
  // The tier is the same for all accounts: an order outside it is no batch at all (contract section 8).
  const first = outcomes[0]?.result;
  if (isRejection(first) && first.code === 'FEATURE_NOT_AVAILABLE') return answerTo(first);
  return Answer.json(call.status, resultOf(parts, answers));
}

function resultOf(
  parts: readonly Part[],
  /** For each command the id of the order, or the refusal. */
  answers: readonly (Answer | string)[],
): BatchResult {
  const successful: BatchResult['successful'] = [];
  const failed: BatchResult['failed'] = [];
  for (const part of parts) {
    const answer = 'refused' in part ? part.refused : answers[part.index];
    if (answer === undefined) continue;
    const { accountId } = part;
    if (answer instanceof Answer) {
      failed.push({
        accountId,
        ...(JSON.parse(answer.text) as Omit<BatchResult['failed'][number], 'accountId'>),
      });
    } else {
      successful.push({ accountId, orderId: answer });
    }
  }
  return { successful, failed, message: `${successful.length} successful, ${failed.length} failed` };
}
