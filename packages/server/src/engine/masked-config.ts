import { Instant } from '@sandpit/core';
import { DateShift } from '../feeds/date-shift.js';
import { maskTerms } from '../feeds/mask.js';
import type { MaskParts, MaskTerms } from '../feeds/mask.js';
import type { WantedSimulation } from './simulation-config.js';

/** The configuration of a simulation with a masked recording; start and calendar are moved. `key`: 128 bits, hexadecimal. */
export function maskedConfig(config: WantedSimulation, parts: MaskParts, key: string): WantedSimulation {
  const start = Instant.ofMs(config.start);
  const mask = maskTerms(parts, key, start);
  return {
    ...config,
    mask,
    start: new DateShift(mask.weeks).moved(start),
    ...(mask.weeks > 0 && config.calendar === 'XNYS' && { calendar: `XNYS+${mask.weeks}` as const }),
  };
}

/** The instant that a mask shows instead of a recorded one. */
export const movedBy = ({ weeks }: MaskTerms, at: Instant): Instant => new DateShift(weeks).moved(at);
