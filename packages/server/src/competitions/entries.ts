import { randomUUID } from 'node:crypto';
import { beginningDigest, FirstCommandRefused } from '../engine/recovery/first-records.js';
import { foldedName } from '../engine/values/folded-name.js';
import { StoreUnavailable } from '../store/journal.js';
import { drawnFrom } from './competition-file.js';
import type { CompetitionDeps, CompetitionDirectory } from './directory.js';
import { CompetitionRefused, notFound, notRunning } from './errors.js';
import { isSettled, takingPart } from './kept-competition.js';
import type { KeptCompetition } from './kept-competition.js';
import type { CompetitionLifecycle } from './lifecycle.js';
import { withoutTenant } from './notes.js';
import type { EntryNote } from './notes.js';
import type { CompetitionResults } from './results.js';
import { beginning } from './running-competition.js';

/** The entries of competitions: entering, removal and erasure. */
export class CompetitionEntries {
  readonly #deps: CompetitionDeps;
  readonly #directory: CompetitionDirectory;
  readonly #lifecycle: CompetitionLifecycle;
  readonly #results: CompetitionResults;

  constructor(
    deps: CompetitionDeps,
    directory: CompetitionDirectory,
    lifecycle: CompetitionLifecycle,
    results: CompetitionResults,
  ) {
    this.#deps = deps;
    this.#directory = directory;
    this.#lifecycle = lifecycle;
    this.#results = results;
  }

  /** Enters a tenant. */
  async enter(
    kept: KeptCompetition,
    tenantId: string,
    { displayName, joinCode }: { readonly displayName: string; readonly joinCode?: string | undefined },
  ): Promise<EntryNote> {
    await this.#lifecycle.refuseOver(kept);
    const { note } = kept;
    if (note.joinCode !== undefined && joinCode !== note.joinCode)
      throw new CompetitionRefused('JOIN_CODE', 'The join code is missing or wrong');
    return this.#enterNow(kept, tenantId, displayName);
  }

  /** Enters a tenant that the organizer has invited: no join code is needed. */
  async enterInvited(
    kept: KeptCompetition,
    tenantId: string,
    displayName: string,
  ): Promise<EntryNote & { readonly accountId: string }> {
    await this.#lifecycle.refuseOver(kept);
    const entry = await this.#enterNow(kept, tenantId, displayName);
    const { brokerage } = (await this.#lifecycle.run(kept)).simulationOf(entry.id) ?? {};
    const accountId = brokerage?.state.portfolios.get(entry.portfolioId)?.terms.accountId;
    if (accountId === undefined) throw new StoreUnavailable('the simulation of the entry is gone');
    return { ...entry, accountId };
  }

  /** Withdraws the entries of a tenant from a competition that is not over. */
  async withdrawTenant(id: string, tenantId: string): Promise<void> {
    const kept = this.#directory.byId.get(id);
    if (kept === undefined || isSettled(kept.note)) return;
    for (const entry of takingPart(kept)) {
      if (entry.tenantId !== tenantId || entry.simulationId === '') continue;
      await this.remove(kept, entry, { status: 'WITHDRAWN' }).catch((error: unknown) => {
        // The competition has just ended.
        if (!(error instanceof CompetitionRefused && error.problem === 'NOT_RUNNING')) throw error;
      });
    }
  }

  async #enterNow(kept: KeptCompetition, tenantId: string, displayName: string): Promise<EntryNote> {
    await kept.editing;
    const { note } = kept;
    const { settings } = note;
    const name = foldedName(displayName);
    const present = takingPart(kept);
    if (present.filter((entry) => entry.tenantId === tenantId).length >= settings.entriesPerTenant)
      throw new CompetitionRefused(
        'ALREADY_ENTERED',
        'The tenant has entered the competition already',
        settings.entriesPerTenant,
      );
    if (present.length >= settings.capacity)
      throw new CompetitionRefused('FULL', 'The competition is full', settings.capacity);
    if (kept.names.has(name))
      throw new CompetitionRefused('NAME_TAKEN', 'Another entry of the competition has this displayName');
    // Reserved until the market decides, so that no other entry uses its place.
    const held: EntryNote = {
      id: randomUUID(),
      competitionId: note.id,
      number: 0,
      tenantId,
      displayName,
      simulationId: '',
      portfolioId: '',
      createdAt: this.#deps.clockMs(),
    };
    kept.entries.set(held.id, held);
    kept.names.add(name);
    const entering = this.#addEntry(kept, held);
    kept.entering.add(entering);
    try {
      return await entering;
    } finally {
      kept.entering.delete(entering);
      // Decided, it may still become durable when the store does not answer.
      if (kept.entries.get(held.id)?.simulationId === '') {
        kept.entries.delete(held.id);
        kept.names.delete(name);
      }
    }
  }

