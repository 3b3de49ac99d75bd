/** `sandpit performance`, `trades`, `tca`, `lots`, `taxes` and `report`: return and cost of a portfolio's trading. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Sandpit } from '@sandpit/client';
import type {
  ExecutionQualityQuery,
  Performance,
  RealizedGainsQuery,
  ReportQuery,
  RoundTrip,
  TaxLotsQuery,
} from '@sandpit/protocol';
import { type Command, Option } from 'commander';
import { numberOf } from './numbers.js';
import { type Output, printFields, printRows } from './output.js';
import { type Client, portfolioOf } from './portfolios.js';

interface PeriodOptions {
  readonly portfolio?: string;
  readonly from?: string;
  readonly to?: string;
  readonly epoch?: number;
}

interface PerformanceOptions extends PeriodOptions {
  readonly benchmark?: string;
  readonly riskFree?: number;
}

const TRADE_COLUMNS = [
  'symbol',
  'side',
  'quantity',
  'openedAt',
  'closedAt',
  'entryPrice',
  'exitPrice',
  'netPnl',
  'return',
  'closedBy',
];

const QUALITY_COLUMNS = [
  'key',
  'orders',
  'notional',
  'slippageBps',
  'implementationShortfall',
  'effectiveSpreadBps',
  'priceImprovement',
  'fillRate',
  'timeToFill',
];

const GAIN_COLUMNS = [
  'symbol',
  'quantity',
  'acquiredAt',
  'soldAt',
  'proceeds',
  'costBasis',
  'washSaleDisallowed',
  'gain',
  'term',
];

const LOT_COLUMNS = [
  'symbol',
  'side',
  'quantity',
  'acquiredAt',
  'holdingFrom',
  'costBasis',
  'washSaleDisallowed',
];

const lotMethod = (): Option =>
  new Option('--method <method>', 'lots that are sold first').choices(['FIFO', 'LIFO', 'HIFO']);

/** Default of `--limit`, in trades. */
const TRADES = 50;

