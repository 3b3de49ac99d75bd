import { isOver } from '@sandpit/core';
import type { Simulation } from '../engine/simulation/simulation.js';
import type { EndReason, Usage } from './definition.js';
import { isHouse } from './directory.js';
import type { EvaluationDeps, EvaluationDirectory, KeptCell } from './directory.js';
import type { CellNote } from './notes.js';

/** Real time in which the counts of a cell become durable. */
const FLUSH_MS = 250;
/** A cell that was never used ends after so many time limits. */
const UNUSED_LIMITS = 7;
const LONGEST_TIMER_MS = 3_600_000;

/** Usage in one report of an entrant. */
type ReportedUsage = Partial<Omit<Usage, 'transcripts'>> & { readonly transcript?: string };

/** Counts, usage, deadlines and ends of the runs under way. */
export class Runs {
  /** Receives each cell that a deadline, a limit, its market or a withdrawal has ended. */
  onEnded: (cell: KeptCell) => void = () => undefined;
  readonly #deps: EvaluationDeps;
  readonly #directory: EvaluationDirectory;
  readonly #dirty = new Set<KeptCell>();
  #flushing: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #deadlineAt = Infinity;

  constructor(deps: EvaluationDeps, directory: EvaluationDirectory) {
    this.#deps = deps;
    this.#directory = directory;
    directory.beforeRead = (cell) => this.#lapse(cell);
    deps.simulations.directory.onCellOpened = (simulation) => this.#attach(simulation);
  }

  /** Watches the simulation of a new cell if it is in memory. */
  attachOpened(cell: KeptCell): void {
    const simulation = this.#deps.simulations.directory.inMemory(cell.note.id, cell.kept.note.owner);
    if (simulation !== undefined) this.#attach(simulation);
  }

