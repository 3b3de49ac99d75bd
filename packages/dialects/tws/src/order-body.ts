/** Orders of clients: the fields of PLACE_ORDER, and their translation to orders of `/v1`. */
import {
  type Book,
  bracketConfigOf,
  closingOf,
  combinationOf,
  type GroupProblem,
  intentOf,
  type OrderBody,
  pairOf,
  type Side,
} from '@sandpit/dialect-port';
import type { Instrument } from '@sandpit/core';
import { type Fields, UNSET_DOUBLE, UNSET_INTEGER } from './codec.js';
import {
  type ContractQuery,
  exchangeOf,
  instrumentIn,
  instrumentOf,
  readContract,
  secTypeOf,
} from './contracts.js';
import { invalid, noContract, TwsRefusal } from './refusals.js';
import { CODE, ORDER, type OrderField, type OrderFields, type OrderPart } from './tables.js';

interface ComboLeg {
  readonly conId: number;
  readonly ratio: number;
  readonly action: string;
}

/** An order as a client has sent it. */
export interface SentOrder {
  readonly orderId: number;
  readonly contract: ContractQuery;
  readonly legs: readonly ComboLeg[];
  readonly fields: OrderFields;
  /** The first field that no order of Sandpit has; undefined = none. */
  readonly unsupported: string | undefined;
}

const UNSET: ReadonlySet<string> = new Set([
  '',
  '0',
  '0.0',
  'false',
  'False',
  UNSET_DOUBLE,
  '1.7976931348623157e+308',
  UNSET_INTEGER,
]);

const isField = (part: OrderPart): part is OrderField => Array.isArray(part);
const KEPT = ORDER.filter(isField).flatMap(([name, use]) => (use === 'kept' ? [name] : []));

/** Reads a message from its order id on. */
export function readOrder(fields: Fields, version: number): SentOrder {
  const orderId = fields.integer();
  const contract = readContract(fields);
  const kept: Record<string, string> = Object.fromEntries(KEPT.map((name) => [name, '']));
  let legs: readonly ComboLeg[] = [];
  let unsupported: string | undefined;
  const refuse = (name: string): void => void (unsupported ??= name);
  const one = ([name, use, ...allowed]: OrderField): void => {
    const text = fields.text();
    if (use === 'kept') kept[name] = text;
    else if (use === 'refused' && !UNSET.has(text) && !allowed.includes(text)) refuse(name);
  };
  // Identifiers of securities that are no contracts of Sandpit.
  one(['secIdType', 'refused']);
  one(['secId', 'refused']);
  for (const part of ORDER) {
    if (isField(part)) one(part);
    else if (typeof part === 'object' && 'field' in part) {
      if ('since' in part ? version >= part.since : version < part.before) one(part.field);
    } else
      switch (part) {
        case 'legs':
          if (contract.secType === 'BAG') legs = readLegs(fields, refuse);
          break;
        case 'delta-neutral': {
          const type = fields.text();
          one(['deltaNeutralAuxPrice', 'refused']);
          if (type === '') break;
          if (!UNSET.has(type) && type !== 'None') refuse('deltaNeutralOrderType');
          fields.skip(8);
          break;
        }
        case 'scale': {
          one(['scaleInitLevelSize', 'refused']);
          one(['scaleSubsLevelSize', 'refused']);
          const increment = fields.number() ?? 0;
          if (increment <= 0) break;
          refuse('scalePriceIncrement');
          fields.skip(7);
          break;
        }
        case 'hedge':
          if (fields.text() === '') break;
          refuse('hedgeType');
          fields.skip();
          break;
        case 'delta-neutral-contract':
          if (!fields.flag()) break;
          refuse('deltaNeutralContract');
          fields.skip(3);
          break;
        case 'algo':
          if (fields.text() === '') break;
          refuse('algoStrategy');
          fields.skip(fields.count(100) * 2);
          break;
        case 'peg-bench':
          if (/^PEG ?BENCH$/.test(kept['orderType'] ?? '')) fields.skip(5);
          break;
        case 'conditions':
          // The fields of conditions depend on their types; such an order is refused without them.
          if (fields.count(100) > 0)
            return {
              orderId,
              contract,
              legs,
              fields: kept as unknown as OrderFields,
              unsupported: unsupported ?? 'conditions',
            };
      }
  }
  return { orderId, contract, legs, fields: kept as unknown as OrderFields, unsupported };
}

