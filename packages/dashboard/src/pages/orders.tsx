/** Orders, live, and the story of the one that is clicked. */
import type { Order } from '@sandpit/protocol';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, price, quantity, shortMoment, words } from '../format.ts';
import { queryOf, useOrders } from '../live/orders.ts';
import { Download } from '../parts/download.tsx';
import { Tabs } from '../parts/field.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { legTexts, orderText, shortOrderText, typeOf, whyOf } from '../labels.ts';
import type { Column } from '../parts/column.ts';
import { PortfolioLink } from '../parts/portfolio-link.tsx';
import { useTyped } from '../parts/use-typed.ts';
import { VirtualTable } from '../parts/virtual-table.tsx';
import { hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { OrderStory } from './order-story.tsx';

/** Typing pauses this long before the list is loaded. */
const PAUSE_MS = 250;
const SHOWN = [
  ['', 'All'],
  ['open', 'Open'],
] as const;

export function Orders({ place }: { readonly place: DashboardRoute }) {
  const portfolioId = place.query.get('portfolio') ?? undefined;
  return (
    <>
      <div class="heading">
        <h1>Orders</h1>
        {portfolioId !== undefined && (
          <span class="tag">
            one portfolio{' '}
            <button type="button" class="quiet" onClick={() => setQuery({ portfolio: undefined })}>
              show all
            </button>
          </span>
        )}
      </div>
      <OrderTable place={place} portfolioId={portfolioId} />
    </>
  );
}

/** The table with its filters, which the address contains. */
export function OrderTable({
  place,
  portfolioId,
}: {
  readonly place: DashboardRoute;
  readonly portfolioId: string | undefined;
}) {
  const { simulationId } = useBroker();
  const show = place.query.get('show') ?? '';
  const symbol = place.query.get('symbol') ?? '';
  const [text, setText] = useTyped(symbol);
  const search = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(search.current), []);
  const chosen = place.query.get('order') ?? undefined;
  const filter = {
    portfolioId,
    symbol: symbol === '' ? undefined : symbol.toUpperCase(),
    isOpen: show === 'open',
  };
  const orders = useOrders(filter);
  const columns = useMemo(
    () => columnsAt(location.hash, portfolioId === undefined, chosen !== undefined),
    [place, portfolioId === undefined, chosen !== undefined],
  );
  const { rows, total, isLoaded, isComplete, error, more, retry } = orders;
  return (
    <div class={chosen === undefined ? '' : 'beside'}>
      <div>
        <div class="row filters">
          <Tabs
            label="Order filter"
            value={show}
            options={SHOWN}
            onChange={(value) => setQuery({ show: value })}
          />
          <input
            type="search"
            aria-label="Symbol"
            placeholder="Symbol  /"
            value={text}
            onInput={({ currentTarget }) => {
              setText(currentTarget.value);
              clearTimeout(search.current);
              const typed = currentTarget.value.trim();
              search.current = setTimeout(() => setQuery({ symbol: typed }), PAUSE_MS);
            }}
          />
          <span class="dim" role="status" data-testid="order-count">
            {isLoaded &&
              countText(show === 'open' && isComplete ? rows.length : Math.max(total, rows.length))}
            {isLoaded && orders.stream !== 'live' && ' · not live'}
          </span>
          {rows.length > 0 && (
            <Download name="orders.csv" list="listOrders" given={{ query: queryOf(filter) }} />
          )}
        </div>
        {error !== undefined && <Problem error={error} retry={retry} />}
        {!isLoaded && error === undefined && <p class="waiting">Loading …</p>}
        {isLoaded && rows.length === 0 && (
          <Empty>
            <p>
              {show === 'open' ? 'No order is open' : 'No order yet'}
              {symbol !== '' && ` in ${symbol.toUpperCase()}`}.{' '}
              <a href={hrefOf(simulationId, 'trade', { portfolio: portfolioId })}>Place an order</a> or press{' '}
              <kbd>b</kbd>.
            </p>
          </Empty>
        )}
        {rows.length > 0 && (
          <VirtualTable
            label="Orders"
            columns={columns}
            rows={rows}
            total={total}
            keyOf={({ orderId }) => orderId}
            classOf={({ orderId }) => (orderId === chosen ? 'chosen' : '')}
            onEnd={more}
          />
        )}
      </div>
      {chosen !== undefined && (
        <OrderStory
          key={chosen}
          orderId={chosen}
          current={rows.find(({ orderId }) => orderId === chosen)}
          exits={rows.filter(({ parentOrderId }) => parentOrderId === chosen)}
        />
      )}
    </div>
  );
}

const countText = (count: number): string => `${quantity(count)} ${count === 1 ? 'order' : 'orders'}`;

const Why = ({ text }: { readonly text: string }) => (
  <span class="why" title={text}>
    {text}
  </span>
);

/** `address`: the current one, which links preserve. `isNarrow`: the details of an order are beside the table. */
const columnsAt = (address: string, hasPortfolio: boolean, isNarrow: boolean): readonly Column<Order>[] => [
  {
    title: 'Created',
    isWide: true,
    cell: ({ createdAt }) => (isNarrow ? shortMoment : moment)(createdAt),
  },
  {
    title: 'Order',
    cell: (order) => (
      <a
        href={withOrder(address, order.orderId)}
        title={legTexts(order)}
        class={/^BUY/.test(order.positionIntent) ? 'buy' : 'sell'}
      >
        <span class="on-screens">{orderText(order, order.quantity)}</span>
        <span class="on-phones">
          {shortOrderText(order, order.quantity)}
          <small class="dim block">{shortMoment(order.createdAt)}</small>
        </span>
      </a>
    ),
  },
  ...(hasPortfolio
    ? [
        {
          title: 'Portfolio',
          isSecondary: true,
          cell: ({ portfolioId }: Order) => <PortfolioLink portfolioId={portfolioId} />,
        },
      ]
    : []),
  {
    title: 'Type',
    isSecondary: true,
    cell: (order) => typeOf(order),
  },
  {
    title: 'Filled',
    isNumber: true,
    isWide: true,
    cell: ({ filledQuantity = 0 }) => quantity(filledQuantity),
  },
  { title: 'Average', isNumber: true, isWide: true, cell: ({ averagePrice }) => price(averagePrice) },
  {
    title: 'Status',
    cell: ({ status }) => <span class={`status ${status.toLowerCase()}`}>{words(status)}</span>,
  },
  { title: 'Why', isLong: true, cell: (order) => <Why text={whyOf(order)} /> },
];

/** An address, with an order opened in it. */
function withOrder(address: string, orderId: string): string {
  const [path = '#/', queryText = ''] = address.split('?');
  const query = new URLSearchParams(queryText);
  query.set('order', orderId);
  return `${path}?${query}`;
}
