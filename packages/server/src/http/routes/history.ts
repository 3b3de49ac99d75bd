import { type Event, isOrderEvent } from '@sandpit/core';
import type { PageQuery } from '@sandpit/protocol';
import { PastOrders, TermsOfItems } from '../../engine/simulation/past-orders.js';
import { mapInSlices } from '../../engine/scheduling/slice.js';
import type { ListItem, ListName, Page } from '../../store/history.js';
import type { Analytics } from '../analytics/analytics.js';
import { Answer, PORTFOLIO_NOT_FOUND, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import {
  toActivity,
  toMarginCall,
  toDayTrade,
  toEquityPoint,
  toLedgerEntry,
  toSmaEntry,
} from '../translate/history.js';
import { amountsDue } from '../translate/requirements.js';
import { endOf, instantOf } from '../translate/instants.js';
import { ALL_LINES, pageOfAll, type PageReply, pageReply, windowOf } from '../translate/pages.js';
import { curveWithinTheDay } from '../analytics/equity-curve.js';
import { hasPortfolio, holdingsOf, ownPortfolio, type PortfolioRequest } from '../owned.js';

type HistoryHandlers = Pick<
  Handlers,
  'listActivities' | 'listLedgerEntries' | 'listDayTrades' | 'listMarginCalls' | 'listSma' | 'getEquityCurve'
>;

const FROM_AFTER_TO = refuse(400, ['from must not be after to']);

export const historyHandlers = (analytics: Analytics): HistoryHandlers => ({
  async listActivities(call) {
    const { category } = call.query;
    const { simulation } = call;
    const orders = new PastOrders(simulation);
    const found = await listOf(
      call,
      'activities',
      async (item) => {
        const order = isOrderEvent(item.data as Event) ? await orders.after(item) : undefined;
        return toActivity(simulation.brokerage.state.ids, item, order);
      },
      category,
    );
    return withLines(analytics, call, 'listActivities', 'activities', found, category);
  },

  async listLedgerEntries(call) {
    const { simulation } = call;
    const terms = new TermsOfItems(simulation);
    const { ids } = simulation.brokerage.state;
    const found = await listOf(call, 'ledger', async (item) =>
      toLedgerEntry(ids, item, await terms.of(item)),
    );
    return withLines(analytics, call, 'listLedgerEntries', 'ledger', found);
  },

  async listDayTrades(call) {
    const { from = '', to = '9999-12-31' } = call.query;
    if (from > to) return FROM_AFTER_TO;
    if (from === '' && call.query.to === undefined) return listOf(call, 'day-trades', toDayTrade);
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const trades = await newestOf(call, 'day-trades', (item) => toDayTrade(item).tradingDate >= from);
    return pageOfAll(
      trades
        .map(({ item, ordinal }) => ({ trade: toDayTrade(item), ordinal }))
        .filter(({ trade }) => trade.tradingDate <= to),
      call.query,
      ({ ordinal }) => ordinal,
      ({ trade }) => trade,
    );
  },

  async listMarginCalls(call) {
    const { simulation, principal, params } = call;
    const { ids } = simulation.brokerage.state;
    const portfolio = ownPortfolio(simulation.brokerage, params.portfolioId);
    const due = await simulation.read(
      [principal],
      (brokerage) => amountsDue(brokerage, portfolio),
      holdingsOf([portfolio]),
    );
    return listOf(call, 'margin-calls', (item) => toMarginCall(ids, item, due));
  },

  async listSma(call) {
    return withLines(analytics, call, 'listSma', 'sma', await listOf(call, 'sma', toSmaEntry));
  },

  async getEquityCurve(call) {
    const { simulation, query } = call;
    const { interval = '1d' } = query;
    if (interval !== '1d')
      return (await hasPortfolio(call)) ? curveWithinTheDay(call, interval) : PORTFOLIO_NOT_FOUND;
    if (query.from === undefined && query.to === undefined)
      return withLines(
        analytics,
        call,
        'getEquityCurve',
        'equity',
        await listOf(call, 'equity', toEquityPoint),
      );
    if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
    const { calendar } = simulation.brokerage.rules;
    const from = query.from === undefined ? -Infinity : instantOf(query.from, calendar);
    const to = query.to === undefined ? Infinity : endOf(query.to, calendar);
    const points = await newestOf(call, 'equity', ({ at }) => at >= from);
    return pageOfAll(
      points.filter(({ item }) => item.at < to),
      query,
      ({ item }) => item.at,
      ({ item }) => toEquityPoint(item),
    );
  },
});

type ListCall = PortfolioRequest & {
  readonly query: PageQuery & { readonly from?: string; readonly to?: string };
};

async function listOf<Item>(
  call: ListCall,
  list: ListName,
  show: (item: ListItem) => Item | Promise<Item>,
  tag?: string,
): Promise<PageReply<Item> | Answer> {
  if (!(await hasPortfolio(call))) return PORTFOLIO_NOT_FOUND;
  const { simulation, params, query } = call;
  const history = await simulation.past();
  const { calendar } = simulation.brokerage.rules;
  const { from, to } = query;
  const page = await history.list({
    simulationId: simulation.id,
    list,
    owner: params.portfolioId,
    ...(tag !== undefined && { tag }),
    ...(from !== undefined && { from: instantOf(from, calendar) }),
    ...(to !== undefined && { to: endOf(to, calendar) }),
    ...windowOf(query),
  });
  // One after the other: a page must not query history for all its orders at once.
  return pageReply(await mapInSlices(page.items, show), page, query);
}

/** If CSV is requested, lets another thread write the lines of the whole list. */
function withLines<Item>(
  analytics: Analytics,
  call: ListCall,
  operation: 'listLedgerEntries' | 'listActivities' | 'listSma' | 'getEquityCurve',
  list: ListName,
  found: PageReply<Item> | Answer,
  tag?: string,
): PageReply<Item> | Answer {
  if (found instanceof Answer) return found;
  const { simulation, params, query } = call;
  const { calendar } = simulation.brokerage.rules;
  const { from, to } = query;
  const question = {
    operation,
    list,
    owner: params.portfolioId,
    ...(tag !== undefined && { tag }),
    ...(from !== undefined && { from: instantOf(from, calendar) }),
    ...(to !== undefined && { to: endOf(to, calendar) }),
  };
  found[ALL_LINES] = async (emit) => {
    await analytics.study('rows', call, question, emit);
  };
  return found;
}

const ITEMS_AT_ONCE = 500;

interface NumberedItem {
  readonly item: ListItem;
  /** Place in the list, the oldest first. */
  readonly ordinal: number;
}

/** The items of a list, newest first, up to the first one that is not wanted. */
async function newestOf(
  { simulation, params }: PortfolioRequest,
  list: ListName,
  isWanted: (item: ListItem) => boolean,
): Promise<NumberedItem[]> {
  const found: NumberedItem[] = [];
  const history = await simulation.past();
  for (;;) {
    const page: Page<ListItem> = await history.list({
      simulationId: simulation.id,
      list,
      owner: params.portfolioId,
      offset: found.length,
      limit: ITEMS_AT_ONCE,
    });
    for (const item of page.items) {
      if (!isWanted(item)) return found;
      found.push({ item, ordinal: page.total - found.length });
    }
    if (page.items.length === 0 || found.length >= page.total) return found;
  }
}
