/** Summary of the events of a clock move, in one sentence. Pure. */
import type { Activity } from '@sandpit/protocol';
import { capitalized, change } from '../format.ts';

type Happened = Pick<Activity, 'category' | 'type'>;

const NAMED_ACTIONS = new Set(['DIVIDEND', 'SPECIAL_DIVIDEND', 'SPLIT']);

const SETTLEMENT = 'settlement';

/** Kinds of activities that a summary counts, in its order. */
const KINDS: readonly (readonly [one: string, many: string, is: (activity: Happened) => boolean])[] = [
  ['fill', 'fills', ({ category }) => category === 'EXECUTION'],
  // A settlement date of a portfolio, shown where no trade settles: a dividend is paid.
  [SETTLEMENT, 'settlements', ({ type }) => type === 'SETTLED'],
  ['dividend', 'dividends', ({ type }) => type === 'DIVIDEND' || type === 'SPECIAL_DIVIDEND'],
  [
    'option exercised, assigned or expired',
    'options exercised, assigned or expired',
    ({ category, type }) => category === 'OPTION' && type !== 'DO_NOT_EXERCISE',
  ],
  ['margin call', 'margin calls', ({ type }) => type === 'CALL_ISSUED'],
  ['liquidation', 'liquidations', ({ type }) => type === 'LIQUIDATION'],
  ['order expired', 'orders expired', ({ category, type }) => category === 'ORDER' && type === 'EXPIRED'],
  ['split', 'splits', ({ type }) => type === 'SPLIT'],
  [
    'other corporate action',
    'other corporate actions',
    ({ category, type }) => category === 'CORPORATE_ACTION' && !NAMED_ACTIONS.has(type),
  ],
];

/** Orders of a portfolio with fills that settle on one of the settlement dates in its activities. */
export function settledTradesOf(
  activities: readonly Pick<Activity, 'category' | 'type' | 'orderId' | 'settlementDate'>[],
): number {
  const dates = new Set(
    activities.flatMap(({ type, settlementDate }) => (type === 'SETTLED' ? [settlementDate] : [])),
  );
  return new Set(
    activities.flatMap(({ category, orderId, settlementDate }) =>
      category === 'EXECUTION' && settlementDate !== undefined && dates.has(settlementDate) ? [orderId] : [],
    ),
  ).size;
}

/** `3 trades settled, 1 dividend, equity +$210.40`; `Nothing happened` without activities and change. */
export function summaryOf(
  activities: readonly Happened[],
  equity: { readonly before: number; readonly after: number } | undefined,
  settledTrades = 0,
): string {
  const counts = KINDS.flatMap(([one, many, is]) => {
    if (one === SETTLEMENT && settledTrades > 0)
      return [`${settledTrades} ${settledTrades === 1 ? 'trade' : 'trades'} settled`];
    const count = activities.filter(is).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  const moved = equity === undefined ? 0 : Math.round((equity.after - equity.before) * 100) / 100;
  const parts = [...counts, ...(moved === 0 ? [] : [`equity ${change(moved)}`])];
  if (parts.length === 0) return 'Nothing happened.';
  return `${capitalized(parts.join(', '))}.`;
}
