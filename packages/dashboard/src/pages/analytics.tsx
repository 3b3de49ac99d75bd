/** Analytics of a portfolio: performance, trades, execution quality, taxes. */
import type { ComponentType } from 'preact';
import { useBroker } from '../broker.ts';
import { Tabs } from '../parts/field.tsx';
import { Empty } from '../parts/notice.tsx';
import { PortfolioLink } from '../parts/portfolio-link.tsx';
import { hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { ExecutionQualitySection } from './execution-quality.tsx';
import { PerformanceSection } from './performance.tsx';
import type { SectionProps } from './section.ts';
import { TaxesSection } from './taxes.tsx';
import { TradesSection } from './trades.tsx';

const SECTIONS: Readonly<
  Record<string, { readonly title: string; readonly Section: ComponentType<SectionProps> }>
> = {
  '': { title: 'Performance', Section: PerformanceSection },
  trades: { title: 'Trades', Section: TradesSection },
  quality: { title: 'Execution quality', Section: ExecutionQualitySection },
  taxes: { title: 'Taxes', Section: TaxesSection },
};

const TITLES = Object.entries(SECTIONS).map(([name, { title }]) => [name, title] as const);

export function Analytics({ place }: { readonly place: DashboardRoute }) {
  const { simulationId } = useBroker();
  const portfolioId = place.path[1] ?? '';
  const name = place.query.get('section') ?? '';
  const found = SECTIONS[name];
  if (portfolioId === '')
    return (
      <>
        <h1>Analytics</h1>
        <Empty>
          Analytics are shown by portfolio. <a href={hrefOf(simulationId, '')}>Choose one first.</a>
        </Empty>
      </>
    );
  return (
    <>
      <div class="heading">
        <h1>Analytics</h1>
        <PortfolioLink portfolioId={portfolioId} />
      </div>
      <Tabs
        label="Section"
        isSection
        value={name}
        options={TITLES}
        onChange={(section) => setQuery({ section, from: undefined, to: undefined })}
      />
      {found === undefined ? (
        <Empty>There is no section of this name.</Empty>
      ) : (
        <found.Section portfolioId={portfolioId} query={place.query} />
      )}
    </>
  );
}
