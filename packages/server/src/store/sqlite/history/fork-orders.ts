import type { OrderQuery, OrderRow, Page } from '../../history.js';
import { all, one } from '../database/connection.js';
import type { SqlValue, Statements } from '../database/connection.js';
import { missingRows } from './history-lineage.js';
import type { Generation, HistoryLineage } from './history-lineage.js';
import { orderRow } from './history-rows.js';
import type { OwnerKind, StoredOrder } from './history-rows.js';

type Ordinal = 'portfolio_n' | 'account_n' | 'number';

/** A page of a fork's orders: its own, and its ancestors' at the fork that it has not changed. */
export function forkOrders(
  statements: Statements,
  lineage: HistoryLineage,
  generations: readonly Generation[],
  query: OrderQuery,
): Page<OrderRow> {
  const { scope } = query;
  const owner: [OwnerKind, string] | undefined =
    'portfolioId' in scope
      ? ['portfolio', scope.portfolioId]
      : 'accountId' in scope
        ? ['account', scope.accountId]
        : undefined;
  const links = owner === undefined ? undefined : lineage.owners(generations, ...owner);
  if (links?.length === 0) return { items: [], total: 0 };
  const sources =
    links?.map(({ row, simulation, upTo }) => ({ simulation, upTo, owner: row })) ?? generations;
  const found = new ForkOrders(statements, lineage, generations, sources, owner?.[0]);
  const isFiltered =
    query.status !== undefined ||
    query.symbol !== undefined ||
    query.assetClass !== undefined ||
    query.from !== undefined ||
    query.to !== undefined ||
    'filledOn' in scope;
  if (isFiltered) return found.filtered(query);
  if (links !== undefined) return found.page(query, lineage.count(links, 'orders'));
  return found.filtered(query, lineage.simulation(generations[0]?.simulation ?? 0)?.orders ?? 0);
}

/** A generation, and the owner of the orders in it; without an owner all of its orders. */
interface OrderSource extends Generation {
  readonly owner?: { readonly k: number };
}

class ForkOrders {
  readonly #statements: Statements;
  readonly #lineage: HistoryLineage;
  readonly #generations: readonly Generation[];
  readonly #sources: readonly OrderSource[];
  readonly #kind: OwnerKind | undefined;
  readonly #ordinal: Ordinal;

  constructor(
    statements: Statements,
    lineage: HistoryLineage,
    generations: readonly Generation[],
    sources: readonly OrderSource[],
    kind: OwnerKind | undefined,
  ) {
    this.#statements = statements;
    this.#lineage = lineage;
    this.#generations = generations;
    this.#sources = sources;
    this.#kind = kind;
    this.#ordinal = kind === undefined ? 'number' : `${kind}_n`;
  }

