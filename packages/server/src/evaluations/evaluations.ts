import { randomBytes, randomUUID } from 'node:crypto';
import { Instant, isOver } from '@sandpit/core';
import type { Tier } from '@sandpit/core';
import { journalHashOfCell } from '../competitions/journal-hash.js';
import { maskedCompetition, recordIn, termsOf } from '../competitions/running-competition.js';
import { beginningDigest } from '../engine/recovery/first-records.js';
import { evaluationCellOf } from '../engine/values/cell-names.js';
import { foldedName } from '../engine/values/folded-name.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import type { Simulations } from '../engine/directory/simulations.js';
import { Slice } from '../engine/scheduling/slice.js';
import { StoreUnavailable } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { playBaseline } from './baselines.js';
import { canonicalDigest } from './canonical-json.js';
import type { BaselineName, EndReason, ShownScenario, Usage } from './definition.js';
import { drawOfCell } from './draw.js';
import { EvaluationRefused } from './errors.js';
import { digestOfEntry, digestOfRuns, evaluationBeginning, evaluationConfig } from './evaluation-cell.js';
import type { NoteWithCell } from './evaluation-cell.js';
import { resultHashOf } from './figures.js';
import { HouseQueue } from './house-queue.js';
import {
  cellName,
  cellsOf,
  entriesOf,
  entryName,
  eraseEvaluations,
  evaluationName,
  evaluationOf,
  EVALUATIONS,
  seedsOf,
} from './notes.js';
import type { CellNote, CellResult, EvaluationEntryNote, EvaluationNote, EvaluationTerms } from './notes.js';

/** Evaluations that a tenant may have. */
const MOST_EVALUATIONS = 1000;
/** Cells of an evaluation, those of baselines too. */
const MOST_CELLS = 100_000;
/** Cells that are created together. */
const CELLS_AT_ONCE = 32;
/** Real time before work of the house that failed is tried again; it doubles up to the second. */
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 300_000;
/** Real time in which the counts of a cell become durable. */
const FLUSH_MS = 250;
/** A cell that was never used ends after so many time limits. */
const UNUSED_LIMITS = 7;
const LONGEST_TIMER_MS = 3_600_000;
const BASELINE = 'baseline:';

export type EvaluationStatus = 'OPEN' | 'RUNNING' | 'DONE';

/** Work on a cell that needs the HTTP layer: filling its portfolio, and measuring its result. */
export interface CellWork {
  /**
   * Fills an empty simulation: the portfolio of the rules, or a fixture. Answers with its first portfolio, or with the reason why the market
   * does not allow it.
   */
  prepare(
    simulation: Simulation,
    preparation: Pick<CellPreparation, 'scenario' | 'settings' | 'tier' | 'accountId'>,
  ): Promise<{ readonly portfolioId: string } | { readonly refused: string }>;
  /** Figures of a cell that has been walked to its end, and the results of its tasks. */
  result(simulation: Simulation, ended: EndedRun): Promise<Pick<CellResult, 'metrics' | 'tasks'>>;
}

interface CellPreparation {
  readonly scenario: ShownScenario;
  readonly settings: EvaluationTerms['settings'][number];
  readonly tier: Tier;
  readonly accountId: string;
}

interface EndedRun {
  /** The last record that counts. */
  readonly last: number;
  readonly note: CellNote;
  readonly scenario: ShownScenario;
  readonly settings: EvaluationTerms['settings'][number];
}

export interface EvaluationDeps {
  readonly simulations: Simulations;
  readonly store: Store;
  readonly work: CellWork;
  /** Real time, ms. */
  readonly clockMs: () => number;
  /** Logs one line for the operator. */
  readonly note: (text: string) => void;
}

/** A cell as this server has it. */
export interface KeptCell {
  note: CellNote;
  readonly kept: KeptEvaluation;
  readonly entry: EvaluationEntryNote;
  /** The note has changes that are not durable yet. */
  isDirty: boolean;
  /** The evaluation was deleted or edited. */
  isGone: boolean;
}

/** An evaluation as this server has it. */
export interface KeptEvaluation {
  note: EvaluationNote;
  /** Those that are being added too. */
  readonly entries: Map<string, EvaluationEntryNote>;
  /** By entrant, scenario, seed and trial. */
  cells: KeptCell[];
  /** Names of entrants in use, folded. */
  readonly names: Set<string>;
  /** Grows with every change of a cell. */
  version: number;
  /** The last edit. */
  editing: Promise<void>;
  /** Entries that are being added. */
  readonly entering: Set<Promise<unknown>>;
  /** Set once its cell exists and has everything that the registry has. */
  completing: Promise<void> | undefined;
}

/** Place of a simulation in an evaluation. */
export interface CellPlaceInfo {
  readonly role: 'CELL';
  /** The entrant can no longer act. */
  readonly hasEnded: boolean;
  /** It has been walked to its end, and its figures are final. */
  readonly isOver: boolean;
}

/**
 * All evaluations of a server (D210). The registry has definitions, names and counts, the journal of each evaluation's cell its entries, phases
 * and result, the journals of the runs everything else.
 */