  /** Adds an entry in one commit: the record of the market, the simulation of the entry with its first records, and its note. */
  async #addEntry(kept: KeptCompetition, { id }: EntryNote): Promise<EntryNote> {
    const running = await this.#lifecycle.run(kept);
    const { simulations } = this.#deps;
    const { note } = kept;
    const cell = randomUUID();
    const { seed, secret } = drawnFrom(note.draw, 'entry', id);
    const { market } = running;
    // Without the name of the entry, which its tenant may erase: the hash of the result covers the configuration.
    const prepared = await simulations.creation
      .prepareEntry(market, { seed, idSecret: secret }, cell, () => [
        beginning(note, running.phase),
        {
          type: 'OpenPortfolio',
          by: { tier: note.tier },
          accountId: randomUUID(),
          accountType: 'INDIVIDUAL',
          ...note.settings.portfolio,
          proAccounts: Number.MAX_SAFE_INTEGER,
        },
      ])
      .catch((error: unknown) => {
        if (!(error instanceof FirstCommandRefused)) throw error;
        throw new CompetitionRefused('BROKER', 'The portfolio of the entry cannot be opened');
      });
    const [portfolioId = ''] = prepared.brokerage.state.portfolios.keys();
    const digest = await beginningDigest(prepared.records);
    const command = { type: 'AddEntry', entryId: id, cell, digest } as const;
    let entry: EntryNote | undefined;
    const { result } = await running.record<'AddEntry'>(command, (decided) => {
      const held = kept.entries.get(id);
      if ('code' in decided.result || held === undefined) return undefined;
      entry = { ...held, number: decided.result.number, simulationId: cell, portfolioId };
      this.#directory.enterEntry(kept, entry);
      return Promise.all([prepared.register(), this.#directory.saveEntry(entry)]);
    });
    if ('code' in result || entry === undefined) throw notRunning('The competition is over');
    try {
      const simulation = await simulations.directory.find(cell, note.organizer);
      if (simulation === undefined) throw new StoreUnavailable('the simulation of the entry is gone');
      running.add(kept.entries.get(id) ?? entry, simulation);
    } catch (error) {
      // The next request opens all of them.
      this.#lifecycle.closeRunning(kept);
      throw error;
    }
    kept.hasChanged = true;
    return entry;
  }

  /** An entry of the tenant, or any entry for the organizer. */
  find(kept: KeptCompetition, entryId: string, tenantId: string): EntryNote {
    const entry = kept.entries.get(entryId);
    const isAllowed = entry?.tenantId === tenantId || kept.note.organizer === tenantId;
    if (entry === undefined || entry.simulationId === '' || !isAllowed) throw notFound();
    return entry;
  }

  /** Oldest first. */
  list(kept: KeptCompetition, tenantId: string): readonly EntryNote[] {
    const isOrganizer = kept.note.organizer === tenantId;
    return [...kept.entries.values()].filter(
      (entry) => entry.simulationId !== '' && (isOrganizer || entry.tenantId === tenantId),
    );
  }

  /** Reason why an entry is out, from its simulation or the result; undefined if it is not. */
  async removalOf(
    kept: KeptCompetition,
    entry: EntryNote,
  ): Promise<
    { readonly status: 'ELIMINATED' | 'DISQUALIFIED' | 'WITHDRAWN'; readonly reason?: string } | undefined
  > {
    const row =
      kept.note.result && (await this.#results.of(kept)).rows.find(({ entryId }) => entryId === entry.id);
    if (row !== undefined) {
      const { status, reason } = row;
      return status === 'ACTIVE' ? undefined : { status, ...(reason !== undefined && { reason }) };
    }
    if (entry.isCalledOff === true) return { status: 'WITHDRAWN' };
    const simulation = isSettled(kept.note)
      ? await this.#deps.simulations.directory.find(entry.simulationId, kept.note.organizer)
      : (await this.#lifecycle.run(kept)).simulationOf(entry.id);
    const removed = simulation?.brokerage.state.competition?.removed;
    if (removed === undefined) return undefined;
    const { status, reason = removed.rule } = removed;
    return { status, ...(reason !== undefined && { reason }) };
  }

  /** Removes an entry from a competition that is not over. */
  async remove(
    kept: KeptCompetition,
    entry: EntryNote,
    removal: { readonly status: 'DISQUALIFIED' | 'WITHDRAWN'; readonly reason?: string },
  ): Promise<void> {
    await this.#lifecycle.refuseOver(kept);
    const running = await this.#lifecycle.run(kept);
    let calledOff: EntryNote | undefined;
    const command = { type: 'RemoveEntry', cell: entry.simulationId, ...removal } as const;
    await running.record<'RemoveEntry'>(command, ({ events }) => {
      const present = kept.entries.get(entry.id);
      const isCalledOff = running.phase === 'OPEN' && removal.status === 'WITHDRAWN';
      if (events.length === 0 || present === undefined || !isCalledOff) return undefined;
      calledOff = { ...present, isCalledOff: true };
      kept.entries.set(entry.id, calledOff);
      kept.names.delete(foldedName(present.displayName));
      return this.#directory.saveEntry(calledOff);
    });
    kept.hasChanged = true;
    if (calledOff !== undefined) running.delete(entry.id);
  }

  /** Takes the tenant and the name from an entry, and the name from boards and the result (D279). */
  forgetEntrant(kept: KeptCompetition, entry: EntryNote): void {
    const erased = withoutTenant(entry);
    kept.entries.set(entry.id, erased);
    kept.names.delete(foldedName(entry.displayName));
    kept.opened?.rename(erased);
    kept.board = undefined;
    this.#results.tell(kept);
  }
}
