import { createWriteStream, renameSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { CompetitionBody, UpdateCompetitionBody } from '@sandpit/protocol';
import type { Command } from 'commander';
import { type Output, printFields, printRows } from './output.js';
import type { Client } from './portfolios.js';
import { jsonFile } from './rule-commands.js';
import { refuseOptionsBefore } from './server-commands.js';

const COLUMNS = ['competitionId', 'name', 'status', 'scoring', 'entries', 'now'];
const ENTRIES = ['entryId', 'displayName', 'status', 'portfolioId', 'simulationId', 'reason'];
const BOARD = ['rank', 'displayName', 'totalEquity', 'return', 'score', 'maxDrawdown', 'trades', 'status'];

const CURVE = ['rank', 'displayName', 'at', 'equity'];

export function addCompetitions(program: Command, client: Client, out: Output): void {
  const competitions = program.command('competition').description('Organize and enter competitions.');
  competitions
    .command('list', { isDefault: true })
    .alias('ls')
    .description('List competitions that you may see, newest first.')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listCompetitions')) rows.push(one);
      printRows(out, rows, COLUMNS);
    });
  competitions
    .command('new <file>')
    .description('Create a competition from a JSON file with the body of `POST /v1/competitions`.')
    .action(async (file: string) => {
      const body = jsonFile(file) as CompetitionBody;
      printFields(out, await (await client()).call('createCompetition', { body }));
    });
  competitions
    .command('edit <competitionId> <file>')
    .description('Edit a competition: a JSON file with the body of `PUT /v1/competitions/{competitionId}`.')
    .action(async (competitionId: string, file: string) => {
      const body = jsonFile(file) as UpdateCompetitionBody;
      printFields(out, await (await client()).call('updateCompetition', { params: { competitionId }, body }));
    });
  for (const [name, operation, description] of [
    ['show', 'getCompetition', 'Show a competition.'],
    ['start', 'startCompetition', 'Open trading, or resume it.'],
    ['pause', 'pauseCompetition', 'Pause trading.'],
    ['finish', 'finishCompetition', 'End trading and make the final result.'],
    ['cancel', 'cancelCompetition', 'Cancel a competition, or delete one that is over.'],
  ] as const)
    competitions
      .command(`${name} <competitionId>`)
      .description(description)
      .action(async (competitionId: string) => {
        printFields(out, await (await client()).call(operation, { params: { competitionId } }));
      });
  competitions
    .command('enter <competitionId> <displayName>')
    .description('Enter a competition; prints the token that trades the entry.')
    .option('--code <joinCode>', 'join code')
    .action(async (competitionId: string, displayName: string, { code }: { code?: string }) => {
      const body = { displayName, ...(code !== undefined && { joinCode: code }) };
      printFields(out, await (await client()).call('enterCompetition', { params: { competitionId }, body }));
    });
  competitions
    .command('entries <competitionId>')
    .description('List your entries, oldest first; all entries of a competition that you organize.')
    .action(async (competitionId: string) => {
      const rows = [];
      for await (const one of (await client()).list('listEntries', { params: { competitionId } }))
        rows.push(one);
      printRows(out, rows, ENTRIES);
    });
  for (const [name, operation, description] of [
    ['token', 'createEntryToken', 'Issue another token for an entry of yours.'],
    ['withdraw', 'withdrawEntry', 'Withdraw an entry of yours: its orders are canceled.'],
  ] as const)
    competitions
      .command(`${name} <competitionId> <entryId>`)
      .description(description)
      .action(async (competitionId: string, entryId: string) => {
        printFields(out, await (await client()).call(operation, { params: { competitionId, entryId } }));
      });
  competitions
    .command('disqualify <competitionId> <entryId>')
    .description('Disqualify an entry of a competition that you organize.')
    .option('--reason <reason>', 'shown with the entry')
    .action(async (competitionId: string, entryId: string, { reason }: { reason?: string }) => {
      const params = { competitionId, entryId };
      const body = { status: 'DISQUALIFIED' as const, ...(reason !== undefined && { reason }) };
      printFields(out, await (await client()).call('disqualifyEntry', { params, body }));
    });
  competitions
    .command('leaderboard <competitionId>')
    .description('Print the leaderboard.')
    .action(async (competitionId: string) => {
      const { rows } = await (await client()).call('getLeaderboard', { params: { competitionId } });
      printRows(out, rows, BOARD);
    });
  competitions
    .command('curves <competitionId>')
    .description('Print the equity curves of the first ten of the leaderboard.')
    .action(async (competitionId: string) => {
      const { curves } = await (await client()).call('getLeaderboardCurves', { params: { competitionId } });
      const rows = curves.flatMap(({ points, ...leader }) =>
        points.map((point) => ({ ...leader, ...point })),
      );
      printRows(out, rows, CURVE);
    });
  competitions
    .command('export <competitionId>')
    .description('Write a finished competition to a file that `sandpit competition verify` checks.')
    .requiredOption('--to <file>', 'file to write')
    .action(async (competitionId: string, { to }: { to: string }) => {
      const file = await (await client()).exportCompetition(competitionId);
      const draft = `${to}.part`;
      await pipeline(file, createWriteStream(draft, { mode: 0o600 }));
      renameSync(draft, to);
      printFields(out, { competitionId, file: to });
    });
  // Runs on this machine, without a server: see `server-commands.ts`.
  const verify = competitions
    .command('verify <file>')
    .description('Execute the journals of an exported competition again and compare its result.')
    .option('--scoring <scoring>', 'rank by another scoring: TOTAL_RETURN, SHARPE, SORTINO or CALMAR');
  refuseOptionsBefore(verify, 'competition verify');
}
