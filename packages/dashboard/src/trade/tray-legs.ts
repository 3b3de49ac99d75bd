/** Legs selected from the chain, and their ticket. */
import type { Leg, OptionChainContract } from '@sandpit/protocol';
import { legsOf, textOfLegs } from '../option-legs.ts';
import { setQuery } from '../route.ts';
import { type MarketSide, netOf } from './market-side.ts';

/** The tray's legs as a ticket: limit at the market's net, one unit unless a number is there. */
export function setLegs(
  legs: readonly Leg[],
  query: URLSearchParams,
  contracts: ReadonlyMap<string, OptionChainContract>,
): void {
  const [only] = legs;
  if (only === undefined) {
    setQuery({ legs: undefined, limit: undefined, strategy: undefined });
    return;
  }
  const net = marketOf(legs, contracts).ask;
  setQuery({
    legs: textOfLegs(legs),
    type: 'LIMIT',
    limit: net === undefined ? undefined : legs.length === 1 ? Math.abs(net) / only.quantity : net,
    intent: legs.length === 1 ? only.positionIntent : undefined,
    quantity:
      legs.length === 1
        ? only.quantity
        : legsOf(query.get('legs') ?? '').length > 1
          ? (query.get('quantity') ?? 1)
          : 1,
    strategy: undefined,
    at: undefined,
    target: undefined,
    guard: undefined,
  });
}

/** The market of legs by their chains, a credit negative; prices are undefined while a side is missing. */
export function marketOf(
  legs: readonly Leg[],
  contracts: ReadonlyMap<string, OptionChainContract>,
): MarketSide {
  const quotes = legs.map(({ optionSymbol }) => {
    const { bid, ask } = contracts.get(optionSymbol) ?? {};
    return {
      symbol: optionSymbol,
      price: 0,
      timestamp: 0,
      ...(bid !== undefined && { bid }),
      ...(ask !== undefined && { ask }),
    };
  });
  return netOf(legs, quotes);
}

/** Legs with a contract bought or sold: the same side again adds one, the other side removes it. */
export function withLeg(
  legs: readonly Leg[],
  optionSymbol: string,
  side: 'BUY' | 'SELL',
  held: number,
): readonly Leg[] {
  const known = legs.find((leg) => leg.optionSymbol === optionSymbol);
  if (known !== undefined)
    return known.positionIntent.startsWith(side)
      ? legs.map((leg) => (leg === known ? { ...leg, quantity: leg.quantity + 1 } : leg))
      : legs.filter((leg) => leg !== known);
  const closes = side === 'BUY' ? held < 0 : held > 0;
  return [...legs, { optionSymbol, positionIntent: `${side}_TO_${closes ? 'CLOSE' : 'OPEN'}`, quantity: 1 }];
}
