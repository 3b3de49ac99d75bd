import { type Brokerage, type Order as OpenOrder, waitingFor } from '@sandpit/core';
import type { Order, OrderStatus } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation.js';
import { ACCOUNT_NOT_FOUND, type Answer, ORDER_NOT_FOUND, refuseCoded } from '../answer.js';
import { type Call, execute, type Handlers } from '../call.js';
import { listedExecution } from '../translate/history.js';
import {
  canceledOrder,
  createdOrder,
  orderChangesOf,
  orderOf,
  orderRequestOf,
  storedOrder,
  updatedOrder,
} from '../translate/orders.js';
import { pageReply, windowOf } from '../translate/pages.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { ownOrderRow } from './owned.js';

type OrderHandlers = Pick<
  Handlers,
  'createOrder' | 'getOrder' | 'updateOrder' | 'cancelOrder' | 'cancelAccountOrders' | 'listExecutions'
>;

export const orderHandlers: OrderHandlers = {
  createOrder,

  async getOrder({ simulation, principal, params }) {
    const open = await simulation.read((brokerage) => {
      const order = brokerage.state.orders.get(params.orderId);
      return order?.terms.tenantId === principal.tenantId
        ? shownOpen(brokerage, simulation, order)
        : undefined;
    });
    if (open !== undefined) return open;
    const row = ownOrderRow(simulation, principal.tenantId, params.orderId);
    if (row === undefined) return ORDER_NOT_FOUND;
    const { terms, progress } = storedOrder(row);
    return orderOf(terms, progress);
  },

  async updateOrder(call) {
    const { orderId } = call.params;
    const changes = orderChangesOf(call.body);
    return changed(call, 'updated', (refused) =>
      execute<'ReplaceOrder'>(
        call,
        { type: 'ReplaceOrder', by: call.principal.by, orderId, changes },
        ({ result }) => {
          if (!isRejection(result)) return updatedOrder(result.terms, result.progress);
          return refused(result.code) ?? answerTo(result);
        },
      ),
    );
  },

  cancelOrder: (call) =>
    changed(call, 'canceled', (refused) =>
      execute<'CancelOrder'>(
        call,
        { type: 'CancelOrder', by: call.principal.by, orderId: call.params.orderId },
        ({ result }) => {
          if (!isRejection(result)) return canceledOrder(result.terms, result.progress);
          return refused(result.code) ?? answerTo(result);
        },
      ),
    ),

  cancelAccountOrders: (call) =>
    execute<'CancelAccountOrders'>(
      call,
      { type: 'CancelAccountOrders', by: call.principal.by, accountId: call.params.accountId },
      ({ result }) => {
        if (isRejection(result)) return ACCOUNT_NOT_FOUND;
        const canceledOrders = result.map(({ terms }) => terms.orderId);
        const count = canceledOrders.length;
        return {
          canceledCount: count,
          canceledOrders,
          message: `${count} order${count === 1 ? '' : 's'} canceled`,
        };
      },
    ),

  async listExecutions({ simulation, principal, params, query }) {
    // What was executed in this very turn belongs to the answer.
    await simulation.durable();
    if (ownOrderRow(simulation, principal.tenantId, params.orderId) === undefined) return ORDER_NOT_FOUND;
    const { items, total } = await simulation.history.list({
      simulationId: simulation.id,
      list: 'executions',
      owner: params.orderId,
      ...windowOf(query),
    });
    return pageReply(items.map(listedExecution), total, query);
  },
};

async function createOrder(call: Call<'createOrder'>): Promise<Order | Answer> {
  const { body, principal, simulation } = call;
  const order = orderRequestOf(body, body.portfolioId);
  const command = { type: 'SubmitOrder', by: principal.by, order } as const;
  if (call.pending !== undefined) {
    return execute<'SubmitOrder'>(call, command, ({ result }) =>
      isRejection(result)
        ? answerTo(result, { symbol: order.symbol })
        : createdOrder(result.terms, result.progress),
    );
  }
  // The result of this command never changes afterwards, so it can wait to be written until it is durable.
  const { result } = await simulation.submit<'SubmitOrder'>(command);
  return isRejection(result)
    ? answerTo(result, { symbol: order.symbol })
    : createdOrder(result.terms, result.progress);
}

/** An open order, with what it waits for. */
export function shownOpen(brokerage: Brokerage, simulation: Simulation, order: OpenOrder) {
  const { calendar, quoteMaxAgeMs } = brokerage.rules;
  const { terms, progress } = order;
  const quote = brokerage.quote(terms.symbol);
  return orderOf(terms, progress, waitingFor(order, quote, calendar, simulation.now(), quoteMaxAgeMs));
}

/**
 * Changes an order. The brokerage knows open orders only and does not tell their status when it refuses; here that is looked up, in
 * the same turn for an open order, in history for a closed one.
 */
async function changed(
  call: Call<'updateOrder'> | Call<'cancelOrder'>,
  verb: 'updated' | 'canceled',
  attempt: (refused: (code: string) => Answer | undefined) => Promise<Answer>,
): Promise<Answer> {
  const { simulation, principal } = call;
  const { orderId } = call.params;
  const notUpdatable = (status: OrderStatus): Answer =>
    refuseCoded('ORDER_NOT_UPDATABLE', `An order with status ${status} cannot be ${verb}`, {
      orderId,
      status,
    });
  const isOpen = await simulation.read(({ state }) => state.orders.has(orderId));
  if (!isOpen) {
    const closed = ownOrderRow(simulation, principal.tenantId, orderId);
    return closed === undefined ? ORDER_NOT_FOUND : notUpdatable(storedOrder(closed).progress.status);
  }
  const answer = await attempt((code) => {
    if (code !== 'ORDER_NOT_UPDATABLE') return undefined;
    const open = simulation.brokerage.state.orders.get(orderId);
    return open === undefined ? undefined : notUpdatable(open.progress.status);
  });
  if (answer.status !== 404) return answer;
  // It may have been closed by what was due before the attempt.
  const row = ownOrderRow(simulation, principal.tenantId, orderId);
  return row === undefined ? ORDER_NOT_FOUND : notUpdatable(storedOrder(row).progress.status);
}
