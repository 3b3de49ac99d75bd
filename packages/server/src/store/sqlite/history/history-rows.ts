import { crc32 } from 'node:zlib';
import type { ListName, OrderRow } from '../../history.js';

/** The rows of the history tables. */

/** The tables differ from the written ones: they are discarded and derived again. */
export class DamagedHistory extends Error {
  override readonly name = 'DamagedHistory';
}

/** Owners of lists. */
export type OwnerKind = 'portfolio' | 'account';

/** Lists with ordinals. Orders have a table of their own, and their counts here like all others. */
export type CountedList = Exclude<ListName, 'order-events'> | 'orders' | 'standings';

/** Number of items in each list of an owner: the ordinal of its last. */
export type Counts = Partial<Record<CountedList, number>>;

export interface OwnerRow {
  readonly k: number;
  readonly simulation: number;
  readonly kind: OwnerKind;
  readonly id: string;
  /** JSON of `Counts`. */
  readonly counts: string;
  /** JSON of `Counts` at the beginning of a fork. */
  readonly base: string;
}

/** Positions within one record. `n` is the ordinal of the last of them. */
export interface ItemRow {
  readonly owner: number;
  readonly list: number;
  readonly n: number;
  readonly seq: number;
  /** JSON: one `[event, item]` or `[event, item, tag]` each. */
  readonly places: string;
  readonly key: string | null;
}

/** Events of an order in a record after its first one. */
export interface OrderEventRow {
  readonly simulation: number;
  readonly number: number;
  readonly n: number;
  readonly seq: number;
  readonly places: string;
}

/** Events of orders in a block of the journal, for streams that resume: `seq` is the last record. */
export interface StreamEventRow {
  readonly simulation: number;
  readonly seq: number;
  /** JSON: one `[seq, event]` each. */
  readonly places: string;
}

export interface StoredOrder {
  readonly simulation: number;
  readonly number: number;
  readonly portfolio: number;
  readonly portfolio_n: number;
  readonly account: number;
  readonly account_n: number;
  readonly symbol: string;
  readonly asset_class: string;
  readonly created_at: number;
  readonly status: string;
  readonly filled_on: string | null;
  readonly terms: string;
  readonly progress: string;
  /** The record that contains it. */
  readonly seq: number;
  /** Its events in that record, as of an item. */
  readonly places: string;
  /** The last record that changed it. */
  readonly changed: number;
  /** Number of its events: the ordinal of the last. */
  readonly events: number;
}

export interface PortfolioRow {
  readonly simulation: number;
  readonly id: string;
  readonly account: string;
  readonly terms: string;
  /** The record that contains it. */
  readonly opened: number;
  readonly last: string | null;
  /** The record that closed it. */
  readonly closed: number | null;
}

export interface SimulationRow {
  readonly key: number;
  /** The last record that the tables contain. */
  readonly seq: number;
  /** Number inherited from a fork's ancestors. */
  readonly orders: number;
  readonly last_order: number;
  /** For a fork: the parent, whose rows it shows as well. */
  readonly parent: number | null;
  /** For a fork: the last record that both have. */
  readonly begins: number;
  /** Orders of a fork's ancestors. */
  readonly inherited: number;
}

export interface ClientOrderRow {
  /** The portfolio. */
  readonly owner: number;
  readonly id: string;
  readonly number: number;
}

/** Snapshot of a portfolio at the end of a minute that changed it. */
export interface StoredSnapshot {
  /** The portfolio. */
  readonly owner: number;
  readonly minute: number;
  readonly n: number;
  /** 1 = there is a position. */
  readonly holding: number;
  /** 1 = something was traded or transferred. */
  readonly moved: number;
  /** JSON. */
  readonly standing: string;
  /** The first record that changed it in the minute, and the last. */
  readonly first: number;
  readonly seq: number;
}

/** Snapshot of a portfolio within a minute, after the record `seq` and before the record `until`. */
export interface PastSnapshotRow {
  readonly owner: number;
  readonly minute: number;
  readonly seq: number;
  readonly until: number;
  readonly moved: number;
  readonly standing: string;
}

/** Mark of a symbol by the last quote pushed in a minute. */
export interface MarkRow {
  readonly simulation: number;
  readonly symbol: string;
  readonly minute: number;
  readonly price: number;
  /** The first record of the minute that marked it, and the last. */
  readonly first: number;
  readonly seq: number;
}

export interface WatermarkRow {
  /** Id of the journal that the tables are derived from. */
  readonly journal: string;
  /** The last block that the tables contain. */
  readonly k: number;
  readonly hash: Uint8Array;
  readonly sum: number;
}

/** Code of an item's list in rows. */
export const LIST_CODE: Readonly<Record<Exclude<ListName, 'order-events'>, number>> = {
  activities: 1,
  ledger: 2,
  'day-trades': 3,
  equity: 4,
  sma: 5,
  'margin-calls': 6,
};

/** Checksum of a watermark: the only row of the history with data about the journal. */
export const watermarkSum = ({ journal, k, hash }: Omit<WatermarkRow, 'sum'>): number =>
  crc32([journal, k, String(hash)].join('\n'));

export type ItemPosition = readonly [event: number, item: number, tag?: string];

/** Places by their text: most records list the same kinds of events at the same positions. */
const knownPlaces = new Map<string, readonly ItemPosition[]>();
const MOST_KNOWN_PLACES = 1_000;
const LONGEST_KNOWN_PLACES = 200;

export function placesOf({ places }: { readonly places: string }): readonly ItemPosition[] {
  let found = knownPlaces.get(places);
  if (found !== undefined) return found;
  found = JSON.parse(places) as readonly ItemPosition[];
  if (places.length > LONGEST_KNOWN_PLACES) return found;
  if (knownPlaces.size >= MOST_KNOWN_PLACES) knownPlaces.clear();
  knownPlaces.set(places, found);
  return found;
}

/** An order in the form that queries of the history return. */
export function orderRow({ number, status, terms, progress }: StoredOrder): OrderRow {
  const { accountId, portfolioId } = JSON.parse(terms) as Pick<OrderRow, 'accountId' | 'portfolioId'>;
  return { number, accountId, portfolioId, status, terms, progress };
}
