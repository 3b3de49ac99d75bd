import { randomUUID } from 'node:crypto';
import { recordIn } from '../competitions/running-competition.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { evaluationCellOf } from '../engine/values/cell-names.js';
import { StoreUnavailable } from '../store/journal.js';
import { enteredIn, isHouse, notFound } from './directory.js';
import type { EvaluationDeps, EvaluationDirectory, KeptCell, KeptEvaluation } from './directory.js';
import { digestOfEntry, evaluationBeginning, evaluationConfig } from './evaluation-cell.js';
import type { NoteWithCell } from './evaluation-cell.js';
import { resultHashOf } from './figures.js';
import type { CellNote, CellResult, EvaluationEntryNote } from './notes.js';
import type { Runs } from './runs.js';

/** The cells of evaluations, with the entries, withdrawals and results that their journals record. */
export class EvaluationJournal {
  readonly #deps: EvaluationDeps;
  readonly #directory: EvaluationDirectory;
  readonly #runs: Runs;

  constructor(deps: EvaluationDeps, directory: EvaluationDirectory, runs: Runs) {
    this.#deps = deps;
    this.#directory = directory;
    this.#runs = runs;
  }

  /** The cell of an evaluation, with everything that the registry has. */
  async cellOf(kept: KeptEvaluation): Promise<Simulation> {
    await this.completed(kept);
    return this.#findCell(kept);
  }

