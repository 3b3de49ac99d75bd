import { CompetitionCreation } from './creation.js';
import { CompetitionDirectory } from './directory.js';
import type { CompetitionDeps } from './directory.js';
import { CompetitionEntries } from './entries.js';
import { earlierResult, isSettled, stopTimers } from './kept-competition.js';
import { CompetitionLifecycle } from './lifecycle.js';
import {
  CELL_SETTINGS,
  COMPETITION_SETTINGS,
  competitionName,
  competitionOfEntry,
  entriesPrefix,
  eraseNotes,
} from './notes.js';
import type { CompetitionNote, EntryNote } from './notes.js';
import { CompetitionResults } from './results.js';

/** Simulations whose removal a crash has cut off, and those of entries withdrawn before the start; with their tenants. */
type Orphans = readonly (readonly [simulationId: string, tenantId: string])[];

/**
 * All competitions of a server (D194–D196), by what is done with them. The registry has their settings and entries, the journals of their
 * simulations all events: a restart continues from there.
 */
export class Competitions {
  readonly directory: CompetitionDirectory;
  readonly lifecycle: CompetitionLifecycle;
  readonly results: CompetitionResults;
  readonly creation: CompetitionCreation;
  readonly entries: CompetitionEntries;
  readonly #deps: CompetitionDeps;
  #isClosed = false;
  #opening: Promise<void> = Promise.resolve();

  private constructor(deps: CompetitionDeps) {
    this.#deps = deps;
    this.directory = new CompetitionDirectory(deps);
    this.lifecycle = new CompetitionLifecycle(deps, this.directory);
    this.results = new CompetitionResults(deps, this.directory, this.lifecycle);
    this.creation = new CompetitionCreation(deps, this.directory, this.lifecycle);
    this.entries = new CompetitionEntries(deps, this.directory, this.lifecycle, this.results);
  }

  /** Reads what the registry has, and opens those that are not over in the background. */
  static start(deps: CompetitionDeps): Competitions {
    const competitions = new Competitions(deps);
    // In a cluster they are opened with their organizers.
    if (deps.store.ownership !== undefined) return competitions;
    const orphans = competitions.#orphans();
    competitions.#opening = competitions.#openAll().then(() => competitions.#removeOrphans(orphans));
    return competitions;
  }

  /** Opens the competitions of an organizer that this node has acquired. */
  enterTenant(organizer: string): void {
    for (const [, text] of this.#deps.store.registry.settings(COMPETITION_SETTINGS)) {
      const note = JSON.parse(text) as CompetitionNote;
      if (note.organizer === organizer) this.directory.enter(note);
    }
    const orphans = this.#orphans().filter(([, tenantId]) => tenantId === organizer);
    this.#opening = this.#opening
      .then(() => this.#openAll(organizer))
      .then(() => this.#removeOrphans(orphans));
  }

  /** Another node acquires an organizer. */
  async leaveTenant(organizer: string): Promise<void> {
    for (const kept of [...this.directory.byId.values()]) {
      if (kept.note.organizer !== organizer) continue;
      stopTimers(kept);
      await kept.finishing?.catch(() => undefined);
      this.directory.enter(kept.note);
    }
  }

  /** Applies a note that the organizer's node has written about a competition or an entry. Returns true if the setting is such a note. */
  followSetting(name: string): boolean {
    const id = name.startsWith(COMPETITION_SETTINGS)
      ? name.slice(COMPETITION_SETTINGS.length)
      : competitionOfEntry(name);
    if (id === undefined) return false;
    const text = this.#deps.store.registry.setting(competitionName(id));
    const note = text === undefined ? undefined : (JSON.parse(text) as CompetitionNote);
    if (note === undefined) this.directory.forget(id);
    else if (this.directory.isElsewhere(note)) this.directory.enter(note);
    else this.#followErasures(id);
    return true;
  }

  /** Another node has erased a tenant with an entry in a competition of this one. */
  #followErasures(id: string): void {
    const kept = this.directory.byId.get(id);
    if (kept === undefined) return;
    for (const [, text] of this.#deps.store.registry.settings(entriesPrefix(id))) {
      const noted = JSON.parse(text) as EntryNote;
      const entry = kept.entries.get(noted.id);
      if (entry !== undefined && entry.tenantId !== '' && noted.tenantId === '')
        this.entries.forgetEntrant(kept, entry);
    }
  }

  /** Removes everything that a tenant organizes, and the tenant from its entries, before the tenant is erased. */
  async eraseTenant(tenantId: string): Promise<void> {
    for (const kept of [...this.directory.byId.values()])
      if (kept.note.organizer === tenantId) {
        // Open streams receive the cancellation.
        const isRemoved = await this.lifecycle.cancel(kept).catch(() => false);
        if (!isRemoved) await this.directory.remove(kept);
      } else
        for (const entry of kept.entries.values())
          if (entry.tenantId === tenantId) this.entries.forgetEntrant(kept, entry);
    await eraseNotes(this.#deps.store.registry, tenantId);
  }

  async #openAll(organizer?: string): Promise<void> {
    for (const kept of this.directory.byId.values()) {
      if (this.#isClosed) return;
      if (organizer !== undefined && kept.note.organizer !== organizer) continue;
      const earlier = earlierResult(kept.note);
      if (isSettled(kept.note) && earlier === undefined) continue;
      try {
        if (earlier === undefined) await this.lifecycle.run(kept);
        else await this.lifecycle.carryResultOver(kept, earlier);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        this.#deps.note(`Competition ${kept.note.id} cannot be opened: ${why}`);
      }
    }
  }

  #orphans(): Orphans {
    const left = this.#deps.store.registry
      .settings(CELL_SETTINGS)
      .map(([name, tenantId]) => [name.slice(CELL_SETTINGS.length), tenantId] as const)
      .filter(([id]) => this.directory.placeOf(id) === undefined);
    const calledOff = [...this.directory.byId.values()].flatMap(({ note, entries }) =>
      [...entries.values()]
        .filter(({ isCalledOff }) => isCalledOff === true)
        .map(({ simulationId }) => [simulationId, note.organizer] as const),
    );
    return [...left, ...calledOff];
  }

  async #removeOrphans(orphans: Orphans): Promise<void> {
    for (const [id, tenantId] of orphans) {
      if (this.#isClosed) return;
      try {
        await this.directory.discard(id, tenantId);
      } catch {
        // Tried again at the next start.
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const kept of this.directory.byId.values()) stopTimers(kept);
    await this.#opening;
    for (const kept of this.directory.byId.values()) await kept.finishing?.catch(() => undefined);
  }
}
