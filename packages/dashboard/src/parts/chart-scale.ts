/** A time axis to scale for a chart library that gives every instant the same width. Pure. */

/** Instants of an axis at most, and at least. */
const MOST = 5000;
const LEAST = 600;

/** The middle of ascending gaps. */
const medianOf = (gaps: readonly number[]): number => gaps[gaps.length >> 1] ?? 0;

/**
 * Empty instants between ascending ones, so that each stretch of time has its width: about one for each typical distance between two
 * instants. None where the instants are evenly spaced already.
 */
export function fillersOf(times: readonly number[]): readonly number[] {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined || last <= first) return [];
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const usual = medianOf(gaps.filter((gap) => gap > 0).sort((a, b) => a - b));
  const step = (last - first) / Math.min(MOST, Math.max(LEAST, Math.round((last - first) / usual)));
  const fillers: number[] = [];
  times.forEach((time, index) => {
    const next = times[index + 1];
    if (next === undefined) return;
    const count = Math.round((next - time) / step) - 1;
    for (let place = 1; place <= count; place += 1)
      fillers.push(time + (place * (next - time)) / (count + 1));
  });
  return fillers;
}
