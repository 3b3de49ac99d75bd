import { Instant } from '@sandpit/core';
import type { MarketHours, Quote, TradingSession } from '@sandpit/core';
import { SECOND_MS } from '../open-hours.js';

/** The synthetic market of one symbol: a quote for each second in which it trades. */
export interface Quoted {
  readonly symbol: string;
  readonly hours: MarketHours;
  readonly session: TradingSession;
  /** End of its last trading session; absent = it has none. */
  readonly endsAt?: Instant | undefined;
  /** The quote that comes into force at a whole second of its hours. */
  quoteAt(second: number): Quote;
}

/** The whole second of the quote in force. Outside trading hours and after the last trade date, that of the last quote. */
export function secondInForce({ hours, session, endsAt }: Quoted, at: Instant): number {
  const latest = endsAt === undefined || at < endsAt ? at : Instant.plusMs(endsAt, -1);
  const second = Math.floor(latest / SECOND_MS);
  // Sessions end at full seconds.
  return hours.isOpen(session, latest) ? second : hours.lastStop(session, latest) / SECOND_MS - 1;
}

/** Symbols that trade in the same hours, with the instants of their events. */
export interface HoursGroup {
  readonly members: readonly Quoted[];
  readonly instants: Iterator<Instant>;
  next: Instant | undefined;
}

/** Symbols by their hours, each group at its first instant in (after, until]. */
export function groupsOf(
  all: readonly Quoted[],
  after: Instant,
  until: Instant,
  stepMs: number,
): HoursGroup[] {
  const byHours = new Map<MarketHours, Map<TradingSession, Quoted[]>>();
  for (const quoted of all) {
    const sessions = byHours.get(quoted.hours) ?? new Map<TradingSession, Quoted[]>();
    byHours.set(quoted.hours, sessions);
    sessions.set(quoted.session, [...(sessions.get(quoted.session) ?? []), quoted]);
  }
  return [...byHours].flatMap(([hours, sessions]) =>
    [...sessions].map(([session, members]): HoursGroup => {
      const instants = openInstants(hours, session, after, until, stepMs);
      return { members, instants, next: nextOf(instants) };
    }),
  );
}

export function nextOf(instants: Iterator<Instant>): Instant | undefined {
  const next = instants.next();
  return next.done === true ? undefined : next.value;
}

/**
 * The full steps in (after, until] at which a session is open. With steps longer than a second also the last second of each regular and each
 * extended session, and before each pause, so that the closing quote is never missing.
 */
function* openInstants(
  hours: MarketHours,
  session: TradingSession,
  after: Instant,
  until: Instant,
  stepMs: number,
): Generator<Instant> {
  const isCoarse = stepMs > SECOND_MS;
  let told: number = after;
  const upTo = (at: number): number => Math.ceil(at / stepMs) * stepMs;
  for (let at = upTo(after + 1); ;) {
    if (isCoarse) {
      for (const last of lastSeconds(hours, session, told, Math.min(at, until + 1))) {
        yield last;
        told = last;
      }
    }
    if (at > until) return;
    const instant = Instant.ofMs(at);
    if (hours.isOpen(session, instant)) {
      yield instant;
      told = at;
      at += stepMs;
    } else at = upTo(hours.nextOpen(session, instant));
  }
}

/** The last seconds of sessions that lie strictly between two instants, in order. */
function lastSeconds(hours: MarketHours, session: TradingSession, after: number, before: number): Instant[] {
  const seconds = new Set<number>();
  // Stops lie on full minutes: one just before `before` can be that of a second after `after`.
  for (const kind of ['REGULAR', session] as const) {
    const stop = hours.lastStop(kind, Instant.ofMs(before + SECOND_MS - 1));
    if (stop - SECOND_MS > after && stop - SECOND_MS < before) seconds.add(stop - SECOND_MS);
  }
  return [...seconds].sort((a, b) => a - b).map((second) => Instant.ofMs(second));
}
