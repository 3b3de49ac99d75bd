/**
 * Verification of the file of an evaluation (D210). Every journal in it is executed and graded again; rows, summary, pairs and hashes are
 * computed again and compared with the file.
 */
import type { Competition, State } from '@sandpit/core';
import { originOf } from '../engine/configuration/simulation-config.js';
import type { KeptConfig } from '../engine/configuration/simulation-config.js';
import type { SimulationInForce } from '../competitions/verify-competition.js';
import { BeginningDigest } from '../engine/recovery/first-records.js';
import type { FiledConfig, FiledSimulation } from '../engine/transfers/file-header.js';
import { listName, rulesNamed } from '../engine/configuration/rules-in-force.js';
import { linesOfFile, SimulationFileReader } from '../engine/transfers/simulation-file.js';
import { verifyRecords } from '../engine/recovery/verify.js';
import type { JournalRecord } from '../store/journal.js';
import type { Store } from '../store/store.js';
import type {
  EvaluationRank,
  MatrixRow,
  ScoreRule,
  ShownCell,
  ShownEntry,
  ShownScenario,
  TaskResult,
} from './definition.js';
import { type CellPlace, drawOfCell, drawOfEvaluation } from './draw.js';
import { digestOfRuns } from './evaluation-cell.js';
import { type FiledEvaluation, headerIn, LONGEST_FIRST_LINE, rowIn } from './evaluation-file.js';
import { figuresOf, NOOP, resultHashOf, rowScore, withTrivialTasks } from './figures.js';

/** Fields that no journal has. */
export const UNVERIFIED = [
  'name',
  'visibility',
  'model',
  'version',
  'reason',
  'startedAt',
  'endedAt',
  'wallSeconds',
  'calls',
  'usage',
  'isolated',
] as const;

/** A cell of a file whose records are in a store. */
export interface CellToMeasure {
  readonly store: Store;
  readonly simulationId: string;
  readonly config: KeptConfig;
  readonly scenario: ShownScenario;
  readonly portfolioId: string;
}

/** What the verification needs of the server: it knows bodies, digests and the measuring of a cell. */
export interface EvaluationReader {
  readonly openStore: () => Promise<Store>;
  /** Performance and tasks of a cell, from its records. */
  readonly measure: (cell: CellToMeasure) => Promise<Pick<MatrixRow, 'metrics' | 'tasks'>>;
  readonly digestOf: (header: FiledEvaluation) => string;
  /** Names of settings that are not those of a cell's journal. */
  readonly differingSettings: (
    scenario: ShownScenario,
    cell: Omit<SimulationInForce, 'digest'>,
    draw: string,
    place: CellPlace,
  ) => readonly string[];
}

/** Facts that a file of format 1 leaves unproven, because it lacks the journal of the evaluation. */
export const UNVERIFIED_IN_FORMAT_1 = [
  'order of entering',
  'withdrawals',
  'entries that were left out',
] as const;

/** Result of a verification. */
export interface EvaluationVerdict {
  readonly header: FiledEvaluation;
  /** Everything that the file cannot prove. */
  readonly unverified: readonly string[];
  /** The ranks that follow from the journals, by the requested score. */
  readonly ranks: readonly EvaluationRank[];
  readonly records: number;
  /** Empty = everything in the file follows from its journals. */
  readonly problems: readonly string[];
}

