/** A bare array of orders, each with its own portfolio: executed in sequence, with an outcome for each. */
import { Refused } from '@sandpit/dialect-port';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Charge } from '../admission.js';
import { Answer, refuse } from '../answer.js';
import { failed, reply as sendAnswer } from '../reply.js';
import type { Operations } from './operations.js';

const MOST_ORDERS = 1000;

export function placeOrders(
  operations: Operations,
  charge: Charge,
  request: FastifyRequest,
  reply: FastifyReply,
  orders: readonly unknown[],
): void {
  place(operations, charge, request, reply, orders).then(
    (answer) => sendAnswer(request, reply, answer),
    (error: unknown) => failed(request, reply, error),
  );
}

async function place(
  operations: Operations,
  charge: Charge,
  request: FastifyRequest,
  reply: FastifyReply,
  orders: readonly unknown[],
): Promise<Answer> {
  const { principal, simulation } = request;
  if (principal === undefined || simulation === undefined) throw new Error('orders without a principal');
  if (orders.length === 0 || orders.length > MOST_ORDERS)
    return refuse(400, [`body must contain 1 to ${MOST_ORDERS} orders`]);
  const tooMany = charge({ request }, orders.length);
  if (tooMany !== undefined) return tooMany;
  const caller = { principal, simulation, request, reply };
  const successful: object[] = [];
  const failures: object[] = [];
  for (const [index, given] of orders.entries()) {
    try {
      const { orderId, portfolioId, accountId } = await operations.run(caller, 'createOrder', {
        body: given,
      });
      successful.push({ index, orderId, portfolioId, accountId });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      failures.push({ index, ...(JSON.parse(error.answer.text) as object) });
    }
  }
  const message = `${successful.length} successful, ${failures.length} failed`;
  return Answer.json(201, { successful, failed: failures, message });
}
