import { SandpitError } from './errors.js';

/** Payload of a webhook delivery. */
export interface WebhookPayload {
  /** Such as `order.filled`. */
  readonly type: string;
  /** Simulated time. */
  readonly timestamp: string;
  /** Data of the event as streams show it, with its stream `id`. */
  readonly data: Readonly<Record<string, unknown>> & { readonly id: string; readonly simulationId: string };
}

/** A delivery is not from the server whose secret is known, or too old. */
export class WebhookVerificationError extends SandpitError {
  override readonly name = 'WebhookVerificationError';
}

/** A delivery as a receiver got it. */
export interface ReceivedWebhook {
  /** `whsec_…` */
  readonly secret: string;
  /** Headers of the request, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Body as received, before parsing. */
  readonly body: string;
  /** Maximum difference between the time of the try and now, seconds; default 300. */
  readonly toleranceSeconds?: number;
}

/** The payload of a delivery whose signature and time are right (Standard Webhooks 1.0). Throws `WebhookVerificationError`. */
export async function verifyWebhook({
  secret,
  headers,
  body,
  toleranceSeconds = 300,
}: ReceivedWebhook): Promise<WebhookPayload> {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    throw new WebhookVerificationError('The request lacks a header of Standard Webhooks');
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds))
    throw new WebhookVerificationError('The timestamp is too far from now');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytesOf(secret.replace(/^whsec_/, '')), algorithm, false, [
    'verify',
  ]);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const signature of signatures.split(' ')) {
    const [version, value = ''] = signature.split(',');
    if (version !== 'v1' || !/^[A-Za-z0-9+/]+=*$/.test(value)) continue;
    if (await crypto.subtle.verify('HMAC', key, bytesOf(value), content))
      return JSON.parse(body) as WebhookPayload;
  }
  throw new WebhookVerificationError('No signature matches the secret');
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
