/** Expected answers of a history, computed from the records of a journal without tables. */
import { Instant, markOf, snapshotOf, tradeDateOf } from '@sandpit/core';
import type { Brokerage, Event, OrderSnapshot, PortfolioSnapshot } from '@sandpit/core';
import { expect } from 'vitest';
import { commandOf, payloadOf } from '../engine/records/record-text.js';
import { listedOf } from './history/collect-rows.js';
import type { History, ListName, OrderQuery } from './history.js';
import type { JournalRecord } from './journal.js';

const MINUTE_MS = 60_000;

interface ExpectedItem {
  readonly place: string;
  readonly at: number;
  readonly tag: string | undefined;
}

interface ExpectedOrder {
  snapshot: OrderSnapshot;
  filledOn: string | undefined;
  readonly events: ExpectedItem[];
}

interface ExpectedMinute {
  readonly minute: number;
  standing: PortfolioSnapshot;
  hasMoved: boolean;
  /** Its snapshot is another one after a record of the minute: the history must have the minute. Else it may. */
  isChanged: boolean;
}

/** Events after which the holdings of a portfolio are others. */
const MOVES: ReadonlySet<string> = new Set([
  'OrderExecuted',
  'OptionEnded',
  'FutureSettled',
  'OptionAdjusted',
  'PositionSplit',
  'PortfolioReset',
  'PortfolioClosed',
]);

const KEYED: readonly ListName[] = ['day-trades', 'margin-calls'];
const PLAIN: readonly ListName[] = ['activities', 'ledger', 'equity', 'sma'];

export class HistoryOracle {
  readonly portfolios = new Map<string, string>();
  readonly orders = new Map<number, ExpectedOrder>();
  readonly closed = new Map<string, unknown>();
  readonly lists = new Map<string, ExpectedItem[]>();
  readonly keyed = new Map<string, Map<string, ExpectedItem>>();
  readonly stream: { readonly seq: number; readonly event: number; readonly at: number }[] = [];
  readonly minutes = new Map<string, ExpectedMinute[]>();
  readonly marks = new Map<string, { readonly minute: number; price: number }[]>();
  readonly #brokerage: Brokerage;
  #before = new Map<string, string>();

  /** `brokerage`: at the beginning of the journal. */
  constructor(brokerage: Brokerage) {
    this.#brokerage = brokerage;
  }

  read(record: JournalRecord): void {
    const payload = payloadOf(record);
    const command = commandOf(payload);
    const { events, quotes } = payload;
    if (quotes !== undefined) this.#brokerage.recall(quotes);
    if (command.type === 'UpdateMarket' && !command.pushed) this.#brokerage.recall(command.quotes);
    const at = Instant.ofMs(record.at);
    const { portfolios } = this.#brokerage.state;
    const touched = new Map<string, boolean>();
    for (const [index, event] of events.entries()) {
      if (event.type === 'PortfolioClosed') {
        const { settings, value, at: closedAt, name } = event;
        const terms = portfolios.get(event.portfolioId)?.terms;
        const last = { settings, value, at: closedAt, ...(name !== undefined && { name }) };
        this.closed.set(event.portfolioId, { terms, last });
      }
      const [after] = this.#brokerage.apply([event], at);
      const order = after && this.#follow(event, after, at, record.seq, index);
      if (event.type === 'PortfolioOpened')
        this.portfolios.set(event.terms.portfolioId, event.terms.accountId);
      this.#list(event, order?.snapshot, record.seq, index, record.at);
      const owner = ownerOf(event, order?.snapshot);
      if (owner !== undefined) touched.set(owner, MOVES.has(event.type) || touched.get(owner) === true);
      if (event.type === 'QuotesPushed')
        for (const quote of event.quotes) {
          const price = markOf(quote);
          if (price !== undefined) this.#mark(quote.symbol, Math.floor(record.at / MINUTE_MS), price);
        }
    }
    this.#stand(Math.floor(record.at / MINUTE_MS), touched, events);
  }

