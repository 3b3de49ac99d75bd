import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  Command,
  CompetitionPhase,
  CompetitionRank,
  CompetitionResult,
  Instant,
  Tier,
} from '@sandpit/core';
import { beginningDigest, FirstCommandRefused } from '../engine/recovery/first-records.js';
import { foldedName } from '../engine/values/folded-name.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import type { Simulations } from '../engine/directory/simulations.js';
import { StoreUnavailable } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { drawnFrom, exportCompetition } from './competition-file.js';
import { CompetitionRefused } from './errors.js';
import { journalHashOf, settingsHash } from './journal-hash.js';
import {
  CELL_SETTINGS,
  cellName,
  COMPETITION_SETTINGS,
  competitionName,
  competitionOfEntry,
  entriesPrefix,
  entryName,
  eraseNotes,
  rowsWithNames,
  rowsWithoutNames,
  withoutTenant,
} from './notes.js';
import type {
  CompetitionNote,
  CompetitionSettings,
  EarlierResult,
  EntryNote,
  ShownCompetition,
} from './notes.js';
import type { LeaderboardRow } from './leaderboard.js';
import { maskedCompetition, RunningCompetition, termsOf } from './running-competition.js';
import type { Board } from './running-competition.js';

/** Oldest age of a leaderboard, in real time. */
const BOARD_MS = 1000;
/** A leaderboard is rebuilt after this multiple of its own cost: small ones are always current. */
const COST_SHARE = 10;
/** A reader waits this long for a new one before it receives the previous one. */
const PATIENCE_MS = 100;
/** Followers notified between two turns of the event loop: each costs the writing of a leaderboard. */
const TOLD_PER_TURN = 4;
/** Bytes of leaderboards that followers of a competition are sent in a second of real time; larger ones are sent less often. */
const BYTES_A_SECOND = 16_000_000;
/** Competitions that a tenant may have in OPEN or RUNNING. */
const MOST_AT_ONCE = 100;
const LONGEST_TIMER_MS = 3_600_000;

export type Status = 'OPEN' | 'RUNNING' | 'FINISHED' | 'CANCELED';

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

/** Receives leaderboards. Returns the number of bytes sent. */
export type Follower = (board: Board, status: Status) => number;

/** Place of a simulation in a competition. */
export interface SimulationPlace {
  readonly competitionId: string;
  readonly role: 'MARKET' | 'ENTRY';
  readonly isOver: boolean;
}

/** A competition as this server has it. */
interface Kept {
  note: CompetitionNote;
  readonly entries: Map<string, EntryNote>;
  /** Names in use, foldedName. */
  readonly names: Set<string>;
  /** While its simulations are in memory. */
  running: Promise<RunningCompetition> | undefined;
  opened: RunningCompetition | undefined;
  /** Entries that are being added. The result waits for them. */
  readonly entering: Set<Promise<unknown>>;
  /** The last edit that replaces the market. Entries and the start wait for it. */
  editing: Promise<void>;
  /** Set while the result is computed. */
  finishing: Promise<void> | undefined;
  board: { readonly board: Board; readonly madeAt: number; readonly costMs: number } | undefined;
  /** True when the competition has changed since its leaderboard was computed. */
  hasChanged: boolean;
  making: Promise<Board> | undefined;
  readonly followers: Set<Follower>;
  /** Set while followers are notified; `again` when there is another change in the meantime. */
  telling: { again: boolean } | undefined;
  /** Earliest time of the next notification, on the monotonic clock. */
  tellAfter: number;
  ticker: NodeJS.Timeout | undefined;
  starter: NodeJS.Timeout | undefined;
}

/**
 * All competitions of a server (D194–D196). The registry has their settings and entries, the journals of their simulations all events: a
 * restart continues from there.
 */
export class Competitions {
  readonly #deps: CompetitionDeps;
  readonly #kept = new Map<string, Kept>();
  /** By simulation: its competition. */
  readonly #places = new Map<string, { readonly kept: Kept; readonly role: 'MARKET' | 'ENTRY' }>();
  #isClosed = false;
  #opening: Promise<void> = Promise.resolve();

  private constructor(deps: CompetitionDeps) {
    this.#deps = deps;
  }

  /** Reads what the registry has, and opens those that are not over in the background. */
  static start(deps: CompetitionDeps): Competitions {
    const competitions = new Competitions(deps);
    const notes = deps.store.registry
      .settings(COMPETITION_SETTINGS)
      .map(([, text]) => JSON.parse(text) as CompetitionNote);
    for (const note of notes.sort((a, b) => a.createdAt - b.createdAt)) competitions.#enter(note);
    // In a cluster they are opened with their organizers.
    if (deps.store.ownership !== undefined) return competitions;
    const orphans = competitions.#orphans();
    competitions.#opening = competitions.#openAll().then(() => competitions.#removeOrphans(orphans));
    return competitions;
  }

