import type { Event } from '../event.js';
import { isOrderEvent, isOrderPlaced } from '../event.js';
import {
  markedOf,
  newSnapshot,
  snapshotAfter,
  snapshotAfterOrder,
  snapshotOf,
} from '../portfolio-snapshot.js';
import type { PortfolioSnapshot } from '../portfolio-snapshot.js';
import { Position } from '../positions/position.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import type { State } from '../state.js';
import { orderAfter, placedOrder } from '../trading/follow-order.js';
import type { OrderSnapshot } from '../trading/follow-order.js';
import type { Instant } from '../values/instant.js';

/** Follows portfolios by events alone, like history, and reports differences to the state. */
export class FollowedSnapshots {
  readonly #snapshots = new Map<string, PortfolioSnapshot>();
  readonly #orders = new Map<number, OrderSnapshot>();

  follow(event: Event, at: Instant, { portfolios }: State): void {
    if (event.type === 'PortfolioOpened') {
      const { portfolioId, initialSettings } = event.terms;
      this.#snapshots.set(portfolioId, newSnapshot(initialSettings.portfolioType));
      return;
    }
    if (!isOrderEvent(event)) {
      if (!('portfolioId' in event)) return;
      const snapshot = this.#snapshots.get(event.portfolioId);
      if (snapshot !== undefined) this.#snapshots.set(event.portfolioId, snapshotAfter(snapshot, event));
      return;
    }
    let before: OrderSnapshot | undefined;
    let after: OrderSnapshot;
    // Orders from before a recovery are not followed.
    if (isOrderPlaced(event)) {
      const owner = portfolios.get(event.request.portfolioId)?.terms;
      if (owner === undefined) return;
      after = placedOrder(event, owner.accountId, at);
    } else {
      before = this.#orders.get(event.order);
      if (before === undefined) return;
      after = orderAfter(before, event, at);
    }
    this.#orders.set(after.terms.number, after);
    const { portfolioId } = after.terms;
    const snapshot = this.#snapshots.get(portfolioId);
    if (snapshot === undefined) return;
    this.#snapshots.set(portfolioId, snapshotAfterOrder(snapshot, event, before, after));
  }

  differences({ portfolios }: State): string[] {
    return [...this.#snapshots].flatMap(([portfolioId, snapshot]) => {
      const portfolio = portfolios.get(portfolioId);
      if (portfolio === undefined || agrees(snapshot, portfolio)) return [];
      const told = JSON.stringify(sorted(snapshot));
      const is = JSON.stringify(sorted(snapshotOf(portfolio)));
      return told === is ? [] : [`portfolio ${portfolioId}: followed to ${told}, is ${is}`];
    });
  }
}

/** Compares without building a second snapshot: this runs after every command of every test. Zero amounts may be left out. */
function agrees(snapshot: PortfolioSnapshot, portfolio: Portfolio): boolean {
  const { settings, terms, balances, reservedByOrders, secured, obligations, positions } = portfolio;
  return (
    snapshot.type === settings.portfolioType &&
    snapshot.initialType === terms.initialSettings.portfolioType &&
    snapshot.settled === balances.SETTLED_CASH &&
    snapshot.pending === balances.PENDING_CASH &&
    snapshot.reserved === reservedByOrders.cash &&
    cashAgrees(snapshot.secured, secured) &&
    cashAgrees(snapshot.due, obligations) &&
    positionsAgree(snapshot.held, positions)
  );
}

function cashAgrees(
  amounts: Readonly<Record<string, number>>,
  entries: ReadonlyMap<string, { readonly cash: number }>,
): boolean {
  for (const key in amounts) if (amounts[key] !== (entries.get(key)?.cash ?? 0)) return false;
  for (const [key, { cash }] of entries) if (cash !== (amounts[key] ?? 0)) return false;
  return true;
}

function positionsAgree(held: PortfolioSnapshot['held'], positions: Portfolio['positions']): boolean {
  let found = 0;
  for (const [symbol, position] of positions) {
    const quantity = Position.held(position);
    if (quantity === 0) continue;
    const one = held[symbol];
    if (one?.assetClass !== position.assetClass || one.quantity !== quantity) return false;
    if (one.cost !== Position.costBasis(position) || one.marked !== markedOf(position)) return false;
    found += 1;
  }
  return found === Object.keys(held).length;
}

/** Without amounts of 0, with keys in order. */
function sorted({ secured, due, held, ...rest }: PortfolioSnapshot): unknown {
  const amounts = (record: Readonly<Record<string, unknown>>): unknown =>
    Object.entries(record)
      .filter(([, amount]) => amount !== 0)
      .map(([key, value]) => [key, typeof value === 'object' && value !== null ? byKey(value) : value])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  return { ...rest, secured: amounts(secured), due: amounts(due), held: amounts(held) };
}

const byKey = (value: object): unknown => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
