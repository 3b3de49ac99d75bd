/** The body that places an order, translated to that of `/v1`. */
import { Money, type OrderSnapshot, Price } from '@sandpit/core';
import { intentOf, newId, type Side } from '@sandpit/dialect-port';
import { sixDecimals } from './decimals.js';
import type { AlpacaCall, Fields } from './request.js';
import { quotesOf } from './market-data.js';
import { legsOf } from './multi-leg.js';
import { PERCENT_UNITS } from './order-shape.js';
import { forbidden, invalid, unprocessable } from './refusals.js';

const TYPES = {
  market: 'MARKET',
  limit: 'LIMIT',
  stop: 'STOP',
  stop_limit: 'STOP_LIMIT',
  trailing_stop: 'TRAILING_STOP',
} as const;
const TIMES = { day: 'DAY', gtc: 'GTC', ioc: 'IOC', fok: 'FOK', opg: 'OPG', cls: 'CLS' } as const;
const CLASSES = ['simple', 'bracket', 'oco', 'oto', 'mleg'] as const;
const INTENTS = ['buy_to_open', 'buy_to_close', 'sell_to_open', 'sell_to_close'] as const;

type OrderClass = Exclude<(typeof CLASSES)[number], 'mleg'>;

/** The request to `/v1` and the symbol it is about. */
export interface TranslatedOrder {
  readonly symbol: string;
  /** True for orders with several legs or attached orders. */
  readonly isComplex: boolean;
  readonly clientOrderId: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const keysOf = <T extends object>(table: T): (keyof T & string)[] =>
  Object.keys(table) as (keyof T & string)[];

/** Translates a body. `/v1` itself validates prices and quantities. */
export async function orderBodyOf(call: AlpacaCall): Promise<TranslatedOrder> {
  const { body, book } = call;
  const { portfolioId } = book;
  refuseInstructions(body);
  const configuration = call.kept.configuration();
  if (configuration.suspend_trade) throw forbidden('new orders are rejected by user request');
  const orderClass = body.choice('order_class', CLASSES) ?? 'simple';
  const type = required(body.choice('type', keysOf(TYPES)), 'type');
  const time = required(body.text('time_in_force')?.toLowerCase(), 'time_in_force');
  if (!isTime(time)) throw invalid('invalid time_in_force');
  if (orderClass === 'mleg') return multiLegBodyOf(call, type, time);
  const symbol = required(body.text('symbol'), 'symbol').toUpperCase();
  const side = required(body.choice('side', ['buy', 'sell']), 'side');
  const intent =
    body.choice('position_intent', INTENTS)?.toUpperCase() ??
    (orderClass === 'oco' ? CLOSES[side] : intentOf(call.book, symbol, side.toUpperCase() as Side));
  if (!intent.startsWith(side.toUpperCase())) throw invalid('position_intent does not match side');
  const isOption = call.book.instrument(symbol)?.assetClass === 'OPTION';
  if (intent === 'SELL_TO_OPEN' && configuration.no_shorting && !isOption)
    throw forbidden('account is not allowed to short');
  if (orderClass === 'oco' && type !== 'limit') throw invalid('oco orders must be limit orders');
  const exits = orderClass === 'simple' ? {} : exitsOf(body, orderClass, TIMES[time]);
  // The profit target of an OCO order is its own limit.
  const limitPrice =
    (orderClass === 'oco' ? body.object('take_profit')?.number('limit_price') : undefined) ??
    body.number('limit_price');
  checkPrices(body, type, orderClass);
  const size = await sizeOf(call, symbol, side, type);
  checkFraction('quantity' in size ? size.quantity : undefined, TIMES[time]);
  return {
    symbol,
    isComplex: orderClass !== 'simple',
    clientOrderId: clientOrderIdOf(body),
    body: {
      portfolioId,
      symbol,
      assetClass: isOption ? 'OPTION' : 'EQUITY',
      orderType: TYPES[type],
      positionIntent: intent,
      ...size,
      timeInForce: TIMES[time],
      ...given('limitPrice', limitPrice),
      ...given('stopPrice', body.number('stop_price')),
      ...given('trailingAmount', body.number('trail_price')),
      ...given('trailingPercent', body.number('trail_percent')),
      ...(body.flag('extended_hours') && { session: 'EXTENDED' }),
      ...exits,
    },
  };
}

/** Checks the prices that a type requires, with Alpaca's messages. */
function checkPrices(body: Fields, type: keyof typeof TYPES, orderClass: OrderClass): void {
  const [hasLimit, hasStop] = [body.has('limit_price') || orderClass === 'oco', body.has('stop_price')];
  const trails = [body.has('trail_price'), body.has('trail_percent')].filter(Boolean).length;
  for (const name of ['limit_price', 'stop_price'])
    if ((body.number(name) ?? 1) <= 0) throw invalid(`${name.replace('_', ' ')} must be > 0`);
  switch (type) {
    case 'market':
      if (hasStop || (hasLimit && orderClass !== 'oco'))
        throw invalid('market orders require no stop or limit price');
      break;
    case 'limit':
      if (!hasLimit) throw invalid('limit orders require a limit price');
      if (hasStop) throw invalid('limit orders require no stop price');
      break;
    case 'stop':
      if (!hasStop) throw invalid('stop orders require a stop price');
      if (hasLimit) throw invalid('stop orders require no limit price');
      break;
    case 'stop_limit':
      if (!hasLimit || !hasStop) throw invalid('stop limit orders require both stop and limit price');
      break;
    case 'trailing_stop':
      if (trails !== 1)
        throw invalid('trailing stop orders must specify one of trail_percent or trail_price');
      break;
  }
  if (body.flag('extended_hours') && type !== 'limit')
    throw invalid('extended hours order must be DAY or GTC limit orders');
  const isBracket = orderClass === 'bracket' || orderClass === 'oto';
  if (isBracket && type !== 'market' && type !== 'limit')
    throw invalid(`${orderClass} orders must be market or limit orders`);
}

function multiLegBodyOf(
  call: AlpacaCall,
  type: keyof typeof TYPES,
  time: keyof typeof TIMES,
): TranslatedOrder {
  const { body, book } = call;
  const { portfolioId } = book;
  if (type !== 'market' && type !== 'limit')
    throw unprocessable('mleg orders must be market or limit orders');
  if (time !== 'day') throw unprocessable(`time_in_force ${time} is not supported`);
  const { symbol, fields } = legsOf(call);
  const quantity = required(body.number('qty'), 'qty');
  if (!Number.isInteger(quantity) || quantity <= 0) throw invalid('qty must be a whole number > 0');
  return {
    symbol,
    isComplex: true,
    clientOrderId: clientOrderIdOf(body),
    body: {
      portfolioId,
      symbol,
      assetClass: 'OPTION',
      orderType: TYPES[type],
      quantity,
      timeInForce: TIMES[time],
      ...given('limitPrice', body.number('limit_price')),
      ...fields,
    },
  };
}

const CLIENT_ORDER_ID = /^[!-~]{1,128}$/;

/** Any visible characters, whereas `/v1` accepts fewer. */
export function chosenIdIn(body: Fields): string | undefined {
  const id = body.text('client_order_id');
  if (id !== undefined && !CLIENT_ORDER_ID.test(id))
    throw invalid('client_order_id must be 1 to 128 visible characters');
  return id;
}

const clientOrderIdOf = (body: Fields): string => chosenIdIn(body) ?? newId();

/** Fractions of shares are for the day. */
export function checkFraction(quantity: number | undefined, time: string): void {
  if (quantity !== undefined && !Number.isInteger(quantity) && time !== 'DAY')
    throw unprocessable('fractional orders must be DAY orders');
}

const isTime = (text: string): text is keyof typeof TIMES => Object.hasOwn(TIMES, text);

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw invalid(`${name} is required`);
  return value;
}

