import { Instant, saveState, stateHash } from '@sandpit/core';
import type { SavedState } from '@sandpit/core';
import type { Store } from '../store/store.js';
import { brokerageAt } from './recovery.js';
import type { Origin } from './recovery.js';
import type { Simulation } from './simulation.js';
import type { Snapshot } from './snapshots.js';

/** Where a fork is to begin: with a snapshot, at a simulated instant, behind a record; absent = now. */
export type WantedPoint =
  { readonly snapshotId: string } | { readonly at: Instant } | { readonly sequence: number };

/** Where a simulation stood. */
export interface ForkPoint {
  /** Of the last record. */
  readonly sequence: number;
  /** Where a clock stands that goes on from here. */
  readonly at: Instant;
  /** As of the record. */
  readonly saved: SavedState;
  readonly stateHash: string;
}

/** There is no such point in the journal: `reason` says why. */
export class NoSuchPoint extends Error {
  override readonly name = 'NoSuchPoint';
  readonly reason: 'snapshot' | 'later' | 'earlier';

  constructor(reason: NoSuchPoint['reason']) {
    super(`no such point: ${reason}`);
    this.reason = reason;
  }
}

/** The point as which a simulation stands now. */
export async function pointNow(simulation: Simulation): Promise<ForkPoint> {
  const { state } = simulation.brokerage;
  return simulation.standing((standing) => ({
    ...standing,
    saved: saveState(state),
    stateHash: stateHash(state),
  }));
}

/** A point in the past of a simulation. Throws `NoSuchPoint`. */
export async function pointInPast(
  store: Store,
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
  const brokerage = await brokerageAt(store, id, present.rules, origin, sequence);
  const { state } = brokerage;
  return {
    sequence,
    at: at ?? state.now,
    saved: saveState(state),
    stateHash: known ?? stateHash(state),
  };
}
