import type { OutcomeEffect, OutcomeMatch } from '@sandpit/protocol';
import type { Command } from 'commander';
import { type Output, printFields, printRows } from './output.js';
import type { Client } from './portfolios.js';
import { Refused } from './refused.js';

interface ScriptOptions {
  readonly match: readonly string[];
  readonly skip?: string;
  readonly times?: string;
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
    .option('--skip <count>', 'orders to pass over first (default: 0)')
    .option('--times <count>', 'orders to script, 0 = no end (default: 1)')
    .addHelpText(
      'after',
      `\nExample: sandpit script '{"fill":[{"percent":30}],"rest":"hold"}' --match symbol=AAPL`,
    )
    .action(async (outcome: string, { match, skip, times }: ScriptOptions) => {
      const body = {
        match: matchOf(match),
        outcome: outcomeOf(outcome),
        ...(skip !== undefined && { skip: Number(skip) }),
        ...(times !== undefined && { times: Number(times) }),
      };
      printFields(out, await (await client()).call('createOutcome', { body }));
    });
  program
    .command('scripts')
    .description('List the scripted outcomes of the simulation.')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listOutcomes')) rows.push(one);
      printRows(out, rows, ['outcomeId', 'match', 'skip', 'times', 'used', 'outcome']);
    });
  program
    .command('unscript [outcomeId]')
    .description('Delete a scripted outcome, or all. Orders that it holds go to the market.')
    .action(async (outcomeId: string | undefined) => {
      const asked = await client();
      printFields(
        out,
        outcomeId === undefined
          ? await asked.call('deleteOutcomes')
          : await asked.call('deleteOutcome', { params: { outcomeId } }),
      );
    });
}

function outcomeOf(text: string): OutcomeEffect {
  try {
    return JSON.parse(text) as OutcomeEffect;
  } catch {
    throw new Refused(`The outcome must be JSON, such as '{"hold":{"for":"PT10S"}}': ${text}`);
  }
}

/** The server checks names and values. */
function matchOf(given: readonly string[]): OutcomeMatch {
  const fields = given.map((one): readonly [string, string | number] => {
    const at = one.indexOf('=');
    if (at < 1) throw new Refused(`--match takes field=value, such as symbol=AAPL: ${one}`);
    const [name, value] = [one.slice(0, at), one.slice(at + 1)];
    return [name, name === 'quantity' ? Number(value) : value];
  });
  return Object.fromEntries(fields);
}
