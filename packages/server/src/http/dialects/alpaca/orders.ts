/** Orders: placing, finding, replacing, cancelling. */
import { leaderOf, type OrderSnapshot, type OrderTerms } from '@sandpit/core';
import { orderNow } from '../../../engine/past-orders.js';
import { Refused } from '../operations.js';
import { findOrders, orderByClientId, orderNamed, showingOf, shownOrder } from './find-orders.js';
import { orderBodyOf, replacementOf } from './order-body.js';
import { nameOf } from './order-names.js';
import {
  type AlpacaOrder,
  alpacaOrder,
  assetClassOf,
  isOver,
  newOrderShape,
  replacementsOf,
} from './order-shape.js';
import { AlpacaAnswer, type AlpacaCall, type AlpacaHandler } from './request.js';
import {
  AlpacaRefusal,
  internalError,
  invalid,
  refusalOfError,
  translated,
  unprocessable,
} from './refusals.js';

/** Places an order. It is durable when this resolves. */
export async function placeOrder(call: AlpacaCall): Promise<AlpacaOrder> {
  const { symbol, body } = await orderBodyOf(call);
  return placed(call, symbol, body);
}

/** Places an order of `/v1`, shown as a new one. */
export async function placed(
  call: AlpacaCall,
  symbol: string,
  body: Readonly<Record<string, unknown>>,
): Promise<AlpacaOrder> {
  try {
    const { orderId } = await call.operations.run(call, 'createOrder', { body });
    return newOrderShape(showingOf(call), await found(call, orderId));
  } catch (error) {
    throw error instanceof Refused ? translated(error, symbol) : error;
  }
}

async function found({ simulation }: AlpacaCall, orderId: string): Promise<OrderSnapshot> {
  const number = simulation.brokerage.state.ids.numberOf('ORDER', orderId);
  await simulation.underWay.certain();
  const order = number === undefined ? undefined : orderNow(simulation, number);
  if (order === undefined) throw new Error(`The order ${orderId} is not there`);
  return order;
}

const symbolsOf = ({ symbol, legs }: OrderTerms): readonly string[] =>
  legs === undefined ? [symbol] : legs.map(({ optionSymbol }) => optionSymbol);

export const listOrders: AlpacaHandler = async (call) => {
  const { query } = call;
  const symbols = query.list('symbols')?.map((symbol) => symbol.toUpperCase());
  const side = query.choice('side', ['buy', 'sell']);
  const assetClass = query.list('asset_class');
  const isNested = query.flag('nested');
  return findOrders(call, {
    status: query.choice('status', ['open', 'closed', 'all']) ?? 'open',
    after: query.instant('after'),
    until: query.instant('until'),
    limit: query.integer('limit', 1, 500) ?? 50,
    isAscending: query.choice('direction', ['asc', 'desc']) === 'asc',
    isAskedFor: (order, { terms }) =>
      (symbols === undefined ||
        symbols.length === 0 ||
        symbolsOf(terms).some((one) => symbols.includes(one))) &&
      (side === undefined || order.side === side) &&
      (assetClass === undefined || assetClass.includes(assetClassOf(terms))) &&
      // Rolled up under the order that brought them where that is wanted.
      !(isNested && leaderOf(terms.bracket) !== undefined),
  });
};

export const getOrder: AlpacaHandler = (call) => shownOrder(call, call.params['id'] ?? '');

export const getOrderByClientId: AlpacaHandler = (call) => {
  const clientOrderId = call.query.text('client_order_id');
  if (clientOrderId === undefined) throw invalid('client_order_id is required');
  return orderByClientId(call, clientOrderId);
};

/** Throws where an order is over, or was replaced by another. */
async function openOrderId(call: AlpacaCall, doing: string): Promise<string> {
  const { order, name } = await orderNamed(call, call.params['id'] ?? '');
  if (name.replacement < replacementsOf(order)) throw unprocessable('order is already in "replaced" state');
  if (isOver(order)) throw unprocessable(doing);
  return nameOf(call.simulation.brokerage.state.ids, { number: name.number, replacement: 0 });
}

const CANNOT_REPLACE = 'unable to replace order in current state';

/** Replaces an order: the answer is the new one, under an id of its own. */
export const replaceOrder: AlpacaHandler = async (call) => {
  const orderId = await openOrderId(call, CANNOT_REPLACE);
  try {
    await call.operations.run(call, 'updateOrder', { params: { orderId }, body: replacementOf(call) });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw error.details.code === 'ORDER_NOT_UPDATABLE' ? unprocessable(CANNOT_REPLACE) : translated(error);
  }
  return alpacaOrder(showingOf(call), await found(call, orderId));
};

export const cancelOrder: AlpacaHandler = async (call) => {
  await cancel(call, await openOrderId(call, 'order is not cancelable'));
  return new AlpacaAnswer(204);
};

async function cancel(call: AlpacaCall, orderId: string): Promise<void> {
  try {
    await call.operations.run(call, 'cancelOrder', { params: { orderId } });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw error.details.code === 'ORDER_NOT_UPDATABLE'
      ? unprocessable('order is not cancelable')
      : translated(error);
  }
}

/** Cancels all that is open: what became of each. */
export async function cancelAll(
  call: AlpacaCall,
  isAskedFor: (order: OrderSnapshot) => boolean = () => true,
): Promise<readonly { readonly id: string; readonly status: number; readonly body?: object }[]> {
  const { simulation, principal, portfolioId } = call;
  const open = await simulation.read([principal], ({ state }) =>
    [...(state.portfolios.get(portfolioId)?.openOrders.oldestFirst() ?? [])].filter(isAskedFor),
  );
  const answers = [];
  for (const order of open) {
    const orderId = simulation.brokerage.state.ids.idOf('ORDER', order.terms.number);
    const id = nameOf(simulation.brokerage.state.ids, {
      number: order.terms.number,
      replacement: replacementsOf(order),
    });
    // An exit goes with its entry, one of a pair with the other.
    if (!simulation.brokerage.state.orders.has(order.terms.number)) answers.push({ id, status: 200 });
    else answers.push({ id, ...(await outcomeOf(() => cancel(call, orderId))) });
  }
  return answers;
}

/** What became of one of several: its status, and the error's body where it was refused. */
export async function outcomeOf(
  attempt: () => Promise<unknown>,
): Promise<{ readonly status: number; readonly body?: object }> {
  try {
    const body = await attempt();
    return typeof body === 'object' && body !== null ? { status: 200, body } : { status: 200 };
  } catch (error) {
    const refusal = refusalOfError(error);
    if (refusal === undefined) throw error;
    const { status, body } = refusal instanceof AlpacaRefusal ? refusal : internalError;
    return { status, body };
  }
}

export const cancelAllOrders: AlpacaHandler = async (call) => new AlpacaAnswer(207, await cancelAll(call));
