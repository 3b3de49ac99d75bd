import { type OrderOptions, orderOf } from '@sandpit/client';
import type { Order } from '@sandpit/protocol';
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { orderName } from './order-name.js';
import { type Output, printFields, printRows } from './output.js';
import { type Client, portfolioOf } from './portfolios.js';
import { Refused, withFigures } from './refused.js';
import { storyOf } from './story.js';

const ORDER_COLUMNS = [
  'orderId',
  'instrument',
  'positionIntent',
  'orderType',
  'quantity',
  'limitPrice',
  'status',
  'averagePrice',
];

const SIDES = {
  buy: ['BUY_TO_OPEN', 'Buy shares or contracts to open or add to a long position.'],
  sell: ['SELL_TO_CLOSE', 'Sell shares or contracts that the portfolio holds.'],
  short: ['SELL_TO_OPEN', 'Sell short.'],
  cover: ['BUY_TO_CLOSE', 'Buy back a short position.'],
} as const;

interface OrderFlags extends Omit<OrderOptions, 'timeInForce'> {
  readonly portfolio?: string;
  readonly notional?: number;
  readonly tif?: OrderOptions['timeInForce'];
  readonly dryRun?: boolean;
  readonly preview?: boolean;
}

export function addOrders(program: Command, client: Client, out: Output): void {
  for (const [name, [intent, description]] of Object.entries(SIDES)) {
    program
      .command(name)
      .argument('<symbol>', 'symbol of a share or future, or of an option contract (AAPL260116C00150000)')
      .argument('[quantity]', 'number of shares or contracts', numberOf)
      .description(description)
      .option(
        '--notional <dollars>',
        'amount in dollars in place of a quantity; shares at the market only',
        numberOf,
      )
      .option('--limit <price>', 'limit price in dollars', numberOf)
      .option('--stop <price>', 'stop price in dollars', numberOf)
      .option('--trail <dollars>', 'trailing stop: distance from the market in dollars', numberOf)
      .option('--trail-percent <percent>', 'trailing stop: distance from the market in percent', numberOf)
      .option(
        '--take-profit <price>',
        'limit price of the exit with a profit; of sell and cover their own limit',
        numberOf,
      )
      .option(
        '--stop-loss <price>',
        'stop price of the exit with a loss; of sell and cover the stop that their limit cancels',
        numberOf,
      )
      .option('--tif <tif>', 'time in force: DAY, GTC, IOC, FOK, OPG (open) or CLS (close) (default: DAY)')
      .option('--notes <text>', 'your reason for the order; kept with it')
      .option('--record-refusal', 'if the brokerage refuses it, record it as a rejected order')
      .option('--portfolio <id>', 'portfolio (default: the newest)')
      .option('--preview', 'show charges, margin impact and reasons against it; place nothing')
      .option('--dry-run', 'print the request body; send nothing')
      .action(
        async (
          symbol: string,
          quantity: number | undefined,
          { portfolio: id, tif, dryRun, preview, notional, ...prices }: OrderFlags,
          command: Command,
        ) => {
          if ((quantity === undefined) === (notional === undefined)) {
            const problem = quantity === undefined ? 'missing a size' : 'two sizes';
            return command.error(
              `error: ${problem}: give a quantity (sandpit ${name} ${symbol} 10) or --notional (sandpit ${name} ${symbol} --notional 500)`,
            );
          }
          const size = notional === undefined ? (quantity ?? 0) : { notional };
          const options = { ...prices, ...(tif !== undefined && { timeInForce: tif }) };
          const body = orderOf(intent, symbol.toUpperCase(), size, options);
          if (dryRun === true) return printFields(out, body);
          const portfolio = await portfolioOf(await client(), id);
          if (preview === true) {
            const foreseen = await portfolio.preview(body);
            printFields(out, foreseen);
            const against = foreseen.rejections.map((reason) => withFigures(reason.message, reason));
            if (against.length > 0) throw new Refused(against.join('; '));
            return;
          }
          const order = await (await portfolio.submit(body)).refresh();
          printOrder(out, order.data);
        },
      );
  }
  program
    .command('orders')
    .description('List orders, newest first.')
    .option('--status <status>', 'only these statuses, separated by commas')
    .option('--portfolio <id>', 'only of this portfolio')
    .option('--limit <count>', 'number of orders, 1 to 500', numberOf, 20)
    .option('-f, --follow', 'keep printing order events')
    .action(async (options: { status?: string; portfolio?: string; limit: number; follow?: boolean }) => {
      const { status, portfolio: portfolioId, limit, follow } = options;
      const asked = await client();
      const filter = portfolioId === undefined ? {} : { portfolioId };
      const { data } = await asked.call('listOrders', {
        query: { limit, ...filter, ...(status !== undefined && { status }) },
      });
      printRows(out, out.isTerminal ? data.map(rowOf) : data, ORDER_COLUMNS);
      if (follow !== true) return;
      for await (const update of asked.orderEvents(filter)) {
        const { event, symbol, orderId, execution } = update;
        const fill = execution === undefined ? '' : `  ${execution.quantity} at ${execution.price}`;
        out.write(
          out.isTerminal
            ? `${orderId}  ${orderName(update)}  ${event}${fill}\n`
            : `${JSON.stringify({ orderId, symbol, event, execution })}\n`,
        );
      }
    });
  program
    .command('why <orderId>')
    .description('Explain in words what happened to an order.')
    .action(async (orderId: string) => {
      const order = await (await client()).order(orderId);
      const story = storyOf(order.data, await order.executions());
      out.write(out.isTerminal ? `${story.join('\n')}\n` : `${JSON.stringify({ story })}\n`);
    });
  program
    .command('cancel <orderId>')
    .description('Cancel an order.')
    .action(async (orderId: string) => {
      printFields(out, await (await client()).call('cancelOrder', { params: { orderId } }));
    });
}

const rowOf = (order: Order) => ({ ...order, instrument: orderName(order) });

/** An order that was placed. Fails with the reason if it was REJECTED. */
function printOrder(out: Output, order: Order): void {
  printFields(out, order);
  const { rejection } = order;
  if (rejection !== undefined) throw new Refused(withFigures(rejection.message, rejection));
}
