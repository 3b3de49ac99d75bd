/** Announces what a move of the clock brought. */
import type { Activity } from '@sandpit/protocol';
import type { Broker } from '../broker.ts';
import { announce } from '../ui/toaster.tsx';
import { summaryOf } from './jump-summary.ts';

/** Portfolios and activities of each that a summary reads. */
const PORTFOLIOS = 10;
const ACTIVITIES = 500;

interface Before {
  readonly now: string;
  readonly equity: number;
  readonly portfolioIds: readonly string[];
  /** False = there are more portfolios than a summary reads. */
  readonly isWhole: boolean;
}

async function look(broker: Pick<Broker, 'call'>): Promise<Before> {
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

/** Moves the clock and announces the summary. A summary that cannot be read is left out: the move counts. */
export async function withSummary(broker: Pick<Broker, 'call'>, move: () => Promise<void>): Promise<void> {
  const before = await look(broker).catch(() => undefined);
  await move();
  if (before === undefined || before.portfolioIds.length === 0 || !before.isWhole) return;
  try {
    const [after, lists] = await Promise.all([
      look(broker),
      Promise.all(
        before.portfolioIds.map((portfolioId) =>
          broker.call('listActivities', {
            params: { portfolioId },
            query: { from: before.now, limit: ACTIVITIES },
          }),
        ),
      ),
    ]);
    if (after.now === before.now) return;
    const activities = lists
      .flatMap(({ data }): readonly Activity[] => data)
      .filter(({ at }) => Date.parse(at) > Date.parse(before.now));
    announce(
      'The clock moved',
      summaryOf(activities, { before: before.equity, after: after.equity }),
      'info',
      'clock',
    );
  } catch {
    // The pages show what happened.
  }
}