  /** Watches the simulation of a cell while it is in memory. */
  #attach(simulation: Simulation): void {
    const cell = this.#directory.cells.get(simulation.id);
    if (cell === undefined || cell.note.result !== undefined) return;
    const hasEnded = (): boolean => {
      const phase = simulation.brokerage.state.competition?.phase;
      return phase !== undefined && isOver(phase);
    };
    simulation.onSubmitted = (isRefused) => {
      if (cell.note.endedAt !== undefined) return;
      const { calls } = cell.note;
      const counted = isRefused ? { refused: calls.refused + 1 } : { orders: calls.orders + 1 };
      this.change(cell, { calls: { ...calls, ...counted } });
    };
    simulation.observe(({ events }) => {
      const { endedAt, startedAt, calls } = cell.note;
      const isMoved = events.some(({ type }) => type === 'ClockMoved');
      if (isMoved && endedAt === undefined && startedAt !== undefined)
        this.change(cell, { calls: { ...calls, steps: calls.steps + 1 } });
      if (events.some(({ type }) => type === 'CompetitionPhaseChanged') && hasEnded()) this.end(cell, 'END');
    });
    if (hasEnded()) this.end(cell, 'END');
    // A cell in use whose clock runs by itself.
    else if (cell.note.startedAt !== undefined) this.#startClock(cell, simulation);
  }

  /** Changes a note; it becomes durable shortly after. */
  change(cell: KeptCell, changes: Partial<CellNote>): void {
    cell.note = { ...cell.note, ...changes };
    cell.kept.version += 1;
    this.#dirty.add(cell);
    if (this.#flushing !== undefined || this.#directory.isClosed) return;
    this.#flushing = setTimeout(() => {
      this.#flushing = undefined;
      void this.flush().catch(() => undefined);
    }, FLUSH_MS).unref();
  }

  /** Saves every note that has changed. */
  async flush(): Promise<void> {
    const cells = [...this.#dirty];
    this.#dirty.clear();
    await Promise.all(cells.map((cell) => this.save(cell)));
  }

  async save(cell: KeptCell): Promise<void> {
    this.#dirty.delete(cell);
    if (cell.isGone) return;
    await this.#directory.saveCell(cell.note).catch((error: unknown) => {
      if (!cell.isGone) this.#dirty.add(cell);
      throw error;
    });
  }

  /** Another commit writes the note. */
  saved(cell: KeptCell): void {
    this.#dirty.delete(cell);
  }

  /** Counts a request with the token of a cell. */
  admitted(simulationId: string): void {
    const cell = this.#directory.cells.get(simulationId);
    if (cell === undefined || cell.note.endedAt !== undefined) return;
    const { calls } = cell.note;
    this.change(cell, {
      startedAt: cell.note.startedAt ?? this.#deps.clockMs(),
      calls: { ...calls, requests: calls.requests + 1 },
    });
    if (calls.requests > 0) return;
    this.watchDeadlines();
    const simulation = this.#deps.simulations.directory.inMemory(simulationId, cell.kept.note.owner);
    if (simulation !== undefined) this.#startClock(cell, simulation);
  }

  #startClock({ kept, note }: KeptCell, simulation: Simulation): void {
    const settings = kept.note.settings[note.scenario];
    if (settings?.market.clock !== 'scaled' || note.endedAt !== undefined) return;
    if (simulation.clock().speed === 0)
      void simulation.setSpeed(settings.market.speed).catch(() => undefined);
  }

  /** Ends a cell whose time or requests are used up. */
  #lapse(cell: KeptCell): void {
    const { note, kept } = cell;
    if (note.endedAt !== undefined || isHouse(cell.entry)) return;
    const { definition } = kept.note;
    if (definition.callLimit !== undefined && note.calls.requests >= definition.callLimit)
      this.end(cell, 'CALL_LIMIT');
    else if (deadlineOf(cell) <= this.#deps.clockMs()) this.end(cell, 'TIME_LIMIT');
  }

  /** Sets the timer of the next deadline. */
  watchDeadlines(): void {
    if (this.#directory.isClosed) return;
    let next = Infinity;
    for (const cell of this.#directory.cells.values())
      if (cell.note.endedAt === undefined && !isHouse(cell.entry)) next = Math.min(next, deadlineOf(cell));
    if (next >= this.#deadlineAt && this.#deadline !== undefined) return;
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    this.#deadlineAt = next;
    if (next === Infinity) return;
    const wait = Math.min(Math.max(next - this.#deps.clockMs(), 0), LONGEST_TIMER_MS);
    this.#deadline = setTimeout(() => {
      this.#deadline = undefined;
      this.#deadlineAt = Infinity;
      for (const { cells } of this.#directory.evaluations.values())
        for (const cell of cells) this.#lapse(cell);
      this.watchDeadlines();
    }, wait).unref();
  }

  /** Ends a cell for its entrant; the house walks it to its end. */
  end(cell: KeptCell, reason: EndReason): void {
    if (cell.note.endedAt !== undefined || cell.isGone) return;
    this.change(cell, { endedAt: this.#deps.clockMs(), reason });
    this.onEnded(cell);
  }

  /** Adds what an entrant says that its agent used. */
  async reportUsage(
    cell: KeptCell,
    { inputTokens = 0, outputTokens = 0, costUsd = 0, transcript }: ReportedUsage,
  ): Promise<Usage> {
    const before = cell.note.usage ?? { inputTokens: 0, outputTokens: 0, costUsd: 0, transcripts: 0 };
    const usage: Usage = {
      inputTokens: before.inputTokens + inputTokens,
      outputTokens: before.outputTokens + outputTokens,
      // To the eighth decimal, which a request has at most.
      costUsd: Math.round((before.costUsd + costUsd) * 1e8) / 1e8,
      transcripts: before.transcripts + (transcript === undefined ? 0 : 1),
    };
    this.change(cell, { usage });
    await this.save(cell);
    return usage;
  }

  close(): void {
    clearTimeout(this.#flushing);
    clearTimeout(this.#deadline);
  }
}

/** Real time at which a cell ends if nothing else ends it. */
export function deadlineOf({ note, kept }: Pick<KeptCell, 'note' | 'kept'>): number {
  const { timeLimitMs } = kept.note;
  return note.startedAt === undefined
    ? note.createdAt + UNUSED_LIMITS * timeLimitMs
    : note.startedAt + timeLimitMs;
}
