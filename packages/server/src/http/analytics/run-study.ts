/** Answers studies: in a thread of their own, or on the main thread if the store allows no other. */
import {
  type BreakReason,
  ExecutionQualityTally,
  GroupedQuality,
  linkReturns,
  performanceOf,
  type RoundTrip,
  type RoundTripBook,
  type Rows,
  type Traded,
} from '@sandpit/analytics';
import { calendarById, type CorporateAction, Instant, type OrderPlaced } from '@sandpit/core';
import type { RoundTrip as ShownTrip } from '@sandpit/protocol';
import { payloadOf } from '../../engine/records/record-text.js';
import { Slice } from '../../engine/scheduling/slice.js';
import { reportPage } from '../report/report.js';
import type { PortfolioPerformance } from '../report/report.js';
import { isoOfMs } from '../translate/instants.js';
import { itemsIn } from '../translate/pages.js';
import { cents, equityPoints, pointsIn } from './equity-points.js';
import { emitLines, emitList, emitRows } from './emit-rows.js';
import { lastSeqBefore } from './market-tape.js';
import { type MeasuredPart, measureOrders } from './measure-orders.js';
import type { PortfolioBook } from './portfolio-book.js';
import type { Close, PortfolioRecord, ReportedAccount } from './portfolio-record.js';
import type { AnswerOf, PeriodInput, QuestionOf, StudyName, TripFilter } from './study.js';
import { bookOf, type StudyContext } from './study-context.js';
import { formLines, gainsPage, lotsPage, openLots } from './tax-studies.js';

type Study<Name extends StudyName> = (
  context: StudyContext,
  question: QuestionOf<Name>,
) => Promise<AnswerOf<Name>>;

const STUDIES: { readonly [Name in StudyName]: Study<Name> } = {
  async outline(context, { portfolioId }) {
    const { record } = await bookOf(context, portfolioId);
    const thisYear = context.calendar.dateOf(nowOf(context)).slice(0, 4);
    const lastOf = new Map<string, Close>();
    for (const close of record.closes) {
      const year = close.date.slice(0, 4);
      if (close.epoch === record.epochs.length && year < thisYear) lastOf.set(year, close);
    }
    return {
      epochs: record.epochs,
      flows: record.flows,
      ...(record.closedAt !== undefined && { closedAt: record.closedAt }),
      yearEnds: [...lastOf.values()].map(({ at, date, section1256 }) => ({ at, date, section1256 })),
    };
  },

  async performance(context, input) {
    const book = await bookOf(context, input.portfolioId);
    return performanceIn(book, input).performance;
  },

  async report(context, input) {
    const book = await bookOf(context, input.portfolioId);
    const { closed, ...found } = performanceIn(book, input);
    const { portfolioId, from, to } = input;
    const tally = new ExecutionQualityTally();
    const slippages: number[] = [];
    const isWanted = (event: OrderPlaced, at: number): boolean =>
      event.request.portfolioId === portfolioId && at >= from && at <= to;
    const refused: MeasuredPart['refused'] = (order, at) => {
      if (order.portfolioId === portfolioId && at >= from && at <= to) tally.refuse();
    };
    await measureOrders(context, { isWanted, refused, mark: `"${portfolioId}"`, afterSeq: 0 }, (order) => {
      const slippage = tally.add(order);
      if (slippage !== undefined) slippages.push(slippage);
    });
    const { title, about, madeAt, riskFreeRate = 0 } = input;
    return reportPage({
      ...found,
      trips: closed.map((place) => book.trips.at(place)),
      title,
      about,
      madeAt,
      quality: tally.result(),
      slippages,
      riskFreeRate,
      newYork: (at) => NEW_YORK.format(Instant.ofMs(at)),
    });
  },

  async trades(context, { window, ...filter }) {
    const { trips } = await bookOf(context, filter.portfolioId);
    const found = tripsIn(trips, filter).reverse();
    const { items, left } = itemsIn(found, window, (place) => place + 1);
    return { data: items.map((place) => shownTrip(trips.at(place))), total: found.length, left };
  },

  async gains(context, question) {
    return gainsPage(await bookOf(context, question.portfolioId), question);
  },

  async lots(context, question) {
    return lotsPage(await bookOf(context, question.portfolioId), question);
  },

  async quality(context, { portfolioId, from, to, groupBy, withSlippages }) {
    const tally = new ExecutionQualityTally();
    const grouped = groupBy === undefined ? undefined : new GroupedQuality(groupBy);
    const slippages: number[] = [];
    const isWanted = ({ request }: OrderPlaced, at: number): boolean =>
      request.portfolioId === portfolioId && at >= from && at < to;
    const refused: MeasuredPart['refused'] = (order, at) => {
      if (order.portfolioId !== portfolioId || at < from || at >= to) return;
      tally.refuse();
      grouped?.refuse(order);
    };
    await measureOrders(context, { isWanted, refused, mark: `"${portfolioId}"`, afterSeq: 0 }, (order) => {
      const slippage = tally.add(order);
      grouped?.add(order);
      if (withSlippages && order.isFilled && slippage !== undefined) slippages.push(slippage);
    });
    return {
      quality: tally.result(),
      ...(grouped !== undefined && { groups: grouped.result() }),
      ...(withSlippages && { slippages: slippages.slice(-MOST_SLIPPAGES) }),
    };
  },

  async orderQuality(context, { number, acceptedIn }) {
    const isWanted = (event: OrderPlaced): boolean => event.number === number;
    for (const back of LOOK_BACKS) {
      const tally = new ExecutionQualityTally();
      const part = {
        isWanted,
        mark: `"number":${number},`,
        afterSeq: Math.max(0, acceptedIn - 1 - back),
        lastAcceptedIn: acceptedIn,
      };
      if (await measureOrders(context, part, (order) => void tally.add(order))) return tally.result();
    }
    throw new Error(`The journal does not tell what order ${number} met`);
  },

  async actions({ source: { journal }, simulation }, { symbol, from, to }) {
    const slice = new Slice();
    const actions: CorporateAction[] = [];
    const before = await lastSeqBefore(journal, simulation.marketId, from);
    for await (const record of journal.read(simulation.marketId, before)) {
      if (record.at > to) break;
      if (record.payload.includes('"ActionDone"'))
        for (const event of payloadOf(record).events)
          if (event.type === 'ActionDone' && event.action.symbol === symbol) actions.push(event.action);
      await slice.breathe();
    }
    return actions;
  },

  async rows(context, question) {
    switch (question.operation) {
      case 'listTrades': {
        const { trips } = await bookOf(context, question.portfolioId);
        return emitRows(context, question.operation, shownTrips(trips, tripsIn(trips, question).reverse()));
      }
      case 'listTaxLots': {
        const found = openLots(await bookOf(context, question.portfolioId), question);
        return emitRows(context, question.operation, found);
      }
      case 'listRealizedGains':
        return emitLines(context, formLines(await bookOf(context, question.portfolioId), question));
      default:
        return emitList(context, question);
    }
  },
};

