import type { PortfolioDetail } from '@sandpit/protocol';
import type { Broker } from '../broker.ts';
import { shortKindOf } from '../labels.ts';
import { useOwnEntry } from '../live/own-entry.ts';
import { setQuery } from '../route.ts';
import { Select } from './field.tsx';

/** Portfolios that are offered; any other is reached from its own page. */
const NAMED = 50;

/** The newest portfolios, preceded by the requested one. */
export async function portfoliosOf(
  broker: Broker,
  asked: string | undefined,
): Promise<readonly PortfolioDetail[]> {
  const { data } = await broker.call('listPortfolios', { query: { limit: NAMED } });
  const ids = new Set([
    ...(asked === undefined ? [] : [asked]),
    ...data.map(({ portfolioId }) => portfolioId),
  ]);
  return Promise.all([...ids].map((portfolioId) => broker.call('getPortfolio', { params: { portfolioId } })));
}

/** Selects a portfolio; the selection is in the address. */
export const PortfolioChoice = ({
  portfolios,
  value,
}: {
  readonly portfolios: readonly PortfolioDetail[];
  readonly value: string;
}) => {
  const entry = useOwnEntry()?.displayName;
  return (
    <Select
      name="Portfolio"
      plain
      value={value}
      options={portfolios.map(
        (one) =>
          [
            one.portfolioId,
            `${one.name ?? entry ?? one.portfolioId.slice(0, 8)} (${shortKindOf(one)})`,
          ] as const,
      )}
      onChange={(portfolio) => setQuery({ portfolio })}
    />
  );
};
