/** The port of dialects over a simulation: what a credential sees and does, in the core's values. */
import {
  type Event,
  type Instant,
  Instant as Instants,
  isOrderEvent,
  type LedgerEntry,
  type OrderSnapshot,
  plainCalendar,
  type Portfolio,
  splitOf,
  type TradingDate,
} from '@sandpit/core';
import type {
  AnsweringId,
  Book,
  Desk,
  Events,
  Keep,
  Market,
  Numbers,
  OperationInput,
  OrderQuery,
  Orders,
  OrderVersion,
  PastEvent,
  Watcher,
} from '@sandpit/dialect-port';
import type { ReplyOf } from '@sandpit/protocol';
import {
  orderAtHand,
  orderNow,
  PastOrders,
  storedOrder,
  withRows,
} from '../../engine/simulation/past-orders.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { computesQuotes } from '../../feeds/feed.js';
import { isLive } from '../../feeds/live-feed.js';
import type { ListItem } from '../../store/history.js';
import { type Registry, settingsOf } from '../../store/registry.js';
import { keptOf, listedInstruments, quoteIn } from '../listed.js';
import { holdingsOf, ownPortfolio } from '../owned.js';
import { EventIds } from '../translate/position.js';
import { Poller } from '../stream/poller.js';
import { ledgerEntryOf, toActivity } from '../translate/history.js';
import { barOf, marketHoursOf, quoteOf } from '../translate/market-data.js';
import { wholePortfolio } from '../translate/portfolios.js';
import { shownActions } from '../translate/simulations.js';
import { itemsOf } from './history-pages.js';
import type { Caller, Operations } from './operations.js';

export interface DeskDeps {
  readonly operations: Pick<Operations, 'run'>;
  readonly registry: Registry;
  readonly clockMs: () => number;
}

/** A desk over the simulation of a caller. */
export class SimulationDesk implements Desk {
  readonly simulationId: string;
  readonly key: object;
  readonly mayTrade: boolean;
  readonly market: Market;
  readonly keep: Keep;
  protected readonly caller: Caller;
  protected readonly deps: DeskDeps;

  constructor(caller: Caller, deps: DeskDeps) {
    const { simulation, principal } = caller;
    this.simulationId = simulation.id;
    this.key = simulation;
    this.mayTrade = principal.scopes.has('trade');
    this.market = new MarketView(simulation, deps.clockMs);
    this.keep = keepOf(simulation, deps.registry);
    this.caller = caller;
    this.deps = deps;
  }

  get ids() {
    return this.caller.simulation.brokerage.state.ids;
  }

  get calendar() {
    return this.caller.simulation.brokerage.rules.calendar;
  }

  now(): Instant {
    return this.caller.simulation.now();
  }

  instrument(symbol: string) {
    return this.caller.simulation.brokerage.instrument(symbol);
  }

  run<Id extends AnsweringId>(id: Id, input?: OperationInput): Promise<ReplyOf<Id>> {
    return this.deps.operations.run(this.caller, id, input);
  }

  subscribe(listener: Parameters<Desk['subscribe']>[0]): () => void {
    return this.caller.simulation.subscribe(listener);
  }

  portfolios(): readonly Portfolio[] {
    return [...this.caller.simulation.brokerage.state.portfolios.values()];
  }

  book(portfolioId: string): Book | undefined {
    const { brokerage } = this.caller.simulation;
    return ownPortfolio(brokerage, portfolioId) && new PortfolioBook(portfolioId, this.caller, this.deps);
  }
}

/** A desk with one portfolio. */
export class PortfolioBook extends SimulationDesk implements Book {
  readonly portfolioId: string;
  readonly orders: Orders;
  readonly events: Events;

  constructor(portfolioId: string, caller: Caller, deps: DeskDeps) {
    super(caller, deps);
    this.portfolioId = portfolioId;
    this.orders = new OrderView(caller, portfolioId);
    this.events = new EventView(caller.simulation, portfolioId);
  }

  portfolio(): Portfolio | undefined {
    return ownPortfolio(this.caller.simulation.brokerage, this.portfolioId);
  }

  numbers(): Promise<Numbers | undefined> {
    const { simulation, principal } = this.caller;
    return simulation.read(
      [principal],
      (brokerage): Numbers | undefined => {
        const portfolio = ownPortfolio(brokerage, this.portfolioId);
        return (
          portfolio && {
            shown: wholePortfolio(brokerage, portfolio),
            previousClose: portfolio.previousClose,
            terms: portfolio.terms,
            isFrozen: portfolio.account.status === 'FROZEN',
          }
        );
      },
      holdingsOf([this.portfolio()]),
    );
  }
}

const keepOf = ({ id }: Simulation, registry: Registry): Keep => {
  const prefix = settingsOf(id);
  return {
    get: (name) => registry.setting(prefix + name),
    save: (name, text) => registry.saveSetting(prefix + name, text),
    delete: (name) => registry.deleteSetting(prefix + name),
  };
};

