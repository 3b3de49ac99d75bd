/** Lists as lines of CSV, newest first, a page in memory at a time. */
import type { Event } from '@sandpit/core';
import { isOrderEvent, orderNumberOf } from '@sandpit/core';
import { routes } from '@sandpit/protocol';
import { PastOrders, TermsOfItems } from '../../engine/simulation/past-orders.js';
import { Slice } from '../../engine/scheduling/slice.js';
import type { ListItem } from '../../store/history.js';
import type { ValueOrPromise } from '../../store/journal.js';
import { CsvList } from '../csv-list.js';
import { toActivity, toEquityPoint, toLedgerEntry, toSmaEntry } from '../translate/history.js';
import type { RowsQuestion } from './study.js';
import type { StudyContext } from './study-context.js';

const ITEMS_AT_ONCE = 500;
/** Characters sent at a time. */
const CHUNK_LENGTH = 262_144;
/** Lines between two checks of the time. */
const LINES_BETWEEN = 32;

type ListRowsQuestion = Extract<RowsQuestion, { readonly list: unknown }>;
type ListOperation = ListRowsQuestion['operation'];
type Show = (item: ListItem) => unknown;

/** Formatter of list items; one for each page, so that its cache is released. */
const SHOWN: {
  readonly [Operation in ListOperation]: (
    context: StudyContext,
    items: readonly ListItem[],
  ) => ValueOrPromise<Show>;
} = {
  async listLedgerEntries({ ids, source, simulation }, items) {
    const { id } = simulation;
    const range = rangeOf(items, (event) => (event.type === 'OrderExecuted' ? event.order : undefined));
    const orders = range === undefined ? [] : ((await source.ordersBetween?.(id, ...range)) ?? []);
    const terms = new TermsOfItems({ id, history: source.history }, orders);
    return async (item) => toLedgerEntry(ids, item, await terms.of(item));
  },
  async listActivities({ ids, source, simulation }, items) {
    const { id } = simulation;
    const range = rangeOf(items, (event) => (isOrderEvent(event) ? orderNumberOf(event) : undefined));
    // All orders of a portfolio have one account.
    const one = range && (await source.history.order(id, range[0]));
    const orders = new PastOrders(
      { id, history: source.history },
      range && {
        ...(one !== undefined && { accountId: one.accountId }),
        events: source.orderEventsBetween?.(id, ...range) ?? new Map<number, readonly ListItem[]>(),
      },
    );
    return (item) => {
      if (!isOrderEvent(item.data as Event)) return toActivity(ids, item, undefined);
      const order = orders.after(item);
      // Most are at hand: a promise for each of a million rows would show.
      return order instanceof Promise
        ? order.then((found) => toActivity(ids, item, found))
        : toActivity(ids, item, order);
    };
  },
  listSma: () => toSmaEntry,
  getEquityCurve: () => toEquityPoint,
};

/** Numbers in a range may be those of other portfolios: maximum ratio of all to requested ones. */
const MOST_OTHERS = 4;

/** The first and the last number of the orders in these items; undefined if there are none, or if they are far apart. */
function rangeOf(
  items: readonly ListItem[],
  numberOf: (event: Event) => number | undefined,
): readonly [first: number, last: number] | undefined {
  const numbers = new Set<number>();
  for (const { data } of items) {
    const number = numberOf(data as Event);
    if (number !== undefined) numbers.add(number);
  }
  if (numbers.size === 0) return undefined;
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  return last - first < numbers.size * MOST_OTHERS ? [first, last] : undefined;
}

/** Emits the lines of the items of a list. */
export function emitRows(
  context: StudyContext,
  operation: RowsQuestion['operation'],
  items: Iterable<unknown>,
): Promise<undefined> {
  const rows = new CsvList(routes[operation]);
  return emitLines(context, linesOf());

  function* linesOf(): Generator<string> {
    for (const item of items) yield rows.linesOf(item);
  }
}

/** Emits lines, a chunk of them at a time. */
export async function emitLines(context: StudyContext, lines: Iterable<string>): Promise<undefined> {
  const chunks = new Chunks(context);
  for (const line of lines) if (chunks.add(line) && !(await chunks.flow())) return undefined;
  await chunks.end();
  return undefined;
}

/** Text on its way to the reader. */
class Chunks {
  readonly #context: StudyContext;
  readonly #slice = new Slice();
  #text = '';
  #lines = 0;

  constructor(context: StudyContext) {
    this.#context = context;
  }

  /** Adds a line. True when it is time for `flow`. */
  add(line: string): boolean {
    this.#text += line;
    this.#lines += 1;
    return this.#text.length >= CHUNK_LENGTH || this.#lines % LINES_BETWEEN === 0;
  }

  /** Sends a full chunk, and yields the event loop. False when the reader has disconnected. */
  async flow(): Promise<boolean> {
    if (this.#text.length >= CHUNK_LENGTH && !(await this.#send())) return false;
    await this.#slice.breathe();
    return true;
  }

  async end(): Promise<void> {
    if (this.#text !== '') await this.#send();
  }

  #send(): Promise<boolean> {
    const text = this.#text;
    this.#text = '';
    return this.#context.emit(text);
  }
}

/** Emits the lines of a list of the history, newest first, a page in memory at a time. */
export async function emitList(context: StudyContext, question: ListRowsQuestion): Promise<undefined> {
  const { operation, ...query } = question;
  const { source, simulation } = context;
  const rows = new CsvList(routes[operation]);
  const chunks = new Chunks(context);
  let before: number | undefined;
  do {
    const page = await source.history.list({
      ...query,
      simulationId: simulation.id,
      offset: 0,
      limit: ITEMS_AT_ONCE,
      isUncounted: true,
      ...(before !== undefined && { before }),
    });
    const show = await SHOWN[operation](context, page.items);
    for (const item of page.items) {
      if (item.seq > simulation.upTo) continue;
      const shown = show(item);
      const line = rows.linesOf(shown instanceof Promise ? await shown : shown);
      if (chunks.add(line) && !(await chunks.flow())) return undefined;
    }
    before = page.next;
  } while (before !== undefined);
  await chunks.end();
  return undefined;
}
