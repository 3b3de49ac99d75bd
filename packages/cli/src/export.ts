import type { Sandpit } from '@sandpit/client';
import { type Command, Option } from 'commander';
import type { Row } from './output.js';

/** The lists that can be taken out whole. */
const LISTS = {
  orders: (client: Sandpit, portfolioId: string) => client.list('listOrders', { query: { portfolioId } }),
  activities: (client: Sandpit, portfolioId: string) =>
    client.list('listActivities', { params: { portfolioId } }),
  ledger: (client: Sandpit, portfolioId: string) =>
    client.list('listLedgerEntries', { params: { portfolioId } }),
  executions: executionsOf,
} as const;

async function* executionsOf(client: Sandpit, portfolioId: string): AsyncGenerator<object, void, undefined> {
  for await (const { orderId, filledQuantity } of client.list('listOrders', { query: { portfolioId } }))
    if (filledQuantity !== undefined && filledQuantity > 0)
      yield* client.list('listExecutions', { params: { orderId } });
}

/** `sandpit export`: everything a list has, newest first, as CSV or as lines of JSON. */
export function addExport(
  program: Command,
  portfolioOf: (id: string | undefined) => Promise<{ readonly client: Sandpit; readonly id: string }>,
  write: (text: string) => void,
): void {
  program
    .command('export')
    .argument('<what>', Object.keys(LISTS).join(', '))
    .description('everything a list has, for other programs')
    .addOption(new Option('--csv', 'a table; what is nested is JSON in its cell').conflicts('jsonl'))
    .option('--jsonl', 'a line of JSON each, the usual')
    .option('--portfolio <id>', 'else the newest portfolio')
    .action(
      async (what: string, { csv, portfolio }: { csv?: boolean; portfolio?: string }, command: Command) => {
        if (!isList(what))
          return command.error(`error: there is no list ${what}: ${Object.keys(LISTS).join(', ')}`);
        const { client, id } = await portfolioOf(portfolio);
        const rows: AsyncIterable<object> = LISTS[what](client, id);
        if (csv !== true) {
          for await (const row of rows) write(`${JSON.stringify(row)}\n`);
          return;
        }
        const all: Row[] = [];
        for await (const row of rows) all.push(row as Row);
        write(csvOf(all));
      },
    );
}

const isList = (what: string): what is keyof typeof LISTS => Object.hasOwn(LISTS, what);

/** As RFC 4180 has it, with every field that any row has. */
export function csvOf(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((cells) => `${cells.map(cellOf).join(',')}\r\n`)
    .join('');
}

function cellOf(value: unknown): string {
  const text =
    value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
