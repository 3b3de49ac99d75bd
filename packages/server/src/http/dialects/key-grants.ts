/**
 * Grants: texts that represent a key pair for some time, as tokens of dialects with OAuth do. They are signed and not stored: a restart keeps
 * them, and the revocation of the pair ends them all.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Grant, Grants } from '@sandpit/dialect-port';
import { boundedCache } from '../../engine/values/bounded-cache.js';
import type { KeyPair, KeyPairs } from '../../access/key-pairs.js';

/** Key id, purpose, end in seconds, signature. */
const GRANT = /^(PK[A-Z0-9]{1,40})\.([a-z]{1,20})\.(\d{1,12})\.([A-Za-z0-9_-]{43})$/;
const MOST_NOTES = 10_000;

interface Note {
  readonly keyId: string;
  readonly about: string;
  readonly expiresAtMs: number;
}

export class KeyGrants implements Grants {
  readonly #keyPairs: KeyPairs;
  readonly #serverKey: string;
  readonly #clockMs: () => number;
  readonly #notes = boundedCache<Note>(MOST_NOTES);

  /** `serverKey`: the secret of the server's own tokens; empty if tokens come from elsewhere. */
  constructor(keyPairs: KeyPairs, serverKey: string, clockMs: () => number) {
    this.#keyPairs = keyPairs;
    this.#serverKey = serverKey;
    this.#clockMs = clockMs;
  }

  isPair(keyId: string): boolean {
    return this.#keyPairs.known(keyId) !== undefined;
  }

  isSecretOf(keyId: string, secret: string): boolean {
    return this.#keyPairs.find(keyId, secret) !== undefined;
  }

  sign(keyId: string, purpose: string, lifetimeMs: number): Grant | undefined {
    const seconds = Math.floor((this.#clockMs() + lifetimeMs) / 1000);
    const signature = this.#keyPairs.signatureOf(keyId, `${purpose}\n${seconds}`, this.#serverKey);
    return (
      signature && {
        text: `${keyId}.${purpose}.${seconds}.${signature.toString('base64url')}`,
        keyId,
        expiresAtMs: seconds * 1000,
      }
    );
  }

  read(text: string, purpose: string): Grant | undefined {
    const [, keyId = '', named, seconds = '', given = ''] = GRANT.exec(text) ?? [];
    const expiresAtMs = Number(seconds) * 1000;
    if (named !== purpose || expiresAtMs <= this.#clockMs()) return undefined;
    const signature = this.#keyPairs.signatureOf(keyId, `${purpose}\n${seconds}`, this.#serverKey);
    const bytes = Buffer.from(given, 'base64url');
    if (signature?.length !== bytes.length || !timingSafeEqual(signature, bytes)) return undefined;
    return { text, keyId, expiresAtMs };
  }

  /** Key pair of a grant. */
  pairOf(text: string, purpose: string): KeyPair | undefined {
    const grant = this.read(text, purpose);
    return grant && this.#keyPairs.known(grant.keyId);
  }

  note(keyId: string, about: string, lifetimeMs: number): string {
    const id = randomBytes(24).toString('base64url');
    this.#notes.set(id, { keyId, about, expiresAtMs: this.#clockMs() + lifetimeMs });
    return id;
  }

  take(id: string): { readonly keyId: string; readonly about: string } | undefined {
    const note = this.#notes.get(id);
    this.#notes.delete(id);
    return note !== undefined && note.expiresAtMs > this.#clockMs() ? note : undefined;
  }
}
