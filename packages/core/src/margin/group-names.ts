/** The names of groups under Reg T, in display order (D43, D104, D106). */
export const STRATEGIES = [
  'LONG_STOCK',
  'SHORT_STOCK',
  'LONG_CALL',
  'LONG_PUT',
  'NAKED_CALL',
  'NAKED_PUT',
  'COVERED_CALL',
  'COVERED_PUT',
  'PROTECTIVE_CALL',
  'PROTECTIVE_PUT',
  'COLLAR',
  'CONVERSION',
  'REVERSAL',
  'DEBIT_SPREAD',
  'CREDIT_SPREAD',
  'SHORT_STRADDLE',
  'SHORT_STRANGLE',
  'LONG_BUTTERFLY',
  'SHORT_BUTTERFLY',
  'IRON_CONDOR',
  'IRON_BUTTERFLY',
  'LONG_CALENDAR',
  'LONG_BOX',
  'SHORT_BOX',
  'LONG_CONDOR',
  'SHORT_CONDOR',
  'DIAGONAL_SPREAD',
  'UNIVERSAL_SPREAD',
] as const;

export type Strategy = (typeof STRATEGIES)[number];

/** The names of all groups, including those of futures and of risk-based margin. */
export type GroupName = Strategy | 'FUTURE' | 'FUTURE_SPREAD' | 'CLASS_GROUP';
