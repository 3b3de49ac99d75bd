/** Activities of a portfolio and its ledger entries, side by side. */
import { activityCategories, type Activity, type LedgerEntry } from '@sandpit/protocol';
import { activityText, cashOf, noteOf } from '../activity-text.ts';
import { useBroker } from '../broker.ts';
import { change, isoDay, moment, money, quantity, shortMoment, tone, words } from '../format.ts';
import { useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import { Download } from '../parts/download.tsx';
import { Field, Select } from '../parts/field.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import type { Column } from '../parts/column.ts';
import { PortfolioLink } from '../parts/portfolio-link.tsx';
import { VirtualTable } from '../parts/virtual-table.tsx';
import { hrefOf, type DashboardRoute, setQuery } from '../route.ts';

/** Rows that the tables show; the files have all of them. */
const MOST = 5000;
const CASH: ReadonlySet<string> = new Set(['SETTLED_CASH', 'PENDING_CASH']);

interface BalancedEntry extends LedgerEntry {
  readonly cash: number;
  readonly balance: number;
}

export function ActivityPage({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const portfolioId = place.path[1] ?? '';
  const category = place.query.get('category') ?? '';
  const from = place.query.get('from') ?? '';
  const to = place.query.get('to') ?? '';
  const found = useLoad(async () => {
    if (portfolioId === '') return undefined;
    const params = { portfolioId };
    const span = { ...(from !== '' && { from }), ...(to !== '' && { to }) };
    const activitiesOf = {
      params,
      query: { ...span, ...(category !== '' && { category: category as 'CASH' }) },
    };
    const entriesOf = { params, query: span };
    const [activities, newest] = await Promise.all([
      taken(broker.list('listActivities', activitiesOf)),
      // The balance is counted back from now, so that everything since is needed.
      taken(broker.list('listLedgerEntries', { params, query: from === '' ? {} : { from } })),
    ]);
    const { settledCash, pendingCash, reservedCash, marginLoan } = await broker.call('getPortfolio', {
      params,
    });
    const entries = balanced(newest, settledCash + pendingCash + reservedCash - marginLoan);
    const shown = to === '' ? entries : entries.filter(({ at }) => isoDay(at) <= to);
    return { activities, entries: shown, activitiesOf, entriesOf };
  }, [portfolioId, category, from, to]);
  useClockMoves(found.reload);
  if (portfolioId === '')
    return (
      <>
        <h1>Activity</h1>
        <Empty>
          Activity is shown by portfolio. <a href={hrefOf(broker.simulationId, '')}>Choose one first.</a>
        </Empty>
      </>
    );
  const { value, error } = found;
  return (
    <>
      <div class="heading">
        <h1>Activity</h1>
        <PortfolioLink portfolioId={portfolioId} />
        <button type="button" class="quiet" onClick={found.reload}>
          Reload
        </button>
      </div>
      <div class="grid">
        <Select
          name="Category"
          value={category}
          options={[['', 'All'] as const, ...activityCategories]}
          onChange={(next) => setQuery({ category: next })}
        />
        <Field name="From" type="date" value={from} onChange={(next) => setQuery({ from: next })} />
        <Field name="To" type="date" value={to} onChange={(next) => setQuery({ to: next })} />
      </div>
      {error !== undefined && <Problem error={error} retry={found.reload} />}
      {value === undefined && error === undefined && <p class="waiting">Loading …</p>}
      {value !== undefined && (
        <div class="halves uneven">
          <section>
            <div class="row">
              <h2>Activities</h2>
              <Download name="activities.csv" list="listActivities" given={value.activitiesOf} />
            </div>
            <Truncation shown={value.activities.length} />
            <VirtualTable
              label="Activities"
              columns={activityColumns(broker.simulationId)}
              rows={value.activities}
              keyOf={({ activityId }) => activityId}
            />
          </section>
          <section>
            <div class="row">
              <h2>Ledger</h2>
              <Download name="ledger.csv" list="listLedgerEntries" given={value.entriesOf} />
            </div>
            <Truncation shown={value.entries.length} />
            <VirtualTable
              label="Ledger"
              columns={LEDGER}
              rows={value.entries}
              keyOf={({ entryId }) => entryId}
            />
          </section>
        </div>
      )}
    </>
  );
}

async function taken<Item>(list: AsyncGenerator<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of list) if (items.push(item) >= MOST) break;
  return items;
}

/** Newest first, each with the cash after it. */
export function balanced(entries: readonly LedgerEntry[], cashNow: number): readonly BalancedEntry[] {
  let balance = cashNow;
  return entries.map((entry) => {
    const cash = entry.postings.reduce(
      (sum, { account, amount }) => (CASH.has(account) ? sum + amount : sum),
      0,
    );
    const row = { ...entry, cash, balance };
    balance -= cash;
    return row;
  });
}

const activityColumns = (simulationId: string): readonly Column<Activity>[] => [
  {
    title: 'Time',
    cell: ({ at }) => (
      <>
        <span class="on-screens">{moment(at)}</span>
        <span class="on-phones">{shortMoment(at)}</span>
      </>
    ),
  },
  { title: 'Category', isSecondary: true, cell: ({ category }) => words(category) },
  {
    title: 'Activity',
    isLong: true,
    cell: (one) =>
      one.orderId === undefined ? (
        <span title={activityText(one) + noteOf(one)}>{activityText(one) + noteOf(one)}</span>
      ) : (
        <a href={hrefOf(simulationId, 'orders', { order: one.orderId })} title={activityText(one)}>
          {activityText(one)}
        </a>
      ),
  },
  { title: 'Quantity', isNumber: true, isSecondary: true, cell: (one) => quantity(one.quantity) },
  {
    title: 'Amount',
    isNumber: true,
    cell: (one) => {
      const cash = cashOf(one);
      return cash === undefined ? '' : <span class={tone(cash)}>{change(cash)}</span>;
    },
  },
];

const LEDGER: readonly Column<BalancedEntry>[] = [
  { title: 'Time', isSecondary: true, cell: ({ at }) => moment(at) },
  {
    title: 'Entry',
    isLong: true,
    cell: ({ description, postings }) => (
      <span title={postings.map(({ account, amount }) => `${words(account)} ${change(amount)}`).join('\n')}>
        {activityText({ category: 'CASH', description })}
      </span>
    ),
  },
  { title: 'Cash', isNumber: true, cell: ({ cash }) => <span class={tone(cash)}>{change(cash)}</span> },
  { title: 'Balance', isNumber: true, cell: ({ balance }) => money(balance) },
];

/** Notes that a table is truncated; the file is complete. */
function Truncation({ shown }: { readonly shown: number }) {
  if (shown < MOST) return null;
  return (
    <p class="why">
      The table shows the latest {MOST.toLocaleString('en-US')} rows. The CSV file has all of them; a narrower
      span shows the others here.
    </p>
  );
}