/** Verifies the file of an evaluation. `score`: another one for the ranks that are returned. */
export async function verifyEvaluation(
  path: string,
  reader: EvaluationReader,
  score?: ScoreRule,
): Promise<EvaluationVerdict> {
  const lines = linesOfFile(path, LONGEST_FIRST_LINE);
  const header = headerIn(lines.next().value as string | undefined);
  const { entries, definition } = header;
  const problems: string[] = definitionProblems(header, reader);
  const cells = entries.flatMap((entry) => entry.cells.map((cell) => ({ ...cell, entrant: entry.entrant })));
  const filed: MatrixRow[] = [];
  const found: MatrixRow[] = [];
  const hashes: string[] = [];
  const digests = new Map<string, string>();
  let own: ExecutedJournal | undefined;
  let records = 0;
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const row = own === undefined && hashes.length === 0 ? rowIn(next.value) : undefined;
    if (row !== undefined) {
      filed.push(row);
      continue;
    }
    if (own === undefined && header.format !== 1) {
      own = await executeJournal(next.value, lines, reader, () => Promise.resolve(undefined));
      records += own.records;
      continue;
    }
    const cell = cells[hashes.length];
    if (cell === undefined) {
      problems.push('the file has more simulations than cells');
      break;
    }
    const scenario = definition.scenarios.find(({ name }) => name === cell.scenario);
    const executed = await executeCell(next.value, lines, { cell, scenario, header }, reader);
    problems.push(...executed.problems.map((text) => `${nameOf(cell)}: ${text}`));
    records += executed.records;
    hashes.push(executed.hash);
    digests.set(cell.cellId, executed.digest);
    const same = filed.find((one) => one.cellId === cell.cellId);
    if (same === undefined) problems.push(`${nameOf(cell)}: the matrix has no row for it`);
    else found.push(recomputed(same, executed, definition.score));
  }
  if (own !== undefined) problems.push(...evaluationProblems(header, own, digests, filed));
  if (hashes.length < cells.length) problems.push('the file is cut short: simulations of cells are missing');
  const rows = withTrivialTasks(found);
  problems.push(...rowProblems(filed, rows, cells));
  problems.push(...resultProblems(header, rows, hashes));
  const asked = score === undefined ? rows : rows.map((row) => ({ ...row, score: rowScore(score, row) }));
  const { ranks } = figuresOf(asked, entries, definition.scenarios.length);
  const unverified = [...UNVERIFIED, ...(header.format === 1 ? UNVERIFIED_IN_FORMAT_1 : [])];
  return { header, unverified, ranks, records, problems };
}

const nameOf = ({ entrant, scenario, seed, trial }: CellPlace): string =>
  `${entrant}, ${scenario}, seed ${seed}, trial ${trial}`;

/** A journal of the file after it was executed again. */
interface ExecutedJournal extends FiledSimulation {
  readonly hash: string;
  readonly records: number;
  /** Of its first records. */
  readonly digest: string;
  readonly state: State;
  readonly problems: readonly string[];
}

/** A cell after its journal was executed again. */
interface ExecutedCell
  extends
    Pick<MatrixRow, 'metrics' | 'tasks'>,
    Pick<ExecutedJournal, 'hash' | 'records' | 'digest' | 'problems'> {}

interface FiledCellPlace {
  readonly cell: ShownCell & Pick<ShownEntry, 'entrant'>;
  readonly scenario: ShownScenario | undefined;
  readonly header: Pick<FiledEvaluation, 'draw' | 'digest'>;
}

/**
 * Reads and executes one simulation. `look` sees it with a store that has its records. Throws if the file is truncated or is not an export.
 */
async function executeJournal<Seen>(
  firstLine: string,
  lines: Generator<string>,
  { openStore }: Pick<EvaluationReader, 'openStore'>,
  look: (journal: ExecutedJournal, store: Store) => Promise<Seen>,
): Promise<ExecutedJournal & { readonly seen: Seen }> {
  const reader = new SimulationFileReader();
  const first = reader.read(firstLine);
  if (first.type !== 'header') throw new Error('a simulation of the file has no header');
  const { simulationId, config } = first.simulation;
  const lists = new Map<string, string>();
  const digest = new BeginningDigest('CompetitionBegun');
  const store = await openStore();
  try {
    await store.registry.createSimulation({
      id: simulationId,
      tenantId: 'verification',
      config: JSON.stringify(config),
      createdAt: 0,
    });
    const { problems, records, state } = await verifyRecords(
      entering(store, simulationId, recordsOf(reader, lines, lists, digest)),
      { setting: (name) => lists.get(name) },
      config,
    );
    if (!reader.isOver) throw new Error('the file is cut short');
    for (const [name, text] of lists) await store.registry.saveSetting(name, text);
    const journal = { simulationId, config, hash: reader.hash, records, digest: digest.hex, state, problems };
    return { ...journal, seen: await look(journal, store) };
  } finally {
    await store.close();
  }
}

