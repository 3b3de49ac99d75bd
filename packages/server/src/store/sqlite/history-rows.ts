import { crc32 } from 'node:zlib';
import type { ListName, OrderRow } from '../history.js';

/**
 * The rows of the history tables. Each carries a checksum over all of its fields: SQLite gives out what is on the page, and a flipped
 * bit in it is not an error to SQLite.
 */

/** The tables are not as they were written: they are thrown away and derived anew. */
export class DamagedHistory extends Error {
  override readonly name = 'DamagedHistory';
}

/** Whoever has lists: a portfolio, an account (`tenant/account`), a tenant. */
export type OwnerKind = 'portfolio' | 'account' | 'tenant';

/** Lists with ordinals. Orders and order events of a tenant have tables of their own, and their counts here like all others. */
export type CountedList = Exclude<ListName, 'order-events'> | 'orders' | 'tenant-events' | 'standings';

/** How many items each list of an owner has: the ordinal of its last. */
export type Counts = Partial<Record<CountedList, number>>;

export interface OwnerRow {
  readonly k: number;
  readonly simulation: number;
  readonly kind: OwnerKind;
  readonly id: string;
  /** JSON of `Counts`. */
  readonly counts: string;
  /** JSON of `Counts`: those where a fork begins. */
  readonly base: string;
  readonly sum: number;
}

/** Places are those of one record. `n` is the ordinal of the last of them. */
export interface ItemRow {
  readonly owner: number;
  readonly list: number;
  readonly n: number;
  readonly seq: number;
  /** JSON: one `[event, item]` or `[event, item, tag]` each. */
  readonly places: string;
  readonly key: string | null;
  readonly sum: number;
}

/** Events of an order in a record after the one that it came with. */
export interface OrderEventRow {
  readonly simulation: number;
  readonly number: number;
  readonly n: number;
  readonly seq: number;
  readonly places: string;
  readonly sum: number;
}

/** Events of a tenant in a block of the journal: `seq` is the last record, `n` the ordinal of the last event. */
export interface TenantEventRow {
  readonly owner: number;
  readonly seq: number;
  readonly n: number;
  /** JSON: one `[seq, event]` each. */
  readonly places: string;
  readonly sum: number;
}

export interface StoredOrder {
  readonly simulation: number;
  readonly number: number;
  readonly portfolio: number;
  readonly portfolio_n: number;
  readonly account: number;
  readonly account_n: number;
  readonly tenant: number;
  readonly symbol: string;
  readonly asset_class: string;
  readonly created_at: number;
  readonly status: string;
  readonly filled_on: string | null;
  readonly terms: string;
  readonly progress: string;
  /** The record that it came with. */
  readonly seq: number;
  /** Its events in that record, as of an item. */
  readonly places: string;
  /** The last record that changed it. */
  readonly changed: number;
  /** How many events it has: the ordinal of the last. */
  readonly events: number;
  readonly sum: number;
}

export interface PortfolioRow {
  readonly simulation: number;
  readonly id: string;
  readonly tenant: string;
  readonly account: string;
  readonly terms: string;
  /** The record that it came with. */
  readonly opened: number;
  readonly last: string | null;
  /** The record that closed it. */
  readonly closed: number | null;
  readonly sum: number;
}

export interface SimulationRow {
  readonly key: number;
  /** The last record that the tables tell of. */
  readonly seq: number;
  /** Rows of owners. */
  readonly owners: number;
  /** Those of a fork's ancestors among them. */
  readonly orders: number;
  readonly last_order: number;
  /** Of a fork: whose rows it shows as well. */
  readonly parent: number | null;
  /** Of a fork: the last record that both have. */
  readonly begins: number;
  /** Orders of a fork's ancestors. */
  readonly inherited: number;
  readonly sum: number;
}

export interface ClientOrderRow {
  /** The portfolio. */
  readonly owner: number;
  readonly id: string;
  readonly number: number;
  readonly sum: number;
}

/** What a portfolio had at the end of a minute in which that was changed. */
export interface StoredSnapshot {
  /** The portfolio. */
  readonly owner: number;
  readonly minute: number;
  readonly n: number;
  /** 1 = something is held. */
  readonly holding: number;
  /** 1 = something was traded, or came or went in another way. */
  readonly moved: number;
  /** JSON. */
  readonly standing: string;
  /** The first record that changed it in the minute, and the last. */
  readonly first: number;
  readonly seq: number;
  readonly sum: number;
}