const given = (name: string, value: number | undefined): Readonly<Record<string, number>> =>
  value === undefined ? {} : { [name]: value };

/** An OCO order closes a position. */
const CLOSES = { buy: 'BUY_TO_CLOSE', sell: 'SELL_TO_CLOSE' } as const;

/**
 * Size of the order. A notional market order uses `/v1`'s notional. Other types divide the notional by their own price, or else by the
 * current price.
 */
async function sizeOf(
  call: AlpacaCall,
  symbol: string,
  side: 'buy' | 'sell',
  type: keyof typeof TYPES,
): Promise<{ readonly quantity: number } | { readonly notional: number }> {
  const { body } = call;
  const quantity = body.number('qty');
  const notional = body.number('notional');
  if (quantity === undefined && notional === undefined) throw invalid('qty or notional is required');
  if (quantity !== undefined && notional !== undefined)
    throw invalid('only one of qty or notional is accepted');
  if (quantity !== undefined && quantity <= 0) throw invalid('qty must be > 0');
  if (quantity !== undefined || notional === undefined) return { quantity: wholeUnits(quantity ?? 0) };
  if (notional <= 0) throw invalid('notional must be > 0');
  if (body.text('time_in_force')?.toLowerCase() !== 'day')
    throw unprocessable('notional orders must be DAY orders');
  if (type === 'market') return { notional };
  const quote = (await quotesOf(call, [symbol])).get(symbol);
  const price =
    body.number('limit_price') ??
    body.number('stop_price') ??
    (side === 'buy' ? quote?.ask : quote?.bid) ??
    quote?.price;
  if (price === undefined || price <= 0)
    throw unprocessable(`no price for ${symbol} to size a notional order by`);
  const shares = sixDecimals(notional / price);
  if (shares <= 0) throw unprocessable('notional is too small');
  return { quantity: shares };
}

