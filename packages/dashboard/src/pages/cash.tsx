/** Pending cash and deliveries by settlement date. */
import type { PortfolioUpdate, Settlement } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, dateText, quantity, tone } from '../format.ts';
import { useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { Rule } from '../why/rule.tsx';

export function Cash({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const broker = useBroker();
  const { portfolioId } = portfolio;
  const due = useLoad(() => broker.call('listSettlements', { params: { portfolioId } }), [portfolioId]);
  useEffect(() => due.reload(), [portfolio.updatedAt]);
  return (
    <section aria-label="Cash by settlement date">
      <h2>
        Settlements <Rule name="settlement" />
      </h2>
      {due.error !== undefined && <Problem error={due.error} retry={due.reload} />}
      {due.value?.length === 0 && <p class="notice">All cash has settled.</p>}
      {due.value !== undefined && due.value.length > 0 && (
        <Table label="Settlements" columns={SETTLEMENTS} rows={due.value} keyOf={({ date }) => date} />
      )}
    </section>
  );
}

const SETTLEMENTS: readonly Column<Settlement>[] = [
  { title: 'Settles', cell: ({ date }) => dateText(date) },
  { title: 'Cash', isNumber: true, cell: ({ cash }) => <span class={tone(cash)}>{change(cash)}</span> },
  {
    title: 'Delivered',
    isLong: true,
    cell: ({ deliveries }) =>
      deliveries
        .filter((one) => one.quantity !== 0)
        .map(({ symbol, quantity: count }) => `${quantity(count)} ${symbol}`)
        .join(', '),
  },
];
