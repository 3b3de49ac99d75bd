import type { FaultBody } from '@sandpit/protocol';
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { type Output, printFields } from './output.js';
import type { Client } from './portfolios.js';
import { addRuleCommands, countsOf, jsonArgument } from './rule-commands.js';

interface FaultOptions {
  readonly method?: NonNullable<FaultBody['match']['method']>;
  readonly path?: string;
  readonly skip?: number;
  readonly times?: number;
  readonly chance?: number;
}

export function addFaults(program: Command, client: Client, out: Output): void {
  program
    .command('fault <fault>')
    .description('Make the next request that matches fail; the fault as JSON.')
    .option('--method <method>', 'GET, POST, PUT, PATCH or DELETE (default: every method)')
    .option('--path <path>', 'route or path, or a prefix of one that ends in * (default: every path)')
    .option('--skip <count>', 'requests that pass first (default: 0)', numberOf)
    .option('--times <count>', 'requests to strike, 0 = no end (default: 1)', numberOf)
    .option('--chance <fraction>', 'chance of each, from 0 to 1 (default: 1)', numberOf)
    .addHelpText('after', `\nExample: sandpit fault '{"drop":"after"}' --method POST --path /v1/orders`)
    .action(async (fault: string, { method, path, chance, ...counts }: FaultOptions) => {
      const body = {
        match: { ...(method !== undefined && { method }), ...(path !== undefined && { path }) },
        fault: jsonArgument(fault, 'fault', { drop: 'after' }) as FaultBody['fault'],
        ...countsOf(counts),
        ...(chance !== undefined && { chance }),
      };
      printFields(out, await (await client()).call('createFault', { body }));
    });
  addRuleCommands(program, client, out, {
    list: {
      name: 'faults',
      description: 'List the faults of the simulation.',
      columns: ['faultId', 'match', 'skip', 'times', 'used', 'fault'],
    },
    remove: { name: 'unfault [faultId]', description: 'Delete a fault, or all.' },
    all: (asked) => asked.list('listFaults'),
    deleteOne: (asked, faultId) => asked.call('deleteFault', { params: { faultId } }),
    deleteAll: (asked) => asked.call('deleteFaults'),
  });
}