/** Executes and measures the simulation of a cell. */
async function executeCell(
  firstLine: string,
  lines: Generator<string>,
  { cell, scenario, header: { draw, digest } }: FiledCellPlace,
  reader: EvaluationReader,
): Promise<ExecutedCell> {
  const { portfolioId } = cell;
  const journal = await executeJournal(
    firstLine,
    lines,
    reader,
    ({ simulationId, config, problems }, store) =>
      scenario === undefined || problems.length > 0
        ? Promise.resolve({})
        : reader.measure({ store, simulationId, config, scenario, portfolioId }),
  );
  const { simulationId, config, state, seen, hash, records, problems } = journal;
  const inForce = {
    simulationId,
    config,
    competition: state.competition,
    portfolio: state.portfolios.get(portfolioId)?.terms,
  };
  const differing = scenario === undefined ? [] : reader.differingSettings(scenario, inForce, draw, cell);
  return {
    ...seen,
    hash,
    records,
    digest: journal.digest,
    problems: [
      ...problems,
      ...(scenario === undefined ? ['its scenario is not in the definition'] : []),
      ...(simulationId === cell.simulationId ? [] : ['it is another simulation than that of the cell']),
      ...drawProblems(config, cell, draw),
      ...(state.competition?.terms.settingsHash === digest
        ? []
        : ['its journal was begun with another definition']),
      ...differing.map((field) => `${field} is not that of the journal`),
    ],
  };
}

/** Compares the journal of the evaluation with the first line, the rows and the journals of the cells. */
function evaluationProblems(
  header: FiledEvaluation,
  { simulationId, config, state, problems: own }: ExecutedJournal,
  digests: ReadonlyMap<string, string>,
  rows: readonly MatrixRow[],
): readonly string[] {
  const { evaluationId, cellId = '', draw, digest, entries, resultHash } = header;
  const { competition } = state;
  const drawn = drawOfEvaluation(draw, cellId);
  const wrong: string[] = [];
  const check = (isRight: boolean, problem: string): void => {
    if (!isRight) wrong.push(problem);
  };
  check(simulationId === cellId, 'it is another one than that of the first line');
  check(
    config.competition?.role === 'EVALUATION' && config.competition.id === evaluationId,
    'it belongs to another evaluation',
  );
  check(
    config.seed === drawn.seed && config.idSecret === drawn.secret,
    'its seed does not follow from the draw of the evaluation',
  );
  check(competition?.terms.settingsHash === digest, 'it was begun with another definition');
  const isEntered = [...(competition?.entries?.values() ?? [])].some(({ isHouse }) => isHouse !== true);
  check(!isEntered || competition?.result?.journalHash === resultHash, 'its result is not resultHash');
  return [
    ...[...own, ...wrong].map((text) => `journal of the evaluation: ${text}`),
    ...problemsOfEntries(entries, competition?.entries, digests, rows),
  ];
}

