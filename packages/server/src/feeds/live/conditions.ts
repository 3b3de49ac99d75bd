/*
 * Sale conditions in the letters of the consolidated tapes (CTA and UTP): which trades do not update the consolidated last sale. Compared
 * with the column "Last" of https://docs.thetadata.us/Articles/Errors-Exchanges-Conditions/Trade-Conditions.html. A late report that may
 * become the last sale (`L`) is ordered by its stamp. Sources that send numbers map them to these letters.
 */

/** Averages, other settlements, odd lots, extended hours, out of sequence, derived prices, and what reports an auction without a trade. */
const LEAVE_LAST: ReadonlySet<string> = new Set('BCGHIMNPQRTUVWZ47');

const OPENING: ReadonlySet<string> = new Set(['O', 'Q']);
const CLOSING: ReadonlySet<string> = new Set(['6', 'M']);

/** True when a trade with these conditions updates the consolidated last sale. */
export const updatesLast = (conditions: readonly string[]): boolean =>
  conditions.every((condition) => !LEAVE_LAST.has(condition));

/** The auction that a trade with these conditions reports, if the listing exchange reports it. */
export function officialOf(conditions: readonly string[]): 'OPEN' | 'CLOSE' | undefined {
  if (conditions.some((condition) => OPENING.has(condition))) return 'OPEN';
  return conditions.some((condition) => CLOSING.has(condition)) ? 'CLOSE' : undefined;
}
