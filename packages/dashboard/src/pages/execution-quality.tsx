/** Execution costs of a portfolio's orders relative to the market on arrival. */
import type { ExecutionQuality } from '@sandpit/protocol';
import { useBroker } from '../broker.ts';
import { money, percent, price, quantity } from '../format.ts';
import { useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import type { Column } from '../parts/column.ts';
import { Tabs } from '../parts/field.tsx';
import { Figure } from '../parts/figure.tsx';
import { binsOf, Histogram } from '../parts/histogram.tsx';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { setQuery } from '../route.ts';
import type { SectionProps } from './section.ts';

const GROUPS = [
  ['symbol', 'By symbol'],
  ['orderType', 'By order type'],
  ['hour', 'By hour'],
  ['broker', 'By broker'],
] as const;

const BINS = 20;

const bps = (value: number | undefined): string =>
  value === undefined ? '–' : `${price(Number(value.toFixed(2)))} bp`;
const share = (value: number | undefined): string => (value === undefined ? '–' : percent(value));
const seconds = (value: number | undefined): string => (value === undefined ? '–' : `${quantity(value)} s`);

export function ExecutionQualitySection({ portfolioId, query }: SectionProps) {
  const broker = useBroker();
  const groupBy = GROUPS.find(([name]) => name === query.get('by'))?.[0] ?? 'symbol';
  const found = useLoad(
    () =>
      broker.call('getExecutionQuality', { params: { portfolioId }, query: { groupBy, slippages: true } }),
    [portfolioId, groupBy],
  );
  useClockMoves(found.reload);
  const { value, error } = found;
  const slippages = value?.slippages ?? [];
  return (
    <>
      {error !== undefined && <Problem error={error} retry={found.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value !== undefined && <Figures quality={value} />}
      {slippages.length > 0 && (
        <section>
          <h2>Latest orders by slippage, basis points</h2>
          <Histogram
            label={`Slippage of the latest ${slippages.length} filled orders, basis points`}
            bins={binsOf(slippages, BINS)}
            format={(value) => quantity(Number(value.toPrecision(6)))}
          />
        </section>
      )}
      {value !== undefined && (
        <section>
          <Tabs label="Groups" value={groupBy} options={GROUPS} onChange={(by) => setQuery({ by })} />
          <Table label="Groups" columns={COLUMNS} rows={value.groups ?? []} keyOf={({ key }) => key} />
        </section>
      )}
    </>
  );
}

function Figures({ quality: q }: { readonly quality: ExecutionQuality }) {
  return (
    <dl class="figures wide">
      <Figure name="Orders" note={`${q.executions} executions`}>
        {quantity(q.orders)}
      </Figure>
      <Figure name="Executed value">{money(q.notional)}</Figure>
      <Figure name="Slippage">{bps(q.slippageBps)}</Figure>
      <Figure name="Implementation shortfall" note={bps(q.implementationShortfallBps)}>
        {money(q.implementationShortfall)}
      </Figure>
      <Figure name="Effective spread" note={`quoted ${bps(q.quotedSpreadBps)}`}>
        {bps(q.effectiveSpreadBps)}
      </Figure>
      <Figure name="Realized spread">{bps(q.realizedSpreadBps)}</Figure>
      <Figure name="Price improvement" note={`${share(q.priceImprovementRate)} of executions`}>
        {money(q.priceImprovement)}
      </Figure>
      <Figure name="Filled">{share(q.fillRate)}</Figure>
      <Figure name="Rejected">{share(q.rejectRate)}</Figure>
      <Figure name="Time to fill" note="median">
        {seconds(q.timeToFill)}
      </Figure>
    </dl>
  );
}

type Row = NonNullable<ExecutionQuality['groups']>[number];

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Group', cell: ({ key }) => key },
  { title: 'Orders', isNumber: true, cell: ({ orders }) => quantity(orders) },
  { title: 'Executed value', isNumber: true, isSecondary: true, cell: ({ notional }) => money(notional) },
  { title: 'Slippage', isNumber: true, cell: ({ slippageBps }) => bps(slippageBps) },
  {
    title: 'Shortfall',
    isNumber: true,
    isWide: true,
    cell: ({ implementationShortfall }) => money(implementationShortfall),
  },
  {
    title: 'Effective spread',
    isNumber: true,
    isSecondary: true,
    cell: ({ effectiveSpreadBps }) => bps(effectiveSpreadBps),
  },
  { title: 'Filled', isNumber: true, cell: ({ fillRate }) => share(fillRate) },
  { title: 'Time to fill', isNumber: true, isSecondary: true, cell: ({ timeToFill }) => seconds(timeToFill) },
];
