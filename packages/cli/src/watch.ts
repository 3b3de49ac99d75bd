import type { OrderUpdate, PortfolioUpdate, Quote } from '@sandpit/protocol';
import type { Sandpit } from '@sandpit/client';
import { orderName } from './order-name.js';
import { type Output, tableOf } from './output.js';
import { FUTURE_COLUMNS } from './portfolios.js';

const CLEAR = '\x1b[H\x1b[J';
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const LAST_EVENTS = 12;
const REDRAW_MS = 100;

interface Seen {
  portfolio: PortfolioUpdate | undefined;
  readonly quotes: Map<string, Quote>;
  readonly events: OrderUpdate[];
}

/** The screen: balances of a portfolio, its positions, quotes and latest order events. */
function screenOf({ portfolio, quotes, events }: Seen): string {
  const parts: string[] = [];
  if (portfolio !== undefined) {
    const { portfolioId, totalEquity, settledCash, pendingCash, reservedCash } = portfolio;
    parts.push(
      `portfolio ${portfolioId}   equity ${totalEquity}   cash ${settledCash}   pending ${pendingCash}   reserved ${reservedCash}\n`,
    );
    const shares = portfolio.equities.map(
      ({ symbol, settledQuantity, pendingQuantity, entryPrice, price, unrealizedPnl }) => ({
        ...{ symbol, quantity: settledQuantity + pendingQuantity, entryPrice, price, unrealizedPnl },
      }),
    );
    const options = portfolio.options.map(
      ({ optionSymbol, quantity, averageCost, lastPrice, unrealizedPnL }) => ({
        ...{
          symbol: optionSymbol,
          quantity,
          entryPrice: averageCost,
          price: lastPrice,
          unrealizedPnl: unrealizedPnL,
        },
      }),
    );
    const columns = ['symbol', 'quantity', 'entryPrice', 'price', 'unrealizedPnl'];
    parts.push(tableOf([...shares, ...options], columns));
    if (portfolio.futures.length > 0) parts.push(tableOf(portfolio.futures, FUTURE_COLUMNS));
  }
  if (quotes.size > 0) parts.push(tableOf([...quotes.values()], ['symbol', 'bid', 'ask', 'last']));
  parts.push(
    events.length === 0
      ? 'no orders yet\n'
      : events
          .map((update) => {
            const { updatedAt, event, quantity, filledQuantity = 0, waitingFor } = update;
            const waits = waitingFor === undefined ? '' : `  waits for ${waitingFor}`;
            return `${updatedAt.slice(11, 19)}  ${orderName(update).padEnd(8)} ${event.padEnd(10)} ${filledQuantity} of ${quantity}${waits}\n`;
          })
          .join(''),
  );
  return parts.join('\n');
}

/** Draws the screen as events arrive, until the signal; without a terminal prints each event as a line of JSON. */
export async function watch(
  client: Sandpit,
  portfolioId: string,
  symbols: readonly string[],
  { isTerminal, write }: Output,
  signal: AbortSignal,
): Promise<void> {
  const seen: Seen = { portfolio: undefined, quotes: new Map(), events: [] };
  let isDrawn = true;
  const change = (kind: string, event: object): void => {
    if (!isTerminal) write(`${JSON.stringify({ kind, ...event })}\n`);
    isDrawn = false;
  };
  const redraw = setInterval(() => {
    if (isDrawn || !isTerminal) return;
    isDrawn = true;
    write(`${CLEAR}${screenOf(seen)}\nPress Ctrl-C to quit\n`);
  }, REDRAW_MS);
  if (isTerminal) write(ENTER);
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.all([
      (async () => {
        for await (const event of client.portfolioEvents({ portfolioId }, { signal: over.signal })) {
          seen.portfolio = event;
          change('portfolio', event);
        }
      })(),
      (async () => {
        for await (const event of client.orderEvents({ portfolioId }, { signal: over.signal })) {
          seen.events.unshift(event);
          seen.events.length = Math.min(seen.events.length, LAST_EVENTS);
          change('order', event);
        }
      })(),
      (async () => {
        if (symbols.length === 0) return;
        for await (const event of client.quoteEvents(symbols, { signal: over.signal })) {
          seen.quotes.set(event.symbol, event);
          change('quote', event);
        }
      })(),
    ]);
  } finally {
    over.abort();
    signal.removeEventListener('abort', stop);
    clearInterval(redraw);
    if (isTerminal) write(LEAVE);
  }
}
