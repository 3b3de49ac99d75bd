import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Ownership } from '../../store/ownership.js';

/** Declaration of a body: the SHA-256 of the whole body, or a stream of frames of which each is signed. */
type SignedBody = { readonly digest: string } | { readonly frames: true; readonly length?: number };

/** A request between nodes, as its sender declares it. */
export interface NodeRequest {
  /** `node`: a message of the sender itself, to a path below `/cluster/`. `client`: a request of a client. */
  readonly kind: 'node' | 'client';
  /** Incarnation of the sender. */
  readonly from: number;
  /** Incarnation of the receiver. */
  readonly to: number;
  /** The tenant that the receiver should own. */
  readonly tenantId: string;
  /** Address of the client. */
  readonly client: string;
  readonly body: SignedBody;
}

const FORWARDED = 'x-sandpit-forwarded';
const SIGNATURE = 'x-sandpit-signature';
/** Longest time between the signature and its check, plus the error of the measured clock differences. */
const VALID_MS = 30_000;

export const digestOf = (body: Buffer | undefined): string =>
  createHash('sha256')
    .update(body ?? '')
    .digest('base64url');

/** `CLUSTER_SECRET`, this node, and the time of the database: the clocks of the nodes may differ by any amount. */
export interface NodeKey {
  readonly secret: string;
  readonly incarnation: number;
  readonly nowMs: () => number;
}

export const keyOfNodes = (secret: string, ownership: Pick<Ownership, 'incarnation' | 'nowMs'>): NodeKey => ({
  secret,
  incarnation: ownership.incarnation,
  nowMs: () => ownership.nowMs(),
});

const signatureOf = (secret: string, method: string, url: string, said: string): Buffer =>
  createHmac('sha256', secret).update(`${method}\n${url}\n${said}`).digest();

/** Headers that declare a request between nodes, signed with `CLUSTER_SECRET`. Each signature is accepted once. */
export function signedHeaders(
  { secret, incarnation, nowMs }: NodeKey,
  method: string,
  url: string,
  request: Omit<NodeRequest, 'from'>,
): Record<string, string> {
  const declared = { at: Math.round(nowMs()), once: nextNumber(), from: incarnation, ...request };
  const said = Buffer.from(JSON.stringify(declared)).toString('base64url');
  return { [FORWARDED]: said, [SIGNATURE]: signatureOf(secret, method, url, said).toString('base64url') };
}

let numbered = 0;
/** Makes equal requests of the same millisecond different. */
const nextNumber = (): number => (numbered += 1);

/** Key of the frames of the request with these signed headers. */
export const frameKeyOf = (secret: string, headers: IncomingHttpHeaders): Buffer =>
  createHmac('sha256', secret)
    .update(`frames\n${textOf(headers, SIGNATURE)}`)
    .digest();

/** Checks signatures of requests that other nodes send to this one. */
export class SignatureCheck {
  readonly #key: NodeKey;
  /** Beginnings of the signatures that were accepted lately, and of those before. */
  #seen = new Set<number>();
  #seenBefore = new Set<number>();
  #turnedAt = -Infinity;

  constructor(key: NodeKey) {
    this.#key = key;
  }

  /**
   * The declared request; undefined when the headers were not signed with this secret for this method and URL, `stale` when they were signed
   * at another time or for another incarnation, or were received before: the request may have been recorded.
   */
  accept({
    method = '',
    url = '',
    headers,
  }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): NodeRequest | 'stale' | undefined {
    const { secret, incarnation, nowMs } = this.#key;
    const [said, signature] = [textOf(headers, FORWARDED), textOf(headers, SIGNATURE)];
    const expected = signatureOf(secret, method, url, said);
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const { at, ...request } = JSON.parse(Buffer.from(said, 'base64url').toString()) as NodeRequest & {
      readonly at: number;
    };
    if (Math.abs(nowMs() - at) > VALID_MS || request.to !== incarnation) return 'stale';
    return this.#isNew(expected) ? request : 'stale';
  }

  #isNew(signature: Buffer): boolean {
    const now = this.#key.nowMs();
    // A signature can be valid for twice the time, from before its moment to after it.
    if (Math.abs(now - this.#turnedAt) > 2 * VALID_MS) {
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
      this.#turnedAt = now;
    }
    const start = signature.readUIntBE(0, 6);
    if (this.#seen.has(start) || this.#seenBefore.has(start)) return false;
    this.#seen.add(start);
    return true;
  }
}

function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
