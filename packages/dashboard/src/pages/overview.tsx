/** A card for every portfolio. */
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, money, percent, percentChange, tone } from '../format.ts';
import { type Card, CARDS_AT_ONCE, useCards } from '../live/cards.ts';
import { useClockMoves } from '../parts/banner.tsx';
import { Figure } from '../parts/figure.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { kindOf } from '../labels.ts';
import { hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { NewPortfolio } from './new-portfolio.tsx';

export function Overview({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const page = Math.max(1, Number(place.query.get('page') ?? 1) || 1);
  const cards = useCards(page);
  const [isNew, setIsNew] = useState(false);
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
          <p>There is no portfolio yet. Open one here or through the API; it appears within seconds.</p>
        </Empty>
      )}
      {value !== undefined && value.total > 0 && value.cards.length === 0 && (
        <Empty>
          <p>
            This page does not exist.{' '}
            <button type="button" class="link" onClick={() => setQuery({ page: undefined })}>
              Show the first page
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
      {value !== undefined && value.total > CARDS_AT_ONCE && (
        <p class="pages">
          <button type="button" disabled={page === 1} onClick={() => setQuery({ page: page - 1 })}>
            Newer
          </button>{' '}
          Page {page} of {Math.ceil(value.total / CARDS_AT_ONCE)}{' '}
          <button
            type="button"
            disabled={page * CARDS_AT_ONCE >= value.total}
            onClick={() => setQuery({ page: page + 1 })}
          >
            Older
          </button>
        </p>
      )}
    </>
  );
}

function PortfolioCard({ card, simulationId }: { readonly card: Card; readonly simulationId: string }) {
  const { portfolio, openOrders, closeEquity } = card;
  const { portfolioId, name, totalEquity, overnightBuyingPower } = portfolio;
  const dayChange = closeEquity === undefined ? undefined : totalEquity - closeEquity;
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
