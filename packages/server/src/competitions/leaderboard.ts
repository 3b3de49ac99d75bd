/** The ranking of the entries of a competition (D194, D196). */
import type { CompetitionFigures } from '@sandpit/analytics';

/** Ranking measures of a competition (D194). */
export type Scoring = 'TOTAL_RETURN' | 'SHARPE' | 'SORTINO' | 'CALMAR';

type EntryStatus = 'ACTIVE' | 'ELIMINATED' | 'DISQUALIFIED' | 'WITHDRAWN';

/** An entry with its ranking criteria. */
export interface Standing {
  readonly entryId: string;
  readonly displayName: string;
  /** Dollars × 10^4. */
  readonly totalEquity: number;
  readonly figures: CompetitionFigures;
  readonly trades: number;
  readonly status: EntryStatus;
  /** Simulated ms at which it was removed. */
  readonly removedAt?: number;
  readonly reason?: string;
}

export interface LeaderboardRow {
  readonly rank: number;
  readonly entryId: string;
  readonly displayName: string;
  readonly totalEquity: number;
  readonly return: number;
  readonly score?: number;
  readonly sharpe?: number;
  readonly maxDrawdown: number;
  readonly trades: number;
  readonly status: EntryStatus;
  readonly reason?: string;
}

const UNITS = 10_000;

/**
 * Ranks entries: those in it by score and total return, then the eliminated, the withdrawn and the disqualified, each by time survived and
 * total return. Ties share a rank.
 */
export function rankingOf(
  standings: readonly Standing[],
  scoring: Scoring,
  minTrades: number,
): readonly LeaderboardRow[] {
  const ranked = standings.map((standing) => ({ standing, key: keyOf(standing, scoring, minTrades) }));
  ranked.sort((a, b) => compare(a.key, b.key) || byName(a.standing, b.standing));
  let rank = 1;
  return ranked.map(({ standing, key }, place) => {
    const before = ranked[place - 1];
    if (before !== undefined && compare(before.key, key) !== 0) rank = place + 1;
    return rowOf(standing, rank, scoring, minTrades);
  });
}

/** Order of entries that share a rank. */
export function byName(
  a: Pick<Standing, 'displayName' | 'entryId'>,
  b: Pick<Standing, 'displayName' | 'entryId'>,
): number {
  if (a.displayName !== b.displayName) return a.displayName < b.displayName ? -1 : 1;
  return a.entryId < b.entryId ? -1 : 1;
}

/** Measures in order of priority; greater numbers rank higher. */
type Key = readonly number[];

function compare(a: Key, b: Key): number {
  for (const [place, value] of a.entries()) {
    const other = b[place] ?? 0;
    if (value !== other) return value > other ? -1 : 1;
  }
  return 0;
}

function keyOf(standing: Standing, scoring: Scoring, minTrades: number): Key {
  const { status, figures, removedAt = 0 } = standing;
  if (status === 'ACTIVE') {
    const score = scoreOf(standing, scoring, minTrades);
    return score === undefined ? [3, figures.totalReturn, 0] : [4, score, figures.totalReturn];
  }
  return [PLACES[status], removedAt, figures.totalReturn];
}

/** Ranks of entries that are out, below those with a score (4) and without one (3). */
const PLACES = { ELIMINATED: 2, WITHDRAWN: 1, DISQUALIFIED: 0 } as const;

/** The score of an entry; absent when it cannot be computed or too little was traded. */
function scoreOf({ figures, trades }: Standing, scoring: Scoring, minTrades: number): number | undefined {
  if (trades < minTrades) return undefined;
  switch (scoring) {
    case 'TOTAL_RETURN':
      return figures.totalReturn;
    case 'SHARPE':
      return figures.sharpe;
    case 'SORTINO':
      return figures.sortino;
    case 'CALMAR':
      return figures.calmar;
  }
}

function rowOf(standing: Standing, rank: number, scoring: Scoring, minTrades: number): LeaderboardRow {
  const { entryId, displayName, totalEquity, figures, trades, status, reason } = standing;
  const score = scoreOf(standing, scoring, minTrades);
  return {
    rank,
    entryId,
    displayName,
    totalEquity: totalEquity / UNITS,
    return: figures.totalReturn,
    ...(score !== undefined && { score }),
    ...(figures.sharpe !== undefined && { sharpe: figures.sharpe }),
    maxDrawdown: figures.maxDrawdown,
    trades,
    status,
    ...(reason !== undefined && { reason }),
  };
}
