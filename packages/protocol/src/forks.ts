/** Points in the journal of a simulation, and simulations that continue from them (D171, D172). */
import { type Static, Type } from 'typebox';
import {
  anyText,
  choice,
  closed,
  count,
  flag,
  instant,
  optional,
  positive,
  simulatedTime,
  text,
  nameText,
} from './fields.js';
import { paged } from './paging.js';
import { ruled } from './rules.js';
import { clockSpeedBounds } from './simulation.js';
import { simulationFields, ttlField } from './simulations.js';

export const SnapshotBody = closed('SnapshotBody', {
  name: optional(text({ description: 'Unique in the simulation.', examples: ['fixture'] })),
});
export type SnapshotBody = Static<typeof SnapshotBody>;

export const Snapshot = closed('Snapshot', {
  snapshotId: anyText(),
  simulationId: anyText(),
  name: optional(anyText()),
  at: instant({ description: 'Simulated time.' }),
  sequence: count({ description: 'Number of journal records up to the snapshot; 0 = none.' }),
  stateHash: optional(
    anyText({ description: 'Hash of the state; absent until the checkpoint of the snapshot is written.' }),
  ),
  createdAt: instant(),
});
export type Snapshot = Static<typeof Snapshot>;

export const SnapshotPage = paged('SnapshotPage', Snapshot, 'Snapshots of the simulation, newest first.');
export type SnapshotPage = Static<typeof SnapshotPage>;

export const DeletedSnapshot = closed('DeletedSnapshot', { snapshotId: anyText(), message: anyText() });
export type DeletedSnapshot = Static<typeof DeletedSnapshot>;

const POINTS = ['snapshotId', 'at', 'sequence'] as const;

export const ForkFrom = ruled(
  closed('ForkFrom', {
    snapshotId: optional(text({ description: 'A snapshot of the simulation.' })),
    at: optional(
      simulatedTime({
        description: 'Simulated time, not after now. The fork begins with the last record at or before it.',
      }),
    ),
    sequence: optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Number of a journal record; 0 = the beginning. The clock starts at the time of the record.',
        'x-expected': 'must be a non-negative integer',
      }),
    ),
  }),
  (from, report) => {
    const [first, ...others] = POINTS.filter((point) => from[point] !== undefined);
    if (first === undefined) report.field('snapshotId', 'or at or sequence must be given');
    for (const other of others) report.field(other, `should not exist together with ${first ?? ''}`);
  },
);
export type ForkFrom = Static<typeof ForkFrom>;

export const ForkBody = ruled(
  closed('ForkBody', {
    name: optional(nameText()),
    from: optional(ForkFrom),
    clock: optional(choice(['manual', 'scaled'], { default: 'manual' })),
    speed: optional(
      positive(clockSpeedBounds, {
        description: 'Simulated seconds per real second, default 60. Scaled clocks only.',
      }),
    ),
    seed: optional(
      Type.Union([text(), Type.Integer()], {
        description:
          'Seed of random draws and synthetic prices after the fork; absent = those of the parent. Ids do not change.',
        'x-expected': 'must be a string or an integer',
      }),
    ),
    ttl: optional(ttlField()),
    ephemeral: optional(
      flag({
        description:
          'True: the fork is in memory alone, as that of an ephemeral simulation always is; `false` is 409 for such a parent. Absent = as the parent.',
      }),
    ),
  }),
  ({ clock, speed }, report) => {
    if (speed !== undefined && clock !== 'scaled')
      report.field('speed', 'should not exist for manual clocks');
  },
);
export type ForkBody = Static<typeof ForkBody>;

/** The answer of a fork: with a token of the same tenant for it. */
export const CreatedFork = closed('CreatedFork', {
  ...simulationFields,
  stateHash: anyText({ description: 'Hash of the state at the point of the fork.' }),
  token: anyText(),
});
export type CreatedFork = Static<typeof CreatedFork>;
