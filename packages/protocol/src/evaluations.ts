/** Evaluations (D210): entrants run the same scenarios, seeds and trials, each in a simulation of its own; figures and a verifiable result. */
import { type Static, type TSchema, Type } from 'typebox';
import { Performance } from './analytics.js';
import { isObject } from './check.js';
import { CompetitionMarket, CompetitionRules, displayNameText } from './competitions.js';
import { baselineNames, cellReasons, cellStatuses, evaluationStatuses } from './enums.js';
import {
  anyText,
  byName,
  choice,
  closed,
  count,
  duration,
  exactly,
  flag,
  instant,
  integer,
  list,
  listOf,
  nameText,
  namedChoice,
  nonNegative,
  number,
  optional,
  parameters,
  text,
  uuid,
} from './fields.js';
import { isNameable } from './formats.js';
import { EvaluationTask, LONGEST_INSTRUCTIONS, TaskFailure } from './evaluation-tasks.js';
import { fixtureNames } from './fixtures.js';
import { ImportBody } from './imports.js';
import { pageFields, paged } from './paging.js';
import { ruled, ruleOf } from './rules.js';

/** Most cells of an entrant: scenarios × seeds × trials. */
export const MOST_CELLS = 10_000;
const seed = Type.Union([text(), Type.Integer()], {
  description: 'Names a market of the scenario. The draw of the evaluation decides its prices.',
  'x-expected': 'must be a string or an integer',
});

/** Most days of a market with a regime: its prices have no bounds. */
const LONGEST_REGIME_DAYS = 731;

const positiveUpTo = (maximum: number, description: string) =>
  Type.Number({
    exclusiveMinimum: 0,
    maximum,
    description,
    'x-expected': `must be a positive number of at most ${maximum}`,
  });

const MarketRegime = closed('MarketRegime', {
  drift: Type.Number({
    minimum: -2,
    maximum: 2,
    description:
      'Expected return of the market a year, continuous (0.1 = 10 %). A symbol has its exposure to the market times that.',
    'x-expected': 'must be a number from -2 to 2',
  }),
  volatility: positiveUpTo(
    1,
    'Volatility of the market a year (usual: 0.143). Every symbol keeps its proportion to it.',
  ),
  jumps: optional(
    closed('MarketJumps', {
      perYear: positiveUpTo(250, 'Expected jumps of a symbol a year.'),
      size: positiveUpTo(0.5, 'Standard deviation of a jump, logarithmic (0.05 = about 5 %).'),
    }),
  ),
  gap: optional(
    positiveUpTo(
      0.2,
      'Standard deviation of an additional move of the market before each trading day, logarithmic.',
    ),
  ),
});

const regime = Type.Union([Type.Literal('no-edge'), MarketRegime], {
  description:
    'Behavior of a synthetic market. `no-edge`: usual volatilities, and the middle of every market is a martingale, so that the expected profit of any strategy is minus its costs; shares alone. Absent = the usual synthetic market, which is pulled toward its base prices over years.',
  'x-expected': 'must be no-edge or an object',
});

export const EvaluationMarket = ruled(
  closed('EvaluationMarket', {
    ...CompetitionMarket.properties,
    feed: choice(['synthetic', 'replay'], { description: 'Source of quotes.' }),
    clock: choice(['manual', 'scaled'], {
      description:
        '`manual`: the entrant advances the clock of each cell. `scaled`: it runs from the first request of the cell.',
    }),
    regime: optional(regime),
  }),
  (body, report) => {
    ruleOf(CompetitionMarket)?.(body, report);
    const { feed, start, end } = body;
    if (body.regime === undefined) return;
    if (typeof feed === 'string' && feed !== 'synthetic')
      report.field('regime', `should not exist for ${feed} feeds`);
    if (typeof start !== 'string' || typeof end !== 'string') return;
    if (Date.parse(end) - Date.parse(start) > LONGEST_REGIME_DAYS * 86_400_000)
      report.field('end', 'must be at most two years after start for a market with a regime');
  },
);
export type EvaluationMarket = Static<typeof EvaluationMarket>;

