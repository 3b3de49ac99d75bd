import {
  type CompetitionFigures,
  competitionFigures,
  type EquityPoint,
  PresentFigures,
} from '@sandpit/analytics';
import { calendarById, Instant, isOver, marketHours, worthOf } from '@sandpit/core';
import type {
  Brokerage,
  Command,
  Competition,
  CompetitionCurve,
  CompetitionPhase,
  CompetitionPoint,
  CompetitionTerms,
  Outcome,
  Portfolio,
} from '@sandpit/core';
import type { MaskParts } from '../engine/configuration/simulation-config.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { Slice } from '../engine/scheduling/slice.js';
import { CompetitionRefused } from './errors.js';
import { settingsHash } from './journal-hash.js';
import { rankingOf } from './leaderboard.js';
import type { LeaderboardRow, Standing } from './leaderboard.js';
import type { CompetitionNote, CompetitionSettings, EntryNote, MaskedCompetition } from './notes.js';

/** Sessions below which equity counts at every full hour as well (D194). */
const SHORT_SESSIONS = 20;
/** Curves that are shown. */
const MOST_CURVES = 10;

/** The ranking at an instant. */
export interface Board {
  /** Simulated. */
  readonly at: Instant;
  readonly rows: readonly LeaderboardRow[];
  readonly curves: readonly CompetitionCurve[];
}

/** Rules for the simulations of a competition, without the hash of its settings. */
export function termsOf(
  { market, startsAt, endsAt, rules }: CompetitionSettings,
  masked: MaskedCompetition | undefined,
): CompetitionTerms {
  return {
    startsAt: masked === undefined ? startsAt : Instant.ofMs(masked.startsAt),
    endsAt: masked === undefined ? endsAt : Instant.ofMs(masked.endsAt),
    ...(market.clock === 'wall' && { startsByItself: true as const }),
    ...(isShort(market.calendar, startsAt, endsAt) && { isHourly: true as const }),
    rules: { ...rules, ...(masked?.symbols !== undefined && { symbols: masked.symbols }) },
  };
}

/** The first command of a simulation of a competition. */
export const beginning = (
  { settings, shown, masked }: Pick<CompetitionNote, 'settings' | 'shown' | 'masked'>,
  phase: CompetitionPhase,
): Command => ({
  type: 'BeginCompetition',
  terms: { ...termsOf(settings, masked), settingsHash: settingsHash(shown) },
  phase,
});

/**
 * Market and rules of a competition behind the mask of its market. Throws `CompetitionRefused` when a rule names a symbol that is not
 * recorded.
 */
export function maskedCompetition(
  { startsAt, endsAt, market, rules }: CompetitionSettings,
  parts: MaskParts,
  { mask }: Pick<Simulation['feed'], 'mask'>,
): MaskedCompetition {
  if (mask === undefined) throw new Error('The market has no mask');
  const tickers = (symbols: readonly string[]): readonly string[] => symbols.map((one) => mask.masked(one));
  const unknown = (rules.symbols ?? []).filter((symbol) => mask.recorded(mask.masked(symbol)) === undefined);
  if (unknown.length > 0)
    throw new CompetitionRefused('NOT_RECORDED', `rules.symbols: ${unknown.join(', ')} is not recorded`);
  return {
    parts,
    startsAt: mask.at(startsAt),
    endsAt: mask.at(endsAt),
    ...(market.replay?.symbols !== undefined && { replay: tickers(market.replay.symbols) }),
    ...(rules.symbols !== undefined && { symbols: tickers(rules.symbols) }),
  };
}

function isShort(
  calendar: CompetitionSettings['market']['calendar'],
  startsAt: Instant,
  endsAt: Instant,
): boolean {
  const hours = marketHours(calendarById(calendar), 'EQUITIES');
  let close = hours.nextClose('REGULAR', startsAt);
  for (let sessions = 0; sessions < SHORT_SESSIONS; sessions++) {
    if (close > endsAt) return true;
    close = hours.nextClose('REGULAR', close);
  }
  return close > endsAt;
}

