import type { OutcomeEffect, OutcomeMatch } from '@sandpit/protocol';
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { type Output, printFields } from './output.js';
import type { Client } from './portfolios.js';
import { Refused } from './refused.js';
import { addRuleCommands, countsOf, jsonArgument } from './rule-commands.js';

interface ScriptOptions {
  readonly match: readonly string[];
  readonly skip?: number;
  readonly times?: number;
}

export function addOutcomes(program: Command, client: Client, out: Output): void {
  program
    .command('script <outcome>')
    .description('Script the outcome of the next order that matches; the outcome as JSON.')
    .option(
      '--match <field=value>',
      'symbol, assetClass, orderType, positionIntent, quantity, clientOrderId or portfolioId; repeatable (default: every order)',
      (one: string, before: readonly string[]) => [...before, one],
      [] as readonly string[],
    )
    .option('--skip <count>', 'orders to pass over first (default: 0)', numberOf)
    .option('--times <count>', 'orders to script, 0 = no end (default: 1)', numberOf)
    .addHelpText(
      'after',
      `\nExample: sandpit script '{"fill":[{"percent":30}],"rest":"hold"}' --match symbol=AAPL`,
    )
    .action(async (outcome: string, { match, ...counts }: ScriptOptions) => {
      const body = {
        match: matchOf(match),
        outcome: jsonArgument(outcome, 'outcome', { hold: { for: 'PT10S' } }) as OutcomeEffect,
        ...countsOf(counts),
      };
      printFields(out, await (await client()).call('createOutcome', { body }));
    });
  addRuleCommands(program, client, out, {
    list: {
      name: 'scripts',
      description: 'List the scripted outcomes of the simulation.',
      columns: ['outcomeId', 'match', 'skip', 'times', 'used', 'outcome'],
    },
    remove: {
      name: 'unscript [outcomeId]',
      description: 'Delete a scripted outcome, or all. Orders that it holds go to the market.',
    },
    all: (asked) => asked.list('listOutcomes'),
    deleteOne: (asked, outcomeId) => asked.call('deleteOutcome', { params: { outcomeId } }),
    deleteAll: (asked) => asked.call('deleteOutcomes'),
  });
}

/** The server checks names and values. */
function matchOf(given: readonly string[]): OutcomeMatch {
  const fields = given.map((one): readonly [string, string | number] => {
    const at = one.indexOf('=');
    if (at < 1) throw new Refused(`--match takes field=value, such as symbol=AAPL: ${one}`);
    const [name, value] = [one.slice(0, at), one.slice(at + 1)];
    return [name, name === 'quantity' ? quantityOf(value) : value];
  });
  return Object.fromEntries(fields);
}

function quantityOf(text: string): number {
  try {
    return numberOf(text);
  } catch {
    throw new Refused(`--match quantity must be a number: ${text}`);
  }
}
