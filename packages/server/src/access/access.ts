/**
 * Access rights: API keys, and revoked keys and tokens (D2). There is one instance per process, and every change goes through it, so that
 * its in-memory results are current.
 */
import type { Tier } from '@sandpit/core';
import type { ApiKey, Registry } from '../store/registry.js';
import { type DrawnKey, drawApiKey, hashOfApiKey, idOfApiKey, isHashOf } from './api-key.js';

/** The key and tokens that a token derives from. */
export interface Origin {
  /** The API key exchanged for it, or for the token that it derives from. */
  readonly keyId: string | undefined;
  /** The `jti` of the token. */
  readonly tokenId: string | undefined;
  /** The `jti` of every token that it derives from, the first one first: each was requested with the previous one. */
  readonly fromTokenIds: readonly string[];
}

/** An API key, without anything that opens a door. Instants are wall-clock ms. */
export interface KeyInfo {
  readonly id: string;
  readonly tenantId: string;
  readonly tier: Tier;
  readonly scope: string;
  readonly createdAt: number;
  readonly revokedAt?: number;
}

export interface KeyGrant {
  readonly tenantId: string;
  readonly tier: Tier;
  readonly scope: string;
}

/** A change of access rights, for the log. */
export interface AccessChange {
  readonly audit: 'key created' | 'key revoked' | 'token revoked' | 'tenant deleted' | 'member token created';
  readonly keyId?: string;
  readonly tokenId?: string;
  readonly tenant?: string;
  /** Tenant that views this tenant. */
  readonly by?: string;
  readonly tier?: Tier;
  readonly scope?: string;
}

const SETTING = 'revoked-tokens';
/** More than anybody revokes one by one; the list is one row of the registry. */
const MOST_REVOKED_TOKENS = 10_000;

