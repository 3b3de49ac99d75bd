import type { CompetitionRank, CompetitionResult, Instant } from '@sandpit/core';
import { beginningDigest } from '../engine/recovery/first-records.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { StoreUnavailable } from '../store/journal.js';
import type { CompetitionDeps, CompetitionDirectory } from './directory.js';
import { CompetitionRefused, notRunning } from './errors.js';
import { journalHashOf } from './journal-hash.js';
import { isSettled } from './kept-competition.js';
import type { KeptCompetition, Status } from './kept-competition.js';
import type { LeaderboardRow } from './leaderboard.js';
import type { EarlierResult } from './notes.js';
import { RunningCompetition } from './running-competition.js';

const LONGEST_TIMER_MS = 3_600_000;

/** Runs each competition through its phases, from its opening in memory to its result. */
export class CompetitionLifecycle {
  readonly #deps: CompetitionDeps;
  readonly #directory: CompetitionDirectory;
  #onEnd: (kept: KeptCompetition) => void = () => undefined;

  constructor(deps: CompetitionDeps, directory: CompetitionDirectory) {
    this.#deps = deps;
    this.#directory = directory;
  }

  /** Calls `onEnd` for each competition that has its result or is canceled. */
  observeEnds(onEnd: (kept: KeptCompetition) => void): void {
    this.#onEnd = onEnd;
  }

  async statusOf(kept: KeptCompetition): Promise<Status> {
    await kept.finishing?.catch(() => undefined);
    if (kept.note.result !== undefined) return 'FINISHED';
    if (kept.note.isCanceled === true) return 'CANCELED';
    if (this.#directory.isElsewhere(kept.note)) return kept.note.phase === undefined ? 'OPEN' : 'RUNNING';
    const { phase } = await this.run(kept);
    if (phase === 'FINISHED') {
      // The clock has just reached its end.
      await this.#finishing(kept);
      return 'FINISHED';
    }
    return phase === 'OPEN' || phase === 'CANCELED' ? phase : 'RUNNING';
  }

  /** Clock of a competition that is not settled (absent if another node has its market) and whether trading is paused. */
  async stateOf(kept: KeptCompetition): Promise<{ readonly now?: Instant; readonly isPaused: boolean }> {
    if (this.#directory.isElsewhere(kept.note)) return { isPaused: kept.note.phase === 'PAUSED' };
    const { market, phase } = await this.run(kept);
    return { now: market.now(), isPaused: phase === 'PAUSED' };
  }

  /** Throws `CompetitionRefused` if a competition is over. */
  async refuseOver(kept: KeptCompetition): Promise<void> {
    const status = await this.statusOf(kept);
    if (status !== 'OPEN' && status !== 'RUNNING') throw notRunning('The competition is over');
  }

  /** Opens trading, or resumes it. */
  async startTrading(kept: KeptCompetition): Promise<void> {
    await kept.editing;
    await this.refuseOver(kept);
    const running = await this.run(kept);
    const { market: wanted } = kept.note.settings;
    if (wanted.clock === 'wall' && running.phase === 'OPEN')
      throw notRunning('A market on a wall clock starts by itself');
    await running.setPhase('RUNNING');
    if (wanted.clock === 'scaled' && running.market.clock().speed === 0)
      await running.market.setSpeed(wanted.speed);
    clearTimeout(kept.starter);
    kept.hasChanged = true;
  }

  async pause(kept: KeptCompetition): Promise<void> {
    if (kept.note.settings.market.clock === 'wall')
      throw new CompetitionRefused('WALL_CLOCK', 'A competition on a wall clock cannot be paused');
    if ((await this.statusOf(kept)) !== 'RUNNING') throw notRunning('The competition is not running');
    const running = await this.run(kept);
    if (kept.note.settings.market.clock === 'scaled') await running.market.setSpeed(0);
    await running.setPhase('PAUSED');
    await running.market.followersApplied();
  }

  /** Ends trading and computes the result; does nothing if there is a result already. */
  async finish(kept: KeptCompetition): Promise<void> {
    const status = await this.statusOf(kept);
    if (status === 'FINISHED') return;
    if (status !== 'RUNNING') throw notRunning('The competition is not running');
    const running = await this.run(kept);
    if (kept.note.settings.market.clock === 'scaled') await running.market.setSpeed(0);
    await running.catchUp();
    await running.setPhase('FINISHED');
    await this.#finishing(kept);
  }

  /** Cancels a competition, or deletes one that is over. Returns true when it was deleted. */
  async cancel(kept: KeptCompetition): Promise<boolean> {
    const status = await this.statusOf(kept);
    if (status === 'OPEN' || status === 'RUNNING') {
      const running = await this.run(kept);
      if (kept.note.settings.market.clock === 'scaled') await running.market.setSpeed(0);
      await running.setPhase('CANCELED', () => this.#directory.save({ ...kept.note, isCanceled: true }));
      await running.market.followersApplied();
      this.#onEnd(kept);
      return false;
    }
    await this.#directory.remove(kept);
    return true;
  }

  /** A competition with its simulations in memory. */
  run(kept: KeptCompetition): Promise<RunningCompetition> {
    if (kept.opened?.isOutOfService === true) this.closeRunning(kept);
    kept.running ??= this.#open(kept).catch((error: unknown) => {
      kept.running = undefined;
      throw error;
    });
    return kept.running;
  }

  /** Runs a competition on a market that has just been created. */
  begin(kept: KeptCompetition, market: Simulation): void {
    this.#opened(kept, new RunningCompetition(market, () => (kept.hasChanged = true)));
  }

  /** Watches a competition whose simulations exist; after a crash, continues from the last recorded step. */
  #opened(kept: KeptCompetition, running: RunningCompetition): void {
    kept.running = Promise.resolve(running);
    kept.opened = running;
    const { market } = running;
    market.observe(({ events }) => {
      if (kept.opened !== running) return;
      if (!events.some(({ type }) => type === 'CompetitionPhaseChanged')) return;
      if (running.phase === 'FINISHED') this.#finishing(kept).catch(() => undefined);
      else this.#announcePhase(kept, running);
    });
    this.#announcePhase(kept, running);
    const { settings } = kept.note;
    if (settings.market.clock === 'scaled' && !isSettled(kept.note)) this.#followClock(kept, running);
    if (running.phase === 'FINISHED' && kept.note.result === undefined)
      this.#finishing(kept).catch(() => undefined);
  }

