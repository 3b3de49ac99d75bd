/** Names of all dialects, as `DIALECTS` has them. */
export const DIALECT_NAMES = ['alpaca', 'paper-invest', 'schwab', 'tradier', 'tws'] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];

export const isDialectName = (name: string): name is DialectName =>
  (DIALECT_NAMES as readonly string[]).includes(name);
