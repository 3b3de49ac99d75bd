import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Ownership } from '../../store/ownership.js';

/** A forwarded request: its sender and its content. */
export interface Forwarded {
  /** `NODE_ID` of the node that forwards. */
  readonly from: string;
  /** The tenant that the other node should own. */
  readonly tenantId: string;
  /** Address of the client. */
  readonly client: string;
}

export const FORWARDED = 'x-sandpit-forwarded';
const SIGNATURE = 'x-sandpit-signature';
/** Maximum duration of a request plus error of the measured clock differences. */
const VALID_MS = 120_000;

const named = (text: string): string => Buffer.from(text).toString('base64url');
const nameIn = (text: string): string => Buffer.from(text, 'base64url').toString();

const digestOf = (secret: string, method: string, url: string, said: string): Buffer =>
  createHmac('sha256', secret).update(`${method}\n${url}\n${said}`).digest();

/** `CLUSTER_SECRET`, and the time of the database: the clocks of the nodes may differ by any amount. */
export interface NodeKey {
  readonly secret: string;
  readonly nowMs: () => number;
}

export const keyOfNodes = (secret: string, ownership: Pick<Ownership, 'nowMs'>): NodeKey => ({
  secret,
  nowMs: () => ownership.nowMs(),
});

/** Headers that identify the forwarding node, signed with `CLUSTER_SECRET`. */
export function signedHeaders(
  { secret, nowMs }: NodeKey,
  method: string,
  url: string,
  { from, tenantId, client }: Forwarded,
): Record<string, string> {
  const said = [String(Math.round(nowMs())), named(from), named(tenantId), named(client)].join('.');
  return { [FORWARDED]: said, [SIGNATURE]: digestOf(secret, method, url, said).toString('base64url') };
}

/**
 * The forwarding node and client of a request; undefined when the headers were not signed with this secret, `stale` when they were signed at
 * another time: the request may have been recorded.
 */
export function forwardedBy(
  { secret, nowMs }: NodeKey,
  { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
): Forwarded | 'stale' | undefined {
  const [said, signature] = [textOf(headers, FORWARDED), textOf(headers, SIGNATURE)];
  const expected = digestOf(secret, method, url, said);
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const [at = '', from = '', tenantId = '', client = ''] = said.split('.');
  if (Math.abs(nowMs() - Number(at)) > VALID_MS) return 'stale';
  return { from: nameIn(from), tenantId: nameIn(tenantId), client: nameIn(client) };
}

function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
