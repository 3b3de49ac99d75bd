import type { CompetitionBody } from '@sandpit/protocol';
import type { CompetitionRefused as Refused } from '../../competitions/errors.js';
import { CompetitionRefused } from '../../competitions/errors.js';
import type { Competitions } from '../../competitions/competitions.js';
import type { Viewer } from '../../competitions/directory.js';
import type { KeptCompetition, Status } from '../../competitions/kept-competition.js';
import type { CompetitionSettings } from '../../competitions/notes.js';
import type { Board } from '../../competitions/running-competition.js';
import { NotRecorded } from '../../engine/directory/creation.js';
import { NoLiveSource } from '../../engine/directory/shared-dependencies.js';
import { NotMaskable } from '../../feeds/mask.js';
import { Answer, refuse, refuseCoded } from '../answer.js';
import { issueToken, lineageOf, type Principal, TOO_MANY_GENERATIONS } from '../auth.js';
import type { Call, Handlers, Issuers } from '../call.js';
import type { RecordingsInUse } from '../recordings-in-use.js';
import type { HttpDeps } from '../settings.js';
import { sendPieces } from './simulations.js';
import type { Streams } from '../stream/streams.js';
import { frameOf } from '../stream/connection.js';
import {
  competitionOf,
  curvesOf,
  edited,
  entryOf,
  leaderboardOf,
  settingsOf,
} from '../translate/competitions.js';
import { isoOfMs } from '../translate/instants.js';
import { pageOfAll, pageShown } from '../translate/pages.js';

export type CompetitionId =
  | keyof ReturnType<typeof descriptionHandlers>
  | keyof ReturnType<typeof phaseHandlers>
  | keyof ReturnType<typeof entryHandlers>
  | keyof ReturnType<typeof resultHandlers>;

const NO_TOKENS = refuse(409, 'This server does not issue tokens: they come from its identity provider');
const PUBLIC_TAKES_ADMIN = refuseCoded(
  'INSUFFICIENT_SCOPE',
  'A public competition requires the scope admin',
  { requiredScope: 'admin' },
);

/** Competitions (D194–D196). */
export const competitionHandlers = (
  deps: HttpDeps,
  competitions: Competitions,
  streams: Streams,
  recordings: RecordingsInUse,
): Pick<Handlers, CompetitionId> => ({
  ...descriptionHandlers(deps, competitions, recordings),
  ...phaseHandlers(competitions),
  ...entryHandlers(deps.settings, competitions, streams, recordings),
  ...resultHandlers(deps.simulations, competitions, streams),
});

/** A competition as the caller sees it. */
async function shown({ lifecycle }: Competitions, kept: KeptCompetition, principal: Principal | undefined) {
  const status = await lifecycle.statusOf(kept);
  const isOrganizer = principal?.tenantId === kept.note.organizer && principal.isEntry !== true;
  if (kept.note.result !== undefined || kept.note.isCanceled === true) {
    const { at } = kept.note.result ?? {};
    return competitionOf(kept, status, { isOrganizer, now: at as undefined, isPaused: false });
  }
  return competitionOf(kept, status, { isOrganizer, ...(await lifecycle.stateOf(kept)) });
}

const mayPublish = (body: { readonly visibility?: string }, principal: Principal): boolean =>
  body.visibility !== 'PUBLIC' || principal.scopes.has('admin');

