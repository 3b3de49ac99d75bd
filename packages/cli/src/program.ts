import {
  AnswerError,
  connect,
  type OrderOptions,
  orderOf,
  type Portfolio,
  type Sandpit,
  SandpitError,
  UnreachableError,
} from '@sandpit/client';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { addExport } from './export.js';
import { addImport } from './import/command.js';
import type { AgentCaps, AgentLevel } from '@sandpit/protocol';
import { bridge } from './agent-bridge.js';
import { type Output, printFields, printRows } from './output.js';
import { Refused } from './refused.js';
import { addServerCommands } from './server-commands.js';
import { storyOf } from './story.js';
import { watch } from './watch.js';

/** What a run ends with: 1 refused, 2 used wrongly, 3 no server. */
export const EXIT = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const;

const ORDER_COLUMNS = [
  'orderId',
  'symbol',
  'positionIntent',
  'orderType',
  'quantity',
  'limitPrice',
  'status',
  'averagePrice',
];

type AgentOptions = Omit<AgentCaps, 'symbols'> & { readonly level: AgentLevel; readonly symbols?: string };

interface Surroundings extends Output {
  readonly complain: (text: string) => void;
}

/** Runs one command line; resolves with its exit code. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const program = programOf(surroundings);
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const { syscall } = error as NodeJS.ErrnoException;
    if (!(error instanceof SandpitError) && syscall === undefined) throw error;
    surroundings.complain(`${(error as Error).message}\n`);
    // A file that is not there is refused as well, by the machine.
    const isRefused = error instanceof AnswerError || error instanceof Refused || syscall !== undefined;
    return isRefused && !(error instanceof UnreachableError) ? EXIT.refused : EXIT.unreachable;
  }
}

const numberOf = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('must be a number');
  return value;
};

function programOf(out: Surroundings): Command {
  const program = new Command('sandpit')
    .description('A simulated US brokerage. Nothing here is real.')
    .option('--url <url>', 'the server; else SANDPIT_URL, else the one of ./data')
    .option('--token <token>', 'a bearer; else SANDPIT_TOKEN or SANDPIT_API_KEY, else the demo key of ./data')
    .exitOverride()
    .configureOutput({ writeOut: out.write, writeErr: out.complain });
  const client = (): Promise<Sandpit> => connect({ ...program.opts(), retryForMs: 5000 });
  addServerCommands(program);
  addPortfolios(program, client, out);
  addOrders(program, client, out);
  addMarket(program, client, out);
  addSimulations(program, client, out);
  addImport(program, out);
  addExport(
    program,
    async (id) => {
      const asked = await client();
      return { client: asked, id: (await portfolioOf(asked, id)).id };
    },
    out.write,
  );
  addWatch(program, client, out);
  addTools(program, client);
  for (const command of program.commands) inherit(program, command);
  return program;
}

function inherit(from: Command, to: Command): void {
  to.copyInheritedSettings(from);
  for (const command of to.commands) inherit(to, command);
}

type Client = () => Promise<Sandpit>;

function addPortfolios(program: Command, client: Client, out: Output): void {
  const portfolios = program.command('portfolio').description('open, list, show, reset portfolios');
  portfolios
    .command('new')
    .description('open a portfolio in a new account')
    .option('--cash <dollars>', 'what it begins with', numberOf)
    .option('--margin', 'a MARGIN portfolio; else CASH')
    .option('--broker <id>', 'a broker configuration', 'default')
    .option('--name <name>')
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
    .command('ls', { isDefault: true })
    .description('list the portfolios')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listPortfolios')) rows.push(one);
      printRows(out, rows, ['portfolioId', 'portfolioType', 'brokerId', 'totalEquity', 'settledCash']);
    });
  portfolios
    .command('show [portfolioId]')
    .description('balances and positions')
    .action(async (id: string | undefined) => {
      const portfolio = await portfolioOf(await client(), id);
      const [figures, positions] = await Promise.all([portfolio.show(), portfolio.positions()]);
      if (!out.isTerminal) return printFields(out, { ...figures, positions });
      printFields(out, figures);
      out.write('\n');
      printRows(out, positions, [
        'symbol',
        'settledQuantity',
        'pendingQuantity',
        'entryPrice',
        'price',
        'unrealizedPnl',
      ]);
    });
  portfolios
    .command('reset <portfolioId>')
    .description('back to its beginning')
    .action(async (portfolioId: string) => {
      printFields(out, await (await client()).call('resetPortfolio', { params: { portfolioId } }));
    });
}

/** The portfolio that is named; without a name the newest one. */
async function portfolioOf(client: Sandpit, id: string | undefined): Promise<Portfolio> {
  if (id !== undefined) return client.portfolio(id);
  const { data } = await client.call('listPortfolios', { query: { limit: 1 } });
  return data[0] === undefined ? client.openPortfolio() : client.portfolio(data[0].portfolioId);
}

