import { TOLERANCE } from './integer-solution.js';
import type { PartitionProgram } from './partition-program.js';

/**
 * Whole column values near a solution of the linear relaxation. Each series keeps its total, distributed among its groups by the largest
 * remainder; shorts that lose their long leave their group, the smallest requirement first.
 */
export function roundedValues(program: PartitionProgram, relaxed: Float64Array): Float64Array {
  const { contracts, columns } = program;
  const values = new Float64Array(columns.length);
  const left = contracts.map(({ count }) => count);
  const places: number[][] = contracts.map(() => []);
  let { shares } = program;
  columns.forEach((column, index) => {
    if (column.kind === 'SPREAD') places[column.leg]?.push(index);
    if (column.kind !== 'COMBO') return;
    const { legs, shares: taken } = column.combo;
    const lot = Math.abs(taken);
    const count = Math.max(
      0,
      Math.min(
        Math.floor((relaxed[index] ?? 0) + TOLERANCE),
        Math.floor(shares / lot),
        ...legs.map((leg) => left[leg] ?? 0),
      ),
    );
    values[index] = count;
    shares -= count * lot;
    for (const leg of legs) left[leg] = (left[leg] ?? 0) - count;
  });
  places.forEach((mine, leg) => shareOut(mine, left[leg] ?? 0));
  program.blocks.forEach((_, block) => {
    for (const isCall of [true, false]) coverShorts(block, isCall);
  });
  return values;

  function shareOut(mine: readonly number[], most: number): void {
    const total = mine.reduce((sum, index) => sum + Math.max(0, relaxed[index] ?? 0), 0);
    let rest = Math.min(most, Math.round(total));
    const remainders = mine.map((index) => {
      const value = Math.max(0, relaxed[index] ?? 0);
      const whole = Math.min(rest, Math.floor(value + TOLERANCE));
      values[index] = whole;
      rest -= whole;
      return { index, remainder: value - whole };
    });
    remainders.sort((a, b) => b.remainder - a.remainder || a.index - b.index);
    for (const { index } of remainders.slice(0, rest)) values[index] = (values[index] ?? 0) + 1;
  }

  function coverShorts(block: number, isCall: boolean): void {
    const mine = (program.columnsOf[block] ?? []).filter(
      (index) => program.contractIn(index).isCall === isCall,
    );
    const shorts = mine.filter((index) => program.contractIn(index).isShort);
    let excess = 0;
    for (const index of mine)
      excess += program.contractIn(index).isShort ? (values[index] ?? 0) : -(values[index] ?? 0);
    for (const { leg, count } of program.fixedIn[block] ?? [])
      if (program.contract(leg).isCall === isCall) excess -= count;
    shorts.sort((a, b) => program.contractIn(a).naked - program.contractIn(b).naked || a - b);
    for (const index of shorts) {
      const out = Math.max(0, Math.min(excess, values[index] ?? 0));
      values[index] = (values[index] ?? 0) - out;
      excess -= out;
    }
  }
}
