/** Why the buying power is what it is: the requirement line by line, each with its rule. */
import type { PortfolioUpdate, Requirements } from '@sandpit/protocol';
import { useBroker } from '../broker.ts';
import { money, quantity, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { Figure } from '../parts/figure.tsx';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import type { Column } from '../parts/column.ts';

type Group = Requirements['groups'][number];

export function BuyingPower({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const broker = useBroker();
  const { portfolioId } = portfolio;
  // The requirement follows from what is held and from prices, which the update's instant stands for.
  const requirement = useLoad(
    () => broker.call('getPortfolioMargin', { params: { portfolioId } }),
    [portfolioId],
  );
  const isMargin = portfolio.portfolioType === 'MARGIN';
  return (
    <section>
      <p>
        Buying power {money(portfolio.overnightBuyingPower)}
        {isMargin
          ? ': what may be bought at the initial rate of the margin type with the equity that no requirement ties up.'
          : ': the settled cash that no order has set aside.'}
      </p>
      <dl class="figures wide">
        <Figure name="Equity">{money(portfolio.totalEquity)}</Figure>
        <Figure name="Reserved for orders">{money(portfolio.reservedCash)}</Figure>
        {isMargin && <Figure name="SMA">{money(portfolio.smaBalance)}</Figure>}
        <Figure name="Fed requirement">{money(portfolio.fedRequirement)}</Figure>
        <Figure name="House requirement">{money(portfolio.houseRequirement)}</Figure>
        <Figure name="Excess over house">{money(portfolio.totalEquity - portfolio.houseRequirement)}</Figure>
      </dl>
      {requirement.error !== undefined && <Problem error={requirement.error} retry={requirement.reload} />}
      {requirement.value !== undefined && (
        <Lines requirement={requirement.value} reload={requirement.reload} />
      )}
    </section>
  );
}

const LINES: readonly Column<Group>[] = [
  { title: 'Group', cell: ({ strategy, underlying }) => `${words(strategy)} ${underlying}` },
  {
    title: 'Made of',
    cell: ({ legs }) => legs.map(({ symbol, quantity: count }) => `${quantity(count)} ${symbol}`).join(', '),
  },
  { title: 'Initial', isNumber: true, cell: ({ initial }) => money(initial) },
  { title: 'Maintenance', isNumber: true, cell: ({ maintenance }) => money(maintenance) },
  { title: 'Rule', cell: ({ rule }) => <span class="why">{rule}</span> },
];

const keyOfGroup = ({ strategy, legs }: Group): string =>
  `${strategy} ${legs.map(({ symbol }) => symbol).join(' ')}`;

function Lines({ requirement, reload }: { readonly requirement: Requirements; readonly reload: () => void }) {
  const { groups, initialRequirement, maintenanceRequirement, scenarios = [] } = requirement;
  return (
    <>
      <p>
        Initial {money(initialRequirement)}, maintenance {money(maintenanceRequirement)}, from {groups.length}{' '}
        group
        {groups.length === 1 ? '' : 's'}.{' '}
        <button type="button" class="quiet" onClick={reload}>
          Compute again
        </button>
      </p>
      {groups.length > 0 && <Table label="Requirement" columns={LINES} rows={groups} keyOf={keyOfGroup} />}
      {scenarios.length > 0 && (
        <details>
          <summary>Risk array, {scenarios.length} points</summary>
          <Table
            label="Risk array"
            columns={[
              { title: 'Underlying', cell: ({ underlying }) => underlying },
              { title: 'Move', isNumber: true, cell: ({ priceMove }) => `${(priceMove * 100).toFixed(1)} %` },
              {
                title: 'Volatility',
                isNumber: true,
                cell: ({ volatilityMove }) =>
                  volatilityMove === undefined ? '–' : `${(volatilityMove * 100).toFixed(0)} %`,
              },
              { title: 'Profit', isNumber: true, cell: ({ pnl }) => money(pnl) },
            ]}
            rows={scenarios}
            keyOf={({ underlying, priceMove, volatilityMove = 0 }) =>
              `${underlying} ${priceMove} ${volatilityMove}`
            }
          />
        </details>
      )}
    </>
  );
}
