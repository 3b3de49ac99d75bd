/** Simulations of a tenant (D44): each with its own clock, calendar, feed, seed and accounts. */
import { type Static, Type } from 'typebox';
import { calendars, earlyAssignments, feeds, simulationStatuses } from './enums.js';
import {
  anyText,
  choice,
  closed,
  count,
  duration,
  exactly,
  flag,
  instant,
  namedChoice,
  nameText,
  number,
  optional,
  positive,
  simulatedTime,
  text,
} from './fields.js';
import { maskField, MaskParts, reportMaskOnWall } from './masks.js';
import { paged } from './paging.js';
import { ruled } from './rules.js';
import { ClockModeValue, clockSpeedBounds } from './simulation.js';

export const FeedValue = namedChoice('FeedKind', feeds);

/** Retention of an unused simulation. */
export function ttlField() {
  return duration({
    description:
      'Wall-clock time without a request after which the simulation is deleted, at most P10Y. Default: never.',
    examples: ['PT1H'],
  });
}

/** A simulation without stored data. */
export function ephemeralField() {
  return flag({
    description:
      'True: the simulation is in memory alone, and responses wait for no disk. It ends with the server, its `ttl` or its deletion; competitions and webhooks cannot have it.',
  });
}

/** Position at which a fork left the journal of its parent. */
export const ForkParent = closed('ForkParent', {
  simulationId: anyText(),
  sequence: count({ description: 'Last journal record that both simulations share.' }),
});

export const CreateSimulationBody = ruled(
  closed(
    'CreateSimulationBody',
    {
      name: optional(nameText()),
      feed: FeedValue,
      clock: ClockModeValue,
      calendar: optional(choice(calendars)),
      start: optional(simulatedTime({ description: 'Start time of a manual or scaled clock.' })),
      speed: optional(
        positive(clockSpeedBounds, { description: 'Simulated seconds per real second. Scaled clocks only.' }),
      ),
      seed: optional(
        Type.Union([text(), Type.Integer()], {
          description: 'Seed of ids, latencies and synthetic prices.',
          'x-expected': 'must be a string or an integer',
        }),
      ),
      earlyAssignment: optional(
        choice(earlyAssignments, {
          description: 'Early assignment of short options; absent = OFF.',
        }),
      ),
      luld: optional(
        flag({
          description: 'Price bands and volatility pauses apply (LULD); absent = false.',
        }),
      ),
      shortSaleRestriction: optional(
        flag({
          description:
            'Short sales are restricted after a decline of 10 % (Rule 201); absent = true with calendar XNYS, else false.',
        }),
      ),
      scripts: optional(
        flag({
          description: 'True if a `clientOrderId` that begins with `~` scripts its own order; absent = true.',
        }),
      ),
      replay: optional(
        text({
          description: 'Recorded symbols, separated by commas; absent = all. Replay feed only.',
        }),
      ),
      mask: optional(maskField('Hides parts of a recording, equities only; true = all.')),
      ttl: optional(ttlField()),
      ephemeral: optional(ephemeralField()),
    },
    {
      examples: [
        { name: 'my test', feed: 'push', clock: 'manual', calendar: 'XNYS', start: '2026-01-05T14:30:00Z' },
      ],
    },
  ),
  (body, report) => {
    const { feed, clock } = body;
    if (body.start !== undefined && clock === 'wall') {
      report.field('start', 'should not exist for wall clocks');
    }
    if (body.speed !== undefined && (clock === 'wall' || clock === 'manual')) {
      report.field('speed', `should not exist for ${clock} clocks`);
    }
    if (body.replay !== undefined && (feed === 'synthetic' || feed === 'push')) {
      report.field('replay', `should not exist for ${feed} feeds`);
    }
    if (body.mask !== undefined && typeof feed === 'string' && feed !== 'replay')
      report.field('mask', `should not exist for ${feed} feeds`);
    else reportMaskOnWall(body, report);
    if (feed === 'live') {
      if (body.luld === true) report.field('luld', 'should not exist for live feeds');
      if (clock !== undefined && clock !== 'wall') report.field('clock', 'must be wall for live feeds');
      if (body.calendar !== undefined && body.calendar !== 'XNYS')
        report.field('calendar', 'must be XNYS for live feeds');
      if (body.replay !== undefined) report.field('replay', 'should not exist for live feeds');
    }
    if (typeof body.replay === 'string' && body.replay.split(',').some((symbol) => symbol.trim() === '')) {
      report.field('replay', 'must be symbols, separated by commas');
    }
  },
);
export type CreateSimulationBody = Static<typeof CreateSimulationBody>;

