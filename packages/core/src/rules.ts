import type { Calendar } from './calendar/calendar.js';
import type { BrokerConfiguration } from './fees/broker.js';
import type { Instruments } from './instruments/listing.js';
import type { Money } from './values/money.js';

/** What a simulation decides by, from its start to its stop. Not part of its state, but named in its journal. */
export interface Rules {
  readonly calendar: Calendar;
  readonly brokers: ReadonlyMap<string, BrokerConfiguration>;
  /** What the feed lists. Shared between simulations. */
  readonly instruments: Instruments;
  /** A quote older than this fills nothing (D47); undefined = quotes do not age. */
  readonly quoteMaxAgeMs: number | undefined;
  /** How far beyond the ask a market or stop order's reservation reaches, basis points (D64). */
  readonly marketCollarBps: number;
  /** Equity needed for portfolio margin (D14). */
  readonly portfolioMarginEquity: Money;
  /** What options are valued at (D71): continuous, a year, 0.04 is 4 %. */
  readonly riskFreeRate: number;
  /** Which short options are assigned before they expire (D89); absent = none. */
  readonly earlyAssignment?: EarlyAssignment;
  /** Client order ids that begin with `~` script their own order (D176). */
  readonly scripts?: true;
  /** Price bands and pauses of limit up, limit down (D179). */
  readonly luld?: true;
  /** Short sales after a decline of 10 % (D179a). */
  readonly shortSaleRestriction?: true;
}

/** For dividends alone: calls; or wherever the model would exercise: puts as well (D89). */
export type EarlyAssignment = 'DIVIDENDS' | 'MODEL';

/** Rules as the journal tells them: plain data, long lists by the digest under which they are kept beside it. */
export interface RulesInForce extends Omit<Rules, 'calendar' | 'brokers' | 'instruments' | 'quoteMaxAgeMs'> {
  readonly calendar: Calendar['id'];
  readonly quoteMaxAgeMs?: number;
  readonly brokers: string;
  readonly instruments: string;
}

/** The configuration that a portfolio goes by; one that an operator has removed since leaves the default. */
export function brokerOf({ brokers }: Pick<Rules, 'brokers'>, brokerId: string): BrokerConfiguration {
  const broker = brokers.get(brokerId) ?? brokers.get('default');
  if (broker === undefined) throw new RangeError('no broker configuration');
  return broker;
}