/** Compares the entries of the first line with those of the journal of the evaluation. */
function problemsOfEntries(
  entries: FiledEvaluation['entries'],
  noted: Competition['entries'] = new Map(),
  digests: ReadonlyMap<string, string>,
  rows: readonly MatrixRow[],
): readonly string[] {
  const shown = new Set(entries.map(({ entryId }) => entryId));
  const abandoned = new Set(rows.flatMap(({ cellId, reason }) => (reason === 'WITHDRAWN' ? [cellId] : [])));
  const wrong = entries.flatMap(({ entryId, entrant, number, withdrawn = false, cells }) => {
    const entry = noted.get(entryId);
    if (entry === undefined) return [`${entrant}: it is not an entry of the journal of the evaluation`];
    const runs = cells.map(({ cellId }) => ({ cellId, digest: digests.get(cellId) ?? '' }));
    const isRemoved = entry.removed !== undefined;
    return [
      ...(entry.number === number ? [] : [`it is entry ${entry.number}, not ${String(number)}`]),
      ...((entry.isHouse === true) === entrant.startsWith(BASELINE) ? [] : ['it was entered by another']),
      ...(entry.digest === digestOfRuns(runs) ? [] : ['its cells are not those that it was entered with']),
      ...(isRemoved === withdrawn ? [] : [`it was ${isRemoved ? '' : 'not '}withdrawn`]),
      ...(isRemoved || !cells.some(({ cellId }) => abandoned.has(cellId))
        ? []
        : ['cells are WITHDRAWN, and it was not withdrawn']),
    ].map((problem) => `${entrant}: ${problem}`);
  });
  const missing = [...noted.values()].filter(({ entryId }) => !shown.has(entryId));
  return [
    ...wrong,
    ...missing.map(({ number }) => `entry ${number} of the journal of the evaluation is missing`),
  ];
}

const BASELINE = 'baseline:';

function* recordsOf(
  reader: SimulationFileReader,
  lines: Generator<string>,
  lists: Map<string, string>,
  digest: BeginningDigest,
): Generator<Omit<JournalRecord, 'simulationId'>> {
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const line = reader.read(next.value);
    if (line.type === 'trailer') return;
    if (line.type === 'list') lists.set(listName(line.digest), line.text);
    if (line.type !== 'record') continue;
    digest.add(line.record);
    yield line.record;
  }
}

/** Enters the records in a store as they pass. */
async function* entering(
  { journal }: Store,
  simulationId: string,
  records: Iterable<Omit<JournalRecord, 'simulationId'>>,
): AsyncGenerator<Omit<JournalRecord, 'simulationId'>> {
  let last = Promise.resolve();
  for (const record of records) {
    last = journal.append({ simulationId, ...record });
    yield record;
  }
  await last;
}

/** The rules that the journal of a cell began under, from the lists of its file. */
export const rulesOfCell = ({ store, config }: Pick<CellToMeasure, 'store' | 'config'>) =>
  rulesNamed(store.registry, originOf(config).rules);

/** Compares seeds, ids and mask of a cell with those that follow from the draw. */
function drawProblems(config: FiledConfig, place: CellPlace, draw: string): readonly string[] {
  const { seed, path, idSecret, maskKey } = drawOfCell(draw, place);
  const isDrawn =
    config.seed === seed &&
    config.idSecret === idSecret &&
    (config.draw === undefined || config.draw === path) &&
    (config.mask === undefined || config.mask.key === maskKey);
  return isDrawn ? [] : ['its seed does not follow from the draw of the evaluation'];
}

/** A row as the journal of its cell gives it; fields that no journal has are those of the file. */
function recomputed(row: MatrixRow, { metrics, tasks, hash }: ExecutedCell, rule: ScoreRule): MatrixRow {
  const { metrics: _, tasks: __, score: ___, ...rest } = row;
  return {
    ...rest,
    ...(metrics !== undefined && { metrics, score: rowScore(rule, { metrics, ...(tasks && { tasks }) }) }),
    ...(tasks !== undefined && { tasks }),
    journalHash: hash,
  };
}

/** Problems of the first line by itself. */
function definitionProblems(header: FiledEvaluation, reader: EvaluationReader): string[] {
  const { definition, entries, digest } = header;
  const problems: string[] = [];
  if (digestIn(header, reader) !== digest) problems.push('digest is not that of the definition');
  const names = new Set(entries.map(({ entrant }) => entrant));
  if (names.size < entries.length) problems.push('an entrant is in the file twice');
  for (const { entrant, cells } of entries) {
    const trials = entrant.startsWith(BASELINE) ? 1 : (definition.trials ?? 1);
    // Doing nothing is played wherever there are tasks.
    const isTasksOnly = entrant === NOOP && definition.baselines?.includes('noop') !== true;
    const expected = definition.scenarios
      .filter(({ tasks = [] }) => !isTasksOnly || tasks.length > 0)
      .flatMap(({ name, seeds = [1] }) =>
        seeds.flatMap((seed) =>
          Array.from({ length: trials }, (_, trial) => JSON.stringify([name, seed, trial + 1])),
        ),
      );
    const places = cells.map(({ scenario, seed, trial }) => JSON.stringify([scenario, seed, trial]));
    if (!isSame(places.toSorted(), expected.toSorted()))
      problems.push(`${entrant}: its cells are not one for each scenario, seed and trial`);
  }
  return problems;
}

