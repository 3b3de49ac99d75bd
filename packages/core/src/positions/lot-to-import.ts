import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';

/** A lot held at another broker. */
export interface LotToImport {
  readonly symbol: string;
  /** Negative = short. */
  readonly quantity: Quantity;
  /** Cost per share, or per unit of a contract; absent = the mark at the import. */
  readonly price?: Price;
  /** Absent = the instant of the import. */
  readonly acquiredAt?: Instant;
}
