import type { CompetitionRules, EvaluationBody, Scope } from '@sandpit/protocol';
import { canonicalDigest } from '../../evaluations/canonical-json.js';
import { EVALUATION_FORMAT } from '../../evaluations/definition.js';
import type { EvaluationDefinition, MatrixRow } from '../../evaluations/definition.js';
import { enteredIn, statusOf } from '../../evaluations/directory.js';
import type { EvaluationDirectory, KeptCell, KeptEvaluation } from '../../evaluations/directory.js';
import { EvaluationRefused } from '../../evaluations/errors.js';
import { exportEvaluation } from '../../evaluations/evaluation-file.js';
import type { Evaluations } from '../../evaluations/evaluations.js';
import { instructionsOf } from '../../evaluations/instructions.js';
import { inspectLogOf } from '../../evaluations/inspect-log.js';
import type { EvaluationEntryNote } from '../../evaluations/notes.js';
import { filedEntries, shownCell, statusOfCell, viewOf } from '../../evaluations/rows.js';
import { deadlineOf } from '../../evaluations/runs.js';
import { SUITES } from '../../evaluations/suites.js';
import { Slice } from '../../engine/scheduling/slice.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { Answer, refuse, refuseCoded } from '../answer.js';
import { issueToken, lineageOf, type Principal, TOO_MANY_GENERATIONS } from '../auth.js';
import type { Handlers, Issuers } from '../call.js';
import type { HttpDeps } from '../settings.js';
import { editedEvaluation, evaluationOf, evaluationTerms, shownRows } from '../translate/evaluations.js';
import { isoOf, isoOfMs } from '../translate/instants.js';
import { NEXT_CURSOR, pageOfAll } from '../translate/pages.js';
import { refusing as refusingMarkets } from './competitions.js';
import { sendPieces } from './simulations.js';

export type EvaluationId =
  | 'createEvaluation'
  | 'listEvaluations'
  | 'listEvaluationSuites'
  | 'getEvaluation'
  | 'updateEvaluation'
  | 'deleteEvaluation'
  | 'getEvaluationDefinition'
  | 'enterEvaluation'
  | 'listEvaluationEntries'
  | 'withdrawEvaluationEntry'
  | 'getEvaluationMatrix'
  | 'getEvaluationLeaderboard'
  | 'exportEvaluation'
  | 'getOwnCell'
  | 'finishCell'
  | 'reportUsage';

const NO_TOKENS = refuse(409, 'This server does not issue tokens: they come from its identity provider');
const PUBLIC_TAKES_ADMIN = refuseCoded('INSUFFICIENT_SCOPE', 'A public evaluation requires the scope admin', {
  requiredScope: 'admin',
});
const NOT_A_CELL = refuse(404, 'The token is not the token of a cell');
/** The key of a mask that is only tried. */
const ANY_KEY = '0'.repeat(32);
/** Scopes of the token of a cell. What it may do with them is limited by its cell. */
const CELL_SCOPES: readonly Scope[] = ['trade', 'read', 'simulate'];

/** Evaluations (D210). */
export function evaluationHandlers(deps: HttpDeps, evaluations: Evaluations): Pick<Handlers, EvaluationId> {
  return {
    ...definitionHandlers(deps, evaluations),
    ...entryHandlers(deps, evaluations),
    ...figureHandlers(deps, evaluations),
    ...cellHandlers(evaluations),
  };
}

