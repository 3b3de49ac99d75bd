import type { CompetitionRules, EvaluationBody, Scope } from '@sandpit/protocol';
import { canonicalDigest } from '../../evaluations/canonical-json.js';
import type { EvaluationDefinition, MatrixRow } from '../../evaluations/definition.js';
import { EvaluationRefused } from '../../evaluations/errors.js';
import { exportEvaluation } from '../../evaluations/evaluation-file.js';
import { EVALUATION_FORMAT } from '../../evaluations/definition.js';
import {
  deadlineOf,
  enteredIn,
  type Evaluations,
  type KeptCell,
  type KeptEvaluation,
} from '../../evaluations/evaluations.js';
import { instructionsOf } from '../../evaluations/instructions.js';
import { inspectLogOf } from '../../evaluations/inspect-log.js';
import { filedEntries, shownCell, statusOfCell, viewOf } from '../../evaluations/rows.js';
import { SUITES } from '../../evaluations/suites.js';
import { Slice } from '../../engine/scheduling/slice.js';
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
export function evaluationHandlers(
  { simulations, store, settings, clockMs }: HttpDeps,
  evaluations: Evaluations,
): Pick<Handlers, EvaluationId> {
  const { brokers } = simulations.market.brokerage.rules;

  /** Terms of a body, or the refusal. */
  const termsOf = async ({ suite, ...body }: EvaluationBody) => {
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
  };

  const mayPublish = (body: { readonly visibility?: string }, principal: Principal): boolean =>
    body.visibility !== 'PUBLIC' || principal.scopes.has('admin');

  const shown = (kept: KeptEvaluation) => evaluationOf(kept, evaluations.statusOf(kept));

  /** The cell that a token is for. */
  const cellOf = ({ isEntry, simulationId }: Principal): KeptCell | undefined =>
    isEntry === true ? evaluations.cellOf(simulationId) : undefined;

  return {
    createEvaluation: ({ principal, body }) =>
      refusing(async () => {
        if (!mayPublish(body, principal)) return PUBLIC_TAKES_ADMIN;
        const terms = await termsOf(body);
        if (terms instanceof Answer) return terms;
        return shown(await evaluations.create(principal.tenantId, principal.tier, terms));
      }),

    listEvaluations: ({ principal, query }) =>
      pageOfAll(evaluations.list(principal.tenantId), query, ({ note }) => note.id, shown),

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

    getEvaluation: ({ principal, params, query }) =>
      refusing(() => {
        const kept = evaluations.own(params.evaluationId, principal.tenantId);
        const { rows, figures } = viewOf(kept);
        return {
          ...shown(kept),
          matrix: query.matrix === false ? [] : shownRows(rows),
          summary: figures.summary.map(({ ci95, ...row }) => ({
            ...row,
            ...(ci95 !== undefined && { ci95: [...ci95] }),
          })),
          paired: figures.paired.map(({ ci95, ...row }) => ({
            ...row,
            ...(ci95 !== undefined && { ci95: [...ci95] }),
          })),
        };
      }),

    updateEvaluation: ({ principal, params, body }) =>
      refusing(async () => {
        const kept = evaluations.own(params.evaluationId, principal.tenantId);
        evaluations.refuseStarted(kept);
        if (!mayPublish(body, principal)) return PUBLIC_TAKES_ADMIN;
        const terms = await termsOf(editedEvaluation(kept.note.definition, body));
        if (terms instanceof Answer) return terms;
        return shown(await evaluations.update(kept, terms));
      }),

    deleteEvaluation: ({ principal, params: { evaluationId } }) =>
      refusing(async () => {
        await evaluations.remove(evaluations.own(evaluationId, principal.tenantId));
        return { evaluationId, message: 'Evaluation deleted' };
      }),

    getEvaluationDefinition: ({ principal, params }) =>
      refusing(
        () =>
          evaluations.own(params.evaluationId, principal.tenantId).note
            .definition as unknown as EvaluationBody,
      ),

    enterEvaluation: ({ principal, params, body }) =>
      refusing(async () => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        const kept = evaluations.own(params.evaluationId, principal.tenantId);
        const { id, entrant, model, version } = await evaluations.enter(kept, body);
        return {
          entryId: id,
          entrant,
          ...(model !== undefined && { model }),
          ...(version !== undefined && { version }),
        };
      }),

    listEvaluationEntries: ({ principal, params, query }) =>
      refusing(() => {
        const kept = evaluations.own(params.evaluationId, principal.tenantId);
        return pageOfAll(
          enteredIn(kept),
          query,
          ({ id }) => id,
          ({ id, entrant, model, version }) => ({
            entryId: id,
            entrant,
            ...(model !== undefined && { model }),
            ...(version !== undefined && { version }),
            cells: kept.cells.filter(({ entry }) => entry.id === id).length,
          }),
        );
      }),

    withdrawEvaluationEntry: ({ principal, params: { evaluationId, entryId } }) =>
      refusing(async () => {
        await evaluations.withdraw(evaluations.own(evaluationId, principal.tenantId), entryId);
        return { entryId, message: 'Entry withdrawn' };
      }),

    async getEvaluationMatrix(call) {
      const { principal, params, query, request } = call;
      const rows = await refusing(
        () => viewOf(evaluations.own(params.evaluationId, principal.tenantId)).rows,
      );
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
        const kept = evaluations.find(params.evaluationId, principal?.tenantId);
        const { figures, resultHash } = viewOf(kept);
        const page = pageOfAll(
          figures.ranks,
          query,
          ({ entrant }) => entrant,
          ({ ci95, ...row }) => ({ ...row, ...(ci95 !== undefined && { ci95: [...ci95] }) }),
        );
        const next = page[NEXT_CURSOR];
        return {
          evaluationId: kept.note.id,
          digest: kept.note.digest,
          ...(resultHash !== undefined && { resultHash }),
          status: evaluations.statusOf(kept),
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
      const kept = await refusing(() => evaluations.own(params.evaluationId, principal.tenantId));
      if (kept instanceof Answer) return kept;
      // Before the rows, which belong to its state.
      const journal = await evaluations.cellOfEvaluation(kept);
      const { rows, figures, resultHash } = viewOf(kept);
      const { note } = kept;
      const { id: evaluationId, digest, definition, draw, recording, cellId } = note;
      if (resultHash === undefined || cellId === undefined || evaluations.statusOf(kept) === 'RUNNING')
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
        { simulationId: journal.id, shownId: cellId, upTo: journal.decided },
        ...kept.cells.map(({ note: { id, result } }) => ({
          simulationId: id,
          shownId: id,
          upTo: result?.last ?? 0,
        })),
      ];
      await journal.durable();
      return sendPieces(call, exportEvaluation(store, header, rows, cells));
    },

    getOwnCell({ principal, simulation }) {
      const cell = cellOf(principal);
      return cell === undefined ? NOT_A_CELL : ownCellOf(cell, simulation.now());
    },

    finishCell: ({ principal, simulation }) =>
      refusing(async () => {
        const cell = cellOf(principal);
        if (cell === undefined) return NOT_A_CELL;
        await evaluations.finish(cell);
        return ownCellOf(cell, simulation.now());
      }),

    async reportUsage({ principal, body }) {
      const cell = cellOf(principal);
      return cell === undefined ? NOT_A_CELL : { ...(await evaluations.reportUsage(cell, body)) };
    },
  };

  /** A cell as its entrant sees it: nothing of the evaluation around it. */
  function ownCellOf(cell: KeptCell, now: Parameters<typeof isoOf>[0]) {
    const { note, kept } = cell;
    const { definition } = kept.note;
    const scenario = definition.scenarios[note.scenario];
    const settingsOfCell = kept.note.settings[note.scenario];
    const shownRules = scenario?.rules as unknown as CompetitionRules;
    const symbols = simulations.directory.inMemory(note.id, kept.note.owner)?.brokerage.state.competition
      ?.terms.rules.symbols;
    const isMasked = settingsOfCell?.mask !== undefined;
    const instructions = scenario && instructionsOf(scenario);
    const { callLimit, reveal } = definition;
    const results = reveal === true ? note.result?.tasks : undefined;
    return {
      portfolioId: note.portfolioId,
      now: isoOf(now),
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
  evaluations: Evaluations,
): Pick<Issuers, 'enterEvaluation'> {
  return {
    async enterEvaluation({ principal }, kept) {
      const { tenantId, tier, expiresAtMs, origin, agent } = principal;
      const fromTokenIds = lineageOf(origin);
      if (fromTokenIds === undefined) return TOO_MANY_GENERATIONS;
      const cells = [];
      const slice = new Slice();
      for (const cell of evaluations.cellsOf(kept.entryId, tenantId)) {
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