/** Market, rules and the other settings of competitions. */
function descriptionHandlers(
  { simulations, settings, clockMs }: HttpDeps,
  competitions: Competitions,
  recordings: RecordingsInUse,
): Pick<Handlers, 'createCompetition' | 'listCompetitions' | 'getCompetition' | 'updateCompetition'> {
  const { creation, directory, lifecycle } = competitions;
  const { brokers } = simulations.market.brokerage.rules;

  /** Settings that a body describes, or their refusal. */
  const wantedBy = (body: CompetitionBody, { tenantId }: Principal): CompetitionSettings | Answer => {
    const inUse = recordings.creationRefusal(tenantId, body.market);
    if (inUse !== undefined) return inUse;
    const wanted = settingsOf(body, clockMs(), brokers);
    return 'market' in wanted ? wanted : refuse(400, [...wanted]);
  };

  return {
    createCompetition: ({ principal, body }) =>
      refusing(async () => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        if (!mayPublish(body, principal)) return PUBLIC_TAKES_ADMIN;
        const wanted = wantedBy(body, principal);
        if (wanted instanceof Answer) return wanted;
        const kept = await creation.create(principal, wanted, body);
        return shown(competitions, kept, principal);
      }),

    listCompetitions: ({ principal, query }) =>
      refusing(async () => {
        const all = directory.list(viewerOf(principal));
        const found: KeptCompetition[] = [];
        for (const kept of all)
          if (query.status === undefined || (await lifecycle.statusOf(kept)) === query.status)
            found.push(kept);
        const page = pageOfAll(
          found,
          query,
          ({ note }) => note.id,
          (kept) => kept,
        );
        const data = await Promise.all(page.data.map((kept) => shown(competitions, kept, principal)));
        return pageShown(page, data);
      }),

    getCompetition: ({ principal, params }) =>
      refusing(() =>
        shown(competitions, directory.find(params.competitionId, viewerOf(principal)), principal),
      ),

    updateCompetition: ({ principal, params, body }) =>
      refusing(async () => {
        const kept = directory.own(params.competitionId, principal.tenantId);
        if (!mayPublish(body, principal)) return PUBLIC_TAKES_ADMIN;
        const whole = edited(kept.note.shown as CompetitionBody, body);
        const wanted = wantedBy(whole, principal);
        if (wanted instanceof Answer) return wanted;
        await creation.update(kept, wanted, whole);
        return shown(competitions, kept, principal);
      }),
  };
}

function phaseHandlers(
  competitions: Competitions,
): Pick<Handlers, 'cancelCompetition' | 'startCompetition' | 'pauseCompetition' | 'finishCompetition'> {
  const { directory, lifecycle } = competitions;

  /** Changes the phase of a competition that the caller organizes. */
  const changing =
    (change: (kept: KeptCompetition) => Promise<void>) =>
    ({ principal, params }: Pick<Call<'startCompetition'>, 'principal' | 'params'>) =>
      refusing(async () => {
        const kept = directory.own(params.competitionId, principal.tenantId);
        await change(kept);
        return shown(competitions, kept, principal);
      });

  return {
    cancelCompetition: ({ principal, params: { competitionId } }) =>
      refusing(async () => {
        const isGone = await lifecycle.cancel(directory.own(competitionId, principal.tenantId));
        return { competitionId, message: isGone ? 'Competition deleted' : 'Competition canceled' };
      }),

    startCompetition: changing((kept) => lifecycle.startTrading(kept)),
    pauseCompetition: changing((kept) => lifecycle.pause(kept)),
    finishCompetition: changing((kept) => lifecycle.finish(kept)),
  };
}

function entryHandlers(
  settings: HttpDeps['settings'],
  competitions: Competitions,
  streams: Streams,
  recordings: RecordingsInUse,
): Pick<
  Handlers,
  | 'getOwnEntry'
  | 'enterCompetition'
  | 'listEntries'
  | 'createEntryToken'
  | 'disqualifyEntry'
  | 'withdrawEntry'
> {
  const { directory, entries, results } = competitions;
  return {
    getOwnEntry: ({ principal }) =>
      refusing(async () => {
        const own = principal.isEntry === true ? directory.entryIn(principal.simulationId) : undefined;
        if (own === undefined) return NOT_AN_ENTRY;
        const { kept, entry } = own;
        const [competition, board, removal] = await Promise.all([
          shown(competitions, kept, principal),
          results.board(kept),
          entries.removalOf(kept, entry),
        ]);
        const row = board.rows.find(({ entryId }) => entryId === entry.id);
        return {
          ...entryOf(entry, removal),
          ...(row !== undefined && { rank: row.rank, totalEquity: row.totalEquity, return: row.return }),
          competition,
        };
      }),

    enterCompetition: ({ principal, params, body }) =>
      refusing(async () => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        const kept = directory.existing(params.competitionId);
        const entry = await entries.enter(kept, principal.tenantId, body);
        streams.endRefused((caller) => recordings.tokenRefusal(caller) !== undefined);
        return entryOf(entry, undefined);
      }),

    listEntries: ({ principal, params, query }) =>
      refusing(async () => {
        const kept = directory.find(params.competitionId, viewerOf(principal));
        const page = pageOfAll(
          entries.list(kept, principal.tenantId),
          query,
          ({ id }) => id,
          (entry) => entry,
        );
        const data = await Promise.all(
          page.data.map(async (entry) => entryOf(entry, await entries.removalOf(kept, entry))),
        );
        return pageShown(page, data);
      }),

    createEntryToken: ({ principal, params }) =>
      refusing(() => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        const kept = directory.find(params.competitionId, viewerOf(principal));
        const entry = entries.find(kept, params.entryId, principal.tenantId);
        const { id, portfolioId, simulationId, tenantId } = entry;
        // The organizer must not trade for an entrant.
        if (tenantId !== principal.tenantId) return NOT_FOUND;
        return {
          competitionId: kept.note.id,
          entryId: id,
          portfolioId,
          simulationId,
          tokenType: 'Bearer' as const,
        };
      }),

    disqualifyEntry: ({ principal, params, body }) =>
      refusing(async () => {
        const kept = directory.own(params.competitionId, principal.tenantId);
        const entry = entries.find(kept, params.entryId, principal.tenantId);
        await entries.remove(kept, entry, body);
        return entryOf(entry, await entries.removalOf(kept, entry));
      }),

    withdrawEntry: ({ principal, params }) =>
      refusing(async () => {
        const kept = directory.find(params.competitionId, viewerOf(principal));
        const entry = entries.find(kept, params.entryId, principal.tenantId);
        if (entry.tenantId !== principal.tenantId) return NOT_FOUND;
        await entries.remove(kept, entry, { status: 'WITHDRAWN' });
        return entryOf(entry, (await entries.removalOf(kept, entry)) ?? { status: 'WITHDRAWN' });
      }),
  };
}

