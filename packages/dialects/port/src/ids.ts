/** Identifiers that follow from names, the same on every server. */
import { createHash, randomUUID } from 'node:crypto';

const NAMESPACE = 'f3d0d0a6-6d3b-5a52-8a47-5f1b6f0c2b1d';

/** A version 5 UUID (RFC 9562) of a name. */
export function uuidOf(name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(NAMESPACE.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** SHA-256 of a text. */
export const digestOf = (text: string, encoding: 'hex' | 'base64url'): string =>
  createHash('sha256').update(text).digest(encoding);

/** A random UUID. */
export const newId = (): string => randomUUID();
