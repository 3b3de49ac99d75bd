/** Simulations of a tenant (D44): each with its own clock, calendar, feed, seed and accounts. */
import { type Static, Type } from 'typebox';
import { calendars, earlyAssignments, feeds } from './enums.js';
import {
  anyText,
  choice,
  closed,
  count,
  exactly,
  instant,
  namedChoice,
  number,
  optional,
  positive,
  simulatedTime,
  text,
} from './fields.js';
import { paged } from './paging.js';
import { ruled } from './rules.js';
import { ClockModeValue, clockSpeedBounds } from './simulation.js';

export const FeedValue = namedChoice('FeedKind', feeds);

export const CreateSimulationBody = ruled(
  closed(
    'CreateSimulationBody',
    {
      name: optional(text()),
      feed: FeedValue,
      clock: ClockModeValue,
      calendar: optional(choice(calendars)),
      start: optional(simulatedTime({ description: 'Where a manual or scaled clock starts.' })),
      speed: optional(positive(clockSpeedBounds, { description: 'For a scaled clock.' })),
      seed: optional(
        Type.Union([text(), Type.Integer()], {
          description: 'Where the ids, latencies and synthetic prices come from.',
          'x-expected': 'must be a string or an integer',
        }),
      ),
      earlyAssignment: optional(
        choice(earlyAssignments, {
          description: 'Which short options are assigned before they expire; absent = OFF.',
        }),
      ),
      replay: optional(
        text({
          description: 'For the replay feed: the recorded symbols, separated by commas; absent = all.',
        }),
      ),
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
    if (typeof body.replay === 'string' && body.replay.split(',').some((symbol) => symbol.trim() === '')) {
      report.field('replay', 'must be symbols, separated by commas');
    }
  },
);
export type CreateSimulationBody = Static<typeof CreateSimulationBody>;

const simulationFields = {
  simulationId: anyText(),
  name: optional(anyText()),
  feed: FeedValue,
  clock: ClockModeValue,
  calendar: choice(calendars),
  start: optional(instant()),
  speed: optional(number()),
  seed: optional(Type.Union([anyText(), Type.Integer()])),
  replay: optional(anyText()),
  earlyAssignment: choice(earlyAssignments),
  now: optional(instant({ description: 'By its clock.' })),
  createdAt: instant(),
  status: optional(
    exactly('BROKEN', {
      description:
        'Present where the simulation cannot be opened. Requests to it answer 503; it can still be deleted.',
    }),
  ),
  reason: optional(anyText({ description: 'Why the simulation cannot be opened.' })),
};

export const Simulation = closed('Simulation', simulationFields);
export type Simulation = Static<typeof Simulation>;

/** The answer of a create: with a token of the same tenant that lives in the new simulation. */
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

export const SimulationPage = paged('SimulationPage', Simulation, 'Simulations of the tenant.');
export type SimulationPage = Static<typeof SimulationPage>;

export const DeletedSimulation = closed('DeletedSimulation', { simulationId: anyText(), message: anyText() });
export type DeletedSimulation = Static<typeof DeletedSimulation>;
