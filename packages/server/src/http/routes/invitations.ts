import { tiers } from '@sandpit/protocol';
import type { Invitation, InvitationBody, Member, Tier } from '@sandpit/protocol';
import type { FastifyRequest } from 'fastify';
import { inParallel } from '../../engine/scheduling/in-parallel.js';
import type { Competitions } from '../../competitions/competitions.js';
import { MAIN } from '../../engine/values/cell-names.js';
import { InvitationRefused } from '../../invitations/errors.js';
import { type Invitations, joinKeyOf } from '../../invitations/invitations.js';
import type { InvitationNote, InvitationTerms, MemberNote } from '../../invitations/notes.js';
import { Answer, rateLimited, refuse, refuseCoded } from '../answer.js';
import { type IssuedToken, issueToken, lineageOf, type Principal, TOO_MANY_GENERATIONS } from '../auth.js';
import type { Handlers, Issuers } from '../call.js';
import { addressOf, networkOf } from '../client-address.js';
import { cookieOf, originOf } from '../dashboard-session.js';
import type { SlidingWindow } from '../rate-limit.js';
import { RateLimits } from '../rate-limit.js';
import type { HttpDeps } from '../settings.js';
import { isoOfMs } from '../translate/instants.js';
import { pageOfAll, pageShown } from '../translate/pages.js';
import { refusing as refusingCompetition } from './competitions.js';

export type InvitationId =
  | keyof ReturnType<typeof inviterHandlers>
  | keyof ReturnType<typeof joinHandlers>
  | keyof ReturnType<typeof memberHandlers>;

/** Lifetime of the tokens of members, seconds: 30 days. */
const MEMBER_TTL_SECONDS = 30 * 86_400;
const VIEW_TTL_SECONDS = 3600;
const WRONG_CODES_A_MINUTE = 20;
const DEFAULT_CAPACITY = 100;
/** Members whose figures are read at a time. */
const READ_AT_ONCE = 8;
const VALID_KEY = /^[\x21-\x7e]{1,255}$/;

const NO_TOKENS = refuse(409, 'This server does not issue tokens: they come from its identity provider');
const ONLY_FROM_MAIN = refuse(403, 'Invitations are managed with a token of the main simulation');
const NOT_FOUND = refuse(404, 'Invitation not found');
const BAD_KEY = refuse(400, ['Idempotency-Key must be 1 to 255 visible characters']);

export interface InvitationRouteDeps {
  readonly invitations: Invitations;
  readonly competitions: Competitions;
  /** Tries what a member would get. */
  readonly work: { refusalOf(tenantId: string, terms: InvitationTerms): Promise<Answer | undefined> };
  readonly wrongCodes: WrongCodes;
}

/** Counts wrong codes of invitations and links by the address that sends them. Right ones are not counted, and never refused for them. */
export class WrongCodes {
  readonly #limits = new RateLimits();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** The answer to a wrong code. */
  refuse(request: FastifyRequest): Answer {
    const network = networkOf(addressOf(request));
    const window: SlidingWindow = this.#limits.ofAddress('wrong codes', network, WRONG_CODES_A_MINUTE);
    const now = this.#monotonicMs();
    return window.take(now) ? NOT_FOUND : rateLimited(window.resetSeconds(now));
  }
}

/** Invitations (D258). */
export const invitationHandlers = (
  deps: HttpDeps,
  routeDeps: InvitationRouteDeps,
): Pick<Handlers, InvitationId> => ({
  ...inviterHandlers(deps, routeDeps),
  ...joinHandlers(deps, routeDeps),
  ...memberHandlers(deps.settings, routeDeps.invitations),
});

const owned = (invitations: Invitations, { principal, params }: MemberCall): InvitationNote =>
  invitations.own(params.invitationId, principal.tenantId);

