/**
 * Verification of the file of a competition (D196). Every journal in it is executed again; the first line of the file is then compared with
 * the journals, field by field.
 */
import { TradingDate } from '@sandpit/core';
import type { Competition, PortfolioTerms } from '@sandpit/core';
import { BeginningDigest } from '../engine/recovery/first-records.js';
import { maskedConfig, movedBy } from '../engine/configuration/masked-config.js';
import type { MaskParts } from '../engine/configuration/simulation-config.js';
import { listName } from '../engine/configuration/rules-in-force.js';
import { linesOfFile, SimulationFileReader } from '../engine/transfers/simulation-file.js';
import type { FiledConfig, FiledSimulation } from '../engine/transfers/file-header.js';
import { verifyRecords } from '../engine/recovery/verify.js';
import type { JournalRecord } from '../store/journal.js';
import { drawnFrom, filedEquity, FORMAT } from './competition-file.js';
import type { CompetitionHeader, FiledEntry } from './competition-file.js';
import { combinedHash, settingsHash } from './journal-hash.js';
import { rankingOf } from './leaderboard.js';
import type { LeaderboardRow, Scoring, Standing } from './leaderboard.js';
import type { CompetitionSettings, ShownCompetition } from './notes.js';
import { settledStanding, termsOf } from './running-competition.js';

/** Fields of the first line that no journal has: they can be edited until trading starts, and affect no decision. */
export const UNVERIFIED = ['name', 'entry', 'capacity', 'visibility'] as const;

/** Bytes of the first line, which has all entries with their equity. */
const LONGEST_HEADER = 256 * 1024 * 1024;

/** Reads the settings of a competition from its body; the texts are its problems. */
export type ReadSettings = (shown: unknown) => CompetitionSettings | readonly string[];

/** A simulation of a file after its journal was executed again. */
export interface SimulationInForce extends FiledSimulation {
  readonly competition: Competition | undefined;
  /** `beginningDigest` of its records. */
  readonly digest: string;
  /** Present for an entry. */
  readonly portfolio: PortfolioTerms | undefined;
}

/** The journals of a file. */
interface ExecutedFile {
  readonly header: CompetitionHeader;
  readonly simulations: readonly SimulationInForce[];
  readonly records: number;
  /** Hash over the journals (D196). */
  readonly journalHash: string;
  /** Problems inside the journals. */
  readonly problems: readonly string[];
}

/** Result of a verification. */
export interface CompetitionVerdict {
  readonly header: CompetitionHeader;
  /** The ranking that follows from the journals, by the requested scoring. */
  readonly rows: readonly LeaderboardRow[];
  readonly records: number;
  /** Empty = the first line and the result follow from the journals. */
  readonly problems: readonly string[];
}

/** Verifies the file of a competition. `scoring`: another one for the ranking that is returned. */
export async function verifyCompetition(
  path: string,
  readSettings: ReadSettings,
  scoring?: Scoring,
): Promise<CompetitionVerdict> {
  const file = await executeFile(path);
  const { header, records, problems } = file;
  const rows = rankingOf(standingsOf(file), scoring ?? header.scoring, header.minTrades);
  return { header, rows, records, problems: [...problems, ...headerProblems(file, readSettings)] };
}

/** Executes every journal of a file again. Throws if the file is not an export of a competition or is truncated. */
export async function executeFile(path: string): Promise<ExecutedFile> {
  const lines = linesOfFile(path, LONGEST_HEADER);
  const header = headerIn(lines.next().value as string | undefined);
  const problems: string[] = [];
  const hashes: string[] = [];
  const simulations: SimulationInForce[] = [];
  let records = 0;
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const reader = new SimulationFileReader();
    const first = reader.read(next.value);
    if (first.type !== 'header') throw new Error('a simulation of the file has no header');
    const { simulationId, config } = first.simulation;
    const digest = new BeginningDigest();
    const { problems: found, state } = await verifyRecords(
      recordsOf(reader, lines, digest),
      { setting: (name) => lists(reader).get(name) },
      config,
    );
    problems.push(...found.map((text) => `${simulationId}: ${text}`));
    if (!reader.isOver) throw new Error('the file is cut short');
    records += reader.records;
    hashes.push(reader.hash);
    const [portfolio] = state.portfolios.values();
    simulations.push({
      simulationId,
      config,
      competition: state.competition,
      digest: digest.hex,
      portfolio: portfolio?.terms,
    });
  }
  return { header, simulations, records, journalHash: combinedHash(hashes), problems };
}

