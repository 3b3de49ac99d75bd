/** Positions of a portfolio, by class, with options grouped into strategies. */
import type { EquityPosition, FuturePosition, OptionPosition, PortfolioUpdate } from '@sandpit/protocol';
import { useMemo, useState } from 'preact/hooks';
import { AlertButton } from '../alerts/alert-button.tsx';
import { change, dateText, greek, money, price, quantity, tone } from '../format.ts';
import { contractText, optionNamed } from '../option-legs.ts';
import type { Column } from '../parts/column.ts';
import { Table } from '../parts/table.tsx';
import { hrefOf } from '../route.ts';
import { RollDialog } from './roll.tsx';
import { closingTicket } from '../strategy.ts';
import { Strategies } from './strategies.tsx';

export function Positions({
  portfolio,
  simulationId,
}: {
  readonly portfolio: PortfolioUpdate;
  readonly simulationId: string;
}) {
  const { portfolioId, equities, options, futures } = portfolio;
  const [equityColumns, optionColumns, futureColumns] = useMemo(
    () =>
      [
        equityColumnsIn(simulationId),
        optionColumnsIn(simulationId, portfolioId),
        futureColumnsIn(simulationId, portfolioId),
      ] as const,
    [simulationId, portfolioId],
  );
  if (equities.length + options.length + futures.length === 0) return <p class="notice">No positions.</p>;
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
          {portfolio.portfolioType === 'MARGIN' && <Strategies portfolio={portfolio} />}
          <Table
            label="Options"
            columns={optionColumns}
            rows={options}
            keyOf={({ optionSymbol }) => optionSymbol}
          />
          <GreekSums options={options} />
        </>
      )}
      {futures.length > 0 && (
        <>
          <h2>Futures</h2>
          <Table label="Futures" columns={futureColumns} rows={futures} keyOf={({ symbol }) => symbol} />
        </>
      )}
    </>
  );
}

/** Closing a position, and rolling a contract. */
function Actions({
  simulationId,
  portfolioId,
  symbol,
  count,
}: {
  readonly simulationId: string;
  readonly portfolioId: string;
  readonly symbol: string;
  readonly count: number;
}) {
  const [isRolling, setIsRolling] = useState(false);
  const ticket = closingTicket(portfolioId, [{ symbol, quantity: count }]);
  if (count === 0 || ticket === undefined) return null;
  return (
    <span class="row nowrap">
      <a
        class="button small"
        href={hrefOf(simulationId, `trade/${encodeURIComponent(symbol)}`, { ...ticket, symbol: undefined })}
        aria-label={`Close ${contractText(symbol)}`}
      >
        Close
      </a>
      {optionNamed(symbol) !== undefined && (
        <button
          type="button"
          class="small"
          aria-label={`Roll ${contractText(symbol)}`}
          onClick={() => setIsRolling(true)}
        >
          Roll
        </button>
      )}
      <AlertButton symbol={symbol} class="small" />
      {isRolling && (
        <RollDialog
          portfolioId={portfolioId}
          held={[{ symbol, quantity: count }]}
          onClose={() => setIsRolling(false)}
        />
      )}
    </span>
  );
}