  #follow(
    event: Event,
    { terms, progress }: OrderSnapshot,
    at: Instant,
    seq: number,
    index: number,
  ): ExpectedOrder {
    const { number } = terms;
    const order = this.orders.get(number) ?? {
      snapshot: { terms, progress },
      filledOn: undefined,
      events: [],
    };
    order.snapshot = { terms, progress };
    this.orders.set(number, order);
    if (event.type === 'OrderExecuted') {
      if (order.snapshot.progress.status === 'FILLED') order.filledOn = tradeDateOf(event, at);
      for (const item of event.executions.keys())
        order.events.push({ place: `${seq}.${index}.${item}`, at, tag: 'EXECUTION' });
    } else order.events.push({ place: `${seq}.${index}.0`, at, tag: undefined });
    this.stream.push({ seq, event: index, at });
    return order;
  }

  #list(event: Event, order: OrderSnapshot | undefined, seq: number, index: number, at: number): void {
    for (const { list, owner, item, tag, key } of listedOf(event, order)) {
      const name = `${list} ${owner}`;
      const one: ExpectedItem = { place: `${seq}.${index}.${item}`, at, tag };
      if (key === undefined) {
        const all = this.lists.get(name) ?? [];
        all.push(one);
        this.lists.set(name, all);
      } else {
        // A key that is set again keeps its place.
        const all = this.keyed.get(name) ?? new Map<string, ExpectedItem>();
        all.set(key, one);
        this.keyed.set(name, all);
      }
    }
  }

  #mark(symbol: string, minute: number, price: number): void {
    const all = this.marks.get(symbol) ?? [];
    const last = all.at(-1);
    if (last?.minute === minute) last.price = price;
    else all.push({ minute, price });
    this.marks.set(symbol, all);
  }

  #stand(minute: number, touched: ReadonlyMap<string, boolean>, events: readonly Event[]): void {
    const now = new Map<string, PortfolioSnapshot>();
    for (const [id, portfolio] of this.#brokerage.state.portfolios) now.set(id, snapshotOf(portfolio));
    for (const event of events) {
      if (event.type !== 'PortfolioClosed') continue;
      const last = this.minutes.get(event.portfolioId)?.at(-1)?.standing;
      // Its last cash was paid out.
      if (last !== undefined) now.set(event.portfolioId, { ...last, settled: 0 as never, held: {} });
    }
    for (const [id, standing] of now) {
      const text = JSON.stringify(standing);
      const isChanged = this.#before.get(id) !== text;
      this.#before.set(id, text);
      if (!isChanged && !touched.has(id)) continue;
      const all = this.minutes.get(id) ?? [];
      this.minutes.set(id, all);
      let last = all.at(-1);
      if (last?.minute !== minute) {
        last = { minute, standing, hasMoved: false, isChanged: false };
        all.push(last);
      }
      last.standing = standing;
      last.hasMoved ||= touched.get(id) === true;
      last.isChanged ||= isChanged;
    }
  }
}

function ownerOf(event: Event, order: OrderSnapshot | undefined): string | undefined {
  if (order !== undefined) return order.terms.portfolioId;
  if (event.type === 'PortfolioOpened') return event.terms.portfolioId;
  return 'portfolioId' in event ? event.portfolioId : undefined;
}

/** Sizes and positions of the pages that are compared. */
export interface Pages {
  readonly limit: number;
  readonly offset: number;
  /** Parts of the whole time, 0 to 1. */
  readonly from: number;
  readonly to: number;
}

interface AnyPage {
  readonly items: readonly string[];
  readonly total: number;
  readonly next?: number | undefined;
}

