import type { Simulations } from '../engine/directory/simulations.js';
import { foldedName } from '../engine/values/folded-name.js';
import type { Store } from '../store/store.js';
import { notFound } from './errors.js';
import { isSettled, stopTimers } from './kept-competition.js';
import type { KeptCompetition } from './kept-competition.js';
import { cellName, COMPETITION_SETTINGS, competitionName, entriesPrefix, entryName } from './notes.js';
import type { CompetitionNote, EntryNote } from './notes.js';

/** Dependencies of the parts of `Competitions`. */
export interface CompetitionDeps {
  readonly simulations: Simulations;
  readonly store: Store;
  /** Real time, ms. */
  readonly clockMs: () => number;
  /** Never jumps, ms. */
  readonly monotonicMs: () => number;
  /** Logs one line for the operator. */
  readonly note: (text: string) => void;
}

/** Place of a simulation in a competition. */
export interface SimulationPlace {
  readonly competitionId: string;
  readonly role: 'MARKET' | 'ENTRY';
  readonly isOver: boolean;
}

/** The caller: a tenant, or an entry by its token. */
export interface Viewer {
  readonly tenantId: string;
  readonly simulationId: string;
  readonly isEntry: boolean;
}

/** The competitions of a server by id and by simulation, and their notes in the registry. */
export class CompetitionDirectory {
  readonly #simulations: Simulations;
  readonly #store: Store;
  readonly #kept = new Map<string, KeptCompetition>();
  /** By simulation: its competition. */
  readonly #places = new Map<string, { kept: KeptCompetition; role: SimulationPlace['role'] }>();

  /** Reads what the registry has. */
  constructor({ simulations, store }: CompetitionDeps) {
    this.#simulations = simulations;
    this.#store = store;
    const notes = store.registry
      .settings(COMPETITION_SETTINGS)
      .map(([, text]) => JSON.parse(text) as CompetitionNote);
    for (const note of notes.sort((a, b) => a.createdAt - b.createdAt)) this.enter(note);
  }

  /** Enters a competition with its entries, as the registry has them. */
  enter(note: CompetitionNote): KeptCompetition {
    const kept: KeptCompetition = {
      note,
      entries: new Map(),
      names: new Set(),
      running: undefined,
      opened: undefined,
      entering: new Set(),
      editing: Promise.resolve(),
      finishing: undefined,
      board: undefined,
      hasChanged: true,
      making: undefined,
      followers: new Set(),
      telling: undefined,
      tellAfter: 0,
      ticker: undefined,
      starter: undefined,
    };
    const entries = this.#store.registry
      .settings(entriesPrefix(note.id))
      .map(([, text]) => JSON.parse(text) as EntryNote);
    for (const entry of entries.sort((a, b) => a.number - b.number)) this.enterEntry(kept, entry);
    this.#kept.set(note.id, kept);
    this.#places.set(note.marketId, { kept, role: 'MARKET' });
    return kept;
  }

  /** Enters an entry of a competition. */
  enterEntry(kept: KeptCompetition, entry: EntryNote): void {
    kept.entries.set(entry.id, entry);
    if (entry.isCalledOff !== true && entry.tenantId !== '') kept.names.add(foldedName(entry.displayName));
    this.#places.set(entry.simulationId, { kept, role: 'ENTRY' });
  }

  /** Applies a note with another market. */
  replaceMarket(kept: KeptCompetition, note: CompetitionNote, replaced: string): void {
    kept.note = note;
    this.#places.delete(replaced);
    this.#places.set(note.marketId, { kept, role: 'MARKET' });
  }

  /** Leaves out a competition that its organizer's node has removed. */
  forget(id: string): void {
    this.#kept.delete(id);
  }

  /** All competitions, oldest first. */
  get byId(): ReadonlyMap<string, KeptCompetition> {
    return this.#kept;
  }

