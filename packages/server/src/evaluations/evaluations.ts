import { EvaluationCreation } from './creation.js';
import { EvaluationDirectory, isHouse } from './directory.js';
import type { EvaluationDeps, KeptEvaluation } from './directory.js';
import { EvaluationJournal } from './evaluation-journal.js';
import { House } from './house.js';
import type { EvaluationNote } from './notes.js';
import { Runs } from './runs.js';

/**
 * All evaluations of a server (D210), by what is done with them. The registry has definitions, names and counts, the journal of each
 * evaluation's cell its entries, phases and result, the journals of the runs everything else.
 */
export class Evaluations {
  readonly directory: EvaluationDirectory;
  readonly runs: Runs;
  readonly journal: EvaluationJournal;
  readonly house: House;
  readonly creation: EvaluationCreation;
  readonly #deps: EvaluationDeps;
  #opening: Promise<void> = Promise.resolve();

  private constructor(deps: EvaluationDeps) {
    this.#deps = deps;
    this.directory = new EvaluationDirectory(deps);
    this.runs = new Runs(deps, this.directory);
    this.journal = new EvaluationJournal(deps, this.directory, this.runs);
    this.house = new House(deps, this.directory, this.runs, this.journal);
    this.creation = new EvaluationCreation(deps, this.directory, this.runs, this.journal, this.house);
  }

  /** Reads what the registry has, and continues cells that have not ended in the background. */
  static start(deps: EvaluationDeps): Evaluations {
    const evaluations = new Evaluations(deps);
    const isAlone = deps.store.ownership === undefined;
    for (const note of evaluations.directory.notes()) evaluations.directory.load(note);
    // In a cluster they continue with their owners.
    if (isAlone) evaluations.#continue();
    return evaluations;
  }

  /** Removes what a crash has left, and continues cells of the owner, or of all. */
  #continue(owner?: string): void {
    const isOf = (note: EvaluationNote): boolean => owner === undefined || note.owner === owner;
    const own = [...this.directory.evaluations.values()].filter(({ note }) => isOf(note));
    const orphans = own.flatMap(({ note, entries }) =>
      this.directory
        .cellNotes(note.id)
        .flatMap((cell) => (entries.has(cell.entryId) ? [] : [{ cell, note }])),
    );
    const deleted = this.directory.allNotes().filter((note) => note.isDeleted === true && isOf(note));
    this.#opening = this.#opening.then(async () => {
      for (const note of deleted) {
        if (this.directory.isClosed) return;
        await this.creation.removeRows(note).catch(() => undefined);
      }
      for (const { cell, note } of orphans) {
        if (this.directory.isClosed) return;
        await this.directory.discard(cell, note.owner).catch(() => undefined);
      }
      for (const kept of own)
        // Its cells have ended with the process that had them.
        if (kept.note.definition.ephemeral === true) await this.creation.remove(kept);
        else await this.#resume(kept);
    });
  }

  async #resume(kept: KeptEvaluation): Promise<void> {
    const { creation, house, journal, runs } = this;
    if (kept.note.cellId === undefined)
      await journal.completed(kept).catch((error: unknown) => {
        house.noteFailure(kept, 'cannot be continued', error);
      });
    kept.editing = kept.editing.then(() =>
      creation.enterBaselines(kept).catch((error: unknown) => {
        house.noteFailure(kept, 'has baselines that cannot be entered', error);
      }),
    );
    await kept.editing;
    house.settleEvaluation(kept);
    for (const cell of [...kept.cells]) {
      if (this.directory.isClosed) return;
      if (cell.note.result !== undefined) continue;
      if (cell.note.endedAt !== undefined) house.settle(cell);
      else if (isHouse(cell.entry)) house.play(cell);
      else if (cell.note.startedAt !== undefined)
        // Its clock runs, or its journal has reached the end already.
        await this.#deps.simulations.directory.find(cell.note.id, kept.note.owner).catch((error: unknown) => {
          house.noteFailure(kept, 'has a run that cannot be opened', error);
        });
    }
    runs.watchDeadlines();
  }

  /** Opens the evaluations of an owner that this node has acquired. */
  enterTenant(owner: string): void {
    for (const note of this.directory.notes()) if (note.owner === owner) this.directory.load(note);
    this.#continue(owner);
  }

  /** Another node acquires an owner. */
  async leaveTenant(owner: string): Promise<void> {
    await this.runs.flush();
    for (const { note } of [...this.directory.evaluations.values()])
      if (note.owner === owner) this.directory.load(note);
  }

  async close(): Promise<void> {
    this.directory.isClosed = true;
    this.runs.close();
    await this.#opening;
    await this.house.idle();
    await this.runs.flush().catch(() => undefined);
  }
}