function inviterHandlers(
  { settings, clockMs }: HttpDeps,
  { invitations, competitions, work }: InvitationRouteDeps,
): Pick<Handlers, 'createInvitation' | 'listInvitations' | 'deleteInvitation'> {
  const shown = (note: InvitationNote, request: FastifyRequest): Invitation => ({
    invitationId: note.id,
    url: `${originOf(request)}/join/${note.code}`,
    code: note.code,
    ...shownTerms(note),
    members: invitations.count(note),
    status: invitations.statusOf(note),
    createdAt: isoOfMs(note.createdAt),
  });

  return {
    createInvitation: ({ principal, body, request }) =>
      refusing(async () => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        if (principal.simulationId !== MAIN) return ONLY_FROM_MAIN;
        const { tenantId } = principal;
        const terms = termsOf(body, principal.tier);
        if (rankOf(terms.tier) > rankOf(principal.tier))
          return refuseCoded(
            'FEATURE_NOT_AVAILABLE',
            `A token of tier ${principal.tier} invites members of at most this tier`,
            { currentTier: principal.tier, requiredTier: terms.tier },
          );
        if ((terms.expiresAt ?? Infinity) <= clockMs())
          return refuse(400, ['expiresAt must be in the future']);
        const { competitionId, portfolio, simulation, fixture } = terms;
        if (competitionId !== undefined)
          await competitions.lifecycle.refuseOver(competitions.directory.own(competitionId, tenantId));
        const isTried = portfolio !== undefined || simulation !== undefined || fixture !== undefined;
        const refusal = isTried ? await work.refusalOf(tenantId, terms) : undefined;
        return refusal ?? shown(await invitations.create(tenantId, terms), request);
      }),

    listInvitations: ({ principal, query, request }) => {
      if (principal.simulationId !== MAIN) return ONLY_FROM_MAIN;
      const { status } = query;
      return pageOfAll(
        invitations.list(principal.tenantId).filter((note) => {
          const present = invitations.statusOf(note);
          return status === undefined ? present !== 'DELETED' : present === status;
        }),
        query,
        ({ id }) => id,
        (note) => shown(note, request),
      );
    },

    deleteInvitation: (call) =>
      refusing(async () => {
        if (call.principal.simulationId !== MAIN) return ONLY_FROM_MAIN;
        const note = owned(invitations, call);
        await invitations.delete(note);
        return { invitationId: note.id, message: 'Invitation deleted' };
      }),
  };
}

/** For visitors with a code or a link. */
function joinHandlers(
  { settings, clockMs }: HttpDeps,
  { invitations, competitions, wrongCodes }: InvitationRouteDeps,
): Pick<Handlers, 'joinInvitation' | 'returnToInvitation'> {
  /** A token of the member for 30 days, and the cookie with which the dashboard finds it. */
  const logIn = async (
    request: FastifyRequest,
    member: MemberNote,
    keyId: string,
    more: object = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => {
    const issued = await issueToken(
      settings,
      { ...grantOf(member, competitions), scope: member.scope, keyId, ttlSeconds: MEMBER_TTL_SECONDS },
      clockMs(),
    );
    if (issued === undefined) return NO_TOKENS;
    const { token } = issued;
    const { tenantId, accountId, portfolioId, simulationId, entry } = member;
    return Answer.json(
      201,
      {
        token,
        tenantId,
        accountId,
        portfolioId,
        ...(simulationId !== undefined && { simulationId }),
        ...(entry !== undefined && { entryId: entry.entryId }),
        ...more,
      },
      { ...headers, 'set-cookie': cookieOf(request, token, MEMBER_TTL_SECONDS) },
    );
  };

  return {
    joinInvitation: ({ body, request }) =>
      refusing(async () => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        const key = request.headers['idempotency-key'];
        if (key !== undefined && !VALID_KEY.test(String(key))) return BAD_KEY;
        const { code, displayName } = body;
        const note = await found(() => invitations.find(code));
        if (note === undefined) return wrongCodes.refuse(request);
        const { member, returnCode, isReplayed } = await invitations.join(note, {
          displayName,
          ...(key !== undefined && { request: joinKeyOf(String(key), code, displayName) }),
        });
        const returnUrl = `${originOf(request)}/return/${returnCode}`;
        const replayed = isReplayed ? { 'idempotent-replayed': 'true' } : {};
        return logIn(request, member, member.keyId, { returnUrl }, replayed);
      }),

    returnToInvitation: ({ body, request }) =>
      refusing(async () => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        const member = await found(() => invitations.returning(body.code));
        if (member === undefined) return wrongCodes.refuse(request);
        return logIn(request, member, member.linkKeyId);
      }),
  };
}

