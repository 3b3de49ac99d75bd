/**
 * Key pairs: an id and a secret for one portfolio, for clients of dialects without tokens. Valid until they, or the key or token that they
 * derive from, are revoked.
 */
import { createHmac, randomInt } from 'node:crypto';
import type { Tier } from '@sandpit/core';
import type { Registry } from '../store/registry.js';
import { type Access, AccessRefused, type Origin } from './access.js';
import { hashOfApiKey, isHashOf } from './api-key.js';

/** Rights of a pair, and their holder. */
export interface KeyPairGrant {
  readonly tenantId: string;
  readonly tier: Tier;
  /** Separated by spaces. */
  readonly scope: string;
  readonly simulationId: string;
  readonly portfolioId: string;
  readonly origin: Origin;
  /** Wall-clock ms; absent = it does not expire. */
  readonly expiresAtMs?: number;
  /** Created with the token of an entry of a competition. */
  readonly isEntry?: true;
}

/** A pair, without its secret. */
export interface KeyPair extends KeyPairGrant {
  readonly keyId: string;
  /** Wall-clock ms. */
  readonly createdAt: number;
}

interface StoredPair extends KeyPair {
  readonly secretHash: string;
}

/** Settings of the registry: one for each pair; a revoked pair is `null`. */
const SETTING = 'key-pair:';
const MOST_PER_PORTFOLIO = 100;
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const SECRET_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const draw = (length: number, letters: string): string =>
  Array.from({ length }, () => letters[randomInt(letters.length)]).join('');

/** The key pairs of a server. One of these per process, like `Access`. */
export class KeyPairs {
  readonly #registry: Registry;
  readonly #access: Access;
  readonly #clockMs: () => number;
  readonly #pairs = new Map<string, StoredPair>();
  readonly #listeners = new Set<() => void>();

  constructor(registry: Registry, access: Access, clockMs: () => number) {
    this.#registry = registry;
    this.#access = access;
    this.#clockMs = clockMs;
    for (const [, text] of registry.settings(SETTING)) {
      const pair = JSON.parse(text) as StoredPair | null;
      if (pair !== null) this.#pairs.set(pair.keyId, pair);
    }
    access.onRevocation(() => this.#followRevocation());
  }

  /** Adopts a pair that another node has created or revoked. Returns true if the setting is one of a pair. */
  follow(name: string): boolean {
    if (!name.startsWith(SETTING)) return false;
    const keyId = name.slice(SETTING.length);
    const text = this.#registry.setting(name);
    const pair = text === undefined ? null : (JSON.parse(text) as StoredPair | null);
    if (pair === null) this.#pairs.delete(keyId);
    else this.#pairs.set(keyId, pair);
    return true;
  }

  /** Creates a pair that is valid once it is durable. Throws `AccessRefused` when the portfolio has too many. */
  async create(grant: KeyPairGrant): Promise<{ readonly pair: KeyPair; readonly secretKey: string }> {
    const { simulationId, portfolioId } = grant;
    if (this.of(simulationId, portfolioId).length >= MOST_PER_PORTFOLIO)
      throw new AccessRefused(`A portfolio has at most ${MOST_PER_PORTFOLIO} key pairs`);
    const keyId = `PK${draw(18, LETTERS)}`;
    const secretKey = draw(40, SECRET_LETTERS);
    const pair: StoredPair = {
      ...grant,
      keyId,
      secretHash: hashOfApiKey(secretKey),
      createdAt: this.#clockMs(),
    };
    await this.#registry.saveSetting(SETTING + keyId, JSON.stringify(pair));
    this.#pairs.set(keyId, pair);
    return { pair, secretKey };
  }

  /** The pair, if it is valid and the secret matches. */
  find(keyId: string, secretKey: string): KeyPair | undefined {
    const pair = this.#pairs.get(keyId);
    return pair !== undefined && isHashOf(pair.secretHash, secretKey) && this.isGood(pair) ? pair : undefined;
  }

  /** True when a pair is still valid. */
  isGood({ keyId, expiresAtMs = Infinity, origin }: KeyPair): boolean {
    return this.#pairs.has(keyId) && expiresAtMs > this.#clockMs() && !this.#access.isRevoked(origin);
  }

  /** A valid pair by its id alone, which proves nothing. */
  known(keyId: string): KeyPair | undefined {
    const pair = this.#pairs.get(keyId);
    return pair !== undefined && this.isGood(pair) ? pair : undefined;
  }

  /** Signature of a text by a pair, under a key of the server; undefined for a pair that is not valid. */
  signatureOf(keyId: string, text: string, serverKey: string): Buffer | undefined {
    const pair = this.#pairs.get(keyId);
    if (pair === undefined || !this.isGood(pair)) return undefined;
    return createHmac('sha256', `${serverKey}\n${pair.secretHash}`).update(`${keyId}\n${text}`).digest();
  }

  /** The good ones of a portfolio, oldest first. */
  of(simulationId: string, portfolioId: string): readonly KeyPair[] {
    return [...this.#pairs.values()]
      .filter((pair) => pair.simulationId === simulationId && pair.portfolioId === portfolioId)
      .filter((pair) => this.isGood(pair))
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Revokes a pair. Takes effect immediately; resolves when it is durable. */
  async revoke(keyId: string): Promise<void> {
    this.#pairs.delete(keyId);
    for (const listener of this.#listeners) listener();
    await this.#registry.saveSetting(SETTING + keyId, 'null');
  }

  /** Revokes the pairs of a simulation that was deleted. */
  async endSimulation(simulationId: string): Promise<void> {
    const pairs = [...this.#pairs.values()].filter((pair) => pair.simulationId === simulationId);
    await Promise.all(pairs.map(({ keyId }) => this.revoke(keyId)));
  }

  /** Ends the pairs of a tenant whose rows are being erased. */
  forgetTenant(tenantId: string): void {
    for (const { keyId, tenantId: owner } of [...this.#pairs.values()])
      if (owner === tenantId) this.#pairs.delete(keyId);
    for (const listener of this.#listeners) listener();
  }

  /** Calls after a pair, or a key or token that one derives from, was revoked. Returns a function that unsubscribes. */
  onRevocation(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A pair does not outlive the revocation of its origin, though that is remembered no longer than a token lives. */
  #followRevocation(): void {
    for (const { keyId, origin } of [...this.#pairs.values()]) {
      // A revocation that is not durable now is repeated at the next one; the pair is refused in the meantime.
      if (this.#access.isRevoked(origin)) this.revoke(keyId).catch(() => undefined);
    }
  }
}
