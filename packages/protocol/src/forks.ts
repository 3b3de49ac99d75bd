/** Points in the journal of a simulation, and simulations that continue from them (D171, D172). */
import { type Static, Type } from 'typebox';
import {
  anyText,
  choice,
  closed,
  count,
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
  sequence: count({ description: 'Journal records up to it; 0 = none.' }),
  stateHash: optional(
    anyText({ description: 'Hash of the state. Absent until the checkpoint of the snapshot is written.' }),
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
        description:
          'A simulated time, not after now. The last record at or before it, with the clock at it.',
      }),
    ),
    sequence: optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'A journal record, with the clock at its time; 0 = the beginning.',
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
        description: 'For a scaled clock: simulated seconds a second. Default: 60.',
      }),
    ),
    seed: optional(
      Type.Union([text(), Type.Integer()], {
        description:
          'Of draws and synthetic prices from the point on; absent = those of the parent. Ids are never changed by it.',
        'x-expected': 'must be a string or an integer',
      }),
    ),
    ttl: optional(ttlField()),
  }),
  ({ clock, speed }, report) => {
    if (speed !== undefined && clock !== 'scaled')
      report.field('speed', 'should not exist for manual clocks');
  },
);
export type ForkBody = Static<typeof ForkBody>;

/** The answer of a fork: with a token of the same tenant that lives in it. */
export const CreatedFork = closed('CreatedFork', {
  ...simulationFields,
  stateHash: anyText({ description: 'Hash of the state at the point, before anything of the fork itself.' }),
  token: anyText(),
});
export type CreatedFork = Static<typeof CreatedFork>;
