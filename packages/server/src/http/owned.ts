/** Finds the objects that a request names, in the simulation of its token: those of other tenants are in others (D1). */
import type { Brokerage, Order, OrderSnapshot, Portfolio } from '@sandpit/core';
import { orderNow, withRows } from '../engine/simulation/past-orders.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { type Answer, PORTFOLIO_NOT_FOUND } from './answer.js';
import { type ClosedPortfolio, closedPortfolioOf } from './translate/portfolios.js';

export const ownPortfolio = ({ state }: Brokerage, portfolioId: string): Portfolio | undefined =>
  state.portfolios.get(portfolioId);

/** An order that is open. */
export function ownOpenOrder({ state }: Brokerage, orderId: string): Order | undefined {
  const number = state.ids.numberOf('ORDER', orderId);
  return number === undefined ? undefined : state.orders.get(number);
}

/** A closed portfolio, with its state at the close (D142). */
export async function ownClosedPortfolio(
  simulation: Simulation,
  portfolioId: string,
): Promise<ClosedPortfolio | undefined> {
  const history = await simulation.past();
  const row = await history.closedPortfolio(simulation.id, portfolioId);
  return row === undefined ? undefined : closedPortfolioOf(row);
}

/** A portfolio: its ids, and the stored remainder of a closed one. */
export interface OwnPortfolio {
  readonly portfolioId: string;
  readonly accountId: string;
  readonly brokerId: string;
  readonly number: number;
  /** Undefined while it is open. */
  readonly closed: ClosedPortfolio | undefined;
}

/** The portfolios of a simulation, newest first. Names only, but for the closed ones, which are durable. */
export async function ownPortfolios(
  simulation: Simulation,
  which: 'OPEN' | 'CLOSED' | 'ALL',
): Promise<readonly OwnPortfolio[]> {
  const found: OwnPortfolio[] = [];
  if (which !== 'OPEN') {
    const history = await simulation.past();
    for (const row of await history.closedPortfolios(simulation.id)) {
      const closed = closedPortfolioOf(row);
      found.push({ ...closed.terms, brokerId: closed.settings.brokerId, closed });
    }
  }
  if (which !== 'CLOSED')
    for (const { terms, settings } of simulation.brokerage.state.portfolios.values())
      found.push({ ...terms, brokerId: settings.brokerId, closed: undefined });
  return found.sort((a, b) => b.number - a.number);
}

/** True when there is, or was, such a portfolio: the history of a closed one stays readable. */
export async function hasPortfolio({ simulation, principal, params }: PortfolioRequest): Promise<boolean> {
  const { portfolioId } = params;
  const isOpen = await simulation.read(
    [principal],
    (brokerage) => ownPortfolio(brokerage, portfolioId) !== undefined,
  );
  return isOpen || (await ownClosedPortfolio(simulation, portfolioId)) !== undefined;
}

/** An order, open or closed. Call it after a read, so that the result is durable. */
export async function ownOrder(simulation: Simulation, orderId: string): Promise<OrderSnapshot | undefined> {
  const number = simulation.brokerage.state.ids.numberOf('ORDER', orderId);
  if (number === undefined) return undefined;
  await simulation.rows.certain();
  return withRows(() => orderNow(simulation, number));
}

/**
 * The symbols that portfolios hold: a read refreshes them before it values them. The caller does not see them, so they may be collected
 * before the read.
 */
export function holdingsOf(portfolios: Iterable<Portfolio | undefined>): Set<string> {
  const symbols = new Set<string>();
  for (const portfolio of portfolios)
    for (const symbol of portfolio?.positions.keys() ?? []) symbols.add(symbol);
  return symbols;
}

/** A request that names a portfolio in its path. */
export interface PortfolioRequest {
  readonly simulation: Simulation;
  readonly principal: object;
  readonly params: { readonly portfolioId: string };
}

/** Reads one portfolio, with the quotes of its positions; or the stored remainder of a closed one. */
export async function readPortfolio<T>(
  { simulation, principal, params }: PortfolioRequest,
  look: (brokerage: Brokerage, portfolio: Portfolio) => T,
  lookBack: (brokerage: Brokerage, closed: ClosedPortfolio) => T,
): Promise<T | Answer> {
  const { portfolioId } = params;
  const seen = await simulation.read(
    [principal],
    (brokerage) => {
      const portfolio = ownPortfolio(brokerage, portfolioId);
      return portfolio === undefined ? undefined : look(brokerage, portfolio);
    },
    holdingsOf([ownPortfolio(simulation.brokerage, portfolioId)]),
  );
  if (seen !== undefined) return seen;
  const closed = await ownClosedPortfolio(simulation, portfolioId);
  return closed === undefined ? PORTFOLIO_NOT_FOUND : lookBack(simulation.brokerage, closed);
}
