/** Text to replace in a module of the server, once, before a rig runs it. */
export interface Patch {
  /** The end of its path. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const SCHEDULE = 'server/dist/engine/recovery/checkpoint-schedule.js';

/** Checkpoints every so many records, so that short runs have some. */
export const checkpointsEvery = (records: number): readonly Patch[] => [
  { file: SCHEDULE, from: 'RECORDS_BEHIND = 20_000', to: `RECORDS_BEHIND = ${records}` },
  { file: SCHEDULE, from: 'RECORDS_AHEAD = 4_000', to: `RECORDS_AHEAD = ${Math.ceil(records / 4)}` },
  // Small states and large ones.
  { file: SCHEDULE, from: 'MOST_SAVED_HERE = 1_000', to: 'MOST_SAVED_HERE = 60' },
  { file: SCHEDULE, from: 'WORTH_A_CHECKPOINT = 1000', to: 'WORTH_A_CHECKPOINT = 1' },
];