export class Evaluations {
  readonly #deps: EvaluationDeps;
  readonly #kept = new Map<string, KeptEvaluation>();
  /** By simulation. */
  readonly #cells = new Map<string, KeptCell>();
  readonly #house = new HouseQueue();
  readonly #dirty = new Set<KeptCell>();
  #flushing: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #deadlineAt = Infinity;
  #isClosed = false;
  #opening: Promise<void> = Promise.resolve();

  private constructor(deps: EvaluationDeps) {
    this.#deps = deps;
    deps.simulations.directory.onCellOpened = (simulation) => this.#attach(simulation);
  }

  /** Reads what the registry has, and continues cells that have not ended in the background. */
  static start(deps: EvaluationDeps): Evaluations {
    const evaluations = new Evaluations(deps);
    const isAlone = deps.store.ownership === undefined;
    for (const note of evaluations.#notes()) evaluations.#load(note);
    // In a cluster they continue with their owners.
    if (isAlone) evaluations.#continue();
    return evaluations;
  }

  #notes(): readonly EvaluationNote[] {
    return this.#allNotes()
      .filter(({ isDeleted }) => isDeleted !== true)
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  #allNotes(): readonly EvaluationNote[] {
    return this.#registry.settings(EVALUATIONS).map(([, text]) => JSON.parse(text) as EvaluationNote);
  }

