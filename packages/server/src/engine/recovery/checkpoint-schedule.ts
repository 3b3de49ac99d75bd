import { setTimeout as later } from 'node:timers/promises';
import { savedParts, stateToSave } from '@sandpit/core';
import type { Brokerage } from '@sandpit/core';
import { NO_CHECKPOINTS } from '../../store/checkpoints.js';
import type { Checkpoints, SavedCheckpoint } from '../../store/checkpoints.js';
import type { Records } from '../records/records.js';
import { linesOf } from './state-lines.js';

/**
 * Records behind a checkpoint after which the next one is made, and a tenth as many again as there are open orders and portfolios: each of
 * them is a line to write. Recovery then reads for seconds at most (bench/recovery.ts).
 */
const RECORDS_BEHIND = 20_000;
const LINES_FOR_A_RECORD = 10;
/** The thread reads this many records ahead at a time, so that little work remains when the next checkpoint is due. */
const RECORDS_AHEAD = 4_000;
/** Recovery reads fewer records than this in negligible time: a checkpoint is not worth it. */
export const WORTH_A_CHECKPOINT = 1000;
/** Parts of the largest state that is saved here, in some milliseconds. The state of a larger one is derived again in a thread. */
const MOST_SAVED_HERE = 1_000;

/** A simulation whose checkpoints are made. */
export interface CheckpointedSimulation {
  readonly id: string;
  readonly brokerage: Brokerage;
  readonly records: Pick<Records, 'seq' | 'at' | 'published'>;
  /** Position in the market's journal by the records. */
  recordedMarketSeq(): number;
  /** False while a change of the market is applied in part: the state is then that of no record. */
  isSettled(): boolean;
  /** Resolves when all records so far, and those of the market that they follow from, are durable. */
  durable(): Promise<void>;
}

/** Decides when a checkpoint of a simulation is made, and saves a small state itself. */
export class CheckpointSchedule {
  readonly #simulation: CheckpointedSimulation;
  readonly #checkpoints: Checkpoints;
  /** Record of the latest checkpoint. */
  #seq: number;
  /** Record up to which the checkpoint thread has been told to read. */
  #ahead: number;
  #isMaking = false;

  constructor(simulation: CheckpointedSimulation, checkpoints: Checkpoints, seq: number) {
    this.#simulation = simulation;
    this.#checkpoints = checkpoints;
    this.#seq = seq;
    this.#ahead = seq;
  }

  /** Requests a checkpoint if one is due. */
  makeIfDue(): void {
    if (this.#isMaking || this.#checkpoints === NO_CHECKPOINTS) return;
    const { records, brokerage } = this.#simulation;
    const seq = records.published;
    const { orders, portfolios } = brokerage.state;
    const isDue = seq - this.#seq >= RECORDS_BEHIND + (orders.size + portfolios.size) / LINES_FOR_A_RECORD;
    if (!isDue && seq - this.#ahead < RECORDS_AHEAD) return;
    const isSmall = this.#isSmall();
    if (isSmall && !this.#simulation.isSettled()) return;
    this.#ahead = seq;
    if (!isDue) {
      if (!isSmall) this.#checkpoints.readAhead(this.#simulation.id);
      return;
    }
    this.#isMaking = true;
    this.#make(isSmall).then(
      (made) => {
        // Without one, the next try follows after the same number of records.
        this.#seq = made === 0 ? seq : Math.max(made, this.#seq);
        this.#isMaking = false;
      },
      () => {
        // Recovery is slower without it; the next try follows likewise.
        this.#seq = seq;
        this.#isMaking = false;
      },
    );
  }

  /** Leaves one, so that the next start reads little. Waits for it for `patienceMs`; absent = until it is made. */
  async atTheEnd(patienceMs?: number): Promise<void> {
    if (this.#checkpoints === NO_CHECKPOINTS) return;
    if (this.#simulation.records.published - this.#seq < WORTH_A_CHECKPOINT) return;
    const made = this.#make(this.#isSmall() && this.#simulation.isSettled()).catch(() => 0);
    await (patienceMs === undefined ? made : Promise.race([made, later(patienceMs)]));
  }

  #isSmall(): boolean {
    return savedParts(this.#simulation.brokerage.state, MOST_SAVED_HERE) < MOST_SAVED_HERE;
  }

  async #make(isSavedHere: boolean): Promise<number> {
    const { id } = this.#simulation;
    if (!isSavedHere) return this.#checkpoints.make(id);
    const state = this.#save();
    // A server does not start with a checkpoint of more records than its journal has, and a crash loses records that are not durable.
    await this.#simulation.durable();
    return this.#checkpoints.make(id, state);
  }

  #save(): SavedCheckpoint {
    const { brokerage, records } = this.#simulation;
    const { seq, at: now } = records;
    // Time continues and the market is followed without records: recovery repeats both from the last record.
    const state = { ...brokerage.state, now, marketSeq: this.#simulation.recordedMarketSeq() };
    return { seq, lines: [...linesOf(stateToSave(state))] };
  }
}