/** A quantity in six decimals, of which something must be left. */
export function wholeUnits(quantity: number): number {
  const units = sixDecimals(quantity);
  if (units === 0 && quantity > 0) throw unprocessable('qty is too small');
  return units;
}

function exitsOf(body: Fields, orderClass: OrderClass, time: string): object {
  const profit = body.object('take_profit');
  const stop = body.object('stop_loss');
  if (orderClass === 'oto' ? (profit === undefined) === (stop === undefined) : !profit || !stop) {
    throw invalid(
      orderClass === 'oto'
        ? 'oto orders require exactly one of take_profit or stop_loss'
        : `${orderClass} orders require take_profit.limit_price and stop_loss.stop_price`,
    );
  }
  if (time !== 'DAY' && time !== 'GTC')
    throw unprocessable(`${orderClass} orders require a time_in_force of day or gtc`);
  const stopLimit = stop?.number('limit_price');
  const stopLoss = stop !== undefined && {
    stopLoss: {
      orderType: stopLimit === undefined ? 'STOP' : 'STOP_LIMIT',
      stopPrice: required(stop.number('stop_price'), 'stop_loss.stop_price'),
      ...given('limitPrice', stopLimit),
    },
  };
  if (orderClass === 'oco') {
    required(profit?.number('limit_price'), 'take_profit.limit_price');
    return { ocoConfig: stopLoss };
  }
  return {
    bracketConfig: {
      ...(profit !== undefined && {
        profitTarget: {
          orderType: 'LIMIT',
          limitPrice: required(profit.number('limit_price'), 'take_profit.limit_price'),
        },
      }),
      ...stopLoss,
      timeInForce: time,
    },
  };
}

function refuseInstructions(body: Fields): void {
  if (body.has('advanced_instructions')) throw unprocessable('advanced_instructions are not supported');
}

/** The body that changes an order. An empty string is absent, as Alpaca's Go client sends it. */
export function replacementOf(
  { body }: AlpacaCall,
  { terms, progress }: OrderSnapshot,
): Readonly<Record<string, unknown>> {
  refuseInstructions(body);
  const notional = body.number('notional');
  if (notional !== undefined && notional !== (terms.notional && Number(Money.format(terms.notional))))
    throw unprocessable('notional cannot be replaced');
  const { trailingPercent } = terms;
  const trailingAmount = progress.trailingAmount ?? terms.trailingAmount;
  const distance =
    trailingPercent === undefined
      ? trailingAmount && Number(Price.format(trailingAmount))
      : trailingPercent / PERCENT_UNITS;
  const trail = body.number('trail');
  if (trail !== undefined && trail !== distance) throw unprocessable('trail cannot be replaced');
  const time = body.text('time_in_force')?.toLowerCase();
  if (time !== undefined && !isTime(time)) throw invalid('invalid time_in_force');
  // An order until a date is shown as `gtc`.
  const isShownTime = time === 'gtc' && progress.timeInForce === 'GTD';
  const quantity = body.number('qty');
  return {
    ...(quantity !== undefined && { quantity: wholeUnits(quantity) }),
    ...given('limitPrice', body.number('limit_price')),
    ...given('stopPrice', body.number('stop_price')),
    ...(time !== undefined && !isShownTime && { timeInForce: TIMES[time] }),
  };
}