/** Numbers of records before an order's acceptance that are searched for its quote: increasing, then all. */
const LOOK_BACKS = [0, 1_000, 30_000, Infinity];

/** Maximum number of orders whose slippage is listed individually. */
const MOST_SLIPPAGES = 1_000;

const NEW_YORK = calendarById('XNYS');

const nowOf = ({ simulation }: StudyContext): Instant => Instant.ofMs(simulation.now);

/** Answers one study. */
export const runStudy = <Name extends StudyName>(
  name: Name,
  context: StudyContext,
  question: QuestionOf<Name>,
): Promise<AnswerOf<Name>> => STUDIES[name](context, question);

/** Places of the round trips that pass a filter, oldest first. */
function tripsIn(trips: RoundTripBook, { from, to, epoch }: Omit<TripFilter, 'portfolioId'>): number[] {
  return trips.places(
    (closedAt, of) => closedAt >= from && closedAt < to && (epoch === undefined || of === epoch),
  );
}

/** Averages of doubles, to the smallest unit of a price. */
const toPriceUnit = (price: number): number => Math.round(price * 1e8) / 1e8;

const shownTrip = (trip: RoundTrip): ShownTrip => ({
  ...trip,
  entryPrice: toPriceUnit(trip.entryPrice),
  ...(trip.exitPrice !== undefined && { exitPrice: toPriceUnit(trip.exitPrice) }),
  openedAt: isoOfMs(trip.openedAt),
  closedAt: isoOfMs(trip.closedAt),
});

function* shownTrips(trips: RoundTripBook, places: Iterable<number>): Generator<ShownTrip> {
  for (const place of places) yield shownTrip(trips.at(place));
}