const SIDES = {
  buy: ['BUY_TO_OPEN', 'buy'],
  sell: ['SELL_TO_CLOSE', 'sell what is held'],
  short: ['SELL_TO_OPEN', 'sell what is not held'],
  cover: ['BUY_TO_CLOSE', 'buy back what was sold short'],
} as const;

interface OrderFlags extends Omit<OrderOptions, 'timeInForce'> {
  readonly portfolio?: string;
  readonly notional?: number;
  readonly tif?: OrderOptions['timeInForce'];
  readonly dryRun?: boolean;
  readonly preview?: boolean;
}

function addOrders(program: Command, client: Client, out: Output): void {
  for (const [name, [intent, description]] of Object.entries(SIDES)) {
    program
      .command(name)
      .argument('<symbol>')
      .argument('[quantity]', 'how many shares or contracts', numberOf)
      .description(description)
      .option('--notional <dollars>', 'shares for so much, at the market, in place of a quantity', numberOf)
      .option('--limit <price>', 'no worse than this', numberOf)
      .option('--stop <price>', 'once the market is there', numberOf)
      .option('--trail <dollars>', 'so far behind the market', numberOf)
      .option('--trail-percent <percent>', 'so far behind the market', numberOf)
      .option('--take-profit <price>', 'an exit with a profit; of sell and cover: their limit', numberOf)
      .option(
        '--stop-loss <price>',
        'an exit with a loss; of sell and cover: what cancels their limit',
        numberOf,
      )
      .option('--tif <tif>', 'DAY, GTC, IOC, FOK')
      .option('--portfolio <id>', 'else the newest portfolio')
      .option('--preview', 'say what it would do, and place nothing')
      .option('--dry-run', 'print what would be sent, and send nothing')
      .action(
        async (
          symbol: string,
          quantity: number | undefined,
          { portfolio: id, tif, dryRun, preview, notional, ...prices }: OrderFlags,
        ) => {
          if ((quantity === undefined) === (notional === undefined))
            throw new InvalidArgumentError('a quantity or --notional is needed, one of them');
          const size = notional === undefined ? (quantity ?? 0) : { notional };
          const options = { ...prices, ...(tif !== undefined && { timeInForce: tif }) };
          const body = orderOf(intent, symbol.toUpperCase(), size, options);
          if (dryRun === true) return printFields(out, body);
          const portfolio = await portfolioOf(await client(), id);
          if (preview === true) {
            const foreseen = await portfolio.preview(body);
            printFields(out, foreseen);
            const against = foreseen.rejections.map(({ message }) => message);
            if (against.length > 0) throw new Refused(against.join('; '));
            return;
          }
          const order = await (await portfolio.submit(body)).refresh();
          printFields(out, order.data);
        },
      );
  }
  program
    .command('orders')
    .description('list orders, newest first')
    .option('--status <status>', 'one, or several separated by commas')
    .option('--portfolio <id>')
    .option('--limit <count>', 'how many', numberOf, 20)
    .option('-f, --follow', 'go on with what happens')
    .action(async (options: { status?: string; portfolio?: string; limit: number; follow?: boolean }) => {
      const { status, portfolio: portfolioId, limit, follow } = options;
      const asked = await client();
      const filter = portfolioId === undefined ? {} : { portfolioId };
      const { data } = await asked.call('listOrders', {
        query: { limit, ...filter, ...(status !== undefined && { status }) },
      });
      printRows(out, data, ORDER_COLUMNS);
      if (follow !== true) return;
      for await (const { event, symbol, orderId, execution } of asked.orderEvents(filter)) {
        const fill = execution === undefined ? '' : `  ${execution.quantity} at ${execution.price}`;
        out.write(
          out.isTerminal
            ? `${orderId}  ${symbol}  ${event}${fill}\n`
            : `${JSON.stringify({ orderId, symbol, event, execution })}\n`,
        );
      }
    });
  program
    .command('why <orderId>')
    .description('the whole story of an order, in words')
    .action(async (orderId: string) => {
      const order = await (await client()).order(orderId);
      const story = storyOf(order.data, await order.executions());
      out.write(out.isTerminal ? `${story.join('\n')}\n` : `${JSON.stringify({ story })}\n`);
    });
  program
    .command('cancel <orderId>')
    .description('cancel an order')
    .action(async (orderId: string) => {
      printFields(out, await (await client()).call('cancelOrder', { params: { orderId } }));
    });
}