  /** Opens the competitions of an organizer that this node has acquired. */
  enterTenant(organizer: string): void {
    for (const [, text] of this.#registry.settings(COMPETITION_SETTINGS)) {
      const note = JSON.parse(text) as CompetitionNote;
      if (note.organizer === organizer) this.#enter(note);
    }
    const orphans = this.#orphans().filter(([, tenantId]) => tenantId === organizer);
    this.#opening = this.#opening
      .then(() => this.#openAll(organizer))
      .then(() => this.#removeOrphans(orphans));
  }

  /** Another node acquires an organizer. */
  async leaveTenant(organizer: string): Promise<void> {
    for (const kept of [...this.#kept.values()]) {
      if (kept.note.organizer !== organizer) continue;
      this.#stopTimers(kept);
      await kept.finishing?.catch(() => undefined);
      this.#enter(kept.note);
    }
  }

  /** Applies a note that the organizer's node has written about a competition or an entry. Returns true if the setting is such a note. */
  followSetting(name: string): boolean {
    const id = name.startsWith(COMPETITION_SETTINGS)
      ? name.slice(COMPETITION_SETTINGS.length)
      : competitionOfEntry(name);
    if (id === undefined) return false;
    const text = this.#registry.setting(competitionName(id));
    const note = text === undefined ? undefined : (JSON.parse(text) as CompetitionNote);
    if (note === undefined) this.#kept.delete(id);
    else if (this.#isElsewhere(note)) this.#enter(note);
    else this.#followErasures(id);
    return true;
  }

  /** Another node has erased a tenant with an entry in a competition of this one. */
  #followErasures(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    for (const [, text] of this.#registry.settings(entriesPrefix(id))) {
      const noted = JSON.parse(text) as EntryNote;
      const entry = kept.entries.get(noted.id);
      if (entry !== undefined && entry.tenantId !== '' && noted.tenantId === '')
        this.#forgetEntrant(kept, entry);
    }
  }

  /** Simulations whose removal a crash has cut off, and those of entries withdrawn before the start; with their tenants. */
  #orphans(): readonly (readonly [simulationId: string, tenantId: string])[] {
    const left = this.#registry
      .settings(CELL_SETTINGS)
      .map(([name, tenantId]) => [name.slice(CELL_SETTINGS.length), tenantId] as const)
      .filter(([id]) => !this.#places.has(id));
    const calledOff = [...this.#kept.values()].flatMap(({ note, entries }) =>
      [...entries.values()]
        .filter(({ isCalledOff }) => isCalledOff === true)
        .map(({ simulationId }) => [simulationId, note.organizer] as const),
    );
    return [...left, ...calledOff];
  }

  async #removeOrphans(
    orphans: readonly (readonly [simulationId: string, tenantId: string])[],
  ): Promise<void> {
    for (const [id, tenantId] of orphans) {
      if (this.#isClosed) return;
      try {
        await this.#deps.simulations.directory.remove(id, tenantId);
        await this.#registry.deleteSetting(cellName(id));
      } catch {
        // Tried again at the next start.
      }
    }
  }

  #enter(note: CompetitionNote): Kept {
    const kept: Kept = {
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
    const entries = this.#registry
      .settings(entriesPrefix(note.id))
      .map(([, text]) => JSON.parse(text) as EntryNote);
    for (const entry of entries.sort((a, b) => a.number - b.number)) this.#enterEntry(kept, entry);
    this.#kept.set(note.id, kept);
    this.#places.set(note.marketId, { kept, role: 'MARKET' });
    return kept;
  }

  #enterEntry(kept: Kept, entry: EntryNote): void {
    kept.entries.set(entry.id, entry);
    if (entry.isCalledOff !== true && entry.tenantId !== '') kept.names.add(foldedName(entry.displayName));
    this.#places.set(entry.simulationId, { kept, role: 'ENTRY' });
  }

  async #openAll(organizer?: string): Promise<void> {
    for (const kept of this.#kept.values()) {
      if (this.#isClosed) return;
      if (organizer !== undefined && kept.note.organizer !== organizer) continue;
      const earlier = earlierResult(kept.note);
      if (isSettled(kept.note) && earlier === undefined) continue;
      try {
        if (earlier === undefined) await this.#run(kept);
        else await this.#carryResultOver(kept, earlier);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        this.#deps.note(`Competition ${kept.note.id} cannot be opened: ${why}`);
      }
    }
  }

  get #registry() {
    return this.#deps.store.registry;
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
  find(id: string, viewer: Viewer | undefined): Kept {
    const kept = this.#kept.get(id);
    if (kept === undefined || !isVisible(kept, viewer)) throw notFound();
    return kept;
  }

  /** The tenant that organizes a competition; undefined if there is none. */
  organizerOf(id: string): string | undefined {
    return this.#kept.get(id)?.note.organizer;
  }

  /** A competition by its id. Every tenant that knows the id may enter it. */
  joinable(id: string): Kept {
    const kept = this.#kept.get(id);
    if (kept === undefined) throw notFound();
    return kept;
  }

  /** Organizer and tier of the tokens of entries. */
  termsOf(id: string): Pick<CompetitionNote, 'organizer' | 'tier'> {
    const kept = this.#kept.get(id);
    if (kept === undefined) throw notFound();
    return kept.note;
  }

  /** A competition that the tenant organizes. */
  own(id: string, tenantId: string): Kept {
    const kept = this.#kept.get(id);
    if (kept?.note.organizer !== tenantId) throw notFound();
    return kept;
  }

  /** Newest first. */
  list(viewer: Viewer | undefined): readonly Kept[] {
    return [...this.#kept.values()].filter((kept) => isVisible(kept, viewer)).reverse();
  }

  async statusOf(kept: Kept): Promise<Status> {
    await kept.finishing?.catch(() => undefined);
    if (kept.note.result !== undefined) return 'FINISHED';
    if (kept.note.isCanceled === true) return 'CANCELED';
    if (this.#isElsewhere(kept.note)) return kept.note.phase === undefined ? 'OPEN' : 'RUNNING';
    const { phase } = await this.#run(kept);
    if (phase === 'FINISHED') {
      // The clock has just reached its end.
      await this.#finishing(kept);
      return 'FINISHED';
    }
    return phase === 'OPEN' || phase === 'CANCELED' ? phase : 'RUNNING';
  }

  /** True if another node has the market: the registry alone is known here. */
  #isElsewhere({ organizer }: CompetitionNote): boolean {
    return this.#deps.store.ownership?.owned.has(organizer) === false;
  }

  /** Clock of a competition that is not settled (absent if another node has its market) and whether trading is paused. */
  async stateOf(kept: Kept): Promise<{ readonly now?: Instant; readonly isPaused: boolean }> {
    if (this.#isElsewhere(kept.note)) return { isPaused: kept.note.phase === 'PAUSED' };
    const { market, phase } = await this.#run(kept);
    return { now: market.now(), isPaused: phase === 'PAUSED' };
  }

  /** Creates a competition with its market. */
  async create(
    organizer: { readonly tenantId: string; readonly tier: Tier },
    settings: CompetitionSettings,
    shown: ShownCompetition,
  ): Promise<Kept> {
    const { tenantId, tier } = organizer;
    const atOnce = [...this.#kept.values()].filter(
      ({ note }) => note.organizer === tenantId && !isSettled(note),
    );
    if (atOnce.length >= MOST_AT_ONCE)
      throw new CompetitionRefused('TOO_MANY', `A tenant has at most ${MOST_AT_ONCE} competitions at once`);
    const id = randomUUID();
    const draw = randomBytes(16).toString('hex');
    const basis = {
      id,
      organizer: tenantId,
      tier,
      createdAt: this.#deps.clockMs(),
      settings,
      shown,
      draw,
      ...(settings.needsCode && { joinCode: newJoinCode() }),
    };
    const { market, note } = await this.#createMarket(basis);
    const kept = this.#enter(note);
    this.#opened(kept, new RunningCompetition(market, () => (kept.hasChanged = true)));
    return kept;
  }

  /** Creates the market of a competition and saves its note, in one commit. `replaced`: the market before an edit. */
  async #createMarket(
    basis: Omit<CompetitionNote, 'marketId' | 'masked'>,
    replaced?: string,
  ): Promise<{ readonly market: Simulation; readonly note: CompetitionNote }> {
    const { id, organizer, settings, draw } = basis;
    const { seed, secret } = drawnFrom(draw, 'market', settings.seed ?? '');
    const { mask: parts } = settings;
    const config = {
      ...settings.market,
      ...(parts !== undefined && { hides: { parts, key: drawnFrom(draw, 'mask', '').secret } }),
      seed,
      idSecret: secret,
      draw: secret,
      competition: { id, role: 'MARKET' } as const,
    };
    const marketId = randomUUID();
    let note: CompetitionNote = { ...basis, marketId };
    const create = this.#deps.simulations.creation.createCompetitionMarket.bind(
      this.#deps.simulations.creation,
    );
    const market = await create(organizer, config, marketId, (feed) => {
      const masked = parts === undefined ? undefined : maskedCompetition(settings, parts, feed);
      if (masked !== undefined) note = { ...note, masked };
      return {
        commands: [beginning(note, 'OPEN')],
        alongside: () =>
          Promise.all([
            this.#save(note),
            replaced === undefined ? undefined : this.#registry.saveSetting(cellName(replaced), organizer),
          ]),
      };
    });
    return { market, note };
  }

  /** Removes a simulation that does not take part. */
  async #discard(simulationId: string, tenantId: string): Promise<void> {
    await this.#deps.simulations.directory.remove(simulationId, tenantId);
    await this.#registry.deleteSetting(cellName(simulationId));
  }

