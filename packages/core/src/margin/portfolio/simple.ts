import { Money } from '../../values/money.js';
import { gainOf, gainsOf, minimumOf, moveOf, WHOLE_MOVE } from './risk-legs.js';
import type { Revaluation, RiskGroup, RiskLeg, RiskPoint, RiskRequirement } from './risk-legs.js';
import type { RiskParameters } from './risk-parameters.js';
import { sumOf } from './tims.js';

const POINTS = [-3, -2, -1, 0, 1, 2, 3];
const VOLATILITY_INDICES: ReadonlySet<string> = new Set(['VIX', 'VIXW']);

/**
 * Portfolio margin by SIMPLE (D116): each underlying alone, its positions revalued at seven moves in thirds of the range. The requirement
 * is its worst loss, at least $37.50 per option contract.
 */
export function simpleRequirementOf(
  legs: readonly RiskLeg[],
  parameters: RiskParameters,
  revalue: Revaluation,
): RiskRequirement {
  const byUnderlying = new Map<string, RiskLeg[]>();
  for (const leg of legs) {
    if (leg.kind === 'FUTURE') throw new RangeError(`${leg.symbol}: futures have their own margin`);
    const known = byUnderlying.get(leg.underlying);
    if (known === undefined) byUnderlying.set(leg.underlying, [leg]);
    else known.push(leg);
  }
  const groups = [...byUnderlying]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([underlying, mine]) => groupOf(underlying, mine, parameters, revalue));
  return { requirement: sumOf(groups.map(({ requirement }) => requirement)), groups };
}

/** The range of an underlying. */
export function simpleRange(
  underlying: string,
  isBroad: boolean,
  { simple }: Pick<RiskParameters, 'simple'>,
): number {
  if (VOLATILITY_INDICES.has(underlying)) return simple.volatilityIndex;
  return isBroad ? simple.broadIndex : simple.stock;
}

function groupOf(
  underlying: string,
  legs: readonly RiskLeg[],
  { simple, minimumPerPoint }: RiskParameters,
  revalue: Revaluation,
): RiskGroup {
  const isBroad = legs.some(({ underlyingClass }) => underlyingClass === 'BROAD_INDEX');
  const range = simpleRange(underlying, isBroad, { simple });
  const points = POINTS.map((point): RiskPoint => {
    const move = moveOf(range, point, 3);
    const pnl = gainsOf(legs, (leg, isOpposed) => gainOf(leg, move, revalue, isOpposed));
    return { underlying, priceMove: move / WHOLE_MOVE, pnl: Money.ofUnits(pnl) };
  });
  const worst = points.reduce((most, { pnl }) => Math.max(most, 0 - pnl), 0);
  const minimum = legs.reduce((sum, leg) => sum + minimumOf(leg, minimumPerPoint), 0);
  return {
    name: underlying,
    legs: legs.map(({ symbol, quantity }) => ({ symbol, quantity })),
    requirement: Money.ofUnits(Math.max(worst, minimum)),
    points,
  };
}