  async #findCell({ note: { cellId, owner } }: KeptEvaluation): Promise<Simulation> {
    const cell =
      cellId === undefined
        ? undefined
        : await this.#deps.simulations.directory.findEvaluation(evaluationCellOf(cellId), owner);
    if (cell === undefined) throw new StoreUnavailable('the cell of the evaluation is gone');
    return cell;
  }

  /** Resolves when the cell of an evaluation has everything that the registry has. */
  completed(kept: KeptEvaluation): Promise<void> {
    kept.completing ??= this.#completeCell(kept).catch((error: unknown) => {
      kept.completing = undefined;
      throw error;
    });
    return kept.completing;
  }

  /**
   * Adds what the cell of an evaluation lacks: all of it if an earlier version created the evaluation, else an entry or a withdrawal of which
   * the registry alone became durable when another node acquired the owner.
   */
  async #completeCell(kept: KeptEvaluation): Promise<void> {
    if (kept.note.cellId === undefined) {
      const note = { ...kept.note, cellId: randomUUID() };
      await this.create(note, () => {
        this.#directory.require(kept);
        return () => {
          kept.note = note;
          return [];
        };
      });
    }
    const cell = await this.#findCell(kept);
    const noted = () => cell.brokerage.state.competition?.entries;
    for (const { id, isWithdrawn } of enteredIn(kept)) {
      let isOut = isWithdrawn === true;
      if (noted()?.has(id) !== true) {
        const own = kept.cells.flatMap(({ entry, note }) => (entry.id === id ? [note] : []));
        const digest = await digestOfEntry(this.#deps.store, own);
        await this.recordEntry(kept, cell, id, digest, () => undefined);
        isOut ||= own.some(({ reason }) => reason === 'WITHDRAWN');
      }
      if (isOut && noted()?.get(id)?.removed === undefined) await this.recordWithdrawal(kept, cell, id);
    }
  }

  /** Creates the cell of an evaluation and saves its note, in one commit with `alongside`, which is called in its turn. */
  async create(
    note: NoteWithCell,
    begin: () => () => readonly Promise<unknown>[] = () => () => [],
  ): Promise<void> {
    const { creation } = this.#deps.simulations;
    const cellId = evaluationCellOf(note.cellId);
    await creation.createCompetitionMarket(note.owner, evaluationConfig(note), cellId, () => {
      const alongside = begin();
      return {
        commands: [evaluationBeginning(note)],
        alongside: () => Promise.all([this.#directory.saveNote(note), ...alongside()]),
      };
    });
  }

  /** Records an entry, in one commit with its note. `entered` is called in the turn of the decision. */
  async recordEntry(
    kept: KeptEvaluation,
    cell: Simulation,
    entryId: string,
    digest: string,
    entered: (entry: EvaluationEntryNote) => void,
  ): Promise<void> {
    const entry = kept.entries.get(entryId);
    if (entry === undefined) throw notFound();
    const command = {
      type: 'AddEntry',
      entryId,
      digest,
      ...(isHouse(entry) && { isHouse: true as const }),
    } as const;
    await recordIn<'AddEntry'>(cell, command, ({ result }) => {
      const present = kept.entries.get(entryId);
      if ('code' in result || present === undefined || !this.#directory.has(kept)) return undefined;
      const numbered = { ...present, number: result.number };
      kept.entries.set(entryId, numbered);
      kept.version += 1;
      entered(numbered);
      return this.#directory.saveEntry(numbered);
    });
  }

  /** Records a withdrawal, in one commit with the notes of the entry and of its runs that have not ended. */
  async recordWithdrawal(kept: KeptEvaluation, cell: Simulation, entryId: string): Promise<void> {
    const command = { type: 'RemoveEntry', entryId, status: 'WITHDRAWN' } as const;
    await recordIn<'RemoveEntry'>(cell, command, ({ events }) => {
      const entry = kept.entries.get(entryId);
      if (events.length === 0 || entry === undefined || !this.#directory.has(kept)) return undefined;
      const withdrawn: EvaluationEntryNote = { ...entry, isWithdrawn: true };
      kept.entries.set(entryId, withdrawn);
      kept.version += 1;
      const own = kept.cells.filter((one) => one.entry.id === entryId && one.note.endedAt === undefined);
      for (const one of own) this.#runs.end(one, 'WITHDRAWN');
      return Promise.all([this.#directory.saveEntry(withdrawn), ...own.map((one) => this.#runs.save(one))]);
    });
  }

  /** True when every run has a result, and the cell does not have that of the evaluation. */
  isUnsettled(kept: KeptEvaluation): boolean {
    const { note, cells } = kept;
    const entries = enteredIn(kept);
    return (
      entries.some((entry) => !isHouse(entry)) &&
      note.settled?.entries !== entries.length &&
      cells.every((cell) => cell.note.result !== undefined)
    );
  }

  /**
   * Records the result of an evaluation, in one commit with its note and the result of the run that ended last. Returns false if the evaluation
   * has another entry by then.
   */
  async settle(
    kept: KeptEvaluation,
    last?: { readonly cell: KeptCell; readonly result: CellResult },
  ): Promise<boolean> {
    const cell = await this.cellOf(kept);
    const entries = enteredIn(kept).length;
    const hashes = kept.cells.map((one) => (one === last?.cell ? last.result : one.note.result)?.journalHash);
    if (hashes.includes(undefined)) return false;
    const resultHash = resultHashOf(hashes as readonly string[]);
    const result = { at: cell.now(), rows: [], curves: [], journalHash: resultHash, records: [] };
    const settled = { entries, resultHash };
    let before: CellNote | undefined;
    let written: CellNote | undefined;
    let isSettled = false as boolean;
    await recordIn<'SettleCompetition'>(cell, { type: 'SettleCompetition', result, entries }, (decided) => {
      if (decided.result !== undefined || !this.#directory.has(kept)) return undefined;
      isSettled = true;
      before = last?.cell.note;
      written = before && last && { ...before, result: last.result };
      if (last !== undefined) this.#runs.saved(last.cell);
      return Promise.all([
        this.#directory.saveNote({ ...kept.note, settled }),
        written && this.#directory.saveCell(written),
      ]);
    });
    if (!isSettled) return false;
    kept.note = { ...kept.note, settled };
    kept.version += 1;
    if (last !== undefined && written !== undefined)
      if (last.cell.note === before) last.cell.note = written;
      else this.#runs.change(last.cell, { result: last.result });
    return true;
  }
}
