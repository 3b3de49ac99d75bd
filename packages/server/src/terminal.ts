/** Output of a server that was started on a terminal: a line for each order, fill and refusal. */
import { type OrderSnapshot, Price, Quantity, refusalText, rejectionText, tradedBy } from '@sandpit/core';
import type { DurableRecord } from './engine/records/records.js';
import type { Refused } from './http/reply.js';

const VERBS = {
  BUY_TO_OPEN: ['buy', 'bought'],
  BUY_TO_CLOSE: ['buy back', 'bought back'],
  SELL_TO_CLOSE: ['sell', 'sold'],
  SELL_TO_OPEN: ['sell short', 'sold short'],
} as const;

const SYMBOL_WIDTH = 6;

const LONGEST_LINE = 500;

/** Text of a request, escaped so that it can neither move the cursor of a terminal nor imitate a line of the server. */
function printable(text: string): string {
  const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)} …` : text;
  return cut.replace(
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Lines for the orders of a record: new ones, executions, and ends without one. In UTC, by the clock of the simulation. */
export function linesOf({ at, events, orders }: DurableRecord): string[] {
  const time = new Date(at).toISOString().slice(11, 19);
  const lines = events.flatMap((event, index) => {
    const order = orders[index];
    if (order === undefined) return [];
    if (event.type === 'OrderAccepted') return [`${time}  order    ${askedFor(order)}`];
    if (event.type === 'OrderRejected')
      return [`${time}  refused  ${askedFor(order)}: ${rejectionText(event.rejection)}`];
    if (event.type === 'OrderExecuted')
      return event.executions.map((execution) => {
        const { symbol, positionIntent } = tradedBy(order.terms, execution);
        const what = `${VERBS[positionIntent][1]} ${Quantity.format(execution.quantity)} at ${dollars(execution.price)}`;
        return `${time}  fill     ${symbol.padEnd(SYMBOL_WIDTH)}  ${what}${restOf(order)}`;
      });
    return event.type === 'OrderMoved' ? endOf(order, event.transition).map((end) => `${time}  ${end}`) : [];
  });
  return lines.map(printable);
}

function askedFor({ terms, progress }: OrderSnapshot): string {
  const prices = [
    ...(progress.limitPrice === undefined ? [] : [`limit ${dollars(progress.limitPrice)}`]),
    ...(progress.stopPrice === undefined ? [] : [`stop ${dollars(progress.stopPrice)}`]),
  ];
  const verb = VERBS[terms.positionIntent][0];
  const isPlain = /^(LIMIT|STOP|STOP_LIMIT)$/.test(terms.orderType);
  const type = isPlain ? [] : [terms.orderType.toLowerCase().replaceAll('_', ' ')];
  const asked = `${verb} ${Quantity.format(progress.quantity)}`;
  return [`${terms.symbol.padEnd(SYMBOL_WIDTH)}  ${asked}`, ...type, ...prices, progress.timeInForce].join(
    ', ',
  );
}

const restOf = ({ progress: { quantity, filledQuantity } }: OrderSnapshot): string =>
  filledQuantity < quantity ? `, ${Quantity.format(Quantity.subtract(quantity, filledQuantity))} to go` : '';

function endOf({ terms, progress }: OrderSnapshot, transition: string): string[] {
  const symbol = terms.symbol.padEnd(SYMBOL_WIDTH);
  if (transition === 'REJECTED') {
    const why = progress.rejectReason === undefined ? 'no reason' : refusalText(progress.rejectReason);
    return [`rejected ${symbol}  ${why}`];
  }
  if (transition === 'CANCELED' || transition === 'EXPIRED')
    return [
      `${transition.toLowerCase().padEnd(8)} ${symbol}  ${Quantity.format(progress.filledQuantity)} of ${Quantity.format(progress.quantity)} filled`,
    ];
  return [];
}

/** At least two decimals, as one writes dollars. */
function dollars(price: Price): string {
  const [whole = '', decimals = ''] = Price.format(price).split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}

/** The line for a refused request. */
export function lineOfRefusal({ method, url, status, text }: Refused): string {
  const { message, error } = JSON.parse(text) as {
    readonly message: string | readonly string[];
    readonly error?: string | { readonly code?: string };
  };
  const code = typeof error === 'object' && error.code !== undefined ? ` ${error.code}` : '';
  const what = `${method} ${url.split('?')[0] ?? ''}: ${[message].flat().join('; ')}`;
  return `${' '.repeat(8)}  refused  ${printable(what)} (${status}${code})`;
}

const LEVELS: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'fatal' };

/** A line of the log, which is JSON, as a person reads it. */
export function lineOfLog(json: string): string {
  const { level, msg, err, reason } = JSON.parse(json) as {
    readonly level: number;
    readonly msg?: string;
    readonly reason?: string;
    readonly err?: { readonly stack?: string; readonly message?: string };
  };
  const detail = err?.stack ?? err?.message ?? reason;
  const text = `${msg ?? ''}${detail === undefined ? '' : ` (${detail})`}`;
  // A stack has lines of its own.
  return `${LEVELS[level] ?? 'note'}: ${text.split('\n').map(printable).join('\n')}`;
}
