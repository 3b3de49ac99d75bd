/** Bodies that place and replace orders, translated to those of `/v1`. */
import { TradingDate } from '@sandpit/core';
import {
  type Book,
  bracketConfigOf,
  combinationOf,
  type GroupProblem,
  type Head,
  type OrderBody,
  pairOf,
  words,
} from '@sandpit/dialect-port';
import { invalid, type SchwabRefusal } from './refusals.js';
import { timeIn } from './request.js';
import { instrumentIn } from './symbols.js';

/** An order for `/v1`, and its kind at Schwab. */
export interface TranslatedOrder {
  readonly kind: 'SINGLE' | 'TRIGGER' | 'OCO';
  readonly body: OrderBody;
}

/** Results that clients send back with an order that they have read. */
const RESULTS: readonly string[] = words(
  'filledQuantity remainingQuantity orderId cancelable editable status statusDescription enteredTime',
  'closeTime tag accountNumber orderActivityCollection replacingOrderCollection',
);
const ORDER_FIELDS: readonly string[] = words(
  'session duration orderType cancelTime complexOrderStrategyType quantity price stopPrice',
  'stopPriceLinkBasis stopPriceLinkType stopPriceOffset stopType taxLotMethod specialInstruction',
  'requestedDestination destinationLinkName orderStrategyType orderLegCollection childOrderStrategies',
);
const LEG_FIELDS: readonly string[] = words(
  'instruction quantity instrument orderLegType legId positionEffect quantityType',
);
const INSTRUMENT_FIELDS: readonly string[] = words(
  'symbol assetType cusip description instrumentId netChange type putCall underlyingSymbol optionMultiplier',
  'optionDeliverables optionExpirationDate optionStrikePrice',
);

const SHARE_INSTRUCTIONS: Readonly<Record<string, string>> = {
  BUY: 'BUY_TO_OPEN',
  SELL: 'SELL_TO_CLOSE',
  SELL_SHORT: 'SELL_TO_OPEN',
  BUY_TO_COVER: 'BUY_TO_CLOSE',
};
const OPTION_INSTRUCTIONS: Readonly<Record<string, string>> = {
  BUY_TO_OPEN: 'BUY_TO_OPEN',
  BUY_TO_CLOSE: 'BUY_TO_CLOSE',
  SELL_TO_OPEN: 'SELL_TO_OPEN',
  SELL_TO_CLOSE: 'SELL_TO_CLOSE',
};
const TYPES = words(
  'MARKET LIMIT STOP STOP_LIMIT TRAILING_STOP TRAILING_STOP_LIMIT MARKET_ON_CLOSE LIMIT_ON_CLOSE NET_DEBIT',
  'NET_CREDIT NET_ZERO',
);
const DURATIONS = words(
  'DAY GOOD_TILL_CANCEL FILL_OR_KILL IMMEDIATE_OR_CANCEL END_OF_WEEK END_OF_MONTH NEXT_END_OF_MONTH',
);
const STRATEGY_NAMES = words(
  'NONE COVERED VERTICAL BACK_RATIO CALENDAR DIAGONAL STRADDLE STRANGLE COLLAR_SYNTHETIC BUTTERFLY CONDOR',
  'IRON_CONDOR VERTICAL_ROLL COLLAR_WITH_STOCK DOUBLE_DIAGONAL UNBALANCED_BUTTERFLY UNBALANCED_CONDOR',
  'UNBALANCED_IRON_CONDOR UNBALANCED_VERTICAL_ROLL CUSTOM',
);
const MOST_LEGS = 4;

/** One object of a body, read strictly: an unknown field is refused, null is absent. */
class Part {
  readonly #fields: OrderBody;
  readonly #head: Head;

