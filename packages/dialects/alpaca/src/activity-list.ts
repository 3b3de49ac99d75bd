/** Activities of an account: executions, and every other change of its cash, each once; and changes of positions without an order. */
import {
  cashOfExecution,
  commissionOf,
  feesOf,
  type Instant,
  type LedgerEntry,
  type LedgerEntryType,
  Money,
  type OptionEventType,
  type PositionConverted,
  type OrderExecuted,
  type OrderSnapshot,
  Price,
  Quantity,
  sideOf,
  tradedBy,
} from '@sandpit/core';
import { type Book, cashIn, type PastEvent } from '@sandpit/dialect-port';
import type { ActivityPlace } from './activity-ids.js';
import { iso } from './decimals.js';
import { nameOf } from './order-names.js';
import { isShown, replacementsOf } from './order-shape.js';

/** An activity that has not been written out: its shape, without id, is looked up on request only. */
interface Draft extends ActivityPlace {
  readonly type: string;
  /** Cash that it moved, except for a fill. */
  readonly cash: Money;
  /** Undefined for an execution in a future, which has no place in this dialect. */
  readonly show: () => Promise<object | undefined>;
}

/** The activities of one record, oldest first. */
export interface RecordActivities {
  readonly seq: number;
  readonly at: Instant;
  readonly drafts: readonly Draft[];
}

/** The activities of a portfolio, record by record; those at or after `from` and before `to`. */
export async function* activitiesOf(
  book: Book,
  range: { readonly from?: number; readonly to?: number },
  isAscending: boolean,
): AsyncGenerator<RecordActivities> {
  for await (const items of book.events.byRecord(range, isAscending)) {
    const [first] = items;
    if (first === undefined) continue;
    yield { seq: first.seq, at: first.at, drafts: items.flatMap((item) => draftsOf(book, item)) };
  }
}

function draftsOf(book: Book, item: PastEvent): readonly Draft[] {
  const event = item.data;
  const other = (place: number, type: string, cash: Money, fields: object): Draft =>
    otherDraft(book, item, { item: place, part: 0 }, type, cash, fields);
  switch (event.type) {
    case 'OrderExecuted':
      return executionDrafts(book, item, event);
    case 'LedgerPosted':
    case 'PositionsImported':
    case 'FutureSettled':
      return entryDrafts(book, item, event.entries);
    case 'OptionEnded': {
      const main = event.entries.filter(({ type }) => type !== 'FEE' && type !== 'COMMISSION');
      const cash = Money.ofUnits(cashIn(main));
      const { act, symbol, quantity, price, shares } = event;
      const description = item.describe();
      const option = { symbol, qty: Quantity.format(quantity), price: Price.format(price), description };
      const ending = OPTION_ENDS[act];
      const begin = event.entries.length;
      const moved = shares && {
        ...option,
        symbol: shares.symbol,
        qty: Quantity.format(shares.quantity),
      };
      return [
        ...(moved === undefined || ending !== undefined
          ? [other(begin, ending ?? 'OPCSH', moved === undefined ? cash : Money.zero, option)]
          : []),
        ...(moved === undefined ? [] : [other(begin + 1, 'OPTRD', cash, moved)]),
        ...entryDrafts(book, item, event.entries),
      ];
    }
    case 'PositionSplit': {
      const { symbol, ratio, settled, pending, fraction } = event;
      const held = settled + pending;
      const before = Math.round(((held + fraction) * ratio.old) / ratio.new);
      const description = item.describe();
      const qty = Quantity.format(Quantity.ofUnits(held - before));
      return [other(0, 'SPLIT', Money.zero, { symbol, qty, description })];
    }
    case 'PositionConverted':
      return [
        ...sharesMovedBy(event).map(([symbol, quantity], index) =>
          other(event.entries.length + index, CONVERSIONS[event.action], Money.zero, {
            symbol,
            qty: Quantity.format(quantity),
            description: item.describe(),
          }),
        ),
        ...entryDrafts(book, item, event.entries),
      ];
    default:
      return [];
  }
}

/** Shares that leave a portfolio and shares that come, signed: of a change of the symbol minus the old ones and plus the new ones. */
function sharesMovedBy({
  symbol,
  quantity,
  kept,
  received,
}: PositionConverted): readonly (readonly [string, Quantity])[] {
  return [
    ...(kept === undefined ? [[symbol, Quantity.negate(quantity)] as const] : []),
    ...(received === undefined || received.quantity === 0
      ? []
      : [[received.symbol, received.quantity] as const]),
  ];
}

/** Alpaca's names of actions that give or end shares. */
const CONVERSIONS: Readonly<Record<PositionConverted['action'], string>> = {
  SYMBOL_CHANGE: 'NC',
  SPIN_OFF: 'SPIN',
  MERGER: 'MA',
  DELISTING: 'REORG',
};

/** Ends of options that are not a settlement in cash. */
const OPTION_ENDS: Readonly<Partial<Record<OptionEventType, string>>> = {
  EXERCISED: 'OPEXC',
  ASSIGNED: 'OPASN',
  EXPIRED: 'OPEXP',
};

