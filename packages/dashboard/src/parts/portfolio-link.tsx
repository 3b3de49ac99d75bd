import { useBroker } from '../broker.ts';
import { useLoad } from '../load.ts';
import { hrefOf } from '../route.ts';

/** Link to a portfolio, by its name. */
export function PortfolioLink({ portfolioId }: { readonly portfolioId: string }) {
  const broker = useBroker();
  const found = useLoad(
    async () => (await broker.call('getPortfolio', { params: { portfolioId } })).name,
    [portfolioId],
  );
  return <a href={hrefOf(broker.simulationId, `portfolio/${portfolioId}`)}>{found.value ?? 'Portfolio'}</a>;
}
