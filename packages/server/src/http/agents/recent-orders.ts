/** Recent orders of an agent from before the server started, read from its orders: a cap per minute outlives a restart. */
import { Instant, isOrderEvent, type Event, type OrderProgress, type OrderTerms } from '@sandpit/core';
import type { Simulation } from '../../engine/simulation/simulation.js';

const ORDERS_AT_ONCE = 500;
/** More orders than a tenant places in a minute. */
const MOST_ORDERS = 20_000;
const MOST_CHANGES = 500;

/** The fields of an order that show when it was placed and changed. */
interface Placed {
  readonly number: number;
  readonly terms: Pick<OrderTerms, 'agent' | 'createdAt'>;
  readonly progress: Pick<OrderProgress, 'replacements' | 'updatedAt'>;
}

/**
 * Ages, in ms, of the orders that the agent placed and changed within `withinMs`, at most `most` of them. Only a wall clock has real ages.
 * On any other clock the agent's latest orders count as of now, so that none is forgotten.
 */
export async function agesOfOrders(
  simulation: Simulation,
  agentId: string,
  most: number,
  withinMs: number,
): Promise<readonly number[]> {
  const { mode, now } = simulation.clock();
  const since = mode === 'wall' ? now - withinMs : Number.NEGATIVE_INFINITY;
  const ages: number[] = [];
  const takes = async (order: Placed): Promise<void> => {
    if (order.terms.createdAt > since) ages.push(mode === 'wall' ? now - order.terms.createdAt : 0);
    if (order.progress.replacements === undefined || order.progress.updatedAt <= since) return;
    for (const at of await changesOf(simulation, order.number))
      if (at > since) ages.push(mode === 'wall' ? now - at : 0);
  };
  const seen = new Set<number>();
  for await (const order of latest(simulation, since)) {
    if (order.terms.agent !== agentId) continue;
    seen.add(order.number);
    await takes(order);
    if (ages.length >= most) return ages.slice(0, most);
  }
  for (const { terms, progress } of simulation.brokerage.state.orders.values())
    if (terms.agent === agentId && !seen.has(terms.number) && progress.updatedAt > since)
      await takes({ number: terms.number, terms, progress });
  return ages.sort((a, b) => a - b).slice(0, most);
}

/** The orders placed since, the latest first. */
async function* latest(simulation: Simulation, since: number): AsyncGenerator<Placed, void, undefined> {
  const history = await simulation.past();
  let before: number | undefined;
  let told = 0;
  do {
    const page = await history.orders({
      simulationId: simulation.id,
      scope: { every: 'order' },
      ...(Number.isFinite(since) && { from: since }),
      offset: 0,
      limit: ORDERS_AT_ONCE,
      ...(before !== undefined && { before }),
    });
    for (const { number, terms, progress } of page.items)
      yield {
        number,
        terms: JSON.parse(terms) as Placed['terms'],
        progress: JSON.parse(progress) as Placed['progress'],
      };
    told += page.items.length;
    before = page.next;
  } while (before !== undefined && told < MOST_ORDERS);
}

/** Instants at which requests changed an order, the latest first. */
async function changesOf(simulation: Simulation, number: number): Promise<readonly Instant[]> {
  const history = await simulation.past();
  const { items } = await history.list({
    simulationId: simulation.id,
    list: 'order-events',
    owner: String(number),
    offset: 0,
    limit: MOST_CHANGES,
  });
  return items
    .filter(({ data }) => {
      const event = data as Event;
      return isOrderEvent(event) && event.type === 'OrderMoved' && event.transition === 'REPLACED';
    })
    .map(({ at }) => Instant.ofMs(at));
}
