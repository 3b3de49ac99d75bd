import type { OrderQuery as OrderFilters } from '@sandpit/protocol';
import { storedOrder, withRows } from '../../engine/simulation/past-orders.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { mapInSlices } from '../../engine/scheduling/slice.js';
import type { OrderQuery, OrderRow } from '../../store/history.js';
import { ACCOUNT_NOT_FOUND, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers } from '../call.js';
import { symbolIn } from '../listed.js';
import { endOf, instantOf } from '../translate/instants.js';
import { orderListItem } from '../translate/orders.js';
import { pageOfAll, pageReply, windowOf } from '../translate/pages.js';
import { shownClosed, shownOpen } from './orders.js';
import { hasPortfolio, type OwnPortfolio, ownPortfolios } from '../owned.js';

type OrderListHandlers = Pick<
  Handlers,
  'listOrders' | 'listAccountOrders' | 'listPortfolioOrders' | 'listFilledToday'
>;

export const orderListHandlers: OrderListHandlers = {
  async listOrders(call) {
    const { simulation, principal, query } = call;
    const { accountId, portfolioId, clientOrderId } = query;
    if (accountId !== undefined && !(await hasAccount(call, accountId))) return ACCOUNT_NOT_FOUND;
    if (
      portfolioId !== undefined &&
      !(await hasPortfolio({ simulation, principal, params: { portfolioId } }))
    )
      return PORTFOLIO_NOT_FOUND;
    const history = await simulation.past();
    if (clientOrderId !== undefined || (accountId !== undefined && portfolioId !== undefined)) {
      const mine = await ownPortfolios(simulation, 'ALL');
      const named = mine.filter(
        (one) =>
          (accountId === undefined || one.accountId === accountId) &&
          (portfolioId === undefined || one.portfolioId === portfolioId),
      );
      if (clientOrderId !== undefined) return ordersNamed(call, named, clientOrderId);
      if (named.length === 0) return pageReply([], { total: 0 }, query);
    }
    const scope =
      portfolioId !== undefined ? { portfolioId } : accountId !== undefined ? { accountId } : EVERY_ORDER;
    const page = await history.orders(queryOf(simulation, scope, query));
    return pageReply(await ordersOf(call, page.items), page, query);
  },

  async listAccountOrders(call) {
    const { simulation, params, query } = call;
    const { accountId } = params;
    if (!(await hasAccount(call, accountId))) return ACCOUNT_NOT_FOUND;
    const history = await simulation.past();
    const page = await history.orders(queryOf(simulation, { accountId }, query));
    return pageReply(
      await mapInSlices(page.items, (row) => orderListItem(simulation.brokerage.state.ids, storedOrder(row))),
      page,
      query,
    );
  },

  async listPortfolioOrders(call) {
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { simulation, params, query } = call;
    const { portfolioId } = params;
    const history = await simulation.past();
    const page = await history.orders(queryOf(simulation, { portfolioId }, query));
    return pageReply(await ordersOf(call, page.items), page, query);
  },

  async listFilledToday(call) {
    const { simulation, principal, query } = call;
    await simulation.read([principal], () => undefined);
    const filledOn = simulation.brokerage.rules.calendar.dateOf(simulation.now());
    const scope = { filledOn };
    const history = await simulation.past();
    const page = await history.orders({
      simulationId: simulation.id,
      scope,
      ...windowOf(query),
    });
    return pageReply(await ordersOf(call, page.items), page, query);
  },
};

const EVERY_ORDER = { every: 'order' } as const;

function queryOf(simulation: Simulation, scope: OrderQuery['scope'], query: OrderFilters): OrderQuery {
  const { calendar } = simulation.brokerage.rules;
  const { status, symbol, assetClass, from, to } = query;
  return {
    simulationId: simulation.id,
    scope,
    ...(status !== undefined && { status: status.split(',') }),
    ...(symbol !== undefined && { symbol: symbolIn(simulation, symbol) }),
    ...(assetClass !== undefined && { assetClass }),
    ...(from !== undefined && { from: instantOf(from, calendar) }),
    ...(to !== undefined && { to: endOf(to, calendar) }),
    ...windowOf(query),
  };
}

const hasAccount = (
  { simulation, principal }: Pick<Call, 'simulation' | 'principal'>,
  accountId: string,
): Promise<boolean> => simulation.read([principal], ({ state }) => state.accounts.has(accountId));

/** The orders of these portfolios that have a client order id, at most one each. Call after the past is loaded. */
async function ordersNamed(
  call: Call<'listOrders'>,
  portfolios: readonly OwnPortfolio[],
  clientOrderId: string,
) {
  const { simulation, query } = call;
  const { id, history } = simulation;
  const {
    status,
    symbol,
    assetClass,
    from = -Infinity,
    to = Infinity,
  } = queryOf(simulation, EVERY_ORDER, query);
  const rows: OrderRow[] = [];
  for (const { portfolioId } of portfolios) {
    const number = await history.orderByClientOrderId(id, portfolioId, clientOrderId);
    const row = number === undefined ? undefined : await history.order(id, number);
    if (row !== undefined) rows.push(row);
  }
  const asked = rows.filter((row) => {
    const { terms } = storedOrder(row);
    return (
      (status === undefined || status.includes(row.status)) &&
      (symbol === undefined || terms.symbol === symbol) &&
      (assetClass === undefined || terms.assetClass === assetClass) &&
      terms.createdAt >= from &&
      terms.createdAt < to
    );
  });
  asked.sort((a, b) => b.number - a.number);
  const page = pageOfAll(
    asked,
    query,
    ({ number }) => number,
    (row) => row,
  );
  return { ...page, data: await ordersOf(call, page.data) };
}

/** Orders that one turn of the event loop shows: less than a millisecond. */
const SHOWN_AT_ONCE = 20;

/** Orders of history in full; open ones with the condition that they wait for. */
async function ordersOf(
  { simulation, principal }: Pick<Call, 'simulation' | 'principal'>,
  rows: readonly OrderRow[],
) {
  const parts = Array.from({ length: Math.ceil(rows.length / SHOWN_AT_ONCE) }, (_, i) =>
    rows.slice(i * SHOWN_AT_ONCE, (i + 1) * SHOWN_AT_ONCE),
  );
  const shown = await mapInSlices(parts, (part) =>
    withRows(() =>
      simulation.read([principal], (brokerage) =>
        part.map((row) => {
          const open = brokerage.state.orders.get(row.number);
          return open === undefined
            ? shownClosed(simulation, storedOrder(row))
            : shownOpen(brokerage, simulation, open);
        }),
      ),
    ),
  );
  return shown.flat();
}
