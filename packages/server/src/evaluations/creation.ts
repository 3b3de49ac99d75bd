import { randomBytes, randomUUID } from 'node:crypto';
import type { Tier } from '@sandpit/core';
import { maskedCompetition, termsOf } from '../competitions/running-competition.js';
import { beginningDigest } from '../engine/recovery/first-records.js';
import { Slice } from '../engine/scheduling/slice.js';
import { evaluationCellOf } from '../engine/values/cell-names.js';
import { foldedName } from '../engine/values/folded-name.js';
import { canonicalDigest } from './canonical-json.js';
import type { BaselineName, ShownScenario } from './definition.js';
import {
  BASELINE,
  CELLS_AT_ONCE,
  comparePlaces,
  isHouse,
  notFound,
  sortCells,
  statusOf,
} from './directory.js';
import type { EvaluationDeps, EvaluationDirectory, KeptEvaluation } from './directory.js';
import { drawOfCell } from './draw.js';
import { EvaluationRefused } from './errors.js';
import { digestOfRuns } from './evaluation-cell.js';
import type { DigestedRun, NoteWithCell } from './evaluation-cell.js';
import type { EvaluationJournal } from './evaluation-journal.js';
import type { House } from './house.js';
import { entriesOf, entryName, eraseEvaluations, evaluationName, seedsOf } from './notes.js';
import type { CellKey, CellNote, EvaluationEntryNote, EvaluationNote, EvaluationTerms } from './notes.js';
import type { Runs } from './runs.js';

/** Evaluations that a tenant may have. */
const MOST_EVALUATIONS = 1000;
/** Cells of an evaluation, those of baselines too. */
const MOST_CELLS = 100_000;

type Entrant = Pick<EvaluationEntryNote, 'entrant' | 'model' | 'version'>;

/** Creation, edits and deletion of evaluations, and their entries with the runs that they create. */
export class EvaluationCreation {
  readonly #deps: EvaluationDeps;
  readonly #directory: EvaluationDirectory;
  readonly #runs: Runs;
  readonly #journal: EvaluationJournal;
  readonly #house: House;

  constructor(
    deps: EvaluationDeps,
    directory: EvaluationDirectory,
    runs: Runs,
    journal: EvaluationJournal,
    house: House,
  ) {
    this.#deps = deps;
    this.#directory = directory;
    this.#runs = runs;
    this.#journal = journal;
    this.#house = house;
  }

