/** Masks of recordings (D209). */
import { type Static, Type } from 'typebox';
import { isObject } from './check.js';
import { anyText, closed, flag, integer, number, optional } from './fields.js';
import type { Report } from './rules.js';

/** How a mask moves dates. */
const datesField = (description: string) =>
  Type.Union([flag(), Type.Literal('SESSIONS')], {
    description,
    'x-expected': 'must be a boolean or SESSIONS',
  });

export const MaskParts = closed(
  'MaskParts',
  {
    symbols: optional(flag({ description: 'Symbols are replaced; absent = true.' })),
    dates: optional(
      datesField(
        'true: dates are moved by whole weeks, with the calendar. `SESSIONS`: sessions are moved to consecutive weekdays, so that the calendar has no holidays. Absent = `SESSIONS` for competitions and evaluations, true for simulations.',
      ),
    ),
    prices: optional(flag({ description: 'Prices are multiplied; absent = true.' })),
  },
  { description: 'Hidden parts of a recording.' },
);
export type MaskParts = Static<typeof MaskParts>;

/** A recording is hidden as a whole, in parts, or not at all (D209). */
export const maskField = (description: string) =>
  Type.Union([flag(), MaskParts], { description, 'x-expected': 'must be a boolean or an object' });

/** A clock on the wall shows the present date: that cannot be moved. */
export function reportMaskOnWall(
  { clock, mask }: { readonly clock?: unknown; readonly mask?: unknown },
  report: Report<'mask'>,
): void {
  const movesDates = mask === true || (isObject(mask) && mask['dates'] !== false);
  if (clock === 'wall' && movesDates) report.field('mask', 'must not move dates on wall clocks');
}

export const MaskedInstrument = closed('MaskedInstrument', {
  symbol: anyText({ description: 'Symbol in the recording.' }),
  ticker: anyText({ description: 'Symbol in the simulation.' }),
  factor: number({ description: 'Factor of prices and divisor of sizes, 0.2 to 5; 1 = not masked.' }),
  sizeFactor: number({ description: 'Second factor of sizes and volumes, 0.5 to 2; 1 = not masked.' }),
});

export const SimulationMask = closed(
  'SimulationMask',
  {
    simulationId: anyText(),
    symbols: flag({ description: 'Whether symbols are replaced.' }),
    dates: datesField(
      'How dates are moved: by whole weeks (true), sessions to consecutive weekdays (`SESSIONS`), or not at all (false).',
    ),
    prices: flag({ description: 'Whether prices are multiplied.' }),
    weeks: integer(0, 9999, {
      description:
        'Weeks by which dates are moved into the future; with `SESSIONS` those of the first recorded session.',
    }),
    instruments: Type.Array(MaskedInstrument, { description: 'The recorded instruments, by symbol.' }),
  },
  { description: 'The key of a masked recording.' },
);
export type SimulationMask = Static<typeof SimulationMask>;
