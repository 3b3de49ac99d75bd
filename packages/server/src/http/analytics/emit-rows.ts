/** Lists as lines of CSV, newest first, a page in memory at a time. */
import type { Event, OrderEvent } from '@sandpit/core';
import { isOrderEvent } from '@sandpit/core';
import { routes } from '@sandpit/protocol';
import { PastOrders, TermsOfItems } from '../../engine/past-orders.js';
import { Slice } from '../../engine/slice.js';
import type { ListItem } from '../../store/history.js';
import type { ValueOrPromise } from '../../store/journal.js';
import { CsvList } from '../csv-list.js';
import { toActivity, toEquityPoint, toLedgerEntry, toSmaEntry } from '../translate/history.js';
import type { RowsQuestion } from './study.js';
import type { StudyContext } from './study-context.js';

const ITEMS_AT_ONCE = 1_000;
/** Characters sent at a time. */
const CHUNK_LENGTH = 262_144;

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
    const known = range && {
      rows: (await source.ordersBetween?.(id, ...range)) ?? [],
      events: source.orderEventsBetween?.(id, ...range) ?? new Map<number, readonly ListItem[]>(),
    };
    const orders = new PastOrders({ id, history: source.history }, known);
    return async (item) => {
      const order = isOrderEvent(item.data as Event) ? await orders.after(item) : undefined;
      return toActivity(ids, item, order);
    };
  },
  listSma: () => toSmaEntry,
  getEquityCurve: () => toEquityPoint,
};

/** Numbers in a range may be those of other portfolios: maximum ratio of all to requested ones. */
const MOST_OTHERS = 4;

const orderNumberOf = (event: OrderEvent): number =>
  event.type === 'OrderAccepted' ? event.number : event.order;

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
export async function emitRows(
  context: StudyContext,
  operation: RowsQuestion['operation'],
  items: Iterable<unknown> | AsyncIterable<unknown>,
): Promise<undefined> {
  const rows = new CsvList(routes[operation]);
  return emitLines(context, linesOf());

  async function* linesOf(): AsyncGenerator<string> {
    for await (const item of items) yield rows.linesOf(item);
  }
}

/** Emits lines, a chunk of them at a time. */
export async function emitLines(
  context: StudyContext,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<undefined> {
  const slice = new Slice();
  let text = '';
  for await (const line of lines) {
    text += line;
    if (text.length >= CHUNK_LENGTH) {
      if (!(await context.emit(text))) return undefined;
      text = '';
    }
    await slice.breathe();
  }
  if (text !== '') await context.emit(text);
  return undefined;
}

/** Items of a list, newest first. */
export async function* itemsOf(context: StudyContext, question: ListRowsQuestion): AsyncGenerator {
  const { operation, ...query } = question;
  const { source, simulation } = context;
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
    for (const item of page.items) if (item.seq <= simulation.upTo) yield await show(item);
    before = page.next;
  } while (before !== undefined);
}
