import { expect, it } from 'vitest';
import { measureClosedOrders } from './closed-orders.js';
import { measureCore } from './core.js';
import { measureMargin } from './margin.js';
import { measureMarginWatch } from './margin-watch.js';
import type { Row } from './measure.js';
import { measureOptions } from './options.js';
import { measureMultiLegOrders } from './multi-leg-orders.js';
import { measurePlacements } from './placements.js';
import { measureQuotes } from './quotes.js';
import { measureStore } from './store.js';

/** Small sizes, to check only that each measurement runs; recovery, which kills servers, needs half a minute at least and is omitted. */
const SIZES = {
  BENCH_ORDERS: '200',
  BENCH_DAYS: '1',
  BENCH_CONTRACTS: '72',
  BENCH_CHAINS: '2',
  BENCH_SYMBOLS: '20',
  BENCH_RESTING: '200',
  BENCH_QUOTES: '2000',
  BENCH_CLOSED: '400',
  BENCH_RECORDS: '300',
  BENCH_BOOKS: '3',
  BENCH_PACKAGES: '200',
  BENCH_RESTING_PACKAGES: '100',
  BENCH_HOLDERS: '100',
  BENCH_SERIES: '200',
  BENCH_WATCHED: '50',
  BENCH_TICKING: '100',
  BENCH_SECONDS: '2',
  BENCH_POSITIONS: '60',
  BENCH_GATED: '20',
  BENCH_BOOK_ORDERS: '3',
};

it.each<[string, () => Promise<readonly Row[]>]>([
  ['core', measureCore],
  ['options', measureOptions],
  ['quotes', measureQuotes],
  ['multi-leg-orders', measureMultiLegOrders],
  ['placements', measurePlacements],
  ['closed orders', measureClosedOrders],
  ['store', measureStore],
  ['margin', measureMargin],
  ['margin watch', measureMarginWatch],
])('the measurement of %s runs', async (_name, measure) => {
  Object.assign(process.env, SIZES);
  const rows = await measure();
  expect(rows.length).toBeGreaterThan(0);
  for (const { value } of rows) expect(value).toBeGreaterThan(0);
});
