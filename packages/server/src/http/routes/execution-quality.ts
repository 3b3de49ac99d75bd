/** Transaction costs over the API (D188): orders of the journal through the analytics package. */
import type { ExecutionQuality as Measured } from '@sandpit/analytics';
import type { OrderExecutionQuality } from '@sandpit/protocol';
import type { Analytics } from '../analytics/analytics.js';
import { ORDER_NOT_FOUND, PORTFOLIO_NOT_FOUND, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { endOf, instantOf } from '../translate/instants.js';
import { hasPortfolio, ownOrder } from '../owned.js';

type ExecutionQualityHandlers = Pick<Handlers, 'getExecutionQuality' | 'getOrderExecutionQuality'>;

const FROM_NOT_BEFORE_TO = refuse(400, ['from must be before to']);

export const executionQualityHandlers = (analytics: Analytics): ExecutionQualityHandlers => ({
  async getExecutionQuality(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, params, query } = call;
    const { calendar } = simulation.brokerage.rules;
    const from = query.from === undefined ? -Infinity : instantOf(query.from, calendar);
    const to = query.to === undefined ? Infinity : endOf(query.to, calendar);
    if (from >= to) return FROM_NOT_BEFORE_TO;
    const { quality, groups, slippages } = await analytics.study('quality', call, {
      portfolioId: params.portfolioId,
      from,
      to,
      ...(query.groupBy !== undefined && { groupBy: query.groupBy }),
      withSlippages: query.slippages === true,
    });
    return {
      ...shown(quality),
      ...(groups !== undefined && {
        groups: groups.map(({ key, ...figures }) => ({ key, ...shown(figures) })),
      }),
      ...(slippages !== undefined && { slippages: slippages.map(rounded) }),
    };
  },

  async getOrderExecutionQuality(call) {
    const { simulation, params } = call;
    const history = await simulation.past();
    const order = await ownOrder(simulation, params.orderId);
    if (order === undefined) return ORDER_NOT_FOUND;
    const { number } = order.terms;
    const events = { simulationId: simulation.id, list: 'order-events', owner: String(number) } as const;
    const { total } = await history.list({ ...events, offset: 0, limit: 1 });
    const { items } = await history.list({ ...events, offset: total - 1, limit: 1 });
    const acceptedIn = items[0]?.seq ?? 1;
    return shown(await analytics.study('orderQuality', call, { number, acceptedIn }));
  },
});

const DIGITS = 15;

const rounded = (value: number): number => Number(value.toPrecision(DIGITS));

/** Rounded to 15 digits, without the noise of binary fractions. */
function shown(quality: Measured): OrderExecutionQuality {
  const figures: Record<string, number> = {};
  for (const [name, value] of Object.entries<number>({ ...quality })) figures[name] = rounded(value);
  return figures as typeof figures & OrderExecutionQuality;
}
