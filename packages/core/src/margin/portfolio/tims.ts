import { Money } from '../../values/money.js';
import { multiplyDivide } from '../../values/scaled.js';
import type { MarginClass, RiskParameters } from './risk-parameters.js';
import { gainOf, gainsOf, minimumOf, moveOf, WHOLE_MOVE } from './risk-legs.js';
import type { Move, Revaluation, RiskGroup, RiskLeg, RiskPoint, RiskRequirement } from './risk-legs.js';

/** Ten points, five down and five up, in fifths of the range. */
const POINTS = [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5];

/**
 * Portfolio margin by the OCC's TIMS (D115; FINRA Rule 4210(g)): all positions of a class are revalued at ten moves of it and
 * net in full; between classes of a product group 90 % of gains offset losses, point by point. A group requires its
 * worst loss, at least $37.50 per option contract. Futures are not margined here (D114).
 */
export function timsRequirementOf(
  legs: readonly RiskLeg[],
  parameters: RiskParameters,
  revalue: Revaluation,
): RiskRequirement {
  const byGroup = new Map<string, Map<string, RiskClass>>();
  for (const leg of legs) {
    if (leg.kind === 'FUTURE') throw new RangeError(`${leg.symbol}: futures have their own margin`);
    const of = classOf(leg, parameters);
    const group = of.productGroup ?? of.name;
    const classes = byGroup.get(group) ?? new Map<string, RiskClass>();
    byGroup.set(group, classes);
    const known = classes.get(of.name);
    if (known === undefined) classes.set(of.name, { of, legs: [leg] });
    else known.legs.push(leg);
  }
  const groups = [...byGroup]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, classes]) => groupOf(name, [...classes.values()], parameters, revalue));
  return { requirement: sumOf(groups.map(({ requirement }) => requirement)), groups };
}

interface RiskClass {
  readonly of: MarginClass;
  readonly legs: RiskLeg[];
}

/** The class that lists an underlying, else its own class. */
export function classOf(
  { underlying, underlyingClass }: Pick<RiskLeg, 'underlying' | 'underlyingClass'>,
  parameters: RiskParameters,
): MarginClass {
  const named = parameters.classes.find(({ underlyings }) => underlyings.includes(underlying));
  const range = underlyingClass === 'BROAD_INDEX' ? parameters.broadIndex : parameters.stock;
  return named ?? { name: underlying, underlyings: [underlying], range };
}

const moveAt = ({ range }: MarginClass, point: number): Move =>
  moveOf(point < 0 ? range.down : range.up, point, 5);

function groupOf(
  name: string,
  classes: readonly RiskClass[],
  { offsetBps, minimumPerPoint }: RiskParameters,
  revalue: Revaluation,
): RiskGroup {
  const points: RiskPoint[] = [];
  let worst = 0;
  for (const point of POINTS) {
    let losses = 0;
    let gains = 0;
    for (const { of, legs } of classes) {
      const move = moveAt(of, point);
      const pnl = gainsOf(legs, (leg, isOpposed) => gainOf(leg, move, revalue, isOpposed));
      if (pnl < 0) losses -= pnl;
      else gains += pnl;
      points.push({ underlying: of.name, priceMove: move / WHOLE_MOVE, pnl: Money.ofUnits(pnl) });
    }
    worst = Math.max(worst, losses - multiplyDivide(gains, offsetBps, 10_000, 'half-up'));
  }
  const legs = classes.flatMap((one) => one.legs);
  const minimum = legs.reduce((sum, leg) => sum + minimumOf(leg, minimumPerPoint), 0);
  return {
    name,
    legs: legs.map(({ symbol, quantity }) => ({ symbol, quantity })),
    requirement: Money.ofUnits(Math.max(worst, minimum)),
    points,
  };
}

export const sumOf = (amounts: readonly Money[]): Money =>
  amounts.reduce((sum, amount) => Money.add(sum, amount), Money.zero);