/** What a portfolio had within a minute, after the record `seq` and until before the record `until`. */
export interface PastSnapshotRow {
  readonly owner: number;
  readonly minute: number;
  readonly seq: number;
  readonly until: number;
  readonly moved: number;
  readonly standing: string;
  readonly sum: number;
}

/** What a symbol was marked at by the last quote of a minute that was pushed. */
export interface MarkRow {
  readonly simulation: number;
  readonly symbol: string;
  readonly minute: number;
  readonly price: number;
  /** The first record of the minute that marked it, and the last. */
  readonly first: number;
  readonly seq: number;
  readonly sum: number;
}

export interface WatermarkRow {
  /** Of the journal that the tables are derived from. */
  readonly journal: string;
  /** The last block they tell of. */
  readonly k: number;
  readonly hash: Uint8Array;
  readonly sum: number;
}

/** Which list an item is on, as rows say it. */
export const LIST_CODE: Readonly<Record<Exclude<ListName, 'order-events'>, number>> = {
  activities: 1,
  ledger: 2,
  'day-trades': 3,
  equity: 4,
  sma: 5,
  'margin-calls': 6,
};

type Unsummed<Row> = Omit<Row, 'sum'>;

// Every field, always in this order.
export const sumOf = {
  owner: (row: Unsummed<OwnerRow>) => sum(row.k, row.simulation, row.kind, row.id, row.counts, row.base),
  item: (row: Unsummed<ItemRow>) => sum(row.owner, row.list, row.n, row.seq, row.places, row.key),
  pastItem: (row: Unsummed<Omit<ItemRow, 'key'>>) => sum(row.owner, row.list, row.n, row.seq, row.places),
  orderEvent: (row: Unsummed<OrderEventRow>) => sum(row.simulation, row.number, row.n, row.seq, row.places),
  tenantEvent: (row: Unsummed<TenantEventRow>) => sum(row.owner, row.seq, row.n, row.places),
  order: (row: Unsummed<StoredOrder>) =>
    sum(
      row.simulation,
      row.number,
      row.portfolio,
      row.portfolio_n,
      row.account,
      row.account_n,
      row.tenant,
      row.symbol,
      row.asset_class,
      row.created_at,
      row.status,
      row.filled_on,
      row.terms,
      row.progress,
      row.seq,
      row.places,
      row.changed,
      row.events,
    ),
  portfolio: (row: Unsummed<PortfolioRow>) =>
    sum(row.simulation, row.id, row.tenant, row.account, row.terms, row.opened, row.last, row.closed),
  simulation: (row: Unsummed<SimulationRow>) =>
    sum(row.key, row.seq, row.owners, row.orders, row.last_order, row.parent, row.begins, row.inherited),
  clientOrder: (row: Unsummed<ClientOrderRow>) => sum(row.owner, row.id, row.number),
  standing: (row: Unsummed<StoredSnapshot>) =>
    sum(row.owner, row.minute, row.n, row.holding, row.moved, row.standing, row.first, row.seq),
  pastStanding: (row: Unsummed<PastSnapshotRow>) =>
    sum(row.owner, row.minute, row.seq, row.until, row.moved, row.standing),
  mark: (row: Unsummed<MarkRow>) =>
    sum(row.simulation, row.symbol, row.minute, row.price, row.first, row.seq),
  watermark: (row: Unsummed<WatermarkRow>) => sum(row.journal, row.k, String(row.hash)),
};

function sum(...fields: readonly (string | number | null)[]): number {
  return crc32(fields.join('\n'));
}

/** A row as it was written; throws `DamagedHistory` for any other. */
export function sound<Kind extends keyof typeof sumOf, Row extends Parameters<(typeof sumOf)[Kind]>[0]>(
  kind: Kind,
  row: Row & { readonly sum: number },
): Row & { readonly sum: number } {
  if ((sumOf[kind] as (row: Row) => number)(row) !== row.sum)
    throw new DamagedHistory(`A row of the history is damaged (${kind})`);
  return row;
}

export type ItemPosition = readonly [event: number, item: number, tag?: string];

export const placesOf = ({ places }: { readonly places: string }): readonly ItemPosition[] =>
  JSON.parse(places) as readonly ItemPosition[];

/** An order as questions to the history give it out. */
export function orderRow({ number, status, terms, progress }: StoredOrder): OrderRow {
  const { tenantId, accountId, portfolioId } = JSON.parse(terms) as Pick<
    OrderRow,
    'tenantId' | 'accountId' | 'portfolioId'
  >;
  return { number, tenantId, accountId, portfolioId, status, terms, progress };
}