  /** Edits a competition; market, rules and scoring until the first entry exists. */
  async update(kept: Kept, settings: CompetitionSettings, wanted: ShownCompetition): Promise<void> {
    if ((await this.statusOf(kept)) !== 'OPEN')
      throw new CompetitionRefused('STARTED', 'A competition can be edited until trading starts');
    await kept.editing;
    const { note } = kept;
    const isNewMarket = JSON.stringify(marketPart(settings)) !== JSON.stringify(marketPart(note.settings));
    const isFixed =
      isNewMarket ||
      settings.scoring !== note.settings.scoring ||
      rulesOf(settings) !== rulesOf(note.settings);
    if (isFixed && kept.entries.size > 0)
      throw new CompetitionRefused(
        'STARTED',
        'Market, rules and scoring are fixed once the first entry exists',
      );
    if (settings.capacity < takingPart(kept).length)
      throw new CompetitionRefused(
        'FULL',
        'The competition has more entries than that already',
        settings.capacity,
      );
    // Unchanged settings keep their text: the journals contain its hash.
    const { market: shownMarket, rules, scoring } = note.shown;
    const shown = isFixed ? wanted : { ...wanted, market: shownMarket, rules, scoring };
    const joinCode = settings.needsCode ? (note.joinCode ?? newJoinCode()) : undefined;
    const { joinCode: _, ...rest } = note;
    const edited = { ...rest, settings, shown, ...(joinCode !== undefined && { joinCode }) };
    if (!isFixed) return this.#save(edited);
    const replacing = this.#replaceMarket(kept, edited);
    kept.editing = replacing.catch(() => undefined);
    await replacing;
  }

