/** Announces what a move of the clock brought. */
import type { Activity } from '@sandpit/protocol';
import type { Broker } from '../broker.ts';
import { announce } from '../ui/toaster.tsx';
import { settledTradesOf, summaryOf } from './jump-summary.ts';

/** Portfolios that a summary reads, activities of a request, and of each portfolio. */
const PORTFOLIOS = 25;
const ACTIVITIES = 500;
const MOST_ACTIVITIES = 5000;
/** Trades settle within three business days, holidays aside. */
const LONGEST_SETTLEMENT_MS = 10 * 86_400_000;

interface Before {
  readonly now: string;
  readonly equity: number;
  readonly portfolioIds: readonly string[];
  /** False = there are more portfolios than a summary reads. */
  readonly isWhole: boolean;
}

async function look(broker: Pick<Broker, 'call' | 'list'>): Promise<Before> {
  const [{ now }, { data, pagination }] = await Promise.all([
    broker.call('getMarketHours'),
    broker.call('listPortfolios', { query: { limit: PORTFOLIOS } }),
  ]);
  return {
    now,
    equity: data.reduce((sum, { totalEquity }) => sum + totalEquity, 0),
    portfolioIds: data.map(({ portfolioId }) => portfolioId),
    isWhole: pagination.total <= data.length,
  };
}

/** The activities of a portfolio that a query selects, newest first. */
async function activitiesOf(
  broker: Pick<Broker, 'list'>,
  portfolioId: string,
  selection: { readonly from: string; readonly category?: 'EXECUTION' },
): Promise<readonly Activity[]> {
  const found: Activity[] = [];
  const query = { ...selection, limit: ACTIVITIES };
  for await (const activity of broker.list('listActivities', { params: { portfolioId }, query })) {
    found.push(activity);
    if (found.length === MOST_ACTIVITIES) break;
  }
  return found;
}

/** The activities of a portfolio after an instant, and the orders that settled among them. */
async function happenedSince(
  broker: Pick<Broker, 'list'>,
  portfolioId: string,
  from: string,
): Promise<{ readonly activities: readonly Activity[]; readonly settledTrades: number }> {
  const all = await activitiesOf(broker, portfolioId, { from });
  const activities = all.filter(({ at }) => Date.parse(at) > Date.parse(from));
  if (!activities.some(({ type }) => type === 'SETTLED')) return { activities, settledTrades: 0 };
  const fills = await activitiesOf(broker, portfolioId, {
    from: new Date(Date.parse(from) - LONGEST_SETTLEMENT_MS).toISOString(),
    category: 'EXECUTION',
  });
  return { activities, settledTrades: settledTradesOf([...activities, ...fills]) };
}

/** Moves the clock and announces the summary. A summary that cannot be read is left out: the move counts. */
export async function withSummary(
  broker: Pick<Broker, 'call' | 'list'>,
  move: () => Promise<void>,
): Promise<void> {
  const before = await look(broker).catch(() => undefined);
  await move();
  if (before === undefined || before.portfolioIds.length === 0) return;
  try {
    const [after, lists] = await Promise.all([
      look(broker),
      Promise.all(before.portfolioIds.map((portfolioId) => happenedSince(broker, portfolioId, before.now))),
    ]);
    if (after.now === before.now) return;
    const text = summaryOf(
      lists.flatMap(({ activities }) => activities),
      { before: before.equity, after: after.equity },
      lists.reduce((sum, { settledTrades }) => sum + settledTrades, 0),
    );
    announce(
      'The clock moved',
      before.isWhole ? text : `In the first ${PORTFOLIOS} portfolios: ${text}`,
      'info',
      'clock',
    );
  } catch {
    // The pages show what happened.
  }
}
