import type { LedgerEntry } from '../ledger/ledger.js';
import type { LotClosing } from '../positions/position.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';

/** A futures position was marked at the price of a daily settlement, or ended by its final one (D95, D96). */
export interface FutureSettled {
  readonly type: 'FutureSettled';
  readonly portfolioId: string;
  readonly symbol: string;
  readonly price: Price;
  /** Amount received, including the pending variation of closed contracts; negative = paid. Whole cents. */
  readonly amount: Money;
  /** Daily settlements only: the notional of each lot at the price, the base of the next variation. */
  readonly marked?: readonly { readonly lotId: number; readonly marked: Money }[];
  /** Final settlements only: every lot. */
  readonly closed?: readonly LotClosing[];
  readonly entries: readonly LedgerEntry[];
}
