/** Symbols compared on one chart: the change of each since the left edge. Pure. */
import type { Bar } from '@sandpit/protocol';

/** Symbols that are compared with the one of the chart at most: more lines cannot be told apart. */
export const MOST_COMPARED = 4;

/** The symbols of an address: in capitals, each once, without the one of the chart. */
export function comparedIn(text: string, charted: string): readonly string[] {
  const symbols = text
    .split(',')
    .map((one) => one.trim().toUpperCase())
    .filter((one) => one !== '' && one !== charted);
  return [...new Set(symbols)].slice(0, MOST_COMPARED);
}

/**
 * Change of the close since the first bar at or after `fromMs`, as a fraction; `untilMs` = up to the bar that contains it, else up to the last.
 * Undefined without a bar in between.
 */
export function changeSince(
  bars: readonly Pick<Bar, 'timestamp' | 'close'>[],
  fromMs: number,
  untilMs = Infinity,
): number | undefined {
  const base = bars.find(({ timestamp }) => timestamp >= fromMs);
  const last = bars.findLast(({ timestamp }) => timestamp <= untilMs);
  if (base === undefined || last === undefined || last.timestamp < base.timestamp || base.close <= 0)
    return undefined;
  return last.close / base.close - 1;
}