class OrderView implements Orders {
  readonly #caller: Caller;
  readonly #portfolioId: string;

  constructor(caller: Caller, portfolioId: string) {
    this.#caller = caller;
    this.#portfolioId = portfolioId;
  }

  get #simulation(): Simulation {
    return this.#caller.simulation;
  }

  readonly atHand = (number: number): OrderSnapshot | undefined => orderAtHand(this.#simulation, number);

  async byNumber(number: number): Promise<OrderSnapshot | undefined> {
    const simulation = this.#simulation;
    // The order shown must be durable.
    await simulation.read([this.#caller.principal], () => undefined);
    await simulation.rows.certain();
    const order = await withRows(() => orderNow(simulation, number));
    return order?.terms.portfolioId === this.#portfolioId ? order : undefined;
  }

  async numberOf(clientOrderId: string): Promise<number | undefined> {
    const simulation = this.#simulation;
    const open = simulation.brokerage.state.portfolios
      .get(this.#portfolioId)
      ?.clientOrderIds.get(clientOrderId);
    if (open !== undefined) return open;
    const history = await simulation.past();
    return history.orderByClientOrderId(simulation.id, this.#portfolioId, clientOrderId);
  }

  isOpen(number: number): boolean {
    return this.#simulation.brokerage.state.orders.has(number);
  }

  open(): Promise<readonly OrderSnapshot[]> {
    return this.#simulation.read([this.#caller.principal], ({ state }) => [
      ...(state.portfolios.get(this.#portfolioId)?.openOrders.oldestFirst() ?? []),
    ]);
  }

  async *list({ statuses, from, to, isAscending = false }: OrderQuery): AsyncGenerator<OrderSnapshot> {
    const simulation = this.#simulation;
    const history = await simulation.past();
    const query = {
      simulationId: simulation.id,
      scope: { portfolioId: this.#portfolioId },
      ...(statuses !== undefined && { status: statuses }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(!isAscending && { isUncounted: true as const }),
    };
    let last = 0;
    for await (const row of itemsOf((stretch) => history.orders({ ...query, ...stretch }), isAscending)) {
      // An order that is no longer open moves the pages of the open ones.
      if (isAscending && row.number <= last) continue;
      last = row.number;
      yield simulation.brokerage.state.orders.get(row.number) ?? storedOrder(row);
    }
  }

  show<T>(show: (attached: (number: number) => OrderSnapshot | undefined) => T): Promise<T> {
    return withRows(() => show((number) => orderNow(this.#simulation, number)));
  }

  async versions(number: number): Promise<readonly OrderVersion[]> {
    const simulation = this.#simulation;
    const history = await simulation.past();
    const { items } = await history.list({
      simulationId: simulation.id,
      list: 'order-events',
      owner: String(number),
      offset: 0,
      limit: MOST_EVENTS,
    });
    const past = new PastOrders(simulation);
    const versions: OrderVersion[] = [];
    for (const item of items.toReversed()) {
      const event = item.data as Event;
      // Listed once for each of its executions.
      if (item.item !== 0 || !isOrderEvent(event)) continue;
      const order = await past.after(item);
      versions.push({ event, at: Instants.ofMs(item.at), before: versions.at(-1)?.order, order });
    }
    return versions;
  }
}

const MOST_EVENTS = 100_000;

class EventView implements Events {
  readonly #simulation: Simulation;
  readonly #portfolioId: string;
  readonly subscribe: Events['subscribe'];

  constructor(simulation: Simulation, portfolioId: string) {
    this.#simulation = simulation;
    this.#portfolioId = portfolioId;
    this.subscribe = (listener) => simulation.subscribe(listener);
  }

  get published(): number {
    return this.#simulation.published;
  }

  idOf(place: { readonly seq: number; readonly place: number }): string {
    return new EventIds(this.#simulation.tags).of(place);
  }

  placeOf(id: string) {
    return new EventIds(this.#simulation.tags).positionOf(id);
  }

  async *byRecord(
    range: { readonly from?: number; readonly to?: number },
    isAscending: boolean,
  ): AsyncGenerator<readonly PastEvent[]> {
    const simulation = this.#simulation;
    const history = await simulation.past();
    const past = new PastOrders(simulation);
    const itemsIn = (list: 'ledger' | 'activities') =>
      itemsOf(
        (stretch) =>
          history.list({
            simulationId: simulation.id,
            list,
            owner: this.#portfolioId,
            ...range,
            ...stretch,
          }),
        isAscending,
      );
    for await (const items of byRecord(itemsIn('ledger'), itemsIn('activities'), isAscending))
      yield items.map((item) => pastEvent(simulation, past, item));
  }

  describeEntry(entry: LedgerEntry, at: Instant): string {
    return ledgerEntryOf(this.#simulation.brokerage.state.ids, entry, at).description;
  }

  async lastBefore(to: Instant) {
    const simulation = this.#simulation;
    const history = await simulation.past();
    const query = { simulationId: simulation.id, list: 'activities', owner: this.#portfolioId } as const;
    const { items } = await history.list({ ...query, to, offset: 0, limit: 1 });
    const [item] = items;
    return item && { seq: item.seq, event: item.event };
  }

  async missed(
    after: { readonly seq: number; readonly event: number },
    upTo: number,
    limit: number,
  ): Promise<{ readonly events: readonly PastEvent[]; readonly isWhole: boolean }> {
    const { history, id } = this.#simulation;
    await history.flush(id);
    const items = await history.streamEvents(id, after, limit);
    const past = new PastOrders(this.#simulation);
    const events = items.map((item) => pastEvent(this.#simulation, past, item));
    return { events, isWhole: history.position(id) >= upTo };
  }
}

function pastEvent(simulation: Simulation, past: PastOrders, item: ListItem): PastEvent {
  return {
    seq: item.seq,
    event: item.event,
    at: Instants.ofMs(item.at),
    data: item.data as Event,
    order: async () => past.after(item),
    describe: () => toActivity(simulation.brokerage.state.ids, item, undefined).description,
  };
}

/** Joins two lists: the items of each record together, one for each of its events. */
async function* byRecord(
  first: AsyncIterator<ListItem>,
  second: AsyncIterator<ListItem>,
  isAscending: boolean,
): AsyncGenerator<readonly ListItem[]> {
  const sources = [first, second];
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    const seqs = heads.flatMap((head) => (head.done === true ? [] : [head.value.seq]));
    if (seqs.length === 0) return;
    const seq = isAscending ? Math.min(...seqs) : Math.max(...seqs);
    const byEvent = new Map<number, ListItem>();
    for (const [i, source] of sources.entries()) {
      for (let head = heads[i]; head !== undefined && head.done !== true && head.value.seq === seq;) {
        byEvent.set(head.value.event, head.value);
        heads[i] = head = await source.next();
      }
    }
    yield [...byEvent.values()].sort((a, b) => a.event - b.event);
  }
}

/** Interval of the next look after a failed one, ms. */
const WATCH_INTERVAL_MS = 250;

class MarketView implements Market {
  readonly #simulation: Simulation;
  readonly #clockMs: () => number;

  constructor(simulation: Simulation, clockMs: () => number) {
    this.#simulation = simulation;
    this.#clockMs = clockMs;
  }

  get isComputed(): boolean {
    return computesQuotes(this.#simulation.feed);
  }

  get isLive(): boolean {
    return isLive(this.#simulation.feed);
  }

  get hasOptions(): boolean {
    return this.#simulation.brokerage.rules.instruments.listing.hasOptions === true;
  }

  listed() {
    return listedInstruments(this.#simulation.brokerage, this.#simulation.now());
  }

  latest(symbols: readonly string[]) {
    const simulation = this.#simulation;
    return simulation.read(
      [],
      (brokerage) =>
        symbols.flatMap((symbol) => {
          const quote = quoteIn(simulation, brokerage, symbol, simulation.now());
          return (quote && quoteOf(quote, brokerage.instrument(symbol))) ?? [];
        }),
      keptOf(simulation, symbols),
    );
  }

  quoteAt(symbol: string, at: Instant) {
    return this.#simulation.feed.quoteAt(symbol, at);
  }

  async bars(query: Parameters<Market['bars']>[0]) {
    return (await this.#simulation.feed.bars(query)).map(barOf);
  }

  closeBefore(symbol: string, date: TradingDate) {
    const { closesOf, closes } = this.#simulation.brokerage.state;
    return closesOf !== undefined && closesOf < date ? closes.get(symbol) : undefined;
  }

  splitsSince(symbol: string, date: TradingDate): number {
    let factor = 1;
    if (this.isComputed) return factor;
    for (const { action, status } of this.#simulation.brokerage.state.actions.values()) {
      const split = splitOf(action);
      if (status === 'EFFECTIVE' && split?.symbol === symbol && split.exDate > date)
        factor *= split.ratio.new / split.ratio.old;
    }
    return factor;
  }

  actions() {
    return this.#simulation.read([], ({ state, rules, at }) =>
      shownActions(state.actions.values(), rules.calendar, rules.calendar.dateOf(at)),
    );
  }

  hoursAt(at: Instant) {
    const { calendar } = this.#simulation.brokerage.rules;
    return marketHoursOf(plainCalendar(calendar.id), 'EQUITIES', calendar, at);
  }

  watch<Reader extends Watcher>(look: (readers: readonly Reader[]) => Promise<number>) {
    const poller = new Poller<Reader>(this.#simulation, this.#clockMs, {
      delayAfter: () => 0,
      look: async (readers) => {
        const restMs = await look(readers);
        return { inMs: restMs, restMs };
      },
      intervalMs: WATCH_INTERVAL_MS,
    });
    return { add: (reader: Reader): void => void poller.add(reader) };
  }
}
