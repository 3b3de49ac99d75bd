/** Competitions between JSON and the engine (D194–D196). */
import { calendarById, type CompetitionRules, Instant } from '@sandpit/core';
import type {
  Competition,
  CompetitionBody,
  Entry,
  EvaluationMarket,
  Leaderboard,
  LeaderboardCurves,
  UpdateCompetitionBody,
} from '@sandpit/protocol';
import type { KeptCompetition, Status } from '../../competitions/kept-competition.js';
import type { CompetitionSettings, EntryNote, MaskedCompetition } from '../../competitions/notes.js';
import type { MaskParts } from '../../engine/configuration/simulation-config.js';
import type { Regime } from '../../feeds/regime.js';
import type { Board } from '../../competitions/running-competition.js';
import { plainSymbol } from './instruments.js';
import { endOf, instantOf, isoOfMs } from './instants.js';
import { moneyNumber, moneyOf, priceOf } from './numbers.js';
import { maskPartsOf, simulationConfigOf } from './simulations.js';

const MOST_ENTRANTS = 10_000;
/** Percentages of rules are in 1/10,000 of a percent. */
const percentOf = (percent: number): number => Math.round(percent * 10_000);

/** A competition, or a scenario of an evaluation, whose market may have a regime. */
type BodyWithMarket = Omit<CompetitionBody, 'market'> & {
  readonly market: CompetitionBody['market'] & Pick<EvaluationMarket, 'regime'>;
};

/** Settings of the competition that a body describes, or their problems. */
export function settingsOf(
  body: BodyWithMarket,
  nowMs: number,
  brokers: ReadonlyMap<string, unknown>,
): CompetitionSettings | readonly string[] {
  const { market, rules } = body;
  const { start, end, seed, mask: _, replay, luld, regime, ...simulated } = market;
  const mask = maskOf(market);
  const wanted = simulationConfigOf(
    {
      ...simulated,
      name: body.name,
      scripts: false,
      ...(replay !== undefined && { replay }),
      ...(luld !== undefined && { luld }),
      ...(market.clock !== 'wall' && { start }),
    },
    nowMs,
  );
  const calendar = calendarById(wanted.calendar);
  const startsAt = instantOf(start, calendar);
  const endsAt = endOf(end, calendar);
  const problems: string[] = [];
  if (endsAt <= startsAt) problems.push('market.end must be after market.start');
  if (market.clock === 'wall' && endsAt <= nowMs) problems.push('market.end must be in the future');
  if (endsAt > Instant.last) problems.push('market.end must be between 1970-01-01 and 2199-12-31');
  if (!brokers.has(rules.brokerId))
    problems.push(`rules.brokerId must be one of ${[...brokers.keys()].join(', ')}`);
  if (problems.length > 0) return problems;
  const today = calendar.dateOf(startsAt);
  return {
    name: body.name,
    market: {
      ...wanted,
      start: market.clock === 'wall' ? Instant.min(startsAt, Instant.ofMs(nowMs)) : startsAt,
      ...(regime !== undefined && { regime: regimeOf(regime, startsAt) }),
    },
    ...(seed !== undefined && { seed }),
    ...(mask !== undefined && { mask }),
    startsAt,
    endsAt,
    rules: rulesOf(rules, (symbol) => plainSymbol(symbol, today)),
    portfolio: {
      initialCash: moneyOf(rules.initialCash),
      portfolioType: rules.portfolioType,
      brokerId: rules.brokerId,
      fillModel: rules.fillModel ?? 'quote',
    },
    entriesPerTenant: rules.entriesPerTenant ?? 1,
    minTrades: rules.minTrades ?? 1,
    scoring: body.scoring,
    needsCode: body.entry === 'CODE',
    capacity: body.capacity ?? MOST_ENTRANTS,
    isPublic: body.visibility === 'PUBLIC',
  };
}

/** Without an edge, volatility is the usual one, and nothing is expected to change. */
const regimeOf = (regime: NonNullable<EvaluationMarket['regime']>, start: Instant): Regime =>
  regime === 'no-edge' ? { start, drift: 0 } : { start, ...regime };

/** Settings of an exported competition: its broker and its dates are in its journals, independent of this server's. */
export function settingsFiled(filed: unknown): CompetitionSettings | readonly string[] {
  const body = filed as CompetitionBody;
  return settingsOf(body, 0, new Map([[body.rules.brokerId, undefined]]));
}

/** A recording is masked unless the organizer shows it. By a clock on the wall its dates cannot be moved. */
function maskOf({ feed, clock, mask }: CompetitionBody['market']): MaskParts | undefined {
  if (feed !== 'replay') return undefined;
  const parts = maskPartsOf(mask ?? true, 'SESSIONS');
  return parts && (clock === 'wall' && mask === undefined ? { ...parts, dates: false } : parts);
}

