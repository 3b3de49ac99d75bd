import { useBroker } from '../broker.ts';
import { usePortfolios } from '../live/portfolios.ts';
import { useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import { comingOf, type Marker } from './coming.ts';

/** Scheduled events of the page's simulation. */
export function useComing(): readonly Marker[] {
  const broker = useBroker();
  const { portfolios } = usePortfolios();
  // Quantities and dates, not prices, which change constantly and have no influence here.
  const version = portfolios
    .map((one) =>
      [
        one.portfolioId,
        one.pendingCash,
        one.marginCallActive,
        ...one.equities.map(({ symbol, pendingQuantity }) => `${symbol}${pendingQuantity}`),
        ...one.options.map(({ optionSymbol, quantity }) => `${optionSymbol}${quantity}`),
        ...one.futures.map(({ symbol, quantity }) => `${symbol}${quantity}`),
      ].join(' '),
    )
    .join();
  const found = useLoad(() => comingOf(broker, portfolios), [broker.simulationId, version]);
  useClockMoves(found.reload);
  return found.value ?? [];
}
