/** What the verification of an exported evaluation needs of this server (D210): bodies, digests, and the measuring of cells. */
import { calendarById, Instant } from '@sandpit/core';
import type { CompetitionSettings } from '../competitions/notes.js';
import { differingFromJournal } from '../competitions/verify-competition.js';
import type { Task } from '../evaluations/assertion.js';
import type { MatrixRow, ShownScenario } from '../evaluations/definition.js';
import { drawOfCell } from '../evaluations/draw.js';
import type { Correspondence } from '../evaluations/grader.js';
import { type CellToMeasure, type EvaluationReader, rulesOfCell } from '../evaluations/verify-evaluation.js';
import { Mask } from '../feeds/mask.js';
import { cellResult } from './analytics/cell-result.js';
import { settingsFiled } from './translate/competitions.js';
import { assertionTimes } from './translate/evaluation-tasks.js';
import { evaluationDigest } from './translate/evaluations.js';

/** Settings of a scenario as those of a competition with its market and rules. */
const settingsOf = ({ name, market, rules }: ShownScenario): CompetitionSettings | undefined => {
  const settings = settingsFiled({
    name,
    market,
    rules,
    scoring: 'TOTAL_RETURN',
    entry: 'OPEN',
    visibility: 'PRIVATE',
  });
  return Array.isArray(settings) ? undefined : (settings as CompetitionSettings);
};

/** Symbols that a scenario names. */
function symbolsIn({ market, rules, tasks = [], fixture }: ShownScenario): readonly string[] {
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value as unknown[]) collect(one);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value))
        if ((name === 'symbol' || name === 'underlying') && typeof inner === 'string')
          found.add(inner.toUpperCase());
        else collect(inner);
  };
  collect([tasks, fixture]);
  const { symbols } = rules as { readonly symbols?: readonly string[] };
  for (const symbol of symbols ?? []) found.add(symbol.toUpperCase());
  const { replay = '' } = market as { readonly replay?: string };
  for (const symbol of replay.split(',')) if (symbol.trim() !== '') found.add(symbol.trim().toUpperCase());
  return [...found];
}

async function measure(cell: CellToMeasure): Promise<Pick<MatrixRow, 'metrics' | 'tasks'>> {
  const { store, simulationId, config, scenario, portfolioId } = cell;
  const settings = settingsOf(scenario);
  if (settings === undefined) return {};
  await store.history.make(simulationId);
  const rules = rulesOfCell(cell);
  // Times of assertions are those of the recording.
  const calendar = calendarById(settings.market.calendar);
  const correspondence = config.mask && correspondenceOf(new Mask(config.mask, symbolsIn(scenario)));
  const { startsAt, endsAt } = settings;
  const tasks = scenario.tasks as readonly Task[] | undefined;
  const begun = typeof scenario.fixture === 'string' ? await beginningOf(cell) : undefined;
  const found = await cellResult(
    store,
    {
      simulationId,
      portfolioId,
      config,
      rules,
      ...(begun !== undefined && { from: begun }),
      endsAt: correspondence?.shownAt(endsAt) ?? endsAt,
    },
    tasks ?? [],
    {
      startsAt,
      endsAt,
      calendar,
      ...(correspondence !== undefined && { correspondence }),
      instantsOf: assertionTimes(calendar),
    },
  );
  return { metrics: found.metrics, ...(tasks !== undefined && { tasks: found.tasks }) };
}

const correspondenceOf = (mask: Mask): Correspondence => ({
  symbolOf: (symbol) => mask.masked(symbol),
  shownAt: (at) => mask.dates.moved(at),
  recordedAt: (at) => mask.dates.recorded(at),
});

/** Simulated time at which the entrant could begin: the fixture had traded before. */
async function beginningOf({ store, simulationId }: CellToMeasure): Promise<Instant | undefined> {
  for await (const { at, payload } of store.journal.read(simulationId, 0))
    if (payload.includes('"CompetitionBegun"')) return Instant.ofMs(at);
  return undefined;
}

/** Reads exported evaluations. `openStore`: an empty store that makes rows of the journals that are entered in it. */
export const evaluationReader = (openStore: EvaluationReader['openStore']): EvaluationReader => ({
  openStore,
  measure,
  digestOf: ({ definition, recording }) => evaluationDigest(definition, recording),
  differingSettings(scenario, cell, draw, place) {
    const settings = settingsOf(scenario);
    if (settings === undefined) return ['the body of the scenario'];
    // A named fixture has portfolios of its own.
    const { portfolio, ...others } = cell;
    const compared = typeof scenario.fixture === 'string' ? { ...others, portfolio: undefined } : cell;
    return differingFromJournal(settings, drawOfCell(draw, place).maskKey, compared);
  },
});