  async #replaceMarket(
    kept: Kept,
    { marketId: replaced, masked: _, ...basis }: CompetitionNote,
  ): Promise<void> {
    const { market, note } = await this.#createMarket(basis, replaced);
    kept.note = note;
    this.#places.delete(replaced);
    this.#places.set(market.id, { kept, role: 'MARKET' });
    this.#stopTimers(kept);
    this.#opened(kept, new RunningCompetition(market, () => (kept.hasChanged = true)));
    await this.#discard(replaced, note.organizer);
  }

  /** Opens trading, or resumes it. */
  async startTrading(kept: Kept): Promise<void> {
    await kept.editing;
    const status = await this.statusOf(kept);
    if (status !== 'OPEN' && status !== 'RUNNING') throw notRunning('The competition is over');
    const running = await this.#run(kept);
    const { market: wanted } = kept.note.settings;
    if (wanted.clock === 'wall' && running.phase === 'OPEN')
      throw notRunning('A market on a wall clock starts by itself');
    await running.setPhase('RUNNING');
    if (wanted.clock === 'scaled' && running.market.clock().speed === 0)
      await running.market.setSpeed(wanted.speed);
    clearTimeout(kept.starter);
    kept.hasChanged = true;
  }

  async pause(kept: Kept): Promise<void> {
    if (kept.note.settings.market.clock === 'wall')
      throw new CompetitionRefused('WALL_CLOCK', 'A competition on a wall clock cannot be paused');
    if ((await this.statusOf(kept)) !== 'RUNNING') throw notRunning('The competition is not running');
    const running = await this.#run(kept);
    if (kept.note.settings.market.clock === 'scaled') await running.market.setSpeed(0);
    await running.setPhase('PAUSED');
    await running.market.followersApplied();
  }

  /** Ends trading and computes the result; does nothing if there is a result already. */
  async finish(kept: Kept): Promise<void> {
    const status = await this.statusOf(kept);
    if (status === 'FINISHED') return;
    if (status !== 'RUNNING') throw notRunning('The competition is not running');
    const running = await this.#run(kept);
    if (kept.note.settings.market.clock === 'scaled') await running.market.setSpeed(0);
    await running.catchUp();
    await running.setPhase('FINISHED');
    await this.#finishing(kept);
  }

  /** Cancels a competition, or deletes one that is over. Returns true when it was deleted. */
  async cancel(kept: Kept): Promise<boolean> {
    const status = await this.statusOf(kept);
    if (status === 'OPEN' || status === 'RUNNING') {
      const running = await this.#run(kept);
      if (kept.note.settings.market.clock === 'scaled') await running.market.setSpeed(0);
      await running.setPhase('CANCELED', () => this.#save({ ...kept.note, isCanceled: true }));
      await running.market.followersApplied();
      this.#tell(kept);
      return false;
    }
    await this.#remove(kept);
    return true;
  }

  async #remove(kept: Kept): Promise<void> {
    const { simulations } = this.#deps;
    const { note } = kept;
    this.#stopTimers(kept);
    this.#kept.delete(note.id);
    for (const entry of kept.entries.values()) {
      await simulations.directory.remove(entry.simulationId, note.organizer);
      await this.#registry.deleteSetting(entryName(entry));
      this.#places.delete(entry.simulationId);
    }
    await simulations.directory.remove(note.marketId, note.organizer);
    await this.#registry.deleteSetting(competitionName(note.id));
    this.#places.delete(note.marketId);
  }

  /** Enters a tenant. */
  async enter(
    kept: Kept,
    tenantId: string,
    { displayName, joinCode }: { readonly displayName: string; readonly joinCode?: string | undefined },
  ): Promise<EntryNote> {
    await this.refuseOver(kept);
    const { note } = kept;
    if (note.joinCode !== undefined && joinCode !== note.joinCode)
      throw new CompetitionRefused('JOIN_CODE', 'The join code is missing or wrong');
    return this.#enterNow(kept, tenantId, displayName);
  }

  /** Enters a tenant that the organizer has invited: no join code is needed. */
  async enterInvited(
    kept: Kept,
    tenantId: string,
    displayName: string,
  ): Promise<EntryNote & { readonly accountId: string }> {
    await this.refuseOver(kept);
    const entry = await this.#enterNow(kept, tenantId, displayName);
    const { brokerage } = (await this.#run(kept)).simulationOf(entry.id) ?? {};
    const accountId = brokerage?.state.portfolios.get(entry.portfolioId)?.terms.accountId;
    if (accountId === undefined) throw new StoreUnavailable('the simulation of the entry is gone');
    return { ...entry, accountId };
  }

  /** Withdraws the entries of a tenant from a competition that is not over. */
  async withdrawTenant(id: string, tenantId: string): Promise<void> {
    const kept = this.#kept.get(id);
    if (kept === undefined || isSettled(kept.note)) return;
    for (const entry of takingPart(kept)) {
      if (entry.tenantId !== tenantId || entry.simulationId === '') continue;
      await this.removeEntry(kept, entry, { status: 'WITHDRAWN' }).catch((error: unknown) => {
        // The competition has just ended.
        if (!(error instanceof CompetitionRefused && error.problem === 'NOT_RUNNING')) throw error;
      });
    }
  }

  /** Throws `CompetitionRefused` if a competition is over. */
  async refuseOver(kept: Kept): Promise<void> {
    const status = await this.statusOf(kept);
    if (status !== 'OPEN' && status !== 'RUNNING') throw notRunning('The competition is over');
  }

  async #enterNow(kept: Kept, tenantId: string, displayName: string): Promise<EntryNote> {
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
  async #addEntry(kept: Kept, { id }: EntryNote): Promise<EntryNote> {
    const running = await this.#run(kept);
    const { simulations } = this.#deps;
    const { note } = kept;
    const cell = randomUUID();
    const { seed, secret } = drawnFrom(note.draw, 'entry', id);
    const { market } = running;
    const prepare = simulations.creation.prepareEntry.bind(simulations.creation);
    // Without the name of the entry, which its tenant may erase: the hash of the result covers the configuration.
    const prepared = await prepare(market, { seed, idSecret: secret }, cell, () => [
      beginning(note, running.phase),
      {
        type: 'OpenPortfolio',
        by: { tier: note.tier },
        accountId: randomUUID(),
        accountType: 'INDIVIDUAL',
        ...note.settings.portfolio,
        proAccounts: Number.MAX_SAFE_INTEGER,
      },
    ]).catch((error: unknown) => {
      if (!(error instanceof FirstCommandRefused)) throw error;
      throw new CompetitionRefused('BROKER', 'The portfolio of the entry cannot be opened');
    });
    const [portfolioId = ''] = prepared.brokerage.state.portfolios.keys();
    const command: Extract<Command, { type: 'AddEntry' }> = {
      type: 'AddEntry',
      entryId: id,
      cell,
      digest: await beginningDigest(prepared.records),
    };
    let entry: EntryNote | undefined;
    const { result } = await running.record<'AddEntry'>(command, (decided) => {
      const held = kept.entries.get(id);
      if ('code' in decided.result || held === undefined) return undefined;
      entry = { ...held, number: decided.result.number, simulationId: cell, portfolioId };
      this.#enterEntry(kept, entry);
      return Promise.all([prepared.register(), this.#saveEntry(entry)]);
    });
    if ('code' in result || entry === undefined) throw notRunning('The competition is over');
    try {
      const simulation = await simulations.directory.find(cell, note.organizer);
      if (simulation === undefined) throw new StoreUnavailable('the simulation of the entry is gone');
      running.add(kept.entries.get(id) ?? entry, simulation);
    } catch (error) {
      // The next request opens all of them.
      this.#closeRunning(kept);
      throw error;
    }
    kept.hasChanged = true;
    return entry;
  }

  #saveEntry(entry: EntryNote): Promise<void> {
    return this.#registry.saveSetting(entryName(entry), JSON.stringify(entry));
  }

  /** An entry of the tenant, or any entry for the organizer. */
  entryOf(kept: Kept, entryId: string, tenantId: string): EntryNote {
    const entry = kept.entries.get(entryId);
    const isAllowed = entry?.tenantId === tenantId || kept.note.organizer === tenantId;
    if (entry === undefined || entry.simulationId === '' || !isAllowed) throw notFound();
    return entry;
  }

  /** The entry whose simulation this is, with its competition; undefined = it is none. */
  entryIn(simulationId: string): { readonly kept: Kept; readonly entry: EntryNote } | undefined {
    const place = this.#places.get(simulationId);
    if (place?.role !== 'ENTRY') return undefined;
    const { kept } = place;
    const entry = [...kept.entries.values()].find((one) => one.simulationId === simulationId);
    return entry && { kept, entry };
  }

  /** Oldest first. */
  entriesOf(kept: Kept, tenantId: string): readonly EntryNote[] {
    const isOrganizer = kept.note.organizer === tenantId;
    return [...kept.entries.values()].filter(
      (entry) => entry.simulationId !== '' && (isOrganizer || entry.tenantId === tenantId),
    );
  }

  /** The file of a finished competition, piece by piece. */
  async export(kept: Kept): Promise<AsyncGenerator<string>> {
    if ((await this.statusOf(kept)) !== 'FINISHED')
      throw new CompetitionRefused('NOT_FINISHED', 'A competition is exported once it is FINISHED');
    const { note } = kept;
    const result = await this.#resultOf(kept);
    const { simulations, store } = this.#deps;
    const rows = rowsWithNames(result.rows, kept.entries);
    const ranked = new Set(rows.map(({ entryId }) => entryId));
    const entries = [...kept.entries.values()]
      .filter(({ id }) => ranked.has(id))
      .sort((a, b) => a.number - b.number);
    return exportCompetition(store, note, { ...result, rows }, entries, async ({ simulationId }) => {
      const simulation = await simulations.directory.find(simulationId, note.organizer);
      return simulation?.brokerage.state.competition?.points ?? [];
    });
  }

  /** Equity in dollars and return of an entry, as the leaderboard has them; empty for one that is not ranked. */
  async figuresOf(
    id: string,
    entryId: string,
  ): Promise<{ readonly equity?: number; readonly return?: number }> {
    const kept = this.#kept.get(id);
    const row = kept && (await this.board(kept)).rows.find((one) => one.entryId === entryId);
    return row === undefined ? {} : { equity: row.totalEquity, return: row.return };
  }

  /** Reason why an entry is out, from its simulation or the result; undefined if it is not. */
  async removalOf(
    kept: Kept,
    entry: EntryNote,
  ): Promise<
    { readonly status: 'ELIMINATED' | 'DISQUALIFIED' | 'WITHDRAWN'; readonly reason?: string } | undefined
  > {
    const row =
      kept.note.result && (await this.#resultOf(kept)).rows.find(({ entryId }) => entryId === entry.id);
    if (row !== undefined) {
      const { status, reason } = row;
      return status === 'ACTIVE' ? undefined : { status, ...(reason !== undefined && { reason }) };
    }
    if (entry.isCalledOff === true) return { status: 'WITHDRAWN' };
    const simulation = isSettled(kept.note)
      ? await this.#deps.simulations.directory.find(entry.simulationId, kept.note.organizer)
      : (await this.#run(kept)).simulationOf(entry.id);
    const removed = simulation?.brokerage.state.competition?.removed;
    if (removed === undefined) return undefined;
    const { status, reason = removed.rule } = removed;
    return { status, ...(reason !== undefined && { reason }) };
  }

  /** Removes an entry from a competition that is not over. */
  async removeEntry(
    kept: Kept,
    entry: EntryNote,
    removal: { readonly status: 'DISQUALIFIED' | 'WITHDRAWN'; readonly reason?: string },
  ): Promise<void> {
    const status = await this.statusOf(kept);
    if (status !== 'OPEN' && status !== 'RUNNING') throw notRunning('The competition is over');
    const running = await this.#run(kept);
    let calledOff: EntryNote | undefined;
    const command: Extract<Command, { type: 'RemoveEntry' }> = {
      type: 'RemoveEntry',
      cell: entry.simulationId,
      ...removal,
    };
    await running.record<'RemoveEntry'>(command, ({ events }) => {
      const present = kept.entries.get(entry.id);
      const isCalledOff = running.phase === 'OPEN' && removal.status === 'WITHDRAWN';
      if (events.length === 0 || present === undefined || !isCalledOff) return undefined;
      calledOff = { ...present, isCalledOff: true };
      kept.entries.set(entry.id, calledOff);
      kept.names.delete(foldedName(present.displayName));
      return this.#saveEntry(calledOff);
    });
    kept.hasChanged = true;
    if (calledOff !== undefined) running.delete(entry.id);
  }

  /** The leaderboard, at most a second old, computed once for all callers. */
  async board(kept: Kept): Promise<Board> {
    if (kept.note.result !== undefined) return this.#finalBoard(kept);
    const { board } = kept;
    if (board === undefined) return this.#nextBoard(kept, 0);
    // On a clock that runs prices move by themselves.
    const isMoving = kept.note.settings.market.clock !== 'manual' && kept.opened?.phase === 'RUNNING';
    if (!kept.hasChanged && !isMoving) return board.board;
    const age = this.#deps.monotonicMs() - board.madeAt;
    const wait = Math.min(BOARD_MS, board.costMs * COST_SHARE) - age;
    return wait > PATIENCE_MS ? board.board : this.#nextBoard(kept, wait);
  }

  async #finalBoard(kept: Kept): Promise<Board> {
    if (kept.board !== undefined) return kept.board.board;
    const { at, rows, curves } = await this.#resultOf(kept);
    const board = { at: at as Board['at'], rows: rowsWithNames(rows, kept.entries), curves };
    kept.board = { board, madeAt: 0, costMs: 0 };
    return board;
  }

  /** The result of a finished competition, from its cell. */
  async #resultOf({ note }: Kept): Promise<CompetitionResult> {
    const earlier = earlierResult(note);
    if (earlier !== undefined) return earlier;
    const market = await this.#deps.simulations.directory.find(note.marketId, note.organizer);
    const result = market?.brokerage.state.competition?.result;
    if (result === undefined) throw new StoreUnavailable('the competition has no result');
    return result;
  }

  #nextBoard(kept: Kept, waitMs: number): Promise<Board> {
    kept.making ??= this.#makeBoard(kept, waitMs).finally(() => (kept.making = undefined));
    return kept.making;
  }

  async #makeBoard(kept: Kept, waitMs: number): Promise<Board> {
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const running = await this.#run(kept);
    const beganAt = this.#deps.monotonicMs();
    kept.hasChanged = false;
    const { rows, ...made } = await running.board(kept.note);
    // A tenant may have been erased meanwhile.
    const board = { ...made, rows: rowsWithoutNames(rows, erasedOf(kept)) };
    const madeAt = this.#deps.monotonicMs();
    kept.board = { board, madeAt, costMs: madeAt - beganAt };
    return board;
  }

  /** Notifies a follower of the leaderboard at most once a second, until the competition is over. Returns a function that unsubscribes. */
  follow(kept: Kept, follower: Follower): () => void {
    kept.followers.add(follower);
    kept.ticker ??= setInterval(() => {
      if (this.#deps.monotonicMs() >= kept.tellAfter) this.#tell(kept);
    }, BOARD_MS).unref();
    return () => {
      kept.followers.delete(follower);
      if (kept.followers.size > 0) return;
      clearInterval(kept.ticker);
      kept.ticker = undefined;
    };
  }

  /** Notifies all followers. Calls during a notification are merged into one. */
  #tell(kept: Kept): void {
    if (kept.followers.size === 0) return;
    if (kept.telling !== undefined) {
      kept.telling.again = true;
      return;
    }
    const telling = { again: false };
    kept.telling = telling;
    this.#tellAll(kept)
      .catch(() => undefined)
      .finally(() => {
        kept.telling = undefined;
        if (telling.again && isSettled(kept.note)) this.#tell(kept);
      });
  }

  async #tellAll(kept: Kept): Promise<void> {
    const [board, status] = await Promise.all([this.board(kept), this.statusOf(kept)]);
    let bytes = 0;
    let told = 0;
    for (const follower of [...kept.followers]) {
      bytes += follower(board, status);
      if (++told % TOLD_PER_TURN === 0) await nextTurn();
    }
    kept.tellAfter = this.#deps.monotonicMs() + (bytes / BYTES_A_SECOND) * 1000 - BOARD_MS;
  }

  #run(kept: Kept): Promise<RunningCompetition> {
    if (kept.opened?.isOutOfService === true) this.#closeRunning(kept);
    kept.running ??= this.#open(kept).catch((error: unknown) => {
      kept.running = undefined;
      throw error;
    });
    return kept.running;
  }

  #closeRunning(kept: Kept): void {
    kept.opened = undefined;
    kept.running = undefined;
    kept.hasChanged = true;
  }

  async #open(kept: Kept): Promise<RunningCompetition> {
    const { simulations } = this.#deps;
    const { organizer, marketId } = kept.note;
    const market = await simulations.directory.find(marketId, organizer);
    if (market === undefined) throw new StoreUnavailable('the market of the competition is gone');
    const running = new RunningCompetition(market, () => (kept.hasChanged = true));
    for (const entry of kept.entries.values()) {
      if (entry.simulationId === '' || entry.isCalledOff === true) continue;
      const simulation = await simulations.directory.find(entry.simulationId, organizer);
      if (simulation !== undefined) running.add(entry, simulation);
    }
    await this.#carryEntriesOver(kept, running);
    this.#opened(kept, running);
    return running;
  }

  /** Enters the entries of earlier versions, which were notes only, in the cell of their competition. */
  async #carryEntriesOver(kept: Kept, running: RunningCompetition): Promise<void> {
    const { store } = this.#deps;
    for (const { id, simulationId: cell } of [...kept.entries.values()]) {
      const simulation = running.simulationOf(id);
      const { competition } = running.market.brokerage.state;
      if (simulation === undefined || competition?.entries?.has(cell) === true || running.isOver) continue;
      const digest = await beginningDigest(store.journal.read(cell, 0));
      await running.record<'AddEntry'>({ type: 'AddEntry', entryId: id, cell, digest });
      const { status, reason } = simulation.brokerage.state.competition?.removed ?? {};
      if (status === undefined || status === 'ELIMINATED') continue;
      const removal = { status, ...(reason !== undefined && { reason }) };
      await running.record<'RemoveEntry'>({ type: 'RemoveEntry', cell, ...removal });
    }
  }

  /** Moves the result of an earlier version from its note to the cell of its competition. */
  async #carryResultOver(kept: Kept, { rows, ...result }: EarlierResult): Promise<void> {
    const { marketId, organizer } = kept.note;
    const market = await this.#deps.simulations.directory.find(marketId, organizer);
    if (market !== undefined)
      await this.#settle(kept, new RunningCompetition(market, () => undefined), {
        ...result,
        rows: rows.map(withoutName),
      });
  }

  /** Records a result: in the cell of the competition, and that there is one in its note. */
  async #settle(kept: Kept, running: RunningCompetition, result: CompetitionResult): Promise<void> {
    const { at, journalHash } = result;
    const command = { type: 'SettleCompetition', result } as const;
    await running.record<'SettleCompetition'>(command, () =>
      this.#save({ ...kept.note, result: { at, journalHash } }),
    );
    kept.board = undefined;
  }

  /** Watches a competition whose simulations exist; after a crash, continues from the last recorded step. */
  #opened(kept: Kept, running: RunningCompetition): void {
    kept.running = Promise.resolve(running);
    kept.opened = running;
    const { market } = running;
    market.observe(({ events }) => {
      if (kept.opened !== running) return;
      if (!events.some(({ type }) => type === 'CompetitionPhaseChanged')) return;
      if (running.phase === 'FINISHED') this.#finishing(kept).catch(() => undefined);
      else this.#announcePhase(kept, running);
    });
    this.#announcePhase(kept, running);
    const { settings } = kept.note;
    if (settings.market.clock === 'scaled' && !isSettled(kept.note)) this.#followClock(kept, running);
    if (running.phase === 'FINISHED' && kept.note.result === undefined)
      this.#finishing(kept).catch(() => undefined);
  }

  /** Writes the phase for the other nodes of a cluster. */
  #announcePhase(kept: Kept, { phase }: RunningCompetition): void {
    if (this.#deps.store.ownership === undefined || kept.note.phase === phase) return;
    if (phase !== 'RUNNING' && phase !== 'PAUSED') return;
    // The next writer of the note starts from this one.
    kept.note = { ...kept.note, phase };
    this.#save(kept.note).catch(() => undefined);
  }

  /** A scaled clock runs while trading is open; one that begins in the future starts automatically. */
  #followClock(kept: Kept, { market, phase }: RunningCompetition): void {
    const { settings } = kept.note;
    const { speed } = market.clock();
    if (phase === 'RUNNING' && speed === 0)
      void market.setSpeed(settings.market.speed).catch(() => undefined);
    if (phase !== 'RUNNING' && speed > 0) void market.setSpeed(0).catch(() => undefined);
    if (phase !== 'OPEN') return;
    const wait = settings.startsAt - this.#deps.clockMs();
    if (wait > 0) this.#startIn(kept, wait);
  }

  #startIn(kept: Kept, waitMs: number): void {
    clearTimeout(kept.starter);
    kept.starter = setTimeout(
      () => {
        const left = kept.note.settings.startsAt - this.#deps.clockMs();
        if (left > 0) this.#startIn(kept, left);
        else this.startTrading(kept).catch(() => undefined);
      },
      Math.min(waitMs, LONGEST_TIMER_MS),
    ).unref();
  }

  #finishing(kept: Kept): Promise<void> {
    if (kept.note.result !== undefined) return Promise.resolve();
    kept.finishing ??= this.#makeResult(kept).finally(() => (kept.finishing = undefined));
    return kept.finishing;
  }

  /** Marks all positions, ranks them permanently, and hashes the journals. */
  async #makeResult(kept: Kept): Promise<void> {
    const { store } = this.#deps;
    const running = await this.#run(kept);
    // Decided before the end.
    await Promise.allSettled(kept.entering);
    const { market } = running;
    if (kept.note.settings.market.clock === 'scaled') await market.setSpeed(0);
    await running.catchUp();
    const { rows, curves } = await running.board(kept.note);
    const simulations = [market, ...running.simulations];
    const records = simulations.map(({ id, published }) => [id, published] as const);
    const journalHash = await journalHashOf(store, records);
    const at = running.finishedAt ?? Math.min(market.now(), Math.max(...ends(running)));
    await this.#settle(kept, running, { at, rows: rows.map(withoutName), curves, journalHash, records });
    this.#tell(kept);
  }

  async #save(note: CompetitionNote): Promise<void> {
    await this.#registry.saveSetting(competitionName(note.id), JSON.stringify(note));
    const kept = this.#kept.get(note.id);
    if (kept !== undefined) kept.note = note;
  }

  #stopTimers(kept: Kept): void {
    clearInterval(kept.ticker);
    clearTimeout(kept.starter);
    kept.ticker = undefined;
  }

  /** Removes everything that a tenant organizes, and the tenant from its entries, before the tenant is erased. */
  async eraseTenant(tenantId: string): Promise<void> {
    for (const kept of [...this.#kept.values()])
      if (kept.note.organizer === tenantId) {
        // Open streams receive the cancellation.
        const isRemoved = await this.cancel(kept).catch(() => false);
        if (!isRemoved) await this.#remove(kept);
      } else
        for (const entry of kept.entries.values())
          if (entry.tenantId === tenantId) this.#forgetEntrant(kept, entry);
    await eraseNotes(this.#registry, tenantId);
  }

  /** Takes the tenant and the name from an entry, and the name from boards and the result (D279). */
  #forgetEntrant(kept: Kept, entry: EntryNote): void {
    const erased = withoutTenant(entry);
    kept.entries.set(entry.id, erased);
    kept.names.delete(foldedName(entry.displayName));
    kept.opened?.rename(erased);
    kept.board = undefined;
    this.#tell(kept);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const kept of this.#kept.values()) this.#stopTimers(kept);
    await this.#opening;
    for (const kept of this.#kept.values()) await kept.finishing?.catch(() => undefined);
  }
}

export type KeptCompetition = Kept;

/** The caller: a tenant, or an entry by its token. */
export interface Viewer {
  readonly tenantId: string;
  readonly simulationId: string;
  readonly isEntry: boolean;
}

function isVisible({ note, entries }: Kept, viewer: Viewer | undefined): boolean {
  if (note.settings.isPublic) return true;
  if (viewer === undefined) return false;
  const { tenantId, simulationId, isEntry } = viewer;
  if (isEntry) return [...entries.values()].some((entry) => entry.simulationId === simulationId);
  return note.organizer === tenantId || [...entries.values()].some((entry) => entry.tenantId === tenantId);
}

const isSettled = (note: CompetitionNote): boolean => note.result !== undefined || note.isCanceled === true;

const earlierResult = ({ result }: CompetitionNote): EarlierResult | undefined =>
  result !== undefined && 'rows' in result ? result : undefined;

const withoutName = ({ displayName: _, ...row }: LeaderboardRow): CompetitionRank => row;

/** The first command of a simulation of a competition. */
const beginning = (
  { settings, shown, masked }: Pick<CompetitionNote, 'settings' | 'shown' | 'masked'>,
  phase: CompetitionPhase,
): Command => ({
  type: 'BeginCompetition',
  terms: { ...termsOf(settings, masked), settingsHash: settingsHash(shown) },
  phase,
});

/** Ids of the entries of erased tenants. */
const erasedOf = ({ entries }: Kept): ReadonlySet<string> =>
  new Set([...entries.values()].flatMap(({ id, tenantId }) => (tenantId === '' ? [id] : [])));

/** Entries that count: those withdrawn before the start do not. */
const takingPart = ({ entries }: Kept): readonly EntryNote[] =>
  [...entries.values()].filter(({ isCalledOff }) => isCalledOff !== true);

const ends = (running: RunningCompetition): readonly number[] => [
  running.market.brokerage.state.competition?.terms.endsAt ?? 0,
];

/** Without the name, and without the instant at which the simulation of a wall clock begins: that of the request. */
const marketPart = ({ market, seed, startsAt, endsAt, mask }: CompetitionSettings): unknown => [
  { ...market, name: undefined, start: undefined },
  mask ?? null,
  seed ?? null,
  startsAt,
  endsAt,
];
const rulesOf = ({ rules, portfolio, entriesPerTenant, minTrades }: CompetitionSettings): string =>
  JSON.stringify([rules, portfolio, entriesPerTenant, minTrades]);

/** Without characters that are mistaken for others. */
const CODE_LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const newJoinCode = (): string =>
  Array.from({ length: 10 }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');

const notFound = (): CompetitionRefused => new CompetitionRefused('NOT_FOUND', 'Competition not found');
const notRunning = (message: string): CompetitionRefused => new CompetitionRefused('NOT_RUNNING', message);