type CompetitionCommand = 'AddEntry' | 'RemoveEntry' | 'SetCompetitionPhase' | 'SettleCompetition';
type Alongside<T extends CompetitionCommand> = (outcome: Outcome<T>) => Promise<unknown> | undefined;

/**
 * Records a decision in the cell of a competition or an evaluation. `alongside` is called in the turn, which is the commit, of its record.
 */
export async function recordIn<T extends CompetitionCommand>(
  cell: Simulation,
  command: Extract<Command, { type: T }>,
  alongside: Alongside<T> = () => undefined,
): Promise<Outcome<T>> {
  let written: Promise<unknown> | undefined;
  const outcome = await cell.submit<T>(command, (decided) => {
    written = alongside(decided);
    written?.catch(() => undefined);
    return undefined;
  });
  await written;
  return outcome;
}

interface RunningEntry {
  readonly note: EntryNote;
  readonly simulation: Simulation;
  /** Figures after a number of points. */
  figures?: { readonly points: number; readonly present: PresentFigures };
}

/** A competition whose simulations are in memory: its market and the simulation of each entry. */
export class RunningCompetition {
  readonly market: Simulation;
  readonly #entries = new Map<string, RunningEntry>();

  readonly #onRecord: () => void;

  /** `onRecord` is called after each record of one of its simulations. */
  constructor(market: Simulation, onRecord: () => void) {
    this.market = market;
    this.#onRecord = onRecord;
    market.observe(onRecord);
  }

  get phase(): CompetitionPhase {
    return this.market.brokerage.state.competition?.phase ?? 'OPEN';
  }

  /** True when one of its simulations was dropped: requests go to another one that was opened in its place. */
  get isOutOfService(): boolean {
    return this.market.isOutOfService || this.simulations.some((simulation) => simulation.isOutOfService);
  }

  get isOver(): boolean {
    return isOver(this.phase);
  }

  /** Instant of the final equity of the entries; undefined without an entry. Simulated, ms. */
  get finishedAt(): number | undefined {
    const last = this.simulations.flatMap(
      ({ brokerage }) => brokerage.state.competition?.points.at(-1)?.at ?? [],
    );
    return last.length > 0 ? Math.max(...last) : undefined;
  }

  add(note: EntryNote, simulation: Simulation): void {
    this.#entries.set(note.id, { note, simulation });
    simulation.observe(this.#onRecord);
  }

  /** Applies another name to an entry. */
  rename(note: EntryNote): void {
    const entry = this.#entries.get(note.id);
    if (entry !== undefined) this.#entries.set(note.id, { ...entry, note });
  }

  /** Leaves out an entry that did not take part. */
  delete(entryId: string): void {
    this.#entries.delete(entryId);
  }

  simulationOf(entryId: string): Simulation | undefined {
    return this.#entries.get(entryId)?.simulation;
  }

  /** In the order of entering. */
  get simulations(): readonly Simulation[] {
    return [...this.#entries.values()]
      .sort((a, b) => a.note.number - b.note.number)
      .map(({ simulation }) => simulation);
  }

  /** Records a decision in the market, which its entries follow. */
  record<T extends CompetitionCommand>(
    command: Extract<Command, { type: T }>,
    alongside?: Alongside<T>,
  ): Promise<Outcome<T>> {
    return recordIn(this.market, command, alongside);
  }

  /** Changes the phase of the market. */
  async setPhase(
    phase: Exclude<CompetitionPhase, 'OPEN'>,
    alongside?: () => Promise<unknown>,
  ): Promise<void> {
    await this.record<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase }, alongside);
  }

  /** Resolves when the market and every entry have processed everything up to now, durably. */
  async catchUp(): Promise<void> {
    await this.market.catchUp();
    await this.market.followersApplied();
    for (const simulation of this.simulations) await simulation.catchUp();
  }

