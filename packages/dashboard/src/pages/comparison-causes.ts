/** Why a comparison differs, in dollars by cause. Pure. */
import type { ComparisonRow } from '@sandpit/protocol';

type Figures = Pick<
  ComparisonRow,
  'totalEquity' | 'difference' | 'commissions' | 'regulatoryFees' | 'interest' | 'borrowFees'
>;

export interface Cause {
  readonly cause: string;
  /** Effect on equity: negative = it cost more than the original. */
  readonly amount: number;
}

const cents = (value: number): number => Math.round(value * 100);

/** The causes of a row's difference from the base, the largest first; together they are the difference to the cent. */
export function causesOf(row: Figures, base: Figures): readonly Cause[] {
  if (row.difference === undefined) return [];
  const paid = (of: (one: Figures) => number | undefined): number =>
    cents(of(base) ?? 0) - cents(of(row) ?? 0);
  const costs = [
    { cause: 'commissions', amount: paid(({ commissions }) => commissions) },
    { cause: 'fees', amount: paid(({ regulatoryFees }) => regulatoryFees) },
    { cause: 'interest', amount: paid(({ interest }) => interest) },
    { cause: 'borrow fees', amount: paid(({ borrowFees }) => borrowFees) },
  ];
  const rest = cents(row.difference) - costs.reduce((sum, { amount }) => sum + amount, 0);
  return [...costs, { cause: 'orders and prices', amount: rest }]
    .filter(({ amount }) => amount !== 0)
    .sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount))
    .map(({ cause, amount }) => ({ cause, amount: amount / 100 }));
}

/** Names of the rows with the greatest and the least equity; none while fewer than two rows differ. */
export function extremesOf(rows: readonly Pick<ComparisonRow, 'name' | 'totalEquity'>[]): {
  readonly best: ReadonlySet<string>;
  readonly worst: ReadonlySet<string>;
} {
  const known = rows.flatMap(({ name, totalEquity }) =>
    totalEquity === undefined ? [] : [{ name, totalEquity }],
  );
  const values = known.map(({ totalEquity }) => totalEquity);
  const [most, least] = [Math.max(...values), Math.min(...values)];
  const at = (value: number): ReadonlySet<string> =>
    new Set(known.filter(({ totalEquity }) => totalEquity === value).map(({ name }) => name));
  return most > least ? { best: at(most), worst: at(least) } : { best: new Set(), worst: new Set() };
}