const ImportedFixture = closed('ImportedFixture', { import: ImportBody });

export const EvaluationScenario = closed('EvaluationScenario', {
  name: nameText({ maxLength: 80, description: 'Name of the scenario, unique in the evaluation.' }),
  market: EvaluationMarket,
  rules: CompetitionRules,
  seeds: optional(
    list(
      seed,
      { min: 1, max: 100, unique: true },
      { description: 'Markets of the scenario; absent = one, with seed 1.' },
    ),
  ),
  instructions: optional(
    text({
      maxLength: LONGEST_INSTRUCTIONS,
      'x-text': 'lines',
      description: 'Text that the agent reads, in front of those of the tasks.',
    }),
  ),
  fixture: optional(
    Type.Union([choice([...fixtureNames]), ImportedFixture], {
      description:
        'Positions that each cell begins with: the name of a fixture, in place of the portfolio of `rules`, or an import into that portfolio.',
      'x-expected': `must be one of ${fixtureNames.join(', ')} or an object`,
    }),
  ),
  tasks: optional(
    list(EvaluationTask, { min: 1, max: 50 }, { description: 'Tasks that each cell is graded by.' }),
  ),
});
export type EvaluationScenario = Static<typeof EvaluationScenario>;

/** Names of the figures of a performance, nested ones with dots. */
function figuresOf(schema: TSchema, prefix = ''): readonly string[] {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, TSchema>> };
  return Object.entries(properties).flatMap(([name, field]) => {
    const { type } = field as { readonly type?: string };
    if (type === 'object') return figuresOf(field, `${prefix}${name}.`);
    return type === 'number' || type === 'integer' ? [`${prefix}${name}`] : [];
  });
}

/** Figures that a score may use. */
export const SCORED_FIGURES: ReadonlySet<string> = new Set([...figuresOf(Performance), 'tasksPassed']);

const ScoreValue = Type.Union(
  [
    text(),
    byName(
      Type.Number({
        minimum: -1e9,
        maximum: 1e9,
        'x-expected': 'must be a number',
      }),
    ),
  ],
  {
    description:
      'What a cell is scored by: a figure of the performance (nested ones with dots, such as `maxDrawdown.fraction`), `tasksPassed` (the share of tasks passed), or weights by figure. An absent figure counts 0.',
    examples: ['timeWeightedReturn', { timeWeightedReturn: 1, 'maxDrawdown.fraction': 0.5 }],
    'x-expected': 'must be a figure of the performance, tasksPassed or an object of weights',
  },
);

const suite = text({
  maxLength: 64,
  description: 'Name of a suite, in place of `scenarios`: see `GET /v1/evaluations/suites`.',
});

const settings = {
  name: nameText({ description: 'Name of the evaluation.' }),
  scenarios: optional(list(EvaluationScenario, { min: 1, max: 200 }, { description: 'Markets and tasks.' })),
  suite: optional(suite),
  trials: optional(integer(1, 20, { description: 'Cells for each scenario and seed; absent = 1.' })),
  baselines: optional(
    list(
      choice([...baselineNames]),
      { min: 0, max: 3, unique: true },
      { description: 'Strategies that the server plays for comparison.' },
    ),
  ),
  score: ScoreValue,
  timeLimit: optional(
    duration({
      'x-format': 'span',
      'x-expected': 'must be a positive ISO 8601 duration of at most P30D',
      description: 'Real time that a cell may take from its first request; absent = P1D.',
    }),
  ),
  callLimit: optional(
    integer(1, 1_000_000, { description: 'Requests that a cell may make; absent = any number.' }),
  ),
  reveal: optional(
    flag({ description: 'Whether an entrant sees the result of the tasks of a cell that has ended.' }),
  ),
  ephemeral: optional(
    flag({ description: 'Whether the simulations of cells are in memory alone; absent = false.' }),
  ),
  visibility: optional(
    choice(['PRIVATE', 'PUBLIC'], {
      description: '`PUBLIC`: everybody sees the leaderboard, without a token. Absent = PRIVATE.',
    }),
  ),
};

type Report = { field(field: string, complaint: string): void };