  /** Ranks the entries at current prices. The cost of an entry grows with its positions; the event loop runs between entries. */
  async board({ settings }: CompetitionNote): Promise<Board> {
    const { market } = this;
    const entries = [...this.#entries.values()];
    const held = new Set<string>();
    for (const { simulation } of entries) {
      const { holders, optionHolders } = simulation.brokerage.state;
      for (const symbol of holders.keys()) held.add(symbol);
      for (const symbol of optionHolders.keys()) held.add(symbol);
    }
    const marks = await market.read([], (brokerage) => new Marks(brokerage, held), held);
    const slice = new Slice();
    const standings: Standing[] = [];
    const curves = new Map<string, () => CompetitionCurve['points']>();
    for (const entry of entries) {
      const { note, simulation } = entry;
      const { state } = simulation.brokerage;
      const [portfolio] = state.portfolios.values();
      const { competition } = state;
      if (portfolio === undefined || competition === undefined) continue;
      const { standing, points } = standingOf(entry, competition, portfolio, marks);
      standings.push(standing);
      curves.set(note.id, points);
      await slice.breathe();
    }
    for (const { simulation } of entries) await simulation.durable();
    const rows = rankingOf(standings, settings.scoring, settings.minTrades);
    return {
      at: marks.at,
      rows,
      curves: rows
        .slice(0, MOST_CURVES)
        .map(({ entryId }) => ({ entryId, points: curves.get(entryId)?.() ?? [] })),
    };
  }
}

/** Marks of holdings, by the market at one instant. */
class Marks {
  readonly at: Instant;
  readonly #brokerage: Brokerage;
  readonly #marks: ReadonlyMap<string, ReturnType<Brokerage['mark']>>;

  constructor(brokerage: Brokerage, symbols: Iterable<string>) {
    this.at = brokerage.at;
    this.#brokerage = brokerage;
    this.#marks = new Map([...symbols].map((symbol) => [symbol, brokerage.mark(symbol)]));
  }

  mark(symbol: string): ReturnType<Brokerage['mark']> {
    return this.#marks.get(symbol);
  }

  instrument(symbol: string): ReturnType<Brokerage['instrument']> {
    return this.#brokerage.instrument(symbol);
  }
}

const DOLLAR = 10_000;

function standingOf(
  entry: RunningEntry,
  competition: Competition,
  portfolio: Portfolio,
  marks: Marks,
): { readonly standing: Standing; readonly points: () => CompetitionCurve['points'] } {
  const { note } = entry;
  const { phase, points } = competition;
  if (isOver(phase) && points.length > 0)
    return { standing: settledStanding(note, competition), points: () => points.map(curvePoint) };
  const present = { at: marks.at, equity: worthOf(portfolio, marks).totalEquity };
  if (entry.figures?.points !== points.length) {
    const noted = points.length > 0 ? points : [{ at: marks.at, equity: portfolio.terms.initialCash }];
    entry.figures = { points: points.length, present: new PresentFigures(noted.map(equityPoint)) };
  }
  return {
    standing: standingFrom(note, competition, present.equity, entry.figures.present.at(equityPoint(present))),
    points: () => [...points, present].map(curvePoint),
  };
}

/** An entry at the end of the competition. */
export const settledStanding = (
  entry: Pick<EntryNote, 'id' | 'displayName'>,
  competition: Competition,
): Standing => {
  const { points } = competition;
  const figures = competitionFigures(points.map(equityPoint));
  return standingFrom(entry, competition, points.at(-1)?.equity ?? 0, figures);
};

const standingFrom = (
  { id, displayName }: Pick<EntryNote, 'id' | 'displayName'>,
  { trades, removed }: Competition,
  totalEquity: number,
  figures: CompetitionFigures,
): Standing => ({
  entryId: id,
  displayName,
  totalEquity,
  figures,
  trades,
  status: removed?.status ?? 'ACTIVE',
  ...(removed !== undefined && { removedAt: removed.at }),
  ...(removed?.reason !== undefined && { reason: removed.reason }),
});

const curvePoint = ({ at, equity }: CompetitionPoint): readonly [number, number] => [at, equity];

const equityPoint = ({ at, equity }: CompetitionPoint): EquityPoint => ({ at, equity: equity / DOLLAR });
