import type { OptionContract } from '../../instruments/option.js';
import { optionContract } from '../../instruments/option-roots.js';
import { parseOsi } from '../../instruments/osi.js';
import { isOpening, legRatios, sideOf } from '../../orders/order.js';
import type { OrderLeg } from '../../orders/order.js';
import { Instant } from '../../values/instant.js';
import { nameOf } from './shapes.js';
import type { ShapedContract, SpreadName } from './shapes.js';

/**
 * The name by shape (D104) of the contracts that an order opens; if it opens none, of those that it closes. `undefined` if they are no SPREAD
 * group: a short without a long, or longs alone.
 */
export function shapeOfLegs(legs: readonly OrderLeg[]): SpreadName | undefined {
  const ratios = legRatios(legs);
  const opens = legs.some(({ positionIntent }) => isOpening(positionIntent));
  const contracts: ShapedContract[] = [];
  const counts = new Map<number, number>();
  for (const [index, { optionSymbol, positionIntent }] of legs.entries()) {
    if (isOpening(positionIntent) !== opens) continue;
    const named = parseOsi(optionSymbol);
    const contract = named && optionContract(named, {}, () => undefined);
    if (contract === undefined) return undefined;
    counts.set(contracts.length, ratios[index] ?? 1);
    contracts.push({
      isCall: contract.optionType === 'CALL',
      // An order that closes sells the longs of the position.
      isShort: (sideOf(positionIntent) === 'SELL') === opens,
      strike: contract.strike,
      settlesAt: settlementRank(contract),
    });
  }
  return isSpread(contracts, counts) ? nameOf(contracts, counts) : undefined;
}

/** Orders contracts by settlement: by date, those settled in the morning before the others. */
const settlementRank = ({ expiration, settleSession }: OptionContract): Instant =>
  Instant.ofMs(Number(expiration.replaceAll('-', '')) * 2 + (settleSession === 'AM' ? 0 : 1));

/** True if every short has a long of its type, and every long settles at or after every short (D104). */
function isSpread(contracts: readonly ShapedContract[], counts: ReadonlyMap<number, number>): boolean {
  const shorts = contracts.filter(({ isShort }) => isShort);
  const longs = contracts.filter(({ isShort }) => !isShort);
  if (shorts.length === 0) return false;
  if (longs.some((long) => shorts.some((short) => long.settlesAt < short.settlesAt))) return false;
  const count = (isCall: boolean, isShort: boolean): number =>
    contracts.reduce(
      (sum, one, index) =>
        sum + (one.isCall === isCall && one.isShort === isShort ? (counts.get(index) ?? 0) : 0),
      0,
    );
  return count(true, true) <= count(true, false) && count(false, true) <= count(false, false);
}
