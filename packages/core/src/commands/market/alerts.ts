import type { Command } from '../../command.js';
import type { ShareRatio } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import { isShares, isTradable } from '../../instruments/instrument.js';
import { tradingEndsAt } from '../../instruments/trading-hours.js';
import { isBeyond, MOST_ALERTS } from '../../market/alert.js';
import type { Alert, AlertTerms } from '../../market/alert.js';
import { markOf } from '../../market/quote.js';
import type { Quote } from '../../market/quote.js';
import { optionMarkOf } from '../../options/model/mark.js';
import type { Rejection } from '../../rejection.js';
import type { Instant } from '../../values/instant.js';
import type { Price } from '../../values/price.js';
import { endedBy } from '../orders/instrument-checks.js';
import { priceAfter } from './split-market.js';

const NOT_FOUND: Rejection = { code: 'NOT_FOUND', what: 'Alert' };

/**
 * Sets a price alert (D281). It fires at once if the price is at or beyond its level already. At the limit it replaces the oldest alert that
 * is not active.
 */
export function setAlert(d: Decision, { terms }: Extract<Command, { type: 'SetAlert' }>): Alert | Rejection {
  const { alerts, counters } = d.state;
  const problem = symbolProblem(d, terms.symbol);
  if (problem !== undefined) return problem;
  if (alerts.size >= MOST_ALERTS) {
    const oldest = [...alerts.values()].find(({ status }) => status !== 'ACTIVE');
    if (oldest === undefined)
      return { code: 'CONFLICT', message: `a simulation has at most ${MOST_ALERTS} active alerts` };
    d.emit({ type: 'AlertsDeleted', alerts: [oldest.number] });
  }
  return arm(d, counters.alert + 1, terms);
}

/** Changes an alert and arms it again. An active alert whose terms stay is left as it is (D247). */
export function updateAlert(
  d: Decision,
  { alertId, condition, price, note }: Extract<Command, { type: 'UpdateAlert' }>,
): Alert | Rejection {
  const before = alertNamed(d, alertId);
  if (before === undefined) return NOT_FOUND;
  const problem = symbolProblem(d, before.symbol);
  if (problem !== undefined) return problem;
  const terms: AlertTerms = {
    ...termsOf(before),
    ...(condition !== undefined && { condition }),
    ...(price !== undefined && { price }),
    ...(note !== undefined && { note }),
  };
  const isSame =
    terms.condition === before.condition && terms.price === before.price && terms.note === before.note;
  return isSame && before.status === 'ACTIVE' ? before : arm(d, before.number, terms);
}

function arm(d: Decision, number: number, terms: AlertTerms): Alert {
  d.emit({ type: 'AlertSet', alert: number, terms });
  const quote = d.quote(terms.symbol);
  const price = quote && priceIn(d, quote);
  if (price !== undefined && isBeyond(terms, price)) fire(d, alertOf(d, number), price);
  return alertOf(d, number);
}

function fire(d: Decision, alert: Alert, price: Price): void {
  d.emit({
    type: 'AlertFired',
    alert: alert.number,
    terms: termsOf(alert),
    createdAt: alert.createdAt,
    price,
  });
}

const termsOf = ({ symbol, condition, price, note }: Alert): AlertTerms => ({
  symbol,
  condition,
  price,
  ...(note !== undefined && { note }),
});

function alertOf({ state: { alerts } }: Decision, number: number): Alert {
  const alert = alerts.get(number);
  if (alert === undefined) throw new RangeError(`no alert ${number}`);
  return alert;
}

export function deleteAlert(
  d: Decision,
  { alertId }: Extract<Command, { type: 'DeleteAlert' }>,
): { readonly deleted: number } | Rejection {
  const alert = alertNamed(d, alertId);
  if (alert === undefined) return NOT_FOUND;
  d.emit({ type: 'AlertsDeleted', alerts: [alert.number] });
  return { deleted: alert.number };
}

/**
 * The price by which alerts fire: the mark, as quotes show it (D56). `undefined` without one, and for prices without a market of their own,
 * which trigger nothing (D251).
 */
function priceIn(d: Decision, quote: Quote): Price | undefined {
  if (quote.untraded === true) return undefined;
  return d.instrument(quote.symbol)?.assetClass === 'OPTION' ? optionMarkOf(quote) : markOf(quote);
}

function alertNamed({ state: { alerts, ids } }: Decision, alertId: string): Alert | undefined {
  const number = ids.numberOf('ALERT', alertId);
  return number === undefined ? undefined : alerts.get(number);
}

/** The refusal of an alert on a symbol without further quotes. */
function symbolProblem(d: Decision, symbol: string): Rejection | undefined {
  if (d.instrument(symbol) === undefined)
    return { code: 'UNKNOWN_SYMBOL', message: `Unknown symbol ${symbol}` };
  const message = whyEnded(d, symbol);
  return message === undefined ? undefined : { code: 'INSTRUMENT_NOT_TRADABLE', message };
}

/** Reason why a symbol is quoted no more. */
function whyEnded(d: Decision, symbol: string): string | undefined {
  const instrument = d.instrument(symbol);
  if (instrument === undefined) return `Unknown symbol ${symbol}`;
  const ended = endedBy(d, instrument.assetClass === 'OPTION' ? instrument.underlying : symbol);
  if (ended !== undefined || isShares(instrument) || !isTradable(instrument)) return ended;
  const adjusted = d.state.adjusted.get(symbol);
  if (adjusted !== undefined) return `${symbol} was adjusted: it is ${adjusted} now`;
  return tradingEndsAt(instrument, d.rules.calendar) <= d.at
    ? `${symbol} has traded for the last time`
    : undefined;
}

/** The active alerts on a symbol, oldest first. */
const activeOn = (d: Decision, symbol: string): Alert[] =>
  [...(d.state.alertsOn.get(symbol) ?? [])].sort((a, b) => a - b).map((number) => alertOf(d, number));

/**
 * Fires the alerts that a new quote meets, oldest first. `since`: the quote is a price from inside a recorded bar that began then, and meets
 * only the alerts that were set by that time.
 */
export function meetAlerts(d: Decision, quote: Quote, since?: Instant): void {
  if (!d.state.alertsOn.has(quote.symbol)) return;
  const price = priceIn(d, quote);
  if (price === undefined) return;
  for (const alert of activeOn(d, quote.symbol))
    if ((since === undefined || alert.armedAt <= since) && isBeyond(alert, price)) fire(d, alert, price);
}

/** Restates the alerts on shares that split, rounded half up to 10^-8, or are renamed. */
export function restateAlerts(
  d: Decision,
  symbol: string,
  to: { readonly ratio: ShareRatio } | { readonly newSymbol: string },
): void {
  for (const alert of activeOn(d, symbol)) {
    const terms: AlertTerms = {
      ...termsOf(alert),
      ...('ratio' in to ? { price: priceAfter(alert.price, to.ratio) } : { symbol: to.newSymbol }),
    };
    d.emit({ type: 'AlertRestated', alert: alert.number, terms });
  }
}

/** Ends the alerts on symbols that are quoted no more: expired, adjusted, merged or delisted. */
export function endAlerts(d: Decision): void {
  const ended: number[] = [];
  for (const [symbol, numbers] of d.state.alertsOn)
    if (whyEnded(d, symbol) !== undefined) ended.push(...numbers);
  if (ended.length > 0) d.emit({ type: 'AlertsEnded', alerts: ended.sort((a, b) => a - b) });
}