const MOST_LEGS = 100;

function readLegs(fields: Fields, refuse: (name: string) => void): readonly ComboLeg[] {
  const legs = Array.from({ length: fields.count(MOST_LEGS) }, () => {
    const leg = { conId: fields.integer(), ratio: fields.integer(), action: fields.text().toUpperCase() };
    fields.skip(5);
    return leg;
  });
  for (let prices = fields.count(MOST_LEGS); prices > 0; prices--)
    if (!UNSET.has(fields.text())) refuse('orderComboLegs');
  // `NonGuaranteed` is how clients route legs; here all legs execute together.
  fields.skip(fields.count(MOST_LEGS) * 2);
  return legs;
}

const TYPES: Readonly<Record<string, string>> = {
  MKT: 'MARKET',
  LMT: 'LIMIT',
  STP: 'STOP',
  'STP LMT': 'STOP_LIMIT',
  TRAIL: 'TRAILING_STOP',
  'TRAIL LIMIT': 'TRAILING_STOP_LIMIT',
  MOC: 'MARKET',
  LOC: 'LIMIT',
};
const ALIASES: Readonly<Record<string, string>> = {
  STPLMT: 'STP LMT',
  TRAILLMT: 'TRAIL LIMIT',
  STP_LMT: 'STP LMT',
};
const TIMES: ReadonlySet<string> = new Set(['DAY', 'GTC', 'IOC', 'FOK', 'GTD', 'OPG']);
const CLASSES: Readonly<Record<string, string>> = { STK: 'EQUITY', OPT: 'OPTION', FUT: 'FUTURE' };

export const typeOf = ({ orderType }: OrderFields): string => {
  const name = orderType.toUpperCase().trim();
  return ALIASES[name] ?? name;
};

function numberIn(text: string, name: string): number | undefined {
  if (UNSET.has(text) && !/^0/.test(text)) return undefined;
  const value = Number(text);
  if (text.length > 40 || !Number.isFinite(value)) throw invalid(`${name} is not a number`);
  return value;
}

const price = (
  fields: OrderFields,
  name: 'lmtPrice' | 'auxPrice' | 'trailingPercent' | 'lmtPriceOffset' | 'cashQty',
): number | undefined => {
  const value = numberIn(fields[name], name);
  return value === 0 && name !== 'lmtPrice' ? undefined : value;
};

/** Whole dollars and fractions of one price step, without the noise of binary fractions. */
const rounded = (value: number): number => Math.round(value * 1e8) / 1e8;

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw invalid(`${name} is required for this order type`);
  return value;
}

export function sideOf({ action }: OrderFields): Side {
  const side = action.toUpperCase();
  if (side !== 'BUY' && side !== 'SELL') throw invalid(`action ${action.slice(0, 10)} is not supported`);
  return side;
}

/** Prices of a type, by their names in `/v1`. */
export function pricesOf(fields: OrderFields): OrderBody {
  const [limit, aux] = [price(fields, 'lmtPrice'), price(fields, 'auxPrice')];
  switch (typeOf(fields)) {
    case 'LMT':
    case 'LOC':
      return { limitPrice: required(limit, 'lmtPrice') };
    case 'STP':
      return { stopPrice: required(aux, 'auxPrice') };
    case 'STP LMT':
      return { limitPrice: required(limit, 'lmtPrice'), stopPrice: required(aux, 'auxPrice') };
    case 'TRAIL':
      return distanceOf(fields);
    case 'TRAIL LIMIT': {
      const offset = price(fields, 'lmtPriceOffset');
      const stop = numberIn(fields.trailStopPrice, 'trailStopPrice');
      const limitPrice =
        offset === undefined || stop === undefined
          ? required(limit, 'lmtPrice')
          : rounded(sideOf(fields) === 'SELL' ? stop - offset : stop + offset);
      return { limitPrice, ...distanceOf(fields) };
    }
    default:
      return {};
  }
}

function distanceOf(fields: OrderFields): OrderBody {
  const [percent, amount] = [price(fields, 'trailingPercent'), price(fields, 'auxPrice')];
  if (percent !== undefined) return { trailingPercent: percent };
  return { trailingAmount: required(amount, 'auxPrice or trailingPercent') };
}