/** Compares everything that a history says about a simulation. */
export async function expectHistory(
  history: History,
  simulationId: string,
  oracle: HistoryOracle,
  { limit, offset, from, to }: Pages,
): Promise<void> {
  const first = oracle.stream[0]?.at ?? 0;
  const last = oracle.stream.at(-1)?.at ?? 0;
  const instant = (part: number): number => Math.floor(first + part * (last - first + 1));
  const bounds = { from: Math.min(instant(from), instant(to)), to: Math.max(instant(from), instant(to)) };

  /** The whole, newest first, by cursors; and one page by its offset. */
  const expectPages = async (
    what: string,
    expected: readonly string[],
    ask: (page: { offset: number; limit: number; before?: number }) => Promise<AnyPage>,
    isUncounted = false,
  ): Promise<void> => {
    const read: string[] = [];
    const totals = new Set<number>();
    for (let before: number | undefined; read.length <= expected.length;) {
      const page = await ask({ offset: 0, limit, ...(before !== undefined && { before }) });
      read.push(...page.items);
      totals.add(page.total);
      if (page.next === undefined) break;
      expect({ what, isFull: page.items.length === limit }).toEqual({ what, isFull: true });
      before = page.next;
    }
    const found = { what, read, totals: isUncounted ? [expected.length] : [...totals] };
    expect(found).toEqual({ what, read: expected, totals: [expected.length] });
    const page = await ask({ offset, limit });
    const one = { what, items: page.items, total: isUncounted ? expected.length : page.total };
    expect(one).toEqual({ what, items: expected.slice(offset, offset + limit), total: expected.length });
  };

  // ---- Orders
  const numbers = [...oracle.orders.keys()].sort((a, b) => b - a);
  for (const number of numbers) {
    const { snapshot } = oracle.orders.get(number) as ExpectedOrder;
    const row = await history.order(simulationId, number);
    const { terms, progress } = snapshot;
    expect({
      ...row,
      terms: JSON.parse(row?.terms ?? 'null') as unknown,
      progress: shownProgress(JSON.parse(row?.progress ?? 'null')),
    }).toEqual({
      number,
      accountId: terms.accountId,
      portfolioId: terms.portfolioId,
      status: progress.status,
      terms: plain(terms),
      progress: shownProgress(plain(progress)),
    });
    if (terms.clientOrderId !== undefined)
      expect(await history.orderByClientOrderId(simulationId, terms.portfolioId, terms.clientOrderId)).toBe(
        number,
      );
  }
  expect(await history.order(simulationId, (numbers[0] ?? 0) + 1)).toBeUndefined();
  const all = numbers.map((number) => oracle.orders.get(number) as ExpectedOrder);
  const scopes: [OrderQuery['scope'], (order: ExpectedOrder) => boolean][] = [
    [{ every: 'order' }, () => true],
    ...[...oracle.portfolios.keys()].map(
      (portfolioId): [OrderQuery['scope'], (order: ExpectedOrder) => boolean] => [
        { portfolioId },
        ({ snapshot }) => snapshot.terms.portfolioId === portfolioId,
      ],
    ),
    ...[...new Set(oracle.portfolios.values())].map(
      (accountId): [OrderQuery['scope'], (order: ExpectedOrder) => boolean] => [
        { accountId },
        ({ snapshot }) => snapshot.terms.accountId === accountId,
      ],
    ),
    ...[...new Set(all.flatMap(({ filledOn }) => filledOn ?? []))].map(
      (filledOn): [OrderQuery['scope'], (order: ExpectedOrder) => boolean] => [
        { filledOn },
        (order) => order.filledOn === filledOn,
      ],
    ),
  ];
  const filters: [Partial<OrderQuery>, (order: ExpectedOrder) => boolean][] = [
    [{}, () => true],
    [
      { status: ['FILLED', 'CANCELED'] },
      ({ snapshot: { progress } }) => progress.status === 'FILLED' || progress.status === 'CANCELED',
    ],
    [{ symbol: 'MSFT', isUncounted: true }, ({ snapshot }) => snapshot.terms.symbol === 'MSFT'],
    [bounds, ({ snapshot: { terms } }) => terms.createdAt >= bounds.from && terms.createdAt < bounds.to],
  ];
  for (const [scope, isIn] of scopes)
    for (const [filter, fits] of filters)
      await expectPages(
        `orders of ${simulationId} ${JSON.stringify([scope, filter])}`,
        all
          .filter((order) => isIn(order) && fits(order))
          .map(({ snapshot }) => String(snapshot.terms.number)),
        async (page) => {
          const found = await history.orders({ simulationId, scope, ...filter, ...page });
          return { ...found, items: found.items.map(({ number }) => String(number)) };
        },
        filter.isUncounted,
      );

  // ---- Lists
  const expectList = async (list: ListName, owner: string, items: readonly ExpectedItem[]): Promise<void> => {
    const ask = (filter: object) => async (page: { offset: number; limit: number; before?: number }) => {
      const found = await history.list({ simulationId, list, owner, ...filter, ...page });
      return { ...found, items: found.items.map(({ seq, event, item }) => `${seq}.${event}.${item}`) };
    };
    const places = (some: readonly ExpectedItem[]): string[] => some.map(({ place }) => place).reverse();
    const of = `${list} of ${owner} in ${simulationId}`;
    await expectPages(of, places(items), ask({}));
    if (KEYED.includes(list)) return;
    const within = items.filter(({ at }) => at >= bounds.from && at < bounds.to);
    await expectPages(`${of} ${JSON.stringify(bounds)}`, places(within), ask(bounds));
    for (const tag of new Set(items.flatMap((one) => one.tag ?? []))) {
      const tagged = items.filter((one) => one.tag === tag);
      await expectPages(`${of} with ${tag}`, places(tagged), ask({ tag }));
      const both = within.filter((one) => one.tag === tag);
      await expectPages(
        `${of} with ${tag} in bounds`,
        places(both),
        ask({ tag, ...bounds, isUncounted: true }),
        true,
      );
    }
  };
  for (const owner of oracle.portfolios.keys()) {
    for (const list of PLAIN) await expectList(list, owner, oracle.lists.get(`${list} ${owner}`) ?? []);
    for (const list of KEYED)
      await expectList(list, owner, [...(oracle.keyed.get(`${list} ${owner}`)?.values() ?? [])]);
  }
  for (const [number, { events }] of oracle.orders) await expectList('order-events', String(number), events);

  // ---- Streams
  const stream = oracle.stream.map(({ seq, event }) => `${seq}.${event}`);
  for (const start of [-1, offset, stream.length - 2]) {
    const after = oracle.stream[start] ?? { seq: 0, event: -1 };
    const begin = oracle.stream[start] === undefined ? 0 : start + 1;
    const found = await history.streamEvents(simulationId, after, limit);
    expect(found.map(({ seq, event }) => `${seq}.${event}`)).toEqual(stream.slice(begin, begin + limit));
  }

  // ---- Portfolios
  for (const portfolioId of oracle.portfolios.keys()) {
    const row = await history.closedPortfolio(simulationId, portfolioId);
    const shown = row && { terms: JSON.parse(row.terms) as unknown, last: JSON.parse(row.last) as unknown };
    expect(shown).toEqual(plain(oracle.closed.get(portfolioId)));
    await expectStandings(
      history,
      simulationId,
      portfolioId,
      oracle.minutes.get(portfolioId) ?? [],
      from,
      to,
    );
  }
  const closed = await history.closedPortfolios(simulationId);
  const ids = closed.map(({ terms }) => (JSON.parse(terms) as { portfolioId: string }).portfolioId);
  expect(ids.sort()).toEqual([...oracle.closed.keys()].sort());

  // ---- Marks
  for (const [symbol, expected] of oracle.marks) {
    const end = (expected.at(-1)?.minute ?? 0) + 1;
    expect(await history.marks(simulationId, symbol, 0, end)).toEqual(expected);
    const begin = expected[Math.floor(expected.length * from)]?.minute ?? 0;
    const earlier = expected.findLastIndex(({ minute }) => minute < begin);
    expect(await history.marks(simulationId, symbol, begin, end)).toEqual(
      expected.slice(Math.max(0, earlier)),
    );
  }
}