/** A request that cannot be executed; the message says why. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused';
}

export class Access {
  readonly #audit: (what: AccessChange) => void;
  readonly #registry: Registry;
  readonly #clockMs: () => number;
  /** Hashes of the keys that are good, by id. */
  readonly #good = new Map<string, string>();
  /** Expiration of revoked tokens, by `jti`. */
  readonly #revokedTokens: Map<string, number>;
  readonly #listeners: (() => void)[] = [];

  /** `audit` receives every key that is created and every revocation. */
  constructor(
    registry: Registry,
    clockMs: () => number,
    audit: (what: AccessChange) => void = () => undefined,
  ) {
    this.#audit = audit;
    this.#registry = registry;
    this.#clockMs = clockMs;
    for (const { hash, revokedAt } of this.#stored())
      if (revokedAt === undefined) this.#good.set(idOfApiKey(hash), hash);
    this.#revokedTokens = new Map(
      JSON.parse(registry.setting(SETTING) ?? '[]') as readonly (readonly [string, number])[],
    );
  }

  /** Applies the keys that other nodes issued and their revocations of keys and tokens. A revocation of this node that the database lacks is stored again. */
  async follow(): Promise<void> {
    const good = new Map(
      this.#stored().flatMap(({ hash, revokedAt }) =>
        revokedAt === undefined ? [[idOfApiKey(hash), hash] as const] : [],
      ),
    );
    const isTakenBack = [...this.#good.keys()].some((id) => !good.has(id));
    this.#good.clear();
    for (const [id, hash] of good) this.#good.set(id, hash);
    const kept = new Map(
      JSON.parse(this.#registry.setting(SETTING) ?? '[]') as readonly (readonly [string, number])[],
    );
    const isMore = [...kept.keys()].some((id) => !this.#revokedTokens.has(id));
    const nowMs = this.#clockMs();
    const lacks = [...this.#revokedTokens].some(([id, endsAtMs]) => endsAtMs > nowMs && !kept.has(id));
    for (const [id, endsAtMs] of kept) this.#revokedTokens.set(id, endsAtMs);
    if (isTakenBack || isMore) this.#tell();
    if (lacks) await this.#registry.saveSetting(SETTING, JSON.stringify([...this.#revokedTokens]));
  }

  /** Oldest first; those of a tenant, or of all. */
  keys(tenantId?: string): readonly KeyInfo[] {
    return this.#stored(tenantId).map(infoOf);
  }

  /** Makes a key valid once it is durable. A new tenant is registered. Rejects with `AlreadyExists`. */
  async createKey(
    grant: KeyGrant,
    drawn: DrawnKey = drawApiKey(),
  ): Promise<DrawnKey & { readonly id: string }> {
    const { tenantId, tier, scope } = grant;
    const createdAt = this.#clockMs();
    if (this.#registry.tenant(tenantId) === undefined)
      await this.#registry.createTenant({ id: tenantId, name: tenantId, tier, scope, createdAt });
    const { apiKey, hash } = drawn;
    await this.#registry.createApiKey({ hash, tenantId, tier, scope, createdAt });
    const id = idOfApiKey(hash);
    this.#good.set(id, hash);
    this.#audit({ audit: 'key created', keyId: id, tenant: tenantId, tier, scope });
    return { apiKey, hash, id };
  }

  /** The key, if it is valid. */
  keyFor(apiKey: string): (KeyGrant & { readonly id: string }) | undefined {
    const key = this.#registry.apiKey(hashOfApiKey(apiKey));
    if (key === undefined || !isHashOf(key.hash, apiKey)) return undefined;
    const { id, tenantId, tier, scope } = infoOf(key);
    return this.#good.has(id) ? { id, tenantId, tier, scope } : undefined;
  }

  /**
   * Revokes a key and every token derived from it. Takes effect immediately; rejects if it could not be made durable.
   * Throws `AccessRefused` if no valid key has this id.
   */
  async revokeKey(id: string): Promise<void> {
    const hash = this.#good.get(id);
    if (hash === undefined) {
      const isRevoked = this.keys().some((key) => key.id === id);
      throw new AccessRefused(isRevoked ? `the key ${id} is revoked already` : `there is no key ${id}`);
    }
    this.#good.delete(id);
    this.#audit({ audit: 'key revoked', keyId: id });
    this.#tell();
    try {
      await this.#registry.revokeApiKey(hash, this.#clockMs());
    } catch (error) {
      throw notDurable(error);
    }
  }

  /** Revokes every key of a tenant and every token derived from one, until the server stops: the rows are removed. */
  forgetTenant(tenantId: string): void {
    for (const { hash } of this.#stored(tenantId)) this.#good.delete(idOfApiKey(hash));
    this.#audit({ audit: 'tenant deleted', tenant: tenantId });
    this.#tell();
  }

  /** A token with which a tenant views another one, its member, was issued. */
  noteMemberToken(tokenId: string, tenant: string, by: string): void {
    this.#audit({ audit: 'member token created', tokenId, tenant, by });
  }

  /** Revokes one token and the simulation tokens that it requested, as `revokeKey` does. Remembered until it expires. */
  async revokeToken(tokenId: string, expiresAtMs: number): Promise<void> {
    const nowMs = this.#clockMs();
    for (const [id, endsAtMs] of this.#revokedTokens) if (endsAtMs <= nowMs) this.#revokedTokens.delete(id);
    if (this.#revokedTokens.size >= MOST_REVOKED_TOKENS)
      throw new AccessRefused(
        `${MOST_REVOKED_TOKENS} tokens are revoked already: revoke keys, or change the secret`,
      );
    this.#revokedTokens.set(tokenId, expiresAtMs);
    this.#audit({ audit: 'token revoked', tokenId });
    this.#tell();
    try {
      await this.#registry.saveSetting(SETTING, JSON.stringify([...this.#revokedTokens]));
    } catch (error) {
      throw notDurable(error);
    }
  }

  /** True when the key or a token of the origin has been revoked. An unknown key counts as revoked. */
  isRevoked({ keyId, tokenId, fromTokenIds }: Origin): boolean {
    return (
      (keyId !== undefined && !this.#good.has(keyId)) ||
      (tokenId !== undefined && this.#revokedTokens.has(tokenId)) ||
      fromTokenIds.some((id) => this.#revokedTokens.has(id))
    );
  }

  /** Calls the listener after each revocation, so that holders of tokens check them again. */
  onRevocation(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #stored(tenantId?: string): readonly ApiKey[] {
    if (tenantId !== undefined) return this.#registry.apiKeys(tenantId);
    return this.#registry.tenants().flatMap(({ id }) => this.#registry.apiKeys(id));
  }
}

const infoOf = ({ hash, tenantId, tier, scope, createdAt, revokedAt }: ApiKey): KeyInfo => ({
  id: idOfApiKey(hash),
  tenantId,
  tier,
  scope,
  createdAt,
  ...(revokedAt !== undefined && { revokedAt }),
});

const notDurable = (cause: unknown): AccessRefused =>
  new AccessRefused(
    'revoked until the server ends, but not on disk: the store does not commit; do it again',
    { cause },
  );