/** Evaluations with their definitions. */
const definitionHandlers = (deps: HttpDeps, { directory, creation }: Evaluations) =>
  ({
    createEvaluation: ({ principal, body }) =>
      refusing(async () => {
        if (!mayPublish(body, principal)) return PUBLIC_TAKES_ADMIN;
        const terms = await termsOf(deps, body);
        if (terms instanceof Answer) return terms;
        return shown(await creation.create(principal.tenantId, principal.tier, terms));
      }),

    listEvaluations: ({ principal, query }) =>
      pageOfAll(directory.list(principal.tenantId), query, ({ note }) => note.id, shown),

    listEvaluationSuites: ({ query }) =>
      pageOfAll(
        SUITES,
        query,
        ({ name }) => name,
        ({ name, scenarios }) => ({
          name,
          scenarios: scenarios.length,
          tasks: scenarios.reduce((sum, { tasks = [] }) => sum + tasks.length, 0),
          digest: canonicalDigest(scenarios),
        }),
      ),

    updateEvaluation: ({ principal, params, body }) =>
      refusing(async () => {
        const kept = directory.own(params.evaluationId, principal.tenantId);
        creation.refuseStarted(kept);
        if (!mayPublish(body, principal)) return PUBLIC_TAKES_ADMIN;
        const terms = await termsOf(deps, editedEvaluation(kept.note.definition, body));
        if (terms instanceof Answer) return terms;
        return shown(await creation.update(kept, terms));
      }),

    deleteEvaluation: ({ principal, params: { evaluationId } }) =>
      refusing(async () => {
        await creation.remove(directory.own(evaluationId, principal.tenantId));
        return { evaluationId, message: 'Evaluation deleted' };
      }),

    getEvaluationDefinition: ({ principal, params }) =>
      refusing(
        () =>
          directory.own(params.evaluationId, principal.tenantId).note.definition as unknown as EvaluationBody,
      ),
  }) satisfies Partial<Handlers>;

/** Entries of evaluations. */
const entryHandlers = ({ settings }: HttpDeps, { directory, creation }: Evaluations) =>
  ({
    enterEvaluation: ({ principal, params, body }) =>
      refusing(async () => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        const kept = directory.own(params.evaluationId, principal.tenantId);
        return shownEntry(await creation.enter(kept, body));
      }),

    listEvaluationEntries: ({ principal, params, query }) =>
      refusing(() => {
        const kept = directory.own(params.evaluationId, principal.tenantId);
        return pageOfAll(
          enteredIn(kept),
          query,
          ({ id }) => id,
          (entry) => ({
            ...shownEntry(entry),
            cells: kept.cells.filter((cell) => cell.entry.id === entry.id).length,
          }),
        );
      }),

    withdrawEvaluationEntry: ({ principal, params: { evaluationId, entryId } }) =>
      refusing(async () => {
        await creation.withdraw(directory.own(evaluationId, principal.tenantId), entryId);
        return { entryId, message: 'Entry withdrawn' };
      }),
  }) satisfies Partial<Handlers>;

/** Figures of evaluations, and their exported files. */
const figureHandlers = ({ store }: HttpDeps, { directory, journal }: Evaluations) =>
  ({
    getEvaluation: ({ principal, params, query }) =>
      refusing(() => {
        const kept = directory.own(params.evaluationId, principal.tenantId);
        const { rows, figures } = viewOf(kept);
        return {
          ...shown(kept),
          matrix: query.matrix === false ? [] : shownRows(rows),
          summary: figures.summary.map(withInterval),
          paired: figures.paired.map(withInterval),
        };
      }),

    async getEvaluationMatrix(call) {
      const { principal, params, query, request } = call;
      const rows = await refusing(() => viewOf(directory.own(params.evaluationId, principal.tenantId)).rows);
      if (rows instanceof Answer) return rows;
      if (/(^|,)\s*application\/x-ndjson\b/i.test(request.headers.accept ?? ''))
        return sendPieces(call, linesOf(rows));
      return pageOfAll(
        shownRows(rows),
        query,
        ({ cellId }) => cellId,
        (row) => row,
      );
    },

    getEvaluationLeaderboard: ({ principal, params, query }) =>
      refusing(() => {
        // The token of a cell sees nothing here; admission refuses it.
        const kept = directory.find(params.evaluationId, principal?.tenantId);
        const { figures, resultHash } = viewOf(kept);
        const page = pageOfAll(figures.ranks, query, ({ entrant }) => entrant, withInterval);
        const next = page[NEXT_CURSOR];
        return {
          evaluationId: kept.note.id,
          digest: kept.note.digest,
          ...(resultHash !== undefined && { resultHash }),
          status: statusOf(kept),
          rows: page.data,
          pagination: page.pagination,
          ...(next !== undefined && { [NEXT_CURSOR]: next }),
        };
      }),

    async exportEvaluation(call) {
      const { principal, params, query } = call;
      if (query.format !== undefined && query.entrant === undefined)
        return refuse(400, ['entrant must be given with format']);
      if (query.format === undefined && query.entrant !== undefined)
        return refuse(400, ['entrant must not be given without format']);
      const kept = await refusing(() => directory.own(params.evaluationId, principal.tenantId));
      if (kept instanceof Answer) return kept;
      // Before the rows, which belong to its state.
      const cell = await journal.cellOf(kept);
      const { rows, figures, resultHash } = viewOf(kept);
      const { note } = kept;
      const { id: evaluationId, digest, definition, draw, recording, cellId } = note;
      if (resultHash === undefined || cellId === undefined || statusOf(kept) === 'RUNNING')
        return NOT_FINISHED;
      const entries = filedEntries(kept);
      if (query.entrant !== undefined) {
        const entry = entries.find(({ entrant }) => entrant === query.entrant);
        const summary = figures.summary.find(({ entrant }) => entrant === query.entrant);
        if (entry === undefined || summary === undefined) return refuse(404, 'Entrant not found');
        const own = rows.filter(({ entrant }) => entrant === query.entrant);
        const createdAt = isoOfMs(note.createdAt);
        return Answer.json(
          200,
          inspectLogOf({ evaluationId, digest, definition, entry, rows: own, summary, createdAt }),
        );
      }
      const header = {
        type: 'evaluation' as const,
        format: EVALUATION_FORMAT as typeof EVALUATION_FORMAT,
        evaluationId,
        cellId,
        digest,
        ...(recording !== undefined && { recording }),
        draw,
        definition,
        entries,
        resultHash,
        summary: figures.summary,
        paired: figures.paired,
      };
      const cells = [
        { simulationId: cell.id, shownId: cellId, upTo: cell.decided },
        ...kept.cells.map(({ note: { id, result } }) => ({
          simulationId: id,
          shownId: id,
          upTo: result?.last ?? 0,
        })),
      ];
      await cell.durable();
      return sendPieces(call, exportEvaluation(store, header, rows, cells));
    },
  }) satisfies Partial<Handlers>;

