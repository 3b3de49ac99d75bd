import type { Tier } from '@sandpit/core';
import type { Simulations } from '../engine/directory/simulations.js';
import { inParallel } from '../engine/scheduling/in-parallel.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { foldedName } from '../engine/values/folded-name.js';
import type { Store } from '../store/store.js';
import type { ShownScenario } from './definition.js';
import { EvaluationRefused } from './errors.js';
import {
  cellName,
  cellsOf,
  entriesOf,
  entryName,
  evaluationName,
  evaluationOf,
  EVALUATIONS,
} from './notes.js';
import type { CellKey, CellNote, CellResult, EvaluationEntryNote, EvaluationNote } from './notes.js';

/** Cells that are created, or removed, together, so that they share commits. */
export const CELLS_AT_ONCE = 32;

/** Begins the name of an entrant that the house plays. */
export const BASELINE = 'baseline:';

export type EvaluationStatus = 'OPEN' | 'RUNNING' | 'DONE';

/** Work on a cell that needs the HTTP layer: filling its portfolio, and measuring its result. */
export interface CellWork {
  /**
   * Fills an empty simulation: the portfolio of the rules, or a fixture. Answers with its first portfolio, or with the reason why the market
   * does not allow it.
   */
  prepare(
    simulation: Simulation,
    preparation: CellPreparation,
  ): Promise<{ readonly portfolioId: string } | { readonly refused: string }>;
  /** Figures of a cell that has been walked to its end, and the results of its tasks. */
  result(simulation: Simulation, ended: EndedRun): Promise<Pick<CellResult, 'metrics' | 'tasks'>>;
}

interface CellPreparation {
  readonly scenario: ShownScenario;
  readonly settings: EvaluationNote['settings'][number];
  readonly tier: Tier;
  readonly accountId: string;
}

interface EndedRun extends Pick<CellPreparation, 'scenario' | 'settings'> {
  /** The last record that counts. */
  readonly last: number;
  readonly note: CellNote;
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
  /** The evaluation was deleted or edited. */
  isGone: boolean;
}

/** An evaluation as this server has it. */
export interface KeptEvaluation {
  note: EvaluationNote;
  /** By id, with entries whose commit is under way. */
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

/** Evaluations in memory, with their notes in the registry. */
export class EvaluationDirectory {
  /** By id, oldest first. */
  readonly evaluations = new Map<string, KeptEvaluation>();
  /** By simulation. */
  readonly cells = new Map<string, KeptCell>();
  /** Receives each cell before a request reads it. */
  beforeRead: (cell: KeptCell) => void = () => undefined;
  /** The server is shutting down. */
  isClosed = false;
  readonly #deps: EvaluationDeps;

  constructor(deps: EvaluationDeps) {
    this.#deps = deps;
  }

  /** Evaluations in the registry, oldest first, without those that are being deleted. */
  notes(): readonly EvaluationNote[] {
    return this.allNotes()
      .filter(({ isDeleted }) => isDeleted !== true)
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  allNotes(): readonly EvaluationNote[] {
    return this.#registry.settings(EVALUATIONS).map(([, text]) => JSON.parse(text) as EvaluationNote);
  }

  get #registry() {
    return this.#deps.store.registry;
  }

  /** Reads the entries and cells of an evaluation from the registry. */
  load(note: EvaluationNote): KeptEvaluation {
    this.forget(note.id);
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
    for (const cell of this.cellNotes(note.id)) {
      const entry = kept.entries.get(cell.entryId);
      if (entry !== undefined) this.enterCell(kept, entry, cell);
    }
    sortCells(kept);
    this.evaluations.set(note.id, kept);
    return kept;
  }

  enterCell(kept: KeptEvaluation, entry: EvaluationEntryNote, note: CellNote): KeptCell {
    const cell: KeptCell = { note, kept, entry, isGone: false };
    kept.cells.push(cell);
    this.cells.set(note.id, cell);
    return cell;
  }

  forget(id: string): void {
    for (const cell of this.evaluations.get(id)?.cells ?? []) {
      cell.isGone = true;
      this.cells.delete(cell.note.id);
    }
    this.evaluations.delete(id);
  }