function memberHandlers(
  settings: HttpDeps['settings'],
  invitations: Invitations,
): Pick<Handlers, 'listMembers' | 'createMemberToken' | 'createMemberLink' | 'resetMember' | 'deleteMember'> {
  const memberOf = async (member: MemberNote): Promise<Member> => {
    const { id, displayName, tenantId, portfolioId = '', joinedAt } = member;
    const { equity, return: growth, orders, seenAt } = await invitations.figuresOf(member);
    return {
      memberId: id,
      displayName,
      tenantId,
      portfolioId,
      ...(equity !== undefined && { equity }),
      ...(growth !== undefined && { return: growth }),
      ...(orders !== undefined && { orders }),
      joinedAt: isoOfMs(joinedAt),
      lastSeenAt: isoOfMs(seenAt),
    };
  };

  return {
    listMembers: (call) =>
      refusing(async () => {
        if (call.principal.simulationId !== MAIN) return ONLY_FROM_MAIN;
        const members = invitations.membersOf(owned(invitations, call));
        const page = pageOfAll(
          members,
          call.query,
          ({ id }) => id,
          (member) => member,
        );
        const rows = new Map<string, Member>();
        await inParallel(page.data, READ_AT_ONCE, async (member) => {
          rows.set(member.id, await memberOf(member));
        });
        return pageShown(
          page,
          page.data.flatMap(({ id }) => rows.get(id) ?? []),
        );
      }),

    createMemberToken: (call) =>
      refusing(() => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        if (call.principal.simulationId !== MAIN) return ONLY_FROM_MAIN;
        const member = invitations.member(owned(invitations, call), call.params.memberId);
        const { id, tenantId, portfolioId = '', simulationId } = member;
        return {
          memberId: id,
          tenantId,
          portfolioId,
          ...(simulationId !== undefined && { simulationId }),
          tokenType: 'Bearer' as const,
        };
      }),

    createMemberLink: (call) =>
      refusing(() => {
        if (settings.jwtSecret === undefined) return NO_TOKENS;
        if (call.principal.simulationId !== MAIN) return ONLY_FROM_MAIN;
        return { memberId: invitations.member(owned(invitations, call), call.params.memberId).id };
      }),

    resetMember: (call) =>
      refusing(async () => {
        if (call.principal.simulationId !== MAIN) return ONLY_FROM_MAIN;
        const member = invitations.member(owned(invitations, call), call.params.memberId);
        await invitations.reset(member);
        return memberOf(member);
      }),

    deleteMember: (call) =>
      refusing(async () => {
        if (call.principal.simulationId !== MAIN) return ONLY_FROM_MAIN;
        const member = invitations.member(owned(invitations, call), call.params.memberId);
        await invitations.deleteMember(member);
        return { memberId: member.id, message: 'Member deleted' };
      }),
  };
}

