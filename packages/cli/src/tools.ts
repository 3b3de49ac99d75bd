import type { AgentCaps, AgentLevel } from '@sandpit/protocol';
import type { Command } from 'commander';
import { bridge } from './agent-bridge.js';
import { numberOf } from './numbers.js';
import type { Client } from './portfolios.js';

type AgentOptions = Omit<AgentCaps, 'symbols'> & { readonly level: AgentLevel; readonly symbols?: string };

export function addTools(program: Command, client: Client): void {
  program
    .command('mcp')
    .description('Serve tools for an agent on standard input and output (Model Context Protocol).')
    .option('--level <level>', 'read, preview, capped, full or control', 'read')
    .option('--max-order-notional <dollars>', 'level capped: largest amount of one opening order', numberOf)
    .option(
      '--max-notional <dollars>',
      'level capped: largest amount of all opening orders of a day',
      numberOf,
    )
    .option(
      '--max-orders-per-minute <count>',
      'level capped: orders placed or changed in 60 seconds',
      numberOf,
    )
    .option('--symbols <list>', 'level capped: tradable symbols, separated by commas')
    .option(
      '--max-daily-loss <dollars>',
      'level capped: loss since the last close after which only closing orders are accepted',
      numberOf,
    )
    .action(async (options: AgentOptions) => {
      const { level, symbols, ...numbers } = options;
      const caps = { ...numbers, ...(symbols !== undefined && { symbols: symbols.split(',') }) };
      const hasCaps = Object.keys(caps).length > 0;
      await bridge(await client(), { level, ...(hasCaps && { caps }) });
    });
}
