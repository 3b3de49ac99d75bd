import { Instant, isOver } from '@sandpit/core';
import { journalHashOfCell } from '../competitions/journal-hash.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { playBaseline } from './baselines.js';
import type { BaselineName } from './definition.js';
import { BASELINE, enteredIn, isHouse } from './directory.js';
import type { EvaluationDeps, EvaluationDirectory, KeptCell, KeptEvaluation } from './directory.js';
import { EvaluationRefused } from './errors.js';
import type { EvaluationJournal } from './evaluation-journal.js';
import { HouseQueue } from './house-queue.js';
import type { Runs } from './runs.js';

/** Real time before work of the house that failed is tried again; it doubles up to the second. */
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 300_000;

/** Plays baselines, walks ended runs to their end, and has the results of evaluations recorded. */
export class House {
  readonly #deps: EvaluationDeps;
  readonly #directory: EvaluationDirectory;
  readonly #runs: Runs;
  readonly #journal: EvaluationJournal;
  readonly #queue = new HouseQueue();

  constructor(deps: EvaluationDeps, directory: EvaluationDirectory, runs: Runs, journal: EvaluationJournal) {
    this.#deps = deps;
    this.#directory = directory;
    this.#runs = runs;
    this.#journal = journal;
    runs.onEnded = (cell) => this.settle(cell);
  }

  /** Records the result of an evaluation if every run has its result. */
  settleEvaluation(kept: KeptEvaluation): void {
    const [first] = kept.cells;
    if (first !== undefined && this.#journal.isUnsettled(kept))
      this.#work(first, async () => {
        await this.#journal.settle(kept);
      });
  }

  /** Walks an ended run to its end and saves its result. */
  settle(cell: KeptCell): void {
    this.#work(cell, async () => {
      if (cell.note.result === undefined) await this.#settleNow(cell);
    });
  }

  /** Work of the house on a cell. It is tried again when it fails, such as while the store does not accept records. */
  #work(cell: KeptCell, work: () => Promise<void>, retryMs = RETRY_MS): void {
    const isOver = (): boolean => cell.isGone || this.#directory.isClosed;
    this.#queue.add(async () => {
      if (isOver()) return;
      try {
        await work();
      } catch (error) {
        if (isOver()) return;
        this.noteFailure(cell.kept, 'has a run that cannot be completed', error);
        setTimeout(() => this.#work(cell, work, Math.min(2 * retryMs, LONGEST_RETRY_MS)), retryMs).unref();
      }
    });
  }

  noteFailure({ note: { id } }: KeptEvaluation, what: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#deps.note(`Evaluation ${id} ${what}: ${why}`);
  }

  async #simulationOf({ note, kept }: KeptCell): Promise<Simulation | undefined> {
    return this.#deps.simulations.directory.find(note.id, kept.note.owner);
  }

  /** Stops trading in a cell: its open orders are canceled. */
  async #stop(cell: KeptCell, simulation: Simulation): Promise<void> {
    if (simulation.clock().mode === 'scaled') await simulation.setSpeed(0);
    if (cell.note.finishedAt === undefined) {
      const at = Math.min(simulation.now(), cell.note.end);
      this.#runs.change(cell, { finishedAt: cell.note.reason === 'END' ? cell.note.end : at });
      // First: the journal has the end of the run, and not why it ended.
      await this.#runs.save(cell);
    }
    const phase = simulation.brokerage.state.competition?.phase;
    if (phase !== undefined && !isOver(phase))
      await simulation.submit<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase: 'FINISHED' });
  }

  async #settleNow(cell: KeptCell): Promise<void> {
    const simulation = await this.#simulationOf(cell);
    if (simulation === undefined) return;
    await this.#stop(cell, simulation);
    const end = Instant.ofMs(cell.note.end);
    // The end is seen before the move of the clock that led to it is recorded; a second move would be another record.
    await simulation.catchUp();
    if (simulation.now() < end) await simulation.moveClock(end);
    // Timers that are due at the end may fire in several records: wait for all, so that figures, hash and file contain them.
    await simulation.catchUp();
    await simulation.durable();
    const { kept, note } = cell;
    const scenario = kept.note.definition.scenarios[note.scenario];
    const settings = kept.note.settings[note.scenario];
    if (scenario === undefined || settings === undefined) return;
    const last = simulation.published;
    const { work, store } = this.#deps;
    const result = await work.result(simulation, { note, scenario, settings, last });
    const journalHash = await journalHashOfCell(store, note.id, last);
    if (cell.isGone) return;
    const settled = { ...result, journalHash, last };
    const isLast =
      kept.cells.every((one) => one === cell || one.note.result !== undefined) &&
      enteredIn(kept).some((entry) => !isHouse(entry));
    // A further entry may come first.
    if (isLast && (await this.#journal.settle(kept, { cell, result: settled }))) return;
    this.#runs.change(cell, { result: settled });
    await this.#runs.save(cell);
  }

  /** The house plays a baseline. */
  play(cell: KeptCell): void {
    this.#work(cell, () => (cell.note.endedAt === undefined ? this.#playNow(cell) : Promise.resolve()));
  }

  async #playNow(cell: KeptCell): Promise<void> {
    const simulation = await this.#simulationOf(cell);
    if (simulation === undefined) return;
    const { kept, note, entry } = cell;
    const scenario = kept.note.definition.scenarios[note.scenario];
    if (scenario === undefined) return;
    if (note.startedAt === undefined) this.#runs.change(cell, { startedAt: this.#deps.clockMs() });
    const end = Instant.ofMs(note.end);
    const isStopped = (): boolean => cell.isGone || this.#directory.isClosed;
    await playBaseline(simulation, {
      name: entry.entrant.slice(BASELINE.length) as BaselineName,
      portfolioId: note.portfolioId,
      tier: kept.note.tier,
      end,
      draw: JSON.stringify([kept.note.draw, scenario.name, note.seed]),
      isStopped,
    });
    if (isStopped()) return;
    if (simulation.now() < end) await simulation.moveClock(end);
    await simulation.catchUp();
    this.#runs.end(cell, 'END');
  }

  /** Ends a cell because its entrant asked for it. */
  async finish(cell: KeptCell): Promise<void> {
    if (cell.note.endedAt !== undefined) throw new EvaluationRefused('NOT_RUNNING', 'The run has ended');
    this.#runs.change(cell, { endedAt: this.#deps.clockMs(), reason: 'FINISH' });
    const simulation = await this.#simulationOf(cell);
    if (simulation !== undefined) await this.#stop(cell, simulation);
    this.settle(cell);
  }

  /** Resolves when the house has nothing to do. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }
}
