import type { Broker } from '../broker.ts';
import { actionMarkers, callMarkers, expirationMarkers, settlementMarkers } from './coming.ts';

const MINUTE_MS = 60_000;

/** One minute after the close of the first day on which a position expires. */
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

/** Portfolios whose schedule is read for the next event. */
const LOOKED_THROUGH = 50;

/** The next corporate action, expiration, settlement or margin call of a simulation. */
export async function nextEvent(broker: Broker, nowMs: number): Promise<string | undefined> {
  const { data } = await broker.call('listPortfolios', { query: { limit: LOOKED_THROUGH } });
  const markers = await Promise.all(
    data.map(async ({ portfolioId }) => {
      const params = { portfolioId };
      const [options, futures, settlements, calls] = await Promise.all([
        broker.call('listOptionPositions', { params }),
        broker.call('listFuturePositions', { params }),
        broker.call('listSettlements', { params }),
        broker.call('listMarginCalls', { params, query: { limit: 20 } }),
      ]);
      return [
        ...expirationMarkers({ portfolioId, options, futures }),
        ...settlementMarkers({ portfolioId }, settlements),
        ...callMarkers({ portfolioId }, calls.data),
      ];
    }),
  );
  const { actions } = await broker.call('listCorporateActions');
  const ahead = [...actionMarkers(actions), ...markers.flat()]
    .map(({ atMs }) => atMs)
    .filter((atMs) => atMs > nowMs);
  return ahead.length === 0 ? undefined : new Date(Math.min(...ahead)).toISOString();
}
