/**
 * Questions about the past, answered from tables that are a projection of the journal, written in the same
 * transaction as the records they come from. `projection.ts` says how events become changes.
 */

/** Rows that one journal record adds or changes. Produced by `projection.ts` from the record's events. */
export type HistoryChange =
  | {
      readonly change: 'order-added';
      readonly orderId: string;
      readonly tenantId: string;
      readonly accountId: string;
      readonly portfolioId: string;
      readonly symbol: string;
      readonly assetClass: string;
      readonly status: string;
      /** Simulated ms. */
      readonly createdAt: number;
      readonly clientOrderId?: string;
      /** Exchange date of the last fill, once FILLED. */
      readonly filledOn?: string;
      /** JSON of the parts of the order that never change. */
      readonly terms: string;
      /** JSON of the parts that do. */
      readonly progress: string;
    }
  | {
      readonly change: 'order-moved';
      readonly orderId: string;
      readonly status: string;
      readonly filledOn?: string;
      readonly progress: string;
    }
  /** An item of a paged list: which part of the record it is, found again by (seq, event, item). */
  | {
      readonly change: 'listed';
      readonly list: ListName;
      /** Whose list: a portfolio id, or for `executions` an order id. */
      readonly owner: string;
      /** Index of the event in the record, and of the item inside the event. */
      readonly event: number;
      readonly item: number;
      /** For filters: the category of an activity. */
      readonly tag?: string;
      /**
       * An item that grows: a later one with the same key of this owner and list takes its place, among its
       * neighbours too. Not for executions.
       */
      readonly key?: string;
    }
  | {
      readonly change: 'portfolio-opened';
      readonly portfolioId: string;
      readonly tenantId: string;
      /** JSON of what never changes about it. */
      readonly terms: string;
    }
  /** `last`: JSON of the portfolio as it stood then. */
  | { readonly change: 'portfolio-closed'; readonly portfolioId: string; readonly last: string }
  /** An order event that streams of this tenant must be able to resume from. */
  | { readonly change: 'order-event'; readonly tenantId: string; readonly event: number };

export type ListName = 'activities' | 'ledger' | 'executions' | 'day-trades' | 'equity';

export interface OrderRow {
  readonly orderId: string;
  readonly tenantId: string;
  readonly accountId: string;
  readonly portfolioId: string;
  readonly status: string;
  readonly terms: string;
  readonly progress: string;
}

export interface ClosedPortfolioRow {
  readonly tenantId: string;
  readonly terms: string;
  readonly last: string;
}

export interface OrderQuery {
  readonly simulationId: string;
  /** Exactly one of the three. */
  readonly scope:
    | { readonly portfolioId: string }
    | { readonly tenantId: string; readonly accountId: string }
    | { readonly tenantId: string; readonly filledOn: string };
  readonly status?: string;
  readonly symbol?: string;
  readonly assetClass?: string;
  /** createdAt ≥ from, < to; simulated ms. */
  readonly from?: number;
  readonly to?: number;
  readonly offset: number;
  readonly limit: number;
}

export interface ListItem {
  readonly seq: number;
  readonly at: number;
  readonly event: number;
  readonly item: number;
  /** The event of the record, parsed. */
  readonly data: unknown;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

export interface History {
  order(simulationId: string, orderId: string): OrderRow | undefined;
  /** A portfolio that is closed; undefined while it is open. */
  closedPortfolio(simulationId: string, portfolioId: string): ClosedPortfolioRow | undefined;
  /** The order of this portfolio with this client order id, open or closed. */
  orderIdByClientOrderId(
    simulationId: string,
    portfolioId: string,
    clientOrderId: string,
  ): string | undefined;
  /** Newest first (by creation). Totals and deep pages cost the same however long the list is, unless filtered. */
  orders(query: OrderQuery): Promise<Page<OrderRow>>;
  /** Newest first. */
  list(query: {
    readonly simulationId: string;
    readonly list: ListName;
    readonly owner: string;
    readonly tag?: string;
    readonly offset: number;
    readonly limit: number;
  }): Promise<Page<ListItem>>;
  /** Order events of a tenant after a stream position, oldest first, at most `limit`. */
  orderEvents(
    simulationId: string,
    tenantId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly ListItem[];
}
