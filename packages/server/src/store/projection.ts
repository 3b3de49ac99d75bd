import type { Event, LedgerEntryType } from '@sandpit/core';
import type { HistoryChange } from './history.js';
import type { JournalRecord } from './journal.js';

/** The parts of a payload that a projection looks at. */
export interface ParsedPayload {
  readonly command: unknown;
  readonly events: readonly unknown[];
}

/** What a record changes in the history tables. Pure: the same record gives the same changes, in any thread. */
export type Projection = (record: JournalRecord, parsed: ParsedPayload) => readonly HistoryChange[];

/** How the events of the brokerage become rows. A new kind of event that users should be able to list goes here. */
export const projectRecord: Projection = (_record, parsed) => {
  const changes: HistoryChange[] = [];
  (parsed.events as readonly Event[]).forEach((event, index) => project(event, index, changes));
  return changes;
};

/** Movements of cash that are not the consequence of a trade, by the category users find them under (D17). */
const ENTRY_CATEGORY: Readonly<Partial<Record<LedgerEntryType, string>>> = {
  INITIAL_CASH: 'CASH',
  TRANSFER: 'CASH',
  PROMOTIONAL_CASH: 'CASH',
  CASH_IN_LIEU: 'CORPORATE_ACTION',
};

/** Moves of an order that are part of every order's way and not worth an entry in the activity log. */
const ROUTINE: ReadonlySet<string> = new Set([
  'RESERVING',
  'ACTIVATED',
  'RESIZED',
  'CANCELING',
  'RESTED',
  'TRAILED',
]);
/** Moves that streams do not tell. */
const SILENT: ReadonlySet<string> = new Set(['RESTED', 'TRAILED']);

function project(event: Event, index: number, changes: HistoryChange[]): void {
  const activity = (owner: string, tag: string, item = 0): void => {
    changes.push({ change: 'listed', list: 'activities', owner, event: index, item, tag });
  };
  switch (event.type) {
    case 'OrderAccepted': {
      const { terms, progress } = event;
      changes.push({
        change: 'order-added',
        orderId: terms.orderId,
        tenantId: terms.tenantId,
        accountId: terms.accountId,
        portfolioId: terms.portfolioId,
        symbol: terms.symbol,
        assetClass: terms.assetClass,
        status: progress.status,
        createdAt: terms.createdAt,
        ...(terms.clientOrderId !== undefined && { clientOrderId: terms.clientOrderId }),
        terms: JSON.stringify(terms),
        progress: JSON.stringify(progress),
      });
      changes.push({ change: 'order-event', tenantId: terms.tenantId, event: index });
      activity(terms.portfolioId, 'ORDER');
      return;
    }
    case 'OrderMoved':
      changes.push({
        change: 'order-moved',
        orderId: event.orderId,
        status: event.progress.status,
        progress: JSON.stringify(event.progress),
      });
      if (!SILENT.has(event.transition)) {
        changes.push({ change: 'order-event', tenantId: event.tenantId, event: index });
      }
      if (!ROUTINE.has(event.transition)) activity(event.portfolioId, 'ORDER');
      return;
    case 'OrderExecuted':
      changes.push({
        change: 'order-moved',
        orderId: event.orderId,
        status: event.progress.status,
        ...(event.progress.status === 'FILLED' && { filledOn: event.tradeDate }),
        progress: JSON.stringify(event.progress),
      });
      changes.push({ change: 'order-event', tenantId: event.tenantId, event: index });
      changes.push({ change: 'listed', list: 'executions', owner: event.orderId, event: index, item: 0 });
      activity(event.portfolioId, 'EXECUTION');
      return;
    case 'LedgerPosted':
      event.entries.forEach((entry, item) => {
        changes.push({ change: 'listed', list: 'ledger', owner: event.portfolioId, event: index, item });
        const category = ENTRY_CATEGORY[entry.type];
        if (category !== undefined) activity(event.portfolioId, category, item);
      });
      return;
    case 'DayTradeTracked':
      if (event.record !== undefined) {
        const { symbol, tradingDate, number } = event.record;
        changes.push({
          change: 'listed',
          list: 'day-trades',
          owner: event.portfolioId,
          event: index,
          item: 0,
          key: `${tradingDate}/${symbol}/${number}`,
        });
      }
      return;
    case 'ObligationSettled':
      activity(event.portfolioId, 'SETTLEMENT');
      return;
    case 'PortfolioOpened':
      activity(event.terms.portfolioId, 'SYSTEM');
      return;
    case 'PortfolioChanged':
      activity(event.portfolioId, event.change === 'MARGIN' ? 'MARGIN' : 'SYSTEM');
      return;
    case 'PortfolioClosed':
    case 'PortfolioReset':
      activity(event.portfolioId, 'SYSTEM');
      return;
    case 'PositionSplit':
    case 'DividendAccrued':
      activity(event.portfolioId, 'CORPORATE_ACTION');
      return;
    case 'SessionMarked':
      event.points.forEach((point, item) => {
        changes.push({ change: 'listed', list: 'equity', owner: point.portfolioId, event: index, item });
      });
      return;
    default:
      return;
  }
}
