import type { Performance as Measured } from '@sandpit/analytics';
import type { Performance } from '@sandpit/protocol';
import { shownDrawdown } from './drawdown.js';
import { isoOfMs } from './instants.js';

/** A performance as it travels. */
export function shownPerformance(
  { maxDrawdown, since, endedAt, monthly, series, breaks, segments, ...rest }: Measured,
  { from, to, epoch }: { readonly from: number; readonly to: number; readonly epoch: number },
  withSeries: boolean,
): Performance {
  return {
    from: isoOfMs(from),
    to: isoOfMs(to),
    epoch,
    ...rest,
    ...(maxDrawdown !== undefined && { maxDrawdown: shownDrawdown(maxDrawdown) }),
    monthly: [...monthly],
    ...(withSeries && { series: series.map((point) => ({ ...point, at: isoOfMs(point.at) })) }),
    breaks: breaks.map(({ reason, ...one }) => ({
      from: isoOfMs(one.from),
      ...(one.to !== undefined && { to: isoOfMs(one.to) }),
      reason,
    })),
    segments: segments.map(({ timeWeightedReturn, ...one }) => ({
      from: isoOfMs(one.from),
      to: isoOfMs(one.to),
      timeWeightedReturn,
      maxDrawdown: shownDrawdown(one.maxDrawdown),
    })),
    ...(since !== undefined && { since: isoOfMs(since) }),
    ...(endedAt !== undefined && { endedAt: isoOfMs(endedAt) }),
  };
}