/** Fields of every simulation. */
export const simulationFields = {
  simulationId: anyText(),
  name: optional(anyText()),
  feed: FeedValue,
  clock: ClockModeValue,
  calendar: choice(calendars),
  start: optional(instant()),
  speed: optional(number()),
  seed: optional(Type.Union([anyText(), Type.Integer()])),
  replay: optional(anyText()),
  mask: optional(MaskParts),
  earlyAssignment: choice(earlyAssignments),
  luld: optional(flag({ description: 'Whether limit up, limit down is simulated.' })),
  shortSaleRestriction: optional(flag({ description: 'Whether Rule 201 is simulated.' })),
  scripts: optional(
    flag({ description: 'True if a `clientOrderId` that begins with `~` scripts its own order.' }),
  ),
  parent: optional(ForkParent),
  importedFrom: optional(
    anyText({
      description: 'Id of the parent of an imported fork on the server of the export.',
    }),
  ),
  ttl: optional(
    anyText({ description: 'Wall-clock time without a request after which the simulation is deleted.' }),
  ),
  ephemeral: optional(
    flag({ description: 'True: the simulation is in memory alone. Absent for a stored simulation.' }),
  ),
  now: optional(instant({ description: 'Current time of the simulation.' })),
  createdAt: instant(),
  status: optional(
    choice(simulationStatuses, {
      description:
        'State of an imported simulation, or of one that cannot be opened. Requests to an IMPORTING, FAILED or BROKEN simulation answer 503; deleting it works.',
    }),
  ),
  reason: optional(
    anyText({ description: 'Why the import failed, or why the simulation cannot be opened.' }),
  ),
};

export const Simulation = closed('Simulation', simulationFields);
export type Simulation = Static<typeof Simulation>;

/** The answer of a create: with a token of the same tenant for the new simulation. */
export const CreatedSimulation = closed('CreatedSimulation', { ...simulationFields, token: anyText() });
export type CreatedSimulation = Static<typeof CreatedSimulation>;

/** Another token for a simulation (D146). */
export const SimulationToken = closed('SimulationToken', {
  simulationId: anyText(),
  token: anyText({ description: 'A JWT, for `Authorization: Bearer`.' }),
  tokenType: exactly('Bearer'),
  expiresIn: count({ description: 'Seconds.' }),
  expiresAt: instant(),
});
export type SimulationToken = Static<typeof SimulationToken>;

/** A line of an exported simulation (D170). */
export const ExportLine = Type.Union(
  [
    Type.Object(
      {
        type: exactly('header'),
        format: Type.Integer({ description: 'Format of the file.' }),
        simulationId: anyText({ description: 'Id of the exported simulation.' }),
        config: Type.Object(
          {},
          { description: 'Configuration of the simulation, with its seed and the secret of its ids.' },
        ),
      },
      { title: 'Header' },
    ),
    Type.Object(
      {
        type: exactly('list'),
        digest: anyText({ description: 'SHA-256 of `text`, in hex; records refer to the list by it.' }),
        text: anyText({ description: 'Brokers or instruments, as JSON text.' }),
      },
      { title: 'List of the rules in force' },
    ),
    Type.Object(
      {
        seq: Type.Integer({ description: 'Number of the record, from 1 without gaps.' }),
        at: Type.Integer({ description: 'Simulated time in milliseconds since 1970-01-01T00:00:00Z.' }),
        command: Type.Object({}, { description: 'The command.' }),
        events: Type.Array(Type.Object({}), { description: 'The resulting events.' }),
      },
      { title: 'Record' },
    ),
    Type.Object(
      {
        type: exactly('trailer'),
        records: count({ description: 'Number of records.' }),
        hash: anyText({
          description:
            'Hash of the last line before this one. The hash of a line is the SHA-256, in hex, of the hash of the line before it followed by the line without its end.',
        }),
      },
      { title: 'Trailer' },
    ),
  ],
  { $id: 'ExportLine', description: 'Lines of JSON: a header, lists of rules, records, a trailer.' },
);
export type ExportLine = Static<typeof ExportLine>;

export const SimulationPage = paged('SimulationPage', Simulation, 'Simulations of the tenant.');
export type SimulationPage = Static<typeof SimulationPage>;

export const DeletedSimulation = closed('DeletedSimulation', { simulationId: anyText(), message: anyText() });
export type DeletedSimulation = Static<typeof DeletedSimulation>;
