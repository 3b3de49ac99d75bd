/** Messages that webhooks receive about the events of a journal (D191, D192). */
import {
  hasInterestIn,
  Instant,
  isIdle,
  isOrderEvent,
  isOrderPlaced,
  isTerminal,
  orderAfter,
  WHOLE_MARKET,
} from '@sandpit/core';
import type { Event, OrderEvent, OrderSnapshot } from '@sandpit/core';
import type { OrderTransition, WebhookEvent } from '@sandpit/protocol';
import { orderNow, PastOrders, withRows } from '../../engine/simulation/past-orders.js';
import { payloadOf } from '../../engine/records/record-text.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { MAIN } from '../../engine/values/cell-names.js';
import type { ListItem } from '../../store/history.js';
import { EventIds, positionAt } from './position.js';
import type { StreamPosition } from '../../store/stream-position.js';
import type { WebhookMessage, WebhookTranslator } from '../../webhooks/webhook-message.js';
import { shownAlert } from './alerts.js';
import { callOf, toActivity } from './history.js';
import { isoOf } from './instants.js';
import { orderUpdatesOf } from './orders.js';
import { shownHalt } from './simulations.js';

/** The type of an order's event. RESERVING is a step on the way to ACTIVE and not sent; TRAILED has no place in the journal's order (D215). */
const OF_TRANSITION: Readonly<Record<OrderTransition, WebhookEvent | undefined>> = {
  CREATED: 'order.accepted',
  PENDING: 'order.accepted',
  PENDING_MARKET_OPEN: 'order.updated',
  RESERVING: undefined,
  ACTIVE: 'order.active',
  TRIGGERED: 'order.updated',
  UPDATED: 'order.updated',
  TRAILED: undefined,
  PARTIALLY_FILLED: 'order.partially-filled',
  FILLED: 'order.filled',
  CANCELING: 'order.updated',
  CANCELED: 'order.canceled',
  REJECTED: 'order.rejected',
  ERROR: 'order.rejected',
};

/** Webhook events of option events. Shares bought in for delivery do not end a position. */
const OF_OPTION_EVENT: Readonly<Record<string, WebhookEvent | undefined>> = {
  EXERCISED: 'position.exercised',
  ASSIGNED: 'position.assigned',
  EXPIRED: 'position.expired',
  CASH_SETTLED: 'position.expired',
  SOLD_AT_EXPIRY: 'position.expired',
};

/** An event with its position; its order, if it has one, as of the event. */
interface PlacedEvent {
  readonly seq: number;
  readonly index: number;
  readonly at: Instant;
  readonly event: Event;
  readonly order: OrderSnapshot | undefined;
}

/** The id of a simulation in the API: a tenant's own `main` is `main` to every tenant. */
const shownId = ({ id, market }: Simulation): string => (market.id !== id ? MAIN : id);

function messagesOf(simulation: Simulation, placed: PlacedEvent): readonly WebhookMessage[] {
  const { event, order, seq, index, at } = placed;
  if (isOrderEvent(event)) {
    if (order === undefined) throw new Error(`Event ${seq}-${index} has no order`);
    const updates = orderUpdatesOf(simulation.brokerage.state.ids, event, order, at, (exit) =>
      orderNow(simulation, exit),
    );
    return updates.flatMap((update, part) => {
      const type = OF_TRANSITION[update.event];
      const position = positionAt(seq, index, updates.length - 1 - part);
      return type === undefined
        ? []
        : [messageOf(simulation, { type, at, position }, order.terms.portfolioId, update)];
    });
  }
  const told = otherMessage(simulation, placed);
  if (told === undefined) return [];
  const position = positionAt(seq, index, 0);
  return [messageOf(simulation, { type: told.type, at, position }, told.portfolioId ?? '', told.data)];
}

interface OtherMessage {
  readonly type: WebhookEvent;
  /** Absent = it is about the market, or an alert. */
  readonly portfolioId?: string;
  readonly data: object;
}

