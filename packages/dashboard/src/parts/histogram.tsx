/** A histogram: the number of values per range, as bars. */

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Ranges with a label, at most. */
const LABELS = 8;

export function Histogram({
  label,
  bins,
  format,
}: {
  readonly label: string;
  readonly bins: readonly Bin[];
  readonly format: (value: number) => string;
}) {
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const every = Math.ceil(bins.length / LABELS);
  return (
    <div class="histogram" role="img" aria-label={label}>
      {bins.map(({ from, to, count }, index) => (
        <div key={from} title={`${format(from)} to ${format(to)}: ${count}`}>
          <div class="column">
            {count > 0 && <span>{count}</span>}
            <div class="bar" style={{ height: `${(count / most) * 100}%` }} />
          </div>
          <span class="from">{index % every === 0 && format(from)}</span>
        </div>
      ))}
    </div>
  );
}

/** Ranges of one round width, with a bound at 0: at most about this many. */
export function binsOf(values: readonly number[], most: number): readonly Bin[] {
  if (values.length === 0) return [];
  const low = Math.min(...values);
  const high = Math.max(...values);
  const raw = (high - low) / most || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const width = ([1, 2, 5].find((one) => one * power >= raw * (1 - 1e-9)) ?? 10) * power;
  const first = Math.floor(low / width);
  const last = Math.max(first, Math.ceil(high / width) - 1);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const at = first + index;
    const count = values.filter((value) => Math.min(Math.floor(value / width), last) === at).length;
    return { from: at * width, to: (at + 1) * width, count };
  });
}
