/** Reads the journal of a simulation for the orders that execution quality is measured of (D188). */
import type { MeasuredOrder } from '@sandpit/analytics';
import {
  type AssetClass,
  calendarById,
  type HoursId,
  hoursOf,
  Instant,
  marketHours,
  isOrderPlaced,
  type OrderPlaced,
} from '@sandpit/core';
import { type Payload, payloadOf } from '../../engine/records/record-text.js';
import { Slice } from '../../engine/scheduling/slice.js';
import { contractsIn, KnownContracts, namedAt } from './known-contracts.js';
import { MarketTape } from './market-tape.js';
import { OrderMeter, type RefusedOrder } from './order-meter.js';
import type { StudyContext } from './study-context.js';
import { computesQuotes } from '../../feeds/feed.js';

const NEW_YORK = calendarById('XNYS');

/** Hours of orders whose symbol is listed as another class today. */
const USUAL_HOURS = {
  EQUITY: 'EQUITIES',
  OPTION: 'OPTIONS',
  FUTURE: 'FUTURES',
} as const satisfies Record<AssetClass, HoursId>;

/** Orders to measure, and the part of the journal to read. */
export interface MeasuredPart {
  readonly isWanted: (event: OrderPlaced, at: number) => boolean;
  /** Receives orders that were refused with a record; absent = they are not counted. */
  readonly refused?: (order: RefusedOrder, at: number) => void;
  /** Text that every acceptance of a requested order contains. */
  readonly mark: string;
  /** Quotes and orders before it are skipped; 0 = none. */
  readonly afterSeq: number;
  /** Orders accepted in later records are not requested; reading ends once the earlier ones are measured. Absent = read all. */
  readonly lastAcceptedIn?: number;
}

/** Emits every requested order once it is measured. False = the quote of an order is before the part that was read. */
export async function measureOrders(
  context: StudyContext,
  { isWanted, refused, mark, afterSeq, lastAcceptedIn = Infinity }: MeasuredPart,
  done: (order: MeasuredOrder) => void,
): Promise<boolean> {
  const { simulation, source, calendar, ids, ask } = context;
  const now = Instant.ofMs(simulation.now);
  const feed = await context.openFeed();
  const isComputed = computesQuotes(feed);
  const tape = new MarketTape(simulation, source, feed);
  const contracts = new KnownContracts(ask);
  const meter: OrderMeter = new OrderMeter({
    isWanted,
    ...(refused !== undefined && { refused }),
    orderId: (order) => ids.idOf('ORDER', order),
    instrument: (symbol) => contracts.get(symbol),
    hourOf: (at) => Number(NEW_YORK.format(Instant.ofMs(at)).slice(11, 13)),
    sessionEnd: ({ assetClass, symbol, legs }, at) => {
      if (calendar.id === 'always-open') return Infinity;
      const instrument = contracts.get(legs?.[0]?.optionSymbol ?? symbol);
      // A command may have listed the symbol as another class since.
      const isStill = instrument?.assetClass === assetClass;
      const hours = marketHours(calendar, isStill ? hoursOf(instrument) : USUAL_HOURS[assetClass]);
      return hours.nextClose(hours.sessionAt(at) === 'REGULAR' ? 'REGULAR' : 'EXTENDED', at);
    },
    quoteAt: (symbol, at) => (isComputed ? feed.quoteAt(symbol, Instant.ofMs(at)) : undefined),
    recordsTellAll: feed.pastQuotes === undefined,
    ask: (question) => {
      if (!isComputed) tape.ask(question);
      else if (question.at <= now) {
        question.settle(feed.quoteAt(question.symbol, Instant.ofMs(question.at)));
      }
    },
    done,
  });
  const slice = new Slice();
  try {
    for await (const record of source.journal.read(simulation.id, afterSeq)) {
      const { at, seq } = record;
      if (seq > simulation.upTo) break;
      await tape.moveTo(at - 1);
      if (isOfUse(record.payload, mark, meter)) {
        const { quotes = [], events, command } = payloadOf(record);
        await contracts.learn(tradedIn(events, at, isWanted));
        meter.record({ at, quotes, events, command });
        if (meter.isAnyArrivalUnknown && afterSeq > 0) return false;
      }
      if (seq >= lastAcceptedIn && meter.openOrders === 0) break;
      await slice.breathe();
    }
    await tape.moveTo(now);
    const symbols = meter.openSymbols();
    const quotes = symbols.length === 0 ? [] : await ask.quotesNow(symbols);
    meter.finish((symbol) => quotes[symbols.indexOf(symbol)]);
  } finally {
    await tape.close();
  }
  return true;
}

/** Parts of records that contain quotes or splits. */
const QUOTING = ['"quotes":[', '"market":{', '"markets":[', '"ActionDone"'] as const;
const ORDER = /"order":(\d+)/g;

/** True when a record concerns a requested order or a quote. Most other records need no parsing. */
function isOfUse(payload: string, mark: string, meter: OrderMeter): boolean {
  if (payload.includes(mark) || QUOTING.some((part) => payload.includes(part))) return true;
  if (meter.openOrders === 0) return false;
  for (const [, number] of payload.matchAll(ORDER)) if (meter.measures(Number(number))) return true;
  return false;
}

const tradedIn = (
  events: Payload['events'],
  at: number,
  isWanted: MeasuredPart['isWanted'],
): readonly (readonly [string, number])[] =>
  events.flatMap((event) => {
    if (event.type === 'OrderMoved') return namedAt(contractsIn(event), at);
    if (!isOrderPlaced(event) || !isWanted(event, at)) return [];
    const { symbol, legs } = event.request;
    return [symbol, ...(legs ?? []).map(({ optionSymbol }) => optionSymbol)].map((one) => [one, at] as const);
  });
