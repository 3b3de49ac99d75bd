/** The figures behind the buying power, and the margin requirement by position with the rule of each. */
import type { PortfolioMargin, PortfolioUpdate, Requirements } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { money, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf } from '../route.ts';
import { Rule } from '../why/rule.tsx';
import { Term } from '../why/term.tsx';
import type { TermName } from '../why/terms.ts';
import { type RuleName, ruleOfBuyingPower, ruleOfGroup } from '../why/rule-pages.ts';
import type { Column } from '../parts/column.ts';
import { MarginCalls } from './margin-calls.tsx';
import { type Group, keyOfGroup, legsText } from '../trade/strategies.tsx';

export function BuyingPower({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const broker = useBroker();
  const { portfolioId } = portfolio;
  const margin = useLoad(() => broker.call('getPortfolioMargin', { params: { portfolioId } }), [portfolioId]);
  useEffect(() => margin.reload(), [portfolio.updatedAt, portfolio.totalEquity]);
  return (
    <section aria-label="Margin details">
      <p>
        Buying power <strong>{money(portfolio.overnightBuyingPower)}</strong>: {ruleOf(portfolio)}{' '}
        <Rule name={ruleOfBuyingPower(portfolio)} />
      </p>
      <dl class="lines narrow">
        {margin.value !== undefined &&
          linesOf(portfolio, margin.value).map(([name, value, rule, term]) => (
            <div key={name}>
              <dt>
                {term === undefined ? name : <Term name={term}>{name}</Term>} <Rule name={rule} />
              </dt>
              <dd>{money(value)}</dd>
            </div>
          ))}
      </dl>
      <p>
        <a href={hrefOf(broker.simulationId, 'orders', { portfolio: portfolioId, show: 'open' })}>
          Open orders
        </a>{' '}
        reserve {money(portfolio.reservedCash)} of cash; the figure above is after their margin impact.
      </p>
      {portfolio.portfolioType === 'MARGIN' && <MarginCalls portfolio={portfolio} />}
      {margin.error !== undefined && <Problem error={margin.error} retry={margin.reload} />}
      {margin.value !== undefined && <Lines requirement={margin.value} />}
    </section>
  );
}

/** The rule that determines buying power, in words. Source: contract D108. */
function ruleOf({ portfolioType, marginType, marginCallActive }: PortfolioUpdate): string {
  if (portfolioType === 'CASH') return 'settled cash that no open order reserves.';
  if (marginCallActive) return 'none during a margin call.';
  return marginType === 'PORTFOLIO'
    ? 'the excess over the requirement, divided by 15 %, after open orders.'
    : 'the lesser of twice the SMA and the excess divided by the house maintenance rate for stock, after open orders.';
}

function linesOf(
  portfolio: PortfolioUpdate,
  margin: PortfolioMargin,
): readonly (readonly [name: string, dollars: number, rule: RuleName, term?: TermName])[] {
  if (portfolio.portfolioType === 'CASH')
    return [
      ['Settled cash', portfolio.settledCash, 'cash', 'settledCash'],
      ['Unsettled cash (not available for purchases)', portfolio.pendingCash, 'settlement', 'pendingCash'],
      ['Reserved', portfolio.reservedCash, 'reservations', 'reserved'],
    ];
  const requirement = ruleOfBuyingPower(portfolio);
  return [
    ['Margin equity', margin.marginEquity, requirement],
    ['House maintenance requirement', -margin.houseRequirement, requirement, 'maintenance'],
    ['Excess', margin.maintenanceExcess, requirement, 'excess'],
    ...(portfolio.marginType === 'REG_T'
      ? ([
          ['Regulation T requirement', margin.fedRequirement, 'regT', 'initialMargin'],
          ['SMA', margin.smaBalance, 'regT', 'sma'],
        ] as const)
      : []),
    ['Accrued interest (not posted yet)', margin.accruedInterest, 'fees'],
    ['Accrued borrow fees (not posted yet)', margin.accruedBorrowFees, 'shortSelling'],
  ];
}

const LINES: readonly Column<Group>[] = [
  { title: 'Group', cell: ({ strategy, underlying }) => `${words(strategy)} ${underlying}` },
  {
    title: 'Legs',
    isLong: true,
    isWide: true,
    cell: (group) => <span title={legsText(group)}>{legsText(group)}</span>,
  },
  {
    title: 'Initial',
    term: 'initialMargin',
    isNumber: true,
    isWide: true,
    cell: ({ initial }) => money(initial),
  },
  {
    title: 'Maintenance',
    term: 'maintenance',
    isNumber: true,
    cell: ({ maintenance }) => money(maintenance),
  },
  {
    title: 'Rule',
    isLong: true,
    cell: ({ rule, strategy }) => (
      <span class="why">
        <Rule name={ruleOfGroup(strategy)} /> {rule}
      </span>
    ),
  },
];

function Lines({ requirement }: { readonly requirement: Requirements }) {
  const { groups, initialRequirement, maintenanceRequirement, scenarios = [] } = requirement;
  return (
    <>
      <h2>
        Requirement by position <Rule name={scenarios.length > 0 ? 'portfolioMargin' : 'optionMargin'} />
      </h2>
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
