import type { Sandpit } from '@sandpit/client';
import { type Command, Option } from 'commander';
import type { Row } from './output.js';

/** The lists that can be exported. */
const LISTS = {
  orders: ordersOf,
  activities: (client: Sandpit, portfolioId: string) =>
    client.list('listActivities', { params: { portfolioId } }),
  ledger: (client: Sandpit, portfolioId: string) =>
    client.list('listLedgerEntries', { params: { portfolioId } }),
  executions: executionsOf,
} as const;

/** Orders with all fields; a list has the most important fields only. */
async function* ordersOf(client: Sandpit, portfolioId: string): AsyncGenerator<object, void, undefined> {
  for await (const { orderId } of client.list('listOrders', { query: { portfolioId } }))
    yield await client.call('getOrder', { params: { orderId } });
}

async function* executionsOf(client: Sandpit, portfolioId: string): AsyncGenerator<object, void, undefined> {
  for await (const { orderId, filledQuantity } of client.list('listOrders', { query: { portfolioId } }))
    if (filledQuantity !== undefined && filledQuantity > 0)
      yield* client.list('listExecutions', { params: { orderId } });
}

/** `sandpit export`: a whole list, newest first, as CSV or as lines of JSON. */
export function addExport(
  program: Command,
  portfolioOf: (id: string | undefined) => Promise<{ readonly client: Sandpit; readonly id: string }>,
  write: (text: string) => void,
): void {
  program
    .command('export')
    .argument('<list>', Object.keys(LISTS).join(', '))
    .description('Export a whole list of a portfolio.')
    .addOption(new Option('--csv', 'CSV; nested values are JSON in their cells').conflicts('jsonl'))
    .option('--jsonl', 'one JSON object per line (default)')
    .option('--portfolio <id>', 'portfolio (default: the newest)')
    .action(
      async (what: string, { csv, portfolio }: { csv?: boolean; portfolio?: string }, command: Command) => {
        if (!isList(what))
          return command.error(`error: unknown list ${what}; lists: ${Object.keys(LISTS).join(', ')}`);
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

/** CSV by RFC 4180, with every field that any row has. */
function csvOf(rows: readonly Row[]): string {
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