export function addAnalytics(program: Command, client: Client, out: Output): void {
  const named = async (id: string | undefined): Promise<{ client: Sandpit; portfolioId: string }> => {
    const asked = await client();
    return { client: asked, portfolioId: (await portfolioOf(asked, id)).id };
  };
  withPeriod(program.command('performance').description('Show return, risk and drawdown.'))
    .option('--benchmark <symbol>', 'symbol to compare with')
    .option('--risk-free <rate>', 'yearly risk-free rate, a fraction: 0.05 = 5 % (default: 0)', numberOf)
    .action(async (options: PerformanceOptions) => {
      const { client: asked, portfolioId } = await named(options.portfolio);
      const query = performanceQuery(options);
      const found = await asked.call('getPerformance', { params: { portfolioId }, query });
      printFields(out, out.isTerminal ? flattened(found) : found);
      if (!out.isTerminal) return;
      if (found.segments.length > 1) {
        out.write('\n');
        printRows(out, found.segments, ['from', 'to', 'timeWeightedReturn']);
      }
      if (found.monthly.length === 0) return;
      out.write('\n');
      printRows(out, found.monthly, ['month', 'return', 'partial']);
    });
  withPeriod(program.command('trades').description('List round trips, newest first.'))
    .option('--limit <count>', `trades that are listed (default: ${TRADES})`, numberOf, TRADES)
    .action(async ({ limit, ...options }: PeriodOptions & { limit: number }) => {
      const { client: asked, portfolioId } = await named(options.portfolio);
      const trades: RoundTrip[] = [];
      const query = { ...periodOf(options), limit: Math.min(Math.max(limit, 1), 500) };
      for await (const trade of asked.list('listTrades', { params: { portfolioId }, query }))
        if (trades.push(trade) >= limit) break;
      printRows(out, trades, TRADE_COLUMNS);
    });
  withPeriod(
    program.command('tca').description('Show transaction costs: slippage, shortfall, spreads.'),
    false,
  )
    .option('--order <id>', 'of one order in place of a portfolio')
    .addOption(new Option('--by <group>', 'show groups').choices(['symbol', 'orderType', 'hour', 'broker']))
    .action(async (options: PeriodOptions & { order?: string; by?: ExecutionQualityQuery['groupBy'] }) => {
      const { order: orderId, by: groupBy } = options;
      if (orderId !== undefined)
        return printFields(
          out,
          await (await client()).call('getOrderExecutionQuality', { params: { orderId } }),
        );
      const { client: asked, portfolioId } = await named(options.portfolio);
      const query = { ...periodOf(options), ...(groupBy !== undefined && { groupBy }) };
      const { groups, ...all } = await asked.call('getExecutionQuality', { params: { portfolioId }, query });
      if (!out.isTerminal) return printFields(out, { ...all, ...(groups !== undefined && { groups }) });
      printFields(out, all);
      if (groups === undefined) return;
      out.write('\n');
      printRows(out, groups, QUALITY_COLUMNS);
    });
  program
    .command('lots')
    .description('List the open tax lots with their adjusted basis. Not tax advice.')
    .option('--portfolio <id>', 'portfolio (default: the newest)')
    .addOption(lotMethod())
    .action(async ({ portfolio, method }: { portfolio?: string } & TaxLotsQuery) => {
      const { client: asked, portfolioId } = await named(portfolio);
      const query = { limit: 500, ...(method !== undefined && { method }) };
      const data = [];
      for await (const lot of asked.list('listTaxLots', { params: { portfolioId }, query })) data.push(lot);
      if (!out.isTerminal) return printFields(out, { method: method ?? 'FIFO', data });
      printRows(out, data, LOT_COLUMNS);
    });
  program
    .command('taxes')
    .description('List the realized gains of a tax year. Not tax advice.')
    .option('--portfolio <id>', 'portfolio (default: the newest)')
    .option('--year <year>', 'tax year (default: that of the simulation)', numberOf)
    .addOption(lotMethod())
    .addOption(new Option('--term <term>', 'sales of one term').choices(['SHORT', 'LONG', 'SECTION_1256']))
    .action(
      async (options: { portfolio?: string } & Pick<RealizedGainsQuery, 'year' | 'method' | 'term'>) => {
        const { portfolio, year, method, term } = options;
        const { client: asked, portfolioId } = await named(portfolio);
        const query = {
          limit: 500,
          ...(year !== undefined && { year }),
          ...(method !== undefined && { method }),
          ...(term !== undefined && { term }),
        };
        const found = await asked.call('listRealizedGains', { params: { portfolioId }, query });
        const data = [];
        for await (const gain of asked.list('listRealizedGains', { params: { portfolioId }, query }))
          data.push(gain);
        if (!out.isTerminal) return printFields(out, { ...found, data });
        printRows(out, data, GAIN_COLUMNS);
        out.write('\n');
        const { totals, income } = found;
        if (totals !== undefined)
          printRows(
            out,
            Object.entries(totals).map(([term, sums]) => ({ term, ...sums })),
            ['term', 'proceeds', 'costBasis', 'washSaleDisallowed', 'gain'],
          );
        if (income !== undefined) printFields(out, income);
      },
    );
  withPeriod(program.command('report').description('Write a report, a page of HTML.'))
    .option('--benchmark <symbol>', 'symbol to compare with')
    .option('--risk-free <rate>', 'yearly risk-free rate, a fraction (default: 0)', numberOf)
    .option('--out <file>', 'file', 'report.html')
    .option('--open', 'open it in the browser')
    .action(async (options: PerformanceOptions & { out: string; open?: boolean }) => {
      const { client: asked, portfolioId } = await named(options.portfolio);
      const file = resolve(options.out);
      writeFileSync(file, await asked.report(portfolioId, performanceQuery(options)));
      if (options.open === true) openFile(file);
      printFields(out, { file });
    });
}

/** With the options that choose a portfolio and a period of it. */
function withPeriod(command: Command, hasEpochs = true): Command {
  command
    .option('--portfolio <id>', 'portfolio (default: the newest)')
    .option('--from <date>', 'from this date or instant on')
    .option('--to <date>', 'to this date, included, or instant');
  return hasEpochs
    ? command.option(
        '--epoch <number>',
        'epoch, from 1; a reset begins the next (default: the present one)',
        numberOf,
      )
    : command;
}

const periodOf = ({ from, to, epoch }: PeriodOptions): Pick<ReportQuery, 'from' | 'to' | 'epoch'> => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
  ...(epoch !== undefined && { epoch }),
});

const performanceQuery = ({ benchmark, riskFree, ...period }: PerformanceOptions): ReportQuery => ({
  ...periodOf(period),
  ...(benchmark !== undefined && { benchmark }),
  ...(riskFree !== undefined && { riskFreeRate: riskFree }),
});

/** Figures with those of nested objects, without the months. */
function flattened({
  monthly: _,
  breaks: _breaks,
  segments: _segments,
  ...figures
}: Performance): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(figures).flatMap(([name, value]) =>
      typeof value === 'object'
        ? Object.entries(value).map(([part, one]) => [`${name}.${part}`, one])
        : [[name, value]],
    ),
  );
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens a file with the system's program for it. The name of the file is printed in any case. */
function openFile(file: string): void {
  const [command = '', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(command, [...args, file], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined)
    .unref();
}
