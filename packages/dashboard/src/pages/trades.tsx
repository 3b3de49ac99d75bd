/** Round trips of a portfolio: the result of each opening order that a closing one ended. */
import type { RoundTrip } from '@sandpit/protocol';
import { useBroker } from '../broker.ts';
import { change, moment, percentChange, price, quantity, tone, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import type { Column } from '../parts/column.ts';
import { Download } from '../parts/download.tsx';
import { Field, Select } from '../parts/field.tsx';
import { Problem } from '../parts/notice.tsx';
import { VirtualTable } from '../parts/virtual-table.tsx';
import { setQuery } from '../route.ts';
import type { SectionProps } from './section.ts';

/** Rows that the table shows; the file has all of them. */
const MOST = 5000;

export function TradesSection({ portfolioId, query }: SectionProps) {
  const broker = useBroker();
  const [symbol, side, from, to] = ['symbol', 'side', 'from', 'to'].map((name) => query.get(name) ?? '');
  const span = { ...(from !== '' && { from }), ...(to !== '' && { to }) };
  const given = { params: { portfolioId }, query: span };
  const found = useLoad(async () => {
    const trades: RoundTrip[] = [];
    for await (const trade of broker.list('listTrades', given)) if (trades.push(trade) >= MOST) break;
    return trades;
  }, [portfolioId, from, to]);
  useClockMoves(found.reload);
  const { value, error } = found;
  const shown = (value ?? []).filter(
    (trade) => trade.symbol.startsWith((symbol ?? '').toUpperCase()) && (side === '' || trade.side === side),
  );
  const pnl = shown.reduce((sum, { netPnl }) => sum + netPnl, 0);
  return (
    <>
      <div class="grid">
        <Field name="Symbol" value={symbol ?? ''} onChange={(next) => setQuery({ symbol: next })} />
        <Select
          name="Side"
          value={side ?? ''}
          options={[['', 'All'] as const, 'LONG', 'SHORT']}
          onChange={(next) => setQuery({ side: next })}
        />
        <Field name="From" type="date" value={from ?? ''} onChange={(next) => setQuery({ from: next })} />
        <Field name="To" type="date" value={to ?? ''} onChange={(next) => setQuery({ to: next })} />
      </div>
      {error !== undefined && <Problem error={error} retry={found.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value !== undefined && (
        <section>
          <div class="row">
            <h2>
              {quantity(shown.length)} {shown.length === 1 ? 'trade' : 'trades'},{' '}
              <span class={tone(pnl)}>{change(pnl)}</span>
            </h2>
            <Download name="trades.csv" list="listTrades" given={given} />
          </div>
          {value.length >= MOST && (
            <p class="why">
              The table shows the latest {quantity(MOST)} trades. The CSV file has all of them.
            </p>
          )}
          <VirtualTable
            label="Trades"
            columns={COLUMNS}
            rows={shown}
            keyOf={({ tradeId, epoch }) => `${epoch}/${tradeId}`}
          />
        </section>
      )}
    </>
  );
}

const COLUMNS: readonly Column<RoundTrip>[] = [
  { title: 'Symbol', cell: ({ symbol }) => symbol },
  { title: 'Side', cell: ({ side }) => words(side) },
  { title: 'Quantity', isNumber: true, cell: (trade) => quantity(trade.quantity) },
  { title: 'Opened', isSecondary: true, cell: ({ openedAt }) => moment(openedAt) },
  { title: 'Closed', isSecondary: true, cell: ({ closedAt }) => moment(closedAt) },
  { title: 'Entry', isNumber: true, isWide: true, cell: ({ entryPrice }) => price(entryPrice) },
  { title: 'Exit', isNumber: true, isWide: true, cell: ({ exitPrice }) => price(exitPrice) },
  {
    title: 'Net profit',
    isNumber: true,
    cell: ({ netPnl }) => <span class={tone(netPnl)}>{change(netPnl)}</span>,
  },
  {
    title: 'Return',
    isNumber: true,
    cell: (trade) => (trade.return === undefined ? '–' : percentChange(trade.return)),
  },
  { title: 'Closed by', isSecondary: true, cell: ({ closedBy }) => words(closedBy) },
];
