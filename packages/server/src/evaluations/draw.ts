import { drawnFrom } from '../competitions/competition-file.js';
import type { Seed } from './definition.js';

/** Position of a cell in its evaluation. */
export interface CellPlace {
  readonly scenario: string;
  readonly seed: Seed;
  readonly entrant: string;
  readonly trial: number;
}

/** The chance of a cell. */
export interface CellDraw {
  /** 32-bit: latencies and other random draws. Equal for all entrants and trials. */
  readonly seed: number;
  /** 128 bits, hexadecimal: the synthetic path. Equal for all entrants and trials. */
  readonly path: string;
  /** 128 bits, hexadecimal: ids. */
  readonly idSecret: string;
  /** 128 bits, hexadecimal: the mask of a recording. */
  readonly maskKey: string;
}

/** Seed and secret of the cell of an evaluation. Its ids are of nothing. */
export const drawOfEvaluation = (draw: string, cellId: string): ReturnType<typeof drawnFrom> =>
  drawnFrom(draw, 'market', cellId);

/** The chance of a cell, from the draw of its evaluation (D210). */
export function drawOfCell(draw: string, { scenario, seed, entrant, trial }: CellPlace): CellDraw {
  const market = drawnFrom(draw, 'market', JSON.stringify([scenario, seed]));
  const own = JSON.stringify([scenario, seed, entrant, trial]);
  return {
    seed: market.seed,
    path: market.secret,
    idSecret: drawnFrom(draw, 'entry', own).secret,
    maskKey: drawnFrom(draw, 'mask', own).secret,
  };
}
