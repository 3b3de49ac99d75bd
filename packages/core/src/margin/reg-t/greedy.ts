import type { Contract, Micros } from './contracts.js';
import type { PartitionProgram } from './partition-program.js';

/**
 * Column values of a feasible partition, found in one pass: each short, the greatest requirement first, with the longs that cover it at the
 * least width, then combinations with stock by their savings.
 */
export function greedyValues(program: PartitionProgram): Float64Array {
  const { contracts, columns, blocks } = program;
  const values = new Float64Array(columns.length);
  const left = contracts.map(({ count }) => count);
  const take = (leg: number, count: number): void => {
    left[leg] = (left[leg] ?? 0) - count;
  };
  const columnIn = (block: number, leg: number): number | undefined =>
    program.columnsOf[block]?.find((index) => {
      const column = columns[index];
      return column?.kind === 'SPREAD' && column.leg === leg;
    });
  const shorts = blocks.flatMap((block, index) =>
    block.isMixed ? [] : block.shorts.map((leg) => ({ leg, block: index })),
  );
  const nakedOf = ({ leg }: { leg: number }): Micros => program.contract(leg).naked;
  shorts.sort((a, b) => nakedOf(b) - nakedOf(a) || a.leg - b.leg);
  for (const { leg, block } of shorts) {
    const short = program.contract(leg);
    for (const long of longsFor(program, short, blocks[block]?.longs ?? [])) {
      const count = Math.min(left[leg] ?? 0, left[long] ?? 0);
      if (count <= 0 || widthOf(short, program.contract(long)) >= short.naked) continue;
      for (const one of [leg, long]) {
        take(one, count);
        const column = columnIn(block, one);
        // Longs without a column are always in their block.
        if (column !== undefined) values[column] = (values[column] ?? 0) + count;
      }
    }
  }
  let { shares } = program;
  const combos = columns.flatMap((column, index) =>
    column.kind === 'COMBO' ? { combo: column.combo, index, cost: program.first[index] ?? 0 } : [],
  );
  for (const { combo, index, cost } of combos.sort((a, b) => a.cost - b.cost)) {
    const lot = Math.abs(combo.shares);
    const count = Math.min(Math.floor(shares / lot), ...combo.legs.map((leg) => left[leg] ?? 0));
    if (count <= 0 || cost >= 0) continue;
    shares -= count * lot;
    for (const leg of combo.legs) take(leg, count);
    values[index] = count;
  }
  return values;
}

/** The longs of a block that cover a short, by increasing width. */
function longsFor({ contracts }: PartitionProgram, short: Contract, longs: readonly number[]): number[] {
  const width = (leg: number): Micros => {
    const long = contracts[leg];
    return long === undefined ? 0 : widthOf(short, long);
  };
  return longs
    .filter((leg) => contracts[leg]?.isCall === short.isCall)
    .sort((a, b) => width(a) - width(b) || a - b);
}

/** The maximum loss of a vertical of the two. */
const widthOf = (short: Contract, long: Contract): Micros =>
  Math.max(0, short.isCall ? long.strike - short.strike : short.strike - long.strike);
