/** Drawdowns as the API shows them (D186, D242). */
import type { Drawdown } from '@sandpit/analytics';
import type { Drawdown as ShownDrawdown } from '@sandpit/protocol';
import { isoOfMs } from './instants.js';

export const shownDrawdown = ({
  fraction,
  amount,
  peakAt,
  troughAt,
  recoveredAt,
}: Drawdown): ShownDrawdown => ({
  fraction,
  // Binary sums of cents, back to the cent.
  amount: Math.round(amount * 100) / 100,
  peakAt: isoOfMs(peakAt),
  troughAt: isoOfMs(troughAt),
  ...(recoveredAt !== undefined && { recoveredAt: isoOfMs(recoveredAt) }),
});
