/** Why the buying power is what it is: the requirement line by line, each with its rule. */
import type { PortfolioMargin, PortfolioUpdate, Requirements } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { money, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf } from '../route.ts';
import type { Column } from '../parts/column.ts';
import { MarginCalls } from './margin-calls.tsx';
import { type Group, keyOfGroup, legsText } from './strategies.tsx';

export function BuyingPower({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const broker = useBroker();
  const { portfolioId } = portfolio;
  const margin = useLoad(() => broker.call('getPortfolioMargin', { params: { portfolioId } }), [portfolioId]);
  useEffect(() => margin.reload(), [portfolio.updatedAt, portfolio.totalEquity]);
  return (
    <section aria-label="Why this buying power">
      <p>
        Buying power <strong>{money(portfolio.overnightBuyingPower)}</strong>: {ruleOf(portfolio)}
      </p>
      <dl class="lines narrow">
        {margin.value !== undefined &&
          linesOf(portfolio, margin.value).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{money(value)}</dd>
            </div>
          ))}
      </dl>
      <p>
        <a href={hrefOf(broker.simulationId, 'orders', { portfolio: portfolioId, show: 'open' })}>
          Open orders
        </a>{' '}
        have set {money(portfolio.reservedCash)} of cash aside, and what they would take is off the figure
        above.
      </p>
      {portfolio.portfolioType === 'MARGIN' && <MarginCalls portfolio={portfolio} />}
      {margin.error !== undefined && <Problem error={margin.error} retry={margin.reload} />}
      {margin.value !== undefined && <Lines requirement={margin.value} />}
    </section>
  );
}

/** What decides, in words. Source: contract D108. */
function ruleOf({ portfolioType, marginType, marginCallActive }: PortfolioUpdate): string {
  if (portfolioType === 'CASH') return 'the settled cash that nothing has set aside.';
  if (marginCallActive) return 'in a margin call there is none.';
  return marginType === 'PORTFOLIO'
    ? 'equity beyond the requirement, at 15 % of what it can carry, after open orders.'
    : 'twice the memorandum account (SMA), or what the excess carries at the house’s rate for stock, whichever is less, after open orders.';
}

function linesOf(
  portfolio: PortfolioUpdate,
  margin: PortfolioMargin,
): readonly (readonly [name: string, dollars: number])[] {
  if (portfolio.portfolioType === 'CASH')
    return [
      ['Settled cash', portfolio.settledCash],
      ['Pending cash, which does not buy', portfolio.pendingCash],
      ['Set aside', portfolio.reservedCash],
    ];
  return [
    ['Equity that counts for margin', margin.marginEquity],
    ['House requirement', -margin.houseRequirement],
    ['Excess', margin.maintenanceExcess],
    ...(portfolio.marginType === 'REG_T'
      ? ([
          ['Requirement of Regulation T', margin.fedRequirement],
          ['Memorandum account (SMA)', margin.smaBalance],
        ] as const)
      : []),
    ['Interest accrued, not posted yet', margin.accruedInterest],
    ['Borrow fees accrued, not posted yet', margin.accruedBorrowFees],
  ];
}

const LINES: readonly Column<Group>[] = [
  { title: 'Group', cell: ({ strategy, underlying }) => `${words(strategy)} ${underlying}` },
  {
    title: 'Made of',
    isLong: true,
    isWide: true,
    cell: (group) => <span title={legsText(group)}>{legsText(group)}</span>,
  },
  { title: 'Initial', isNumber: true, isWide: true, cell: ({ initial }) => money(initial) },
  { title: 'Maintenance', isNumber: true, cell: ({ maintenance }) => money(maintenance) },
  { title: 'Rule', isLong: true, cell: ({ rule }) => <span class="why">{rule}</span> },
];

function Lines({ requirement }: { readonly requirement: Requirements }) {
  const { groups, initialRequirement, maintenanceRequirement, scenarios = [] } = requirement;
  return (
    <>
      <h2>The requirement, line by line</h2>
      <p>
        Initial {money(initialRequirement)}, maintenance {money(maintenanceRequirement)}, from {groups.length}{' '}
        group
        {groups.length === 1 ? '' : 's'}.
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
