/**
 * A bot that processes one minute after the other: it holds shares while the price is above its average of the last minutes. Each minute is
 * one request, which places the order, lets the minute pass and shows quote and portfolio.
 *
 *   npx tsx examples/learning-loop/moving-average.ts --minutes 390
 */
import { parseArgs } from 'node:util';
import { connect, type Sandpit, Sandpit as Client } from '@sandpit/client';

export interface Run {
  readonly minutes: number;
  readonly orders: number;
  readonly totalEquity: number;
}

/** Shares that it holds, or none. */
const LOT = 100;
/** Minutes of its average. */
const WINDOW = 20;

/** Trades in its own simulation, which is deleted at the end. The same seed gives the same run. */
export async function trade(owner: Sandpit, minutes: number, seed = 1): Promise<Run> {
  const { simulationId, token } = await owner.call('createSimulation', {
    body: { feed: 'synthetic', clock: 'manual', start: '2026-01-05T09:30:00-05:00', seed },
  });
  try {
    const client = new Client({ url: owner.transport.baseUrl, token });
    const { id: portfolioId } = await client.openPortfolio({ cash: 100_000 });
    const observe = { symbols: ['AAPL'], portfolios: [portfolioId] };
    const prices: number[] = [];
    let placed = 0;
    let state = await client.step({ observe });
    for (let minute = 0; minute < minutes; minute += 1) {
      const price = state.quotes?.[0]?.price ?? 0;
      prices.push(price);
      if (prices.length > WINDOW) prices.shift();
      const average = prices.reduce((sum, one) => sum + one, 0) / prices.length;
      const isHeld = (state.portfolios?.[0]?.equities.length ?? 0) > 0;
      const isWanted = price > average;
      const order = {
        portfolioId,
        symbol: 'AAPL',
        assetClass: 'EQUITY',
        orderType: 'MARKET',
        positionIntent: isWanted ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
        quantity: LOT,
        timeInForce: 'DAY',
      } as const;
      const orders = isWanted === isHeld ? [] : [order];
      placed += orders.length;
      state = await client.step({ orders, advance: { until: 'next-bar' }, observe });
    }
    return { minutes, orders: placed, totalEquity: state.portfolios?.[0]?.totalEquity ?? 0 };
  } finally {
    await owner.call('deleteSimulation', { params: { simulationId } });
  }
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '390' } } });
  const began = performance.now();
  const run = await trade(await connect(), Number(values.minutes));
  const perSecond = Math.round((run.minutes * 1000) / (performance.now() - began));
  console.log(JSON.stringify({ ...run, perSecond }));
}
