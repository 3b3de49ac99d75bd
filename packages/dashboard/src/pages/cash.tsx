/** Where the cash is, and on which day what is pending settles. */
import type { PortfolioUpdate, Settlement } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, money, quantity, tone } from '../format.ts';
import { useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Figure } from '../parts/figure.tsx';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';

export function Cash({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const broker = useBroker();
  const { portfolioId } = portfolio;
  const due = useLoad(() => broker.call('listSettlements', { params: { portfolioId } }), [portfolioId]);
  useEffect(() => due.reload(), [portfolio.updatedAt]);
  return (
    <section aria-label="Cash by settlement date">
      <dl class="figures wide">
        <Figure name="Settled" rule="cash">
          {money(portfolio.settledCash)}
        </Figure>
        <Figure name="Pending" rule="settlement">
          {money(portfolio.pendingCash)}
        </Figure>
        <Figure name="Reserved" rule="reservations">
          {money(portfolio.reservedCash)}
        </Figure>
        <Figure name="Loan" rule="regT">
          {money(portfolio.marginLoan)}
        </Figure>
      </dl>
      {due.error !== undefined && <Problem error={due.error} retry={due.reload} />}
      {due.value?.length === 0 && <p class="notice">All cash has settled.</p>}
      {due.value !== undefined && due.value.length > 0 && (
        <Table label="Settlements" columns={SETTLEMENTS} rows={due.value} keyOf={({ date }) => date} />
      )}
    </section>
  );
}

const SETTLEMENTS: readonly Column<Settlement>[] = [
  { title: 'Settles', cell: ({ date }) => date },
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
