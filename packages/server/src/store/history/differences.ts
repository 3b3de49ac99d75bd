import { isOrderPlaced } from '@sandpit/core';
import type { Event } from '@sandpit/core';

/** Comparison of the tables of a history with its journals. */
export interface Differences {
  /** In sentences for an operator; empty = none. */
  readonly problems: readonly string[];
  /** Ids of simulations with rows that differ. */
  readonly ids: readonly string[];
}

/** Names of tables in messages for the operator. */
export const TABLE_NAMES: Readonly<Record<string, string>> = {
  history_owner: 'lengths of lists',
  history_portfolio: 'portfolios',
  history_order: 'orders',
  history_item: 'lists',
  history_standing: 'portfolios over time',
  history_mark: 'marks by pushed quotes',
  history_cell: 'simulations',
};

/** Orders and executions in the events of a journal: a row that is never made is missing in both compared tables. */
export interface Counted {
  orders: number;
  executions: number;
}

/** Adds the events of a record. `payload`: its JSON text. */
export function countRecord(counted: Counted, payload: string): void {
  const { events } = JSON.parse(payload) as { readonly events: readonly Event[] };
  for (const event of events) {
    if (isOrderPlaced(event)) counted.orders += 1;
    if (event.type === 'OrderExecuted') counted.executions += event.executions.length;
  }
}