function addTools(program: Command, client: Client): void {
  program
    .command('mcp')
    .description('tools for an agent on standard input and output (Model Context Protocol)')
    .option('--level <level>', 'read, preview, capped, full or control', 'read')
    .option('--max-order-notional <dollars>', 'level capped: of one opening order', numberOf)
    .option('--max-notional <dollars>', 'level capped: of all opening orders of a day', numberOf)
    .option('--max-orders-per-minute <count>', 'level capped: placed or changed', numberOf)
    .option('--symbols <list>', 'level capped: separated by commas')
    .option('--max-daily-loss <dollars>', 'level capped: then only orders that close', numberOf)
    .action(async (options: AgentOptions) => {
      const { level, symbols, ...numbers } = options;
      const caps = { ...numbers, ...(symbols !== undefined && { symbols: symbols.split(',') }) };
      const hasCaps = Object.keys(caps).length > 0;
      await bridge(await client(), { level, ...(hasCaps && { caps }) });
    });
}

function addMarket(program: Command, client: Client, out: Output): void {
  program
    .command('quote <symbols...>')
    .description('quotes in force')
    .option('-f, --follow', 'go on with what changes')
    .action(async (symbols: string[], { follow }: { follow?: boolean }) => {
      const asked = await client();
      const columns = ['symbol', 'bid', 'ask', 'last'];
      if (follow !== true) {
        const { quotes } = await asked.call('getQuotes', { body: { symbols } });
        return printRows(out, quotes, columns);
      }
      for await (const quote of asked.quoteEvents(symbols)) {
        const { symbol, bid, ask } = quote;
        out.write(
          out.isTerminal
            ? `${symbol.padEnd(8)} ${bid ?? '–'} / ${ask ?? '–'}\n`
            : `${JSON.stringify(quote)}\n`,
        );
      }
    });
  program
    .command('chain <underlying>')
    .description('its options of an expiration, with quotes and Greeks')
    .option('--expiration <date>', 'else the nearest one')
    .option('--strikes <count>', 'how many around the price', numberOf, 10)
    .option('--type <type>', 'CALL or PUT; else both')
    .action(
      async (
        underlying: string,
        { expiration, strikes, type }: { expiration?: string; strikes: number; type?: 'CALL' | 'PUT' },
      ) => {
        const chain = await (
          await client()
        ).call('getOptionChain', {
          params: { underlying: underlying.toUpperCase() },
          query: {
            ...(expiration !== undefined && { expiration }),
            ...(type !== undefined && { optionType: type }),
          },
        });
        if (!out.isTerminal) return printFields(out, chain);
        const { underlyingPrice = 0, contracts } = chain;
        const away = ({ strike }: { readonly strike: number }): number => Math.abs(strike - underlyingPrice);
        const near = [...new Set(contracts.map(({ strike }) => strike))]
          .sort((a, b) => away({ strike: a }) - away({ strike: b }))
          .slice(0, strikes);
        out.write(`${chain.underlying} ${chain.underlyingPrice ?? ''}, ${chain.expiration}\n`);
        printRows(
          out,
          contracts.filter(({ strike }) => near.includes(strike)),
          [
            'optionSymbol',
            'strike',
            'optionType',
            'bid',
            'ask',
            'impliedVolatility',
            'delta',
            'openInterest',
          ],
        );
      },
    );
  program
    .command('doctor')
    .description('whether the server is there, well, and takes the token')
    .action(async () => {
      const asked = await client();
      const ready = await asked.call('getReadiness');
      const { mode, now } = await asked.call('getClock');
      printFields(out, { server: asked.transport.baseUrl, ...ready, clock: mode, now });
    });
}

