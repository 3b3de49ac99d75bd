/** A card for every portfolio. */
import type { PortfolioDetail } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { change, money, percent, percentChange, tone } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import { useClockMoves } from '../parts/banner.tsx';
import { Figure } from '../parts/figure.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { kindOf } from '../in-words.ts';
import { hrefOf, type Place, setQuery } from '../route.ts';
import { NewPortfolio } from './new-portfolio.tsx';

interface Card {
  readonly portfolio: PortfolioDetail;
  readonly openOrders: number;
  /** Since the last close that is known; undefined = none is. */
  readonly dayChange: number | undefined;
}

/** Cards that are read at once; the rest are pages away. */
const AT_ONCE = 24;
const OPEN = 'CREATED,PENDING,PENDING_MARKET_OPEN,RESERVING,ACTIVE,CANCELING';

export function Overview({ place }: { readonly place: Place }) {
  const broker = useBroker();
  const page = Math.max(1, Number(place.query.get('page') ?? 1) || 1);
  const cards = useLoad(() => read(broker, page), [broker.simulationId, page]);
  const [isNew, setIsNew] = useState(false);
  useEvery(4000, cards.reload);
  useClockMoves(cards.reload);
  const { value, error } = cards;
  return (
    <>
      <div class="heading">
        <h1>Overview</h1>
        {broker.may('trade') && (
          <button type="button" class="primary" aria-expanded={isNew} onClick={() => setIsNew(!isNew)}>
            New portfolio
          </button>
        )}
      </div>
      {isNew && (
        <NewPortfolio
          onDone={() => {
            setIsNew(false);
            cards.reload();
          }}
        />
      )}
      {error !== undefined && <Problem error={error} retry={cards.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value?.total === 0 && (
        <Empty>
          <p>There is no portfolio yet. Open one, here or through the API, and it shows up within seconds.</p>
        </Empty>
      )}
      {value !== undefined && value.total > 0 && value.cards.length === 0 && (
        <Empty>
          <p>
            So many pages there are not.{' '}
            <button type="button" class="link" onClick={() => setQuery({ page: undefined })}>
              To the first one
            </button>
          </p>
        </Empty>
      )}
      <ul class="cards">
        {value?.cards.map((card) => (
          <li key={card.portfolio.portfolioId}>
            <PortfolioCard card={card} simulationId={broker.simulationId} />
          </li>
        ))}
      </ul>
      {value !== undefined && value.total > AT_ONCE && (
        <p class="pages">
          <button type="button" disabled={page === 1} onClick={() => setQuery({ page: page - 1 })}>
            Newer
          </button>{' '}
          Page {page} of {Math.ceil(value.total / AT_ONCE)}{' '}
          <button
            type="button"
            disabled={page * AT_ONCE >= value.total}
            onClick={() => setQuery({ page: page + 1 })}
          >
            Older
          </button>
        </p>
      )}
    </>
  );
}

async function read(
  broker: Broker,
  page: number,
): Promise<{ readonly cards: readonly Card[]; readonly total: number }> {
  const { data, pagination } = await broker.call('listPortfolios', { query: { limit: AT_ONCE, page } });
  const cards = await Promise.all(
    data.map(async ({ portfolioId }): Promise<Card> => {
      const params = { portfolioId };
      const [portfolio, open, curve] = await Promise.all([
        broker.call('getPortfolio', { params }),
        broker.call('listOrders', { query: { portfolioId, limit: 1, status: OPEN } }),
        broker.call('getEquityCurve', { params, query: { limit: 1 } }),
      ]);
      const last = curve.data[0];
      return {
        portfolio,
        openOrders: open.pagination.total,
        dayChange: last === undefined ? undefined : portfolio.totalEquity - last.totalEquity,
      };
    }),
  );
  return { cards, total: pagination.total };
}

function PortfolioCard({ card, simulationId }: { readonly card: Card; readonly simulationId: string }) {
  const { portfolio, openOrders, dayChange } = card;
  const { portfolioId, name, totalEquity, overnightBuyingPower } = portfolio;
  const invested = portfolio.longMarketValue + portfolio.shortMarketValue;
  const all = invested + overnightBuyingPower;
  return (
    <article class="card">
      <h2>
        <a href={hrefOf(simulationId, `portfolio/${portfolioId}`)}>{name ?? portfolioId.slice(0, 8)}</a>
      </h2>
      <p class="dim">{kindOf(portfolio)}</p>
      {portfolio.marginCallActive && <p class="tag bad">Margin call</p>}
      <dl class="figures">
        <Figure name="Equity">{money(totalEquity)}</Figure>
        <Figure
          name="Since last close"
          tone={tone(dayChange ?? 0)}
          note={
            dayChange === undefined || totalEquity === dayChange
              ? undefined
              : percentChange(dayChange / (totalEquity - dayChange))
          }
        >
          {dayChange === undefined ? '–' : change(dayChange)}
        </Figure>
        <Figure name="Buying power" note={all > 0 ? `${percent(invested / all)} used` : undefined}>
          {money(overnightBuyingPower)}
        </Figure>
        <Figure name="Open orders">
          <a href={hrefOf(simulationId, 'orders', { portfolio: portfolioId, show: 'open' })}>{openOrders}</a>
        </Figure>
      </dl>
      <meter min={0} max={1} value={all > 0 ? invested / all : 0} aria-label="Buying power used" />
    </article>
  );
}
