import type { History, ListQuery, OrderQuery, RowSource } from './history.js';

/** The history of simulations in two stores. `of`: the one that has a simulation. */
export const routedHistory = (durable: History, of: (simulationId: string) => History): History => ({
  answersAtOnce: durable.answersAtOnce,
  health: () => durable.health(),
  open: (source: RowSource, isForkBeginning?: boolean) =>
    of(source.simulationId).open(source, isForkBeginning),
  note: (source: RowSource) => of(source.simulationId).note(source),
  leave: (source: RowSource) => of(source.simulationId).leave(source),
  make: (id, isAnew) => of(id).make(id, isAnew),
  isComplete: (id) => of(id).isComplete(id),
  completed: (id) => of(id).completed(id),
  position: (id) => of(id).position(id),
  flush: (id) => of(id).flush(id),
  order: (id, order) => of(id).order(id, order),
  closedPortfolio: (id, portfolioId) => of(id).closedPortfolio(id, portfolioId),
  closedPortfolios: (id) => of(id).closedPortfolios(id),
  orderByClientOrderId: (id, portfolioId, clientOrderId) =>
    of(id).orderByClientOrderId(id, portfolioId, clientOrderId),
  orders: (query: OrderQuery) => of(query.simulationId).orders(query),
  list: (query: ListQuery) => of(query.simulationId).list(query),
  standingMinutes: (id, portfolioId) => of(id).standingMinutes(id, portfolioId),
  standings: (id, portfolioId, from, to) => of(id).standings(id, portfolioId, from, to),
  marks: (id, symbol, from, to) => of(id).marks(id, symbol, from, to),
  streamEvents: (id, after, limit) => of(id).streamEvents(id, after, limit),
});
