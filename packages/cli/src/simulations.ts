import { accessSync, constants, createWriteStream, openAsBlob, renameSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as later } from 'node:timers/promises';
import type {
  AdvanceClockBody,
  Comparison,
  FixtureBody,
  ForkBody,
  StepBody,
  StepsBody,
} from '@sandpit/protocol';
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { type Output, printFields, printRows } from './output.js';
import type { Client } from './portfolios.js';
import { Refused } from './refused.js';
import { jsonArgument } from './rule-commands.js';

const COMPARED = ['name', 'status', 'totalEquity', 'difference', 'commissions', 'regulatoryFees', 'interest'];

const STEPPED = ['simulationId', 'now', 'hasMore', 'orders', 'cancels', 'error'];

/** Targets of a clock advance. */
const UNTIL = ['next-quote', 'next-event', 'next-open', 'next-close', 'next-bar'] as const;

/** Interval between two polls of an import, ms. */
const POLL_MS = 200;

export function addSimulations(program: Command, client: Client, out: Output): void {
  const simulations = program.command('sim').description('Create, list and delete simulations.');
  simulations
    .command('new')
    .description('Create a simulation with a manual clock.')
    .option('--start <time>', 'time at which its clock starts', '2026-01-05T10:00:00-05:00')
    .option('--seed <seed>', 'seed of ids, latencies and synthetic prices')
    .option('--feed <feed>', 'push, synthetic or replay', 'push')
    .option('--mask', 'hide symbols, dates and prices of the recording (feed replay)')
    .action(
      async ({
        start,
        seed,
        feed,
        mask,
      }: {
        start: string;
        seed?: string;
        feed: 'push' | 'synthetic' | 'replay';
        mask?: true;
      }) => {
        const body = {
          feed,
          clock: 'manual' as const,
          start,
          ...(seed !== undefined && { seed: seedOf(seed) }),
          ...(mask === true && { mask }),
        };
        printFields(out, await (await client()).call('createSimulation', { body }));
      },
    );
  simulations
    .command('list', { isDefault: true })
    .alias('ls')
    .description('List your simulations, newest first.')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listSimulations')) rows.push(one);
      printRows(out, rows, ['simulationId', 'name', 'feed', 'clock', 'calendar', 'createdAt']);
    });
  simulations
    .command('mask <simulationId>')
    .description('Print the tickers and factors behind which a recording is hidden.')
    .action(async (simulationId: string) => {
      const mask = await (await client()).call('getSimulationMask', { params: { simulationId } });
      const weeks = mask.weeks;
      printRows(
        out,
        mask.instruments.map((one) => ({ ...one, weeks })),
        ['symbol', 'ticker', 'factor', 'sizeFactor', 'weeks'],
      );
    });
  simulations
    .command('export <simulationId>')
    .description('Write a simulation to a file that `sandpit sim import` accepts, here or on another server.')
    .requiredOption('--to <file>', 'file to write')
    .action(async (simulationId: string, { to }: { to: string }) => {
      const file = await (await client()).exportSimulation(simulationId);
      const draft = `${to}.part`;
      await pipeline(file, createWriteStream(draft, { mode: 0o600 }));
      renameSync(draft, to);
      printFields(out, { simulationId, file: to });
    });
  simulations
    .command('import <file>')
    .description('Create a simulation from an exported file.')
    .action(async (path: string) => {
      // `openAsBlob` does not say which file it cannot read, or why.
      accessSync(path, constants.R_OK);
      if (!statSync(path).isFile()) throw new Refused(`${path} is not a file`);
      const asked = await client();
      const { simulationId } = await asked.importSimulation(await openAsBlob(path));
      for (;;) {
        const simulation = await asked.call('getSimulation', { params: { simulationId } });
        if (simulation.status === 'FAILED')
          throw new Refused(`The import failed: ${simulation.reason ?? ''}`);
        if (simulation.status !== 'IMPORTING') return printFields(out, simulation);
        await later(POLL_MS);
      }
    });
  simulations
    .command('snapshot <simulationId>')
    .description('Take a snapshot of a simulation; `main` is yours on the market of the server.')
    .option('--name <name>', 'name of the snapshot')
    .action(async (simulationId: string, { name }: { name?: string }) => {
      const body = name === undefined ? {} : { name };
      printFields(out, await (await client()).call('takeSnapshot', { params: { simulationId }, body }));
    });
  simulations
    .command('snapshots <simulationId>')
    .description('List the snapshots of a simulation, newest first.')
    .action(async (simulationId: string) => {
      const rows = [];
      for await (const one of (await client()).list('listSnapshots', { params: { simulationId } }))
        rows.push(one);
      printRows(out, rows, ['snapshotId', 'name', 'at', 'sequence']);
    });
  simulations
    .command('delete-snapshot <simulationId> <snapshotId>')
    .description('Delete a snapshot; forks of it stay.')
    .action(async (simulationId: string, snapshotId: string) => {
      const params = { simulationId, snapshotId };
      printFields(out, await (await client()).call('deleteSnapshot', { params }));
    });
  simulations
    .command('fork <simulationId>')
    .description('Fork a simulation: a new one with everything that it had at a point (default: now).')
    .option('--snapshot <snapshotId>', 'at a snapshot')
    .option('--at <time>', 'at a simulated time')
    .option('--sequence <number>', 'at a record of the journal', numberOf)
    .option('--name <name>', 'name of the fork')
    .option(
      '--speed <speed>',
      'simulated seconds per real second of a scaled clock (default: a manual clock)',
      numberOf,
    )
    .option('--seed <seed>', 'seed of latencies and synthetic prices from there on')
    .option('--ttl <duration>', 'delete the fork when it was not used for so long, such as PT1H')
    .action(async (simulationId: string, options: ForkOptions) => {
      const body = forkOf(options);
      printFields(out, await (await client()).call('forkSimulation', { params: { simulationId }, body }));
    });
  simulations
    .command('compare <simulationId> [brokerId...]')
    .description(
      'Re-execute the orders of a simulation under other brokers and print what each would have cost (default: all brokers).',
    )
    .option('--no-wait', 'print the comparison at once; `sandpit sim comparison` shows its result')
    .action(async (simulationId: string, brokerIds: string[], { wait }: { wait: boolean }) => {
      const sandpit = await client();
      const variants =
        brokerIds.length === 0
          ? ('all-brokers' as const)
          : brokerIds.map((brokerId) => ({ name: brokerId, brokerId }));
      const started = await sandpit.call('createComparison', {
        params: { simulationId },
        body: { variants },
      });
      const { comparisonId } = started;
      let comparison = started;
      while (wait && (comparison.status === 'QUEUED' || comparison.status === 'RUNNING'))
        comparison = await sandpit.call('getComparison', { params: { comparisonId }, query: { wait: 30 } });
      printComparison(out, comparison);
    });
  for (const [name, operation, description] of [
    ['comparison', 'getComparison', 'Show a comparison.'],
    ['cancel-comparison', 'cancelComparison', 'Cancel a comparison that waits or runs.'],
  ] as const)
    simulations
      .command(`${name} <comparisonId>`)
      .description(description)
      .action(async (comparisonId: string) => {
        printComparison(out, await (await client()).call(operation, { params: { comparisonId } }));
      });
  simulations
    .command('fill [fixture]')
    .description(
      'Fill the empty simulation of the token with a named book: every-status, active-trader, options-desk or retirement (default: list them).',
    )
    .action(async (name: FixtureBody['name'] | undefined) => {
      const sandpit = await client();
      if (name !== undefined) return printFields(out, await sandpit.call('fillFixture', { body: { name } }));
      const { data } = await sandpit.call('listFixtures');
      printRows(out, data, ['name', 'description']);
    });
  simulations
    .command('step [step]')
    .description(
      'Place orders, cancel, push quotes and advance the clock in one request, in the simulation of the token: a step as JSON.',
    )
    .option('--until <when>', `advance to ${UNTIL.join(', ')} or an ISO 8601 time`)
    .action(async (text: string | undefined, { until }: { until?: string }) => {
      const body = {
        ...(text === undefined
          ? {}
          : (jsonArgument(text, 'step', { advance: { until: 'next-bar' } }) as StepBody)),
        ...(until && { advance: goalOf(until) }),
      };
      printFields(out, await (await client()).step(body));
    });
  simulations
    .command('steps <steps>')
    .description(
      'Execute one step in each of several simulations: an array of steps as JSON, each with its `simulationId`.',
    )
    .action(async (text: string) => {
      const steps = jsonArgument(text, 'steps', [
        { simulationId: 'SIMULATION_ID', advance: { until: 'next-bar' } },
      ]) as StepsBody['steps'];
      const { results } = await (await client()).call('stepSimulations', { body: { steps } });
      printRows(out, results, STEPPED);
    });
  simulations
    .command('token <simulationId>')
    .description('Print another token of a simulation; `main` is yours on the market of the server.')
    .action(async (simulationId: string) => {
      printFields(out, await (await client()).call('createSimulationToken', { params: { simulationId } }));
    });
  simulations
    .command('delete <simulationId>')
    .alias('rm')
    .description('Delete a simulation with everything in it.')
    .action(async (simulationId: string) => {
      printFields(out, await (await client()).call('deleteSimulation', { params: { simulationId } }));
    });
  const clock = program.command('clock').description('Show and move the clock of the simulation.');
  clock
    .command('show', { isDefault: true })
    .description('Show the simulated time.')
    .action(async () => {
      printFields(out, await (await client()).call('getClock'));
    });
  clock
    .command('advance [by]')
    .description(
      'Advance a manual clock by 30s, 5m, 2h, 1d (the same time on the next date) or an ISO 8601 duration (PT5M).',
    )
    .option('--to <when>', `advance to ${UNTIL.join(', ')} or an ISO 8601 time`)
    .action(async (by: string | undefined, { to }: { to?: string }, command: Command) => {
      const when = to ?? (by?.startsWith('next-') === true ? by : undefined);
      if ((by === undefined && when === undefined) || (by !== undefined && to !== undefined))
        return command.error(
          'error: give either a duration (sandpit clock advance 5m) or --to (sandpit clock advance --to next-open)',
        );
      const asked = await client();
      if (when === undefined)
        return printFields(out, await asked.call('advanceClock', { body: { by: durationOf(by ?? '') } }));
      printFields(out, await asked.call('advanceClock', { body: goalOf(when) }));
    });
}

