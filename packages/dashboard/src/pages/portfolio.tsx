/** One portfolio: equity curve, positions, orders, cash and margin details. */
import type { PortfolioUpdate } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { change, dateText, money, percentChange, tone } from '../format.ts';
import { useCloses } from '../live/closes.ts';
import { useEvery, useLoad } from '../load.ts';
import { useOwnEntry } from '../live/own-entry.ts';
import { usePortfolio } from '../live/portfolio.ts';
import { gainSinceClose } from '../live/returns.ts';
import { useClockMoves } from '../clock-moves.ts';
import { Figure } from '../parts/figure.tsx';
import { Problem } from '../parts/notice.tsx';
import { Tabs } from '../parts/field.tsx';
import { hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { ManagePortfolio } from '../manage/manage-portfolio.tsx';
import { CallNotice } from '../why/call-notice.tsx';
import { ruleOfBuyingPower } from '../why/rule-pages.ts';
import { BuyingPower } from './buying-power.tsx';
import { Cash } from './cash.tsx';
import { EquityCurve } from './equity-curve.tsx';
import { OrderTable } from './orders.tsx';
import { Positions } from '../trade/positions.tsx';

const MINUTE_MS = 60_000;

const SECTIONS = [
  ['', 'Positions'],
  ['orders', 'Orders'],
  ['cash', 'Cash'],
  ['power', 'Margin details'],
  ['manage', 'Manage'],
] as const;

export function PortfolioPage({ place }: { readonly place: DashboardRoute }) {
  const { simulationId } = useBroker();
  const portfolioId = place.path[1] ?? '';
  const { value, error } = usePortfolio(portfolioId);
  const entry = useOwnEntry();
  const section = place.query.get('section') ?? '';
  if (error !== undefined)
    return (
      <>
        <h1>Portfolio</h1>
        <Problem error={error} />
        <p>
          <a href={hrefOf(simulationId, '')}>Back to overview</a>
        </p>
      </>
    );
  if (value === undefined) return <p class="waiting">Loading …</p>;
  return (
    <>
      <div class="heading">
        <h1>{value.name ?? entry?.displayName ?? `Portfolio ${portfolioId.slice(0, 8)}`}</h1>
        <a class="button primary" href={hrefOf(simulationId, 'trade', { portfolio: portfolioId })}>
          Trade
        </a>
        <a href={hrefOf(simulationId, `activity/${portfolioId}`)}>Activity</a>
        <a href={hrefOf(simulationId, `analytics/${portfolioId}`)}>Analytics</a>
      </div>
      <CallNotice portfolio={value} />
      {value.status === 'CLOSED' && <p class="tag">Closed</p>}
      <Balances portfolio={value} />
      <EquityCurve portfolio={value} span={place.query.get('span') ?? ''} />
      <Tabs
        label="Section"
        isSection
        value={section}
        options={SECTIONS}
        onChange={(next) => setQuery({ section: next, order: undefined })}
      />
      {section === '' && <Positions portfolio={value} simulationId={simulationId} />}
      {section === 'orders' && <OrderTable place={place} portfolioId={portfolioId} />}
      {section === 'cash' && <Cash portfolio={value} />}
      {section === 'power' && <BuyingPower portfolio={value} />}
      {section === 'manage' && <ManagePortfolio portfolio={value} />}
    </>
  );
}

/** `Settles on Jan 6, 2026`, or the first and the last of several dates; undefined while they load. */
function useSettlementDates({ portfolioId, pendingCash }: PortfolioUpdate): string | undefined {
  const broker = useBroker();
  const due = useLoad(() => broker.call('listSettlements', { params: { portfolioId } }), [portfolioId]);
  useEffect(() => due.reload(), [pendingCash]);
  const dates = (due.value ?? []).filter(({ cash }) => cash !== 0).map(({ date }) => date);
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined) return undefined;
  return first === last || last === undefined
    ? `Settles on ${dateText(first)}`
    : `Settles on ${dateText(first)} to ${dateText(last)}`;
}

/** P&L since the last close without deposits and withdrawals (D242); undefined before the first close. */
function useSinceClose({
  portfolioId,
  totalEquity,
}: PortfolioUpdate): ReturnType<typeof gainSinceClose> | undefined {
  const [version, setVersion] = useState(0);
  const next = (): void => setVersion((one) => one + 1);
  useEvery(MINUTE_MS, next);
  useClockMoves(next);
  const since = useCloses([portfolioId], version).get(portfolioId)?.sinceClose;
  return since && gainSinceClose([{ ...since, equity: totalEquity }]);
}

function Balances({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  const settles = useSettlementDates(portfolio);
  const day = useSinceClose(portfolio);
  return (
    <dl class="figures wide">
      <Figure name="Equity" rule="performance">
        {money(portfolio.totalEquity)}
      </Figure>
      <Figure
        name="Since last close"
        tone={tone(day?.pnl ?? 0)}
        note={day?.fraction === undefined ? undefined : percentChange(day.fraction)}
      >
        {day === undefined ? '–' : change(day.pnl)}
      </Figure>
      <Figure name="Settled cash" term="settledCash">
        {money(portfolio.settledCash)}
      </Figure>
      <Figure name="Pending cash" term="pendingCash" note={portfolio.pendingCash === 0 ? undefined : settles}>
        {money(portfolio.pendingCash)}
      </Figure>
      <Figure name="Reserved" term="reserved">
        {money(portfolio.reservedCash)}
      </Figure>
      <Figure name="Long value" rule="positions">
        {money(portfolio.longMarketValue)}
      </Figure>
      <Figure name="Short value" term="shortValue">
        {money(portfolio.shortMarketValue)}
      </Figure>
      {portfolio.portfolioType === 'MARGIN' && (
        <Figure name="Loan" term="marginLoan">
          {money(portfolio.marginLoan)}
        </Figure>
      )}
      <Figure name="Buying power" term="buyingPower" rule={ruleOfBuyingPower(portfolio)}>
        {money(portfolio.overnightBuyingPower)}
      </Figure>
      {portfolio.portfolioType === 'MARGIN' && (
        <Figure name="Day-trade power" term="dayTradePower">
          {money(portfolio.dayTradeBuyingPower)}
        </Figure>
      )}
    </dl>
  );
}
