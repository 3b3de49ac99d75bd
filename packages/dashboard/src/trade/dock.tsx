/** Below the chart: positions, open orders, fills and activities of the ticket's portfolio. */
import type { Activity, Order, PortfolioUpdate } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import { activityText, cashOf, noteOf } from '../activity-text.ts';
import { useBroker } from '../broker.ts';
import { change, money, moment, price, quantity, tone, words } from '../format.ts';
import { isOpenOrder, type OrderRows } from '../live/orders.ts';
import { errorFrom, useLoad } from '../load.ts';
import { orderText, typeOf, whyOf } from '../labels.ts';
import { contractText } from '../option-legs.ts';
import { Positions } from './positions.tsx';
import type { Column } from '../parts/column.ts';
import { Problem, sentenceOf } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf, setQuery } from '../route.ts';
import { announce } from '../ui/toaster.tsx';
import { TabPanels } from '../ui/tab-panels.tsx';

export function Dock({
  portfolio,
  portfolioId,
  orders,
  tab,
}: {
  readonly portfolio: PortfolioUpdate | undefined;
  readonly portfolioId: string;
  readonly orders: OrderRows;
  readonly tab: string;
}) {
  const { simulationId } = useBroker();
  const open = orders.rows.filter(isOpenOrder);
  const held =
    portfolio === undefined
      ? 0
      : portfolio.equities.length + portfolio.options.length + portfolio.futures.length;
  return (
    <section class="dock" aria-label="Portfolio">
      {portfolio !== undefined && (
        <p class="row small balances">
          <span>
            Equity <strong>{money(portfolio.totalEquity)}</strong>
          </span>
          <span>
            Net cash{' '}
            <strong>{money(portfolio.settledCash + portfolio.pendingCash - portfolio.marginLoan)}</strong>
          </span>
          <span>
            Buying power <strong>{money(portfolio.overnightBuyingPower)}</strong>
          </span>
          {portfolio.marginCallActive && <span class="tag bad">Margin call</span>}
          <a href={hrefOf(simulationId, `portfolio/${portfolioId}`)}>Open the portfolio</a>
        </p>
      )}
      <TabPanels
        label="Portfolio"
        value={tab}
        onChange={(dock) => setQuery({ dock })}
        panels={[
          {
            id: 'positions',
            title: `Positions (${held})`,
            content: () =>
              portfolio === undefined ? (
                <p class="waiting">Loading …</p>
              ) : (
                <Positions portfolio={portfolio} simulationId={simulationId} />
              ),
          },
          {
            id: 'orders',
            title: `Open orders (${open.length})`,
            content: () => <OpenOrders rows={open} />,
          },
          { id: 'fills', title: 'Fills', content: () => <Fills portfolioId={portfolioId} orders={orders} /> },
          {
            id: 'activity',
            title: 'Activity',
            content: () => <Recent portfolioId={portfolioId} orders={orders} category={undefined} />,
          },
        ]}
      />
    </section>
  );
}

function OpenOrders({ rows }: { readonly rows: readonly Order[] }) {
  const broker = useBroker();
  if (rows.length === 0) return <p class="notice">No order is open.</p>;
  const cancel = (order: Order): void => {
    broker.call('cancelOrder', { params: { orderId: order.orderId } }).then(
      () => announce(`Order in ${order.symbol} canceled`, '', 'info', `end ${order.orderId}`),
      (error: unknown) => announce('Not canceled', sentenceOf(errorFrom(error)), 'error'),
    );
  };
  const columns: readonly Column<Order>[] = [
    {
      title: 'Order',
      cell: (order) => (
        <a
          href={hrefOf(broker.simulationId, 'orders', { order: order.orderId, portfolio: order.portfolioId })}
          class={/^BUY/.test(order.positionIntent) ? 'buy' : 'sell'}
        >
          {orderText(order, order.quantity)}
        </a>
      ),
    },
    { title: 'Type', cell: typeOf, isWide: true },
    {
      title: 'Filled',
      isNumber: true,
      isWide: true,
      cell: ({ filledQuantity = 0 }) => quantity(filledQuantity),
    },
    { title: 'Waits for', isLong: true, cell: whyOf },
    {
      title: 'Cancel',
      cell: (order) =>
        broker.may('trade') && (
          <button
            type="button"
            class="small"
            aria-label={`Cancel ${orderText(order, order.quantity)}`}
            onClick={() => cancel(order)}
          >
            Cancel
          </button>
        ),
    },
  ];
  return <Table label="Open orders" columns={columns} rows={rows} keyOf={({ orderId }) => orderId} isDense />;
}

const Fills = ({ portfolioId, orders }: { readonly portfolioId: string; readonly orders: OrderRows }) => (
  <Recent portfolioId={portfolioId} orders={orders} category="EXECUTION" />
);

const SHOWN = 100;

/** The latest activities, read again when an order changes. */
function Recent({
  portfolioId,
  orders,
  category,
}: {
  readonly portfolioId: string;
  readonly orders: OrderRows;
  readonly category: 'EXECUTION' | undefined;
}) {
  const broker = useBroker();
  const recent = useLoad(
    () =>
      broker.call('listActivities', {
        params: { portfolioId },
        query: { limit: SHOWN, ...(category !== undefined && { category }) },
      }),
    [portfolioId, category],
  );
  useEffect(() => recent.reload(), [orders.rows]);
  if (recent.error !== undefined) return <Problem error={recent.error} retry={recent.reload} />;
  if (recent.value === undefined) return <p class="waiting">Loading …</p>;
  if (recent.value.data.length === 0)
    return <p class="notice">{category === undefined ? 'Nothing happened yet.' : 'No fills yet.'}</p>;
  return (
    <Table
      label={category === undefined ? 'Activity' : 'Fills'}
      columns={category === undefined ? ACTIVITIES : EXECUTIONS}
      rows={recent.value.data}
      keyOf={({ activityId }) => activityId}
      isDense
    />
  );
}

const AT: Column<Activity> = { title: 'At', isWide: true, cell: ({ at }) => moment(at) };
const AMOUNT: Column<Activity> = {
  title: 'Amount',
  isNumber: true,
  cell: (one) => {
    const cash = cashOf(one);
    return cash === undefined ? '' : <span class={tone(cash)}>{change(cash)}</span>;
  },
};

const EXECUTIONS: readonly Column<Activity>[] = [
  AT,
  { title: 'Symbol', cell: ({ symbol = '' }) => contractText(symbol) },
  { title: 'Fill', cell: activityText, isLong: true },
  { title: 'Quantity', isNumber: true, cell: (one) => quantity(one.quantity) },
  { title: 'Price', isNumber: true, cell: (one) => price(one.price) },
  AMOUNT,
];

const ACTIVITIES: readonly Column<Activity>[] = [
  AT,
  { title: 'Type', cell: ({ type }) => words(type) },
  { title: 'What happened', cell: (one) => `${activityText(one)}${noteOf(one)}`, isLong: true },
  AMOUNT,
];