  constructor(head: Head, name: string, given: unknown, known: readonly string[]) {
    this.#head = head;
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw invalid(head, name, 'must be an object');
    this.#fields = given as OrderBody;
    for (const [field, value] of Object.entries(this.#fields))
      if (!known.includes(field) && value !== null && value !== undefined)
        throw invalid(head, /^\w{1,40}$/.test(field) ? field : 'a field', 'is not supported');
  }

  bad(name: string, reason: string): SchwabRefusal {
    return invalid(this.#head, name, reason);
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? (this.#fields[name] ?? undefined) : undefined;
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || (typeof value === 'string' && value.length <= 100)) return value;
    throw this.bad(name, 'must be a text');
  }

  word<const Words extends readonly string[]>(name: string, words: Words): Words[number] | undefined {
    const value = this.text(name);
    if (value === undefined || words.includes(value)) return value;
    throw this.bad(name, `must be one of ${words.join(', ')}`);
  }

  /** A number, or the text of one. */
  number(name: string): number | undefined {
    const value = this.value(name);
    const isText = typeof value === 'string' && /^\d{1,15}(?:\.\d{1,12})?$/.test(value);
    const number = isText ? Number(value) : value;
    if (number === undefined || (typeof number === 'number' && Number.isFinite(number))) return number;
    throw this.bad(name, 'must be a number');
  }

  /** A price above 0. Some clients send 0 for none. */
  price(name: string): number | undefined {
    const price = this.number(name);
    if (price === undefined || price > 0) return price;
    throw this.bad(name, 'must be greater than 0');
  }

  required<T>(name: string, value: T | undefined): T {
    if (value === undefined) throw this.bad(name, 'is required');
    return value;
  }

  list(name: string): readonly unknown[] {
    const value = this.value(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.bad(name, 'must be a list');
    return value as readonly unknown[];
  }
}

export function orderOf(book: Book, head: Head, given: unknown): TranslatedOrder {
  const part = new Part(head, 'the body', given, [...ORDER_FIELDS, ...RESULTS]);
  const kind = part.word('orderStrategyType', ['SINGLE', 'TRIGGER', 'OCO']);
  if (kind === undefined) throw part.bad('orderStrategyType', 'is required');
  const children = part.list('childOrderStrategies');
  if (kind === 'SINGLE' && children.length > 0)
    throw part.bad('childOrderStrategies', 'are for TRIGGER and OCO orders');
  const body = kind === 'OCO' ? ocoOf(book, head, part) : plainOf(book, head, part);
  return {
    kind,
    body: {
      portfolioId: book.portfolioId,
      ...body,
      ...(kind === 'TRIGGER' && { bracketConfig: exitsOf(book, head, part, body) }),
    },
  };
}

/** Children, each read as a plain order. */
function ordersIn(book: Book, head: Head, children: readonly unknown[]): readonly OrderBody[] {
  return children.map((child) => {
    const part = new Part(head, 'childOrderStrategies', child, [...ORDER_FIELDS, ...RESULTS]);
    const kind = part.word('orderStrategyType', ['SINGLE', 'TRIGGER', 'OCO']) ?? 'SINGLE';
    if (kind !== 'SINGLE' || part.list('childOrderStrategies').length > 0)
      throw part.bad('childOrderStrategies', 'may not have children of their own here');
    const body = plainOf(book, head, part);
    if (body['session'] !== undefined) throw part.bad('session', 'of a child order must be NORMAL');
    return body;
  });
}

/** Exits of an entry: one order, or an OCO pair. Anything else that an order could trigger is not simulated (D277). */
function exitsOf(book: Book, head: Head, part: Part, entry: OrderBody): OrderBody {
  const children = part.list('childOrderStrategies');
  const only = children.length === 1 ? children[0] : undefined;
  if (only === undefined) throw part.bad('childOrderStrategies', 'must be one order or one OCO pair');
  const child = new Part(head, 'childOrderStrategies', only, [...ORDER_FIELDS, ...RESULTS]);
  const isPair = child.value('orderStrategyType') === 'OCO';
  if (isPair) refuseLegs(child);
  const exits = ordersIn(book, head, isPair ? child.list('childOrderStrategies') : [only]);
  if (isPair && exits.length !== 2) throw child.bad('childOrderStrategies', 'of OCO must be two orders');
  return bracketConfigOf(entry, exits, (problem) => part.bad(...PROBLEMS[problem]));
}

/** Words of each problem of orders that belong together. */
const PROBLEMS: Readonly<Record<GroupProblem, readonly [name: string, reason: string]>> = {
  SYMBOL: ['childOrderStrategies', 'must have the same symbol and one leg each'],
  QUANTITY: ['childOrderStrategies', 'must have the same quantity'],
  SIDE: ['childOrderStrategies', 'must close what the first order opens: others are not supported'],
  OPENS: ['childOrderStrategies', 'of OCO must close a position'],
  OTHER_SIDE: ['childOrderStrategies', 'must have the same positionIntent'],
  TYPE: ['orderType', 'of an exit must be LIMIT, STOP or STOP_LIMIT'],
  SAME_TYPE: ['orderType', 'must differ from that of the other exit: one is LIMIT, one STOP or STOP_LIMIT'],
  TIME: ['duration', 'must be that of the other exit'],
};

/** An OCO order has no legs of its own. */
function refuseLegs(part: Part): void {
  for (const name of ['orderLegCollection', 'price', 'stopPrice', 'orderType'])
    if (part.value(name) !== undefined) throw part.bad(name, 'is not supported for OCO');
}

/** Two orders that cancel each other: both close one position. */
function ocoOf(book: Book, head: Head, part: Part): OrderBody {
  refuseLegs(part);
  const [first, second, ...more] = ordersIn(book, head, part.list('childOrderStrategies'));
  if (first === undefined || second === undefined || more.length > 0)
    throw part.bad('childOrderStrategies', 'of OCO must be two orders');
  return pairOf([first, second], (problem) => part.bad(...PROBLEMS[problem])).body;
}

interface Leg {
  readonly symbol: string;
  readonly underlying: string | undefined;
  readonly positionIntent: string;
  readonly quantity: number;
  readonly isDollars: boolean;
}

/** An order by itself. */
function plainOf(book: Book, head: Head, part: Part): OrderBody {
  checkFixed(part);
  const type = part.required('orderType', part.word('orderType', TYPES));
  const given = part.list('orderLegCollection');
  if (given.length < 1 || given.length > MOST_LEGS)
    throw part.bad('orderLegCollection', `must have 1 to ${MOST_LEGS} legs`);
  const legs = given.map((leg) => legOf(book, head, leg));
  const times = timeOf(book, head, part, type);
  const [leg] = legs;
  if (leg !== undefined && legs.length === 1) return singleOf(part, type, leg, times);
  return multiLegOf(part, type, legs, times);
}

/** Fields that are accepted only with the default behavior. */
function checkFixed(part: Part): void {
  part.word('complexOrderStrategyType', STRATEGY_NAMES);
  part.word('taxLotMethod', ['FIFO']);
  part.word('specialInstruction', ['DO_NOT_REDUCE']);
  part.word('requestedDestination', ['AUTO']);
  part.word('destinationLinkName', ['AUTO']);
  part.word('stopType', ['STANDARD', 'LAST', 'BID', 'ASK', 'MARK']);
}

function legOf(book: Book, head: Head, given: unknown): Leg {
  const part = new Part(head, 'orderLegCollection', given, LEG_FIELDS);
  const named = new Part(head, 'instrument', part.value('instrument'), INSTRUMENT_FIELDS);
  const assetType = named.required('assetType', named.text('assetType'));
  if (!['EQUITY', 'OPTION', 'COLLECTIVE_INVESTMENT'].includes(assetType))
    throw named.bad('assetType', 'must be EQUITY or OPTION: others are not supported');
  const instrument = instrumentIn(book, named.required('symbol', named.text('symbol')));
  const assetClass = assetType === 'OPTION' ? 'OPTION' : 'EQUITY';
  if (instrument?.assetClass !== assetClass) throw named.bad('symbol', `is not a listed ${assetClass}`);
  const table = assetClass === 'OPTION' ? OPTION_INSTRUCTIONS : SHARE_INSTRUCTIONS;
  const instruction = part.required('instruction', part.word('instruction', Object.keys(table)));
  const positionIntent = table[instruction] ?? '';
  const effect = part.word('positionEffect', ['OPENING', 'CLOSING', 'AUTOMATIC']) ?? 'AUTOMATIC';
  if (effect !== 'AUTOMATIC' && effect !== (positionIntent.endsWith('OPEN') ? 'OPENING' : 'CLOSING'))
    throw part.bad('positionEffect', `contradicts ${instruction}`);
  const quantity = part.required('quantity', part.price('quantity'));
  if (assetClass === 'OPTION' && !Number.isInteger(quantity))
    throw part.bad('quantity', 'must be a whole number');
  return {
    symbol: instrument.symbol,
    underlying: instrument.assetClass === 'OPTION' ? instrument.underlying : undefined,
    positionIntent,
    quantity,
    isDollars: part.word('quantityType', ['SHARES', 'DOLLARS']) === 'DOLLARS',
  };
}

function singleOf(part: Part, type: (typeof TYPES)[number], leg: Leg, times: OrderBody): OrderBody {
  const { symbol, underlying, positionIntent, quantity, isDollars } = leg;
  if ((part.number('quantity') ?? quantity) !== quantity)
    throw part.bad('quantity', 'must be that of the leg');
  return {
    symbol,
    assetClass: underlying === undefined ? 'EQUITY' : 'OPTION',
    positionIntent,
    ...(isDollars ? { notional: quantity } : { quantity }),
    ...pricesOf(part, type),
    ...times,
  };
}

function pricesOf(part: Part, type: (typeof TYPES)[number]): OrderBody {
  const limit = part.price('price');
  const stop = part.price('stopPrice');
  const refuse = (name: string, value: unknown): void => {
    if (value !== undefined) throw part.bad(name, `is not supported for ${type} orders`);
  };
  const isTrailing = type === 'TRAILING_STOP' || type === 'TRAILING_STOP_LIMIT';
  if (!isTrailing)
    for (const name of ['stopPriceOffset', 'stopPriceLinkType', 'stopPriceLinkBasis'])
      refuse(name, part.value(name));
  const hasLimit = /LIMIT/.test(type);
  const hasStop = type === 'STOP' || type === 'STOP_LIMIT';
  if (!hasLimit) refuse('price', limit);
  if (!hasStop) refuse('stopPrice', stop);
  const prices = {
    ...(hasLimit && { limitPrice: part.required('price', limit) }),
    ...(hasStop && { stopPrice: part.required('stopPrice', stop) }),
  };
  switch (type) {
    case 'NET_DEBIT':
    case 'NET_CREDIT':
    case 'NET_ZERO':
      throw part.bad('orderType', `${type} is for orders with several legs`);
    case 'MARKET_ON_CLOSE':
      return { orderType: 'MARKET' };
    case 'LIMIT_ON_CLOSE':
      return { orderType: 'LIMIT', ...prices };
    case 'TRAILING_STOP':
    case 'TRAILING_STOP_LIMIT': {
      part.word('stopPriceLinkBasis', ['LAST', 'BID', 'ASK', 'ASK_BID', 'MARK']);
      const isPercent = part.word('stopPriceLinkType', ['VALUE', 'PERCENT']) === 'PERCENT';
      const offset = part.required('stopPriceOffset', part.price('stopPriceOffset'));
      return { orderType: type, ...prices, [isPercent ? 'trailingPercent' : 'trailingAmount']: offset };
    }
    default:
      return { orderType: type, ...prices };
  }
}

const FRIDAY = 5;

/** Time in force, with the date of orders that end with a week or a month. */
function timeOf(book: Book, head: Head, part: Part, type: string): OrderBody {
  const duration = part.required('duration', part.word('duration', DURATIONS));
  const session = part.word('session', ['NORMAL', 'AM', 'PM', 'SEAMLESS']) ?? 'NORMAL';
  if (session !== 'NORMAL') checkExtended(book, part, session, type);
  const hours = session === 'NORMAL' ? {} : { session: 'EXTENDED' };
  const until = part.text('cancelTime');
  if (until !== undefined && duration !== 'GOOD_TILL_CANCEL')
    throw part.bad('cancelTime', 'is for GOOD_TILL_CANCEL orders');
  if (/_ON_CLOSE$/.test(type)) {
    if (duration !== 'DAY' || session !== 'NORMAL')
      throw part.bad('duration', `of ${type} must be DAY, with the session NORMAL`);
    return { timeInForce: 'CLS' };
  }
  const goodTill = (goodTillDate: string): OrderBody => ({ timeInForce: 'GTD', goodTillDate, ...hours });
  const today = book.calendar.dateOf(book.now());
  const [year = 0, month = 0] = today.split('-').map(Number);
  switch (duration) {
    case 'DAY':
      return { timeInForce: 'DAY', ...hours };
    case 'GOOD_TILL_CANCEL':
      if (until === undefined) return { timeInForce: 'GTC', ...hours };
      return goodTill(new Date(timeIn(head, 'cancelTime', until, true)).toISOString());
    case 'FILL_OR_KILL':
      return { timeInForce: 'FOK', ...hours };
    case 'IMMEDIATE_OR_CANCEL':
      return { timeInForce: 'IOC', ...hours };
    case 'END_OF_WEEK': {
      const days = (FRIDAY - new Date(today).getUTCDay() + 7) % 7;
      return goodTill(lastTradingDay(book, TradingDate.plusDays(today, days)));
    }
    case 'END_OF_MONTH':
      return goodTill(lastTradingDay(book, lastOfMonth(year, month)));
    case 'NEXT_END_OF_MONTH':
      return goodTill(lastTradingDay(book, lastOfMonth(year, month + 1)));
  }
}

const lastOfMonth = (year: number, month: number): TradingDate =>
  TradingDate.of(new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10));

const lastTradingDay = ({ calendar }: Book, date: TradingDate): TradingDate =>
  calendar.isTradingDay(date) ? date : calendar.previousTradingDay(date);

/** `/v1` has one extended session: AM and PM orders are accepted during these sessions alone. */
function checkExtended(book: Book, part: Part, session: 'AM' | 'PM' | 'SEAMLESS', type: string): void {
  if (type !== 'LIMIT') throw part.bad('session', `${session} requires a LIMIT order`);
  if (session === 'SEAMLESS') return;
  const now = book.market.hoursAt(book.now()).session;
  if (now !== (session === 'AM' ? 'PRE' : 'POST'))
    throw part.bad('session', `${session} is accepted during that session only`);
}

/** An order with several option legs, at the net price of one unit. */
function multiLegOf(
  part: Part,
  type: (typeof TYPES)[number],
  legs: readonly Leg[],
  times: OrderBody,
): OrderBody {
  const [first] = legs;
  const symbol = first?.underlying;
  if (symbol === undefined || legs.some(({ underlying }) => underlying === undefined))
    throw part.bad('orderLegCollection', 'may not join shares with other legs');
  if (legs.some(({ underlying }) => underlying !== symbol))
    throw part.bad('orderLegCollection', 'must be on one underlying');
  const isMarket = type === 'MARKET';
  if (!isMarket && !type.startsWith('NET_'))
    throw part.bad('orderType', 'must be NET_DEBIT, NET_CREDIT, NET_ZERO or MARKET for several legs');
  for (const name of ['stopPrice', 'stopPriceOffset', 'stopPriceLinkType', 'stopPriceLinkBasis'])
    if (part.value(name) !== undefined) throw part.bad(name, 'is not supported for several legs');
  const units = legs.map(({ quantity }) => quantity).reduce(commonDivisor);
  const given = part.number('quantity');
  if (given !== undefined && given !== units)
    throw part.bad('quantity', 'must be the number of units of the legs');
  const priceOf = (): number => {
    if (type === 'NET_ZERO') {
      if ((part.number('price') ?? 0) !== 0) throw part.bad('price', 'must be 0 for NET_ZERO');
      return 0;
    }
    const price = part.required('price', part.number('price'));
    if (price < 0) throw part.bad('price', 'must not be negative');
    return type === 'NET_CREDIT' && price !== 0 ? -price : price;
  };
  if (isMarket && part.value('price') !== undefined)
    throw part.bad('price', 'is not supported for MARKET orders');
  const shaped = legs.map((leg) => ({ ...leg, optionSymbol: leg.symbol }));
  return {
    ...combinationOf(symbol, shaped, isMarket ? undefined : priceOf(), type === 'NET_CREDIT'),
    ...times,
  };
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));
