import { accountKey } from '@sandpit/core';
import type { OrderQuery as OrderFilters } from '@sandpit/protocol';
import { storedOrder } from '../../engine/past-orders.js';
import type { Simulation } from '../../engine/simulation.js';
import type { OrderQuery, OrderRow } from '../../store/history.js';
import { ACCOUNT_NOT_FOUND, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers } from '../call.js';
import { symbolIn } from '../listed.js';
import { endOf, instantOf } from '../translate/instants.js';
import { orderListItem } from '../translate/orders.js';
import { pageReply, windowOf } from '../translate/pages.js';
import { shownClosed, shownOpen } from './orders.js';
import { hasPortfolio } from './owned.js';

type OrderListHandlers = Pick<Handlers, 'listAccountOrders' | 'listPortfolioOrders' | 'listFilledToday'>;

export const orderListHandlers: OrderListHandlers = {
  async listAccountOrders({ simulation, principal, params, query }) {
    const { tenantId } = principal;
    const { accountId } = params;
    const isOwn = await simulation.read([principal], ({ state }) =>
      state.accounts.has(accountKey(tenantId, accountId)),
    );
    if (!isOwn) return ACCOUNT_NOT_FOUND;
    const history = await simulation.past(principal);
    const { items, total } = await history.orders(queryOf(simulation, { tenantId, accountId }, query));
    return pageReply(
      items.map((row) => orderListItem(simulation.brokerage.state.ids, storedOrder(row))),
      total,
      query,
    );
  },

  async listPortfolioOrders(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, principal, params, query } = call;
    const { portfolioId } = params;
    const history = await simulation.past(principal);
    const { items, total } = await history.orders(queryOf(simulation, { portfolioId }, query));
    return pageReply(await ordersOf(call, items), total, query);
  },

  async listFilledToday(call) {
    const { simulation, principal, query } = call;
    await simulation.read([principal], () => undefined);
    const filledOn = simulation.brokerage.rules.calendar.dateOf(simulation.now());
    const scope = { tenantId: principal.tenantId, filledOn };
    const history = await simulation.past(principal);
    const { items, total } = await history.orders({
      simulationId: simulation.id,
      scope,
      ...windowOf(query),
    });
    return pageReply(await ordersOf(call, items), total, query);
  },
};

function queryOf(simulation: Simulation, scope: OrderQuery['scope'], query: OrderFilters): OrderQuery {
  const { calendar } = simulation.brokerage.rules;
  const { status, symbol, assetClass, from, to } = query;
  return {
    simulationId: simulation.id,
    scope,
    ...(status !== undefined && { status }),
    ...(symbol !== undefined && { symbol: symbolIn(simulation, symbol) }),
    ...(assetClass !== undefined && { assetClass }),
    ...(from !== undefined && { from: instantOf(from, calendar) }),
    ...(to !== undefined && { to: endOf(to, calendar) }),
    ...windowOf(query),
  };
}

/** Orders of history in full; those still open say what they wait for. */
function ordersOf(
  { simulation, principal }: Pick<Call, 'simulation' | 'principal'>,
  rows: readonly OrderRow[],
) {
  return simulation.read([principal], (brokerage) =>
    rows.map((row) => {
      const open = brokerage.state.orders.get(row.number);
      return open === undefined
        ? shownClosed(simulation, storedOrder(row))
        : shownOpen(brokerage, simulation, open);
    }),
  );
}
