/** Ways to meet a margin call, in dollars and in positions. */
import type { MarginCall, RequirementGroup } from '@sandpit/protocol';
import { money, quantity } from '../format.ts';

export interface Sale {
  readonly symbol: string;
  readonly quantity: number;
  readonly isShort: boolean;
}

/** Requirements that selling a share reduces: of a Regulation T call the initial, of others the maintenance requirement. */
const RELEASED = { REG_T: 'initial', MAINTENANCE: 'maintenance' } as const;

/**
 * The smallest closing of one position of shares that releases the amount due, before commissions and fees; undefined when no single
 * position releases enough, and for calls that closing does not meet.
 */
export function saleFor(
  { type, amount, amountDue = amount }: Pick<MarginCall, 'type' | 'amount' | 'amountDue'>,
  groups: readonly RequirementGroup[],
): Sale | undefined {
  if (type !== 'REG_T' && type !== 'MAINTENANCE') return undefined;
  const sales = groups.flatMap((group) => {
    const [leg, ...others] = group.legs;
    const released = group[RELEASED[type]];
    if (leg === undefined || others.length > 0 || leg.symbol !== group.underlying || released <= 0) return [];
    const held = Math.abs(leg.quantity);
    const needed = Math.ceil((amountDue * held) / released);
    return needed > held || needed <= 0
      ? []
      : [{ symbol: leg.symbol, quantity: needed, isShort: leg.quantity < 0, share: needed / held }];
  });
  const [best] = sales.sort((a, b) => a.share - b.share);
  return best === undefined
    ? undefined
    : { symbol: best.symbol, quantity: best.quantity, isShort: best.isShort };
}

/** `deposit $723.75 or sell 47 AAPL`. */
export function callAdvice(
  call: Pick<MarginCall, 'type' | 'amount' | 'amountDue'>,
  groups: readonly RequirementGroup[],
): string {
  const deposit = `deposit ${money(call.amountDue ?? call.amount)}`;
  const sale = saleFor(call, groups);
  return sale === undefined
    ? deposit
    : `${deposit} or ${sale.isShort ? 'buy back' : 'sell'} ${quantity(sale.quantity)} ${sale.symbol}`;
}
