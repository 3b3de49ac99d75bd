/** Evaluations between JSON and the engine (D210). */
import { calendarById } from '@sandpit/core';
import type {
  EvaluationBody,
  EvaluationScenario,
  MatrixRow as ShownRow,
  UpdateEvaluationBody,
} from '@sandpit/protocol';
import type { CompetitionSettings } from '../../competitions/notes.js';
import { canonicalDigest } from '../../evaluations/canonical-json.js';
import type { EvaluationDefinition, MatrixRow } from '../../evaluations/definition.js';
import type { EvaluationStatus, KeptEvaluation } from '../../evaluations/directory.js';
import type { EvaluationTerms, EvaluationWarning } from '../../evaluations/notes.js';
import { settingsOf } from './competitions.js';
import { taskProblems } from './evaluation-tasks.js';
import { isoOfMs } from './instants.js';
import { realMs } from './simulations.js';

const DAY_MS = 86_400_000;
const LONGEST_LIMIT_MS = 30 * DAY_MS;
/** Markets below which a mean says little. */
const FEW_SEEDS = 5;

/** The body of an evaluation after an edit. */
export function editedEvaluation(
  before: EvaluationDefinition,
  { suite, scenarios, ...changes }: UpdateEvaluationBody,
): EvaluationBody {
  const { scenarios: old, ...rest } = before;
  return {
    ...rest,
    ...changes,
    ...(suite !== undefined ? { suite } : { scenarios: scenarios ?? old }),
  } as unknown as EvaluationBody;
}

/** Terms of the evaluation that a body describes, or their problems. */
export function evaluationTerms(
  definition: EvaluationDefinition,
  recording: string | undefined,
  nowMs: number,
  brokers: ReadonlyMap<string, unknown>,
): EvaluationTerms | readonly string[] {
  const settings: CompetitionSettings[] = [];
  const problems: string[] = [];
  const scenarios = definition.scenarios as unknown as readonly EvaluationScenario[];
  for (const [index, scenario] of scenarios.entries()) {
    const path = `scenarios.${index}.`;
    const { name, market, rules, fixture, tasks = [] } = scenario;
    const one = settingsOf(
      { name, market, rules, scoring: 'TOTAL_RETURN', entry: 'OPEN', visibility: 'PRIVATE' },
      nowMs,
      brokers,
    );
    if (Array.isArray(one)) {
      problems.push(...(one as readonly string[]).map((problem) => path + problem));
      continue;
    }
    const valid = one as CompetitionSettings;
    if (market.regime === 'no-edge') {
      // Options and futures are valued by other volatilities and rates than those of the path.
      if (rules.assetClasses.some((assetClass) => assetClass !== 'EQUITY'))
        problems.push(`${path}rules.assetClasses must be EQUITY alone for the regime no-edge`);
      if (fixture !== undefined) problems.push(`${path}fixture should not exist for the regime no-edge`);
    }
    if (typeof fixture === 'string' && market.clock !== 'manual')
      problems.push(`${path}fixture must not name a fixture for scaled clocks`);
    const calendar = calendarById(valid.market.calendar);
    problems.push(...taskProblems(tasks, path, { startsAt: valid.startsAt, endsAt: valid.endsAt, calendar }));
    settings.push(valid);
  }
  const timeLimitMs = realMs(definition.timeLimit ?? 'P1D');
  if (!(timeLimitMs > 0 && timeLimitMs <= LONGEST_LIMIT_MS))
    problems.push('timeLimit must be a positive ISO 8601 duration of at most P30D');
  if (problems.length > 0) return problems;
  const isRecorded = settings.some(({ market }) => market.feed === 'replay');
  const used = isRecorded ? recording : undefined;
  return {
    definition,
    settings,
    digest: evaluationDigest(definition, used),
    ...(used !== undefined && { recording: used }),
    warnings: warningsOf(definition, settings),
    timeLimitMs,
  };
}

/** SHA-256, in hex, of a definition without its name and visibility, with the digest of the recording. */
export function evaluationDigest(definition: EvaluationDefinition, recording: string | undefined): string {
  const { name: _, visibility: __, ...measured } = definition;
  return canonicalDigest({ ...measured, ...(recording !== undefined && { recording }) });
}

function warningsOf(
  { scenarios }: EvaluationDefinition,
  settings: readonly CompetitionSettings[],
): readonly EvaluationWarning[] {
  const warnings: EvaluationWarning[] = [];
  const recorded = settings
    .map((one, index) => ({ ...one, scenario: scenarios[index]?.name ?? '' }))
    .filter(({ market }) => market.feed === 'replay');
  for (const [index, one] of recorded.entries())
    for (const other of recorded.slice(index + 1))
      if (overlaps(one, other))
        warnings.push({
          code: 'OVERLAP',
          message: `Scenarios ${one.scenario} and ${other.scenario} share a recorded symbol and day`,
          scenarios: [one.scenario, other.scenario],
        });
  const bare = recorded.filter(({ mask }) => mask === undefined || !(mask.symbols && mask.dates));
  if (bare.length > 0)
    warnings.push({
      code: 'UNMASKED',
      message: 'Models may remember a recording whose symbols or dates are shown',
      scenarios: bare.map(({ scenario }) => scenario),
    });
  const markets = scenarios.reduce((sum, { seeds = [1] }) => sum + seeds.length, 0);
  if (markets < FEW_SEEDS)
    warnings.push({ code: 'FEW_SEEDS', message: 'Fewer than five markets give no stable mean' });
  return warnings;
}

/** True when two scenarios share a recorded symbol and a day. */
function overlaps(a: CompetitionSettings, b: CompetitionSettings): boolean {
  const dayOf = ({ market }: CompetitionSettings, at: CompetitionSettings['startsAt']): string =>
    calendarById(market.calendar).dateOf(at);
  const isApart = dayOf(a, a.endsAt) < dayOf(b, b.startsAt) || dayOf(b, b.endsAt) < dayOf(a, a.startsAt);
  if (isApart) return false;
  const [one, other] = [a.market.replay?.symbols, b.market.replay?.symbols];
  return one === undefined || other === undefined || one.some((symbol) => other.includes(symbol));
}

/** An evaluation without its matrix. */
export function evaluationOf({ note }: KeptEvaluation, status: EvaluationStatus) {
  const { definition } = note;
  const { scenarios, trials = 1 } = definition;
  return {
    evaluationId: note.id,
    name: definition.name,
    status,
    digest: note.digest,
    cells: scenarios.reduce((sum, { seeds = [1] }) => sum + seeds.length, 0) * trials,
    warnings: note.warnings.map(({ scenarios: about, ...warning }) => ({
      ...warning,
      ...(about !== undefined && { scenarios: [...about] }),
    })),
    visibility: definition.visibility ?? ('PRIVATE' as const),
    createdAt: isoOfMs(note.createdAt),
  };
}

/** Rows have the form in which they travel. */
export const shownRows = (rows: readonly MatrixRow[]): ShownRow[] => [...rows] as unknown as ShownRow[];