  /** Applies a note that the owner's node has written, if the setting is one of an evaluation. */
  followSetting(name: string): void {
    const id = evaluationOf(name);
    if (id === undefined) return;
    const text = this.#registry.setting(evaluationName(id));
    const note = text === undefined ? undefined : (JSON.parse(text) as EvaluationNote);
    if (note === undefined || note.isDeleted === true) this.forget(id);
    else if (this.#deps.store.ownership?.owned.has(note.owner) === false) this.load(note);
  }

  /** The tenant that owns an evaluation; undefined if there is none. */
  ownerOf(id: string): string | undefined {
    return this.evaluations.get(id)?.note.owner;
  }

  /** An evaluation of a tenant. */
  own(id: string, tenantId: string): KeptEvaluation {
    const kept = this.evaluations.get(id);
    if (kept?.note.owner !== tenantId) throw notFound();
    for (const cell of kept.cells) this.beforeRead(cell);
    return kept;
  }

  /** An evaluation that this tenant may see: a public one, or its own. Undefined tenant: a visitor. */
  find(id: string, tenantId: string | undefined): KeptEvaluation {
    const kept = this.evaluations.get(id);
    const isSeen = kept?.note.definition.visibility === 'PUBLIC' || kept?.note.owner === tenantId;
    if (kept === undefined || !isSeen) throw notFound();
    for (const cell of kept.cells) this.beforeRead(cell);
    return kept;
  }

  /** Newest first. */
  list(tenantId: string): readonly KeptEvaluation[] {
    return [...this.evaluations.values()].filter(({ note }) => note.owner === tenantId).reverse();
  }

  /** Role of a simulation in an evaluation; undefined outside one. */
  placeOf(simulationId: string): CellPlaceInfo | undefined {
    const note = this.cellOf(simulationId)?.note;
    return note && { role: 'CELL', hasEnded: note.endedAt !== undefined, isOver: note.result !== undefined };
  }

  /** The cell whose simulation this is; undefined = it is none. */
  cellOf(simulationId: string): KeptCell | undefined {
    const cell = this.cells.get(simulationId);
    if (cell !== undefined) this.beforeRead(cell);
    return cell;
  }

  /** Cells of an entry of a tenant. */
  cellsOf(entryId: string, tenantId: string): readonly KeptCell[] {
    const kept = this.list(tenantId).find(({ entries }) => entries.has(entryId));
    return kept?.cells.filter(({ entry }) => entry.id === entryId) ?? [];
  }

  /** Notes of the cells of an evaluation, as the registry has them. */
  cellNotes(evaluationId: string): readonly CellNote[] {
    return this.#registry.settings(cellsOf(evaluationId)).map(([, text]) => JSON.parse(text) as CellNote);
  }

  /** Removes a simulation with its note. */
  async discard(note: CellKey, tenantId: string): Promise<void> {
    await this.#deps.simulations.directory.remove(note.id, tenantId);
    await this.#registry.deleteSetting(cellName(note));
  }

  async discardAll(notes: Iterable<CellKey>, tenantId: string): Promise<void> {
    await inParallel(notes, CELLS_AT_ONCE, (note) => this.discard(note, tenantId));
  }

  saveNote(note: EvaluationNote): Promise<void> {
    return this.#registry.saveSetting(evaluationName(note.id), JSON.stringify(note));
  }

  saveEntry(entry: EvaluationEntryNote): Promise<void> {
    return this.#registry.saveSetting(entryName(entry), JSON.stringify(entry));
  }

  saveCell(note: CellKey): Promise<void> {
    return this.#registry.saveSetting(cellName(note), JSON.stringify(note));
  }

  /** False once an evaluation was deleted. */
  has(kept: KeptEvaluation): boolean {
    return this.evaluations.get(kept.note.id) === kept;
  }

  /** Throws if an evaluation was deleted. */
  require(kept: KeptEvaluation): void {
    if (!this.has(kept)) throw notFound();
  }
}

export const notFound = (): EvaluationRefused => new EvaluationRefused('NOT_FOUND', 'Evaluation not found');

export function statusOf({ note, entries }: KeptEvaluation): EvaluationStatus {
  if (![...entries.values()].some((entry) => !isHouse(entry))) return 'OPEN';
  return note.settled?.entries === entries.size ? 'DONE' : 'RUNNING';
}

export const isHouse = ({ entrant }: Pick<EvaluationEntryNote, 'entrant'>): boolean =>
  entrant.startsWith(BASELINE);

/** Entries that were added, in the order of entering. */
export const enteredIn = ({ entries }: Pick<KeptEvaluation, 'entries'>): readonly EvaluationEntryNote[] =>
  [...entries.values()].filter(({ number }) => number > 0).sort((a, b) => a.number - b.number);

/** Sorts the cells of an evaluation by entrant, scenario, seed and trial. */
export function sortCells({ note, cells }: KeptEvaluation): void {
  cells.sort((a, b) => compareTexts(a.entry.entrant, b.entry.entrant) || comparePlaces(note, a.note, b.note));
}

/** By scenario, seed and trial. */
export function comparePlaces({ definition }: EvaluationNote, a: CellNote, b: CellNote): number {
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