function resultHandlers(
  simulations: HttpDeps['simulations'],
  { directory, lifecycle, results }: Competitions,
  streams: Streams,
): Pick<Handlers, 'getLeaderboard' | 'getLeaderboardCurves' | 'exportCompetition' | 'streamLeaderboard'> {
  return {
    getLeaderboard: ({ principal, params }) =>
      refusing(async () => {
        const kept = directory.find(params.competitionId, viewerOf(principal));
        const status = await lifecycle.statusOf(kept);
        return leaderboardOf(kept, status, await results.board(kept));
      }),

    getLeaderboardCurves: ({ principal, params }) =>
      refusing(async () => {
        const kept = directory.find(params.competitionId, viewerOf(principal));
        await lifecycle.statusOf(kept);
        return curvesOf(kept, await results.board(kept));
      }),

    async exportCompetition(call) {
      const { competitionId } = call.params;
      const pieces = await refusing(() =>
        results.export(directory.own(competitionId, call.principal.tenantId)),
      );
      return pieces instanceof Answer ? pieces : sendPieces(call, pieces);
    },

    async streamLeaderboard({ principal, params, request, reply }) {
      const opened = await refusing(async () => {
        const kept = directory.find(params.competitionId, viewerOf(principal));
        const status = await lifecycle.statusOf(kept);
        return { kept, status, board: await results.board(kept) };
      });
      if (opened instanceof Answer) return opened;
      const { kept } = opened;
      const simulation = request.simulation ?? simulations.market;
      return streams.openPublic({ request, reply, principal, simulation }, (connection) => {
        let id = '0';
        const presentId = (): string => id;
        let told: Buffer | undefined;
        const tell = (board: Board, status: Status): number => {
          const frame = frameFor(kept, board, status);
          if (told?.equals(frame) === true) return 0;
          // A reader that has not yet received the previous one receives only the next.
          if (connection.isBehind && !isLast(status)) return 0;
          told = frame;
          id = String(board.at);
          connection.write(frame, presentId);
          return frame.length;
        };
        tell(opened.board, opened.status);
        if (isLast(opened.status)) {
          connection.finish();
          return presentId;
        }
        const stop = results.follow(kept, (board, status) => {
          const bytes = tell(board, status);
          if (isLast(status)) connection.finish();
          return bytes;
        });
        connection.onClose(stop);
        return presentId;
      });
    },
  };
}

const isLast = (status: Status): boolean => status === 'FINISHED' || status === 'CANCELED';

/** The event of each leaderboard, serialized once for all its followers. */
const FRAMES = new WeakMap<Board, { readonly status: Status; readonly frame: Buffer }>();

function frameFor(kept: KeptCompetition, board: Board, status: Status): Buffer {
  const known = FRAMES.get(board);
  if (known?.status === status) return known.frame;
  const text = frameOf('leaderboard', String(board.at), leaderboardOf(kept, status, board));
  const frame = Buffer.from(text);
  FRAMES.set(board, { status, frame });
  return frame;
}

