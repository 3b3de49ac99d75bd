import {
  type Brokerage,
  type Order as OpenOrder,
  type OrderSnapshot,
  type Outcome,
  UPDATES_FROZEN,
} from '@sandpit/core';
import type { Order } from '@sandpit/protocol';
import { orderNow, withRows } from '../../engine/simulation/past-orders.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { cappedAgent } from '../agents/levels.js';
import { ACCOUNT_NOT_FOUND, type Answer, ORDER_NOT_FOUND } from '../answer.js';
import type { Principal } from '../auth.js';
import { type Call, execute, type Handlers } from '../call.js';
import { toExecution } from '../translate/history.js';
import {
  canceledOrder,
  createdOrder,
  orderChangesOf,
  orderOf,
  orderRequestOf,
  updatedOrder,
} from '../translate/orders.js';
import { pageReply, windowOf } from '../translate/pages.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { ownOpenOrder, ownOrder } from '../owned.js';

type OrderHandlers = Pick<
  Handlers,
  'createOrder' | 'getOrder' | 'updateOrder' | 'cancelOrder' | 'cancelAccountOrders' | 'listExecutions'
>;

export const orderHandlers: OrderHandlers = {
  createOrder,

  async getOrder({ simulation, principal, params }) {
    const open = await withRows(() =>
      simulation.read([principal], (brokerage) => {
        const order = ownOpenOrder(brokerage, params.orderId);
        return order === undefined ? undefined : shownOpen(brokerage, simulation, order);
      }),
    );
    if (open !== undefined) return open;
    const closed = await ownOrder(simulation, params.orderId);
    return closed === undefined ? ORDER_NOT_FOUND : withRows(() => shownClosed(simulation, closed));
  },

  updateOrder(call) {
    const { orderId } = call.params;
    const changes = orderChangesOf(call.body, call.simulation.brokerage.rules.calendar);
    return changed(call, 'updated', () =>
      execute<'ReplaceOrder'>(
        call,
        { type: 'ReplaceOrder', ...askedBy(call), orderId, changes },
        ({ result }) =>
          isRejection(result)
            ? answerTo(result, { orderId })
            : updatedOrder(call.simulation.brokerage.state.ids, result),
      ),
    );
  },

  cancelOrder(call) {
    const { orderId } = call.params;
    return changed(call, 'canceled', () =>
      execute<'CancelOrder'>(call, { type: 'CancelOrder', ...askedBy(call), orderId }, ({ result }) =>
        isRejection(result)
          ? answerTo(result, { orderId })
          : canceledOrder(call.simulation.brokerage.state.ids, result),
      ),
    );
  },

  cancelAccountOrders: (call) =>
    execute<'CancelAccountOrders'>(
      call,
      { type: 'CancelAccountOrders', ...askedBy(call), accountId: call.params.accountId },
      ({ result }) => {
        if (isRejection(result)) return ACCOUNT_NOT_FOUND;
        const { ids } = call.simulation.brokerage.state;
        const idOf = ({ terms }: OpenOrder): string => ids.idOf('ORDER', terms.number);
        const canceledOrders = result.map(idOf);
        // Their cancel is on its way: they may still fill (D29).
        const pending = result.filter(({ progress }) => progress.status === 'CANCELING').map(idOf);
        const count = canceledOrders.length;
        const canceled = `${count} order${count === 1 ? '' : 's'} canceled`;
        return {
          canceledCount: count,
          canceledOrders,
          ...(pending.length > 0 && { cancelRequested: pending }),
          message: pending.length === 0 ? canceled : `${canceled}, ${pending.length} of them pending`,
        };
      },
    ),

  async listExecutions({ simulation, params, query }) {
    // Executions of the same turn belong to the response.
    const history = await simulation.past();
    const order = await ownOrder(simulation, params.orderId);
    if (order === undefined) return ORDER_NOT_FOUND;
    const { terms } = order;
    const page = await history.list({
      simulationId: simulation.id,
      list: 'order-events',
      owner: String(terms.number),
      tag: 'EXECUTION',
      ...windowOf(query),
    });
    const { ids } = simulation.brokerage.state;
    return pageReply(
      page.items.map((item) => toExecution(ids, terms, item)),
      page,
      query,
    );
  },
};

/** The requester; for an agent with caps also those caps. */
export function askedBy({ principal }: { readonly principal: Pick<Principal, 'agent' | 'by'> }) {
  const agent = cappedAgent(principal.agent);
  return { by: principal.by, ...(agent !== undefined && { agent }) };
}

/** Reads `recordRefusal` (D276). */
export const recordingOf = ({
  recordRefusal,
}: {
  readonly recordRefusal?: boolean;
}): { readonly recordRefusal?: true } => (recordRefusal === true ? { recordRefusal } : {});

async function createOrder(call: Call<'createOrder'>): Promise<Order | Answer> {
  const { body, principal, simulation } = call;
  const asked = orderRequestOf(body, body.portfolioId, simulation.brokerage.rules.calendar, simulation.now());
  const order = principal.agent === undefined ? asked : { ...asked, agent: principal.agent.agentId };
  const { ids } = simulation.brokerage.state;
  const answer = ({ result }: Outcome<'SubmitOrder'>): Order | Answer =>
    isRejection(result) ? answerTo(result, { symbol: order.symbol, ids }) : createdOrder(ids, result);
  const command = { type: 'SubmitOrder', ...askedBy(call), order, ...recordingOf(body) } as const;
  if (call.pending !== undefined) return execute<'SubmitOrder'>(call, command, answer);
  // The result of this command never changes afterwards, so it can wait to be written until it is durable.
  return answer(await simulation.submit<'SubmitOrder'>(command));
}

/** An open order, with the condition that it waits for. */
export function shownOpen(brokerage: Brokerage, simulation: Simulation, order: OpenOrder) {
  const waits = brokerage.waitingFor(order, simulation.now());
  return orderOf(brokerage.state.ids, order, (exit) => orderNow(simulation, exit), waits);
}

/** An order that is over. */
export const shownClosed = (simulation: Simulation, order: OrderSnapshot) =>
  orderOf(simulation.brokerage.state.ids, order, (exit) => orderNow(simulation, exit));

/** Changes an order. The brokerage knows open orders only: a closed order is refused here. */
async function changed(
  { simulation, params }: Call<'updateOrder'> | Call<'cancelOrder'>,
  verb: 'updated' | 'canceled',
  attempt: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await attempt();
  if (answer.status !== 404) return answer;
  const { orderId } = params;
  const order = await ownOrder(simulation, orderId);
  if (order === undefined) return ORDER_NOT_FOUND;
  const account = simulation.brokerage.state.accounts.get(order.terms.accountId);
  if (verb === 'updated' && account?.status === 'FROZEN') return answerTo(UPDATES_FROZEN, { orderId });
  const { status } = order.progress;
  const message = `An order with status ${status} cannot be ${verb}`;
  return answerTo({ code: 'ORDER_NOT_UPDATABLE', message, status }, { orderId });
}
