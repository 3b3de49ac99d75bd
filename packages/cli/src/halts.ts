import type { Command } from 'commander';
import { type Output, printFields, printRows } from './output.js';
import type { Client } from './portfolios.js';
import { durationOf } from './simulations.js';

export function addHalts(program: Command, client: Client, out: Output): void {
  program
    .command('halt <symbol> [reason]')
    .description('Halt trading in a symbol, or with * in the whole market (default reason: LUDP).')
    .option('--for <duration>', '30s, 5m, 2h, 1d (default: as long as halts for this reason last)')
    .option('--until <time>', 'time at which it ends')
    .action(async (symbol: string, reason: string | undefined, given: { for?: string; until?: string }) => {
      const body = {
        symbol,
        reason: reason ?? 'LUDP',
        ...(given.for !== undefined && { for: durationOf(given.for) }),
        ...(given.until !== undefined && { until: given.until }),
      };
      printFields(out, await (await client()).call('haltTrading', { body }));
    });
  program
    .command('halts')
    .description('List the halts in force.')
    .action(async () => {
      const { data } = await (await client()).call('listHalts');
      printRows(out, data, ['symbol', 'reason', 'since', 'until']);
    });
  program
    .command('resume <symbol>')
    .description('Lift the halt of a symbol.')
    .action(async (symbol: string) => {
      printFields(out, await (await client()).call('liftHalt', { params: { symbol } }));
    });
}