/** Time in force, with the end of GTD. */
export function timeOf(fields: OrderFields): OrderBody {
  const tif = fields.tif === '' ? 'DAY' : fields.tif.toUpperCase();
  const type = typeOf(fields);
  if (!TIMES.has(tif)) throw invalid(`time in force ${tif.slice(0, 10)} is not supported`);
  if (type === 'MOC' || type === 'LOC') {
    if (tif !== 'DAY') throw new TwsRefusal(113, 'Order TIF should be DAY for MOC and LOC orders.');
    return { timeInForce: 'CLS' };
  }
  if (tif !== 'GTD') {
    if (fields.goodTillDate !== '') throw invalid('goodTillDate is only for orders GTD');
    return { timeInForce: tif };
  }
  // `20261231 16:00:00 US/Eastern`, or `20261231-21:00:00` in UTC.
  const [, year, month, day, separator, clock, zone = ''] =
    /^(\d{4})(\d\d)(\d\d)(?:([ -])(\d\d:\d\d:\d\d)(?: (\S+))?)?$/.exec(fields.goodTillDate.trim()) ?? [];
  if (year === undefined || !['', 'US/Eastern', 'America/New_York', 'EST', 'EST5EDT'].includes(zone))
    throw invalid('goodTillDate is not a time such as 20261231 16:00:00 US/Eastern');
  const date = `${year}-${month ?? ''}-${day ?? ''}`;
  const end = clock === undefined ? date : `${date}T${clock}${separator === '-' ? 'Z' : ''}`;
  return { timeInForce: tif, goodTillDate: end };
}

function quantityIn(fields: OrderFields): OrderBody {
  const cash = price(fields, 'cashQty');
  const quantity = numberIn(fields.totalQuantity, 'totalQuantity') ?? 0;
  if (cash !== undefined && quantity === 0) return { notional: cash };
  if (cash !== undefined) throw invalid('cashQty and totalQuantity exclude each other');
  if (quantity <= 0) throw new TwsRefusal(CODE.NO_QUANTITY, 'The order size cannot be zero.');
  return { quantity };
}

/** Refuses what no order of Sandpit has. */
function checkSupported({ fields, unsupported, contract, orderId }: SentOrder): void {
  if (orderId <= 0) throw invalid('the order id must be positive');
  const type = typeOf(fields);
  if (TYPES[type] === undefined)
    throw new TwsRefusal(
      CODE.ORDER_TYPE,
      `Unsupported order type for this exchange and security type: ${type.slice(0, 20)}`,
    );
  if (unsupported !== undefined) throw invalid(`${unsupported} is not supported`);
  if (contract.exchange === '') throw invalid('Please specify an exchange');
}

const MOST_NOTES = 4000;

function notesOf({ orderRef }: OrderFields): OrderBody {
  if (orderRef === '') return {};
  if (orderRef.length > MOST_NOTES) throw invalid('orderRef is too long');
  return { notes: orderRef };
}

/** The order of one instrument, without its id. */
export async function bodyOf(book: Book, sent: SentOrder): Promise<OrderBody> {
  checkSupported(sent);
  const { contract, fields } = sent;
  if (contract.secType === 'BAG') return bagBody(book, sent);
  const instrument = await instrumentIn(book, contract);
  const assetClass = CLASSES[secTypeOf(instrument)];
  if (assetClass === undefined) throw noContract('an index cannot be traded');
  if (secTypeOf(instrument) !== 'FUT' && contract.exchange !== exchangeOf(instrument))
    throw noContract(`orders are routed to ${exchangeOf(instrument)} only`);
  const { symbol } = instrument;
  return {
    portfolioId: book.portfolioId,
    symbol,
    assetClass,
    orderType: TYPES[typeOf(fields)],
    positionIntent: intentOf(book, symbol, sideOf(fields)),
    ...quantityIn(fields),
    ...pricesOf(fields),
    ...timeOf(fields),
    ...notesOf(fields),
    ...(isSet(fields.outsideRth) && sessionOf(instrument, fields)),
  };
}

export const isSet = (text: string): boolean => !UNSET.has(text);

/** Orders outside of regular hours. Futures trade in all hours of their session in any case. */
function sessionOf({ assetClass }: Instrument, fields: OrderFields): OrderBody {
  if (assetClass === 'FUTURE') return {};
  if (assetClass !== 'EQUITY' || typeOf(fields) !== 'LMT')
    throw invalid('outsideRth is only available for LMT orders of stocks');
  return { session: 'EXTENDED' };
}

