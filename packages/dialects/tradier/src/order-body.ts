/** Bodies that place orders, translated to those of `/v1`. */
import {
  type Book,
  bracketConfigOf,
  combinationOf,
  type GroupProblem,
  type OrderBody,
  pairOf,
  plainOptionSymbol,
  type RefuseGroup,
  words,
} from '@sandpit/dialect-port';
import { invalid } from './refusals.js';
import { type Fields, symbolIn } from './request.js';

export const ORDER_FIELDS: readonly string[] = words(
  'class symbol option_symbol side quantity type duration price stop tag preview',
  'symbol[] option_symbol[] side[] quantity[] type[] duration[] price[] stop[]',
);

const CLASSES = ['equity', 'option', 'multileg', 'combo', 'oto', 'oco', 'otoco'] as const;
const TYPES = { market: 'MARKET', limit: 'LIMIT', stop: 'STOP', stop_limit: 'STOP_LIMIT' } as const;
const NET_TYPES = ['market', 'debit', 'credit', 'even'] as const;
const DURATIONS = ['day', 'gtc', 'pre', 'post'] as const;
const SHARE_SIDES = {
  buy: 'BUY_TO_OPEN',
  buy_to_cover: 'BUY_TO_CLOSE',
  sell: 'SELL_TO_CLOSE',
  sell_short: 'SELL_TO_OPEN',
} as const;
const OPTION_SIDES = {
  buy_to_open: 'BUY_TO_OPEN',
  buy_to_close: 'BUY_TO_CLOSE',
  sell_to_open: 'SELL_TO_OPEN',
  sell_to_close: 'SELL_TO_CLOSE',
} as const;

type OrderClass = (typeof CLASSES)[number];

/** An order for `/v1`, and what its answer repeats. */
export interface TranslatedOrder {
  readonly orderClass: OrderClass;
  readonly body: OrderBody;
}

const MOST_TAG = 255;

export function orderOf(book: Book, fields: Fields): TranslatedOrder {
  fields.required('class');
  const orderClass = fields.choice('class', CLASSES) ?? 'equity';
  const common = { portfolioId: book.portfolioId, ...tagOf(fields) };
  const body = bodyOf(book, fields, orderClass);
  return { orderClass, body: { ...common, ...body } };
}

function bodyOf(book: Book, fields: Fields, orderClass: OrderClass): OrderBody {
  switch (orderClass) {
    case 'equity':
    case 'option':
      refuseLists(fields);
      return singleOf(book, fields, '', orderClass === 'option');
    case 'multileg':
      return multiLegOf(book, fields);
    case 'combo':
      throw invalid('class', 'combo orders with a share leg are not supported');
    case 'oto':
      return { ...entryOf(book, fields), bracketConfig: exitsOf(book, fields, [1]) };
    case 'otoco':
      return { ...entryOf(book, fields), bracketConfig: exitsOf(book, fields, [1, 2]) };
    case 'oco':
      return pairOf([partOf(book, fields, 0), partOf(book, fields, 1)], refusing([0, 1])).body;
  }
}

function tagOf(fields: Fields): { readonly notes?: string } {
  const tag = fields.text('tag');
  if (tag === undefined) return {};
  if (tag.length > MOST_TAG) throw invalid('tag', `contains more than ${MOST_TAG} characters`);
  if (!/^[A-Za-z0-9-]+$/.test(tag)) throw invalid('tag', 'contains invalid characters');
  return { notes: tag };
}

function refuseLists(fields: Fields): void {
  for (const name of ['symbol', 'option_symbol', 'side', 'quantity', 'type', 'price', 'stop'])
    if (fields.count(name) > 0) throw invalid(`${name}[0]`, 'is not supported for this class');
}

/** One order: the fields themselves, or those of one index. */
function singleOf(book: Book, fields: Fields, index: string, isOption: boolean): OrderBody {
  const name = (plain: string): string => plain + index;
  const optionSymbol = fields.text(name('option_symbol'));
  const symbol = symbolIn(fields.text(name('symbol')) ?? (index === '' ? fields.required('symbol') : ''));
  if (isOption && optionSymbol === undefined) throw invalid(name('option_symbol'), 'is required');
  if (!isOption && optionSymbol !== undefined)
    throw invalid(name('option_symbol'), 'is not supported for equity orders');
  const traded = optionSymbol === undefined ? symbol : contractOf(book, symbol, optionSymbol, name);
  if (traded === '') throw invalid(name('symbol'), 'is required');
  const type = required(fields.choice(name('type'), keysOf(TYPES)), name('type'));
  const quantity = required(fields.number(name('quantity')), name('quantity'));
  if (quantity <= 0) throw invalid(name('quantity'), 'must be greater than 0');
  if (isOption && !Number.isInteger(quantity)) throw invalid(name('quantity'), 'must be a whole number');
  return {
    symbol: traded,
    assetClass: isOption ? 'OPTION' : 'EQUITY',
    orderType: TYPES[type],
    positionIntent: sideOf(fields, name('side'), isOption),
    quantity,
    ...pricesOf(fields, type, name),
    ...timeOf(book, fields, index, type),
  };
}

/** A contract of the symbol that comes with it. */
function contractOf(book: Book, symbol: string, given: string, name: (plain: string) => string): string {
  const contract = book.instrument(plainOptionSymbol(given));
  if (contract?.assetClass !== 'OPTION') throw invalid(name('option_symbol'), 'not found');
  if (symbol !== '' && symbol !== contract.underlying)
    throw invalid(name('symbol'), 'must be the underlying of option_symbol');
  return contract.symbol;
}

