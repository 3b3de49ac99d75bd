import type { AssetClass } from '../instruments/instrument.js';
import type { LatencyProfile } from '../orders/order.js';
import type { CompetitionRule, CompetitionRuleBroken } from '../orders/order-rejection.js';
import type { Instant } from '../values/instant.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';

/** Rules for every entry of a competition. Percentages in 1/10,000 of a percent: 5 % = 50,000. */
export interface CompetitionRules {
  readonly assetClasses: readonly AssetClass[];
  /** Symbols that may be opened; for options and futures the underlying or root. Absent = all. */
  readonly symbols?: readonly string[];
  readonly optionLevel?: number;
  /** False = no short sales of shares. */
  readonly shortSelling?: boolean;
  /** Latency of every order, instead of the order's own. */
  readonly latencyProfile?: LatencyProfile;
  readonly maxPosition?: number;
  readonly maxOrdersPerMinute?: number;
  readonly minPrice?: Price;
  readonly maxDailyLoss?: number;
  readonly trailingDrawdown?: number;
}

/** Initial state of a simulation of a competition: its market, or an entry. */
export interface CompetitionTerms {
  /** Trading is possible from here, */
  readonly startsAt: Instant;
  /** and ends before the next instant, after a close at this one. */
  readonly endsAt: Instant;
  /** True when trading begins at `startsAt` without a command: on a wall clock. */
  readonly startsByItself?: true;
  /** True when equity is recorded at every full hour of the session and at its close: in short competitions. */
  readonly isHourly?: true;
  /** True for the simulations of an evaluation (D210): they follow no market. */
  readonly isEvaluation?: true;
  /** True for the cell of an evaluation: its clock stands, an entry after its end resumes it, and the next result replaces the earlier one. */
  readonly isOpenEnded?: true;
  /** SHA-256, in hex, of the settings as the organizer wrote them; decides nothing and lets a file be compared with the journal. */
  readonly settingsHash?: string;
  readonly rules: CompetitionRules;
}

/** Phase of a competition. */
export type CompetitionPhase = 'OPEN' | 'RUNNING' | 'PAUSED' | 'FINISHED' | 'CANCELED';

/** Reason why an entry was removed. */
export interface EntryRemoval {
  readonly status: 'ELIMINATED' | 'DISQUALIFIED' | 'WITHDRAWN';
  /** The rule that eliminated it. */
  readonly rule?: CompetitionRule;
  readonly reason?: string;
}

/** An entry in the cell of its competition (D231). Its name and its tenant are rows of the registry, which can be erased. */
export interface CompetitionEntry {
  readonly entryId: string;
  /** From 1, in the order of entering. */
  readonly number: number;
  /** The simulation of the entry; absent in the cell of an evaluation, whose entries have many. */
  readonly cell?: string;
  /** SHA-256, in hex, over the first records of that simulation; in the cell of an evaluation, over those of all simulations of the entry. */
  readonly digest: string;
  /** True for a baseline of an evaluation. The house plays it, and it does not start the evaluation. */
  readonly isHouse?: true;
}

/** Key of an entry among the entries of its competition. */
export const entryKey = ({ cell, entryId }: Pick<CompetitionEntry, 'cell' | 'entryId'>): string =>
  cell ?? entryId;

/**
 * The final result of a competition, without names. That of an evaluation has the hash alone: ranks and curves follow from the journals of
 * its runs.
 */
export interface CompetitionResult {
  /** Simulated, ms. */
  readonly at: number;
  /** Best first. */
  readonly rows: readonly CompetitionRank[];
  readonly curves: readonly CompetitionCurve[];
  /** SHA-256 over the journals of the competition. */
  readonly journalHash: string;
  /** The last record of each simulation that belongs to the result. */
  readonly records: readonly (readonly [simulationId: string, last: number])[];
}

/** Final place of an entry. */
export interface CompetitionRank {
  readonly rank: number;
  readonly entryId: string;
  /** Dollars. */
  readonly totalEquity: number;
  readonly return: number;
  readonly score?: number;
  readonly sharpe?: number;
  readonly maxDrawdown: number;
  readonly trades: number;
  readonly status: 'ACTIVE' | EntryRemoval['status'];
  readonly reason?: string;
}

/** Equity of an entry over time. */
export interface CompetitionCurve {
  readonly entryId: string;
  /** Simulated ms, and dollars × 10^4. */
  readonly points: readonly (readonly [at: number, equity: number])[];
}

export interface CompetitionPoint {
  readonly at: Instant;
  readonly equity: Money;
}

/** The state of a competition in a simulation that is part of it. Only events change it. */
export interface Competition {
  readonly terms: CompetitionTerms;
  phase: CompetitionPhase;
  /** The highest equity so far; only for entries with a drawdown limit. */
  highest?: Money;
  /** Equity at the instants that scores depend on, oldest first. */
  readonly points: CompetitionPoint[];
  /** Executions of the entrant's orders. */
  trades: number;
  /** Orders accepted in the latest minute in which one was; counted from 1970, in minutes. */
  accepted?: { readonly minute: number; readonly count: number };
  /** Set when the entry is removed. */
  removed?: EntryRemoval & { readonly at: Instant };
  /** Entries of the competition whose market this is, or of the evaluation whose cell it is, by `entryKey` and in the order of entering. */
  entries?: Map<string, CompetitionEntry & { readonly removed?: EntryRemoval & { readonly at: Instant } }>;
  /** Of the competition whose market this is. */
  result?: CompetitionResult;
}

/** True when a competition is over. */
export const isOver = (phase: CompetitionPhase): boolean => phase === 'FINISHED' || phase === 'CANCELED';

const MINUTE_MS = 60_000;

/** The minute of the clock of an instant. */
export const minuteOf = (at: Instant): number => Math.floor(at / MINUTE_MS);

/** The refusal of an order while its competition does not run, or its entry was removed. */
export interface CompetitionNotRunning {
  readonly code: 'COMPETITION_NOT_RUNNING';
  readonly message: string;
  readonly phase: CompetitionPhase;
  /** True for a cell of an evaluation. */
  readonly isEvaluation?: true;
}

/** The refusal of an order by a competition. */
export type CompetitionRefusal = CompetitionNotRunning | CompetitionRuleBroken;