/** Tokens and links for the inviter. */
export function invitationIssuer(
  { settings, access, clockMs }: Pick<HttpDeps, 'settings' | 'access' | 'clockMs'>,
  { invitations, competitions }: Pick<InvitationRouteDeps, 'invitations' | 'competitions'>,
): Pick<Issuers, 'createMemberToken' | 'createMemberLink'> {
  return {
    async createMemberToken({ principal }, kept) {
      const member = invitations.memberOf(principal.tenantId, kept.memberId);
      if (member === undefined) return NOT_FOUND;
      const issued = await issueView(principal, member);
      if (issued instanceof Answer) return issued;
      const { token, tokenId, issuedAtMs, expiresAtMs } = issued;
      await invitations.noteView(member, tokenId, expiresAtMs);
      access.noteMemberToken(tokenId, member.tenantId, principal.tenantId);
      return {
        ...kept,
        token,
        expiresIn: (expiresAtMs - issuedAtMs) / 1000,
        expiresAt: isoOfMs(expiresAtMs),
      };
    },
    async createMemberLink({ principal, request }, kept) {
      const member = invitations.memberOf(principal.tenantId, kept.memberId);
      if (member === undefined) return NOT_FOUND;
      const { returnCode } = await invitations.newLink(member);
      return { ...kept, returnUrl: `${originOf(request)}/return/${returnCode}` };
    },
  };

  /** A token of the member that ends with the rights of the inviter. */
  async function issueView(principal: Principal, member: MemberNote): Promise<IssuedToken | Answer> {
    const { expiresAtMs, origin } = principal;
    const fromTokenIds = lineageOf(origin);
    if (fromTokenIds === undefined) return TOO_MANY_GENERATIONS;
    const issued = await issueToken(
      settings,
      {
        ...grantOf(member, competitions),
        scope: 'read',
        keyId: origin.keyId,
        fromTokenIds,
        notAfterMs: expiresAtMs,
        ttlSeconds: VIEW_TTL_SECONDS,
      },
      clockMs(),
    );
    return issued ?? NO_TOKENS;
  }
}

interface MemberCall {
  readonly principal: Principal;
  readonly params: { readonly invitationId: string };
}

/** Tenant and simulation of a member's token; an entry belongs to the organizer. */
function grantOf({ tenantId, tier, simulationId, entry }: MemberNote, competitions: Competitions) {
  const where = simulationId === undefined ? {} : { simulationId };
  if (entry === undefined) return { tenantId, tier, ...where };
  const terms = competitions.directory.existing(entry.competitionId).note;
  return { tenantId: terms.organizer, tier: terms.tier, ...where, isEntry: true as const };
}

const rankOf = (tier: Tier): number => tiers.indexOf(tier);

const termsOf = (
  { expiresAt, tier, capacity = DEFAULT_CAPACITY, ...body }: InvitationBody,
  inviter: Tier,
): InvitationTerms => ({
  ...body,
  tier: tier ?? inviter,
  capacity,
  ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }),
});

const shownTerms = ({
  name,
  tier,
  portfolio,
  simulation,
  fixture,
  competitionId,
  capacity,
  expiresAt,
}: InvitationTerms) => ({
  name,
  tier,
  // Fields of the request.
  ...({ portfolio, simulation, fixture } as Pick<Invitation, 'portfolio' | 'simulation' | 'fixture'>),
  ...(competitionId !== undefined && { competitionId }),
  capacity,
  ...(expiresAt !== undefined && { expiresAt: isoOfMs(expiresAt) }),
});

/** The result of a search by a code; undefined = the code is wrong. */
async function found<T>(search: () => Promise<T>): Promise<T | undefined> {
  try {
    return await search();
  } catch (error) {
    if (error instanceof InvitationRefused && error.problem.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** Answers for the refusals of invitations and of competitions. */
const refusing = <T>(work: () => T | Promise<T>): Promise<T | Answer> =>
  refusingCompetition(async () => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof InvitationRefused)) throw error;
      return answerTo(error);
    }
  });

function answerTo({ problem, message }: InvitationRefused): Answer {
  switch (problem.code) {
    case 'NOT_FOUND':
    case 'MEMBER_NOT_FOUND':
      return refuse(404, message);
    case 'FULL':
      return refuseCoded('INVITATION_FULL', message, { capacity: problem.capacity });
    case 'EXPIRED':
      return refuseCoded('INVITATION_EXPIRED', message, { expiredAt: isoOfMs(problem.expiredAt) });
    case 'RATE':
      return rateLimited(problem.retryAfter);
    case 'KEY_USED':
      return refuse(422, message);
    case 'TOO_MANY':
    case 'UNDER_WAY':
    case 'IN_COMPETITION':
      return refuse(409, message);
    case 'ANSWER':
      return new Answer(problem.status, problem.text);
  }
}
