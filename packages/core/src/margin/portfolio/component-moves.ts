import type { UnderlyingClass } from '../../instruments/option.js';
import { multiplyDivide } from '../../values/scaled.js';
import type { MarginEngine } from '../margin-type.js';
import { WHOLE_MOVE } from './risk-legs.js';
import type { Move } from './risk-legs.js';
import type { Range, RiskParameters } from './risk-parameters.js';
import { simpleRange } from './simple.js';
import { spanRange } from './span.js';
import { classOf } from './tims.js';

/** An underlying with its margin class, as the engines see it. */
interface Classed {
  readonly underlying: string;
  readonly underlyingClass: UnderlyingClass;
}

/** The range of an underlying under an engine. */
export function rangeOf(engine: MarginEngine | undefined, of: Classed, parameters: RiskParameters): Range {
  const isBroad = of.underlyingClass === 'BROAD_INDEX';
  switch (engine) {
    case 'SIMPLE':
      return both(simpleRange(of.underlying, isBroad, parameters));
    case 'SPAN':
      return both(spanRange(isBroad));
    case 'TIMS':
    case undefined:
      return classOf(of, parameters).range;
  }
}

const both = (range: number): Range => ({ down: range, up: range });

/**
 * Move of a share that a contract delivers beside those of its underlying: as great a part of its own range, times its leverage factor,
 * as the move of the contract's class is of that one's. `isOpposed`: in the other direction.
 */
export function componentMove(
  move: Move,
  isOpposed: boolean,
  own: Range,
  other: Range & { readonly leverageFactor: number },
): Move {
  const isUp = move > 0 !== isOpposed;
  const size = multiplyDivide(
    Math.abs(move),
    isUp ? other.up : other.down,
    move > 0 ? own.up : own.down,
    'half-up',
  );
  return Math.max(0 - WHOLE_MOVE, Math.round((isUp ? size : 0 - size) * other.leverageFactor));
}