  /** Newest first. */
  list(viewer: Viewer | undefined): readonly KeptCompetition[] {
    return [...this.#kept.values()].filter((kept) => isVisible(kept, viewer)).reverse();
  }

  /** Role of a simulation in a competition; undefined outside one. */
  placeOf(simulationId: string): SimulationPlace | undefined {
    const place = this.#places.get(simulationId);
    if (place === undefined) return undefined;
    const { kept, role } = place;
    return { competitionId: kept.note.id, role, isOver: isSettled(kept.note) };
  }

  /** True while a tenant has an entry in a competition on the recording that another tenant organizes and that is not over (D209). */
  tradesOnRecording(tenantId: string): boolean {
    for (const { note, entries } of this.#kept.values()) {
      if (note.settings.market.feed !== 'replay' || isSettled(note) || note.organizer === tenantId) continue;
      for (const entry of entries.values())
        if (entry.tenantId === tenantId && entry.isCalledOff !== true) return true;
    }
    return false;
  }

  /** A competition that this tenant may see: a public one, its own, or one that it entered. Undefined tenant: a visitor. */
  find(id: string, viewer: Viewer | undefined): KeptCompetition {
    const kept = this.#kept.get(id);
    if (kept === undefined || !isVisible(kept, viewer)) throw notFound();
    return kept;
  }

  /** A competition that the tenant organizes. */
  own(id: string, tenantId: string): KeptCompetition {
    const kept = this.#kept.get(id);
    if (kept?.note.organizer !== tenantId) throw notFound();
    return kept;
  }

  /** A competition by its id. Every tenant that knows the id may enter it. */
  existing(id: string): KeptCompetition {
    const kept = this.#kept.get(id);
    if (kept === undefined) throw notFound();
    return kept;
  }

  /** The entry whose simulation this is, with its competition; undefined = it is none. */
  entryIn(simulationId: string): { readonly kept: KeptCompetition; readonly entry: EntryNote } | undefined {
    const place = this.#places.get(simulationId);
    if (place?.role !== 'ENTRY') return undefined;
    const { kept } = place;
    const entry = [...kept.entries.values()].find((one) => one.simulationId === simulationId);
    return entry && { kept, entry };
  }

  /** True if another node has the market: the registry alone is known here. */
  isElsewhere({ organizer }: CompetitionNote): boolean {
    return this.#store.ownership?.owned.has(organizer) === false;
  }

  /** Saves the note of a competition. */
  async save(note: CompetitionNote): Promise<void> {
    await this.#store.registry.saveSetting(competitionName(note.id), JSON.stringify(note));
    const kept = this.#kept.get(note.id);
    if (kept !== undefined) kept.note = note;
  }

  /** Saves the note of an entry. */
  saveEntry(entry: EntryNote): Promise<void> {
    return this.#store.registry.saveSetting(entryName(entry), JSON.stringify(entry));
  }

  /** Removes a simulation that does not take part. */
  async discard(simulationId: string, tenantId: string): Promise<void> {
    await this.#simulations.directory.remove(simulationId, tenantId);
    await this.#store.registry.deleteSetting(cellName(simulationId));
  }

  /** Removes a competition with all its simulations. */
  async remove(kept: KeptCompetition): Promise<void> {
    const { directory } = this.#simulations;
    const { note } = kept;
    stopTimers(kept);
    this.#kept.delete(note.id);
    for (const entry of kept.entries.values()) {
      await directory.remove(entry.simulationId, note.organizer);
      await this.#store.registry.deleteSetting(entryName(entry));
      this.#places.delete(entry.simulationId);
    }
    await directory.remove(note.marketId, note.organizer);
    await this.#store.registry.deleteSetting(competitionName(note.id));
    this.#places.delete(note.marketId);
  }
}

function isVisible({ note, entries }: KeptCompetition, viewer: Viewer | undefined): boolean {
  if (note.settings.isPublic) return true;
  if (viewer === undefined) return false;
  const { tenantId, simulationId, isEntry } = viewer;
  if (isEntry) return [...entries.values()].some((entry) => entry.simulationId === simulationId);
  return note.organizer === tenantId || [...entries.values()].some((entry) => entry.tenantId === tenantId);
}
