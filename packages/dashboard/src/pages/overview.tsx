/** All portfolios at a glance: their sum and its curve, a card for each, recent fills, and upcoming events. */
import type { Order, PortfolioUpdate } from '@sandpit/protocol';
import { useMemo, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, money, percent, percentChange, price, time, tone } from '../format.ts';
import { kindOf, orderText } from '../labels.ts';
import { useBrokerNames } from '../live/broker-names.ts';
import { useCloses, sumOf } from '../live/closes.ts';
import { useOrderActivity } from '../live/order-activity.ts';
import { useOwnSimulation } from '../live/own-simulation.ts';
import { PORTFOLIOS_AT_ONCE, usePortfolios } from '../live/portfolios.ts';
import { gainSinceClose, type SinceClose } from '../live/returns.ts';
import { useEvery, useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import type { Point } from '../chart-data.ts';
import { Figure } from '../parts/figure.tsx';
import { LineChart } from '../parts/line-chart.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { ComingList } from '../time/coming-list.tsx';
import { distanceOf, stamp } from '../time/scale.ts';
import { useComing } from '../time/use-coming.ts';
import { announce } from '../ui/toaster.tsx';
import { FirstSteps } from './first-steps.tsx';
import { NewPortfolio } from './new-portfolio.tsx';
import './overview.css';

/** Interval at which the clock of the market is read. */
const CLOCK_MS = 5000;
const MINUTE_MS = 60_000;
const FILLS = 8;
const COMING = 6;

export function Overview({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const page = Math.max(1, Number(place.query.get('page') ?? 1) || 1);
  const { portfolios, total, isLoaded, error, reload } = usePortfolios(page);
  const activity = useOrderActivity();
  const [isNew, setIsNew] = useState(place.query.has('new'));
  const [version, setVersion] = useState(0);
  useEvery(MINUTE_MS, () => setVersion((one) => one + 1));
  useClockMoves(() => {
    reload();
    setVersion((one) => one + 1);
  });
  const clock = useLoad(() => broker.call('getMarketHours'), [broker.simulationId]);
  useEvery(CLOCK_MS, clock.reload);
  useClockMoves(clock.reload);
  const nowMs = Date.parse(clock.value?.now ?? '') || undefined;
  const closes = useCloses(
    portfolios.map(({ portfolioId }) => portfolioId),
    version,
  );
  const isEmpty = isLoaded && total === 0;
  return (
    <>
      <div class="heading">
        <h1>Overview</h1>
        {broker.may('trade') && !broker.claims.isEntry && (
          <button type="button" class="primary" aria-expanded={isNew} onClick={() => setIsNew(!isNew)}>
            New portfolio
          </button>
        )}
      </div>
      {isNew && (
        <NewPortfolio
          onDone={(name) => {
            setIsNew(false);
            if (place.query.has('new')) setQuery({ new: undefined });
            document.getElementById('content')?.focus({ preventScroll: true });
            announce('Portfolio opened', name, 'success');
            reload();
          }}
        />
      )}
      {error !== undefined && <Problem error={error} retry={reload} />}
      {!isLoaded && error === undefined && <p class="waiting">Loading …</p>}
      {isEmpty && <FirstSteps onNew={() => setIsNew(true)} />}
      {isLoaded && total > 0 && portfolios.length === 0 && (
        <Empty>
          <p>
            This page does not exist.{' '}
            <button type="button" class="link" onClick={() => setQuery({ page: undefined })}>
              Show the first page
            </button>
          </p>
        </Empty>
      )}
      {portfolios.length > 0 && (
        <div class="overview">
          <div class="overview-main">
            <Total portfolios={portfolios} total={total} closes={closes} nowMs={nowMs} />
            <ul class="cards">
              {portfolios.map((portfolio) => (
                <li key={portfolio.portfolioId}>
                  <PortfolioCard
                    portfolio={portfolio}
                    openOrders={
                      activity.openByPortfolio === undefined
                        ? undefined
                        : (activity.openByPortfolio.get(portfolio.portfolioId) ?? 0)
                    }
                    points={closes.get(portfolio.portfolioId)?.points ?? []}
                    sinceClose={closes.get(portfolio.portfolioId)?.sinceClose}
                    nowMs={nowMs}
                  />
                </li>
              ))}
            </ul>
          </div>
          <aside class="overview-side">
            <section class="panel" aria-label="What comes next">
              <div class="row">
                <h2>What comes next</h2>
                <span class="push" />
                {broker.may('simulate') && <a href={hrefOf(broker.simulationId, 'time')}>Time machine</a>}
              </div>
              <Coming nowMs={nowMs} />
            </section>
            <section class="panel" aria-label="Recent fills">
              <div class="row">
                <h2>Recent fills</h2>
                <span class="push" />
                <a href={hrefOf(broker.simulationId, 'orders')}>All orders</a>
              </div>
              <Fills fills={activity.fills.slice(0, FILLS)} portfolios={portfolios} nowMs={nowMs} />
            </section>
          </aside>
        </div>
      )}
      {total > PORTFOLIOS_AT_ONCE && (
        <p class="pages">
          <button type="button" disabled={page === 1} onClick={() => setQuery({ page: page - 1 })}>
            Newer
          </button>{' '}
          Page {page} of {Math.ceil(total / PORTFOLIOS_AT_ONCE)}{' '}
          <button
            type="button"
            disabled={page * PORTFOLIOS_AT_ONCE >= total}
            onClick={() => setQuery({ page: page + 1 })}
          >
            Older
          </button>
        </p>
      )}
    </>
  );
}

type ClosesById = ReturnType<typeof useCloses>;

/** The sum of the portfolios of the page. */
function Total({
  portfolios,
  total,
  closes,
  nowMs,
}: {
  readonly portfolios: readonly PortfolioUpdate[];
  readonly total: number;
  readonly closes: ClosesById;
  readonly nowMs: number | undefined;
}) {
  const equity = portfolios.reduce((sum, { totalEquity }) => sum + totalEquity, 0);
  const known = portfolios.flatMap(({ portfolioId, totalEquity }) => {
    const base = closes.get(portfolioId)?.sinceClose;
    return base === undefined ? [] : [{ ...base, equity: totalEquity }];
  });
  const { pnl: dayChange, fraction: dayFraction } = gainSinceClose(known);
  const unrealized = portfolios.reduce(
    (sum, one) =>
      sum +
      one.equities.reduce((part, { unrealizedPnl }) => part + unrealizedPnl, 0) +
      one.options.reduce((part, { unrealizedPnL }) => part + unrealizedPnL, 0) +
      one.futures.reduce((part, { openTradePnl }) => part + openTradePnl, 0),
    0,
  );
  const curve = useMemo(() => sumOf([...closes.values()].map(({ points }) => points)), [closes]);
  const points = nowMs === undefined ? curve : [...curve, { atMs: nowMs, value: equity }];
  return (
    <section class="panel total" aria-label="Total">
      <div class="row">
        <div>
          <p class="dim">
            Total equity of {portfolios.length} {portfolios.length === 1 ? 'portfolio' : 'portfolios'}
            {total > portfolios.length && ' on this page'}
          </p>
          <p class="big" aria-live="off">
            {money(equity)}
          </p>
        </div>
        <dl class="figures">
          <Figure
            name="Since last close"
            tone={tone(dayChange)}
            note={dayFraction === undefined ? undefined : percentChange(dayFraction)}
          >
            {known.length === 0 ? '–' : change(dayChange)}
          </Figure>
          <Figure name="Unrealized P&L" tone={tone(unrealized)}>
            {change(unrealized)}
          </Figure>
          <Figure name="Cash">
            {money(
              portfolios.reduce(
                (sum, { settledCash, pendingCash, reservedCash, marginLoan }) =>
                  sum + settledCash + pendingCash + reservedCash - marginLoan,
                0,
              ),
            )}
          </Figure>
        </dl>
      </div>
      {points.length > 1 ? (
        <LineChart
          label={`Total equity, ${points.length} points, now ${money(equity)}`}
          lines={[{ name: 'Total equity', points }]}
        />
      ) : (
        <p class={closes.size === 0 ? 'waiting' : 'notice'}>
          {closes.size === 0 ? 'Loading …' : 'The curve begins with the first close.'}
        </p>
      )}
    </section>
  );
}

function Coming({ nowMs }: { readonly nowMs: number | undefined }) {
  const markers = useComing();
  const simulation = useOwnSimulation();
  if (nowMs === undefined) return <p class="waiting">Loading …</p>;
  return <ComingList markers={markers} nowMs={nowMs} simulation={simulation.value} most={COMING} />;
}

function Fills({
  fills,
  portfolios,
  nowMs,
}: {
  readonly fills: readonly Order[];
  readonly portfolios: readonly PortfolioUpdate[];
  readonly nowMs: number | undefined;
}) {
  const { simulationId } = useBroker();
  if (fills.length === 0) return <p class="dim">Nothing has filled yet.</p>;
  const names = new Map(
    portfolios.map(({ portfolioId, name }) => [portfolioId, name ?? portfolioId.slice(0, 8)]),
  );
  return (
    <ol class="plain fills">
      {fills.map((order) => (
        <li key={order.orderId}>
          <a href={hrefOf(simulationId, 'orders', { order: order.orderId })}>
            <span class={order.positionIntent.startsWith('BUY') ? 'buy' : 'sell'}>
              {orderText(order, order.filledQuantity)}
            </span>{' '}
            at {price(order.averagePrice)}
          </a>
          <span class="dim">
            {names.get(order.portfolioId) ?? ''}{' '}
            {order.executedAt !== undefined && (
              <time dateTime={order.executedAt} title={stamp(Date.parse(order.executedAt))}>
                {nowMs === undefined
                  ? time(order.executedAt)
                  : distanceOf(Date.parse(order.executedAt), nowMs)}
              </time>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

function PortfolioCard({
  portfolio,
  openOrders,
  points,
  sinceClose,
  nowMs,
}: {
  readonly portfolio: PortfolioUpdate;
  /** Undefined = too many to be counted here. */
  readonly openOrders: number | undefined;
  readonly points: readonly Point[];
  readonly sinceClose: SinceClose | undefined;
  readonly nowMs: number | undefined;
}) {
  const broker = useBroker();
  const { simulationId } = broker;
  const nameOfBroker = useBrokerNames(broker);
  const { portfolioId, name, totalEquity, overnightBuyingPower } = portfolio;
  const day = sinceClose && gainSinceClose([{ ...sinceClose, equity: totalEquity }]);
  const invested = portfolio.longMarketValue + portfolio.shortMarketValue;
  const all = invested + overnightBuyingPower;
  const positions = portfolio.equities.length + portfolio.options.length + portfolio.futures.length;
  return (
    <article class="card">
      <h2>
        <a href={hrefOf(simulationId, `portfolio/${portfolioId}`)}>{name ?? portfolioId.slice(0, 8)}</a>
      </h2>
      <p class="dim">{kindOf(portfolio, nameOfBroker)}</p>
      {portfolio.marginCallActive && (
        <p class="tag bad">
          <a href={hrefOf(simulationId, `portfolio/${portfolioId}`, { section: 'power' })}>Margin call</a>
        </p>
      )}
      <div class="card-money">
        <dl class="figures">
          <Figure name="Equity">{money(totalEquity)}</Figure>
          <Figure
            name="Since last close"
            tone={tone(day?.pnl ?? 0)}
            note={day?.fraction === undefined ? undefined : percentChange(day.fraction)}
          >
            {day === undefined ? '–' : change(day.pnl)}
          </Figure>
        </dl>
        <Sparkline
          points={nowMs === undefined ? points : [...points, { atMs: nowMs, value: totalEquity }]}
          label={`Equity of ${name ?? portfolioId.slice(0, 8)} at the closes`}
        />
      </div>
      <dl class="figures three">
        <Figure
          name="Buying power"
          term="buyingPower"
          note={all > 0 ? `${percent(invested / all)} used` : undefined}
        >
          {money(overnightBuyingPower)}
        </Figure>
        <Figure name="Positions">{positions}</Figure>
        <Figure name="Open orders">
          <a href={hrefOf(simulationId, 'orders', { portfolio: portfolioId, show: 'open' })}>
            {openOrders ?? 'many'}
          </a>
        </Figure>
      </dl>
      <meter
        min={0}
        max={1}
        high={0.9}
        optimum={0}
        value={all > 0 ? invested / all : 0}
        aria-label="Buying power used"
      />
    </article>
  );
}