function reportScenarios(
  {
    scenarios,
    suite: named,
    trials,
  }: { readonly scenarios?: unknown; readonly suite?: unknown; readonly trials?: unknown },
  report: Report,
): void {
  if (named !== undefined && scenarios !== undefined)
    report.field('suite', 'must not be given together with scenarios');
  if (!Array.isArray(scenarios)) return;
  const names = scenarios.map((one: unknown) => (isObject(one) ? one['name'] : undefined));
  names.forEach((name, index) => {
    if (typeof name === 'string' && names.indexOf(name) < index)
      report.field('scenarios', `must not have two scenarios with the name ${name}`);
  });
  const cells = scenarios.reduce<number>((sum, one: unknown) => {
    const seeds = isObject(one) ? one['seeds'] : undefined;
    return sum + (Array.isArray(seeds) ? seeds.length : 1);
  }, 0);
  if (cells * (typeof trials === 'number' ? trials : 1) > MOST_CELLS)
    report.field('scenarios', `must have at most 10,000 cells: seeds of all scenarios × trials`);
  for (const [index, one] of scenarios.entries()) {
    const tasks: unknown = isObject(one) ? one['tasks'] : undefined;
    if (!Array.isArray(tasks)) continue;
    const titles = tasks.map((task: unknown) => (isObject(task) ? task['name'] : undefined));
    if (titles.some((title, at) => typeof title === 'string' && titles.indexOf(title) < at))
      report.field('scenarios', `must not have two tasks with one name: ${index}.tasks`);
  }
}

function reportScore(score: unknown, report: Report): void {
  const names =
    typeof score === 'string' ? [score] : isObject(score) && !Array.isArray(score) ? Object.keys(score) : [];
  if (isObject(score) && names.length === 0) report.field('score', 'must contain at least 1 figure');
  const unknown = names.find((name) => !SCORED_FIGURES.has(name));
  if (unknown !== undefined)
    report.field('score', `must name figures of the performance or tasksPassed, which ${unknown} is not`);
}

export const EvaluationBody = ruled(
  closed('EvaluationBody', settings, {
    examples: [
      {
        name: 'Spring agents',
        scenarios: [
          {
            name: 'first week',
            market: {
              feed: 'synthetic',
              clock: 'manual',
              start: '2026-01-05T14:30:00Z',
              end: '2026-01-09T21:00:00Z',
            },
            rules: {
              initialCash: 100000,
              portfolioType: 'CASH',
              brokerId: 'default',
              assetClasses: ['EQUITY'],
            },
            seeds: [1, 2, 3, 4, 5],
          },
        ],
        baselines: ['hold'],
        score: 'timeWeightedReturn',
      },
    ],
  }),
  (body, report) => {
    if (body.scenarios === undefined && body.suite === undefined)
      report.field('scenarios', 'must be an array, or suite must be given');
    reportScenarios(body, report);
    reportScore(body.score, report);
  },
);
export type EvaluationBody = Static<typeof EvaluationBody>;

export const UpdateEvaluationBody = ruled(
  closed(
    'UpdateEvaluationBody',
    { ...settings, name: optional(settings.name), score: optional(settings.score) },
    { description: 'Fields that are left out keep their values.' },
  ),
  (body, report) => {
    reportScenarios(body, report);
    reportScore(body.score, report);
  },
);
export type UpdateEvaluationBody = Static<typeof UpdateEvaluationBody>;

const digest = anyText({
  description:
    'SHA-256, in hex, of the definition without `name` and `visibility` as canonical JSON (RFC 8785), with `recording`, the digest of the files of the recording, where a scenario replays it.',
});
const status = namedChoice('EvaluationStatus', evaluationStatuses, {
  description:
    '`OPEN`: no entry yet. `RUNNING`: a cell has not ended. `DONE`: every cell has ended, those of baselines too.',
});

