import type { Event, LastFigures, LedgerEntryType, OrderProgress, OrderTerms } from '@sandpit/core';
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
  const events = parsed.events as readonly Event[];
  const changes: HistoryChange[] = [];
  projectOrders(events, changes);
  events.forEach((event, index) => project(event, index, changes));
  return changes;
};

/** Orders as they are after the record: what they were in between is in the journal. */
function projectOrders(events: readonly Event[], changes: HistoryChange[]): void {
  const added = new Map<string, OrderTerms>();
  const latest = new Map<string, { progress: OrderProgress; filledOn?: string }>();
  for (const event of events) {
    if (event.type === 'OrderAccepted') {
      added.set(event.terms.orderId, event.terms);
      latest.set(event.terms.orderId, { progress: event.progress });
    } else if (event.type === 'OrderMoved') {
      latest.set(event.orderId, { progress: event.progress });
    } else if (event.type === 'OrderExecuted') {
      const { progress, tradeDate } = event;
      latest.set(
        event.orderId,
        progress.status === 'FILLED' ? { progress, filledOn: tradeDate } : { progress },
      );
    }
  }
  for (const [orderId, { progress, filledOn }] of latest) {
    const terms = added.get(orderId);
    const state = {
      orderId,
      status: progress.status,
      ...(filledOn !== undefined && { filledOn }),
      progress: JSON.stringify(progress),
    };
    changes.push(
      terms === undefined
        ? { change: 'order-moved', ...state }
        : {
            change: 'order-added',
            ...state,
            tenantId: terms.tenantId,
            accountId: terms.accountId,
            portfolioId: terms.portfolioId,
            symbol: terms.symbol,
            assetClass: terms.assetClass,
            createdAt: terms.createdAt,
            ...(terms.clientOrderId !== undefined && { clientOrderId: terms.clientOrderId }),
            terms: JSON.stringify(terms),
          },
    );
  }
}

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
      const { terms } = event;
      changes.push({ change: 'order-event', tenantId: terms.tenantId, event: index });
      activity(terms.portfolioId, 'ORDER');
      return;
    }
    case 'OrderMoved':
      if (!SILENT.has(event.transition)) {
        changes.push({ change: 'order-event', tenantId: event.tenantId, event: index });
      }
      if (!ROUTINE.has(event.transition)) activity(event.portfolioId, 'ORDER');
      return;
    case 'OrderExecuted':
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
    case 'PortfolioOpened': {
      const { terms } = event;
      const { portfolioId, tenantId } = terms;
      changes.push({ change: 'portfolio-opened', portfolioId, tenantId, terms: JSON.stringify(terms) });
      activity(portfolioId, 'SYSTEM');
      return;
    }
    case 'PortfolioChanged':
      activity(event.portfolioId, event.change === 'MARGIN' ? 'MARGIN' : 'SYSTEM');
      return;
    case 'PortfolioClosed': {
      const { portfolioId, settings, value, at } = event;
      const last: LastFigures = { settings, value, at };
      changes.push({ change: 'portfolio-closed', portfolioId, last: JSON.stringify(last) });
      activity(portfolioId, 'SYSTEM');
      return;
    }
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