/** Net price of a multi-leg order as a purchase of its legs: a sale of the combination sells these. */
export const netOf = (fields: OrderFields): number | undefined => {
  const limit = price(fields, 'lmtPrice');
  if (typeOf(fields) !== 'LMT') return undefined;
  return sideOf(fields) === 'BUY' ? required(limit, 'lmtPrice') : 0 - required(limit, 'lmtPrice');
};

async function bagBody(book: Book, { legs, fields }: SentOrder): Promise<OrderBody> {
  const type = typeOf(fields);
  if (type !== 'MKT' && type !== 'LMT')
    throw new TwsRefusal(
      CODE.ORDER_TYPE,
      'Unsupported order type for a combination: MKT and LMT are available',
    );
  if (legs.length < 2 || legs.length > 4) throw invalid('a combination has 2 to 4 legs');
  if (isSet(fields.outsideRth)) throw invalid('outsideRth is not available for combinations');
  const isSold = sideOf(fields) === 'SELL';
  const found = [];
  for (const { conId, ratio, action } of legs) {
    const instrument = await instrumentOf(book, conId);
    if (instrument === undefined) throw noContract(`conId ${conId} of a leg`);
    if (instrument.assetClass !== 'OPTION') throw invalid('a combination has legs of options only');
    if (action !== 'BUY' && action !== 'SELL') throw invalid('the action of a leg is BUY or SELL');
    const side = (action === 'BUY') === isSold ? 'SELL' : 'BUY';
    const positionIntent = intentOf(book, instrument.symbol, side);
    found.push({
      optionSymbol: instrument.symbol,
      underlying: instrument.underlying,
      positionIntent,
      quantity: ratio,
    });
  }
  return {
    portfolioId: book.portfolioId,
    ...combinationOf(found[0]?.underlying ?? '', found, netOf(fields)),
    ...quantityIn(fields),
    ...timeOf(fields),
    ...notesOf(fields),
  };
}

/** An order of a group, with its translation. */
interface Member {
  readonly sent: SentOrder;
  readonly body: OrderBody;
}

/** Words of each problem of orders that belong together. */
const PROBLEMS: Readonly<Record<GroupProblem, string>> = {
  SYMBOL: 'orders that belong together must have one contract and quantity',
  QUANTITY: 'orders that belong together must have one contract and quantity',
  SIDE: 'an attached order must close what its parent opens',
  OPENS: 'orders of an OCA group must close a position',
  OTHER_SIDE: 'orders of an OCA group must have one action',
  TYPE: 'orders that belong together are at most one LMT and one STP or STP LMT',
  SAME_TYPE: 'orders that belong together are at most one LMT and one STP or STP LMT',
  TIME: 'orders that belong together must have one time in force',
};

const refuse = (problem: GroupProblem): TwsRefusal => invalid(PROBLEMS[problem]);

function checkSession(members: readonly Member[]): void {
  if (members.some(({ body }) => body['session'] !== undefined))
    throw invalid('outsideRth is not available for attached orders');
}

/** An order and the exits that it triggers: at most one target and one stop. */
export function withExits(
  entry: OrderBody,
  exits: readonly Member[],
): { readonly body: OrderBody; readonly target: number; readonly stop: number } {
  checkSession(exits);
  const closing = closingOf(String(entry['positionIntent']));
  // An exit has a side alone, and nothing to close yet.
  const closed = exits.map(({ body, sent }) =>
    closing.startsWith(sideOf(sent.fields)) ? { ...body, positionIntent: closing } : body,
  );
  const bracketConfig = bracketConfigOf(entry, closed, refuse);
  const idOf = (isTarget: boolean): number =>
    exits.find(({ body }) => (body['orderType'] === 'LIMIT') === isTarget)?.sent.orderId ?? 0;
  return { body: { ...entry, bracketConfig }, target: idOf(true), stop: idOf(false) };
}

/** Two closing orders of which one cancels the other. */
export function groupOf(
  first: Member,
  second: Member,
): { readonly body: OrderBody; readonly limit: SentOrder; readonly stop: SentOrder } {
  checkSession([first, second]);
  const { body, limitIndex } = pairOf([first.body, second.body], refuse);
  const [limit, stop] = limitIndex === 0 ? [first, second] : [second, first];
  return { body, limit: limit.sent, stop: stop.sent };
}
