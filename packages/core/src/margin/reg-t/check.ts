import type { Instant } from '../../values/instant.js';
import type { BookRefusal, OptionLeg, RegTLeg } from './legs.js';

const MOST_POSITIONS = 1000;
/** Up to $100 million, and $10,000 per point: amounts of one contract stay exact integers. */
const MOST_PRICE = 1e16 - 1;
const MOST_MULTIPLIER = 10_000;

/** Terms of a series that must be the same in all legs. */
const TERMS = [
  'underlying',
  'underlyingClass',
  'right',
  'strike',
  'expiration',
  'settlesAt',
  'style',
  'settlement',
  'multiplier',
  'deliverable',
  'inLieu',
  'price',
] as const satisfies readonly (keyof OptionLeg)[];

/** All problems with the legs of a book, in their order (D106). Each symbol is named once for each reason. */
export function refusalsOf(legs: readonly RegTLeg[], asOf: Instant): BookRefusal[] {
  if (legs.length > MOST_POSITIONS) return [{ code: 'TOO_MANY_POSITIONS', most: MOST_POSITIONS }];
  const refusals = new Map<string, BookRefusal>();
  const refuse = (refusal: BookRefusal): unknown => refusals.set(JSON.stringify(refusal), refusal);
  const seen = new Map<string, RegTLeg>();
  /** By underlying: its price and leverage factor, as its legs state them. */
  const underlyings = new Map<string, { price: number | undefined; factor: number }>();
  for (const leg of legs) {
    const before = seen.get(leg.symbol) ?? leg;
    seen.set(leg.symbol, before);
    for (const field of impossibleIn(leg)) refuse({ code: 'IMPOSSIBLE_TERMS', symbol: leg.symbol, field });
    const field = contradiction(before, leg);
    if (field !== undefined) refuse({ code: 'CONTRADICTORY_TERMS', symbol: leg.symbol, field });
    if (leg.price === undefined) refuse({ code: 'PRICE_MISSING', symbol: leg.symbol });
    const of = leg.kind === 'STOCK' ? leg.symbol : leg.underlying;
    const price = leg.kind === 'STOCK' ? leg.price : leg.underlyingPrice;
    const known = underlyings.get(of);
    const isAnother =
      known !== undefined &&
      (known.factor !== leg.leverageFactor ||
        (known.price !== undefined && price !== undefined && known.price !== price));
    if (isAnother) refuse({ code: 'CONTRADICTORY_TERMS', symbol: of, field: 'price' });
    underlyings.set(of, { price: known?.price ?? price, factor: leg.leverageFactor });
    if (leg.kind === 'STOCK') continue;
    if (leg.settlesAt <= asOf) refuse({ code: 'OPTION_EXPIRED', symbol: leg.symbol });
    if (leg.quantity % 1_000_000 !== 0) refuse({ code: 'NOT_WHOLE_CONTRACTS', symbol: leg.symbol });
  }
  for (const leg of legs) {
    if (leg.kind === 'OPTION' && leg.quantity < 0 && underlyings.get(leg.underlying)?.price === undefined)
      refuse({ code: 'PRICE_MISSING', symbol: leg.underlying });
  }
  return [...refusals.values()];
}

function impossibleIn(leg: RegTLeg): string[] {
  const isIn = (value: number, least: number, most: number): boolean => value >= least && value <= most;
  const isPrice = (price: number | undefined): boolean => price === undefined || isIn(price, 0, MOST_PRICE);
  const wrong: string[] = [];
  if (!Number.isSafeInteger(leg.quantity)) wrong.push('quantity');
  if (!isPrice(leg.price)) wrong.push('price');
  if (!isIn(Math.abs(leg.leverageFactor), 0, 100)) wrong.push('leverageFactor');
  if (leg.kind === 'STOCK') return wrong;
  if (!isPrice(leg.underlyingPrice)) wrong.push('underlyingPrice');
  if (!isIn(leg.strike, 1, MOST_PRICE)) wrong.push('strike');
  if (!isIn(leg.multiplier, 1e-6, MOST_MULTIPLIER)) wrong.push('multiplier');
  if (!isIn(leg.deliverable, 1e-6, MOST_MULTIPLIER)) wrong.push('deliverable');
  return wrong;
}

function contradiction(before: RegTLeg, leg: RegTLeg): string | undefined {
  if (before.kind !== leg.kind) return 'kind';
  if (before.kind === 'STOCK' || leg.kind === 'STOCK')
    return before.price === leg.price ? undefined : 'price';
  return TERMS.find((field) => before[field] !== leg[field]);
}
