/** The result of a cell of an evaluation (D210, D211), from its journal and the history that derives from it. */
import { Instant, type Rules } from '@sandpit/core';
import type { Task } from '../../evaluations/assertion.js';
import type { TaskResult } from '../../evaluations/definition.js';
import { gradeJournal, type GradedJournal } from '../../evaluations/grade-journal.js';
import type { GradingTerms } from '../../evaluations/grader.js';
import { type KeptConfig, originOf } from '../../engine/configuration/simulation-config.js';
import type { PastSource } from '../../store/past.js';
import { shownPerformance } from '../translate/performance.js';
import { partialMonths } from './portfolio-performance.js';
import { runStudy } from './run-study.js';
import type { PeriodInput } from './study.js';
import type { StudyContext } from './study-context.js';

/** A cell that has ended. */
export interface EndedCell {
  readonly simulationId: string;
  readonly portfolioId: string;
  readonly config: KeptConfig;
  /** The rules that its journal began under. */
  readonly rules: Rules;
  /** Simulated ms from which figures count, because its fixture traded before; absent = the opening of the portfolio. */
  readonly from?: number;
  /** End of its market, as it shows it; simulated ms. */
  readonly endsAt: number;
  /** Its last record that counts; absent = the last one in the journal. */
  readonly upTo?: number;
}

export interface CellResult {
  /** The performance from start to end, as `GET …/performance` has it. */
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly tasks: readonly TaskResult[];
}

/** Grades a cell and measures its portfolio. `source` has the rows of all its records. */
export async function cellResult(
  source: Pick<PastSource, 'history' | 'journal'>,
  cell: EndedCell,
  tasks: readonly Task[],
  terms: GradingTerms,
): Promise<CellResult> {
  const { simulationId, config, rules, upTo } = cell;
  const records = source.journal.read(simulationId, 0);
  const graded = await gradeJournal({ records, upTo, rules, origin: originOf(config) }, tasks, terms);
  return { metrics: await metricsOf(source, cell, graded), tasks: graded.tasks };
}

async function metricsOf(
  { history, journal }: Pick<PastSource, 'history' | 'journal'>,
  { simulationId, portfolioId, config, from, endsAt }: EndedCell,
  { brokerage, sequence, grader }: GradedJournal,
): Promise<CellResult['metrics']> {
  const { calendar } = brokerage.rules;
  const { ids, idSecret } = brokerage.state;
  const context: StudyContext = {
    simulation: {
      id: simulationId,
      marketId: simulationId,
      calendar: calendar.id,
      idSecret,
      now: endsAt,
      upTo: sequence,
      feed: config.feed,
    },
    source: { history, journal, nameOf: () => undefined },
    calendar,
    ids,
    ask: {
      instruments: (wanted) =>
        Promise.resolve(wanted.map(([symbol, at]) => brokerage.instrument(symbol, Instant.ofMs(at)))),
      quotesNow: (symbols) => Promise.resolve(symbols.map((symbol) => brokerage.quote(symbol))),
    },
    books: undefined,
    openFeed: () => Promise.reject(new Error('The performance of a cell reads no feed')),
    emit: () => Promise.resolve(false),
  };
  const { epochs, flows } = await runStudy('outline', context, { portfolioId });
  const epoch = epochs.at(-1);
  if (epoch === undefined) return {};
  const begin = from ?? epoch.beganAt;
  const startEquity = from === undefined ? undefined : grader.startEquityOf(portfolioId);
  const input: PeriodInput = {
    portfolioId,
    epoch: epoch.number,
    from: begin,
    to: endsAt,
    isFromOpening: from === undefined,
    start: { at: begin, equity: startEquity ?? epoch.initialCash },
    flows: flows.filter((flow) => flow.epoch === epoch.number && (from === undefined || flow.at > from)),
    end: { at: endsAt, equity: grader.equityOf(portfolioId) },
    periodsPerYear: calendar.id === 'always-open' ? 365 : 252,
    endDate: calendar.dateOf(Instant.ofMs(endsAt)),
    partialMonths: [...partialMonths(calendar, begin, endsAt)],
  };
  return { ...shownPerformance(await runStudy('performance', context, input), input, false) };
}