  get #registry() {
    return this.#deps.store.registry;
  }

  #load(note: EvaluationNote): KeptEvaluation {
    this.#forget(note.id);
    const kept: KeptEvaluation = {
      note,
      entries: new Map(),
      cells: [],
      names: new Set(),
      version: 0,
      editing: Promise.resolve(),
      entering: new Set(),
      completing: undefined,
    };
    const entries = this.#registry
      .settings(entriesOf(note.id))
      .map(([, text]) => JSON.parse(text) as EvaluationEntryNote)
      .sort((a, b) => a.number - b.number);
    for (const entry of entries) {
      kept.entries.set(entry.id, entry);
      kept.names.add(foldedName(entry.entrant));
    }
    for (const [, text] of this.#registry.settings(cellsOf(note.id))) {
      const cell = JSON.parse(text) as CellNote;
      const entry = kept.entries.get(cell.entryId);
      if (entry !== undefined) this.#enterCell(kept, entry, cell);
    }
    sortCells(kept);
    this.#kept.set(note.id, kept);
    return kept;
  }

  #enterCell(kept: KeptEvaluation, entry: EvaluationEntryNote, note: CellNote): KeptCell {
    const cell: KeptCell = { note, kept, entry, isDirty: false, isGone: false };
    kept.cells.push(cell);
    this.#cells.set(note.id, cell);
    return cell;
  }

  #forget(id: string): void {
    for (const cell of this.#kept.get(id)?.cells ?? []) {
      cell.isGone = true;
      this.#cells.delete(cell.note.id);
    }
    this.#kept.delete(id);
  }

  /** Removes what a crash has left, and continues cells of the owner, or of all. */
  #continue(owner?: string): void {
    const orphans = this.#orphans().filter(([, tenantId]) => owner === undefined || tenantId === owner);
    const own = [...this.#kept.values()].filter(({ note }) => owner === undefined || note.owner === owner);
    const deleted = this.#allNotes().filter(
      (note) => note.isDeleted === true && (owner === undefined || note.owner === owner),
    );
    this.#opening = this.#opening.then(async () => {
      for (const note of deleted) {
        if (this.#isClosed) return;
        await this.#removeRows(note).catch(() => undefined);
      }
      for (const [note, tenantId] of orphans) {
        if (this.#isClosed) return;
        await this.#discard(note, tenantId).catch(() => undefined);
      }
      for (const kept of own)
        // Its cells have ended with the process that had them.
        if (kept.note.definition.ephemeral === true) await this.remove(kept);
        else await this.#resume(kept);
    });
  }

  /** Cells of entries that a crash has cut off, with their tenants. */
  #orphans(): readonly (readonly [note: CellNote, tenantId: string])[] {
    return [...this.#kept.values()].flatMap(({ note, entries }) =>
      this.#registry
        .settings(cellsOf(note.id))
        .map(([, text]) => JSON.parse(text) as CellNote)
        .filter(({ entryId }) => !entries.has(entryId))
        .map((cell) => [cell, note.owner] as const),
    );
  }

  async #discard(note: Pick<CellNote, 'id' | 'evaluationId'>, tenantId: string): Promise<void> {
    await this.#deps.simulations.directory.remove(note.id, tenantId);
    await this.#registry.deleteSetting(cellName(note));
  }

  async #resume(kept: KeptEvaluation): Promise<void> {
    if (kept.note.cellId === undefined)
      await this.#completed(kept).catch((error: unknown) =>
        this.#noteFailure(kept, 'cannot be continued', error),
      );
    kept.editing = kept.editing.then(() =>
      this.#enterBaselines(kept).catch((error: unknown) => {
        this.#noteFailure(kept, 'has baselines that cannot be entered', error);
      }),
    );
    await kept.editing;
    const [first] = kept.cells;
    if (first !== undefined && this.#isUnsettled(kept))
      this.#work(first, async () => {
        await this.#settleEvaluation(kept);
      });
    for (const cell of [...kept.cells]) {
      if (this.#isClosed) return;
      if (cell.note.result !== undefined) continue;
      if (cell.note.endedAt !== undefined) this.#settle(cell);
      else if (isHouse(cell.entry)) this.#play(cell);
      else if (cell.note.startedAt !== undefined)
        // Its clock runs, or its journal has reached the end already.
        await this.#deps.simulations.directory.find(cell.note.id, kept.note.owner).catch((error: unknown) => {
          this.#noteFailure(kept, 'has a run that cannot be opened', error);
        });
    }
    this.#watchDeadlines();
  }

  /** Opens the evaluations of an owner that this node has acquired. */
  enterTenant(owner: string): void {
    for (const note of this.#notes()) if (note.owner === owner) this.#load(note);
    this.#continue(owner);
  }

  /** Another node acquires an owner. */
  async leaveTenant(owner: string): Promise<void> {
    await this.#flush();
    for (const { note } of [...this.#kept.values()]) if (note.owner === owner) this.#load(note);
  }

  /** Applies a note that the owner's node has written. Returns true if the setting is one of an evaluation. */
  followSetting(name: string): boolean {
    const id = evaluationOf(name);
    if (id === undefined) return false;
    const text = this.#registry.setting(evaluationName(id));
    const note = text === undefined ? undefined : (JSON.parse(text) as EvaluationNote);
    if (note === undefined || note.isDeleted === true) this.#forget(id);
    else if (this.#deps.store.ownership?.owned.has(note.owner) === false) this.#load(note);
    return true;
  }

  /** The tenant that owns an evaluation; undefined if there is none. */
  ownerOf(id: string): string | undefined {
    return this.#kept.get(id)?.note.owner;
  }

  /** Role of a simulation in an evaluation; undefined outside one. */
  placeOf(simulationId: string): CellPlaceInfo | undefined {
    const cell = this.#cells.get(simulationId);
    if (cell === undefined) return undefined;
    this.#lapse(cell);
    return {
      role: 'CELL',
      hasEnded: cell.note.endedAt !== undefined,
      isOver: cell.note.result !== undefined,
    };
  }

  /** An evaluation of a tenant. */
  own(id: string, tenantId: string): KeptEvaluation {
    const kept = this.#kept.get(id);
    if (kept?.note.owner !== tenantId) throw notFound();
    this.#lapseAll(kept);
    return kept;
  }

  /** An evaluation that this tenant may see: a public one, or its own. Undefined tenant: a visitor. */
  find(id: string, tenantId: string | undefined): KeptEvaluation {
    const kept = this.#kept.get(id);
    const isSeen = kept?.note.definition.visibility === 'PUBLIC' || kept?.note.owner === tenantId;
    if (kept === undefined || !isSeen) throw notFound();
    this.#lapseAll(kept);
    return kept;
  }

  /** Newest first. */
  list(tenantId: string): readonly KeptEvaluation[] {
    return [...this.#kept.values()].filter(({ note }) => note.owner === tenantId).reverse();
  }

  statusOf({ note, entries }: KeptEvaluation): EvaluationStatus {
    if (![...entries.values()].some((entry) => !isHouse(entry))) return 'OPEN';
    return note.settled?.entries === entries.size ? 'DONE' : 'RUNNING';
  }

  /** True when every run has a result, and the cell does not have that of the evaluation. */
  #isUnsettled(kept: KeptEvaluation): boolean {
    const { note, cells } = kept;
    const entries = enteredIn(kept);
    return (
      entries.some((entry) => !isHouse(entry)) &&
      note.settled?.entries !== entries.length &&
      cells.every((cell) => cell.note.result !== undefined)
    );
  }

  /** The cell of an evaluation, with everything that the registry has. */
  async cellOfEvaluation(kept: KeptEvaluation): Promise<Simulation> {
    await this.#completed(kept);
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

  #completed(kept: KeptEvaluation): Promise<void> {
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
      await this.#createCell(note, () => {
        this.#requireKept(kept);
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
        await this.#recordEntry(kept, cell, id, digest, () => undefined);
        isOut ||= own.some(({ reason }) => reason === 'WITHDRAWN');
      }
      if (isOut && noted()?.get(id)?.removed === undefined) await this.#recordWithdrawal(kept, cell, id);
    }
  }

  /** Creates the cell of an evaluation and saves its note, in one commit with `alongside`, which is called in its turn. */
  async #createCell(
    note: NoteWithCell,
    begin: () => () => readonly Promise<unknown>[] = () => () => [],
  ): Promise<void> {
    const { simulations } = this.#deps;
    const config = evaluationConfig(note);
    await simulations.creation.createCompetitionMarket(
      note.owner,
      config,
      evaluationCellOf(note.cellId),
      () => {
        const alongside = begin();
        return {
          commands: [evaluationBeginning(note)],
          alongside: () => Promise.all([this.#saveNote(note), ...alongside()]),
        };
      },
    );
  }

  #saveNote(note: EvaluationNote): Promise<void> {
    return this.#registry.saveSetting(evaluationName(note.id), JSON.stringify(note));
  }

  #saveEntry(entry: EvaluationEntryNote): Promise<void> {
    return this.#registry.saveSetting(entryName(entry), JSON.stringify(entry));
  }

  #isKept(kept: KeptEvaluation): boolean {
    return this.#kept.get(kept.note.id) === kept;
  }

  /** Throws if an evaluation was deleted. */
  #requireKept(kept: KeptEvaluation): void {
    if (!this.#isKept(kept)) throw notFound();
  }

  /** Records an entry, in one commit with its note. `entered` is called in the turn of the decision. */
  async #recordEntry(
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
      if ('code' in result || present === undefined || !this.#isKept(kept)) return undefined;
      const numbered = { ...present, number: result.number };
      kept.entries.set(entryId, numbered);
      kept.version += 1;
      entered(numbered);
      return this.#saveEntry(numbered);
    });
  }

  /** Records a withdrawal, in one commit with the notes of the entry and of its runs that have not ended. */
  async #recordWithdrawal(kept: KeptEvaluation, cell: Simulation, entryId: string): Promise<void> {
    await recordIn<'RemoveEntry'>(
      cell,
      { type: 'RemoveEntry', entryId, status: 'WITHDRAWN' },
      ({ events }) => {
        const entry = kept.entries.get(entryId);
        if (events.length === 0 || entry === undefined || !this.#isKept(kept)) return undefined;
        const withdrawn: EvaluationEntryNote = { ...entry, isWithdrawn: true };
        kept.entries.set(entryId, withdrawn);
        kept.version += 1;
        const own = kept.cells.filter((one) => one.entry.id === entryId && one.note.endedAt === undefined);
        for (const one of own) this.#end(one, 'WITHDRAWN');
        return Promise.all([this.#saveEntry(withdrawn), ...own.map((one) => this.#save(one))]);
      },
    );
  }

  async create(owner: string, tier: Tier, terms: EvaluationTerms): Promise<KeptEvaluation> {
    if (this.list(owner).length >= MOST_EVALUATIONS)
      throw new EvaluationRefused('TOO_MANY', `A tenant has at most ${MOST_EVALUATIONS} evaluations`);
    const draw = randomBytes(16).toString('hex');
    const id = randomUUID();
    const cellId = randomUUID();
    const note = { ...terms, id, owner, tier, createdAt: this.#deps.clockMs(), draw, cellId };
    await this.#createCell(note);
    const kept = this.#load(note);
    await this.#enterBaselines(kept).catch(async (error: unknown) => {
      await this.remove(kept);
      throw error;
    });
    return kept;
  }

  /** Edits an evaluation that has no entry. Edits are sequential. */
  update(kept: KeptEvaluation, terms: EvaluationTerms): Promise<KeptEvaluation> {
    const done = kept.editing.then(() => this.#updateNow(kept, terms));
    kept.editing = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  async #updateNow(kept: KeptEvaluation, terms: EvaluationTerms): Promise<KeptEvaluation> {
    this.#requireKept(kept);
    this.refuseStarted(kept);
    await this.#completed(kept);
    this.#requireKept(kept);
    const { id, owner, tier, createdAt, draw, cellId: before } = kept.note;
    const basis = { ...terms, id, owner, tier, createdAt, draw };
    if (terms.digest === kept.note.digest) {
      kept.note = { ...basis, ...(before !== undefined && { cellId: before }) };
      await this.#saveNote(kept.note);
      return kept;
    }
    const note = { ...basis, cellId: randomUUID() };
    const replaced: Pick<CellNote, 'id' | 'evaluationId' | 'entryId'>[] = [];
    // One commit: a crash leaves the former evaluation, or this one without baselines, and runs that the next start removes.
    await this.#createCell(note, () => {
      this.#requireKept(kept);
      return () => this.#replaceCell(kept, note, replaced);
    });
    for (const cell of replaced) await this.#discard(cell, owner);
    await this.#enterBaselines(kept);
    return kept;
  }

  /** Applies another definition in memory and returns the writes that belong to it. `replaced` receives the simulations of the former one. */
  #replaceCell(
    kept: KeptEvaluation,
    note: NoteWithCell,
    replaced: Pick<CellNote, 'id' | 'evaluationId' | 'entryId'>[],
  ): readonly Promise<unknown>[] {
    const { id, cellId } = kept.note;
    const writes = [...kept.entries.values()].map((entry) => this.#registry.deleteSetting(entryName(entry)));
    for (const cell of kept.cells) {
      cell.isGone = true;
      this.#cells.delete(cell.note.id);
      replaced.push(cell.note);
    }
    if (cellId !== undefined) {
      const former = { id: evaluationCellOf(cellId), evaluationId: id, entryId: '' };
      writes.push(this.#registry.saveSetting(cellName(former), JSON.stringify(former)));
      replaced.push(former);
    }
    kept.entries.clear();
    kept.names.clear();
    kept.cells = [];
    kept.note = note;
    kept.version += 1;
    kept.completing = undefined;
    return writes;
  }

  refuseStarted(kept: KeptEvaluation): void {
    if (this.statusOf(kept) !== 'OPEN')
      throw new EvaluationRefused('STARTED', 'An evaluation can be edited until it has an entry');
  }

  /** Deletes an evaluation with its cell and its runs. The next start completes a deletion that a crash has cut off. */
  async remove(kept: KeptEvaluation): Promise<void> {
    this.#forget(kept.note.id);
    await this.#saveNote({ ...kept.note, isDeleted: true });
    // They find that it is deleted, and remove what they have created.
    await Promise.allSettled([kept.editing, ...kept.entering]);
    await this.#removeRows(kept.note);
  }

  async #removeRows(note: EvaluationNote): Promise<void> {
    const { id, owner, cellId } = note;
    for (const [name] of this.#registry.settings(entriesOf(id))) await this.#registry.deleteSetting(name);
    for (const [, text] of this.#registry.settings(cellsOf(id)))
      await this.#discard(JSON.parse(text) as CellNote, owner);
    if (cellId !== undefined) await this.#deps.simulations.directory.remove(evaluationCellOf(cellId), owner);
    await this.#registry.deleteSetting(evaluationName(id));
  }

  /** Enters the baselines that have no entry yet: all of them, or those that a crash has left out. */
  async #enterBaselines(kept: KeptEvaluation): Promise<void> {
    const { baselines = [], scenarios } = kept.note.definition;
    const names = new Set<BaselineName>(baselines);
    if (scenarios.some(({ tasks = [] }) => tasks.length > 0)) names.add('noop');
    for (const name of names) {
      if (kept.names.has(foldedName(`${BASELINE}${name}`))) continue;
      const isWhole = baselines.includes(name);
      const entry = await this.#enterNow(kept, { entrant: `${BASELINE}${name}` }, 1, (scenario) =>
        isWhole ? true : (scenario.tasks ?? []).length > 0,
      );
      for (const cell of kept.cells) if (cell.entry === entry) this.#play(cell);
    }
  }

  /** Enters an entrant: a cell for each scenario, seed and trial. */
  async enter(
    kept: KeptEvaluation,
    body: { readonly entrant: string; readonly model?: string; readonly version?: string },
  ): Promise<EvaluationEntryNote> {
    for (let last; last !== kept.editing;) {
      last = kept.editing;
      await last;
    }
    this.#requireKept(kept);
    const entry = await this.#enterNow(kept, body, kept.note.definition.trials ?? 1, () => true);
    this.#watchDeadlines();
    return entry;
  }

  async #enterNow(
    kept: KeptEvaluation,
    body: { readonly entrant: string; readonly model?: string; readonly version?: string },
    trials: number,
    isPlayed: (scenario: ShownScenario) => boolean,
  ): Promise<EvaluationEntryNote> {
    const { note } = kept;
    const name = foldedName(body.entrant);
    if (kept.names.has(name))
      throw new EvaluationRefused('NAME_TAKEN', 'The entrant has entered the evaluation already');
    const wanted = note.definition.scenarios.flatMap((scenario, index) =>
      isPlayed(scenario)
        ? seedsOf(scenario).flatMap((seed) =>
            Array.from({ length: trials }, (_, trial) => ({ scenario: index, seed, trial: trial + 1 })),
          )
        : [],
    );
    if (kept.cells.length + wanted.length > MOST_CELLS)
      throw new EvaluationRefused('TOO_MANY', 'An evaluation has at most 100,000 cells');
    const held: EvaluationEntryNote = {
      id: randomUUID(),
      evaluationId: note.id,
      number: 0,
      entrant: body.entrant,
      ...(body.model !== undefined && { model: body.model }),
      ...(body.version !== undefined && { version: body.version }),
      createdAt: this.#deps.clockMs(),
    };
    // In one turn, so that no other entry has the name and no edit changes the definition.
    kept.names.add(name);
    kept.entries.set(held.id, held);
    const entering = this.#addEntry(kept, held, wanted);
    kept.entering.add(entering);
    try {
      return await entering;
    } catch (error) {
      // Decided, it may still become durable when the store does not answer.
      if (kept.entries.get(held.id)?.number === 0) {
        kept.names.delete(name);
        kept.entries.delete(held.id);
      }
      throw error;
    } finally {
      kept.entering.delete(entering);
    }
  }

  /** Creates the runs of an entry in slices, then adds the entry in one commit: the record of the evaluation's cell, and its note. */
  async #addEntry(
    kept: KeptEvaluation,
    held: EvaluationEntryNote,
    wanted: readonly Pick<CellNote, 'scenario' | 'seed' | 'trial'>[],
  ): Promise<EvaluationEntryNote> {
    const { note } = kept;
    const made: NewCell[] = [];
    let entry: EvaluationEntryNote | undefined;
    try {
      const slice = new Slice();
      for (let first = 0; first < wanted.length; first += CELLS_AT_ONCE) {
        this.#requireKept(kept);
        const places = wanted.slice(first, first + CELLS_AT_ONCE);
        // Together, so that they share commits.
        const results = await Promise.allSettled(places.map((place) => this.#newCell(note, held, place)));
        for (const result of results) if (result.status === 'fulfilled') made.push(result.value);
        for (const result of results) if (result.status === 'rejected') throw result.reason as Error;
        await slice.breathe();
      }
      made.sort((a, b) => comparePlaces(note, a.note, b.note));
      const cell = await this.cellOfEvaluation(kept);
      this.#requireKept(kept);
      await this.#recordEntry(kept, cell, held.id, digestOfRuns(made), (numbered) => {
        entry = numbered;
        for (const one of made) this.#attachNote(this.#enterCell(kept, numbered, one.note));
        sortCells(kept);
      });
    } catch (error) {
      if (entry === undefined)
        for (const one of made) await this.#discard(one.note, note.owner).catch(() => undefined);
      throw error;
    }
    if (entry === undefined || !this.#isKept(kept)) throw notFound();
    return entry;
  }

  #attachNote(cell: KeptCell): void {
    const simulation = this.#deps.simulations.directory.inMemory(cell.note.id, cell.kept.note.owner);
    if (simulation !== undefined) this.#attach(simulation);
  }

  /** Creates the simulation of a run. Its note is there first, so that a crash leaves nothing that the next start does not remove. */
  async #newCell(
    evaluation: EvaluationNote,
    entry: EvaluationEntryNote,
    place: Pick<CellNote, 'scenario' | 'seed' | 'trial'>,
  ): Promise<NewCell> {
    const { simulations, store, work, clockMs } = this.#deps;
    const { id: evaluationId, owner, tier, draw, definition } = evaluation;
    const scenario = definition.scenarios[place.scenario];
    const settings = evaluation.settings[place.scenario];
    if (scenario === undefined || settings === undefined) throw new Error('There is no such scenario');
    const { entrant } = entry;
    const chance = drawOfCell(draw, { ...place, scenario: scenario.name, entrant });
    const blank: CellNote = {
      id: randomUUID(),
      evaluationId,
      entryId: entry.id,
      ...place,
      portfolioId: '',
      end: settings.endsAt,
      createdAt: clockMs(),
      calls: { requests: 0, orders: 0, refused: 0, steps: 0 },
    };
    await this.#registry.saveSetting(cellName(blank), JSON.stringify(blank));
    try {
      const { mask: parts } = settings;
      const { name: _, ...market } = settings.market;
      const simulation = await simulations.creation.createCompetitionMarket(
        owner,
        {
          ...market,
          ...(parts !== undefined && { hides: { parts, key: chance.maskKey } }),
          seed: chance.seed,
          idSecret: chance.idSecret,
          draw: chance.path,
          ...(definition.ephemeral === true && { ephemeral: true as const }),
          competition: { id: evaluationId, role: 'CELL' },
        },
        blank.id,
      );
      const masked = parts === undefined ? undefined : maskedCompetition(settings, parts, simulation.feed);
      const accountId = uuidFrom(chance.idSecret, 'account');
      const prepared = await work.prepare(simulation, { scenario, settings, tier, accountId });
      if ('refused' in prepared)
        throw new EvaluationRefused('CELL', `Scenario ${scenario.name}: ${prepared.refused}`);
      const terms = termsOf(settings, masked);
      const { isHourly: _hourly, ...plain } = terms;
      const from = simulation.now();
      if (from >= terms.endsAt)
        throw new EvaluationRefused('CELL', `Scenario ${scenario.name}: its fixture leads beyond market.end`);
      await simulation.submit<'BeginCompetition'>({
        type: 'BeginCompetition',
        terms: { ...plain, isEvaluation: true, settingsHash: evaluation.digest },
        phase: 'RUNNING',
      });
      const cell: CellNote = {
        ...blank,
        portfolioId: prepared.portfolioId,
        // A fixture has traded before.
        ...(typeof scenario.fixture === 'string' && { from }),
        end: terms.endsAt,
      };
      const [digest] = await Promise.all([
        beginningDigest(store.journal.read(cell.id, 0), 'CompetitionBegun'),
        this.#registry.saveSetting(cellName(cell), JSON.stringify(cell)),
      ]);
      return { note: cell, cellId: cell.id, digest };
    } catch (error) {
      await this.#discard(blank, owner).catch(() => undefined);
      throw error;
    }
  }

  /** Watches the simulation of a cell while it is in memory. */
  #attach(simulation: Simulation): void {
    const cell = this.#cells.get(simulation.id);
    if (cell === undefined || cell.note.result !== undefined) return;
    const hasEnded = (): boolean => {
      const phase = simulation.brokerage.state.competition?.phase;
      return phase !== undefined && isOver(phase);
    };
    simulation.onSubmitted = (isRefused) => {
      if (cell.note.endedAt !== undefined) return;
      const { calls } = cell.note;
      const counted = isRefused
        ? { ...calls, refused: calls.refused + 1 }
        : { ...calls, orders: calls.orders + 1 };
      this.#change(cell, { calls: counted });
    };
    simulation.observe(({ events }) => {
      const { endedAt, startedAt, calls } = cell.note;
      if (
        events.some(({ type }) => type === 'ClockMoved') &&
        endedAt === undefined &&
        startedAt !== undefined
      )
        this.#change(cell, { calls: { ...calls, steps: calls.steps + 1 } });
      if (events.some(({ type }) => type === 'CompetitionPhaseChanged') && hasEnded()) this.#end(cell, 'END');
    });
    if (hasEnded()) this.#end(cell, 'END');
    // A cell in use whose clock runs by itself.
    else if (cell.note.startedAt !== undefined) this.#startClock(cell, simulation);
  }

  /** Changes a note; it becomes durable shortly after. */
  #change(cell: KeptCell, changes: Partial<CellNote>): void {
    cell.note = { ...cell.note, ...changes };
    cell.kept.version += 1;
    this.#dirty.add(cell);
    if (this.#flushing !== undefined || this.#isClosed) return;
    this.#flushing = setTimeout(() => {
      this.#flushing = undefined;
      void this.#flush().catch(() => undefined);
    }, FLUSH_MS).unref();
  }

  async #flush(): Promise<void> {
    const cells = [...this.#dirty];
    this.#dirty.clear();
    await Promise.all(cells.map((cell) => this.#save(cell)));
  }

  async #save(cell: KeptCell): Promise<void> {
    this.#dirty.delete(cell);
    if (cell.isGone) return;
    await this.#registry
      .saveSetting(cellName(cell.note), JSON.stringify(cell.note))
      .catch((error: unknown) => {
        if (!cell.isGone) this.#dirty.add(cell);
        throw error;
      });
  }

  /** Counts a request with the token of a cell. */
  admitted(simulationId: string): void {
    const cell = this.#cells.get(simulationId);
    if (cell === undefined || cell.note.endedAt !== undefined) return;
    const { calls } = cell.note;
    this.#change(cell, {
      startedAt: cell.note.startedAt ?? this.#deps.clockMs(),
      calls: { ...calls, requests: calls.requests + 1 },
    });
    if (calls.requests > 0) return;
    this.#watchDeadlines();
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
      this.#end(cell, 'CALL_LIMIT');
    else if (deadlineOf(cell) <= this.#deps.clockMs()) this.#end(cell, 'TIME_LIMIT');
  }

  #lapseAll({ cells }: KeptEvaluation): void {
    for (const cell of cells) this.#lapse(cell);
  }

  /** Sets the timer of the next deadline. */
  #watchDeadlines(): void {
    if (this.#isClosed) return;
    let next = Infinity;
    for (const cell of this.#cells.values())
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
      for (const kept of this.#kept.values()) this.#lapseAll(kept);
      this.#watchDeadlines();
    }, wait).unref();
  }

  /** Ends a cell for its entrant; the house walks it to its end. */
  #end(cell: KeptCell, reason: EndReason): void {
    if (cell.note.endedAt !== undefined || cell.isGone) return;
    this.#change(cell, { endedAt: this.#deps.clockMs(), reason });
    this.#settle(cell);
  }

  #settle(cell: KeptCell): void {
    this.#work(cell, async () => {
      if (cell.note.result === undefined) await this.#settleNow(cell);
    });
  }

  /** Work of the house on a cell. It is tried again when it fails, such as while the store does not accept records. */
  #work(cell: KeptCell, work: () => Promise<void>, retryMs = RETRY_MS): void {
    const isOver = (): boolean => cell.isGone || this.#isClosed;
    this.#house.add(async () => {
      if (isOver()) return;
      try {
        await work();
      } catch (error) {
        if (isOver()) return;
        this.#noteFailure(cell.kept, 'has a run that cannot be completed', error);
        setTimeout(() => this.#work(cell, work, Math.min(2 * retryMs, LONGEST_RETRY_MS)), retryMs).unref();
      }
    });
  }

  #noteFailure({ note: { id } }: KeptEvaluation, what: string, error: unknown): void {
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
      this.#change(cell, { finishedAt: cell.note.reason === 'END' ? cell.note.end : at });
      // First: the journal has the end of the run, and not why it ended.
      await this.#save(cell);
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
    if (isLast && (await this.#settleEvaluation(kept, { cell, result: settled }))) return;
    this.#change(cell, { result: settled });
    await this.#save(cell);
  }

  /**
   * Records the result of an evaluation, in one commit with its note and the result of the run that ended last. Returns false if the evaluation
   * has another entry by then.
   */
  async #settleEvaluation(
    kept: KeptEvaluation,
    last?: { readonly cell: KeptCell; readonly result: CellResult },
  ): Promise<boolean> {
    const cell = await this.cellOfEvaluation(kept);
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
      if (decided.result !== undefined || !this.#isKept(kept)) return undefined;
      isSettled = true;
      before = last?.cell.note;
      written = before && last && { ...before, result: last.result };
      if (last !== undefined) this.#dirty.delete(last.cell);
      return Promise.all([
        this.#saveNote({ ...kept.note, settled }),
        written && this.#registry.saveSetting(cellName(written), JSON.stringify(written)),
      ]);
    });
    if (!isSettled) return false;
    kept.note = { ...kept.note, settled };
    kept.version += 1;
    if (last !== undefined && written !== undefined)
      if (last.cell.note === before) last.cell.note = written;
      else this.#change(last.cell, { result: last.result });
    return true;
  }

  /** The house plays a baseline. */
  #play(cell: KeptCell): void {
    this.#work(cell, () => (cell.note.endedAt === undefined ? this.#playNow(cell) : Promise.resolve()));
  }

  async #playNow(cell: KeptCell): Promise<void> {
    const simulation = await this.#simulationOf(cell);
    if (simulation === undefined) return;
    const { kept, note, entry } = cell;
    const scenario = kept.note.definition.scenarios[note.scenario];
    if (scenario === undefined) return;
    if (note.startedAt === undefined) this.#change(cell, { startedAt: this.#deps.clockMs() });
    const end = Instant.ofMs(note.end);
    const isStopped = (): boolean => cell.isGone || this.#isClosed;
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
    this.#end(cell, 'END');
  }

  /** Cells of an entry of a tenant. */
  cellsOf(entryId: string, tenantId: string): readonly KeptCell[] {
    const kept = this.list(tenantId).find(({ entries }) => entries.has(entryId));
    return kept?.cells.filter(({ entry }) => entry.id === entryId) ?? [];
  }

  /** The cell whose simulation this is; undefined = it is none. */
  cellOf(simulationId: string): KeptCell | undefined {
    const cell = this.#cells.get(simulationId);
    if (cell !== undefined) this.#lapse(cell);
    return cell;
  }

  /** Ends a cell because its entrant asked for it. */
  async finish(cell: KeptCell): Promise<void> {
    if (cell.note.endedAt !== undefined) throw new EvaluationRefused('NOT_RUNNING', 'The run has ended');
    this.#change(cell, { endedAt: this.#deps.clockMs(), reason: 'FINISH' });
    const simulation = await this.#simulationOf(cell);
    if (simulation !== undefined) await this.#stop(cell, simulation);
    this.#settle(cell);
  }

  /** Withdraws an entrant: its cells that have not ended are abandoned. */
  async withdraw(kept: KeptEvaluation, entryId: string): Promise<void> {
    const entry = kept.entries.get(entryId);
    if (entry === undefined || entry.number === 0 || isHouse(entry))
      throw new EvaluationRefused('NOT_FOUND', 'Entry not found');
    await this.#recordWithdrawal(kept, await this.cellOfEvaluation(kept), entryId);
  }

  /** Adds what an entrant says that its agent used. */
  async reportUsage(
    cell: KeptCell,
    {
      inputTokens = 0,
      outputTokens = 0,
      costUsd = 0,
      transcript,
    }: {
      readonly inputTokens?: number;
      readonly outputTokens?: number;
      readonly costUsd?: number;
      readonly transcript?: string;
    },
  ): Promise<Usage> {
    const before = cell.note.usage ?? { inputTokens: 0, outputTokens: 0, costUsd: 0, transcripts: 0 };
    const usage: Usage = {
      inputTokens: before.inputTokens + inputTokens,
      outputTokens: before.outputTokens + outputTokens,
      // To the eighth decimal, which a request has at most.
      costUsd: Math.round((before.costUsd + costUsd) * 1e8) / 1e8,
      transcripts: before.transcripts + (transcript === undefined ? 0 : 1),
    };
    this.#change(cell, { usage });
    await this.#save(cell);
    return usage;
  }

  /** Removes everything that a tenant owns, before the tenant is erased. */
  async eraseTenant(tenantId: string): Promise<void> {
    for (const kept of this.list(tenantId)) await this.remove(kept);
    await eraseEvaluations(this.#registry, tenantId);
  }

  /** Resolves when the house has nothing to do. */
  settled(): Promise<void> {
    return this.#opening.then(() => this.#house.idle());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#flushing);
    clearTimeout(this.#deadline);
    await this.#opening;
    await this.#house.idle();
    await this.#flush().catch(() => undefined);
  }
}

const isHouse = ({ entrant }: Pick<EvaluationEntryNote, 'entrant'>): boolean => entrant.startsWith(BASELINE);

/** Real time at which a cell ends if nothing else ends it. */
export function deadlineOf({ note, kept }: Pick<KeptCell, 'note' | 'kept'>): number {
  const { timeLimitMs } = kept.note;
  return note.startedAt === undefined
    ? note.createdAt + UNUSED_LIMITS * timeLimitMs
    : note.startedAt + timeLimitMs;
}

/** A run that was created for an entry. */
interface NewCell {
  readonly note: CellNote;
  readonly cellId: string;
  /** Of its first records. */
  readonly digest: string;
}

/** Entries that were added, in the order of entering. */
export const enteredIn = ({ entries }: Pick<KeptEvaluation, 'entries'>): readonly EvaluationEntryNote[] =>
  [...entries.values()].filter(({ number }) => number > 0).sort((a, b) => a.number - b.number);

/** Sorts the cells of an evaluation by entrant, scenario, seed and trial. */
function sortCells({ note, cells }: KeptEvaluation): void {
  cells.sort((a, b) => compareTexts(a.entry.entrant, b.entry.entrant) || comparePlaces(note, a.note, b.note));
}

/** By scenario, seed and trial. */
function comparePlaces({ definition }: EvaluationNote, a: CellNote, b: CellNote): number {
  const nameOf = ({ scenario }: CellNote): string => definition.scenarios[scenario]?.name ?? '';
  return compareTexts(nameOf(a), nameOf(b)) || compareSeeds(a.seed, b.seed) || a.trial - b.trial;
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Numbers by their value, then texts. */
function compareSeeds(a: CellNote['seed'], b: CellNote['seed']): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return compareTexts(String(a), String(b));
}

/** An id of version 4's form that follows from a secret. */
function uuidFrom(secret: string, purpose: string): string {
  const hex = canonicalDigest([secret, purpose]);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const notFound = (): EvaluationRefused => new EvaluationRefused('NOT_FOUND', 'Evaluation not found');
