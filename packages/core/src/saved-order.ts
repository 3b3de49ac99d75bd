import { MarginExcess } from './orders/margin-excess.js';
import { NO_FEES } from './orders/execution.js';
import type { OrderProgress, OrderTerms } from './orders/order.js';
import { copyOf } from './orders/progress.js';
import type { PortfolioTerms } from './portfolios/portfolio.js';
import { Money } from './values/money.js';
import { Quantity } from './values/quantity.js';

/**
 * An open order as saved. Recovery reads up to a hundred thousand of them at once: fields that its portfolio has too, and sums that are
 * still 0, are left out.
 */
export interface SavedOrder {
  readonly terms: Omit<OrderTerms, 'accountId'> & { readonly accountId?: undefined };
  readonly progress: Omit<OrderProgress, ZeroAtFirst> & {
    readonly [Field in ZeroAtFirst]?: OrderProgress[Field] | undefined;
  };
}
type ZeroAtFirst =
  | 'filledQuantity'
  | 'filledValue'
  | 'commission'
  | 'fees'
  | 'reserved'
  | 'takes'
  | 'reservedQuantity'
  | 'cover';

/** JSON leaves undefined fields out. V8 copies a whole object faster than one without some of its fields (decision 0195). */
export function savedOrderOf(terms: OrderTerms, progress: OrderProgress): SavedOrder {
  const { filledQuantity, filledValue, commission, fees, reserved, takes, reservedQuantity, cover } =
    progress;
  return {
    terms: { ...terms, accountId: undefined },
    progress: {
      ...progress,
      filledQuantity: filledQuantity === Quantity.zero ? undefined : filledQuantity,
      filledValue: filledValue === Money.zero ? undefined : filledValue,
      commission: commission === Money.zero ? undefined : commission,
      fees: fees.length === 0 ? undefined : fees,
      reserved: reserved === Money.zero ? undefined : reserved,
      takes: MarginExcess.isNone(takes) ? undefined : takes,
      reservedQuantity: reservedQuantity === Quantity.zero ? undefined : reservedQuantity,
      cover: cover === Quantity.zero ? undefined : cover,
    },
  };
}

/** Written out, so that it has the hidden class of an order's terms, and shares its strings with its portfolio. */
export const termsFrom = ({ terms: t }: SavedOrder, owner: PortfolioTerms): OrderTerms => ({
  number: t.number,
  accountId: owner.accountId,
  portfolioId: owner.portfolioId,
  tier: t.tier,
  symbol: t.symbol,
  assetClass: t.assetClass,
  underlying: t.underlying,
  orderType: t.orderType,
  positionIntent: t.positionIntent,
  session: t.session,
  trailingAmount: t.trailingAmount,
  trailingPercent: t.trailingPercent,
  latencyProfile: t.latencyProfile,
  latencyMs: t.latencyMs,
  clientOrderId: t.clientOrderId,
  notes: t.notes,
  bracket: t.bracket,
  notional: t.notional,
  strategy: t.strategy,
  legs: t.legs,
  origin: t.origin,
  agent: t.agent,
  script: t.script,
  createdAt: t.createdAt,
});

export function progressFrom({ progress }: SavedOrder): OrderProgress {
  const all = copyOf(progress as OrderProgress);
  all.filledQuantity = progress.filledQuantity ?? Quantity.zero;
  all.filledValue = progress.filledValue ?? Money.zero;
  all.commission = progress.commission ?? Money.zero;
  all.fees = progress.fees ?? NO_FEES;
  all.reserved = progress.reserved ?? Money.zero;
  all.takes = progress.takes ?? MarginExcess.none;
  all.reservedQuantity = progress.reservedQuantity ?? Quantity.zero;
  all.cover = progress.cover ?? Quantity.zero;
  return all;
}
