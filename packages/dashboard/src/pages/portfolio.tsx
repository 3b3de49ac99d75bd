/** One portfolio: its curve, what it holds, its cash, and why its buying power is what it is. */
import type {
  EquityPoint,
  EquityPosition,
  FuturePosition,
  Order,
  OptionPosition,
  PortfolioUpdate,
} from '@sandpit/protocol';
import { useRef } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { change, day, greek, money, percent, price, quantity, tone } from '../format.ts';
import { usePortfolio } from '../live/portfolio.ts';
import { useEvery, useLoad } from '../load.ts';
import { useClockMoves } from '../parts/banner.tsx';
import type { Point } from '../parts/chart-data.ts';
import { LineChart } from '../parts/line-chart.tsx';
import { Tabs } from '../parts/field.tsx';
import { Figure } from '../parts/figure.tsx';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import type { Column } from '../parts/column.ts';
import { hrefOf, type Place, setQuery } from '../route.ts';
import { BuyingPower } from './buying-power.tsx';
import { OrderTable } from './orders.tsx';

const SECTIONS = [
  ['', 'Positions'],
  ['orders', 'Orders'],
  ['power', 'Why this buying power'],
] as const;

export function PortfolioPage({ place }: { readonly place: Place }) {
  const { simulationId } = useBroker();
  const portfolioId = place.path[1] ?? '';
  const { value, error } = usePortfolio(portfolioId);
  const section = place.query.get('section') ?? '';
  if (error !== undefined)
    return (
      <>
        <Problem error={error} />
        <p>
          <a href={hrefOf(simulationId, '')}>To the overview</a>
        </p>
      </>
    );
  if (value === undefined) return <p class="waiting">Loading …</p>;
  return (
    <>
      <div class="heading">
        <h1>{value.name ?? `Portfolio ${portfolioId.slice(0, 8)}`}</h1>
        <a class="button primary" href={hrefOf(simulationId, 'ticket', { portfolio: portfolioId })}>
          Trade
        </a>
        <a href={hrefOf(simulationId, `activity/${portfolioId}`)}>Activity</a>
      </div>
      {value.marginCallActive && (
        <p class="tag bad">Margin call: what may be done is limited until it is met.</p>
      )}
      {value.status === 'CLOSED' && <p class="tag">Closed</p>}
      <Balances portfolio={value} />
      <Curve portfolio={value} place={place} />
      <Tabs
        label="Section"
        value={section}
        options={SECTIONS}
        onChange={(next) => setQuery({ section: next, order: undefined })}
      />
      {section === '' && <Positions portfolio={value} simulationId={simulationId} />}
      {section === 'orders' && <OrderTable place={place} portfolioId={portfolioId} />}
      {section === 'power' && <BuyingPower portfolio={value} />}
    </>
  );
}

function Balances({ portfolio }: { readonly portfolio: PortfolioUpdate }) {
  return (
    <dl class="figures wide">
      <Figure name="Equity">{money(portfolio.totalEquity)}</Figure>
      <Figure name="Settled cash">{money(portfolio.settledCash)}</Figure>
      <Figure
        name="Pending cash"
        note={portfolio.pendingCash === 0 ? undefined : 'settles next settlement day'}
      >
        {money(portfolio.pendingCash)}
      </Figure>
      <Figure name="Reserved">{money(portfolio.reservedCash)}</Figure>
      <Figure name="Long value">{money(portfolio.longMarketValue)}</Figure>
      <Figure name="Short value">{money(portfolio.shortMarketValue)}</Figure>
      {portfolio.portfolioType === 'MARGIN' && <Figure name="Loan">{money(portfolio.marginLoan)}</Figure>}
      <Figure name="Buying power">{money(portfolio.overnightBuyingPower)}</Figure>
      {portfolio.portfolioType === 'MARGIN' && (
        <Figure name="Day-trade power">{money(portfolio.dayTradeBuyingPower)}</Figure>
      )}
    </dl>
  );
}

const SPANS = [
  ['1d', '1 day'],
  ['1w', '1 week'],
  ['', 'All'],
] as const;
const DAY_MS = 86_400_000;

