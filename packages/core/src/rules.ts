import type { Calendar } from './calendar/calendar.js';
import type { BrokerConfiguration, OptionLevel } from './brokers/broker.js';
import type { Instruments } from './instruments/listing.js';
import type { Money } from './values/money.js';

/** The settings of a simulation's decisions, from its start to its stop. Not part of its state, but named in its journal. */
export interface Rules {
  readonly calendar: Calendar;
  readonly brokers: ReadonlyMap<string, BrokerConfiguration>;
  /** Instruments of the feed. Shared between simulations. */
  readonly instruments: Instruments;
  /** A quote older than this fills nothing (D47); undefined = quotes do not age. */
  readonly quoteMaxAgeMs: number | undefined;
  /** Basis points beyond the ask that the reservation of a market or stop order covers (D64). */
  readonly marketCollarBps: number;
  /** Equity needed for portfolio margin (D14). */
  readonly portfolioMarginEquity: Money;
  /** Risk-free rate of option valuation (D71): continuous, per year, 0.04 is 4 %. */
  readonly riskFreeRate: number;
  /** Early assignment of short options (D89); absent = none. */
  readonly earlyAssignment?: EarlyAssignment;
  /** Client order ids that begin with `~` script their own order (D176). */
  readonly scripts?: true;
  /** Price bands and pauses of limit up, limit down (D179). */
  readonly luld?: true;
  /** Short sales after a decline of 10 % (D179a). */
  readonly shortSaleRestriction?: true;
  /**
   * Open orders reserve every share that the calls they sell deliver, and margin looks at each component of an adjusted contract (D208).
   * Absent = at the underlying's alone, as in journals of earlier versions.
   */
  readonly components?: true;
}

/** For dividends alone: calls; or wherever the model would exercise: puts as well (D89). */
export type EarlyAssignment = 'DIVIDENDS' | 'MODEL';

/** Rules in the journal: plain data, with long lists named by the digest under which they are stored. */
export interface RulesInForce extends Omit<Rules, 'calendar' | 'brokers' | 'instruments' | 'quoteMaxAgeMs'> {
  readonly calendar: Calendar['id'];
  readonly quoteMaxAgeMs?: number;
  readonly brokers: string;
  readonly instruments: string;
}

/**
 * The configuration of a portfolio's broker, or the default if an operator has removed it. `highestLevel`: the option level that a
 * competition allows (D194), if the broker offers a higher one.
 */
export function brokerOf(
  { brokers }: Pick<Rules, 'brokers'>,
  brokerId: string,
  highestLevel?: number,
): BrokerConfiguration {
  const broker = brokers.get(brokerId) ?? brokers.get('default');
  if (broker === undefined) throw new RangeError('no broker configuration');
  return highestLevel === undefined || highestLevel >= broker.optionLevel
    ? broker
    : atLevel(broker, highestLevel as OptionLevel);
}

const limited = new WeakMap<BrokerConfiguration, Map<OptionLevel, BrokerConfiguration>>();

function atLevel(broker: BrokerConfiguration, optionLevel: OptionLevel): BrokerConfiguration {
  const levels = limited.get(broker) ?? new Map<OptionLevel, BrokerConfiguration>();
  limited.set(broker, levels);
  const known = levels.get(optionLevel) ?? { ...broker, optionLevel };
  levels.set(optionLevel, known);
  return known;
}
