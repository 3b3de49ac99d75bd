/** Reads the whole history of a portfolio for the analytics package. */
import { type RoundTrip, RoundTripBook } from '@sandpit/analytics';
import type { Simulation } from '../../engine/simulation.js';
import { Slice } from '../../engine/slice.js';
import type { History, ListItem, ListName } from '../../store/history.js';
import { PortfolioRecorder, type PortfolioRecord } from './portfolio-record.js';

const ITEMS_AT_ONCE = 1000;
/** Items between two looks at the time. */
const ITEMS_BETWEEN = 32;

export async function readRecord(
  simulation: Simulation,
  history: History,
  portfolioId: string,
): Promise<PortfolioRecord> {
  const { brokerage } = simulation;
  const slice = new Slice();
  const recorder = new PortfolioRecorder({
    calendar: brokerage.rules.calendar,
    instrument: (symbol, at) => brokerage.instrument(symbol, at),
    orderId: (order) => brokerage.state.ids.idOf('ORDER', order),
  });
  const [activities, closes] = await Promise.all([oldestFirst('activities'), oldestFirst('equity')]);
  let next = 0;
  for (const [index, item] of activities.entries()) {
    for (let close = closes[next]; close !== undefined && close.seq < item.seq; close = closes[(next += 1)])
      recorder.close(close);
    recorder.add(item);
    if (index % ITEMS_BETWEEN === 0) await slice.breathe();
  }
  for (const close of closes.slice(next)) recorder.close(close);
  return recorder.result();

  async function oldestFirst(list: ListName): Promise<readonly ListItem[]> {
    const items: ListItem[] = [];
    let before: number | undefined;
    do {
      const page = await history.list({
        simulationId: simulation.id,
        list,
        owner: portfolioId,
        offset: 0,
        limit: ITEMS_AT_ONCE,
        ...(before !== undefined && { before }),
      });
      items.push(...page.items);
      before = page.next;
      await slice.breathe();
    } while (before !== undefined);
    return items.reverse();
  }
}

/** Round trips of a record, others having the event loop in between. */
export async function roundTripsIn({ events }: Pick<PortfolioRecord, 'events'>): Promise<RoundTrip[]> {
  const slice = new Slice();
  const book = new RoundTripBook();
  for (const [index, event] of events.entries()) {
    book.apply(event);
    if (index % ITEMS_BETWEEN === 0) await slice.breathe();
  }
  const trips: RoundTrip[] = [];
  for (const trip of book.trips()) if (trips.push(trip) % ITEMS_BETWEEN === 0) await slice.breathe();
  return trips;
}
