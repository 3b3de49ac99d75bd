import type { Instant } from '@sandpit/core';
import type { ForkPoint, WantedPoint } from './fork-points.js';
import { originOf } from '../configuration/simulation-config.js';
import type { KeptConfig, SimulationConfig, StreamTag, Stretch } from '../configuration/simulation-config.js';

/** Maximum generations of forks of a simulation (D172). */
export const MOST_GENERATIONS = 64;

/** A fork to be. */
export interface WantedFork extends Pick<SimulationConfig, 'name' | 'madeBy' | 'ttl'> {
  /** Absent = now. */
  readonly from?: WantedPoint;
  readonly clock: 'manual' | 'scaled';
  /** Speed of a scaled clock. */
  readonly speed: number;
  /** 32-bit; absent = its parent's. */
  readonly seed?: number;
  /** A fork of an ephemeral simulation always is. */
  readonly ephemeral?: true;
}

/**
 * Configuration of a fork: its parent's, with the fields that the request changes. `shownSeed`: the seed that the API shows for the parent;
 * `parentTags`: tags of the parent's event ids; `isRecorded`: true when there is a recording of a live parent's market.
 */
export function forkConfigOf(
  id: string,
  parentId: string,
  parent: KeptConfig,
  { name, madeBy, ttl, clock, speed, seed, ephemeral }: WantedFork,
  { sequence, at, saved }: ForkPoint,
  shownSeed: number,
  parentTags: readonly StreamTag[],
  isRecorded: boolean,
): SimulationConfig {
  const {
    name: _,
    madeBy: __,
    ttl: ___,
    joined: ____,
    rules: _____,
    importedFrom: ______,
    ...inherited
  } = parent;
  const { feed, fork, pathSeed = parent.seed, scripts } = inherited;
  const { rules, seed: firstSeed, start, idSecret } = originOf(parent);
  const reseeded = [
    ...(parent.reseeded ?? []).filter(({ after }) => isBefore(parent, after, { sequence, at })),
    ...(seed === undefined ? [] : [{ after: at, seed }]),
  ];
  const stretches: readonly Stretch[] = [
    ...(fork?.stretches ?? []).filter(({ upTo }) => upTo < sequence),
    {
      ...(fork?.stretches.find(({ upTo }) => upTo >= sequence) ?? { feed, clock: parent.clock }),
      upTo: sequence,
      ...(saved.marketSeq !== undefined && { marketSeq: saved.marketSeq }),
    },
  ];
  const tags: readonly StreamTag[] = [
    ...parentTags.filter(({ after }) => after < sequence),
    { after: sequence, tag: id.slice(0, TAG_LENGTH) },
  ];
  return {
    ...inherited,
    ...(name !== undefined && { name }),
    ...(madeBy !== undefined && { madeBy }),
    ...(ttl !== undefined && { ttl }),
    ...(ephemeral === true && { ephemeral }),
    // A source sends each message once.
    feed: feed !== 'live' ? feed : isRecorded ? 'replay' : 'push',
    ...(feed === 'live' && isRecorded && { liveRecording: true as const }),
    clock,
    start: at,
    speed: clock === 'scaled' ? speed : 0,
    seed: seed ?? shownSeed,
    idSecret: saved.idSecret,
    pathSeed,
    reseeded,
    // Created simulations may script their orders.
    ...((scripts === true || parentId === 'main') && { scripts: true as const }),
    fork: {
      parentId,
      sequence,
      depth: (fork?.depth ?? 0) + 1,
      origin: { rules, seed: firstSeed, start, ...(idSecret !== undefined && { idSecret }) },
      ...(seed !== undefined && { seed }),
      tags,
      stretches,
    },
  };
}

/** Characters of a fork's id that its ids of stream events carry. */
const TAG_LENGTH = 8;

/** True when the path already had this seed at the start of the fork: it came with the first record of the simulation or of an ancestor. */
const isBefore = (
  { fork }: KeptConfig,
  after: Instant,
  { sequence, at }: Pick<ForkPoint, 'sequence' | 'at'>,
): boolean => after < at || (after === at && sequence > (fork?.sequence ?? 0));
