/** Reads the whole history of a portfolio for the analytics package. */
import type { Simulation } from '../../engine/simulation.js';
import { Slice } from '../../engine/slice.js';
import type { History, ListItem, ListName } from '../../store/history.js';
import { PortfolioRecorder, type PortfolioRecord } from './portfolio-record.js';

const ITEMS_AT_ONCE = 500;

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
  const activities = await oldestFirst('activities');
  const closes = await oldestFirst('equity');
  let next = 0;
  for (const item of activities) {
    for (let close = closes[next]; close !== undefined && close.seq < item.seq; close = closes[(next += 1)])
      recorder.close(close);
    recorder.add(item);
    await slice.breathe();
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
