import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompetitionResult } from '@sandpit/core';
import { StoreUnavailable } from '../store/journal.js';
import { exportCompetition } from './competition-file.js';
import type { CompetitionDeps, CompetitionDirectory } from './directory.js';
import { CompetitionRefused } from './errors.js';
import { earlierResult, isSettled } from './kept-competition.js';
import type { Follower, KeptCompetition } from './kept-competition.js';
import type { CompetitionLifecycle } from './lifecycle.js';
import { rowsWithNames, rowsWithoutNames } from './notes.js';
import type { Board } from './running-competition.js';

/** Oldest age of a leaderboard, in real time. */
const BOARD_MS = 1000;
/** A leaderboard is rebuilt after this multiple of its own cost: small ones are always current. */
const COST_SHARE = 10;
/** A reader waits this long for a new one before it receives the previous one. */
const PATIENCE_MS = 100;
/** Followers notified between two turns of the event loop: each costs the writing of a leaderboard. */
const TOLD_PER_TURN = 4;
/** Bytes of leaderboards that followers of a competition are sent in a second of real time; larger ones are sent less often. */
const BYTES_A_SECOND = 16_000_000;

/** Leaderboards with their followers, and the results of finished competitions. */
export class CompetitionResults {
  readonly #deps: CompetitionDeps;
  readonly #directory: CompetitionDirectory;
  readonly #lifecycle: CompetitionLifecycle;

  constructor(deps: CompetitionDeps, directory: CompetitionDirectory, lifecycle: CompetitionLifecycle) {
    this.#deps = deps;
    this.#directory = directory;
    this.#lifecycle = lifecycle;
    lifecycle.observeEnds((kept) => this.tell(kept));
  }

  /** The result of a finished competition, from its cell. */
  async of({ note }: KeptCompetition): Promise<CompetitionResult> {
    const earlier = earlierResult(note);
    if (earlier !== undefined) return earlier;
    const market = await this.#deps.simulations.directory.find(note.marketId, note.organizer);
    const result = market?.brokerage.state.competition?.result;
    if (result === undefined) throw new StoreUnavailable('the competition has no result');
    return result;
  }

  /** The file of a finished competition, piece by piece. */
  async export(kept: KeptCompetition): Promise<AsyncGenerator<string>> {
    if ((await this.#lifecycle.statusOf(kept)) !== 'FINISHED')
      throw new CompetitionRefused('NOT_FINISHED', 'A competition is exported once it is FINISHED');
    const { note } = kept;
    const result = await this.of(kept);
    const { simulations, store } = this.#deps;
    const rows = rowsWithNames(result.rows, kept.entries);
    const ranked = new Set(rows.map(({ entryId }) => entryId));
    const entries = [...kept.entries.values()]
      .filter(({ id }) => ranked.has(id))
      .sort((a, b) => a.number - b.number);
    return exportCompetition(store, note, { ...result, rows }, entries, async ({ simulationId }) => {
      const simulation = await simulations.directory.find(simulationId, note.organizer);
      return simulation?.brokerage.state.competition?.points ?? [];
    });
  }

  /** The leaderboard, at most a second old, computed once for all callers. */
  async board(kept: KeptCompetition): Promise<Board> {
    if (kept.note.result !== undefined) return this.#finalBoard(kept);
    const { board } = kept;
    if (board === undefined) return this.#nextBoard(kept, 0);
    // On a clock that runs prices move by themselves.
    const isMoving = kept.note.settings.market.clock !== 'manual' && kept.opened?.phase === 'RUNNING';
    if (!kept.hasChanged && !isMoving) return board.board;
    const age = this.#deps.monotonicMs() - board.madeAt;
    const wait = Math.min(BOARD_MS, board.costMs * COST_SHARE) - age;
    return wait > PATIENCE_MS ? board.board : this.#nextBoard(kept, wait);
  }

  /** Equity in dollars and return of an entry, as the leaderboard has them; empty for one that is not ranked. */
  async figuresOf(
    id: string,
    entryId: string,
  ): Promise<{ readonly equity?: number; readonly return?: number }> {
    const kept = this.#directory.byId.get(id);
    const row = kept && (await this.board(kept)).rows.find((one) => one.entryId === entryId);
    return row === undefined ? {} : { equity: row.totalEquity, return: row.return };
  }

  /** Notifies a follower of the leaderboard at most once a second, until the competition is over. Returns a function that unsubscribes. */
  follow(kept: KeptCompetition, follower: Follower): () => void {
    kept.followers.add(follower);
    kept.ticker ??= setInterval(() => {
      if (this.#deps.monotonicMs() >= kept.tellAfter) this.tell(kept);
    }, BOARD_MS).unref();
    return () => {
      kept.followers.delete(follower);
      if (kept.followers.size > 0) return;
      clearInterval(kept.ticker);
      kept.ticker = undefined;
    };
  }

  /** Notifies all followers. Calls during a notification are merged into one. */
  tell(kept: KeptCompetition): void {
    if (kept.followers.size === 0) return;
    if (kept.telling !== undefined) {
      kept.telling.again = true;
      return;
    }
    const telling = { again: false };
    kept.telling = telling;
    this.#tellAll(kept)
      .catch(() => undefined)
      .finally(() => {
        kept.telling = undefined;
        if (telling.again && isSettled(kept.note)) this.tell(kept);
      });
  }

  async #tellAll(kept: KeptCompetition): Promise<void> {
    const [board, status] = await Promise.all([this.board(kept), this.#lifecycle.statusOf(kept)]);
    let bytes = 0;
    let told = 0;
    for (const follower of [...kept.followers]) {
      bytes += follower(board, status);
      if (++told % TOLD_PER_TURN === 0) await nextTurn();
    }
    kept.tellAfter = this.#deps.monotonicMs() + (bytes / BYTES_A_SECOND) * 1000 - BOARD_MS;
  }

  async #finalBoard(kept: KeptCompetition): Promise<Board> {
    if (kept.board !== undefined) return kept.board.board;
    const { at, rows, curves } = await this.of(kept);
    const board = { at: at as Board['at'], rows: rowsWithNames(rows, kept.entries), curves };
    kept.board = { board, madeAt: 0, costMs: 0 };
    return board;
  }

  #nextBoard(kept: KeptCompetition, waitMs: number): Promise<Board> {
    kept.making ??= this.#makeBoard(kept, waitMs).finally(() => (kept.making = undefined));
    return kept.making;
  }

  async #makeBoard(kept: KeptCompetition, waitMs: number): Promise<Board> {
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const running = await this.#lifecycle.run(kept);
    const beganAt = this.#deps.monotonicMs();
    kept.hasChanged = false;
    const { rows, ...made } = await running.board(kept.note);
    // A tenant may have been erased meanwhile.
    const board = { ...made, rows: rowsWithoutNames(rows, erasedOf(kept)) };
    const madeAt = this.#deps.monotonicMs();
    kept.board = { board, madeAt, costMs: madeAt - beganAt };
    return board;
  }
}

/** Ids of the entries of erased tenants. */
const erasedOf = ({ entries }: KeptCompetition): ReadonlySet<string> =>
  new Set([...entries.values()].flatMap(({ id, tenantId }) => (tenantId === '' ? [id] : [])));
