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
 * The active orders in one instrument, and their quote.
 *
 * It has no orders of other market participants: it is an index that finds the orders a new quote affects, without
 * visiting the others. Orders wait in lanes, one per session and fill model; each lane has queues by price, so that a
 * quote that reaches no orders costs a handful of comparisons.
 */

/** An entry of an order in one queue. `price` is its key there; ties are ordered by `turn` (D62, D153). */
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

/** Orders with the same session and fill model. */
export class Lane {
  readonly session: OrderSession;
  readonly model: FillModel;
  /** True while its session is open, with the start of the latest one: earlier quotes do not match (D128). */
  isOpen = false;
  openedAt: Instant = Instant.earliest;
  /** Ready to trade, best price first: buys by highest limit, sells by lowest. */
  readonly buys: OrderQueue = new PriorityQueue(highestFirst);
  readonly sells: OrderQueue = new PriorityQueue(lowestFirst);
  /** Limit orders of these queues that are not resting yet; first those that the market leaves first. */
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

  /** True when an order of this lane has been resting in the current session. */
  hasResting({ progress: { restingSince } }: Order): boolean {
    return restingSince !== undefined && restingSince >= this.openedAt;
  }

  /** Limit orders that the market has left and that are not resting yet. */
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

/** True when one ready order comes before another: by price, then by turn. */
export const isBefore = (a: QueueEntry, b: QueueEntry, side: Side): boolean =>
  a.price === b.price ? a.turn < b.turn : side === 'BUY' ? a.price > b.price : a.price < b.price;

/** A quote in force, and what executions have left of its sizes. */
export interface UsedQuote {
  readonly quote: Quote;
  readonly pushed: number;
  readonly bidLeft: number;
  readonly askLeft: number;
  readonly modelledBidTaken: number;
  readonly modelledAskTaken: number;
}

export class Book {
  readonly symbol: string;
  quote: Quote | undefined;
  /** True when the journal has `quote`: quotes that no decision has read leave no record. */
  quoteRecorded = false;
  /** While the journal does not have `quote`: the last one that it has, with its used sizes. */
  #lastRecorded: UsedQuote | undefined;
  /** The number of the push that brought `quote`; 0 = the feed did. */
  pushed = 0;
  /** Remaining displayed sizes until the next quote; Infinity without a given size. */
  bidLeft = 0;
  askLeft = 0;
  /** Shares used of the modeled book behind the touch since the last quote. */
  modelledBidTaken = 0;
  modelledAskTaken = 0;
  readonly lanes: Lane[] = [];
  /** Time until which the lanes' sessions are valid; then they are set again. */
  sessionsUntil: Instant = Instant.earliest;
  /** All open orders in the instrument, including those that are not at work. */
  readonly open = new OpenOrders();
  /** Orders that wait for a reference price (D133). */
  readonly awaitingPrice = new Set<Order>();
  /** Orders for the opening auction (D180). */
  readonly onOpen = new Set<Order>();
  /** Orders for the closing auction (D180). */
  readonly onClose = new Set<Order>();
  /** Short sales offered above the bid (D179a). */
  readonly offered = new Set<Order>();
  /** True for options, whose stops trigger on bid and ask. Set once there are orders. */
  isOption = false;
  /** Number of open orders at work. */
  workingOrders = 0;

  constructor(symbol: string) {
    this.symbol = symbol;
  }

  /** The last quote that the journal has: what recovery from the records would find. */
  recorded(): UsedQuote | undefined {
    return this.quoteRecorded ? this.#usedQuote() : this.#lastRecorded;
  }

  #usedQuote(): UsedQuote | undefined {
    const { quote, pushed, bidLeft, askLeft, modelledBidTaken, modelledAskTaken } = this;
    return quote && { quote, pushed, bidLeft, askLeft, modelledBidTaken, modelledAskTaken };
  }

  setQuote(quote: Quote, recorded: boolean, pushed = 0): void {
    if (this.quoteRecorded && !recorded) this.#lastRecorded = this.#usedQuote();
    const before = this.quote;
    this.quote = quote;
    this.quoteRecorded = recorded;
    this.pushed = pushed;
    // A live source repeats a quote with a newer trade or another age: used parts of its displayed sizes stay used.
    const isLive = before?.freshUntil !== undefined || quote.freshUntil !== undefined;
    if (before !== undefined && isLive && isSameStatement(before, quote)) return;
    this.bidLeft = quote.bid === undefined ? 0 : (quote.bidSize ?? Infinity);
    this.askLeft = quote.ask === undefined ? 0 : (quote.askSize ?? Infinity);
    this.modelledBidTaken = 0;
    this.modelledAskTaken = 0;
  }

  /** The decision that read the quote left no record: the next one must read it again. */
  forgetRecord(): void {
    this.quoteRecorded = false;
  }

  /** Drops the quote after a split: it was a quote of the old instrument. */
  forgetQuote(): void {
    this.quote = undefined;
    this.quoteRecorded = false;
    this.#lastRecorded = undefined;
    this.bidLeft = 0;
    this.askLeft = 0;
    this.modelledBidTaken = 0;
    this.modelledAskTaken = 0;
  }

  /** Adds an active order, or moves it to its new position after a change. */
  place(order: Order, model: FillModel): void {
    this.remove(order);
    const { terms, progress } = order;
    if (isForAuction(progress.timeInForce) || progress.scriptRun !== undefined) {
      // The order waits for its auction or script, and is not matched.
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

  /** Removes an order from work; it may still be open. */
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
   * Sets the current session of a lane; `undefined` = it is over. At its beginning no orders are resting: all are matched with the first quote like an arriving order (D128).
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
    // Sorted, because recovery does not know the order of first use.
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
/** More orders than a simulation will ever have. */
const TURNS_PER_TIER = 1e15;

/** Priority among orders at the same price: higher tiers first, then those that reached the market first (D153). */
export const priorityOf = ({ terms, progress }: Order): number =>
  TIER_RANK[terms.tier] * TURNS_PER_TIER + (progress.arrival ?? 0);

/**
 * The market price that an order needs to trade: its limit; any price for an order without one; one price unit beyond
 * it for a resting limit that the market must trade through.
 */
function readyPrice(limit: Price | undefined, side: Side, beyond: boolean): number {
  if (limit === undefined) return side === 'BUY' ? Infinity : -Infinity;
  if (beyond) return side === 'BUY' ? limit - 1 : limit + 1;
  return limit;
}
