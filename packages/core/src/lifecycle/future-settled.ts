import type { LedgerEntry } from '../ledger/ledger.js';
import type { LotClosing } from '../positions/position.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';

/** A position in a future was marked by the price of a daily settlement, or ended by its last one (D95, D96). */
export interface FutureSettled {
  readonly type: 'FutureSettled';
  readonly portfolioId: string;
  readonly symbol: string;
  readonly price: Price;
  /** What came in, with what closing contracts had left pending; negative = paid. Whole cents. */
  readonly amount: Money;
  /** The notional of each lot at the price, of which the next variation counts; of a daily settlement. */
  readonly marked?: readonly { readonly lotId: number; readonly marked: Money }[];
  /** Of the last settlement: every lot. */
  readonly closed?: readonly LotClosing[];
  readonly entries: readonly LedgerEntry[];
}