/** The digest of the definition; undefined when it cannot be read: a changed file may have anything in any field. */
function digestIn(header: FiledEvaluation, { digestOf }: EvaluationReader): string | undefined {
  try {
    return digestOf(header);
  } catch {
    return undefined;
  }
}

const isSame = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other);

/** JSON with the fields of objects in alphabetical order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner !== 'object' || inner === null || Array.isArray(inner)
      ? inner
      : Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))),
  );

/** Differences between the rows of a file and those that its journals give, field by field. */
function rowProblems(
  filed: readonly MatrixRow[],
  found: readonly MatrixRow[],
  cells: readonly (ShownCell & Pick<ShownEntry, 'entrant'>)[],
): readonly string[] {
  const problems: string[] = [];
  if (
    !isSame(
      filed.map(({ cellId }) => cellId),
      cells.map(({ cellId }) => cellId),
    )
  )
    problems.push('the rows of the matrix are not those of the cells');
  const rows = new Map(found.map((row) => [row.cellId, row]));
  const places = new Map(cells.map((cell) => [cell.cellId, cell]));
  for (const row of filed) {
    const other = rows.get(row.cellId);
    const place = places.get(row.cellId);
    if (other === undefined || place === undefined) continue;
    const wrong = [
      ...(['entrant', 'scenario', 'seed', 'trial'] as const).filter((field) => row[field] !== place[field]),
      ...(['score', 'journalHash'] as const).filter((field) => row[field] !== other[field]),
      ...differing('metrics', row.metrics, other.metrics),
      ...taskDifferences(row.tasks, other.tasks),
    ];
    problems.push(...wrong.map((field) => `${nameOf(place)}: ${field} is not that of the journal`));
  }
  return problems;
}

/** Names of the fields that differ, with the name of their object. */
function differing(
  name: string,
  one: Readonly<Record<string, unknown>> = {},
  other: Readonly<Record<string, unknown>> = {},
): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((field) => !isSame(one[field], other[field]))
    .map((field) => `${name}.${field}`);
}

function taskDifferences(one: readonly TaskResult[] = [], other: readonly TaskResult[] = []): string[] {
  const names = new Set([...one, ...other].map(({ name }) => name));
  const of = (tasks: readonly TaskResult[], name: string): TaskResult | undefined =>
    tasks.find((task) => task.name === name);
  return [...names].filter((name) => !isSame(of(one, name), of(other, name))).map((name) => `task ${name}`);
}

/** Differences of the summary, the pairs and the hash. */
function resultProblems(
  header: FiledEvaluation,
  rows: readonly MatrixRow[],
  hashes: readonly string[],
): readonly string[] {
  const { summary, paired } = figuresOf(rows, header.entries, header.definition.scenarios.length);
  const problems: string[] = [];
  if (resultHashOf(hashes) !== header.resultHash) problems.push('resultHash is not that of the journals');
  for (const { entrant, ...figures } of summary) {
    const { entrant: _, ...filed } = header.summary.find((one) => one.entrant === entrant) ?? { entrant };
    problems.push(
      ...differing('', filed, figures).map(
        (field) => `summary of ${entrant}: ${field.slice(1)} does not follow from the rows`,
      ),
    );
  }
  if (header.summary.length !== summary.length)
    problems.push('the summary does not have exactly the entrants of the rows');
  if (!isSame(paired, header.paired)) problems.push('the pairs do not follow from the rows');
  return problems;
}
