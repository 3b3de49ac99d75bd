/** Alerts as the dashboard tells of them. Pure. */
import type { Activity, Alert } from '@sandpit/protocol';
import { price } from '../format.ts';

/** Events other than prices that a user may be told of. */
export const KINDS = ['fills', 'calls', 'expirations'] as const;
export type Kind = (typeof KINDS)[number];

export const TITLES: Readonly<Record<Kind, string>> = {
  fills: 'Fills',
  calls: 'Margin calls',
  expirations: 'Expirations, assignments and exercises',
};

/** Webhook events of each kind, and of price alerts. */
export const WEBHOOK_EVENTS = {
  prices: ['alert.fired'],
  fills: ['order.filled', 'order.partially-filled'],
  calls: ['margin-call.*'],
  expirations: ['position.*'],
} as const;

type Happened = Pick<Activity, 'category' | 'type'>;

const CALLS = new Set(['CALL_ISSUED', 'LIQUIDATION']);

/** The kind of an activity; undefined for those that no alert is about. */
export function kindOf({ category, type }: Happened): Kind | undefined {
  if (category === 'EXECUTION') return 'fills';
  if (category === 'MARGIN' && CALLS.has(type)) return 'calls';
  if (category === 'OPTION' && type !== 'DO_NOT_EXERCISE') return 'expirations';
  return undefined;
}

/** The side of the market on which a level lies: above it, or at and below it. */
export const conditionFor = (level: number, market: number | undefined): Alert['condition'] =>
  market !== undefined && level <= market ? 'BELOW' : 'ABOVE';

/** `AAPL at 195.00 or above`. */
export const levelText = ({
  symbol,
  condition,
  price: level,
}: Pick<Alert, 'symbol' | 'condition' | 'price'>) =>
  `${symbol} at ${price(level)} or ${condition === 'ABOVE' ? 'above' : 'below'}`;

/** One firing of an alert: an alert that was armed again fires another time. */
export const keyOf = ({ alertId, firedAt = '' }: Pick<Alert, 'alertId' | 'firedAt'>): string =>
  `${alertId} ${firedAt}`;

/** Alerts that have fired and are not among the known firings, the earliest first. */
export const newlyFired = (alerts: readonly Alert[], known: ReadonlySet<string>): readonly Alert[] =>
  alerts
    .filter((alert) => alert.status === 'FIRED' && !known.has(keyOf(alert)))
    .sort((a, b) => Date.parse(a.firedAt ?? '') - Date.parse(b.firedAt ?? ''));

/** Activities after an instant, of the kinds that are wanted. */
export const wantedAfter = (
  activities: readonly Activity[],
  afterIso: string,
  isWanted: (kind: Kind) => boolean,
): readonly Activity[] =>
  activities.filter((activity) => {
    const kind = kindOf(activity);
    return kind !== undefined && isWanted(kind) && Date.parse(activity.at) > Date.parse(afterIso);
  });
