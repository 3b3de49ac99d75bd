import type { Broker } from '../broker.ts';

const MINUTE_MS = 60_000;

/** One minute after the close of the first day on which something that is held expires. */
export async function nextExpiry(broker: Broker): Promise<string | undefined> {
  const { data } = await broker.call('listPortfolios', { query: { limit: 100 } });
  const days = await Promise.all(
    data.map(async ({ portfolioId }) => {
      const params = { portfolioId };
      const [options, futures] = await Promise.all([
        broker.call('listOptionPositions', { params }),
        broker.call('listFuturePositions', { params }),
      ]);
      return [...options.map((one) => one.expiration), ...futures.map((one) => one.lastTradeDate)];
    }),
  );
  const first = days.flat().sort()[0];
  if (first === undefined) return undefined;
  const calendar = await broker.call('getTradingCalendar', { query: { from: first, to: first } });
  const close = calendar.days[0]?.close;
  return close === undefined ? first : new Date(Date.parse(close) + MINUTE_MS).toISOString();
}
