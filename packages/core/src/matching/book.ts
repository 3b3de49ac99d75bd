import { isSameStatement } from '../market/quote.js';
import type { Quote } from '../market/quote.js';
import { isForAuction } from '../orders/auction.js';
import { OpenOrders } from '../orders/open-orders.js';
import { isStop, isTrailing, sideOf } from '../orders/order.js';
import type { Order, OrderSession, Side } from '../orders/order.js';
import type { Tier } from '../orders/tier.js';
import { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import { PriorityQueue } from '../values/priority-queue.js';
import type { FillModel } from './fill-model.js';

/**
 * The orders at work in one instrument, and the quote they meet.
 *
 * There is no book of other people's orders here: this is an index that finds, for a new quote, the orders it
 * concerns without looking at the others. Orders wait in lanes, one per hours they work in and way they are
 * filled; each lane has queues by price, so that a quote that touches nobody costs a handful of comparisons.
 */

/** A place of an order in one queue. `price` is the price that matters there; ties go by `turn` (D62, D153). */
export interface QueueEntry {
  place: number;
  readonly price: number;
  readonly turn: number;
  readonly order: Order;
  readonly queue: OrderQueue;
}

type OrderQueue = PriorityQueue<QueueEntry>;

const lowestFirst = (a: QueueEntry, b: QueueEntry): boolean =>
  a.price === b.price ? a.turn < b.turn : a.price < b.price;
const highestFirst = (a: QueueEntry, b: QueueEntry): boolean =>
  a.price === b.price ? a.turn < b.turn : a.price > b.price;

/** Orders that work in the same hours and are filled in the same way. */
export class Lane {
  readonly session: OrderSession;
  readonly model: FillModel;
  /** True when its session is on, and when the latest one began: no quote from before is met (D128). */
  isOpen = false;
  openedAt: Instant = Instant.earliest;
  /** Ready to trade, best price first: buys by highest limit, sells by lowest. */
  readonly buys: OrderQueue = new PriorityQueue(highestFirst);
  readonly sells: OrderQueue = new PriorityQueue(lowestFirst);
  /** Of these, limit orders that have not seen the market away from their limit yet; first those it leaves first. */
  readonly unrestedBuys: OrderQueue = new PriorityQueue(lowestFirst);
  readonly unrestedSells: OrderQueue = new PriorityQueue(highestFirst);
  /** Waiting for a trigger: buys by lowest stop, sells by highest. */
  readonly buyStops: OrderQueue = new PriorityQueue(lowestFirst);
  readonly sellStops: OrderQueue = new PriorityQueue(highestFirst);
  /** Trailing stops by the mark the market must pass to move them: buys follow it down, sells up. */
  readonly buyTrails: OrderQueue = new PriorityQueue(highestFirst);
  readonly sellTrails: OrderQueue = new PriorityQueue(lowestFirst);

  constructor(session: OrderSession, model: FillModel) {
    this.session = session;
    this.model = model;
  }

  /** True when an order of this lane has been resting since in its session. */
  hasResting({ progress: { restingSince } }: Order): boolean {
    return restingSince !== undefined && restingSince >= this.openedAt;
  }

  /** Limit orders that the market is away from and that are not resting yet. */
  *leftBy(bid: Price | undefined, ask: Price | undefined): Iterable<Order> {
    yield* this.unrestedBuys.leading(({ price }) => ask === undefined || ask > price).map(orderAt);
    yield* this.unrestedSells.leading(({ price }) => bid === undefined || bid < price).map(orderAt);
  }

  isLeftBy(bid: Price | undefined, ask: Price | undefined): boolean {
    const buy = this.unrestedBuys.first();
    if (buy !== undefined && (ask === undefined || ask > buy.price)) return true;
    const sell = this.unrestedSells.first();
    return sell !== undefined && (bid === undefined || bid < sell.price);
  }
}

const orderAt = (place: QueueEntry): Order => place.order;

/** Orders of a lane that are ready to trade, best first. */
export const readyQueue = (lane: Lane, side: Side): OrderQueue => (side === 'BUY' ? lane.buys : lane.sells);

/** True when one order that is ready to trade has its turn before another: by price, then by turn. */
export const isBefore = (a: QueueEntry, b: QueueEntry, side: Side): boolean =>
  a.price === b.price ? a.turn < b.turn : side === 'BUY' ? a.price > b.price : a.price < b.price;

export class Book {
  readonly symbol: string;
  quote: Quote | undefined;
  /** True when the journal knows `quote`: one that no decision has read leaves no record. */
  quoteRecorded = false;
  /** The number of the push that `quote` came with; 0 = it is the feed's. */
  pushed = 0;
  /** What is left of the displayed sizes until the next quote; Infinity where no size was given. */
  bidLeft = 0;
  askLeft = 0;
  /** Shares taken from the modelled book behind the touch since the last quote. */
  modelledBidTaken = 0;
  modelledAskTaken = 0;
  readonly lanes: Lane[] = [];
  /** Until when what the lanes say of their sessions holds; then they are told anew. */
  sessionsUntil: Instant = Instant.earliest;
  /** All open orders in the instrument, those that wait for something else included. */
  readonly open = new OpenOrders();
  /** Orders that wait for a reference price (D133). */
  readonly awaitingPrice = new Set<Order>();
  /** Orders for the opening auction (D180). */
  readonly onOpen = new Set<Order>();
  /** Orders for the closing auction (D180). */
  readonly onClose = new Set<Order>();
  /** Short sales offered above the bid (D179a). */
  readonly offered = new Set<Order>();
  /** True when it is an option's: stops on those look at bid and ask. Known once there are orders. */
  isOption = false;
  /** How many of them are at work. */
  workingOrders = 0;

  constructor(symbol: string) {
    this.symbol = symbol;
  }

  setQuote(quote: Quote, recorded: boolean, pushed = 0): void {
    const before = this.quote;
    this.quote = quote;
    this.quoteRecorded = recorded;
    this.pushed = pushed;
    // A live source retells a quote with a newer trade or another age: what was taken of its displayed sizes stays taken.
    const isLive = before?.freshUntil !== undefined || quote.freshUntil !== undefined;
    if (before !== undefined && isLive && isSameStatement(before, quote)) return;
    this.bidLeft = quote.bid === undefined ? 0 : (quote.bidSize ?? Infinity);
    this.askLeft = quote.ask === undefined ? 0 : (quote.askSize ?? Infinity);
    this.modelledBidTaken = 0;
    this.modelledAskTaken = 0;
  }

  /** Who read the quote has left no record: whoever goes by it has to read it again. */
  forgetRecord(): void {
    this.quoteRecorded = false;
  }

  /** What was quoted was quoted of something else. */
  forgetQuote(): void {
    this.quote = undefined;
    this.quoteRecorded = false;
    this.bidLeft = 0;
    this.askLeft = 0;
    this.modelledBidTaken = 0;
    this.modelledAskTaken = 0;
  }

  /** Puts an order to work, or to its new place after it changed. */
  place(order: Order, model: FillModel): void {
    this.remove(order);
    const { terms, progress } = order;
    if (isForAuction(progress.timeInForce) || progress.scriptRun !== undefined) {
      // It waits for its auction, or for its script, and meets no quote.
      order.places = [];
      this.workingOrders++;
      return;
    }
    const lane = this.lane(terms.session, model);
    const isResting = lane.hasResting(order);
    const side = sideOf(terms.positionIntent);
    const places: QueueEntry[] = [];
    if (isStop(terms.orderType) && progress.triggered !== true) {
      if (progress.stopPrice !== undefined) {
        places.push(put(side === 'BUY' ? lane.buyStops : lane.sellStops, order, progress.stopPrice));
      }
      if (isTrailing(terms.orderType) && progress.mark !== undefined) {
        places.push(put(side === 'BUY' ? lane.buyTrails : lane.sellTrails, order, progress.mark));
      }
    } else {
      const ready = progress.offer ?? readyPrice(progress.limitPrice, side, model === 'strict' && isResting);
      places.push(put(side === 'BUY' ? lane.buys : lane.sells, order, ready));
      if (progress.limitPrice !== undefined && !isResting) {
        places.push(put(side === 'BUY' ? lane.unrestedBuys : lane.unrestedSells, order, progress.limitPrice));
      }
    }
    order.places = places;
    this.workingOrders++;
  }

  /** Takes an order from work; it may still be open. */
  remove(order: Order): void {
    const { places } = order;
    if (places === undefined) return;
    for (const place of places as readonly QueueEntry[]) place.queue.remove(place);
    order.places = undefined;
    this.workingOrders--;
  }

  /** The place of an order that is ready to trade. */
  readyPlace({ places }: Order): QueueEntry | undefined {
    return (places as readonly QueueEntry[] | undefined)?.[0];
  }

  /** True when an order at work fills at its limit, not at the touch: the market was away from it in this session. */
  isResting(order: Order, model: FillModel): boolean {
    return this.lane(order.terms.session, model).hasResting(order);
  }

  /**
   * A lane's session as it is now; `undefined` = it is over. At the beginning of one nobody is resting: everyone meets the first quote like an
   * order that arrives (D128).
   */
  setSession(lane: Lane, openedAt: Instant | undefined): void {
    lane.isOpen = openedAt !== undefined;
    if (openedAt === undefined || openedAt === lane.openedAt) return;
    lane.openedAt = openedAt;
    for (const queue of [lane.buys, lane.sells]) {
      for (const { order } of queue.leading(() => true)) {
        if (order.progress.restingSince !== undefined) this.place(order, lane.model);
      }
    }
  }

  private lane(session: OrderSession, model: FillModel): Lane {
    for (const lane of this.lanes) if (lane.session === session && lane.model === model) return lane;
    // Lanes of both sessions: orders activated by an execution, such as the exits of a bracket, find theirs.
    const [regular, extended] = [new Lane('REGULAR', model), new Lane('EXTENDED', model)];
    this.lanes.push(regular, extended);
    this.sessionsUntil = Instant.earliest;
    // Not in the order of first use, which a recovery does not know.
    this.lanes.sort((a, b) => (a.session + a.model < b.session + b.model ? -1 : 1));
    return session === 'REGULAR' ? regular : extended;
  }
}

function put(queue: OrderQueue, order: Order, price: number): QueueEntry {
  const place: QueueEntry = { place: -1, price, turn: priorityOf(order), order, queue };
  queue.add(place);
  return place;
}

const TIER_RANK: Readonly<Record<Tier, number>> = { ENTERPRISE: 0, PRO: 1, BASIC: 2 };
/** More orders than a simulation will ever see. */
const TURNS_PER_TIER = 1e15;

/** Whose turn it is among orders at the same price: that of the higher tier, then that which reached the market first (D153). */
export const priorityOf = ({ terms, progress }: Order): number =>
  TIER_RANK[terms.tier] * TURNS_PER_TIER + (progress.arrival ?? 0);

/**
 * The price at which the market must stand for an order to trade: its limit; anything for an order without one; one price unit beyond
 * it for a resting limit that the market must trade through.
 */
function readyPrice(limit: Price | undefined, side: Side, beyond: boolean): number {
  if (limit === undefined) return side === 'BUY' ? Infinity : -Infinity;
  if (beyond) return side === 'BUY' ? limit - 1 : limit + 1;
  return limit;
}
