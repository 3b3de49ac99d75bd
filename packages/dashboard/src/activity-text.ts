/** Activities as people read them: names instead of codes, local times, and amounts only if cash moved. */
import type { Activity, CancelReason } from '@sandpit/protocol';
import { dateText, moment, money, price, words } from './format.ts';
import { ENDS } from './labels.ts';
import { symbolText } from './option-legs.ts';

const INSTANT = /\d{4}-\d{2}-\d{2}T[\d:.]+Z/g;
const DATE = /\b\d{4}-\d{2}-\d{2}\b/g;
const OPTION = /\b[A-Z.]{1,6}\d{6}[CP]\d{8}\b/g;
/** Codes of one word, which resemble symbols, in the contexts of the texts. */
const LEADING = /^(MARKET|LIMIT|STOP|MAINTENANCE|FUTURES|INTRADAY|PORTFOLIO)\b/;
const REASON = /\(([A-Z][A-Z_]+)\)/;
const CODE = /\b[A-Z]+(?:_[A-Z]+)+\b/g;
/** The price of an execution. */
const PRICE = / at (\d+(?:\.\d+)?)\b/;
const AMOUNT = /\b\d+\.\d{2}\b/g;

/** The description of an activity, in words. */
export function activityText({ category, description }: Pick<Activity, 'category' | 'description'>): string {
  const text = description
    .replace(INSTANT, (at) => moment(at))
    .replace(OPTION, symbolText)
    .replace(PRICE, (_, at: string) => ` at ${price(Number(at))}`)
    .replace(DATE, (date) => dateText(date))
    .replace(LEADING, (code) => words(code))
    .replace(REASON, (_, code: string) =>
      Object.hasOwn(ENDS, code) ? `(${ENDS[code as CancelReason]})` : `(${words(code).toLowerCase()})`,
    )
    .replace(CODE, (code) => (category === 'ORDER' || category === 'MARGIN' ? words(code) : code));
  return category === 'MARGIN' ? text.replace(AMOUNT, (figure) => money(Number(figure))) : text;
}

/**
 * The cash that an activity moved; undefined when it moved none. A margin call names the amount due, a settlement moves cash that its trade
 * or dividend has counted already, and a reset names a balance.
 */
export function cashOf({
  category,
  type,
  amount,
}: Pick<Activity, 'category' | 'type' | 'amount'>): number | undefined {
  if (amount === undefined || amount === 0 || category === 'MARGIN') return undefined;
  return type === 'SETTLED' || type === 'PORTFOLIO_RESET' ? undefined : amount;
}

/** Subject of an activity without a cash movement: the size of a settlement. */
export function noteOf({ type, amount }: Pick<Activity, 'type' | 'amount'>): string {
  if (amount === undefined || amount === 0) return '';
  if (type === 'SETTLED')
    return amount > 0
      ? `, ${money(amount)} of pending cash received`
      : `, ${money(-amount)} of pending cash paid`;
  return type === 'PORTFOLIO_RESET' ? `, with ${money(amount)}` : '';
}
