import { AnswerError, type Sandpit } from '@sandpit/client';

/** Trades the portfolio of a cell until its market has ended. */
export type Strategy = (cell: Sandpit, portfolioId: string) => Promise<void>;

const SYMBOL = 'SPY';
const SHARES = 50;
const ENDED = 409;

/** Moves the clock to the next open, and one hour further. False = the market has ended. */
async function nextMorning(cell: Sandpit): Promise<boolean> {
  try {
    await cell.call('advanceClock', { body: { until: 'next-open' } });
    await cell.call('advanceClock', { body: { by: 'PT1H' } });
    return true;
  } catch (error) {
    if (error instanceof AnswerError && error.status === ENDED) return false;
    throw error;
  }
}

/** Holds shares for a day if `isWanted` says so, by the price of today and of the day before. */
const daily =
  (isWanted: (price: number, before: number) => boolean): Strategy =>
  async (cell, portfolioId) => {
    let before: number | undefined;
    let isInvested = false;
    do {
      const { price } = await cell.call('getQuote', { params: { symbol: SYMBOL } });
      const wants = before !== undefined && isWanted(price, before);
      before = price;
      if (wants === isInvested) continue;
      await cell.call('createOrder', {
        body: {
          portfolioId,
          symbol: SYMBOL,
          assetClass: 'EQUITY',
          orderType: 'MARKET',
          positionIntent: wants ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
          quantity: SHARES,
          timeInForce: 'DAY',
        },
      });
      isInvested = wants;
    } while (await nextMorning(cell));
  };

/** Two opposite ideas. On a synthetic market neither has an edge. */
export const STRATEGIES: Readonly<Record<string, Strategy>> = {
  momentum: daily((price, before) => price > before),
  reversal: daily((price, before) => price < before),
};
