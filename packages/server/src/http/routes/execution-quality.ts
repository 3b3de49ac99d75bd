/** Transaction costs over the API (D188): orders of the journal through the analytics package. */
import {
  type ExecutionQuality as Measured,
  ExecutionQualityTally,
  GroupedQuality,
  type MeasuredOrder,
} from '@sandpit/analytics';
import type { OrderAccepted, Quote } from '@sandpit/core';
import type { OrderExecutionQuality } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation.js';
import { measureOrders } from '../analytics/measure-orders.js';
import { ORDER_NOT_FOUND, PORTFOLIO_NOT_FOUND, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { quoteIn } from '../listed.js';
import { endOf, instantOf } from '../translate/instants.js';
import { hasPortfolio, ownOrder } from './owned.js';

type ExecutionQualityHandlers = Pick<Handlers, 'getExecutionQuality' | 'getOrderExecutionQuality'>;

const FROM_NOT_BEFORE_TO = refuse(400, ['from must be before to']);

export const executionQualityHandlers: ExecutionQualityHandlers = {
  async getExecutionQuality(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, principal, params, query } = call;
    const { calendar } = simulation.brokerage.rules;
    const from = query.from === undefined ? -Infinity : instantOf(query.from, calendar);
    const to = query.to === undefined ? Infinity : endOf(query.to, calendar);
    if (from >= to) return FROM_NOT_BEFORE_TO;
    await simulation.read([principal], () => undefined);
    const { portfolioId } = params;
    const { groupBy } = query;
    const tally = new ExecutionQualityTally();
    const grouped = groupBy === undefined ? undefined : new GroupedQuality(groupBy);
    await measureOrders(
      simulation,
      {
        isWanted: ({ request }, at) => request.portfolioId === portfolioId && at >= from && at < to,
        afterSeq: 0,
      },
      quotesNow(simulation),
      (order) => {
        tally.add(order);
        grouped?.add(order);
      },
    );
    return {
      ...shown(tally.result()),
      ...(grouped !== undefined && {
        groups: grouped.result().map(({ key, ...quality }) => ({ key, ...shown(quality) })),
      }),
    };
  },

  async getOrderExecutionQuality({ simulation, principal, params }) {
    const history = await simulation.past(principal);
    const order = await ownOrder(simulation, principal.tenantId, params.orderId);
    if (order === undefined) return ORDER_NOT_FOUND;
    const { number } = order.terms;
    const events = { simulationId: simulation.id, list: 'order-events', owner: String(number) } as const;
    const { total } = await history.list({ ...events, offset: 0, limit: 1 });
    const { items } = await history.list({ ...events, offset: total - 1, limit: 1 });
    const acceptedIn = items[0]?.seq ?? 1;
    return shown(await qualityOfOrder(simulation, number, acceptedIn));
  },
};

/** Records before its acceptance among which the quote of an order is looked for: more and more, then all. */
const LOOK_BACKS = [0, 1_000, 30_000, Infinity];

async function qualityOfOrder(simulation: Simulation, number: number, acceptedIn: number): Promise<Measured> {
  const isWanted = (event: OrderAccepted): boolean => event.number === number;
  for (const back of LOOK_BACKS) {
    const measured: MeasuredOrder[] = [];
    const part = { isWanted, afterSeq: Math.max(0, acceptedIn - 1 - back), lastAcceptedIn: acceptedIn };
    const isComplete = await measureOrders(simulation, part, quotesNow(simulation), (order) => {
      measured.push(order);
    });
    if (!isComplete) continue;
    const tally = new ExecutionQualityTally();
    for (const order of measured) tally.add(order);
    return tally.result();
  }
  throw new Error(`The journal does not tell what order ${number} met`);
}

/** Finds quotes in force now. */
export const quotesNow =
  (simulation: Simulation) =>
  (symbol: string): Quote | undefined =>
    quoteIn(simulation, simulation.brokerage, symbol, simulation.now());

const DIGITS = 15;

/** Without the noise of binary fractions behind the digits that a double is sure of. */
function shown(quality: Measured): OrderExecutionQuality {
  const figures: Record<string, number> = {};
  for (const [name, value] of Object.entries<number>({ ...quality }))
    figures[name] = Number(value.toPrecision(DIGITS));
  return figures as typeof figures & OrderExecutionQuality;
}
