/** The lines of the chart that can be moved: prices of the ticket and of open orders, by pointer or by keys. */
import type { Order, PortfolioUpdate } from '@sandpit/protocol';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { price, quantity } from '../format.ts';
import { orderText } from '../labels.ts';
import { isOpenOrder } from '../live/orders.ts';
import { errorFrom } from '../load.ts';
import { sentenceOf } from '../parts/notice.tsx';
import { announce } from '../ui/toaster.tsx';
import { movablePrices, type PriceField } from './levels.ts';
import { distanceWarning, type MarketSide } from './market-side.ts';
import type { PriceMark } from './price-drawing.ts';

/** Ticks of a step with Page Up and Page Down. */
const PAGE_TICKS = 10;

/** Prices of the ticket as lines, and the effect of moving one. */
export interface TicketLines {
  readonly marks: readonly MovableMark[];
  readonly onMove: (id: string, to: number) => void;
  /** Gives the ticket a price, and so a line. */
  readonly onBegin: () => void;
}

/** A line that can be moved. */
export type MovableMark = PriceMark & { readonly id: string };

interface Move {
  readonly order: Order;
  readonly field: PriceField;
  readonly to: number;
}

const idOf = (orderId: string, field: PriceField): string => `${orderId} ${field}`;
const NAMES: Readonly<Record<PriceField, string>> = { limitPrice: 'limit', stopPrice: 'stop' };

export interface ChartLines {
  readonly marks: readonly PriceMark[];
  /** A change of an order that waits for its confirmation. */
  readonly move: Move | undefined;
  /** Moves a line; that of an order waits for its confirmation. */
  readonly onMove: (id: string, to: number) => void;
  readonly onConfirm: () => void;
  readonly onDrop: () => void;
}

/** The lines of a symbol: average price of the position, open orders, and the ticket. */
export function useChartLines(
  symbol: string,
  portfolio: PortfolioUpdate | undefined,
  orders: readonly Order[],
  ticket: TicketLines | undefined,
): ChartLines {
  const broker = useBroker();
  const [asked, setMove] = useState<Move>();
  const open = useMemo(
    () => orders.filter((one) => isOpenOrder(one) && one.symbol === symbol && one.legs === undefined),
    [symbol, orders],
  );
  // An order that ended in the meantime has no price to change.
  const order = open.find(({ orderId }) => orderId === asked?.order.orderId);
  const move = asked === undefined || order === undefined ? undefined : { ...asked, order };
  const ticketMarks = JSON.stringify(ticket?.marks ?? []);
  const marks = useMemo(
    () => [...positionMarks(symbol, portfolio), ...(ticket?.marks ?? []), ...orderMarks(open, move)],
    [symbol, portfolio, open, ticketMarks, move?.order.orderId, move?.field, move?.to],
  );
  const onMove = (id: string, to: number): void => {
    if (ticket?.marks.some((mark) => mark.id === id) === true) {
      ticket.onMove(id, to);
      return;
    }
    for (const one of open)
      for (const [field, now] of movablePrices(one))
        if (id === idOf(one.orderId, field)) setMove(to === now ? undefined : { order: one, field, to });
  };
  const onConfirm = (): void => {
    if (move === undefined) return;
    const { orderId } = move.order;
    setMove(undefined);
    broker.call('updateOrder', { params: { orderId }, body: { [move.field]: move.to } }).then(
      () => announce(`Order in ${symbol} replaced`, `${sentenceOfMove(move)}.`, 'success', `move ${orderId}`),
      (error: unknown) => announce(`Order in ${symbol} not replaced`, sentenceOf(errorFrom(error)), 'error'),
    );
  };
  return { marks, move, onMove, onConfirm, onDrop: () => setMove(undefined) };
}

const sentenceOfMove = ({ order, field, to }: Move): string =>
  `${orderText(order, order.quantity)}: ${NAMES[field]} ${price(order[field])} → ${price(to)}`;

