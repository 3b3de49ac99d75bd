import type { CompetitionNote, EarlierResult, EntryNote } from './notes.js';
import type { Board, RunningCompetition } from './running-competition.js';

export type Status = 'OPEN' | 'RUNNING' | 'FINISHED' | 'CANCELED';

/** Receives leaderboards. Returns the number of bytes sent. */
export type Follower = (board: Board, status: Status) => number;

/** A competition as this server has it. */
export interface KeptCompetition {
  note: CompetitionNote;
  readonly entries: Map<string, EntryNote>;
  /** Names in use, foldedName. */
  readonly names: Set<string>;
  /** While its simulations are in memory. */
  running: Promise<RunningCompetition> | undefined;
  opened: RunningCompetition | undefined;
  /** Entries that are being added. The result waits for them. */
  readonly entering: Set<Promise<unknown>>;
  /** The last edit that replaces the market. Entries and the start wait for it. */
  editing: Promise<void>;
  /** Set while the result is computed. */
  finishing: Promise<void> | undefined;
  board: { readonly board: Board; readonly madeAt: number; readonly costMs: number } | undefined;
  /** True when the competition has changed since its leaderboard was computed. */
  hasChanged: boolean;
  making: Promise<Board> | undefined;
  readonly followers: Set<Follower>;
  /** Set while followers are notified; `again` when there is another change in the meantime. */
  telling: { again: boolean } | undefined;
  /** Earliest time of the next notification, on the monotonic clock. */
  tellAfter: number;
  ticker: NodeJS.Timeout | undefined;
  starter: NodeJS.Timeout | undefined;
}

export const isSettled = (note: CompetitionNote): boolean =>
  note.result !== undefined || note.isCanceled === true;

/** The result that an earlier version has written in the note. */
export const earlierResult = ({ result }: CompetitionNote): EarlierResult | undefined =>
  result !== undefined && 'rows' in result ? result : undefined;

/** Entries that count: those withdrawn before the start do not. */
export const takingPart = ({ entries }: KeptCompetition): readonly EntryNote[] =>
  [...entries.values()].filter(({ isCalledOff }) => isCalledOff !== true);

export function stopTimers(kept: KeptCompetition): void {
  clearInterval(kept.ticker);
  clearTimeout(kept.starter);
  kept.ticker = undefined;
}