function headerIn(line: string | undefined): CompetitionHeader {
  const header = JSON.parse(line ?? 'null') as Partial<CompetitionHeader> | null;
  if (header?.type !== 'competition') throw new Error('the file is not the export of a competition');
  if (header.format !== FORMAT) throw new Error('the file was written by a later version');
  return header as CompetitionHeader;
}

/** Lists of rules that a reader has come across. */
const LISTS = new WeakMap<SimulationFileReader, Map<string, string>>();
function lists(reader: SimulationFileReader): Map<string, string> {
  const known = LISTS.get(reader) ?? new Map<string, string>();
  LISTS.set(reader, known);
  return known;
}

function* recordsOf(
  reader: SimulationFileReader,
  lines: Generator<string>,
  digest: BeginningDigest,
): Generator<Omit<JournalRecord, 'simulationId'>> {
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const line = reader.read(next.value);
    if (line.type === 'trailer') return;
    if (line.type === 'list') lists(reader).set(listName(line.digest), line.text);
    if (line.type !== 'record') continue;
    digest.add(line.record);
    yield line.record;
  }
}

/** Id of an entry and its final figures, from its journal. Simulations without an entry are left out. */
function standingsOf({ header, simulations }: ExecutedFile): readonly Standing[] {
  const entries = new Map(header.entries.map((entry) => [entry.simulationId, entry]));
  return simulations.flatMap(({ simulationId, competition }) => {
    const entry = entries.get(simulationId);
    if (entry === undefined || competition === undefined) return [];
    return [settledStanding({ id: entry.entryId, displayName: entry.displayName }, competition)];
  });
}

/** Differences between the first line of a file and its journals. */
export function headerProblems(file: ExecutedFile, readSettings: ReadSettings): readonly string[] {
  const { header, simulations, journalHash } = file;
  const problems: string[] = [];
  const check = (isRight: boolean, problem: string): void => {
    if (!isRight) problems.push(problem);
  };
  const entries = new Map(header.entries.map((entry) => [entry.simulationId, entry]));
  const [market, ...others] = simulations;
  check(market?.simulationId === header.marketId, 'marketId is not the first simulation of the file');
  check(
    sameList(
      others.map(({ simulationId }) => simulationId),
      header.entries.map(({ simulationId }) => simulationId),
    ),
    'entries are not the simulations of the file',
  );
  for (const simulation of simulations) {
    const { simulationId, competition } = simulation;
    const entry = entries.get(simulationId);
    problems.push(...originProblems(header, simulation, entry));
    if (competition === undefined) problems.push(`${simulationId}: it took part in no competition`);
    else if (entry !== undefined) problems.push(...entryProblems(simulation, competition, entry));
  }
  problems.push(...problemsOfEntries(header, simulations));
  check(journalHash === header.result.journalHash, 'the hash of the journals is not that of the result');
  check(
    sameList(rankingOf(standingsOf(file), header.scoring, header.minTrades), header.result.rows),
    'the leaderboard is not what follows from the journals',
  );
  const ends = others.flatMap(({ competition }) => competition?.points.at(-1)?.at ?? []);
  check(ends.length === 0 || Math.max(...ends) === header.result.at, 'result.at is not that of the journals');
  return [...problems, ...settingsProblems(file, readSettings)];
}

/**
 * Compares the entries of a header with those that the market's journal has. It has none if the competition ended under an earlier version.
 */