  /** Page of a portfolio's or an account's orders: its ordinals have no gaps. */
  page({ offset, limit, before }: OrderQuery, total: number): Page<OrderRow> {
    const last = Math.min(total, before ?? total) - offset;
    const first = Math.max(1, last - limit + 1);
    const found = new Map<number, StoredOrder>();
    if (last >= first)
      for (const source of this.#sources) {
        const sql = `SELECT * FROM orders WHERE ${this.#kind} = ? AND ${this.#ordinal} BETWEEN ? AND ?`;
        for (const row of all<StoredOrder>(this.#statements.of(sql), source.owner?.k ?? 0, first, last)) {
          const ordinal = row[this.#ordinal];
          if (row.seq <= source.upTo && !found.has(ordinal)) found.set(ordinal, this.#asOf(row, source));
        }
      }
    const items: OrderRow[] = [];
    for (let n = last; n >= first; n -= 1) {
      const row = found.get(n);
      if (row === undefined) throw missingRows();
      items.push(orderRow(row));
    }
    return { items, total, ...(first > 1 && items.length > 0 && { next: first - 1 }) };
  }

  /** `known`: the total without filters. */
  filtered(query: OrderQuery, known?: number): Page<OrderRow> {
    const { offset, limit, before = Number.MAX_SAFE_INTEGER } = query;
    const rows: StoredOrder[] = [];
    let total = 0;
    for (const [index, source] of this.#sources.entries()) {
      const settled = this.#settled(index, query);
      if (known === undefined && query.isUncounted !== true) {
        const count = `SELECT count(*) AS n FROM orders WHERE ${settled.where}`;
        total += one<{ n: number }>(this.#statements.of(count), ...settled.values)?.n ?? 0;
      }
      const sql = `SELECT * FROM orders WHERE ${settled.where} AND ${this.#ordinal} <= ? ORDER BY ${this.#ordinal} DESC LIMIT ?`;
      rows.push(...all<StoredOrder>(this.#statements.of(sql), ...settled.values, before, offset + limit + 1));
      for (const row of this.#changedSince(index)) {
        const was = this.#asOf(row, source);
        if (!matches(was, query)) continue;
        total += 1;
        if (was[this.#ordinal] <= before) rows.push(was);
      }
    }
    rows.sort((a, b) => b[this.#ordinal] - a[this.#ordinal]);
    const shown = rows.slice(offset, offset + limit);
    const last = shown.at(-1);
    const isMore = last !== undefined && rows.length > offset + limit;
    return {
      items: shown.map(orderRow),
      total: known ?? total,
      ...(isMore && { next: last[this.#ordinal] - 1 }),
    };
  }

  /** The matching orders of a generation that have not changed since. */
  #settled(index: number, query: OrderQuery): Condition {
    const own = this.#visible(index);
    const { upTo } = this.#sources[index] ?? { upTo: 0 };
    const parts = [own.where];
    const values = [...own.values];
    const and = (condition: string, ...more: readonly SqlValue[]): void => {
      parts.push(condition);
      values.push(...more);
    };
    if (upTo !== Infinity) and('changed <= ?', upTo);
    if ('filledOn' in query.scope) and('filled_on = ?', query.scope.filledOn);
    if (query.status !== undefined)
      and(`status IN (${query.status.map(() => '?').join(', ')})`, ...query.status);
    if (query.symbol !== undefined) and('symbol = ?', query.symbol);
    if (query.assetClass !== undefined) and('asset_class = ?', query.assetClass);
    if (query.from !== undefined) and('created_at >= ?', query.from);
    if (query.to !== undefined) and('created_at < ?', query.to);
    return { where: parts.join(' AND '), values };
  }

  /** Orders changed since: the journal has their earlier state. */
  #changedSince(index: number): readonly StoredOrder[] {
    const { upTo } = this.#sources[index] ?? { upTo: Infinity };
    if (upTo === Infinity) return [];
    const { where, values } = this.#visible(index);
    const sql = `SELECT * FROM orders WHERE ${where} AND changed > ?`;
    return all<StoredOrder>(this.#statements.of(sql), ...values, upTo);
  }

  /** The orders of a generation that existed and that no newer generation has changed. */
  #visible(index: number): Condition {
    const source = this.#sources[index];
    if (source === undefined) throw new RangeError('no such generation');
    const { owner, simulation, upTo } = source;
    const parts = [`${this.#kind ?? 'simulation'} = ?`];
    const values: SqlValue[] = [owner?.k ?? simulation];
    if (upTo !== Infinity) {
      parts.push('seq <= ?');
      values.push(upTo);
    }
    const place = this.#generations.findIndex((generation) => generation.simulation === simulation);
    for (const newer of this.#generations.slice(0, place)) {
      parts.push(
        'NOT EXISTS (SELECT 1 FROM orders AS own WHERE own.simulation = ? AND own.number = orders.number AND own.seq <= ?)',
      );
      values.push(newer.simulation, upTo);
    }
    return { where: parts.join(' AND '), values };
  }

  #asOf(row: StoredOrder, { simulation }: Generation): StoredOrder {
    const place = this.#generations.findIndex((generation) => generation.simulation === simulation);
    return this.#lineage.orderAsOf(row, this.#generations.slice(place));
  }
}

interface Condition {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

function matches(row: StoredOrder, query: OrderQuery): boolean {
  return (
    // A filled order never changes again.
    !('filledOn' in query.scope) &&
    (query.status?.includes(row.status) ?? true) &&
    (query.symbol === undefined || query.symbol === row.symbol) &&
    (query.assetClass === undefined || query.assetClass === row.asset_class) &&
    (query.from === undefined || row.created_at >= query.from) &&
    (query.to === undefined || row.created_at < query.to)
  );
}