/** The cell of a token. */
const cellHandlers = ({ directory, runs, house }: Evaluations) =>
  ({
    getOwnCell({ principal, simulation }) {
      const cell = cellOf(directory, principal);
      return cell === undefined ? NOT_A_CELL : ownCellOf(cell, simulation);
    },

    finishCell: ({ principal, simulation }) =>
      refusing(async () => {
        const cell = cellOf(directory, principal);
        if (cell === undefined) return NOT_A_CELL;
        await house.finish(cell);
        return ownCellOf(cell, simulation);
      }),

    async reportUsage({ principal, body }) {
      const cell = cellOf(directory, principal);
      return cell === undefined ? NOT_A_CELL : { ...(await runs.reportUsage(cell, body)) };
    },
  }) satisfies Partial<Handlers>;

/** Terms of a body, or the refusal. */
async function termsOf({ simulations, clockMs }: HttpDeps, { suite, ...body }: EvaluationBody) {
  const { brokers } = simulations.market.brokerage.rules;
  const named = SUITES.find(({ name }) => name === suite);
  if (suite !== undefined && named === undefined)
    return refuse(400, [`suite must be one of ${SUITES.map(({ name }) => name).join(', ')}`]);
  const definition = {
    ...body,
    ...(named !== undefined && { scenarios: named.scenarios }),
  } as unknown as EvaluationDefinition;
  const isRecorded = definition.scenarios.some(({ market }) => market['feed'] === 'replay');
  const recording = isRecorded ? await simulations.creation.recordingDigest() : undefined;
  if (isRecorded && recording === undefined)
    return refuse(400, ['scenarios must not replay: this server has no recording']);
  const terms = evaluationTerms(definition, recording, clockMs(), brokers);
  if ('digest' in terms) {
    for (const { market, mask: parts } of terms.settings)
      if (market.feed === 'replay')
        await simulations.creation.check({
          ...market,
          ...(parts !== undefined && { hides: { parts, key: ANY_KEY } }),
        });
    return terms;
  }
  return refuse(400, [...terms]);
}

const mayPublish = (body: { readonly visibility?: string }, principal: Principal): boolean =>
  body.visibility !== 'PUBLIC' || principal.scopes.has('admin');

const shown = (kept: KeptEvaluation) => evaluationOf(kept, statusOf(kept));

const shownEntry = ({ id, entrant, model, version }: EvaluationEntryNote) => ({
  entryId: id,
  entrant,
  ...(model !== undefined && { model }),
  ...(version !== undefined && { version }),
});

