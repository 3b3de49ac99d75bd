/**
 * Authentication by bearer tokens (D3).
 *
 * A token is verified with exactly one algorithm and with keys of this server's own configuration: no claim of a token selects either. A
 * verified token is remembered until it expires or is revoked, so that a busy client costs one signature check.
 */
import { randomUUID, webcrypto } from 'node:crypto';
import type { Requester } from '@sandpit/core';
import { type Scope, scopes, type Tier, tiers } from '@sandpit/protocol';
import { createRemoteJWKSet, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { boundedCache } from '../engine/values/bounded-cache.js';
import type { Access, Origin } from '../access/access.js';
import { MAIN } from '../engine/values/cell-names.js';
import { type Agent, agentIn, claimsOf } from './agents/levels.js';
import { refuse } from './answer.js';

export interface TokenSettings {
  /** Signs and verifies HS256; undefined when tokens come from elsewhere. */
  readonly jwtSecret: string | undefined;
  /** The keys of an identity provider; tokens are then signed with a private key, and must name issuer and audience. */
  readonly jwksUrl: string | undefined;
  /** The claim of the provider's tokens with the restrictions of an agent; undefined = no claim. */
  readonly jwtAgentClaim: string | undefined;
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  readonly tokenTtlSeconds: number;
}

/** Owner of a verified token. */
export interface Principal {
  readonly tenantId: string;
  readonly tier: Tier;
  readonly scopes: ReadonlySet<Scope>;
  /** Simulation of the token. */
  readonly simulationId: string;
  readonly expiresAtMs: number;
  /** The key and tokens that this token derives from; it ends with them. */
  readonly origin: Origin;
  /** The requester as commands name it. */
  readonly by: Requester;
  /** For the token of an agent: the agent's rights. */
  readonly agent?: Agent;
  /** True for the token of an entry of a competition. */
  readonly isEntry?: true;
}

/** Subject of a rate limit: the tenant, or a single entry of a competition. */
export const countedAs = ({
  tenantId,
  simulationId,
  isEntry,
}: Pick<Principal, 'tenantId' | 'simulationId' | 'isEntry'>): string =>
  isEntry === true ? simulationId : tenantId;

/** Contents of a new token. */
export interface Grant {
  readonly tenantId: string;
  readonly tier: Tier;
  /** Separated by spaces; absent = `trade read`. */
  readonly scope?: string;
  /** Absent = `main`. */
  readonly simulationId?: string;
  /** The token ends no later than this, ms. */
  readonly notAfterMs?: number;
  /** The API key exchanged for it, or the one from which the requesting token derives. */
  readonly keyId?: string | undefined;
  /** The `jti` of the requesting token, after those from which it derives. */
  readonly fromTokenIds?: readonly string[];
  /** The agent it is for. */
  readonly agent?: Agent | undefined;
  /** True for an entry of a competition. */
  readonly isEntry?: true;
  /** Lifetime in seconds; absent = the setting of the server. */
  readonly ttlSeconds?: number;
}

export interface IssuedToken {
  readonly token: string;
  readonly tokenId: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

const DEFAULT_SCOPE = 'trade read';
const LONGEST_TOKEN = 4096;
const TOKENS_KEPT = 10_000;

/** Signs a token; undefined when this server issues none. */
export async function issueToken(
  settings: TokenSettings,
  grant: Grant,
  nowMs: number,
): Promise<IssuedToken | undefined> {
  if (settings.jwtSecret === undefined) return undefined;
  const issuedAt = Math.floor(nowMs / 1000);
  const limit = Math.floor((grant.notAfterMs ?? Infinity) / 1000);
  const expiresAt = Math.min(issuedAt + (grant.ttlSeconds ?? settings.tokenTtlSeconds), limit);
  const tokenId = randomUUID();
  const claims = {
    sub: grant.tenantId,
    tier: grant.tier,
    scope: grant.scope ?? DEFAULT_SCOPE,
    ...(grant.simulationId !== undefined && { sim: grant.simulationId }),
    ...(grant.keyId !== undefined && { key: grant.keyId }),
    ...(grant.fromTokenIds !== undefined && grant.fromTokenIds.length > 0 && { from: grant.fromTokenIds }),
    ...(grant.agent !== undefined && claimsOf(grant.agent)),
    ...(grant.isEntry === true && { entry: true }),
    iat: issuedAt,
    exp: expiresAt,
    jti: tokenId,
    iss: settings.jwtIssuer,
    aud: settings.jwtAudience,
  };
  const token = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' });
  return {
    token: await token.sign(Buffer.from(settings.jwtSecret)),
    tokenId,
    issuedAtMs: issuedAt * 1000,
    expiresAtMs: expiresAt * 1000,
  };
}

/** Verifies bearers. */
export class Authenticator {
  readonly #settings: TokenSettings;
  readonly #access: Pick<Access, 'isRevoked'>;
  readonly #clockMs: () => number;
  /** By the whole header, so that a repeated header costs one lookup. */
  readonly #known = boundedCache<Principal>(TOKENS_KEPT);
  readonly #verify: (token: string, currentDate: Date) => Promise<JWTPayload>;

  constructor(
    settings: TokenSettings,
    access: Pick<Access, 'isRevoked' | 'onRevocation'>,
    clockMs: () => number,
  ) {
    this.#settings = settings;
    this.#access = access;
    this.#clockMs = clockMs;
    this.#verify = verifierOf(settings);
    access.onRevocation(() => {
      for (const [header, { origin }] of [...this.#known])
        if (access.isRevoked(origin)) this.#known.delete(header);
    });
  }

  /** The principal of an `Authorization` header; undefined = 401. A promise only for a token not seen before. */
  principalOf(header: string | undefined): Principal | undefined | Promise<Principal | undefined> {
    if (header === undefined) return undefined;
    const known = this.#known.get(header);
    if (known !== undefined) {
      if (known.expiresAtMs > this.#clockMs()) return known;
      this.#known.delete(header);
      return undefined;
    }
    const token = bearerOf(header);
    return token === undefined ? undefined : this.#meet(header, token);
  }

  async #meet(header: string, token: string): Promise<Principal | undefined> {
    let claims: JWTPayload;
    try {
      claims = await this.#verify(token, new Date(this.#clockMs()));
    } catch {
      // An invalid token, or one whose provider cannot be reached, is not accepted.
      return undefined;
    }
    const principal = principalFrom(claims, this.#settings, this.#clockMs());
    if (principal === undefined || this.#access.isRevoked(principal.origin)) return undefined;
    this.#known.set(header, principal);
    return principal;
  }
}

/** Algorithms of identity providers. Shared secrets are excluded: providers publish their keys. */
const ASYMMETRIC = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** The claims of tokens signed in the one way that these settings allow; rejects other tokens. */
function verifierOf({
  jwtSecret,
  jwksUrl,
}: TokenSettings): (token: string, currentDate: Date) => Promise<JWTPayload> {
  if (jwksUrl !== undefined) {
    const keys = createRemoteJWKSet(new URL(jwksUrl));
    return async (token, currentDate) =>
      (await jwtVerify(token, keys, { algorithms: ASYMMETRIC, currentDate })).payload;
  }
  if (jwtSecret === undefined) return () => Promise.reject(new Error('no key to verify tokens with'));
  // Imported once, not for every token.
  const key = webcrypto.subtle.importKey(
    'raw',
    Buffer.from(jwtSecret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  return async (token, currentDate) =>
    (await jwtVerify(token, await key, { algorithms: ['HS256'], currentDate })).payload;
}

function bearerOf(header: string): string | undefined {
  if (header.length > LONGEST_TOKEN + 7) return undefined;
  return /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(header)?.[1];
}

const isTier = (value: unknown): value is Tier => (tiers as readonly unknown[]).includes(value);
const isScope = (value: string): value is Scope => (scopes as readonly string[]).includes(value);
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 256 && !CONTROL.test(value);
const CONTROL = /[\u0000-\u001f\u007f]/;

/** The claims of an agent, at the configured name; a value that is not an object is an unknown restriction. */
function agentClaimsIn(
  claims: Readonly<Record<string, unknown>>,
  name: string | undefined,
): Readonly<Record<string, unknown>> {
  const said = name === undefined ? undefined : claims[name];
  if (said === undefined) return {};
  const isObject = typeof said === 'object' && said !== null;
  // A restriction without a level cannot be parsed: it must not pass as none at all.
  const { level = null, agent, caps } = isObject ? (said as Record<string, unknown>) : {};
  return { level, agent, caps };
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** Maximum number of generations; they fit into a token with space to spare. */
const MOST_GENERATIONS = 16;

/** Lineage of a token that this one requests; undefined when it is too many generations away from the first. */
export function lineageOf({ tokenId, fromTokenIds }: Origin): readonly string[] | undefined {
  if (fromTokenIds.length >= MOST_GENERATIONS) return undefined;
  return tokenId === undefined ? fromTokenIds : [...fromTokenIds, tokenId];
}

export const TOO_MANY_GENERATIONS = refuse(
  409,
  `A token is at most ${MOST_GENERATIONS} tokens away from the one that an API key bought: ask with an earlier one`,
);

const textOrNone = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The principal of verified claims; undefined when they break a rule of D3. */
function principalFrom(
  claims: Readonly<Record<string, unknown>>,
  settings: TokenSettings,
  nowMs: number,
): Principal | undefined {
  const { sub, exp, nbf, iss, aud, jti, tier = 'BASIC', scope = DEFAULT_SCOPE, sim = MAIN } = claims;
  if (!isText(sub) || !isText(sim) || !isTier(tier) || typeof scope !== 'string') return undefined;
  if (typeof exp !== 'number' || !Number.isFinite(exp) || exp * 1000 <= nowMs) return undefined;
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf * 1000 > nowMs)) return undefined;
  // An operator's own tokens may omit these claims, those of a provider may not; present claims must name this server.
  const isOwn = settings.jwksUrl === undefined;
  if (!(isOwn && iss === undefined) && iss !== settings.jwtIssuer) return undefined;
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!(isOwn && aud === undefined) && !audiences.includes(settings.jwtAudience)) return undefined;
  // A restriction that cannot be parsed must not be ignored: the token is refused.
  const agent = agentIn(isOwn ? claims : agentClaimsIn(claims, settings.jwtAgentClaim));
  if (agent === 'BAD') return undefined;
  // Claims of these names in a provider's token have a meaning of their own.
  const { key, from, entry } = isOwn ? claims : {};
  return {
    tenantId: sub,
    tier,
    scopes: new Set(scope.split(' ').filter(isScope)),
    simulationId: sim,
    expiresAtMs: exp * 1000,
    origin: { keyId: textOrNone(key), tokenId: textOrNone(jti), fromTokenIds: textsIn(from) },
    by: { tier },
    ...(agent !== undefined && { agent }),
    ...(entry === true && { isEntry: true as const }),
  };
}
