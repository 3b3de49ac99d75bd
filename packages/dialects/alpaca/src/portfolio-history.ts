/** Equity of an account over time. */
import type { EquityPoint } from '@sandpit/dialect-port';
import { activitiesOf } from './activity-list.js';
import { typesNamed } from './activities.js';
import { invalid } from './refusals.js';
import type { AlpacaCall, AlpacaHandler } from './request.js';

const DAY_MS = 86_400_000;
const POINTS_AT_ONCE = 500;

const PERIODS: Readonly<Record<string, number>> = { D: 1, W: 7, M: 31, A: 366, Y: 366 };

/** Start of a period that ends now, ms. */
function beginOf(period: string, now: number): number {
  if (period === 'all') return 0;
  if (period === 'intraday') return now - DAY_MS;
  const [, count = '', unit = ''] = /^(\d{1,3})([DWMAY])$/i.exec(period) ?? [];
  const days = PERIODS[unit.toUpperCase()];
  if (days === undefined) throw invalid(`invalid period: ${period}`);
  return now - Number(count) * days * DAY_MS;
}

/** The points of the equity curve of days in [from, until], oldest first, and the last one before them. */
async function pointsBetween(call: AlpacaCall, from: number, until: number) {
  const points: EquityPoint[] = [];
  const params = { portfolioId: call.book.portfolioId };
  for (let page = 1; ; page++) {
    const query = { page: String(page), limit: String(POINTS_AT_ONCE) };
    const { data, pagination } = await call.book.run('getEquityCurve', { params, query });
    for (const point of data) {
      const at = Date.parse(point.at);
      if (at < from) return { points: points.reverse(), before: point };
      if (at <= until) points.push(point);
    }
    if (page >= pagination.totalPages) return { points: points.reverse(), before: undefined };
  }
}

const TIMEFRAMES = ['1min', '5min', '15min', '1h', '1d'] as const;

/** One point for each day that has closed, and one for now. */
export const getPortfolioHistory: AlpacaHandler = async (call) => {
  const { query, book } = call;
  const { portfolioId } = book;
  query.choice('timeframe', TIMEFRAMES);
  // Options of intraday points, which this curve does not have.
  query.choice('intraday_reporting', ['market_hours', 'extended_hours', 'continuous']);
  query.choice('pnl_reset', ['per_day', 'no_reset']);
  const now = book.now();
  const end = query.instant('end') ?? query.instant('date_end');
  const start = query.instant('start') ?? query.instant('date_start');
  if (end !== undefined && start !== undefined && query.has('period'))
    throw invalid('only two of start, end and period are accepted');
  const until = end ?? now;
  const from = start ?? beginOf(query.text('period') ?? '1M', until);
  const { points, before } = await pointsBetween(call, from, until);
  const portfolio = await call.book.run('getPortfolio', { params: { portfolioId } });
  const terms = book.portfolio()?.terms;
  const base =
    before?.totalEquity ?? (terms === undefined ? portfolio.totalEquity : terms.initialCash / MONEY_UNITS);
  const curve = points.map(({ at, totalEquity }) => ({ at: Date.parse(at), equity: totalEquity }));
  // The current equity ends the curve, unless the request ends earlier.
  if (until >= now && (curve.at(-1)?.at ?? 0) < now) curve.push({ at: now, equity: portfolio.totalEquity });
  const began = before === undefined ? undefined : Date.parse(before.at);
  return {
    timestamp: curve.map(({ at }) => Math.floor(at / 1000)),
    equity: curve.map(({ equity }) => equity),
    profit_loss: curve.map(({ equity }) => cents(equity - base)),
    profit_loss_pct: curve.map(({ equity }) => (base === 0 ? null : (equity - base) / base)),
    base_value: base,
    base_value_asof: (before?.at ?? portfolio.createdAt).slice(0, 10),
    timeframe: '1D',
    cashflow: await cashflowsBy(
      call,
      began,
      curve.map(({ at }) => at),
    ),
  };
};

/** Cash moved by activities other than fills, by type, from each point to the next; at first since `began`. */
async function cashflowsBy(
  call: AlpacaCall,
  began: number | undefined,
  ends: readonly number[],
): Promise<Readonly<Record<string, readonly number[]>>> {
  const names = call.query.list('cashflow_types') ?? ['ALL'];
  const last = ends.at(-1);
  const [only] = names;
  if (last === undefined || only?.toUpperCase() === 'NONE') return {};
  const isWanted = only?.toUpperCase() === 'ALL' ? () => true : typesNamed(names);
  const sums = new Map<string, number[]>();
  let point = 0;
  const range = { ...(began !== undefined && { from: began + 1 }), to: last + 1 };
  for await (const { at, drafts } of activitiesOf(call.book, range, true)) {
    while (at > (ends[point] ?? Infinity)) point += 1;
    for (const { type, cash } of drafts) {
      if (cash === 0 || !isWanted(type)) continue;
      const flows = sums.get(type) ?? ends.map(() => 0);
      sums.set(type, flows);
      flows[point] = (flows[point] ?? 0) + cash;
    }
  }
  return Object.fromEntries(
    [...sums].map(([type, flows]) => [type, flows.map((flow) => flow / MONEY_UNITS)]),
  );
}

/** Units of money in a dollar. */
const MONEY_UNITS = 1e4;

const cents = (dollars: number): number => Math.round(dollars * 100) / 100;
