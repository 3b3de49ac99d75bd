export type * from './book-event.js';
export type { BenchmarkClose, BenchmarkComparison, MissingBenchmark } from './benchmark.js';
export * from './distribution.js';
export { type Drawdown, maxDrawdownOf } from './drawdown.js';
export * from './execution-quality.js';
export { type Break, type BreakReason, type EquityPoint, linkReturns } from './linked-index.js';
export { LotBook, type LotMethod, type OpenLot } from './lot-book.js';
export { moneyWeightedReturn } from './money-weighted.js';
export * from './performance.js';
export {
  type RoundTrip,
  RoundTripBook,
  type RoundTrips,
  roundTripsOf,
  type StoredRoundTrips,
  type TripOutcome,
} from './round-trips.js';
export { type ColumnKind, Rows, type StoredRows, Texts } from './rows.js';
export * from './taxes.js';
export * from './competition-figures.js';
export * from './evaluation-figures.js';