function addSimulations(program: Command, client: Client, out: Output): void {
  const simulations = program.command('sim').description('simulations of your own');
  simulations
    .command('new')
    .description('a market and a clock that do what they are told')
    .option('--start <time>', 'where its clock stands', '2026-01-05T10:00:00-05:00')
    .option('--seed <seed>', 'the same seed, the same ids and prices')
    .option('--feed <feed>', 'push, synthetic or replay', 'push')
    .action(
      async ({
        start,
        seed,
        feed,
      }: {
        start: string;
        seed?: string;
        feed: 'push' | 'synthetic' | 'replay';
      }) => {
        const body = { feed, clock: 'manual' as const, start, ...(seed !== undefined && { seed }) };
        printFields(out, await (await client()).call('createSimulation', { body }));
      },
    );
  simulations
    .command('ls', { isDefault: true })
    .description('list them')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listSimulations')) rows.push(one);
      printRows(out, rows, ['simulationId', 'name', 'feed', 'clock', 'calendar', 'createdAt']);
    });
  simulations
    .command('rm <simulationId>')
    .description('delete one with everything in it')
    .action(async (simulationId: string) => {
      printFields(out, await (await client()).call('deleteSimulation', { params: { simulationId } }));
    });
  const clock = program.command('clock').description('the clock of the simulation');
  clock
    .command('show', { isDefault: true })
    .description('what time it is there')
    .action(async () => {
      printFields(out, await (await client()).call('getClock'));
    });
  clock
    .command('advance [by]')
    .description('let time pass: 30s, 5m, 2h, 1d, or as ISO 8601 has it (PT5M)')
    .option('--to <when>', 'next-open, next-close, or a time')
    .action(async (by: string | undefined, { to }: { to?: string }, command: Command) => {
      const when = to ?? (by?.startsWith('next-') === true ? by : undefined);
      if ((by === undefined && when === undefined) || (by !== undefined && to !== undefined))
        return command.error('error: say how far, or with --to how long');
      const asked = await client();
      if (when === undefined)
        return printFields(out, await asked.call('advanceClock', { body: { by: durationOf(by ?? '') } }));
      const { nextOpen, nextClose } = await asked.call('getMarketHours');
      const now = when === 'next-open' ? nextOpen : when === 'next-close' ? nextClose : when;
      printFields(out, await asked.call('setClock', { body: { now } }));
    });
}

/** `5m` is `PT5M`; what is ISO 8601 already stays as it is. */
function durationOf(text: string): string {
  const [, count, unit] = /^(\d+)([smhdw])$/i.exec(text) ?? [];
  if (count === undefined || unit === undefined) return text;
  const isTime = /[smh]/i.test(unit);
  return `P${isTime ? 'T' : ''}${count}${unit.toUpperCase()}`;
}

function addWatch(program: Command, client: Client, out: Output): void {
  program
    .command('watch [symbols...]')
    .description('a portfolio, its orders and quotes on the whole screen, as they change')
    .option('--portfolio <id>', 'else the newest portfolio')
    .action(async (symbols: string[], { portfolio }: { portfolio?: string }) => {
      const asked = await client();
      const { id } = await portfolioOf(asked, portfolio);
      const over = new AbortController();
      process.once('SIGINT', () => over.abort());
      await watch(
        asked,
        id,
        symbols.map((symbol) => symbol.toUpperCase()),
        out,
        over.signal,
      );
    });
}
