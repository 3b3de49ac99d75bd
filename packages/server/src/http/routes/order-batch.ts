import { type Brokerage, type Command, type Outcome } from '@sandpit/core';
import type { BatchResult } from '@sandpit/protocol';
import type { Charge } from '../admission.js';
import { ACCOUNT_NOT_FOUND, Answer, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers } from '../call.js';
import { symbolIn } from '../listed.js';
import { orderRequestOf } from '../translate/orders.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { recordingOf } from './orders.js';

type Submit = Extract<Command, { type: 'SubmitOrder' }>;

/** Outcome of one account: its index among the commands, or the reason why it has none. */
type Part =
  | { readonly accountId: string; readonly index: number }
  | { readonly accountId: string; readonly refused: Answer };

/** Outcome of a command: the id of its order, or the refusal; both if a refused order is recorded. */
interface Ended {
  readonly orderId?: string;
  readonly refused?: Answer;
}

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
        ...recordingOf(body.orderData),
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
  const answers = outcomes.map(({ result }): Ended => {
    if (isRejection(result)) return { refused: answerTo(result, { symbol, ids }) };
    const orderId = ids.idOf('ORDER', result.terms.number);
    const { rejection } = result.progress;
    return rejection === undefined ? { orderId } : { orderId, refused: answerTo(rejection, { symbol, ids }) };
  });
  // The tier is the same for all accounts: an order outside it is no batch at all (contract section 8).
  const first = outcomes[0]?.result;
  if (isRejection(first) && first.code === 'FEATURE_NOT_AVAILABLE') return answerTo(first);
  return Answer.json(call.status, resultOf(parts, answers));
}

function resultOf(parts: readonly Part[], answers: readonly Ended[]): BatchResult {
  const successful: BatchResult['successful'] = [];
  const failed: BatchResult['failed'] = [];
  for (const part of parts) {
    const { orderId, refused }: Ended = 'refused' in part ? part : (answers[part.index] ?? {});
    const { accountId } = part;
    if (refused !== undefined) {
      failed.push({
        accountId,
        ...(orderId !== undefined && { orderId }),
        ...(JSON.parse(refused.text) as Omit<BatchResult['failed'][number], 'accountId' | 'orderId'>),
      });
    } else if (orderId !== undefined) {
      successful.push({ accountId, orderId });
    }
  }
  return { successful, failed, message: `${successful.length} successful, ${failed.length} failed` };
}
