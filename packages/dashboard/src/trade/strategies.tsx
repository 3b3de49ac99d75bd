/** Options with their margin groups. */
import type { Leg, PortfolioUpdate, Requirements } from '@sandpit/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, money, quantity, tone, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { contractText, optionNamed } from '../option-legs.ts';
import type { Column } from '../parts/column.ts';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf } from '../route.ts';
import { RollDialog } from './roll.tsx';
import { closingTicket, headingOf, nameOf, termsOf } from '../strategy.ts';

export type Group = Requirements['groups'][number];

export const legsText = ({ legs }: Group): string =>
  legs.map(({ symbol, quantity: count }) => `${quantity(count)} ${contractText(symbol)}`).join(', ');

/** `AAPL Bull call spread 185/190 Dec 4`; with shares `AAPL Covered call 190 Dec 4`. */
function nameOfGroup({
  legs,
  strategy,
  underlying,
}: Pick<Group, 'legs' | 'strategy' | 'underlying'>): string {
  const options = legs.filter(({ symbol }) => optionNamed(symbol) !== undefined);
  const opening = options.map(({ symbol, quantity: count }): Leg => ({
    optionSymbol: symbol,
    positionIntent: count > 0 ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
    quantity: Math.abs(count),
  }));
  if (opening.length === 0) return `${underlying} ${words(strategy)}`;
  if (options.length < legs.length) return `${underlying} ${words(strategy)} ${termsOf(opening)}`;
  const isNamed = nameOf(opening)?.title !== 'Custom legs';
  return `${underlying} ${isNamed ? headingOf(opening) : `${words(strategy)} ${termsOf(opening)}`}`;
}

export const keyOfGroup = (group: Group): string =>
  `${group.strategy} ${group.legs.map(({ symbol }) => symbol).join(' ')}`;

interface Strategy extends Group {
  readonly marketValue: number;
  readonly unrealized: number;
}

export function Strategies({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const broker = useBroker();
  const { portfolioId, equities, options } = portfolio;
  const margin = useLoad(
    () => broker.call('getPortfolioMargin', { params: { portfolioId } }),
    [portfolioId, options.map((one) => [one.optionSymbol, one.quantity])],
  );
  useEffect(() => margin.reload(), [portfolio.updatedAt]);
  // The last groups stay while others load or a read fails: a dialog that is open in a row must not close.
  const last = useRef<{ readonly of: string; readonly requirements: Requirements }>();
  if (margin.value !== undefined) last.current = { of: portfolioId, requirements: margin.value };
  const known = last.current?.of === portfolioId ? last.current.requirements : undefined;
  if (known === undefined)
    return margin.error === undefined ? null : <Problem error={margin.error} retry={margin.reload} />;
  const held = new Map([
    ...equities.map((one) => {
      const count = one.settledQuantity + one.pendingQuantity;
      return [one.symbol, { count, value: one.marketValue, gain: one.unrealizedPnl }] as const;
    }),
    ...options.map(
      (one) =>
        [one.optionSymbol, { count: one.quantity, value: one.marketValue, gain: one.unrealizedPnL }] as const,
    ),
  ]);
  const isOption = new Set(options.map(({ optionSymbol }) => optionSymbol));
  const rows = known.groups
    .filter(({ legs }) => legs.some(({ symbol }) => isOption.has(symbol)))
    .map((group): Strategy => {
      // A position that is divided among groups is shown in each of them in part.
      const parts = group.legs.map(({ symbol, quantity: count }) => {
        const { count: all = 0, value = 0, gain = 0 } = held.get(symbol) ?? {};
        return all === 0
          ? { value: 0, gain: 0 }
          : { value: (value * count) / all, gain: (gain * count) / all };
      });
      return {
        ...group,
        marketValue: parts.reduce((sum, { value }) => sum + value, 0),
        unrealized: parts.reduce((sum, { gain }) => sum + gain, 0),
      };
    });
  if (rows.length === 0) return null;
  return (
    <>
      {margin.error !== undefined && <Problem error={margin.error} retry={margin.reload} />}
      <Table
        label="Strategies"
        columns={columnsIn(broker.simulationId, portfolioId, isOption)}
        rows={rows}
        keyOf={keyOfGroup}
      />
    </>
  );
}

/** Closing the option legs of a strategy by one order if they form one, and rolling a leg. */
function Actions({
  simulationId,
  portfolioId,
  group,
  isOption,
}: {
  readonly simulationId: string;
  readonly portfolioId: string;
  readonly group: Group;
  readonly isOption: ReadonlySet<string>;
}) {
  const [isRolling, setIsRolling] = useState(false);
  const held = group.legs.filter(({ symbol }) => isOption.has(symbol));
  const ticket = closingTicket(portfolioId, held);
  const name = nameOfGroup(group);
  return (
    <span class="row nowrap">
      {ticket !== undefined && (
        <a
          class="button small"
          aria-label={held.length < group.legs.length ? `Close the option of ${name}` : `Close ${name}`}
          href={hrefOf(
            simulationId,
            `trade/${held.length === 1 ? (held[0]?.symbol ?? '') : group.underlying}`,
            { ...ticket, symbol: undefined, show: 'options' },
          )}
        >
          {held.length < group.legs.length ? 'Close option' : 'Close'}
        </a>
      )}
      <button type="button" class="small" aria-label={`Roll ${name}`} onClick={() => setIsRolling(true)}>
        Roll
      </button>
      {isRolling && <RollDialog portfolioId={portfolioId} held={held} onClose={() => setIsRolling(false)} />}
    </span>
  );
}

const columnsIn = (
  simulationId: string,
  portfolioId: string,
  isOption: ReadonlySet<string>,
): readonly Column<Strategy>[] => [
  {
    title: 'Strategy',
    cell: (group) => <strong title={legsText(group)}>{nameOfGroup(group)}</strong>,
  },
  {
    title: 'Legs',
    isLong: true,
    isWide: true,
    cell: (group) => <span title={legsText(group)}>{legsText(group)}</span>,
  },
  { title: 'Value', isNumber: true, isWide: true, cell: ({ marketValue }) => money(marketValue) },
  {
    title: 'Unrealized',
    isNumber: true,
    cell: ({ unrealized }) => <span class={tone(unrealized)}>{change(unrealized)}</span>,
  },
  {
    title: 'Requirement',
    isNumber: true,
    isSecondary: true,
    cell: ({ maintenance }) => money(maintenance),
  },
  {
    title: 'Trade',
    cell: (group) => (
      <Actions simulationId={simulationId} portfolioId={portfolioId} group={group} isOption={isOption} />
    ),
  },
];
