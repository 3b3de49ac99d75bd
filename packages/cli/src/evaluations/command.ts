import { createWriteStream, renameSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { EvaluationBody } from '@sandpit/protocol';
import { type Command, InvalidArgumentError } from 'commander';
import { type Output, printFields, printRows } from '../output.js';
import type { Client } from '../portfolios.js';
import { jsonFile } from '../rule-commands.js';
import { RunFailure } from '../run/run-failure.js';
import { refuseOptionsBefore } from '../server-commands.js';
import type { Agent } from './evaluation-run.js';

const COLUMNS = ['evaluationId', 'name', 'status', 'cells', 'visibility', 'createdAt'];
const SUITES = ['name', 'scenarios', 'tasks', 'digest'];
const SUMMARY = ['entrant', 'cells', 'abandoned', 'mean', 'stderr', 'tasksPassed', 'requests', 'wallSeconds'];
const PAIRS = ['a', 'b', 'cells', 'mean', 'stderr', 'wins', 'losses', 'ties'];
const RANKS = ['rank', 'entrant', 'score', 'stderr', 'cells', 'abandoned', 'tasksPassed', 'requests'];
/** Rows of a leaderboard that are printed. */
const MOST_RANKS = 500;
/** Exit code of a run that failed for a reason of Sandpit, not of a command. */
const FAILED = 70;

interface EvaluationSurroundings {
  readonly client: Client;
  readonly out: Output;
  readonly complain: (text: string) => void;
  /** The server that the command line names. */
  readonly globals: () => { readonly url?: string };
  readonly exit: (code: number) => void;
}

interface RunOptions {
  readonly agent: readonly Agent[];
  readonly parallel: number;
  readonly isolate?: boolean;
  readonly to?: string;
  readonly replay?: string;
}

export function addEvaluations(program: Command, surroundings: EvaluationSurroundings): void {
  const { client, out } = surroundings;
  const evaluations = program.command('eval').description('Evaluate agents and strategies.');
  evaluations
    .command('list', { isDefault: true })
    .alias('ls')
    .description('List your evaluations, newest first.')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listEvaluations')) rows.push(one);
      printRows(out, rows, COLUMNS);
    });
  evaluations
    .command('suites')
    .description('List the suites that ship with the server.')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listEvaluationSuites')) rows.push(one);
      printRows(out, rows, SUITES);
    });
  evaluations
    .command('new <file>')
    .description('Create an evaluation from a JSON file with the body of `POST /v1/evaluations`.')
    .action(async (file: string) => {
      const body = jsonFile(file) as EvaluationBody;
      printFields(out, await (await client()).call('createEvaluation', { body }));
    });
  evaluations
    .command('enter <evaluationId> <entrant>')
    .description('Enter an agent; prints its cells with a token for each.')
    .action(async (evaluationId: string, entrant: string) => {
      const request = { params: { evaluationId }, body: { entrant } };
      printFields(out, await (await client()).call('enterEvaluation', request));
    });
  evaluations
    .command('leaderboard <evaluationId>')
    .description('Print the leaderboard.')
    .action(async (evaluationId: string) => {
      const request = { params: { evaluationId }, query: { limit: MOST_RANKS } };
      const { rows } = await (await client()).call('getEvaluationLeaderboard', request);
      printRows(out, rows, RANKS);
    });
  evaluations
    .command('export <evaluationId>')
    .description('Write an evaluation to a file that `sandpit eval verify` checks.')
    .requiredOption('--to <file>', 'file to write')
    .action(async (evaluationId: string, { to }: { to: string }) => {
      const file = await (await client()).exportEvaluation(evaluationId);
      const draft = `${to}.part`;
      await pipeline(file, createWriteStream(draft, { mode: 0o600 }));
      renameSync(draft, to);
      printFields(out, { evaluationId, file: to });
    });
  addRun(evaluations, surroundings);
  // Runs on this machine, without a server: see `server-commands.ts`.
  const verify = evaluations
    .command('verify <file>')
    .description('Execute and grade the journals of an exported evaluation again and compare its result.')
    .option('--score <score>', 'rank by another score: a figure, tasksPassed, or weights as JSON');
  refuseOptionsBefore(verify, 'eval verify');
}

function addRun(
  evaluations: Command,
  { client, out, complain, globals, exit }: EvaluationSurroundings,
): void {
  evaluations
    .command('run <file>')
    .description(
      'Run agents through an evaluation: a JSON file with the body of `POST /v1/evaluations`. Each cell starts the command of the agent in an empty folder, with SANDPIT_URL, SANDPIT_TOKEN, SANDPIT_PORTFOLIO and SANDPIT_MCP.',
    )
    .requiredOption(
      '--agent <name=command>',
      'an agent and the command that plays a cell; can be repeated',
      agentNamed,
      [],
    )
    .option('--parallel <n>', 'cells that are played at a time', wholeNumber, 1)
    .option('--isolate', 'give the commands a network without any other host (Linux)')
    .option('--to <file>', 'write the evaluation to a file that `sandpit eval verify` checks')
    .option('--replay <directory>', 'recordings for a server of the run')
    .action(async (file: string, options: RunOptions, self: Command) => {
      const { url } = globals();
      const { agent: agents, parallel, isolate = false, to, replay } = options;
      if (agents.length === 0) return self.error('error: --agent is required');
      if (url !== undefined && replay !== undefined)
        return self.error('error: --replay is for a server of the run, without --url');
      const body = jsonFile(file) as EvaluationBody;
      const { runEvaluation } = await import('./evaluation-run.js');
      try {
        const { summary, paired } = await runEvaluation({
          body,
          agents,
          parallel,
          isIsolated: isolate,
          ...(to !== undefined && { to }),
          ...(url !== undefined && { client: await client() }),
          settings: replay === undefined ? {} : { REPLAY_PATH: resolve(replay) },
          say: (line) => complain(`${line}\n`),
        });
        if (!out.isTerminal) return out.write(`${JSON.stringify({ summary, paired }, null, 2)}\n`);
        printRows(out, summary, SUMMARY);
        out.write('\n');
        printRows(out, paired, PAIRS);
      } catch (error) {
        if (!(error instanceof RunFailure)) throw error;
        complain(`sandpit eval run: ${error.message}\n`);
        exit(FAILED);
      }
    });
}

function agentNamed(text: string, before: readonly Agent[]): readonly Agent[] {
  const end = text.indexOf('=');
  const [name, command] = [text.slice(0, end).trim(), text.slice(end + 1).trim()];
  if (end < 1 || name === '' || command === '') throw new InvalidArgumentError('It is NAME=COMMAND.');
  return [...before, { name, command }];
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 to 999.');
  return Number(text);
}
