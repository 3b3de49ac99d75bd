/** Parts that the commands for rules of a simulation share: scripted outcomes and faults. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Output, printFields, printRows } from './output.js';
import type { Client } from './portfolios.js';
import { Refused } from './refused.js';

type Asked = Awaited<ReturnType<Client>>;
type Row = Readonly<Record<string, unknown>>;

interface RuleCommands {
  readonly list: { readonly name: string; readonly description: string; readonly columns: readonly string[] };
  readonly remove: { readonly name: string; readonly description: string };
  readonly all: (asked: Asked) => AsyncIterable<Row>;
  readonly deleteOne: (asked: Asked, id: string) => Promise<Row>;
  readonly deleteAll: (asked: Asked) => Promise<Row>;
}

/** Adds the commands that list rules and delete one or all. */
export function addRuleCommands(program: Command, client: Client, out: Output, rules: RuleCommands): void {
  program
    .command(rules.list.name)
    .description(rules.list.description)
    .action(async () => {
      const rows = [];
      for await (const one of rules.all(await client())) rows.push(one);
      printRows(out, rows, rules.list.columns);
    });
  program
    .command(rules.remove.name)
    .description(rules.remove.description)
    .action(async (id: string | undefined) => {
      const asked = await client();
      printFields(out, id === undefined ? await rules.deleteAll(asked) : await rules.deleteOne(asked, id));
    });
}

/** The value of a JSON argument. Throws `Refused` with an example if it is not JSON. */
export function jsonArgument(text: string, name: string, example: object): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(`The ${name} must be JSON, such as '${JSON.stringify(example)}': ${text}`);
  }
}

/** The value in a JSON file. Throws `Refused` if it is not JSON. */
export function jsonFile(path: string): unknown {
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refused(`${path} is not JSON: ${(error as Error).message}`);
  }
}

/** Counts of a rule, as options give them. */
export const countsOf = ({
  skip,
  times,
}: {
  readonly skip?: number;
  readonly times?: number;
}): { skip?: number; times?: number } => ({
  ...(skip !== undefined && { skip }),
  ...(times !== undefined && { times }),
});