function problemsOfEntries(
  { entries }: CompetitionHeader,
  [market, ...others]: readonly SimulationInForce[],
): readonly string[] {
  const noted = market?.competition?.entries;
  if (noted === undefined) return [];
  const digests = new Map(others.map(({ simulationId, digest }) => [simulationId, digest]));
  const shown = new Set(entries.map(({ simulationId }) => simulationId));
  const wrong = entries.flatMap(({ displayName, entryId, simulationId, status }) => {
    const entry = noted.get(simulationId);
    const isRemoved = status === 'DISQUALIFIED' || status === 'WITHDRAWN';
    const isNoted =
      entry?.entryId === entryId &&
      entry.digest === digests.get(simulationId) &&
      entry.removed?.status === (isRemoved ? status : undefined);
    return isNoted ? [] : [`${displayName}: it is not an entry of the market's journal`];
  });
  // One that is withdrawn before the start does not take part.
  const missing = [...noted].filter(
    ([cell, { removed }]) => !shown.has(cell) && removed?.status !== 'WITHDRAWN',
  );
  const inOrder = [...noted.keys()].filter((cell) => shown.has(cell));
  return [
    ...wrong,
    ...missing.map(([, { number }]) => `entry ${number} of the market's journal is missing`),
    ...(wrong.length > 0 || sameList(inOrder, [...shown])
      ? []
      : ['entries are not in the order of entering']),
  ];
}

const sameList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Compares the place of a simulation in the competition, and its seeds and ids, with the header. */
function originProblems(
  { competitionId, draw, seed = '', marketId }: CompetitionHeader,
  { simulationId, config }: FiledSimulation,
  entry: FiledEntry | undefined,
): readonly string[] {
  if (entry === undefined && simulationId !== marketId)
    return [`${simulationId}: it is neither the market nor an entry`];
  const drawn =
    entry === undefined ? drawnFrom(draw, 'market', seed) : drawnFrom(draw, 'entry', entry.entryId);
  const path = drawnFrom(draw, 'market', seed).secret;
  const isDrawn = config.seed === drawn.seed && config.idSecret === drawn.secret && config.draw === path;
  const { competition: role } = config;
  const isPlaced =
    role?.id === competitionId &&
    (entry === undefined ? role.role === 'MARKET' : role.role === 'ENTRY' && role.marketId === marketId);
  return [
    ...(isDrawn ? [] : [`${simulationId}: its seed does not follow from the draw of the competition`]),
    ...(isPlaced ? [] : [`${simulationId}: it belongs to another competition`]),
  ];
}

/** Compares an entry of the header with its journal. */
function entryProblems(
  { portfolio }: SimulationInForce,
  { points, removed }: Competition,
  { displayName, portfolioId, status, equity }: FiledEntry,
): readonly string[] {
  const wrong = [
    portfolio?.portfolioId === portfolioId ? [] : ['portfolioId'],
    (removed?.status ?? 'ACTIVE') === status ? [] : ['status'],
    sameList(filedEquity(points), equity) ? [] : ['equity'],
  ].flat();
  return wrong.map((field) => `${displayName}: ${field} is not that of the journal`);
}

/** Compares market, rules and scoring of the header with those at the start of the journals. */
function settingsProblems(file: ExecutedFile, readSettings: ReadSettings): readonly string[] {
  const { header, simulations } = file;
  const shown = header.competition as ShownCompetition;
  const problems = new Set<string>();
  const check = (isRight: boolean, field: string): void => {
    if (!isRight) problems.add(`${field} is not that of the journals`);
  };
  check(header.scoring === shown.scoring, 'scoring');
  check(header.seed === shown.market.seed, 'seed');
  check(header.minTrades === (shown.rules.minTrades ?? 1), 'minTrades');
  const hash = settingsHash(shown);
  for (const { competition } of simulations)
    if (competition?.terms.settingsHash !== hash)
      problems.add('market, rules and scoring are not those that the journals were begun with');
  const settings = settingsIn(shown, readSettings);
  if (settings === undefined) problems.add('competition is not the body of a competition');
  else for (const field of differingSettings(settings, file)) check(false, field);
  return [...problems];
}

