import { setTimeout as later } from 'node:timers/promises';
import type { Brokerage } from '@sandpit/core';
import type { Checkpoints } from '../store/checkpoints.js';

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

/** Decides when a checkpoint of a simulation is made. */
export class CheckpointSchedule {
  readonly #simulationId: string;
  readonly #checkpoints: Checkpoints;
  /** Record of the latest checkpoint. */
  #seq: number;
  /** Record up to which the checkpoint thread has been told to read. */
  #ahead: number;
  #isMaking = false;

  constructor(simulationId: string, checkpoints: Checkpoints, seq: number) {
    this.#simulationId = simulationId;
    this.#checkpoints = checkpoints;
    this.#seq = seq;
    this.#ahead = seq;
  }

  /** Requests a checkpoint if one is due. `seq`: of the last durable record. */
  look(seq: number, { state }: Brokerage): void {
    if (this.#isMaking) return;
    const lines = state.orders.size + state.portfolios.size;
    const isDue = seq - this.#seq >= RECORDS_BEHIND + lines / LINES_FOR_A_RECORD;
    if (!isDue && seq - this.#ahead < RECORDS_AHEAD) return;
    this.#ahead = seq;
    if (!isDue) {
      this.#checkpoints.readAhead(this.#simulationId);
      return;
    }
    this.#isMaking = true;
    this.#checkpoints.make(this.#simulationId).then(
      (made) => {
        this.#seq = Math.max(made, this.#seq);
        this.#isMaking = false;
      },
      () => {
        // Recovery is slower without it; the next try follows after the same number of records.
        this.#seq = seq;
        this.#isMaking = false;
      },
    );
  }

  /** Leaves one, so that the next start reads little. Waits for it for `patienceMs`; absent = until it is made. */
  async atTheEnd(seq: number, patienceMs?: number): Promise<void> {
    if (seq - this.#seq < WORTH_A_CHECKPOINT) return;
    const made = this.#checkpoints.make(this.#simulationId).catch(() => 0);
    await (patienceMs === undefined ? made : Promise.race([made, later(patienceMs)]));
  }
}