const withInterval = <T>({ ci95, ...row }: T & { readonly ci95?: readonly [number, number] }) => ({
  ...row,
  ...(ci95 !== undefined && { ci95: [...ci95] }),
});

/** The cell that a token is for. */
const cellOf = (
  directory: EvaluationDirectory,
  { isEntry, simulationId }: Principal,
): KeptCell | undefined => (isEntry === true ? directory.cellOf(simulationId) : undefined);

/** A cell as its entrant sees it: nothing of the evaluation around it. */
function ownCellOf(cell: KeptCell, simulation: Simulation) {
  const { note, kept } = cell;
  const { definition } = kept.note;
  const scenario = definition.scenarios[note.scenario];
  const settingsOfCell = kept.note.settings[note.scenario];
  const shownRules = scenario?.rules as unknown as CompetitionRules;
  const symbols = simulation.brokerage.state.competition?.terms.rules.symbols;
  const isMasked = settingsOfCell?.mask !== undefined;
  const instructions = scenario && instructionsOf(scenario);
  const { callLimit, reveal } = definition;
  const results = reveal === true ? note.result?.tasks : undefined;
  return {
    portfolioId: note.portfolioId,
    now: isoOf(simulation.now()),
    end: isoOfMs(note.end),
    rules: {
      ...shownRules,
      ...(isMasked && shownRules.symbols !== undefined && { symbols: [...(symbols ?? [])] }),
    },
    status: statusOfCell(note),
    ...(instructions !== undefined && { instructions }),
    ...(callLimit !== undefined && { callsLeft: Math.max(0, callLimit - note.calls.requests) }),
    ...(note.startedAt !== undefined && { expiresAt: isoOfMs(deadlineOf(cell)) }),
    ...(results !== undefined && { tasks: results.map((task) => ({ ...task })) as never }),
  };
}

const NOT_FINISHED = refuseCoded(
  'EVALUATION_NOT_FINISHED',
  'An evaluation is exported once every cell has ended',
  {},
);

// eslint-disable-next-line @typescript-eslint/require-await -- sent as pieces that come
async function* linesOf(rows: readonly MatrixRow[]): AsyncGenerator<string> {
  for (const row of rows) yield `${JSON.stringify(row)}\n`;
}

/** Answers for the refusals of evaluations. */
async function refusing<T>(work: () => T | Promise<T>): Promise<T | Answer> {
  try {
    return await refusingMarkets(work);
  } catch (error) {
    if (error instanceof EvaluationRefused) return answerToEvaluation(error);
    throw error;
  }
}

function answerToEvaluation({ problem, message }: EvaluationRefused): Answer {
  switch (problem) {
    case 'NOT_FOUND':
      return refuse(404, message);
    case 'STARTED':
      return refuseCoded('EVALUATION_STARTED', message, {});
    case 'NOT_RUNNING':
      return refuseCoded('EVALUATION_NOT_RUNNING', message, {});
    case 'NOT_FINISHED':
      return refuseCoded('EVALUATION_NOT_FINISHED', message, {});
    case 'TOO_MANY':
    case 'NAME_TAKEN':
    case 'CELL':
      return refuse(409, message);
  }
}

/** Tokens of cells. */
export function evaluationIssuer(
  { settings, clockMs }: Pick<HttpDeps, 'settings' | 'clockMs'>,
  { directory }: Evaluations,
): Pick<Issuers, 'enterEvaluation'> {
  return {
    async enterEvaluation({ principal }, kept) {
      const { tenantId, tier, expiresAtMs, origin, agent } = principal;
      const fromTokenIds = lineageOf(origin);
      if (fromTokenIds === undefined) return TOO_MANY_GENERATIONS;
      const cells = [];
      const slice = new Slice();
      for (const cell of directory.cellsOf(kept.entryId, tenantId)) {
        const issued = await issueToken(
          settings,
          {
            tenantId,
            tier,
            scope: CELL_SCOPES.join(' '),
            simulationId: cell.note.id,
            isEntry: true,
            notAfterMs: expiresAtMs,
            keyId: origin.keyId,
            fromTokenIds,
            agent,
          },
          clockMs(),
        );
        if (issued === undefined) return NO_TOKENS;
        cells.push({ ...shownCell(cell), token: issued.token });
        await slice.breathe();
      }
      return { ...kept, cells };
    },
  };
}
