/** Finding what a request names among what its tenant owns. What belongs to others is not there (D1). */
import type { Brokerage, Order, Portfolio } from '@sandpit/core';
import type { Simulation } from '../../engine/simulation.js';
import type { OrderRow } from '../../store/history.js';

export function ownPortfolio(
  { state }: Brokerage,
  tenantId: string,
  portfolioId: string,
): Portfolio | undefined {
  const portfolio = state.portfolios.get(portfolioId);
  return portfolio?.terms.tenantId === tenantId ? portfolio : undefined;
}

/** An order that is open. */
export function ownOpenOrder({ state }: Brokerage, tenantId: string, orderId: string): Order | undefined {
  const number = state.ids.numberOf('ORDER', orderId);
  const order = number === undefined ? undefined : state.orders.get(number);
  return order?.terms.tenantId === tenantId ? order : undefined;
}

/** An order in history, open or closed. */
export function ownOrderRow(simulation: Simulation, tenantId: string, orderId: string): OrderRow | undefined {
  const number = simulation.brokerage.state.ids.numberOf('ORDER', orderId);
  const row = number === undefined ? undefined : simulation.history.order(simulation.id, number);
  return row?.tenantId === tenantId ? row : undefined;
}

/**
 * The symbols that portfolios hold: what a read has to bring up to date before it values them. Names only, which show nobody
 * anything; so they may be looked up before the read.
 */
export function holdingsOf(portfolios: Iterable<Portfolio | undefined>): Set<string> {
  const symbols = new Set<string>();
  for (const portfolio of portfolios)
    for (const symbol of portfolio?.positions.keys() ?? []) symbols.add(symbol);
  return symbols;
}

/** A look at one portfolio with the quotes of what it holds; undefined where the tenant has no such portfolio. */
export function readPortfolio<T>(
  simulation: Simulation,
  tenantId: string,
  portfolioId: string,
  look: (portfolio: Portfolio, brokerage: Brokerage) => T,
): Promise<T | undefined> {
  return simulation.read(
    (brokerage) => {
      const portfolio = ownPortfolio(brokerage, tenantId, portfolioId);
      return portfolio === undefined ? undefined : look(portfolio, brokerage);
    },
    holdingsOf([ownPortfolio(simulation.brokerage, tenantId, portfolioId)]),
  );
}
