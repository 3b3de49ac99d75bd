/** Types of comparisons (D173): tasks for the thread, and its results. Money and prices in the units of the core. */
import type { Drawdown } from '@sandpit/analytics';
import type { DayTradeRegime, FillModel, LatencyProfile, Money } from '@sandpit/core';
import type { JournalRecord } from '../../store/journal.js';
import type { KeptConfig, SimulationConfig } from '../configuration/simulation-config.js';

/** Other rules, under a name. */
export interface Variant {
  readonly name: string;
  readonly brokerId?: string;
  /** Brokers of portfolios by their ids; the others go by `brokerId` or by their own. */
  readonly brokers?: Readonly<Record<string, string>>;
  readonly fillModel?: FillModel;
  readonly latencyProfile?: LatencyProfile;
  readonly latencyMs?: number;
  readonly dayTradeRegime?: DayTradeRegime;
  /** Seed of latencies and assignments; never of the market. */
  readonly seed?: number;
}

/** Start or end of a re-execution: after the last record within both limits. */
export interface JournalPoint {
  /** Infinity = any number. */
  readonly sequence: number;
  /** Simulated instant at which it ends, ms; Infinity = that of its last record. */
  readonly at: number;
}

/** Consecutive records of a journal with one origin. A fork's journal has several origins, others have one. */
export interface ComparedStretch {
  /** The last of its records. */
  readonly upTo: number;
  /** True when the clock was moved by a command. */
  readonly isManual: boolean;
  /** True when the simulation followed a market, whose journal has the quotes. */
  readonly followsMarket: boolean;
}

export interface ComparisonTask {
  readonly config: KeptConfig;
  /** Configuration of the feed: the market's own for a cell that follows one. */
  readonly feed: SimulationConfig;
  /** Oldest first; the last has no end. */
  readonly stretches: readonly ComparedStretch[];
  readonly from: JournalPoint;
  readonly until: JournalPoint;
  /** Sequence of the last record of the journal. */
  readonly lastSequence: number;
  /** The highest number that an order of the base has. */
  readonly lastOrder: number;
  readonly variants: readonly Variant[];
  /** Lists of the rules in force, by the names of their settings. */
  readonly lists: readonly (readonly [name: string, text: string])[];
  readonly riskFreeRate: number;
  readonly recordings?: string;
}

/** Source of records for the thread of a comparison. */
export interface ComparisonThreadData {
  readonly task: ComparisonTask;
  readonly stop: Int32Array;
  /** Absent = the main thread reads the journals and sends their records. */
  readonly past?: ComparedPast;
}

/** The journals of a comparison, which its thread reads itself. */
export interface ComparedPast {
  /** URL of a `PastModule`, and its data. */
  readonly module: string;
  readonly data: unknown;
  readonly own: JournalPart;
  readonly market?: JournalPart;
}

/** A journal up to a record. */
export interface JournalPart {
  readonly id: string;
  /** The last record. */
  readonly until: number;
}

/** A record without the name of its simulation. */
export type RecordLine = Pick<JournalRecord, 'seq' | 'at' | 'payload'>;

export type ToComparisonThread = {
  readonly journal: 'own' | 'market';
  readonly records: readonly RecordLine[];
  readonly isLast: boolean;
};

export type FromComparisonThread =
  | { readonly kind: 'more'; readonly journal: 'own' | 'market' }
  | { readonly kind: 'progress'; readonly progress: number }
  | { readonly kind: 'done'; readonly result: ComparisonResult }
  | { readonly kind: 'failed'; readonly reason: string };

/** The variants of a comparison distributed over the threads in turn. */
export const distributed = (variants: readonly Variant[], threads: number): readonly (readonly Variant[])[] =>
  Array.from({ length: threads }, (_, thread) => variants.filter((_, i) => i % threads === thread));

/** The result of a comparison whose variants were distributed over threads. Each part has executed the same base. */
export function gathered(parts: readonly ComparisonResult[]): ComparisonResult {
  const [first] = parts;
  if (first === undefined) throw new RangeError('A comparison has no parts');
  const count = parts.reduce((sum, { variants }) => sum + variants.length, 0);
  const variants = Array.from({ length: count }, (_, i) => {
    const row = parts[i % parts.length]?.variants[Math.floor(i / parts.length)];
    if (row === undefined) throw new RangeError(`Variant ${i} is in no part`);
    return row;
  });
  return { ...first, variants };
}

/** The first order of the base that went otherwise. */
export interface Difference {
  readonly at: number;
  readonly orderId: string;
  readonly kind: 'REJECTED' | 'PRICE' | 'QUANTITY' | 'FEE' | 'STATUS';
  /** A price, a quantity, charges (in units of the core), or words. */
  readonly base: number | string;
  readonly variant: number | string;
}

export interface RowFigures {
  readonly totalEquity: Money;
  readonly realizedPnl: Money;
  readonly unrealizedPnl: Money;
  readonly commissions: Money;
  readonly regulatoryFees: Money;
  readonly interest: Money;
  readonly borrowFees: Money;
  readonly dividends: Money;
  readonly orders: {
    readonly accepted: number;
    readonly rejected: number;
    readonly filled: number;
    readonly canceled: number;
  };
  readonly executions: number;
  readonly requests: { readonly repeated: number; readonly refused: number; readonly skipped: number };
  readonly marginCalls: number;
  readonly liquidations: number;
  /** Maximum drawdown of the sum of all portfolios, dollars; absent if none was ever funded. */
  readonly maxDrawdown?: Drawdown;
}

export type ComparedRow =
  | ({
      readonly name: string;
      readonly status: 'DONE';
      readonly difference: Money;
      readonly firstDifference?: Difference;
    } & RowFigures)
  | { readonly name: string; readonly status: 'FAILED'; readonly reason: string };

export interface ComparisonResult {
  /** True when the base, executed again, is worth what the journal says, to the cent. */
  readonly baseMatches: boolean;
  /** Total equity of the base minus that of the journal, if they differ. */
  readonly baseDifference?: Money;
  readonly base: ComparedRow;
  readonly variants: readonly ComparedRow[];
}
