import { LRUCache } from 'lru-cache';
import { hashingState, Instant, saveState, savingState } from '@sandpit/core';
import type { SavedState } from '@sandpit/core';
import type { Store } from '../../store/store.js';
import { brokerageAt } from '../recovery/recovery.js';
import type { Origin } from '../configuration/simulation-config.js';
import type { Simulation } from '../simulation/simulation.js';
import { inSlices } from '../scheduling/slice.js';
import type { Snapshot } from './snapshots.js';

/** Requested start of a fork: a snapshot, a simulated instant, or the end of a record; absent = now. */
export type WantedPoint =
  { readonly snapshotId: string } | { readonly at: Instant } | { readonly sequence: number };

/** State of a simulation at a point. */
export interface ForkPoint {
  /** Sequence of the last record. */
  readonly sequence: number;
  /** Clock of a simulation that continues from here. */
  readonly at: Instant;
  /** State after the record. */
  readonly saved: SavedState;
  readonly stateHash: string;
}

/** The journal has no such point, for this `reason`. */
export class NoSuchPoint extends Error {
  override readonly name = 'NoSuchPoint';
  readonly reason: 'snapshot' | 'later' | 'earlier';

  constructor(reason: NoSuchPoint['reason']) {
    super(`no such point: ${reason}`);
    this.reason = reason;
  }
}

/** Maximum number of cached orders, portfolios and accounts: about 50 MB. */
const MOST_KEPT = 50_000;

/** Recent initial states of forks: other forks begin there, too, and forks that left memory are reopened from them. */
export class RecentPoints {
  readonly #kept = new LRUCache<string, Pick<ForkPoint, 'saved' | 'stateHash'>>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ saved: { orders, portfolios, accounts } }) =>
      1 + orders.length + portfolios.length + accounts.length,
  });

  find(simulationId: string, sequence: number): Pick<ForkPoint, 'saved' | 'stateHash'> | undefined {
    return this.#kept.get(`${simulationId} ${sequence}`);
  }

  keep(simulationId: string, { sequence, saved, stateHash }: ForkPoint): void {
    this.#kept.set(`${simulationId} ${sequence}`, { saved, stateHash });
  }
}

/** The current point of a simulation. */
export async function pointNow(simulation: Simulation, recent: RecentPoints): Promise<ForkPoint> {
  const { state } = simulation.brokerage;
  // A simulation that follows a market knows quotes that its records lack.
  const isOwnMarket = simulation.market === simulation;
  const found = await simulation.standing(({ sequence, at }) => {
    const known = isOwnMarket ? recent.find(simulation.id, sequence) : undefined;
    return known === undefined
      ? { sequence, at, saved: saveState(state) }
      : { sequence, at, stateHash: known.stateHash, saved: { ...known.saved, now: state.now } };
  });
  if (found.stateHash !== undefined) return found;
  const point = { ...found, stateHash: await inSlices(hashingState(found.saved)) };
  if (isOwnMarket) recent.keep(simulation.id, point);
  return point;
}

/** A point in the past of a simulation. Throws `NoSuchPoint`. */
export async function pointInPast(
  store: Store,
  recent: RecentPoints,
  simulation: Simulation,
  origin: Origin,
  wanted: WantedPoint,
  snapshot: (snapshotId: string) => Snapshot | undefined,
): Promise<ForkPoint> {
  const { id, brokerage: present, journal } = simulation;
  const now = await simulation.standing((point) => point);
  let sequence: number;
  let at: Instant | undefined;
  let known: string | undefined;
  if ('snapshotId' in wanted) {
    const found = snapshot(wanted.snapshotId);
    if (found === undefined) throw new NoSuchPoint('snapshot');
    ({ sequence, stateHash: known } = found);
    at = Instant.ofMs(found.at);
  } else if ('at' in wanted) {
    ({ at } = wanted);
    if (at > now.at) throw new NoSuchPoint('later');
    if (at < origin.start) throw new NoSuchPoint('earlier');
    sequence = await journal.lastAt(id, at);
  } else {
    ({ sequence } = wanted);
    if (sequence > now.sequence) throw new NoSuchPoint('later');
  }
  const kept = simulation.market === simulation ? recent.find(id, sequence) : undefined;
  if (kept !== undefined) return { sequence, at: at ?? kept.saved.now, ...kept };
  const { state } = await brokerageAt(store, id, present.rules, origin, sequence);
  // This state is not shared.
  const saved = await inSlices(savingState(state));
  const point = {
    sequence,
    at: at ?? state.now,
    saved,
    stateHash: known ?? (await inSlices(hashingState(saved))),
  };
  if (simulation.market === simulation) recent.keep(id, point);
  return point;
}