export const EvaluationWarning = closed('EvaluationWarning', {
  code: choice(['OVERLAP', 'UNMASKED', 'FEW_SEEDS'], {
    description:
      '`OVERLAP`: two scenarios share a recorded symbol and day. `UNMASKED`: a recording is not masked. `FEW_SEEDS`: fewer than five scenarios and seeds.',
  }),
  message: anyText(),
  scenarios: optional(listOf(anyText(), { description: 'Names of the scenarios that it is about.' })),
});
export type EvaluationWarning = Static<typeof EvaluationWarning>;

const evaluationFields = {
  evaluationId: uuid(),
  name: anyText(),
  status,
  digest,
  cells: count({ description: 'Cells of an entrant.' }),
  warnings: listOf(EvaluationWarning),
  visibility: choice(['PRIVATE', 'PUBLIC']),
  createdAt: instant({ description: 'Real time.' }),
};

export const CreatedEvaluation = closed('CreatedEvaluation', evaluationFields);
export type CreatedEvaluation = Static<typeof CreatedEvaluation>;

export const EvaluationPage = paged(
  'EvaluationPage',
  CreatedEvaluation,
  'Evaluations of the tenant, newest first.',
);

export const EvaluationParams = parameters({ evaluationId: uuid({ description: 'The evaluation.' }) });
export const EvaluationEntryParams = parameters({
  evaluationId: uuid({ description: 'The evaluation.' }),
  entryId: uuid({ description: 'The entry.' }),
});
export const EvaluationPageQuery = parameters(pageFields);
export const EvaluationQuery = parameters({
  matrix: optional(
    flag({
      description:
        'False leaves `matrix` empty, for evaluations of thousands of cells: `GET …/matrix` has its rows in pages. Default true.',
    }),
  ),
});

const names = {
  entrant: displayNameText(
    'Name of the entrant, unique in the evaluation without regard to case and width: 1 to 40 visible characters, at least one a letter or a digit.',
  ),
  model: optional(text({ maxLength: 100, description: 'Model that the agent uses.' })),
  version: optional(text({ maxLength: 100, description: 'Version of the agent.' })),
};

export const EnterEvaluationBody = ruled(
  closed('EnterEvaluationBody', names, { examples: [{ entrant: 'momentum-mia', model: 'm-1' }] }),
  ({ entrant }, report) => {
    if (typeof entrant !== 'string') return;
    if (/^baseline:/i.test(entrant.normalize('NFKC')))
      report.field('entrant', 'must not begin with baseline:');
    else if (!isNameable(entrant)) report.field('entrant', 'must contain a letter or a digit');
  },
);
export type EnterEvaluationBody = Static<typeof EnterEvaluationBody>;

const shownSeed = Type.Union([anyText(), Type.Integer()]);
const cellFields = {
  cellId: uuid(),
  scenario: anyText(),
  seed: shownSeed,
  trial: integer(1, 20),
  portfolioId: uuid(),
  simulationId: anyText({ description: 'Simulation of the cell.' }),
};

export const EvaluationCell = closed('EvaluationCell', cellFields);

const entryFields = {
  entryId: uuid(),
  entrant: anyText(),
  model: optional(anyText()),
  version: optional(anyText()),
};

export const EvaluationEntry = closed('EvaluationEntry', { ...entryFields, cells: listOf(EvaluationCell) });
export type EvaluationEntry = Static<typeof EvaluationEntry>;

export const CreatedEvaluationEntry = closed('CreatedEvaluationEntry', {
  ...entryFields,
  cells: listOf(
    closed('IssuedEvaluationCell', {
      ...cellFields,
      token: anyText({ description: 'A JWT for the cell: it trades, reads, and moves the clock.' }),
    }),
    { description: 'One cell for each scenario, seed and trial.' },
  ),
});
export type CreatedEvaluationEntry = Static<typeof CreatedEvaluationEntry>;

export const EvaluationEntryPage = paged(
  'EvaluationEntryPage',
  closed('EvaluationEntrySummary', { ...entryFields, cells: count() }),
  'Entries, oldest first; baselines too.',
);

export const WithdrawnEntry = closed('WithdrawnEntry', { entryId: uuid(), message: anyText() });
export const DeletedEvaluation = closed('DeletedEvaluation', { evaluationId: uuid(), message: anyText() });