  /** Leaves out the simulations in memory: the next request opens all of them. */
  closeRunning(kept: KeptCompetition): void {
    kept.opened = undefined;
    kept.running = undefined;
    kept.hasChanged = true;
  }

  async #open(kept: KeptCompetition): Promise<RunningCompetition> {
    const { simulations } = this.#deps;
    const { organizer, marketId } = kept.note;
    const market = await simulations.directory.find(marketId, organizer);
    if (market === undefined) throw new StoreUnavailable('the market of the competition is gone');
    const running = new RunningCompetition(market, () => (kept.hasChanged = true));
    for (const entry of kept.entries.values()) {
      if (entry.simulationId === '' || entry.isCalledOff === true) continue;
      const simulation = await simulations.directory.find(entry.simulationId, organizer);
      if (simulation !== undefined) running.add(entry, simulation);
    }
    await this.#carryEntriesOver(kept, running);
    this.#opened(kept, running);
    return running;
  }

  /** Enters the entries of earlier versions, which were notes only, in the cell of their competition. */
  async #carryEntriesOver(kept: KeptCompetition, running: RunningCompetition): Promise<void> {
    const { store } = this.#deps;
    for (const { id, simulationId: cell } of [...kept.entries.values()]) {
      const simulation = running.simulationOf(id);
      const { competition } = running.market.brokerage.state;
      if (simulation === undefined || competition?.entries?.has(cell) === true || running.isOver) continue;
      const digest = await beginningDigest(store.journal.read(cell, 0));
      await running.record<'AddEntry'>({ type: 'AddEntry', entryId: id, cell, digest });
      const { status, reason } = simulation.brokerage.state.competition?.removed ?? {};
      if (status === undefined || status === 'ELIMINATED') continue;
      const removal = { status, ...(reason !== undefined && { reason }) };
      await running.record<'RemoveEntry'>({ type: 'RemoveEntry', cell, ...removal });
    }
  }

  /** Moves the result of an earlier version from its note to the cell of its competition. */
  async carryResultOver(kept: KeptCompetition, { rows, ...result }: EarlierResult): Promise<void> {
    const { marketId, organizer } = kept.note;
    const market = await this.#deps.simulations.directory.find(marketId, organizer);
    if (market !== undefined)
      await this.#settle(kept, new RunningCompetition(market, () => undefined), {
        ...result,
        rows: rows.map(withoutName),
      });
  }

  /** Records a result: in the cell of the competition, and that there is one in its note. */
  async #settle(
    kept: KeptCompetition,
    running: RunningCompetition,
    result: CompetitionResult,
  ): Promise<void> {
    const { at, journalHash } = result;
    const command = { type: 'SettleCompetition', result } as const;
    await running.record<'SettleCompetition'>(command, () =>
      this.#directory.save({ ...kept.note, result: { at, journalHash } }),
    );
    kept.board = undefined;
  }

  /** Writes the phase for the other nodes of a cluster. */
  #announcePhase(kept: KeptCompetition, { phase }: RunningCompetition): void {
    if (this.#deps.store.ownership === undefined || kept.note.phase === phase) return;
    if (phase !== 'RUNNING' && phase !== 'PAUSED') return;
    // The next writer of the note starts from this one.
    kept.note = { ...kept.note, phase };
    this.#directory.save(kept.note).catch(() => undefined);
  }

  /** A scaled clock runs while trading is open; one that begins in the future starts automatically. */
  #followClock(kept: KeptCompetition, { market, phase }: RunningCompetition): void {
    const { settings } = kept.note;
    const { speed } = market.clock();
    if (phase === 'RUNNING' && speed === 0)
      void market.setSpeed(settings.market.speed).catch(() => undefined);
    if (phase !== 'RUNNING' && speed > 0) void market.setSpeed(0).catch(() => undefined);
    if (phase !== 'OPEN') return;
    const wait = settings.startsAt - this.#deps.clockMs();
    if (wait > 0) this.#startIn(kept, wait);
  }

  #startIn(kept: KeptCompetition, waitMs: number): void {
    clearTimeout(kept.starter);
    kept.starter = setTimeout(
      () => {
        const left = kept.note.settings.startsAt - this.#deps.clockMs();
        if (left > 0) this.#startIn(kept, left);
        else this.startTrading(kept).catch(() => undefined);
      },
      Math.min(waitMs, LONGEST_TIMER_MS),
    ).unref();
  }

  #finishing(kept: KeptCompetition): Promise<void> {
    if (kept.note.result !== undefined) return Promise.resolve();
    kept.finishing ??= this.#makeResult(kept).finally(() => (kept.finishing = undefined));
    return kept.finishing;
  }

  /** Marks all positions, ranks them permanently, and hashes the journals. */
  async #makeResult(kept: KeptCompetition): Promise<void> {
    const { store } = this.#deps;
    const running = await this.run(kept);
    // Decided before the end.
    await Promise.allSettled(kept.entering);
    const { market } = running;
    if (kept.note.settings.market.clock === 'scaled') await market.setSpeed(0);
    await running.catchUp();
    const { rows, curves } = await running.board(kept.note);
    const simulations = [market, ...running.simulations];
    const records = simulations.map(({ id, published }) => [id, published] as const);
    const journalHash = await journalHashOf(store, records);
    const at =
      running.finishedAt ?? Math.min(market.now(), market.brokerage.state.competition?.terms.endsAt ?? 0);
    await this.#settle(kept, running, { at, rows: rows.map(withoutName), curves, journalHash, records });
    this.#onEnd(kept);
  }
}

const withoutName = ({ displayName: _, ...row }: LeaderboardRow): CompetitionRank => row;
