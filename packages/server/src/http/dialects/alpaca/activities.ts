/** Activities of an account: executions, and everything else that moves cash or shares. */
import { type Event, isOrderEvent, type OrderSnapshot, Quantity, sideOf } from '@sandpit/core';
import type { Activity } from '@sandpit/protocol';
import { PastOrders } from '../../../engine/past-orders.js';
import type { ListItem } from '../../../store/history.js';
import { toActivity } from '../../translate/history.js';
import { decimal } from './decimals.js';
import { nameOf } from './order-names.js';
import { isShown, replacementsOf } from './order-shape.js';
import { invalid } from './refusals.js';
import type { AlpacaCall, AlpacaHandler } from './request.js';

/** Alpaca's names of ledger entry types; other types have no counterpart. */
const TYPES: Readonly<Record<string, string>> = {
  INITIAL_CASH: 'CSD',
  WITHDRAWAL: 'CSW',
  PROMOTIONAL_CASH: 'JNLC',
  RESET: 'JNLC',
  DIVIDEND: 'DIV',
  CASH_IN_LIEU: 'CIL',
  MARGIN_INTEREST: 'INT',
  INTEREST: 'INT',
  BORROW_FEE: 'FEE',
  FEE: 'FEE',
  COMMISSION: 'FEE',
  SPLIT: 'SPLIT',
  EXERCISED: 'OPEXC',
  ASSIGNED: 'OPASN',
  EXPIRED: 'OPEXP',
};

function typeOf({ category, type, amount = 0 }: Activity): string | undefined {
  if (category === 'EXECUTION') return 'FILL';
  if (type === 'TRANSFER') return amount < 0 ? 'CSW' : 'CSD';
  // A dividend is listed when it is paid, not when it accrues.
  if (category === 'CORPORATE_ACTION' && type === 'DIVIDEND') return undefined;
  if (category === 'ORDER' || category === 'SETTLEMENT') return undefined;
  return Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
}

/** `YYYYMMDDhhmmssSSS::` and the activity's own id. */
const idOf = ({ at, activityId }: Activity): string => `${at.replace(/\D/g, '').slice(0, 17)}::${activityId}`;

function fillShape({ simulation, portfolioId }: AlpacaCall, activity: Activity, order: OrderSnapshot) {
  const { terms, progress } = order;
  const name = { number: terms.number, replacement: replacementsOf(order) };
  const isDone = progress.status === 'FILLED';
  const leg = terms.legs?.find(({ optionSymbol }) => optionSymbol === activity.symbol);
  return {
    id: idOf(activity),
    account_id: portfolioId,
    activity_type: 'FILL',
    transaction_time: activity.at,
    type: isDone ? 'fill' : 'partial_fill',
    price: decimal(activity.price ?? 0),
    qty: decimal(activity.quantity ?? 0),
    side: sideOf(leg?.positionIntent ?? terms.positionIntent).toLowerCase(),
    symbol: leg?.optionSymbol ?? terms.symbol,
    leaves_qty: Quantity.format(Quantity.subtract(progress.quantity, progress.filledQuantity)),
    order_id: nameOf(simulation.brokerage.state.ids, name),
    cum_qty: Quantity.format(progress.filledQuantity),
    order_status: isDone ? 'filled' : 'partially_filled',
  };
}

const otherShape = ({ portfolioId }: AlpacaCall, activity: Activity, type: string) => ({
  id: idOf(activity),
  account_id: portfolioId,
  activity_type: type,
  date: activity.at.slice(0, 10),
  created_at: activity.at,
  net_amount: decimal(activity.amount ?? 0),
  description: activity.description,
  ...(activity.symbol !== undefined && { symbol: activity.symbol }),
  ...(activity.quantity !== undefined && { qty: decimal(activity.quantity) }),
  ...(activity.price !== undefined && { price: decimal(activity.price) }),
  status: 'executed',
});

async function shownOf(
  call: AlpacaCall,
  past: PastOrders,
  item: ListItem,
  isAskedFor: (type: string) => boolean,
): Promise<{ readonly id: string } | undefined> {
  const order = isOrderEvent(item.data as Event) ? await past.after(item) : undefined;
  if (order !== undefined && !isShown(order)) return undefined;
  const activity = toActivity(call.simulation.brokerage.state.ids, item, order);
  const type = typeOf(activity);
  if (type === undefined || !isAskedFor(type)) return undefined;
  return order === undefined ? otherShape(call, activity, type) : fillShape(call, activity, order);
}

const ITEMS_AT_ONCE = 200;
const DAY_MS = 86_400_000;

export const listActivities: AlpacaHandler = async (call) => {
  const { query, simulation, portfolioId } = call;
  const wanted = wantedTypes(call);
  const day = query.instant('date');
  const after = day === undefined ? query.instant('after') : day - 1;
  const until = day === undefined ? query.instant('until') : day + DAY_MS;
  const isAscending = query.choice('direction', ['asc', 'desc']) === 'asc';
  const limit = query.integer('page_size', 1, 100) ?? 100;
  const token = query.text('page_token');
  const history = await simulation.past();
  const past = new PastOrders(simulation);
  const found: { readonly id: string }[] = [];
  // A page continues after the item that its token names, in the requested order.
  let isBehind = token === undefined || isAscending;
  for (let offset = 0; ; offset += ITEMS_AT_ONCE) {
    const { items, total } = await history.list({
      simulationId: simulation.id,
      list: 'activities',
      owner: portfolioId,
      offset,
      limit: ITEMS_AT_ONCE,
    });
    for (const item of items) {
      if (until !== undefined && item.at >= until) continue;
      const isTooOld = after !== undefined && item.at <= after;
      const shown = isTooOld ? undefined : await shownOf(call, past, item, wanted);
      if (shown === undefined) continue;
      if (shown.id === token) {
        // In ascending order all older entries have been listed.
        if (isAscending) return page(found, limit, isAscending);
        isBehind = true;
      } else if (isBehind) found.push(shown);
    }
    const oldest = items.at(-1);
    const isOver = oldest === undefined || offset + items.length >= total;
    if (isOver || (after !== undefined && oldest.at <= after)) break;
    if (!isAscending && found.length >= limit) break;
  }
  return page(found, limit, isAscending);
};

const page = (found: readonly object[], limit: number, isAscending: boolean): readonly object[] =>
  (isAscending ? found.toReversed() : found).slice(0, limit);

/** Types that a request selects: by its path, by name, or by kind. */
function wantedTypes({ params, query }: AlpacaCall): (type: string) => boolean {
  const category = query.choice('category', ['trade_activity', 'non_trade_activity']);
  const named = params['type'] === undefined ? query.list('activity_types') : [params['type']];
  if (category !== undefined && named !== undefined)
    throw invalid('only one of category or activity_types is accepted');
  const types = named?.map((type) => type.toUpperCase());
  return (type) =>
    types === undefined
      ? category === undefined || (category === 'trade_activity') === (type === 'FILL')
      : types.includes(type);
}