const CellUsage = closed('CellUsage', {
  inputTokens: count(),
  outputTokens: count(),
  costUsd: number(),
  transcripts: count({ description: 'Transcripts that were sent.' }),
});

export const TaskOutcome = closed('TaskOutcome', {
  name: anyText(),
  passed: flag(),
  trivial: optional(
    Type.Literal(true, {
      type: 'boolean',
      'x-expected': 'must be true',
      description: 'Present where doing nothing passes the task.',
    }),
  ),
  why: optional(TaskFailure),
});

const cellStatus = namedChoice('CellStatus', cellStatuses, {
  description:
    '`OPEN`: not used yet. `RUNNING`: used. `DONE`: its clock reached the end, or the entrant finished. `ABANDONED`: a limit or a withdrawal ended it.',
});

export const MatrixRow = closed('MatrixRow', {
  cellId: uuid(),
  entrant: anyText(),
  scenario: anyText(),
  seed: shownSeed,
  trial: integer(1, 20),
  status: cellStatus,
  reason: optional(namedChoice('CellReason', cellReasons, { description: 'Why the cell has ended.' })),
  startedAt: optional(instant({ description: 'Real time of the first request.' })),
  endedAt: optional(instant({ description: 'Real time.' })),
  finishedAt: optional(instant({ description: 'Simulated time at which the entrant stopped.' })),
  wallSeconds: optional(number({ description: 'Real time from the first request to the end.' })),
  calls: closed('CellCalls', {
    requests: count({ description: 'Requests with the token of the cell.' }),
    orders: count({ description: 'Orders that were accepted.' }),
    refused: count({ description: 'Orders that were refused.' }),
    steps: count({ description: 'Advances of the clock.' }),
  }),
  usage: optional(CellUsage),
  metrics: optional(Performance),
  score: optional(number()),
  tasks: optional(listOf(TaskOutcome)),
  journalHash: optional(anyText({ description: 'Hash of the journal of the cell.' })),
});
export type MatrixRow = Static<typeof MatrixRow>;

export const EvaluationMatrixPage = paged(
  'EvaluationMatrixPage',
  MatrixRow,
  'Cells by entrant, scenario, seed and trial.',
);

const interval = Type.Array(number(), {
  minItems: 2,
  maxItems: 2,
  description: 'Confidence interval of 95 %.',
  'x-expected': 'must be an array',
});

export const EvaluationSummary = closed('EvaluationSummary', {
  entrant: anyText(),
  model: optional(anyText()),
  version: optional(anyText()),
  cells: count(),
  abandoned: count(),
  mean: number({
    description: 'Mean over scenarios of the mean score of their cells; with one scenario over seeds.',
  }),
  stderr: optional(number()),
  ci95: optional(interval),
  tasksPassed: optional(number({ description: 'Share of tasks passed.' })),
  passAt: optional(byName(number(), { description: 'By k: chance that one of k trials passes.' })),
  passHat: optional(byName(number(), { description: 'By k: chance that all of k trials pass.' })),
  requests: count(),
  wallSeconds: number(),
  inputTokens: optional(count()),
  outputTokens: optional(count()),
  costUsd: optional(number()),
});

export const EvaluationPair = closed('EvaluationPair', {
  a: anyText(),
  b: anyText(),
  cells: count(),
  mean: number({ description: 'Mean difference of the scores, `a` less `b`.' }),
  stderr: optional(number()),
  ci95: optional(interval),
  wins: count({ description: 'Cells in which `a` scored higher.' }),
  losses: count(),
  ties: count(),
});

export const Evaluation = closed('Evaluation', {
  ...evaluationFields,
  matrix: listOf(MatrixRow, { description: 'Cells by entrant, scenario, seed and trial.' }),
  summary: listOf(EvaluationSummary, { description: 'By entrant.' }),
  paired: listOf(EvaluationPair, { description: 'Every two entrants, cell by cell.' }),
});
export type Evaluation = Static<typeof Evaluation>;