const NOT_FOUND = refuse(404, 'Competition not found');
const NOT_AN_ENTRY = refuse(404, 'The token is not the token of an entry');

const viewerOf = (principal: Principal | undefined): Viewer | undefined =>
  principal && {
    tenantId: principal.tenantId,
    simulationId: principal.simulationId,
    isEntry: principal.isEntry === true,
  };

/** Answers for the refusals of competitions. */
export async function refusing<T>(work: () => T | Promise<T>): Promise<T | Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CompetitionRefused) return answerToCompetition(error);
    if (error instanceof NotRecorded)
      return refuse(
        400,
        error.symbols.map((symbol) => `market.replay: ${symbol} is not recorded`),
      );
    if (error instanceof NotMaskable) return refuse(400, [`market.mask: ${error.message}`]);
    if (error instanceof NoLiveSource)
      return refuse(400, ['market.feed must not be live: this server has no live source']);
    throw error;
  }
}

/** The answer to a refusal of a competition. */
export function answerToCompetition({ problem, message, figures }: Refused): Answer {
  switch (problem) {
    case 'NOT_FOUND':
      return NOT_FOUND;
    case 'STARTED':
      return refuseCoded('COMPETITION_STARTED', message, {});
    case 'NOT_RUNNING':
      return refuseCoded('COMPETITION_NOT_RUNNING', message, {});
    case 'NOT_FINISHED':
      return refuseCoded('COMPETITION_NOT_FINISHED', message, {});
    case 'FULL':
      return refuseCoded('COMPETITION_FULL', message, { capacity: figures ?? 1 });
    case 'ALREADY_ENTERED':
      return refuseCoded('ALREADY_ENTERED', message, { entriesPerTenant: figures ?? 1 });
    case 'JOIN_CODE':
      return refuseCoded('JOIN_CODE', message, {});
    case 'NOT_RECORDED':
      return refuse(400, [message]);
    case 'WALL_CLOCK':
    case 'NAME_TAKEN':
    case 'TOO_MANY':
    case 'BROKER':
      return refuse(409, message);
  }
}

/** Tokens of competitions: for the market, and for entries. */
export function competitionIssuer(
  { settings, clockMs }: Pick<HttpDeps, 'settings' | 'clockMs'>,
  competitions: Competitions,
): Pick<Issuers, 'createCompetition' | 'enterCompetition' | 'createEntryToken'> {
  const issue = async (
    principal: Principal,
    grant: Pick<Parameters<typeof issueToken>[1], 'tenantId' | 'tier' | 'scope' | 'simulationId' | 'isEntry'>,
  ) => {
    const fromTokenIds = lineageOf(principal.origin);
    if (fromTokenIds === undefined) return TOO_MANY_GENERATIONS;
    const { expiresAtMs, origin, agent } = principal;
    const issued = await issueToken(
      settings,
      { ...grant, notAfterMs: expiresAtMs, keyId: origin.keyId, fromTokenIds, agent },
      clockMs(),
    );
    return issued ?? NO_TOKENS;
  };
  /** For an entry, in the name of the organizer, whose simulation it is. */
  const forEntry = (principal: Principal, competitionId: string, simulationId: string) => {
    const { organizer, tier } = competitions.directory.existing(competitionId).note;
    const scope = [...principal.scopes].filter((one) => one === 'trade' || one === 'read').join(' ');
    return issue(principal, { tenantId: organizer, tier, scope, simulationId, isEntry: true });
  };
  return {
    async createCompetition({ principal }, kept) {
      const { tenantId, tier } = principal;
      const simulationId = kept.simulationId ?? '';
      const issued = await issue(principal, { tenantId, tier, scope: 'simulate read', simulationId });
      return issued instanceof Answer ? issued : { ...kept, token: issued.token };
    },
    async enterCompetition({ principal }, kept) {
      const issued = await forEntry(principal, kept.competitionId, kept.simulationId);
      return issued instanceof Answer ? issued : { ...kept, token: issued.token };
    },
    async createEntryToken({ principal }, kept) {
      const issued = await forEntry(principal, kept.competitionId, kept.simulationId);
      if (issued instanceof Answer) return issued;
      const { token, issuedAtMs, expiresAtMs } = issued;
      return {
        ...kept,
        token,
        expiresIn: (expiresAtMs - issuedAtMs) / 1000,
        expiresAt: isoOfMs(expiresAtMs),
      };
    },
  };
}
