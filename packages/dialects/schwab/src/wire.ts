/** Answers of Schwab's API: JSON, with times in UTC. */
import { type Reply, uuidOf } from '@sandpit/dialect-port';

export { cents } from '@sandpit/dialect-port';

export const json = (status: number, value: unknown, headers: Reply['headers'] = {}): Reply => ({
  status,
  text: JSON.stringify(value),
  headers: { 'content-type': 'application/json', ...headers },
});

/** An answer without a body, as orders get. */
export const empty = (status: number, headers: Reply['headers'] = {}): Reply => ({
  status,
  text: '',
  headers: { 'content-type': 'application/json', ...headers },
});

/** `2026-11-30T14:45:00+0000`: times of orders. */
export const orderTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}+0000`;

/** Number of a symbol, the same on every server. */
export const instrumentIdOf = (symbol: string): number =>
  Number.parseInt(uuidOf(`schwab instrument ${symbol}`).slice(0, 8), 16) % 100_000_000;

/** Nine characters instead of a CUSIP: Sandpit has none. */
export const cusipOf = (symbol: string): string => `S${String(instrumentIdOf(symbol)).padStart(8, '0')}`;