function sideOf(fields: Fields, name: string, isOption: boolean): string {
  const table: Readonly<Record<string, string>> = isOption ? OPTION_SIDES : SHARE_SIDES;
  return table[required<string>(fields.choice(name, Object.keys(table)), name)] ?? '';
}

/** Prices that a type has. A market order ignores prices, as Tradier does. */
function pricesOf(fields: Fields, type: keyof typeof TYPES, name: (plain: string) => string): OrderBody {
  const price = (plain: string): number => {
    const value = required(fields.number(name(plain)), name(plain));
    if (value <= 0) throw invalid(name(plain), 'must be greater than 0');
    return value;
  };
  switch (type) {
    case 'market':
      return {};
    case 'limit':
      return { limitPrice: price('price') };
    case 'stop':
      return { stopPrice: price('stop') };
    case 'stop_limit':
      return { limitPrice: price('price'), stopPrice: price('stop') };
  }
}

/** Time in force; `pre` and `post` are limit orders of the day, inside these sessions only. */
function timeOf(book: Book, fields: Fields, index: string, type: string): OrderBody {
  const own = index === '' ? undefined : fields.choice(`duration${index}`, DURATIONS);
  const duration = own ?? required(fields.choice('duration', DURATIONS), 'duration');
  return duration === 'day' || duration === 'gtc'
    ? { timeInForce: duration.toUpperCase() }
    : extendedOf(book, duration, type);
}

export function extendedOf(book: Book, duration: 'pre' | 'post', type: string): OrderBody {
  if (type !== 'limit') throw invalid('duration', `${duration} requires a limit order`);
  const { session } = book.market.hoursAt(book.now());
  if (session !== duration.toUpperCase())
    throw invalid('duration', `${duration}-market orders are not available now`);
  return { timeInForce: 'DAY', session: 'EXTENDED' };
}

function multiLegOf(book: Book, fields: Fields): OrderBody {
  const type = required(fields.choice('type', NET_TYPES), 'type');
  const symbol = symbolIn(fields.required('symbol'));
  const count = fields.count('option_symbol');
  if (count < 2 || count > 4) throw invalid('option_symbol', 'must have 2 to 4 legs');
  if (fields.count('side') > count || fields.count('quantity') > count)
    throw invalid('option_symbol', 'must be given for each leg');
  for (const name of ['type', 'price', 'stop', 'duration'])
    if (fields.count(name) > 0) throw invalid(`${name}[0]`, 'is not supported for this class');
  const duration = required(fields.choice('duration', ['day', 'gtc']), 'duration');
  const legs = Array.from({ length: count }, (_, i) => legOf(book, fields, symbol, i));
  const price = type === 'debit' || type === 'credit' ? required(fields.number('price'), 'price') : 0;
  if (price < 0) throw invalid('price', 'must not be negative');
  const net = type === 'market' ? undefined : type === 'credit' ? -price : price;
  return { ...combinationOf(symbol, legs, net, type === 'credit'), timeInForce: duration.toUpperCase() };
}

function legOf(book: Book, fields: Fields, symbol: string, i: number) {
  const name = (plain: string): string => `${plain}[${i}]`;
  const quantity = required(fields.integer(name('quantity'), 1, 1_000_000), name('quantity'));
  return {
    optionSymbol: contractOf(book, symbol, fields.required(name('option_symbol')), name),
    positionIntent: sideOf(fields, name('side'), true),
    quantity,
  };
}

/** The order that triggers the others. */
function entryOf(book: Book, fields: Fields): OrderBody {
  const entry = partOf(book, fields, 0);
  if (entry['orderType'] === 'MARKET') throw invalid('type[0]', 'must be one of limit, stop, stop_limit');
  return entry;
}

/** Fields of one order of an advanced class. Symbols without an index apply to all orders. */
function partOf(book: Book, fields: Fields, i: number): OrderBody {
  const index = `[${i}]`;
  const isOption = fields.text(`option_symbol${index}`) !== undefined;
  return singleOf(book, fields, index, isOption);
}

/** Words of each problem of an advanced order: the field, without its index, and the reason. */
const PROBLEMS: Readonly<Record<GroupProblem, readonly [field: string, reason: string]>> = {
  SYMBOL: ['symbol', 'must be that of the other orders'],
  QUANTITY: ['quantity', 'must be that of the other orders'],
  SIDE: ['side', 'must close what the first order opens'],
  OPENS: ['side', 'must close a position'],
  OTHER_SIDE: ['side', 'must be that of the other order'],
  TYPE: ['type', 'must be one of limit, stop, stop_limit'],
  SAME_TYPE: ['type', 'must differ from that of the other exit'],
  TIME: ['duration', 'must be that of the other order'],
};

const refusing =
  (indexes: readonly number[]): RefuseGroup =>
  (problem, i) => {
    const [field, reason] = PROBLEMS[problem];
    return invalid(`${field}[${indexes[i] ?? 0}]`, reason);
  };

/** Exits of the first order. */
const exitsOf = (book: Book, fields: Fields, indexes: readonly number[]): OrderBody =>
  bracketConfigOf(
    partOf(book, fields, 0),
    indexes.map((i) => partOf(book, fields, i)),
    refusing(indexes),
  );

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw invalid(name, 'is required');
  return value;
}

const keysOf = <T extends object>(table: T): (keyof T & string)[] =>
  Object.keys(table) as (keyof T & string)[];
