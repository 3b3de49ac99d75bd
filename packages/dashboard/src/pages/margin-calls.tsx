/** Margin calls, and the broker's actions step by step. */
import type { MarginCall, PortfolioUpdate } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { activityText } from '../activity-text.ts';
import { useBroker } from '../broker.ts';
import { moment, money, words } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import { Rule } from '../why/rule.tsx';
import { useClockMoves } from '../clock-moves.ts';
import type { Column } from '../parts/column.ts';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf } from '../route.ts';

const STEPS = 50;

export function MarginCalls({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const broker = useBroker();
  const { portfolioId } = portfolio;
  const found = useLoad(async () => {
    const params = { portfolioId };
    const [calls, told] = await Promise.all([
      broker.call('listMarginCalls', { params, query: { limit: STEPS } }),
      broker.call('listActivities', { params, query: { category: 'MARGIN', limit: STEPS } }),
    ]);
    return { calls: calls.data, told: told.data };
  }, [portfolioId]);
  // The amount due moves with the market, without an event.
  useEffect(() => found.reload(), [portfolio.updatedAt, portfolio.marginCallActive, portfolio.totalEquity]);
  useEvery(5000, found.reload);
  useClockMoves(found.reload);
  const { value, error } = found;
  if (error !== undefined) return <Problem error={error} retry={found.reload} />;
  if (value === undefined || value.calls.length + value.told.length === 0) return null;
  return (
    <section aria-label="Margin calls">
      <h2>
        Margin calls <Rule name="calls" />
      </h2>
      {value.calls.length > 0 && (
        <Table label="Calls" columns={CALLS} rows={value.calls} keyOf={({ callId }) => callId} />
      )}
      {value.told.length > 0 && (
        <>
          <h3>History, newest first</h3>
          <ol class="states">
            {value.told.map((step) => (
              <li key={step.activityId}>
                <time dateTime={step.at}>{moment(step.at)}</time> <strong>{words(step.type)}</strong>{' '}
                {activityText(step)}{' '}
                {step.symbol !== undefined && (
                  <a
                    href={hrefOf(broker.simulationId, `portfolio/${portfolioId}`, {
                      section: 'orders',
                      symbol: step.symbol,
                    })}
                  >
                    orders in {step.symbol}
                  </a>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

const CALLS: readonly Column<MarginCall>[] = [
  { title: 'Call', cell: ({ type }) => words(type) },
  { title: 'Called', isNumber: true, cell: ({ amount }) => money(amount) },
  {
    title: 'Due now',
    isNumber: true,
    cell: ({ amountDue }) => (amountDue === undefined ? '' : money(amountDue)),
  },
  {
    title: 'Status',
    cell: ({ status }) => <span class={status === 'OPEN' ? 'down status' : 'status'}>{words(status)}</span>,
  },
  { title: 'Issued', cell: ({ issuedAt }) => moment(issuedAt) },
  { title: 'Due', cell: ({ dueAt }) => moment(dueAt) },
];
