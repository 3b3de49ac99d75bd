import type { Calendar, EarlyAssignment, RulesInForce } from '@sandpit/core';
import type { Feed } from '../feeds/feed.js';
import type { ClockMode } from './clock.js';

/** What a simulation is made of. Kept in the registry, so that it is the same after a restart. */
export interface SimulationConfig {
  readonly name?: string;
  /** The agent that made it, where one did. */
  readonly madeBy?: string;
  readonly feed: Feed['kind'];
  readonly clock: ClockMode;
  readonly calendar: Calendar['id'];
  /** Simulated instant it began at, ms. */
  readonly start: number;
  /** Of a scaled clock. */
  readonly speed: number;
  /** 32-bit. */
  readonly seed: number;
  /** What its ids are made with, 32 hexadecimal digits: never shown. Absent where the seed was given: then they follow from it. */
  readonly idSecret?: string;
  /** What of the server's recordings to replay; absent = all. */
  readonly replay?: { readonly symbols?: readonly string[]; readonly from?: number };
  /** Which short options are assigned before they expire (D89); absent = none. */
  readonly earlyAssignment?: EarlyAssignment;
  /** Client order ids that begin with `~` script their orders (D176). */
  readonly scripts?: true;
  /** Limit up, limit down (D179). */
  readonly luld?: true;
  /** Rule 201 (D179a). */
  readonly shortSaleRestriction?: true;
}

/** A simulation to be: without a seed, its chance and its ids are nobody's to foretell. */
export type WantedSimulation = Omit<SimulationConfig, 'seed' | 'idSecret'> & { readonly seed?: number };

/** As the registry has it: with the rules that the simulation began under. */
export interface KeptConfig extends SimulationConfig {
  readonly rules: RulesInForce;
  /** Of a `main` that was imported: behind which record it follows the market of this installation, and from which of its records on. */
  readonly joined?: { readonly seq: number; readonly marketSeq: number };
}
