/** Reads the journal of a simulation for the orders that execution quality is measured of (D188). */
import type { MeasuredOrder } from '@sandpit/analytics';
import { calendarById, Instant, type OrderAccepted, type Quote } from '@sandpit/core';
import { payloadOf } from '../../engine/record-text.js';
import type { Simulation } from '../../engine/simulation.js';
import { Slice } from '../../engine/slice.js';
import { MarketTape } from './market-tape.js';
import { OrderMeter, quotedOf } from './order-meter.js';

const NEW_YORK = calendarById('XNYS');

/** Which orders are measured, and which part of the journal has to be read for it. */
export interface MeasuredPart {
  readonly isWanted: (event: OrderAccepted, at: number) => boolean;
  /** Quotes and orders before it are left out; 0 = none. */
  readonly afterSeq: number;
  /** The last order that is wanted was accepted in this record; reading ends once it is measured. Absent = read all. */
  readonly lastAcceptedIn?: number;
}

/**
 * Hands out every wanted order once it is measured. Others have the event loop in between. False = the quote that an order met lies
 * before the part that was read.
 */
export async function measureOrders(
  simulation: Simulation,
  { isWanted, afterSeq, lastAcceptedIn = Infinity }: MeasuredPart,
  quoteNow: (symbol: string) => Quote | undefined,
  done: (order: MeasuredOrder) => void,
): Promise<boolean> {
  const { brokerage, feed, journal } = simulation;
  const { calendar } = brokerage.rules;
  const now = simulation.now();
  const isComputed = feed.kind === 'synthetic';
  const tape = new MarketTape(simulation);
  const meter: OrderMeter = new OrderMeter({
    isWanted,
    orderId: (order) => brokerage.state.ids.idOf('ORDER', order),
    instrument: (symbol, at) => brokerage.instrument(symbol, at),
    hourOf: (at) => Number(NEW_YORK.format(Instant.ofMs(at)).slice(11, 13)),
    sessionEnd: (terms, at) => {
      if (calendar.id === 'always-open') return Infinity;
      const hours = brokerage.hours(terms);
      return hours.nextClose(hours.sessionAt(at) === 'REGULAR' ? 'REGULAR' : 'EXTENDED', at);
    },
    quoteAt: (symbol, at) => (isComputed ? feed.quoteAt(symbol, Instant.ofMs(at)) : undefined),
    recordsTellAll: feed.pastQuotes === undefined,
    ask: (question) => {
      if (!isComputed) tape.ask(question);
      else if (question.at <= now) {
        const quote = feed.quoteAt(question.symbol, Instant.ofMs(question.at));
        question.settle(quote === undefined ? undefined : quotedOf(quote));
      }
    },
    done,
  });
  const slice = new Slice();
  try {
    for await (const record of journal.read(simulation.id, afterSeq)) {
      const { at, seq } = record;
      await tape.moveTo(at - 1);
      const { quotes = [], events } = payloadOf(record);
      meter.record({ at, quotes, events });
      if (meter.isAnyArrivalUnknown && afterSeq > 0) return false;
      if (seq >= lastAcceptedIn && meter.openOrders === 0) break;
      await slice.breathe();
    }
    await tape.moveTo(now);
    meter.finish(quoteNow);
  } finally {
    await tape.close();
  }
  return true;
}
