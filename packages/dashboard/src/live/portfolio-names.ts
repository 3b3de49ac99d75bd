/** Names of portfolios for lists of many rows: each is read once. */
import { useEffect, useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';

const known = new WeakMap<Broker, Map<string, Promise<string>>>();

function nameOf(broker: Broker, portfolioId: string): Promise<string> {
  const names = known.get(broker) ?? new Map<string, Promise<string>>();
  known.set(broker, names);
  const found = names.get(portfolioId);
  if (found !== undefined) return found;
  const short = portfolioId.slice(0, 8);
  const read = broker.call('getPortfolio', { params: { portfolioId } }).then(
    ({ name }) => name ?? short,
    () => {
      // The next row asks again.
      names.delete(portfolioId);
      return short;
    },
  );
  names.set(portfolioId, read);
  return read;
}

/** The name of a portfolio, or the start of its id if it has none; undefined while it loads. */
export function usePortfolioName(portfolioId: string): string | undefined {
  const broker = useBroker();
  const [name, setName] = useState<{ readonly of: string; readonly name: string }>();
  useEffect(() => {
    let isOver = false;
    void nameOf(broker, portfolioId).then((found) => {
      if (!isOver) setName({ of: portfolioId, name: found });
    });
    return () => {
      isOver = true;
    };
  }, [broker, portfolioId]);
  return name?.of === portfolioId ? name.name : undefined;
}
