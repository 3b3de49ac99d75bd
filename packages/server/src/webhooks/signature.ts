import { createHmac, randomBytes } from 'node:crypto';

/** Prefix of secrets in Standard Webhooks 1.0. */
const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** The `webhook-signature` header: a signature for each secret, the first one first. `timestamp` in seconds. */
export function signatureOf(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
