import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A key, shown once, and its hash, the only stored part. */
export interface DrawnKey {
  readonly apiKey: string;
  readonly hash: string;
}

export function drawApiKey(): DrawnKey {
  const apiKey = `sp_${randomBytes(32).toString('base64url')}`;
  return { apiKey, hash: hashOfApiKey(apiKey) };
}

/** 256 random bits need no slow hash. */
export function hashOfApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

/** Id of a key for operators and tokens: the beginning of its hash, which reveals nothing about the key. */
export const idOfApiKey = (hash: string): string => hash.slice(0, 16);

/** Compares in constant time. */
export function isHashOf(hash: string, apiKey: string): boolean {
  const left = Buffer.from(hash);
  const right = Buffer.from(hashOfApiKey(apiKey));
  return left.length === right.length && timingSafeEqual(left, right);
}