  async create(owner: string, tier: Tier, terms: EvaluationTerms): Promise<KeptEvaluation> {
    if (this.#directory.list(owner).length >= MOST_EVALUATIONS)
      throw new EvaluationRefused('TOO_MANY', `A tenant has at most ${MOST_EVALUATIONS} evaluations`);
    const draw = randomBytes(16).toString('hex');
    const id = randomUUID();
    const cellId = randomUUID();
    const note = { ...terms, id, owner, tier, createdAt: this.#deps.clockMs(), draw, cellId };
    await this.#journal.create(note);
    const kept = this.#directory.load(note);
    await this.enterBaselines(kept).catch(async (error: unknown) => {
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
    this.#directory.require(kept);
    this.refuseStarted(kept);
    await this.#journal.completed(kept);
    this.#directory.require(kept);
    const { id, owner, tier, createdAt, draw, cellId: before } = kept.note;
    const basis = { ...terms, id, owner, tier, createdAt, draw };
    if (terms.digest === kept.note.digest) {
      kept.note = { ...basis, ...(before !== undefined && { cellId: before }) };
      await this.#directory.saveNote(kept.note);
      return kept;
    }
    const note = { ...basis, cellId: randomUUID() };
    const replaced: CellKey[] = [];
    // One commit: a crash leaves the former evaluation, or this one without baselines, and runs that the next start removes.
    await this.#journal.create(note, () => {
      this.#directory.require(kept);
      return () => this.#replaceCell(kept, note, replaced);
    });
    await this.#directory.discardAll(replaced, owner);
    await this.enterBaselines(kept);
    return kept;
  }

  /** Applies another definition in memory and returns the writes that belong to it. `replaced` receives the simulations of the former one. */
  #replaceCell(kept: KeptEvaluation, note: NoteWithCell, replaced: CellKey[]): readonly Promise<unknown>[] {
    const { id, cellId } = kept.note;
    const { registry } = this.#deps.store;
    const writes = [...kept.entries.values()].map((entry) => registry.deleteSetting(entryName(entry)));
    for (const cell of kept.cells) {
      cell.isGone = true;
      this.#directory.cells.delete(cell.note.id);
      replaced.push(cell.note);
    }
    if (cellId !== undefined) {
      const former = { id: evaluationCellOf(cellId), evaluationId: id, entryId: '' };
      writes.push(this.#directory.saveCell(former));
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
    if (statusOf(kept) !== 'OPEN')
      throw new EvaluationRefused('STARTED', 'An evaluation can be edited until it has an entry');
  }

  /** Deletes an evaluation with its cell and its runs. The next start completes a deletion that a crash has cut off. */
  async remove(kept: KeptEvaluation): Promise<void> {
    this.#directory.forget(kept.note.id);
    await this.#directory.saveNote({ ...kept.note, isDeleted: true });
    // They find that it is deleted, and remove what they have created.
    await Promise.allSettled([kept.editing, ...kept.entering]);
    await this.removeRows(kept.note);
  }

  async removeRows({ id, owner, cellId }: EvaluationNote): Promise<void> {
    const { simulations, store } = this.#deps;
    for (const [name] of store.registry.settings(entriesOf(id))) await store.registry.deleteSetting(name);
    await this.#directory.discardAll(this.#directory.cellNotes(id), owner);
    if (cellId !== undefined) await simulations.directory.remove(evaluationCellOf(cellId), owner);
    await store.registry.deleteSetting(evaluationName(id));
  }

  /** Removes everything that a tenant owns, before the tenant is erased. */
  async eraseTenant(tenantId: string): Promise<void> {
    for (const kept of this.#directory.list(tenantId)) await this.remove(kept);
    await eraseEvaluations(this.#deps.store.registry, tenantId);
  }

  /** Enters the baselines that have no entry yet: all of them, or those that a crash has left out. */
  async enterBaselines(kept: KeptEvaluation): Promise<void> {
    const { baselines = [], scenarios } = kept.note.definition;
    const names = new Set<BaselineName>(baselines);
    if (scenarios.some(({ tasks = [] }) => tasks.length > 0)) names.add('noop');
    for (const name of names) {
      if (kept.names.has(foldedName(`${BASELINE}${name}`))) continue;
      const isWhole = baselines.includes(name);
      const entry = await this.#enterNow(
        kept,
        { entrant: `${BASELINE}${name}` },
        1,
        (scenario) => isWhole || (scenario.tasks ?? []).length > 0,
      );
      for (const cell of kept.cells) if (cell.entry === entry) this.#house.play(cell);
    }
  }

  /** Enters an entrant: a cell for each scenario, seed and trial. */
  async enter(kept: KeptEvaluation, body: Entrant): Promise<EvaluationEntryNote> {
    for (let last; last !== kept.editing;) {
      last = kept.editing;
      await last;
    }
    this.#directory.require(kept);
    const entry = await this.#enterNow(kept, body, kept.note.definition.trials ?? 1, () => true);
    this.#runs.watchDeadlines();
    return entry;
  }

  /** Withdraws an entrant: its cells that have not ended are abandoned. */
  async withdraw(kept: KeptEvaluation, entryId: string): Promise<void> {
    const entry = kept.entries.get(entryId);
    if (entry === undefined || entry.number === 0 || isHouse(entry))
      throw new EvaluationRefused('NOT_FOUND', 'Entry not found');
    await this.#journal.recordWithdrawal(kept, await this.#journal.cellOf(kept), entryId);
  }

  async #enterNow(
    kept: KeptEvaluation,
    body: Entrant,
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
        this.#directory.require(kept);
        const places = wanted.slice(first, first + CELLS_AT_ONCE);
        const results = await Promise.allSettled(places.map((place) => this.#newCell(note, held, place)));
        for (const result of results) if (result.status === 'fulfilled') made.push(result.value);
        for (const result of results) if (result.status === 'rejected') throw result.reason as Error;
        await slice.breathe();
      }
      made.sort((a, b) => comparePlaces(note, a.note, b.note));
      const cell = await this.#journal.cellOf(kept);
      this.#directory.require(kept);
      await this.#journal.recordEntry(kept, cell, held.id, digestOfRuns(made), (numbered) => {
        entry = numbered;
        for (const one of made) this.#runs.attachOpened(this.#directory.enterCell(kept, numbered, one.note));
        sortCells(kept);
      });
    } catch (error) {
      if (entry === undefined)
        await this.#directory
          .discardAll(
            made.map((one) => one.note),
            note.owner,
          )
          .catch(() => undefined);
      throw error;
    }
    if (entry === undefined || !this.#directory.has(kept)) throw notFound();
    return entry;
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
    await this.#directory.saveCell(blank);
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
        this.#directory.saveCell(cell),
      ]);
      return { note: cell, cellId: cell.id, digest };
    } catch (error) {
      await this.#directory.discard(blank, owner).catch(() => undefined);
      throw error;
    }
  }
}

/** A run that was created for an entry. */
interface NewCell extends DigestedRun {
  readonly note: CellNote;
}

/** An id of version 4's form that follows from a secret. */
function uuidFrom(secret: string, purpose: string): string {
  const hex = canonicalDigest([secret, purpose]);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