/** Alpaca's names of ledger entry types. Trades and option events have their own activities; settlements move no cash. */
const TYPES: Readonly<Record<LedgerEntryType, string | undefined>> = {
  INITIAL_CASH: 'CSD',
  TRANSFER: 'CSD',
  WITHDRAWAL: 'CSW',
  PROMOTIONAL_CASH: 'JNLC',
  RESET: 'JNLC',
  IMPORT: 'ACATC',
  DIVIDEND: 'DIV',
  CASH_IN_LIEU: 'CIL',
  SPIN_OFF: 'SPIN',
  MERGER: 'MA',
  DELISTING: 'REORG',
  INTEREST: 'INT',
  BORROW_FEE: 'FEE',
  FEE: 'FEE',
  COMMISSION: 'FEE',
  // Futures are not shown, but their cash is.
  VARIATION: 'JNLC',
  TRADE: 'JNLC',
  EXERCISE: undefined,
  ASSIGNMENT: undefined,
  EXPIRY: undefined,
  SETTLEMENT: undefined,
};

/** Alpaca's names of fees. */
const FEES: Readonly<Record<string, string>> = {
  Commission: 'COM',
  SEC: 'REG',
  TAF: 'TAF',
  OCC: 'OCC',
  ORF: 'ORF',
};

const entryDrafts = (book: Book, item: PastEvent, entries: readonly LedgerEntry[]): readonly Draft[] =>
  entries.flatMap((entry, index) => entryDraft(book, item, entry, { item: index, part: 0 }));

type Place = Pick<ActivityPlace, 'item' | 'part'>;

/** Entries that move no cash are left out, except for imported positions. */
function entryDraft(book: Book, item: PastEvent, entry: LedgerEntry, place: Place): readonly Draft[] {
  const cash = Money.ofUnits(cashIn([entry]));
  const { type: entryType, about = {} } = entry;
  const isImported = entryType === 'IMPORT' && cash === 0;
  const type = isImported ? 'ACATS' : entryType === 'TRANSFER' && cash < 0 ? 'CSW' : TYPES[entryType];
  if (type === undefined || (cash === 0 && !isImported)) return [];
  const { symbol, quantity, price, name = '' } = about;
  const subType = type === 'FEE' ? FEES[name] : type === 'DIV' ? 'CDIV' : undefined;
  const description = book.events.describeEntry(entry, item.at);
  const fields = {
    ...(subType !== undefined && { activity_sub_type: subType }),
    description,
    ...(symbol !== undefined && symbol !== '' && { symbol }),
    ...(quantity !== undefined && { qty: Quantity.format(quantity) }),
    ...(price !== undefined && { [type === 'DIV' ? 'per_share_amount' : 'price']: Price.format(price) }),
  };
  return [otherDraft(book, item, place, type, cash, fields)];
}

function otherDraft(
  { calendar }: Book,
  { event, at }: PastEvent,
  place: Place,
  type: string,
  cash: Money,
  fields: object,
): Draft {
  const shape = {
    activity_type: type,
    date: calendar.dateOf(at),
    created_at: iso(at),
    net_amount: Money.format(cash),
    currency: 'USD',
    ...fields,
    status: 'executed',
  };
  return { event, ...place, type, cash, show: () => Promise.resolve(shape) };
}

/** Each execution, then its commission and fees. */
function executionDrafts(book: Book, item: PastEvent, happened: OrderExecuted): readonly Draft[] {
  const { event } = item;
  return happened.executions.flatMap((execution, index) => {
    const fill = async (): Promise<object | undefined> => {
      const order = await item.order();
      return isShown(order) ? fillShape(book, happened, index, order, item.at) : undefined;
    };
    // Only executions in futures have a variation.
    const variation = execution.variation;
    const trade: Draft =
      variation === undefined
        ? { event, item: index, part: 0, type: 'FILL', cash: Money.zero, show: fill }
        : otherDraft(book, item, { item: index, part: 0 }, 'JNLC', variation, {
            description: 'Variation of closed futures',
            qty: Quantity.format(execution.quantity),
            price: Price.format(execution.price),
          });
    const charges = [{ name: 'Commission', amount: commissionOf(execution) }, ...feesOf(execution)];
    const charged = charges.flatMap(({ name, amount }, i) =>
      amount <= 0
        ? []
        : [
            otherDraft(book, item, { item: index, part: i + 1 }, 'FEE', Money.negate(amount), {
              ...(FEES[name] !== undefined && { activity_sub_type: FEES[name] }),
              description: name === 'Commission' ? name : `${name} fee`,
            }),
          ],
    );
    return variation === 0 ? charged : [trade, ...charged];
  });
}

function fillShape(
  { ids }: Book,
  { executions }: OrderExecuted,
  index: number,
  { terms, progress }: OrderSnapshot,
  at: Instant,
): object | undefined {
  const execution = executions[index];
  if (execution === undefined) return undefined;
  const { symbol, positionIntent } = tradedBy(terms, execution);
  const side = sideOf(positionIntent);
  const cash = cashOfExecution(execution);
  // Multi-leg orders fill in units, by the executions of all legs together.
  const later = terms.legs === undefined ? executions.slice(index + 1) : [];
  const filled = later.reduce(
    (sum, { quantity }) => Quantity.subtract(sum, quantity),
    progress.filledQuantity,
  );
  const isDone = progress.status === 'FILLED' && later.length === 0;
  return {
    activity_type: 'FILL',
    transaction_time: iso(at),
    type: isDone ? 'fill' : 'partial_fill',
    price: Price.format(execution.price),
    qty: Quantity.format(execution.quantity),
    side: side.toLowerCase(),
    symbol,
    net_amount: Money.format(side === 'BUY' ? Money.negate(cash) : cash),
    leaves_qty: Quantity.format(Quantity.subtract(progress.quantity, filled)),
    order_id: nameOf(ids, {
      number: terms.number,
      replacement: replacementsOf({ terms, progress }),
    }),
    cum_qty: Quantity.format(filled),
    order_status: isDone ? 'filled' : 'partially_filled',
  };
}