/** A row for each broker of a comparison that has results; before that, its status. */
function printComparison(out: Output, comparison: Comparison): void {
  const { base, variants = [] } = comparison;
  if (base === undefined || !out.isTerminal) return printFields(out, comparison);
  printRows(out, [base, ...variants], COMPARED);
}

/** A seed as the API reads it: digits are a number, anything else is text. */
const seedOf = (text: string): number | string => (/^\d{1,15}$/.test(text) ? Number(text) : text);

interface ForkOptions {
  readonly snapshot?: string;
  readonly at?: string;
  readonly sequence?: number;
  readonly name?: string;
  readonly speed?: number;
  readonly seed?: string;
  readonly ttl?: string;
}

/** The body of a fork. The server checks names and values. */
function forkOf({ snapshot, at, sequence, name, speed, seed, ttl }: ForkOptions): ForkBody {
  const points = [
    ...(snapshot !== undefined ? [{ snapshotId: snapshot }] : []),
    ...(at !== undefined ? [{ at }] : []),
    ...(sequence !== undefined ? [{ sequence }] : []),
  ];
  const [from, ...others] = points;
  if (others.length > 0) throw new Refused('Give one of --snapshot, --at and --sequence');
  return {
    ...(name !== undefined && { name }),
    ...(from !== undefined && { from }),
    ...(speed !== undefined && { clock: 'scaled' as const, speed }),
    ...(seed !== undefined && { seed: seedOf(seed) }),
    ...(ttl !== undefined && { ttl: durationOf(ttl) }),
  };
}

/** Target of an advance: a named goal or a time. */
function goalOf(when: string): AdvanceClockBody {
  const until = UNTIL.find((word) => word === when);
  return until === undefined ? { to: when } : { until };
}

/** `5m` → `PT5M`; ISO 8601 durations stay unchanged. */
export function durationOf(text: string): string {
  const [, count, unit] = /^(\d+)([smhdw])$/i.exec(text) ?? [];
  if (count === undefined || unit === undefined) return text;
  const isTime = /[smh]/i.test(unit);
  return `P${isTime ? 'T' : ''}${count}${unit.toUpperCase()}`;
}