function rulesOf(rules: CompetitionBody['rules'], symbolOf: (symbol: string) => string): CompetitionRules {
  const { optionLevel, shortSelling, latencyProfile, maxPositionPercent, maxOrdersPerMinute } = rules;
  const { minPrice, symbols, maxDailyLossPercent, trailingDrawdownPercent } = rules;
  return {
    assetClasses: rules.assetClasses,
    ...(symbols !== undefined && { symbols: symbols.map(symbolOf) }),
    ...(optionLevel !== undefined && { optionLevel }),
    ...(shortSelling !== undefined && { shortSelling }),
    ...(latencyProfile !== undefined && { latencyProfile }),
    ...(maxPositionPercent !== undefined && { maxPosition: percentOf(maxPositionPercent) }),
    ...(maxOrdersPerMinute !== undefined && { maxOrdersPerMinute }),
    ...(minPrice !== undefined && { minPrice: priceOf(minPrice) }),
    ...(maxDailyLossPercent !== undefined && { maxDailyLoss: percentOf(maxDailyLossPercent) }),
    ...(trailingDrawdownPercent !== undefined && { trailingDrawdown: percentOf(trailingDrawdownPercent) }),
  };
}

/** The body of a competition after an edit. */
export const edited = (before: CompetitionBody, changes: UpdateCompetitionBody): CompetitionBody => ({
  ...before,
  ...changes,
});

/** A competition as it travels. `now`: by the clock of its market. */
export function competitionOf(
  kept: KeptCompetition,
  status: Status,
  { isOrganizer, now, isPaused }: { isOrganizer: boolean; now?: Instant | undefined; isPaused: boolean },
): Competition {
  const { note, entries } = kept;
  const { name, market, rules, scoring, entry, capacity, visibility } = note.shown as CompetitionBody;
  return {
    competitionId: note.id,
    name,
    status,
    paused: isPaused,
    ...(isOrganizer || note.masked === undefined
      ? { market, rules }
      : maskedTerms(market, rules, note.masked)),
    scoring,
    entry,
    ...(capacity !== undefined && { capacity }),
    visibility,
    entries: [...entries.values()].filter(({ isCalledOff }) => isCalledOff !== true).length,
    isOrganizer,
    ...(now !== undefined && { now: isoOfMs(now) }),
    ...(isOrganizer && { simulationId: note.marketId }),
    ...(isOrganizer && note.joinCode !== undefined && { joinCode: note.joinCode }),
    ...(note.result !== undefined && { journalHash: note.result.journalHash }),
    createdAt: isoOfMs(note.createdAt),
  };
}

/** Market and rules without a symbol or date of the recording. */
const maskedTerms = (
  { replay: _, ...market }: CompetitionBody['market'],
  rules: CompetitionBody['rules'],
  { parts, startsAt, endsAt, replay, symbols }: MaskedCompetition,
): Pick<Competition, 'market' | 'rules'> => ({
  market: {
    ...market,
    start: isoOfMs(startsAt),
    end: isoOfMs(endsAt),
    ...(replay !== undefined && { replay: replay.join(',') }),
    mask: parts,
  },
  rules: { ...rules, ...(symbols !== undefined && { symbols: [...symbols] }) },
});

export function entryOf(
  { id, competitionId, displayName, portfolioId, simulationId, createdAt }: EntryNote,
  removal: { readonly status: Entry['status']; readonly reason?: string } | undefined,
): Entry {
  return {
    entryId: id,
    competitionId,
    displayName,
    portfolioId,
    simulationId,
    status: removal?.status ?? 'ACTIVE',
    ...(removal?.reason !== undefined && { reason: removal.reason }),
    createdAt: isoOfMs(createdAt),
  };
}

export function leaderboardOf({ note }: KeptCompetition, status: Status, { at, rows }: Board): Leaderboard {
  return {
    competitionId: note.id,
    at: isoOfMs(at),
    status,
    rows: rows.map(({ reason: _, ...row }) => row),
    ...(note.result !== undefined && { journalHash: note.result.journalHash }),
  };
}

export function curvesOf({ note, entries }: KeptCompetition, { at, rows, curves }: Board): LeaderboardCurves {
  return {
    competitionId: note.id,
    at: isoOfMs(at),
    curves: curves.map(({ entryId, points }) => ({
      rank: rows.find((row) => row.entryId === entryId)?.rank ?? 0,
      entryId,
      displayName: entries.get(entryId)?.displayName ?? '',
      points: points.map(([pointAt, equity]) => ({
        at: isoOfMs(pointAt),
        equity: moneyNumber(equity as Parameters<typeof moneyNumber>[0]),
      })),
    })),
  };
}