/** The performance of a period, and the places of the round trips closed in it. */
type MeasuredPeriod = Omit<PortfolioPerformance, 'trips'> & { readonly closed: readonly number[] };

/** The performance of a period from the record of its portfolio, valued if the record has no equity. */
function performanceIn({ record, trips }: PortfolioBook, input: PeriodInput): MeasuredPeriod {
  const { from, to, start, flows, end, periodsPerYear, riskFreeRate, benchmark, endDate } = input;
  const isInside = (at: number, epoch: number): boolean =>
    epoch === input.epoch && at <= to && (at > from || input.isFromOpening);
  const closes = record.closes.filter(({ at, epoch }) => isInside(at, epoch));
  const points = equityPoints(start, closes, flows, end);
  const sums = postedIn(record.posted, isInside);
  const traded = tradedIn(record.events, isInside);
  const closed = trips.places(isInside);
  const startsIn = breakAt(record, input);
  const performance = performanceOf({
    points,
    ...(startsIn !== undefined && { startsIn }),
    exposures: closes,
    ledger: {
      commissions: cents(sums.COMMISSIONS),
      fees: cents(sums.FEES),
      interest: cents(sums.INTEREST),
      borrowFees: cents(sums.BORROW_FEES),
      dividends: cents(sums.DIVIDENDS),
      realized: sums.REALIZED,
      bought: traded.BUY,
      sold: traded.SELL,
    },
    trips: trips.outcomes(closed),
    periodsPerYear,
    ...(riskFreeRate !== undefined && { riskFreeRate }),
    ...(benchmark !== undefined && { benchmark }),
    endDate,
    partialMonths: new Set(input.partialMonths),
  });
  return { performance, from, to, points, closed, periodsPerYear };
}

/** The reason of a break that began before a period and has not ended at its start. */
function breakAt(
  { epochs, closes, flows }: PortfolioRecord,
  { epoch, from, isFromOpening, start }: PeriodInput,
): BreakReason | undefined {
  const began = epochs[epoch - 1];
  if (isFromOpening || began === undefined) return undefined;
  const isBefore = (one: { readonly at: number; readonly epoch: number }): boolean =>
    one.epoch === epoch && one.at <= from;
  const opening = { at: began.beganAt, equity: began.initialCash };
  const { breaks, segments } = linkReturns([
    opening,
    ...pointsIn(closes.filter(isBefore), flows.filter(isBefore)),
  ]);
  const last = breaks.at(-1);
  if (last !== undefined && last.to === undefined) return last.reason;
  return start.equity <= 0 && segments.length > 0 ? 'EQUITY_NOT_POSITIVE' : undefined;
}

type IsInside = (at: number, epoch: number) => boolean;

/** Sums of the postings of a period by account, dollars. */
function postedIn(posted: PortfolioRecord['posted'], isInside: IsInside): Record<ReportedAccount, number> {
  const sums: Record<ReportedAccount, number> = {
    COMMISSIONS: 0,
    FEES: 0,
    INTEREST: 0,
    BORROW_FEES: 0,
    DIVIDENDS: 0,
    REALIZED: 0,
  };
  const at = posted.column('at');
  const epoch = posted.column('epoch');
  const account = posted.column('account');
  const amount = posted.column('amount');
  for (let index = 0; index < posted.length; index += 1)
    if (isInside(at[index] ?? 0, epoch[index] ?? 0))
      sums[posted.textOf(account[index] ?? 0) as ReportedAccount] += amount[index] ?? 0;
  return sums;
}

/** Value of equities and options bought and sold by orders in a period, dollars. */
function tradedIn(
  events: PortfolioRecord['events'],
  isInside: IsInside,
): { readonly BUY: number; readonly SELL: number } {
  const traded = { BUY: 0, SELL: 0 };
  // Only trades have the id of an order.
  const rows = events as Rows<Traded>;
  const at = rows.column('at');
  const epoch = rows.column('epoch');
  const orderId = rows.column('orderId');
  const assetClass = rows.column('assetClass');
  const side = rows.column('side');
  const value = rows.column('value');
  const future = rows.codeOf('FUTURE');
  const buy = rows.codeOf('BUY');
  for (let index = 0; index < rows.length; index += 1)
    if (orderId[index] !== 0 && assetClass[index] !== future && isInside(at[index] ?? 0, epoch[index] ?? 0))
      traded[side[index] === buy ? 'BUY' : 'SELL'] += value[index] ?? 0;
  return traded;
}
