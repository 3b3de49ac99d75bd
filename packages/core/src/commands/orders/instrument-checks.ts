import { isShares } from '../../instruments/instrument.js';
import type { Decision } from '../../decision.js';
import { closesOutAt } from '../../instruments/close-out.js';
import type { AssetClass, Instrument } from '../../instruments/instrument.js';
import { namesAdjusted, unknownDeliverable } from '../../instruments/symbols.js';
import { tradingEndsAt } from '../../instruments/trading-hours.js';
import { isOpening } from '../../orders/order.js';
import type { PositionIntent } from '../../orders/order.js';
import type { OrderRequest } from '../../orders/order-request.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import type { Rejection } from '../../rejection.js';
import type { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';

const WHAT: Readonly<Record<AssetClass, string>> = {
  EQUITY: 'an equity',
  OPTION: 'an option',
  FUTURE: 'a future',
};

/** Reason why the instruments of an order cannot be traded (D79): first unlisted ones, then those that accept no such order. */
export function instrumentProblem(
  d: Decision,
  portfolio: Portfolio,
  request: OrderRequest,
): Rejection | undefined {
  const { assetClass, symbol, positionIntent, legs } = request;
  const named = legs?.map((leg) => ({ symbol: leg.optionSymbol, positionIntent: leg.positionIntent })) ?? [
    { symbol, positionIntent },
  ];
  const legOf = (one: string) => (legs === undefined ? {} : { symbol: one });
  for (const one of named) {
    if (d.instrument(one.symbol) !== undefined) continue;
    if (namesAdjusted(one.symbol, (name) => d.instrument(name)?.assetClass))
      return {
        code: 'UNKNOWN_DELIVERABLE',
        message: unknownDeliverable(one.symbol),
        symbol: one.symbol,
      };
    return { code: 'UNKNOWN_SYMBOL', message: `Unknown symbol ${one.symbol}`, ...legOf(one.symbol) };
  }
  for (const one of named) {
    const instrument = d.instrument(one.symbol);
    const why =
      instrument &&
      (instrumentRejection(d, portfolio, instrument, assetClass, one.positionIntent) ??
        fractionProblem(instrument, { ...request, positionIntent: one.positionIntent }));
    if (why !== undefined) return { code: 'INSTRUMENT_NOT_TRADABLE', message: why, ...legOf(one.symbol) };
  }
  return undefined;
}

function instrumentRejection(
  d: Decision,
  portfolio: Portfolio,
  instrument: Instrument,
  assetClass: AssetClass,
  intent: PositionIntent,
): string | undefined {
  const { symbol } = instrument;
  if (instrument.assetClass !== assetClass) return `${symbol} is not ${WHAT[assetClass]}`;
  const ended = endedBy(d, instrument.assetClass === 'OPTION' ? instrument.underlying : symbol);
  if (ended !== undefined) return ended;
  if (isShares(instrument)) return instrument.tradable === false ? `${symbol} cannot be traded` : undefined;
  const adjusted = d.state.adjusted.get(symbol);
  if (adjusted !== undefined) return `${symbol} was adjusted: it is ${adjusted} now`;
  const isFuture = instrument.assetClass === 'FUTURE';
  if (isFuture && portfolio.settings.portfolioType === 'CASH') return 'CASH portfolios cannot hold futures';
  if (tradingEndsAt(instrument, d.rules.calendar) <= d.at) return `${symbol} has traded for the last time`;
  return isFuture && isOpening(intent) && closesOutAt(instrument, intent, d.rules.calendar) <= d.at
    ? `${symbol} is closed out before its delivery`
    : undefined;
}

/** Why shares that a corporate action has ended cannot be traded, with their successor (D208). */
export function endedBy(d: Decision, symbol: string): string | undefined {
  const successor = d.state.retired.get(symbol);
  if (successor === undefined) return undefined;
  return successor === ''
    ? `${symbol} no longer trades`
    : `${symbol} no longer trades: it is ${successor} now`;
}

/** Why an order that opens a fraction of a share is refused: some shares are traded whole only (D184). A fraction can always be closed (D137). */
export function fractionProblem(
  instrument: Instrument,
  {
    notional,
    quantity,
    positionIntent,
  }: Pick<OrderRequest, 'quantity' | 'positionIntent'> & { readonly notional?: Money | undefined },
): string | undefined {
  if (!isShares(instrument) || instrument.fractionable !== false || !isOpening(positionIntent))
    return undefined;
  return notional !== undefined || !Quantity.isWhole(quantity)
    ? `${instrument.symbol} is traded in whole shares only`
    : undefined;
}
