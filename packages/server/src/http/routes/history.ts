import { type Event, isOrderEvent } from '@sandpit/core';
import type { PageQuery } from '@sandpit/protocol';
import { PastOrders, TermsOfItems } from '../../engine/past-orders.js';
import { mapInSlices } from '../../engine/slice.js';
import type { ListItem, ListName, Page } from '../../store/history.js';
import type { Analytics } from '../analytics/analytics.js';
import { Answer, PORTFOLIO_NOT_FOUND } from '../answer.js';
import type { Call, Handlers } from '../call.js';
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
import { curveWithinTheDay } from './equity-curve.js';
import { hasPortfolio, holdingsOf, ownPortfolio, type PortfolioRequest } from './owned.js';

type HistoryHandlers = Pick<
  Handlers,
  'listActivities' | 'listLedgerEntries' | 'listDayTrades' | 'listMarginCalls' | 'listSma' | 'getEquityCurve'
>;

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

  listDayTrades: (call) => listOf(call, 'day-trades', toDayTrade),

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
    const points = await pointsFrom(call, from);
    return pageOfAll(
      points.filter(({ at }) => at < to),
      query,
      ({ at }) => at,
      toEquityPoint,
    );
  },
});

type PortfolioCall = Call<'listActivities' | 'listLedgerEntries' | 'listDayTrades' | 'getEquityCurve'>;

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

const POINTS_AT_ONCE = 500;

/** The points of an equity curve at or after an instant, newest first. There is one per day. */
async function pointsFrom({ simulation, params }: PortfolioCall, from: number): Promise<ListItem[]> {
  const points: ListItem[] = [];
  const history = await simulation.past();
  for (;;) {
    const page: Page<ListItem> = await history.list({
      simulationId: simulation.id,
      list: 'equity',
      owner: params.portfolioId,
      offset: points.length,
      limit: POINTS_AT_ONCE,
    });
    points.push(...page.items);
    const oldest = page.items.at(-1);
    if (oldest === undefined || oldest.at < from || points.length >= page.total) break;
  }
  return points.filter(({ at }) => at >= from);
}