/** A change of an order, to be confirmed. */
export function MoveNotice({
  lines: { move, onConfirm, onDrop },
  market,
}: {
  readonly lines: ChartLines;
  readonly market: MarketSide;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const isAsking = move !== undefined;
  useEffect(() => {
    // A drag ends here; arrow keys stay at their line until Enter.
    if (isAsking && document.activeElement?.getAttribute('role') !== 'slider') button.current?.focus();
  }, [isAsking]);
  if (move === undefined) return null;
  const { order, field, to } = move;
  const warning = distanceWarning(
    order.orderType,
    order.positionIntent.startsWith('BUY'),
    field === 'limitPrice' ? to : order.limitPrice,
    field === 'stopPrice' ? to : order.stopPrice,
    market,
  );
  return (
    <div
      class="panel move"
      role="group"
      aria-label="Change of an order"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onDrop();
      }}
    >
      <p role="status">
        <strong>{sentenceOfMove(move)}</strong>
        {warning !== undefined && <span class="warning small block">{warning}</span>}
      </p>
      <button ref={button} type="button" class="primary small" onClick={onConfirm}>
        Replace order
      </button>
      <button type="button" class="small" onClick={onDrop}>
        Keep {price(order[field])}
      </button>
    </div>
  );
}

/** The lines as sliders: arrows move a price by its tick, Page Up and Page Down by ten, Enter goes to the confirmation. */
export function LineSliders({
  lines: { marks, move, onMove, onDrop },
  step,
}: {
  readonly lines: ChartLines;
  /** The price that is a number of ticks above another one. */
  readonly step: (from: number, ticks: number) => number;
}) {
  const movable = marks.filter((mark): mark is MovableMark => mark.id !== undefined);
  if (movable.length === 0) return null;
  const onKeyDown = (event: KeyboardEvent, mark: MovableMark): void => {
    const ticks = STEPS[event.key];
    if (ticks !== undefined) onMove(mark.id, step(mark.price, ticks));
    else if (event.key === 'Enter')
      document.querySelector<HTMLElement>(move === undefined ? '.ticket .place' : '.move .primary')?.focus();
    else if (event.key === 'Escape' && move !== undefined) onDrop();
    else return;
    event.preventDefault();
  };
  return (
    <div class="row lines-row" role="group" aria-label="Lines of the chart">
      {movable.map((mark) => (
        <span
          key={mark.id}
          role="slider"
          tabIndex={0}
          class={`line-chip ${mark.color.slice(2)}`}
          aria-label={mark.title}
          aria-orientation="vertical"
          aria-valuemin={0}
          aria-valuemax={mark.price * 2}
          aria-valuenow={mark.price}
          aria-valuetext={price(mark.price)}
          title="Drag the line, or move it with the arrow keys"
          onKeyDown={(event) => onKeyDown(event, mark)}
        >
          {mark.title} <strong>{price(mark.price)}</strong>
        </span>
      ))}
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: 1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowLeft: -1,
  PageUp: PAGE_TICKS,
  PageDown: -PAGE_TICKS,
};

/** The average price of the position. */
function positionMarks(symbol: string, portfolio: PortfolioUpdate | undefined): readonly PriceMark[] {
  const share = portfolio?.equities.find((one) => one.symbol === symbol);
  const future = portfolio?.futures.find((one) => one.symbol === symbol);
  const count = share === undefined ? (future?.quantity ?? 0) : share.settledQuantity + share.pendingQuantity;
  const entry = share?.entryPrice ?? future?.entryPrice;
  return count === 0 || entry === undefined
    ? []
    : [{ price: entry, title: `${quantity(count)} avg`, color: '--accent' }];
}

/** The prices of open orders; one that is moved lies at its next price. A trailing stop has a line, but follows the market alone. */
function orderMarks(open: readonly Order[], move: Move | undefined): readonly PriceMark[] {
  return open.flatMap((order): readonly PriceMark[] => {
    const isBuy = order.positionIntent.startsWith('BUY');
    const color = isBuy ? '--up' : '--down';
    const title = (kind: string): string => `${isBuy ? 'Buy' : 'Sell'} ${quantity(order.quantity)} ${kind}`;
    const { stopPrice } = order;
    if (order.orderType.startsWith('TRAILING'))
      return stopPrice === undefined ? [] : [{ price: stopPrice, title: title('trailing stop'), color }];
    return movablePrices(order).map(([field, now]) => ({
      id: idOf(order.orderId, field),
      price: move?.order.orderId === order.orderId && move.field === field ? move.to : now,
      title: title(NAMES[field]),
      color,
    }));
  });
}