const equityColumnsIn = (simulationId: string): readonly Column<EquityPosition>[] => [
  {
    title: 'Symbol',
    cell: ({ symbol }) => <a href={hrefOf(simulationId, `trade/${symbol}`)}>{symbol}</a>,
  },
  {
    title: 'Quantity',
    isNumber: true,
    cell: ({ settledQuantity, pendingQuantity }) => quantity(settledQuantity + pendingQuantity),
  },
  {
    title: 'Settled',
    isNumber: true,
    isSecondary: true,
    cell: ({ settledQuantity }) => quantity(settledQuantity),
  },
  {
    title: 'Pending',
    isNumber: true,
    isSecondary: true,
    cell: ({ pendingQuantity }) => quantity(pendingQuantity),
  },
  {
    title: 'Reserved',
    term: 'reserved',
    isNumber: true,
    isSecondary: true,
    cell: ({ reservedQuantity }) => quantity(reservedQuantity),
  },
  { title: 'Entry', isNumber: true, isSecondary: true, cell: ({ entryPrice }) => price(entryPrice) },
  { title: 'Mark', isNumber: true, isWide: true, cell: ({ price: mark }) => price(mark) },
  { title: 'Value', isNumber: true, cell: ({ marketValue }) => money(marketValue) },
  {
    title: 'Unrealized',
    isNumber: true,
    cell: ({ unrealizedPnl }) => <span class={tone(unrealizedPnl)}>{change(unrealizedPnl)}</span>,
  },
  {
    title: 'Trade',
    cell: ({ portfolioId, symbol, settledQuantity, pendingQuantity }) => (
      <Actions
        simulationId={simulationId}
        portfolioId={portfolioId}
        symbol={symbol}
        count={settledQuantity + pendingQuantity}
      />
    ),
  },
];

const optionColumnsIn = (simulationId: string, portfolioId: string): readonly Column<OptionPosition>[] => [
  {
    title: 'Contract',
    cell: ({ symbol, optionType, strike, expiration }) => (
      <a href={hrefOf(simulationId, `trade/${symbol}`, { expiration, show: 'options' })}>
        {symbol} {dateText(expiration)} {price(strike)} {optionType.toLowerCase()}
      </a>
    ),
  },
  { title: 'Contracts', isNumber: true, cell: (one) => quantity(one.quantity) },
  { title: 'Cost', isNumber: true, isSecondary: true, cell: ({ averageCost }) => price(averageCost) },
  { title: 'Mark', isNumber: true, isWide: true, cell: ({ lastPrice }) => price(lastPrice) },
  { title: 'Value', isNumber: true, cell: ({ marketValue }) => money(marketValue) },
  {
    title: 'Unrealized',
    isNumber: true,
    cell: ({ unrealizedPnL }) => <span class={tone(unrealizedPnL)}>{change(unrealizedPnL)}</span>,
  },
  {
    title: 'Δ',
    term: 'delta',
    isNumber: true,
    isSecondary: true,
    cell: ({ deltaPerContract }) => greek(deltaPerContract),
  },
  {
    title: 'Γ',
    term: 'gamma',
    isNumber: true,
    isSecondary: true,
    cell: ({ gammaPerContract }) => greek(gammaPerContract),
  },
  {
    title: 'Θ',
    term: 'theta',
    isNumber: true,
    isSecondary: true,
    cell: ({ thetaPerContract }) => greek(thetaPerContract),
  },
  {
    title: 'Vega',
    term: 'vega',
    isNumber: true,
    isSecondary: true,
    cell: ({ vegaPerContract }) => greek(vegaPerContract),
  },
  {
    title: 'Trade',
    cell: (one) => (
      <Actions
        simulationId={simulationId}
        portfolioId={portfolioId}
        symbol={one.optionSymbol}
        count={one.quantity}
      />
    ),
  },
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

const futureColumnsIn = (simulationId: string, portfolioId: string): readonly Column<FuturePosition>[] => [
  {
    title: 'Contract',
    cell: ({ symbol }) => <a href={hrefOf(simulationId, `trade/${symbol}`)}>{symbol}</a>,
  },
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
  {
    title: 'Initial',
    term: 'initialMargin',
    isNumber: true,
    isSecondary: true,
    cell: ({ initialMargin }) => money(initialMargin),
  },
  {
    title: 'Maintenance',
    term: 'maintenance',
    isNumber: true,
    isSecondary: true,
    cell: ({ maintenanceMargin }) => money(maintenanceMargin),
  },
  { title: 'Last day', isSecondary: true, cell: ({ lastTradeDate }) => dateText(lastTradeDate) },
  {
    title: 'Trade',
    cell: ({ symbol, quantity: count }) => (
      <Actions simulationId={simulationId} portfolioId={portfolioId} symbol={symbol} count={count} />
    ),
  },
];
