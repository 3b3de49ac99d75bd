import { setTimeout as later } from 'node:timers/promises';
import type { Call } from './arena.js';

/** Trades a portfolio until it is stopped. */
export type Strategy = (
  call: Call,
  portfolioId: string,
  symbols: readonly string[],
  over: AbortSignal,
) => Promise<void>;

/** Within the default rate limit. */
const POLL_MS = 100;

interface Quote {
  readonly symbol: string;
  readonly price: number;
  readonly timestamp: number;
}

/** Looks at the quotes again and again, and lets `act` trade. What is refused meanwhile is left. */
async function follow(
  call: Call,
  symbols: readonly string[],
  over: AbortSignal,
  act: (quotes: readonly Quote[]) => Promise<void>,
): Promise<void> {
  while (!over.aborted) {
    try {
      const { quotes } = await call<{ readonly quotes: readonly Quote[] }>(
        'POST',
        '/v1/market-data/quotes/batch',
        { symbols },
      );
      await act(quotes);
    } catch {
      // Before the start, after the end, while the market is closed.
    }
    await later(POLL_MS);
  }
}

const order = (call: Call, portfolioId: string, symbol: string, intent: string, quantity: number) =>
  call('POST', '/v1/orders', {
    portfolioId,
    symbol,
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    positionIntent: intent,
    quantity,
    // An order of the night waits for the open.
    timeInForce: 'GTC',
  });

const INITIAL_CASH = 100_000;
/** Cash that is left for prices that move. */
const INVESTED = 0.9;

/** Buys all symbols in equal parts, and holds them. */
const hold: Strategy = async (call, portfolioId, symbols, over) => {
  const bought = new Set<string>();
  await follow(call, symbols, over, async (quotes) => {
    for (const { symbol, price } of quotes) {
      if (bought.has(symbol)) continue;
      const quantity = Math.floor((INITIAL_CASH * INVESTED) / symbols.length / price);
      await order(call, portfolioId, symbol, 'BUY_TO_OPEN', quantity);
      bought.add(symbol);
    }
  });
};

const LOOKBACK = 5;

/** Holds symbols above their average of the last days, a quarter of the cash each. */
const momentum: Strategy = async (call, portfolioId, symbols, over) => {
  const prices = new Map<string, number[]>();
  const held = new Map<string, number>();
  let day = '';
  await follow(call, symbols, over, async (quotes) => {
    const today = new Date(Math.max(...quotes.map(({ timestamp }) => timestamp))).toISOString().slice(0, 10);
    if (today === day) return;
    day = today;
    for (const { symbol, price } of quotes) {
      const known = [...(prices.get(symbol) ?? []), price].slice(-LOOKBACK);
      prices.set(symbol, known);
      const average = known.reduce((sum, one) => sum + one, 0) / known.length;
      const has = held.get(symbol) ?? 0;
      if (price > average && has === 0) {
        const quantity = Math.floor((INITIAL_CASH * INVESTED) / symbols.length / price);
        await order(call, portfolioId, symbol, 'BUY_TO_OPEN', quantity);
        held.set(symbol, quantity);
      } else if (price < average && has > 0) {
        await order(call, portfolioId, symbol, 'SELL_TO_CLOSE', has);
        held.delete(symbol);
      }
    }
  });
};

/** The strategies that the arena has built in, by the name that they enter with. */
export const STRATEGIES: Readonly<Record<string, Strategy>> = { hold, momentum };
