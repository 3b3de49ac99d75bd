import { readFileSync } from 'node:fs';
import type { Portfolio, Sandpit } from '@sandpit/client';
import type { ImportQuery } from '@sandpit/protocol';
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { type Output, printFields, printRows } from './output.js';

/** The client of a run, created on first use. */
export type Client = () => Promise<Sandpit>;

const POSITION_COLUMNS = [
  'symbol',
  'settledQuantity',
  'pendingQuantity',
  'entryPrice',
  'price',
  'unrealizedPnl',
];

/** `openTradePnl` follows `entryPrice`; `unrealizedPnl` of a future counts from its last settlement. */
export const FUTURE_COLUMNS = [
  'symbol',
  'quantity',
  'entryPrice',
  'settlementPrice',
  'lastPrice',
  'unrealizedPnl',
  'openTradePnl',
];

interface ImportOptions {
  readonly portfolio?: string;
  readonly format?: NonNullable<ImportQuery['format']>;
  readonly account?: string;
  readonly skipUnsupported?: boolean;
}

export function addPortfolios(program: Command, client: Client, out: Output): void {
  const portfolios = program.command('portfolio').description('Open, list, show and reset portfolios.');
  portfolios
    .command('new')
    .description('Open a portfolio in a new account.')
    .option('--cash <dollars>', 'starting cash (default: INITIAL_CASH of the server, 100000)', numberOf)
    .option('--margin', 'open a MARGIN portfolio (default: CASH)')
    .option('--broker <id>', 'broker configuration', 'default')
    .option('--name <name>', 'name of the portfolio')
    .action(async (options: { cash?: number; margin?: boolean; broker: string; name?: string }) => {
      const { cash, margin, broker, name } = options;
      const portfolio = await (
        await client()
      ).openPortfolio({
        brokerId: broker,
        portfolioType: margin === true ? 'MARGIN' : 'CASH',
        ...(cash !== undefined && { cash }),
        ...(name !== undefined && { name }),
      });
      printFields(out, await portfolio.show());
    });
  portfolios
    .command('list', { isDefault: true })
    .alias('ls')
    .description('List the open portfolios, newest first.')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listPortfolios')) rows.push(one);
      printRows(out, rows, ['portfolioId', 'portfolioType', 'brokerId', 'totalEquity', 'settledCash']);
    });
  portfolios
    .command('show [portfolioId]')
    .description('Show balances and the positions in shares and futures (default: the newest portfolio).')
    .action(async (id: string | undefined) => {
      const portfolio = await portfolioOf(await client(), id);
      const [figures, positions, futures] = await Promise.all([
        portfolio.show(),
        portfolio.positions(),
        portfolio.futures(),
      ]);
      if (!out.isTerminal) return printFields(out, { ...figures, positions, futures });
      printFields(out, figures);
      out.write('\n');
      printRows(out, positions, POSITION_COLUMNS);
      if (futures.length === 0) return;
      out.write('\n');
      printRows(out, futures, FUTURE_COLUMNS);
    });
  portfolios
    .command('import <file>')
    .description(
      'Import cash and positions from a file of Sandpit, Alpaca, Fidelity, Schwab or Interactive Brokers into an empty portfolio.',
    )
    .option('--portfolio <portfolioId>', 'portfolio to import into (default: the newest)')
    .option('--format <format>', 'sandpit, alpaca, fidelity, schwab or ibkr (default: recognized)')
    .option('--account <account>', 'account of a file with several')
    .option('--skip-unsupported', 'import the rest where rows cannot be held')
    .action(async (path: string, options: ImportOptions) => {
      const portfolio = await portfolioOf(await client(), options.portfolio);
      const result = await portfolio.import(
        { file: readFileSync(path, 'utf8') },
        {
          ...(options.format !== undefined && { format: options.format }),
          ...(options.account !== undefined && { account: options.account }),
          ...(options.skipUnsupported === true && { skip: 'unsupported' }),
        },
      );
      if (!out.isTerminal) return printFields(out, result);
      printRows(out, result.positions, ['symbol', 'quantity', 'price', 'basis', 'acquiredAt']);
      if (result.skipped.length === 0) return;
      out.write('\n');
      printRows(out, result.skipped, ['row', 'symbol', 'reason']);
    });
  portfolios
    .command('reset <portfolioId>')
    .description('Close all positions, cancel all orders and restore the initial cash.')
    .action(async (portfolioId: string) => {
      printFields(out, await (await client()).call('resetPortfolio', { params: { portfolioId } }));
    });
}

/** The named portfolio, else the newest one; opens one if there is none. */
export async function portfolioOf(client: Sandpit, id: string | undefined): Promise<Portfolio> {
  if (id !== undefined) return client.portfolio(id);
  const { data } = await client.call('listPortfolios', { query: { limit: 1 } });
  return data[0] === undefined ? client.openPortfolio() : client.portfolio(data[0].portfolioId);
}