export const EvaluationLeaderboardRow = closed('EvaluationLeaderboardRow', {
  rank: count({ description: 'Ties share a rank: 1, 2, 2, 4.' }),
  entrant: anyText(),
  score: number({ description: 'The mean of the summary.' }),
  stderr: optional(number()),
  ci95: optional(interval),
  cells: count(),
  abandoned: count(),
  tasksPassed: optional(number()),
  costUsd: optional(number()),
  requests: count(),
});

export const EvaluationLeaderboard = closed('EvaluationLeaderboard', {
  evaluationId: uuid(),
  digest,
  resultHash: optional(
    anyText({
      description:
        'SHA-256 over the hashes of the journals, a line each, by entrant, scenario, seed and trial; present once every cell has ended.',
    }),
  ),
  status,
  rows: listOf(EvaluationLeaderboardRow, { description: 'By rank, then by name.' }),
  pagination: closed('EvaluationLeaderboardPages', {
    page: count(),
    limit: count(),
    total: count(),
    totalPages: count(),
  }),
});
export type EvaluationLeaderboard = Static<typeof EvaluationLeaderboard>;

export const EvaluationSuitePage = paged(
  'EvaluationSuitePage',
  closed('EvaluationSuite', {
    name: anyText(),
    scenarios: count(),
    tasks: count(),
    digest: anyText({ description: 'SHA-256, in hex, of the scenarios as canonical JSON.' }),
  }),
  'Scenarios that ship with the server.',
);

export const EvaluationExportQuery = parameters({
  format: optional(
    choice(['inspect'], {
      description: 'The log of one entrant for Inspect (EvalLog, version 2); absent = the whole evaluation.',
    }),
  ),
  entrant: optional(text({ description: 'With `format=inspect`: the entrant.' })),
});
export type EvaluationExportQuery = Static<typeof EvaluationExportQuery>;

export const EvaluationExportLine = Type.Union(
  [
    Type.Object(
      {
        type: exactly('evaluation'),
        format: Type.Integer({ description: 'Format of the file.' }),
        evaluationId: uuid(),
        digest,
        recording: optional(anyText({ description: 'Digest of the files of the recording.' })),
        draw: anyText({
          description: '128 bits, hexadecimal, that paths, latencies, ids and masks come from.',
        }),
        definition: Type.Object({}, { description: 'The body that it was created with.' }),
        entries: Type.Array(Type.Object({}), { description: 'Entrants with their cells.' }),
        resultHash: anyText(),
      },
      { title: 'Evaluation' },
    ),
    Type.Object({}, { title: 'Row of the matrix, or line of an exported simulation' }),
  ],
  {
    $id: 'EvaluationExportLine',
    description: 'Lines of JSON: the evaluation, the rows of its matrix, then the lines of its simulations.',
  },
);

export const OwnCell = closed('OwnCell', {
  portfolioId: uuid(),
  now: instant({ description: 'Simulated time.' }),
  end: instant({ description: 'Simulated time at which the market ends.' }),
  rules: CompetitionRules,
  status: cellStatus,
  instructions: optional(anyText({ description: 'What there is to do.' })),
  callsLeft: optional(count({ description: 'Requests that are left; absent = any number.' })),
  expiresAt: optional(instant({ description: 'Real time at which the time is over.' })),
  tasks: optional(
    listOf(TaskOutcome, { description: 'Results; present where they are revealed, after the end.' }),
  ),
});
export type OwnCell = Static<typeof OwnCell>;

export const UsageBody = closed(
  'UsageBody',
  {
    inputTokens: optional(integer(0, 1e12, { description: 'Tokens that were sent to the model.' })),
    outputTokens: optional(integer(0, 1e12, { description: 'Tokens that the model returned.' })),
    costUsd: optional(nonNegative({ maximum: 1e9, decimals: 8 }, { description: 'Dollars.' })),
    transcript: optional(
      anyText({
        maxLength: 200_000,
        description: 'Text of the run, such as its messages; the transcripts are counted.',
      }),
    ),
  },
  { examples: [{ inputTokens: 1200, outputTokens: 80, costUsd: 0.0042 }] },
);
export type UsageBody = Static<typeof UsageBody>;

export const ReportedUsage = CellUsage;
