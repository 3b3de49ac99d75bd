import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Tier } from '@sandpit/core';
import type { Simulation } from '../engine/simulation/simulation.js';
import { drawnFrom } from './competition-file.js';
import type { CompetitionDeps, CompetitionDirectory } from './directory.js';
import { CompetitionRefused } from './errors.js';
import { isSettled, stopTimers, takingPart } from './kept-competition.js';
import type { KeptCompetition } from './kept-competition.js';
import type { CompetitionLifecycle } from './lifecycle.js';
import { cellName } from './notes.js';
import type { CompetitionNote, CompetitionSettings, ShownCompetition } from './notes.js';
import { beginning, maskedCompetition } from './running-competition.js';

/** Competitions that a tenant may have in OPEN or RUNNING. */
const MOST_AT_ONCE = 100;

/** Creates competitions with their markets, and edits them. */
export class CompetitionCreation {
  readonly #deps: CompetitionDeps;
  readonly #directory: CompetitionDirectory;
  readonly #lifecycle: CompetitionLifecycle;

  constructor(deps: CompetitionDeps, directory: CompetitionDirectory, lifecycle: CompetitionLifecycle) {
    this.#deps = deps;
    this.#directory = directory;
    this.#lifecycle = lifecycle;
  }

  /** Creates a competition with its market. */
  async create(
    { tenantId, tier }: { readonly tenantId: string; readonly tier: Tier },
    settings: CompetitionSettings,
    shown: ShownCompetition,
  ): Promise<KeptCompetition> {
    const atOnce = [...this.#directory.byId.values()].filter(
      ({ note }) => note.organizer === tenantId && !isSettled(note),
    );
    if (atOnce.length >= MOST_AT_ONCE)
      throw new CompetitionRefused('TOO_MANY', `A tenant has at most ${MOST_AT_ONCE} competitions at once`);
    const basis = {
      id: randomUUID(),
      organizer: tenantId,
      tier,
      createdAt: this.#deps.clockMs(),
      settings,
      shown,
      draw: randomBytes(16).toString('hex'),
      ...(settings.needsCode && { joinCode: newJoinCode() }),
    };
    const { market, note } = await this.#createMarket(basis);
    const kept = this.#directory.enter(note);
    this.#lifecycle.begin(kept, market);
    return kept;
  }

  /** Edits a competition; market, rules and scoring until the first entry exists. */
  async update(
    kept: KeptCompetition,
    settings: CompetitionSettings,
    wanted: ShownCompetition,
  ): Promise<void> {
    if ((await this.#lifecycle.statusOf(kept)) !== 'OPEN')
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
    if (!isFixed) return this.#directory.save(edited);
    const replacing = this.#replaceMarket(kept, edited);
    kept.editing = replacing.catch(() => undefined);
    await replacing;
  }

  async #replaceMarket(
    kept: KeptCompetition,
    { marketId: replaced, masked: _, ...basis }: CompetitionNote,
  ): Promise<void> {
    const { market, note } = await this.#createMarket(basis, replaced);
    this.#directory.replaceMarket(kept, note, replaced);
    stopTimers(kept);
    this.#lifecycle.begin(kept, market);
    await this.#directory.discard(replaced, note.organizer);
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
    const { creation } = this.#deps.simulations;
    const market = await creation.createCompetitionMarket(organizer, config, marketId, (feed) => {
      const masked = parts === undefined ? undefined : maskedCompetition(settings, parts, feed);
      if (masked !== undefined) note = { ...note, masked };
      return {
        commands: [beginning(note, 'OPEN')],
        alongside: () =>
          Promise.all([
            this.#directory.save(note),
            replaced === undefined
              ? undefined
              : this.#deps.store.registry.saveSetting(cellName(replaced), organizer),
          ]),
      };
    });
    return { market, note };
  }
}

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