function otherMessage(simulation: Simulation, placed: PlacedEvent): OtherMessage | undefined {
  const { event, at } = placed;
  const { ids } = simulation.brokerage.state;
  const activity = (type: WebhookEvent, portfolioId: string, item = 0): OtherMessage => ({
    type,
    portfolioId,
    data: { portfolioId, ...toActivity(ids, itemOf(placed, item), undefined) },
  });
  switch (event.type) {
    case 'CallIssued':
    case 'CallClosed': {
      const { portfolioId, call } = event;
      const closed = call.status === 'MET' ? 'margin-call.met' : 'margin-call.liquidated';
      const isOpen = event.type === 'CallIssued';
      const data = { portfolioId, ...callOf(ids, call, isOpen ? call.amount : undefined) };
      return { type: isOpen ? 'margin-call.opened' : closed, portfolioId, data };
    }
    case 'OptionEnded': {
      const type = OF_OPTION_EVENT[event.act];
      return type && activity(type, event.portfolioId);
    }
    case 'FutureSettled':
      return event.closed === undefined ? undefined : activity('position.expired', event.portfolioId);
    case 'PositionSplit':
    case 'PositionConverted':
    case 'DividendAccrued':
    case 'OptionAdjusted':
      return activity('corporate-action.applied', event.portfolioId);
    case 'LedgerPosted': {
      const item = event.entries.findIndex(({ type }) => type === 'TRANSFER');
      return item === -1 ? undefined : activity('transfer.booked', event.portfolioId, item);
    }
    case 'AlertFired': {
      const { alert: number, terms, createdAt, price } = event;
      const fired = {
        ...terms,
        number,
        createdAt,
        armedAt: createdAt,
        status: 'FIRED' as const,
        fired: { at, price },
      };
      return { type: 'alert.fired', data: shownAlert(ids, fired) };
    }
    case 'TradingHalted':
      return { type: 'market.halted', data: shownHalt(event.halt) };
    case 'TradingResumed':
      return { type: 'market.resumed', data: { symbol: event.symbol, timestamp: isoOf(at) } };
    default:
      return undefined;
  }
}

const itemOf = ({ seq, index, at, event }: PlacedEvent, item = 0): ListItem => ({
  seq,
  at,
  event: index,
  item,
  data: event,
});

function messageOf(
  simulation: Simulation,
  {
    type,
    at,
    position,
  }: { readonly type: WebhookEvent; readonly at: Instant; readonly position: StreamPosition },
  portfolioId: string,
  data: object,
): WebhookMessage {
  const id = new EventIds(simulation.tags).of(position);
  const simulationId = shownId(simulation);
  const body = JSON.stringify({ type, timestamp: isoOf(at), data: { id, simulationId, ...data } });
  return { position, type, portfolioId, eventId: `evt_${simulationId}_${id}`, body };
}

/** The symbol of an event about the market; undefined for all others. */
const symbolOf = (event: Event): string | undefined =>
  event.type === 'TradingHalted'
    ? event.halt.symbol
    : event.type === 'TradingResumed'
      ? event.symbol
      : undefined;

/** True when a symbol has a position or an open order now. */
const isOfInterest = ({ brokerage: { state } }: Simulation, symbol: string): boolean =>
  symbol === WHOLE_MARKET ? !isIdle(state) : hasInterestIn(state, symbol);

/** True if a symbol was ever ordered: a past event is sent rather than lost. */
async function wasOfInterest({ history, id, tenantId }: Simulation, symbol: string): Promise<boolean> {
  if (tenantId === null) return false;
  const { total } = await history.orders({
    simulationId: id,
    scope: { every: 'order' },
    ...(symbol !== WHOLE_MARKET && { symbol }),
    offset: 0,
    limit: 1,
  });
  return total > 0;
}

export const webhookMessages: WebhookTranslator = {
  live(simulation, { seq, at, events, orders }) {
    return events.flatMap((event, index) => {
      const symbol = symbolOf(event);
      if (symbol !== undefined && !isOfInterest(simulation, symbol)) return [];
      return messagesOf(simulation, { seq, index, at, event, order: orders[index] });
    });
  },

  async *past(simulation, record, followed) {
    const { events } = payloadOf(record);
    const at = Instant.ofMs(record.at);
    for (const [index, event] of events.entries()) {
      const symbol = symbolOf(event);
      if (
        symbol !== undefined &&
        !isOfInterest(simulation, symbol) &&
        !(await wasOfInterest(simulation, symbol))
      )
        continue;
      const placed = { seq: record.seq, index, at, event };
      const order = isOrderEvent(event) ? await orderOf(simulation, placed, event, followed) : undefined;
      yield* await withRows(() => messagesOf(simulation, { ...placed, order }));
    }
  },

  test: (id, simulationId, at) =>
    JSON.stringify({
      type: 'webhook.test',
      timestamp: isoOf(Instant.ofMs(at)),
      data: { id, simulationId, message: 'This event tests the webhook' },
    }),
};

/** An order after a past event. Open orders are kept for later events. */
async function orderOf(
  simulation: Simulation,
  placed: Omit<PlacedEvent, 'order'>,
  event: OrderEvent,
  followed: Map<number, OrderSnapshot>,
): Promise<OrderSnapshot> {
  const before = isOrderPlaced(event) ? undefined : followed.get(event.order);
  const order =
    before === undefined || isOrderPlaced(event)
      ? await new PastOrders(simulation).after(itemOf({ ...placed, order: undefined }))
      : orderAfter(before, event, placed.at);
  const { number } = order.terms;
  if (isTerminal(order.progress.status)) followed.delete(number);
  else followed.set(number, order);
  return order;
}
