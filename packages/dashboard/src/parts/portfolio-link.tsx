import { useBroker } from '../broker.ts';
import { usePortfolioName } from '../live/portfolio-names.ts';
import { hrefOf } from '../route.ts';

/** Link to a portfolio, by its name. */
export function PortfolioLink({ portfolioId }: { readonly portfolioId: string }) {
  const broker = useBroker();
  const name = usePortfolioName(portfolioId);
  return <a href={hrefOf(broker.simulationId, `portfolio/${portfolioId}`)}>{name ?? 'Portfolio'}</a>;
}
