import type { Calendar, EarlyAssignment, Instant, RulesInForce } from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import type { MaskParts, MaskTerms } from '../../feeds/mask.js';
import type { Regime } from '../../feeds/regime.js';

export type { MaskParts } from '../../feeds/mask.js';

import type { ClockMode } from '../clocks/clock.js';

/** Point where a synthetic path continues with another seed. */
interface Reseeding {
  readonly after: Instant;
  /** 32-bit. */
  readonly seed: number;
}

/** Configuration of a simulation. Stored in the registry, so that it survives a restart. */
export interface SimulationConfig {
  readonly name?: string;
  /** The agent that created it, if one did. */
  readonly madeBy?: string;
  readonly feed: Feed['kind'];
  readonly clock: ClockMode;
  readonly calendar: Calendar['id'];
  /** Simulated instant it began at, ms. */
  readonly start: number;
  /** Speed of a scaled clock. */
  readonly speed: number;
  /** 32-bit. */
  readonly seed: number;
  /**
   * Secret from which ids are derived, 32 hexadecimal digits; never shown. Absent when the seed was given: ids then follow from the seed.
   */
  readonly idSecret?: string;
  /** Part of the server's recordings to replay; absent = all. */
  readonly replay?: { readonly symbols?: readonly string[]; readonly from?: number };
  /** True for a fork of a live simulation, which replays the server's own recording (D172). */
  readonly liveRecording?: true;
  /** Mask of the recording; `start` and `calendar` are moved by it (D209). */
  readonly mask?: MaskTerms;
  /** Early assignment of short options (D89); absent = none. */
  readonly earlyAssignment?: EarlyAssignment;
  /** Client order ids that begin with `~` script their orders (D176). */
  readonly scripts?: true;
  /** Limit up, limit down (D179). */
  readonly luld?: true;
  /** Rule 201 (D179a). */
  readonly shortSaleRestriction?: true;
  /** It is in memory alone, and ends with the process (D255). */
  readonly ephemeral?: true;
  /** Real time without a request after which it is removed (D172), as given and in ms; absent = it is not removed. */
  readonly ttl?: { readonly text: string; readonly ms: number };
  /** 128 bits, hexadecimal, from which the synthetic path of a competition is drawn in addition to the seed. Never shown before its end. */
  readonly draw?: string;
  /** Behavior of the synthetic market of an evaluation; absent = the usual one. */
  readonly regime?: Regime;
  /** Seed of the synthetic path when it differs from `seed`: for forks. */
  readonly pathSeed?: number;
  /** Points where the synthetic path continues with other seeds, oldest first. */
  readonly reseeded?: readonly Reseeding[];
  /** True if the simulation or an ancestor was imported: the market that it followed may be another installation's. */
  readonly isFromFile?: true;
  /** For a fork: the origin of its journal. */
  readonly fork?: ForkTerms;
  /** The parent of a fork that was imported, as its file calls it: text that is shown, and never looked up (D233). */
  readonly importedFrom?: string;
  /** For simulations of a competition. */
  readonly competition?: CompetitionRole;
}

/** Role of a simulation in a competition: its market, or an entry that follows the market; or in an evaluation. */
type CompetitionRole =
  | { readonly id: string; readonly role: 'MARKET' }
  | { readonly id: string; readonly role: 'ENTRY'; readonly marketId: string }
  /** A run of an evaluation, with a market of its own. */
  | { readonly id: string; readonly role: 'CELL' }
  /** The journal of an evaluation: terms, entries, phases and result. It has neither a market nor portfolios. */
  | { readonly id: string; readonly role: 'EVALUATION' };

/** Initial configuration of a simulation. */
export interface Origin {
  readonly seed: number;
  /** Simulated instant, ms. */
  readonly start: number;
  /** Secret from which ids are derived, 32 hexadecimal digits; absent = follows from the seed. */
  readonly idSecret?: string;
}

/** Ancestors of a fork. */
export interface ForkTerms {
  /** The parent, as its tenant calls it: `main`, or the id of a simulation that was created; absent for an imported fork. */
  readonly parentId?: string;
  /** The last record that both have. */
  readonly sequence: number;
  /** Generation of a simulation that is not a fork. */
  readonly depth: number;
  /** Initial configuration of its first ancestor. */
  readonly origin: Origin & { readonly rules: RulesInForce };
  /** Seed of random draws when it differs from the parent's. */
  readonly seed?: number;
  /** Tags of stream event ids, oldest first: ids of records after `after` carry the tag. */
  readonly tags: readonly StreamTag[];
  /** Configurations that produced the records of its ancestors, oldest first. */
  readonly stretches: readonly Stretch[];
}

/** Consecutive records of a journal that one simulation wrote: a fork's journal has several stretches. */
export interface Stretch {
  /** The last of its records. */
  readonly upTo: number;
  readonly feed: Feed['kind'];
  readonly clock: ClockMode;
  /** For a `main`: the last record of the market's journal that it had followed. */
  readonly marketSeq?: number;
}

/** Marks ids of stream events as a fork's own. */
export interface StreamTag {
  readonly after: number;
  readonly tag: string;
}

/** A mask that follows from the recording once that is open. */
export interface WantedMask {
  readonly parts: MaskParts;
  /** 128 bits, hexadecimal. */
  readonly key: string;
}

/** Configuration of a new simulation. Without a seed, its random draws and its ids are unpredictable. */
export type WantedSimulation = Omit<SimulationConfig, 'seed' | 'idSecret'> & {
  readonly seed?: number;
  /** What of the recording is hidden; `start` and `calendar` are those of the recording then. */
  readonly hides?: WantedMask;
};

/** Configuration in the registry: includes the rules that the simulation began under. */
export interface KeptConfig extends SimulationConfig {
  readonly rules: RulesInForce;
  /** Characters of the lists of rules that came with its file, or with that of an ancestor, and belong to it; absent = none. */
  readonly ownLists?: number;
  /** For an imported `main`: after record `seq` it follows the market of this installation, from the market's record `marketSeq` on. */
  readonly joined?: { readonly seq: number; readonly marketSeq: number };
}

/** Initial configuration in a simulation's journal: for a fork, that of its first ancestor. */
export const originOf = (
  config: Pick<KeptConfig, 'rules' | 'seed' | 'start' | 'idSecret' | 'fork'>,
): Origin & { readonly rules: RulesInForce } => config.fork?.origin ?? config;

/**
 * The configuration of a simulation that comes from a file (D233). Membership of a competition or of another installation's market does not
 * travel, and the parent of a fork, whose records are complete in the file, is a text from here on.
 */
export function importedConfig({
  competition: _,
  joined: __,
  ephemeral: ___,
  fork,
  ...config
}: Omit<KeptConfig, 'importedFrom'>): KeptConfig {
  if (fork === undefined) return { ...config, isFromFile: true };
  const { parentId: importedFrom, ...terms } = fork;
  return { ...config, fork: terms, isFromFile: true, ...(importedFrom !== undefined && { importedFrom }) };
}
