/** One symbol: its bars with one's own fills, its quote, its options; and the watchlist. */
import { barTimeframes, type OptionChainContract, type Quote } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { greek, percent, price, quantity } from '../format.ts';
import { useQuotes } from '../live/quotes.ts';
import { useEvery, useLoad } from '../load.ts';
import { useClockMoves } from '../time/clock-moves.ts';
import { CandleChart } from '../parts/candle-chart.tsx';
import { Select, Tabs } from '../parts/field.tsx';
import { Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import type { Column } from '../parts/column.ts';
import { kindOfSymbol } from '../option-legs.ts';
import { go, hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { CorporateActions, PushQuote } from './market-control.tsx';
import { QuoteStrip } from '../parts/quote-strip.tsx';

const WATCHED = 'sandpit-watchlist';
const FIRST = ['AAPL', 'MSFT', 'NVDA', 'SPY'];
/** Options one can look at: a chain is long, its middle is what matters. */
const STRIKES_EACH_SIDE = 12;

export function Market({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const symbol = (place.path[1] ?? 'AAPL').toUpperCase();
  const [watched, setWatched] = useState(readWatched);
  const keep = (next: readonly string[]): void => {
    localStorage.setItem(WATCHED, JSON.stringify(next));
    setWatched(next);
  };
  const isWatched = watched.includes(symbol);
  return (
    <>
      <div class="heading">
        <h1>{symbol}</h1>
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault();
            const input = event.currentTarget.elements.namedItem('symbol');
            if (input instanceof HTMLInputElement && input.value.trim() !== '')
              go(
                hrefOf(broker.simulationId, `market/${encodeURIComponent(input.value.trim().toUpperCase())}`),
              );
          }}
        >
          <input type="search" name="symbol" aria-label="Symbol" placeholder="Symbol  /" size={12} />
          <button type="submit">Show</button>
        </form>
        <a
          class="button"
          href={hrefOf(broker.simulationId, 'ticket', { kind: kindOfSymbol(symbol), symbol })}
        >
          Trade
        </a>
        <button
          type="button"
          class="quiet"
          onClick={() => keep(isWatched ? watched.filter((one) => one !== symbol) : [...watched, symbol])}
        >
          {isWatched ? 'Stop watching' : 'Watch'}
        </button>
      </div>
      <Watchlist symbols={watched} simulationId={broker.simulationId} />
      <QuoteStrip symbol={symbol} />
      <Bars key={symbol} symbol={symbol} timeframe={place.query.get('bars') ?? '1Day'} />
      <ChainTable symbol={symbol} expiration={place.query.get('expiration') ?? ''} />
      {broker.controlsMarket && <PushQuote symbol={symbol} />}
      {broker.may('simulate') && kindOfSymbol(symbol) === 'EQUITY' && <CorporateActions symbol={symbol} />}
    </>
  );
}

function readWatched(): readonly string[] {
  try {
    const kept = JSON.parse(localStorage.getItem(WATCHED) ?? 'null') as unknown;
    return Array.isArray(kept)
      ? kept.filter((one): one is string => typeof one === 'string').slice(0, 50)
      : FIRST;
  } catch {
    return FIRST;
  }
}

function Watchlist({
  symbols,
  simulationId,
}: {
  readonly symbols: readonly string[];
  readonly simulationId: string;
}) {
  const quotes = useQuotes(symbols);
  return (
    <ul class="watchlist" aria-label="Watchlist">
      {symbols.map((symbol) => {
        const quote: Quote | undefined = quotes.get(symbol);
        return (
          <li key={symbol}>
            <a href={hrefOf(simulationId, `market/${encodeURIComponent(symbol)}`)}>{symbol}</a>{' '}
            {price(quote?.price)}
          </li>
        );
      })}
    </ul>
  );
}

function Bars({ symbol, timeframe }: { readonly symbol: string; readonly timeframe: string }) {
  const broker = useBroker();
  const bars = useLoad(async () => {
    const [read, fills] = await Promise.all([
      broker.call('getBars', { params: { symbol }, query: { timeframe: timeframe as '1Day', limit: 300 } }),
      broker.call('listOrders', { query: { symbol, status: 'FILLED', limit: 100 } }),
    ]);
    // The price of a spread is not one of its underlying.
    return { bars: read.bars, fills: fills.data.filter(({ legs }) => legs === undefined) };
  }, [symbol, timeframe]);
  useEvery(10_000, bars.reload);
  useClockMoves(bars.reload);
  return (
    <section aria-label="Bars">
      <Tabs
        label="Length of a bar"
        value={timeframe}
        options={barTimeframes.map((one) => [one, one] as const)}
        onChange={(next) => setQuery({ bars: next })}
      />
      {bars.error !== undefined && <Problem error={bars.error} retry={bars.reload} />}
      {bars.value?.bars.length === 0 && <p class="notice">No bars of this length yet.</p>}
      {bars.value !== undefined && bars.value.bars.length > 0 && (
        <CandleChart
          label={`${symbol}, ${bars.value.bars.length} bars of ${timeframe}, last close ${price(bars.value.bars.at(-1)?.close)}`}
          bars={bars.value.bars}
          marks={bars.value.fills.map((order) => ({
            atMs: Date.parse(order.executedAt ?? order.updatedAt),
            isBuy: order.positionIntent.startsWith('BUY'),
            text: `${quantity(order.filledQuantity)} at ${price(order.averagePrice)}`,
          }))}
        />
      )}
      <p class="dim small">
        Charts by{' '}
        <a href="https://www.tradingview.com/" rel="noreferrer">
          TradingView Lightweight Charts
        </a>
        .
      </p>
    </section>
  );
}

function ChainTable({ symbol, expiration }: { readonly symbol: string; readonly expiration: string }) {
  const broker = useBroker();
  const expirations = useLoad(
    async () => (await broker.call('listOptionExpirations', { params: { underlying: symbol } })).expirations,
    [symbol],
  );
  const chosen = expiration === '' ? (expirations.value?.[0] ?? '') : expiration;
  const chain = useLoad(
    async () =>
      chosen === ''
        ? undefined
        : broker.call('getOptionChain', { params: { underlying: symbol }, query: { expiration: chosen } }),
    [symbol, chosen],
  );
  useEvery(5000, chain.reload);
  useClockMoves(chain.reload);
  // The quote above says already where a symbol is unknown.
  if (expirations.error !== undefined || expirations.value?.length === 0) return null;
  if (chain.error !== undefined && chain.value === undefined)
    return <Problem error={chain.error} retry={chain.reload} />;
  if (chain.value === undefined) return <p class="waiting">Loading …</p>;
  const rows = aroundTheMoney(chain.value.contracts, chain.value.underlyingPrice);
  return (
    <section aria-label="Options">
      <h2>Options</h2>
      <div class="grid">
        <Select
          name="Expiration"
          plain
          value={chosen}
          options={expirations.value ?? []}
          onChange={(next) => setQuery({ expiration: next })}
        />
      </div>
      <Table
        label="Option chain"
        isDense
        columns={chainColumns(broker.simulationId)}
        rows={rows}
        keyOf={({ strike }) => String(strike)}
      />
    </section>
  );
}

interface ChainRow {
  readonly strike: number;
  readonly call: OptionChainContract | undefined;
  readonly put: OptionChainContract | undefined;
}

function aroundTheMoney(
  contracts: readonly OptionChainContract[],
  at: number | undefined,
): readonly ChainRow[] {
  const byStrike = new Map<number, { call?: OptionChainContract; put?: OptionChainContract }>();
  for (const contract of contracts) {
    const row = byStrike.get(contract.strike) ?? {};
    row[contract.optionType === 'CALL' ? 'call' : 'put'] = contract;
    byStrike.set(contract.strike, row);
  }
  const rows = [...byStrike].map(([strike, { call, put }]) => ({ strike, call, put }));
  rows.sort((a, b) => a.strike - b.strike);
  const middle =
    at === undefined ? Math.floor(rows.length / 2) : rows.findIndex(({ strike }) => strike >= at);
  const from = Math.max(0, (middle < 0 ? rows.length : middle) - STRIKES_EACH_SIDE);
  return rows.slice(from, from + 2 * STRIKES_EACH_SIDE);
}

function chainColumns(simulationId: string): readonly Column<ChainRow>[] {
  const trade = (contract: OptionChainContract | undefined, text: string) =>
    contract === undefined ? (
      '–'
    ) : (
      <a href={hrefOf(simulationId, 'ticket', { kind: 'OPTION', symbol: contract.optionSymbol })}>{text}</a>
    );
  const of = (side: 'call' | 'put'): readonly Column<ChainRow>[] => {
    const name = side === 'call' ? 'Call' : 'Put';
    return [
      { title: `${name} bid`, isNumber: true, cell: (row) => trade(row[side], price(row[side]?.bid)) },
      { title: `${name} ask`, isNumber: true, cell: (row) => trade(row[side], price(row[side]?.ask)) },
      {
        title: `${name} IV`,
        isNumber: true,
        isSecondary: true,
        cell: (row) =>
          row[side]?.impliedVolatility === undefined ? '–' : percent(row[side].impliedVolatility),
      },
      { title: `${name} Δ`, isNumber: true, isSecondary: true, cell: (row) => greek(row[side]?.delta) },
      { title: `${name} Γ`, isNumber: true, isSecondary: true, cell: (row) => greek(row[side]?.gamma) },
      { title: `${name} Θ`, isNumber: true, isSecondary: true, cell: (row) => greek(row[side]?.theta) },
      { title: `${name} vega`, isNumber: true, isSecondary: true, cell: (row) => greek(row[side]?.vega) },
      {
        title: `${name} open int.`,
        isNumber: true,
        isSecondary: true,
        cell: (row) => quantity(row[side]?.openInterest),
      },
    ];
  };
  return [
    ...of('call'),
    { title: 'Strike', isNumber: true, cell: ({ strike }) => <strong>{price(strike)}</strong> },
    ...of('put'),
  ];
}