async function expectStandings(
  history: History,
  simulationId: string,
  portfolioId: string,
  expected: readonly ExpectedMinute[],
  from: number,
  to: number,
): Promise<void> {
  const minutes = await history.standingMinutes(simulationId, portfolioId);
  const byMinute = new Map(expected.map((one) => [one.minute, one]));
  const required = expected.filter((one) => one.isChanged).map(({ minute }) => minute);
  const has = new Set(minutes.map(({ minute }) => minute));
  expect(required.filter((minute) => !has.has(minute))).toEqual([]);
  expect(minutes).toEqual(
    minutes.map(({ minute }) => {
      const one = byMinute.get(minute);
      const isHolding = one !== undefined && Object.keys(one.standing.held).length > 0;
      return { minute, isHolding, hasMoved: one?.hasMoved };
    }),
  );
  const span = (part: number): number => {
    const [begin = 0, end = 0] = [minutes[0]?.minute, minutes.at(-1)?.minute];
    return Math.floor(begin - 1 + part * (end - begin + 3));
  };
  for (const [begin, end] of [
    [0, 2 ** 40],
    [Math.min(span(from), span(to)), Math.max(span(from), span(to))],
  ] as const) {
    const found = await history.standings(simulationId, portfolioId, begin, end);
    const shown = found.map(({ standing, ...rest }) => ({
      ...rest,
      standing: JSON.parse(standing) as unknown,
    }));
    const earlier = minutes.findLastIndex(({ minute }) => minute < begin);
    const inForce = minutes.slice(Math.max(0, earlier)).filter(({ minute }) => minute < end);
    expect(shown).toEqual(
      inForce.map((one) => ({ ...one, standing: plain(byMinute.get(one.minute)?.standing) })),
    );
  }
}

const plain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

/** Without the time from which an order rests, which events of the market set too, and no page shows. */
function shownProgress(progress: unknown): unknown {
  const { restingSince: _, ...shown } = progress as { readonly restingSince?: number };
  return shown;
}