/** Settings of the header; undefined when it cannot be read. */
function settingsIn(shown: unknown, readSettings: ReadSettings): CompetitionSettings | undefined {
  try {
    const settings = readSettings(shown);
    return Array.isArray(settings) ? undefined : (settings as CompetitionSettings);
  } catch {
    // A changed file may have anything in any field.
    return undefined;
  }
}

/** Rules with another name in the API. */
const RULE_NAMES: Readonly<Record<string, string>> = {
  maxPosition: 'maxPositionPercent',
  maxDailyLoss: 'maxDailyLossPercent',
  trailingDrawdown: 'trailingDrawdownPercent',
};

/** Names of settings that differ from those in force in the journals. */
const differingSettings = (settings: CompetitionSettings, { header, simulations }: ExecutedFile): string[] =>
  simulations.flatMap((simulation) =>
    differingFromJournal(settings, drawnFrom(header.draw, 'mask', '').secret, simulation),
  );

/** Names of settings that differ from those in force in a journal. `maskKey`: of the mask, if the settings have one. */
export function differingFromJournal(
  settings: CompetitionSettings,
  maskKey: string,
  { config, competition, portfolio }: Omit<SimulationInForce, 'digest'>,
): string[] {
  const wrong: string[] = [];
  const compare = (shown: unknown, inForce: unknown, field: string): void => {
    if (JSON.stringify(shown) !== JSON.stringify(inForce)) wrong.push(field);
  };
  const { mask, market } = settings;
  // The recording is not in the file: which session is its first is known from the configuration alone.
  const expected =
    mask === undefined
      ? market
      : maskedConfig(
          market,
          { parts: asFiled(mask, config), key: maskKey },
          config.mask?.sessions ?? FIRST_OF_NONE,
        );
  for (const field of ['feed', 'clock', 'calendar', 'speed', 'luld', 'mask', 'regime'] as const)
    compare(expected[field], config[field], `market.${field}`);
  compare(expected.replay?.symbols, config.replay?.symbols, 'market.replay');
  if (competition === undefined) return wrong;
  const { rules, ...times } = competition.terms;
  const terms = termsOf(settings, maskedTimes(settings, config, rules.symbols));
  compare(terms.startsAt, times.startsAt, 'market.start');
  compare(terms.endsAt, times.endsAt, 'market.end');
  for (const rule of new Set([...Object.keys(terms.rules), ...Object.keys(rules)]))
    compare(
      terms.rules[rule as keyof typeof rules],
      rules[rule as keyof typeof rules],
      `rules.${RULE_NAMES[rule] ?? rule}`,
    );
  if (portfolio === undefined) return wrong;
  const { initialCash, portfolioType, brokerId, fillModel } = settings.portfolio;
  compare(initialCash, portfolio.initialCash, 'rules.initialCash');
  compare(portfolioType, portfolio.initialSettings.portfolioType, 'rules.portfolioType');
  compare(brokerId, portfolio.initialSettings.brokerId, 'rules.brokerId');
  compare(fillModel, portfolio.fillModel, 'rules.fillModel');
  return wrong;
}

/** Any first session: a mask that moves dates by weeks does not depend on it. */
const FIRST_OF_NONE = TradingDate.of('1998-01-02');

/** The parts of a mask. Competitions of earlier versions move dates by weeks where their settings do not say how. */
const asFiled = (parts: MaskParts, { mask }: FiledConfig): MaskParts =>
  parts.dates === 'SESSIONS' && mask !== undefined && mask.sessions === undefined && mask.weeks > 0
    ? { ...parts, dates: true }
    : parts;

/** Masked times of a competition. Its tickers follow from the recording, which the file does not have: `settingsHash` proves `symbols`. */
function maskedTimes(
  { startsAt, endsAt, mask, rules }: CompetitionSettings,
  { mask: terms }: FiledConfig,
  symbols: readonly string[] | undefined,
): Parameters<typeof termsOf>[1] {
  if (mask === undefined || terms === undefined) return undefined;
  return {
    parts: mask,
    startsAt: movedBy(terms, startsAt),
    endsAt: movedBy(terms, endsAt),
    ...(mask.symbols ? symbols !== undefined && { symbols } : rules.symbols && { symbols: rules.symbols }),
  };
}