/** The equity curve with its drawdown; fills are dots on it. */
function Curve({ portfolio, place }: { readonly portfolio: PortfolioUpdate; readonly place: Place }) {
  const broker = useBroker();
  const { portfolioId, totalEquity } = portfolio;
  const span = place.query.get('span') ?? '';
  const history = useLoad(() => readHistory(broker, portfolioId), [portfolioId]);
  /** What was seen while the page was open: between two closes the server keeps no points. */
  const seen = useRef<Point[]>([]);
  useEvery(5000, history.reload);
  useClockMoves(history.reload);
  if (history.error !== undefined) return <Problem error={history.error} retry={history.reload} />;
  if (history.value === undefined) return <p class="waiting">Loading …</p>;
  const { points, fills, nowMs } = history.value;
  const since = span === '1d' ? nowMs - DAY_MS : span === '1w' ? nowMs - 7 * DAY_MS : 0;
  if (seen.current.at(-1)?.atMs !== nowMs) seen.current.push({ atMs: nowMs, value: totalEquity });
  const kept = points.map(({ at, totalEquity: equity }) => ({ atMs: Date.parse(at), value: equity }));
  const all = [...kept, ...seen.current.filter(({ atMs }) => atMs > (kept.at(-1)?.atMs ?? 0))];
  const line = all.filter(({ atMs }) => atMs >= since);
  const peakAndLow = drawdownOf(all.map(({ value }) => value));
  return (
    <section aria-label="Equity">
      <div class="row">
        <Tabs
          label="Span of the curve"
          value={span}
          options={SPANS}
          onChange={(next) => setQuery({ span: next })}
        />
        <span class="dim">Largest drawdown {percent(peakAndLow)}</span>
      </div>
      <LineChart
        label={`Equity, ${line.length} points, now ${money(totalEquity)}`}
        lines={[{ name: 'Equity', points: line }]}
        marks={fills
          .filter((fill) => Date.parse(fill.executedAt ?? '') >= since)
          .map((fill) => ({
            atMs: Date.parse(fill.executedAt ?? ''),
            isBuy: fill.positionIntent.startsWith('BUY'),
            text: `${quantity(fill.filledQuantity)} ${fill.symbol} at ${price(fill.averagePrice)}`,
          }))}
      />
    </section>
  );
}

async function readHistory(
  broker: Broker,
  portfolioId: string,
): Promise<{
  readonly points: readonly EquityPoint[];
  readonly fills: readonly Order[];
  readonly nowMs: number;
}> {
  const params = { portfolioId };
  const [curve, filled, hours] = await Promise.all([
    broker.call('getEquityCurve', { params, query: { limit: 500 } }),
    broker.call('listOrders', { query: { portfolioId, status: 'FILLED', limit: 500 } }),
    broker.call('getMarketHours'),
  ]);
  return {
    points: curve.data.toReversed(),
    fills: filled.data.filter(({ executedAt }) => executedAt !== undefined),
    nowMs: Date.parse(hours.now),
  };
}

/** The largest fall from a peak, as a fraction of it. */
export function drawdownOf(values: readonly number[]): number {
  let peak = -Infinity;
  let worst = 0;
  for (const value of values) {
    peak = Math.max(peak, value);
    if (peak > 0) worst = Math.max(worst, (peak - value) / peak);
  }
  return worst;
}

function Positions({
  portfolio,
  simulationId,
}: {
  readonly portfolio: PortfolioUpdate;
  readonly simulationId: string;
}) {
  const { equities, options, futures } = portfolio;
  if (equities.length + options.length + futures.length === 0) return <p class="notice">Nothing is held.</p>;
  const market = (symbol: string, path = symbol) => (
    <a href={hrefOf(simulationId, `market/${path}`)}>{symbol}</a>
  );
  const equityColumns: readonly Column<EquityPosition>[] = [
    { title: 'Symbol', cell: ({ symbol }) => market(symbol) },
    { title: 'Settled', isNumber: true, cell: ({ settledQuantity }) => quantity(settledQuantity) },
    {
      title: 'Pending',
      isNumber: true,
      isSecondary: true,
      cell: ({ pendingQuantity }) => quantity(pendingQuantity),
    },
    {
      title: 'Reserved',
      isNumber: true,
      isSecondary: true,
      cell: ({ reservedQuantity }) => quantity(reservedQuantity),
    },
    { title: 'Entry', isNumber: true, isSecondary: true, cell: ({ entryPrice }) => price(entryPrice) },
    { title: 'Mark', isNumber: true, cell: ({ price: mark }) => price(mark) },
    { title: 'Value', isNumber: true, cell: ({ marketValue }) => money(marketValue) },
    {
      title: 'Unrealized',
      isNumber: true,
      cell: ({ unrealizedPnl }) => <span class={tone(unrealizedPnl)}>{change(unrealizedPnl)}</span>,
    },
  ];
  return (
    <>
      {equities.length > 0 && (
        <>
          <h2>Shares</h2>
          <Table label="Shares" columns={equityColumns} rows={equities} keyOf={({ equityId }) => equityId} />
        </>
      )}
      {options.length > 0 && (
        <>
          <h2>Options</h2>
          <Table
            label="Options"
            columns={optionColumns(simulationId)}
            rows={options}
            keyOf={({ optionSymbol }) => optionSymbol}
          />
          <GreekSums options={options} />
        </>
      )}
      {futures.length > 0 && (
        <>
          <h2>Futures</h2>
          <Table label="Futures" columns={FUTURES} rows={futures} keyOf={({ symbol }) => symbol} />
        </>
      )}
    </>
  );
}

const optionColumns = (simulationId: string): readonly Column<OptionPosition>[] => [
  {
    title: 'Contract',
    cell: ({ symbol, optionType, strike, expiration }) => (
      <a href={hrefOf(simulationId, `market/${symbol}`, { expiration })}>
        {symbol} {day(`${expiration}T12:00:00Z`)} {price(strike)} {optionType}
      </a>
    ),
  },
  { title: 'Contracts', isNumber: true, cell: (one) => quantity(one.quantity) },
  { title: 'Cost', isNumber: true, isSecondary: true, cell: ({ averageCost }) => price(averageCost) },
  { title: 'Mark', isNumber: true, cell: ({ lastPrice }) => price(lastPrice) },
  { title: 'Value', isNumber: true, cell: ({ marketValue }) => money(marketValue) },
  {
    title: 'Unrealized',
    isNumber: true,
    cell: ({ unrealizedPnL }) => <span class={tone(unrealizedPnL)}>{change(unrealizedPnL)}</span>,
  },
  { title: 'Δ', isNumber: true, isSecondary: true, cell: ({ deltaPerContract }) => greek(deltaPerContract) },
  { title: 'Γ', isNumber: true, isSecondary: true, cell: ({ gammaPerContract }) => greek(gammaPerContract) },
  { title: 'Θ', isNumber: true, isSecondary: true, cell: ({ thetaPerContract }) => greek(thetaPerContract) },
  { title: 'Vega', isNumber: true, isSecondary: true, cell: ({ vegaPerContract }) => greek(vegaPerContract) },
];

function GreekSums({ options }: { readonly options: readonly OptionPosition[] }) {
  const sum = (of: (one: OptionPosition) => number): number =>
    options.reduce((total, one) => total + one.quantity * of(one), 0);
  return (
    <p class="dim">
      Of all contracts: Δ {greek(sum((one) => one.deltaPerContract))} · Γ{' '}
      {greek(sum((one) => one.gammaPerContract))} · Θ {greek(sum((one) => one.thetaPerContract))} a day · vega{' '}
      {greek(sum((one) => one.vegaPerContract))}
    </p>
  );
}

const FUTURES: readonly Column<FuturePosition>[] = [
  { title: 'Contract', cell: ({ symbol }) => symbol },
  { title: 'Contracts', isNumber: true, cell: (one) => quantity(one.quantity) },
  { title: 'Entry', isNumber: true, isSecondary: true, cell: ({ entryPrice }) => price(entryPrice) },
  {
    title: 'Settled at',
    isNumber: true,
    isSecondary: true,
    cell: ({ settlementPrice }) => price(settlementPrice),
  },
  { title: 'Mark', isNumber: true, cell: ({ lastPrice }) => price(lastPrice) },
  { title: 'Notional', isNumber: true, isSecondary: true, cell: ({ notionalValue }) => money(notionalValue) },
  {
    title: 'Unrealized',
    isNumber: true,
    cell: ({ unrealizedPnl }) => <span class={tone(unrealizedPnl)}>{change(unrealizedPnl)}</span>,
  },
  { title: 'Initial', isNumber: true, isSecondary: true, cell: ({ initialMargin }) => money(initialMargin) },
  {
    title: 'Maintenance',
    isNumber: true,
    isSecondary: true,
    cell: ({ maintenanceMargin }) => money(maintenanceMargin),
  },
  { title: 'Last day', isSecondary: true, cell: ({ lastTradeDate }) => lastTradeDate },
];
