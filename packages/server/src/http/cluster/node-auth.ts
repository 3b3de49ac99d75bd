import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

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
/** Maximum difference of clocks plus duration of a request. */
const VALID_MS = 120_000;

const named = (text: string): string => Buffer.from(text).toString('base64url');
const nameIn = (text: string): string => Buffer.from(text, 'base64url').toString();

const digestOf = (secret: string, method: string, url: string, said: string): Buffer =>
  createHmac('sha256', secret).update(`${method}\n${url}\n${said}`).digest();

/** Headers that identify the forwarding node, signed with `CLUSTER_SECRET`. */
export function signedHeaders(
  secret: string,
  method: string,
  url: string,
  { from, tenantId, client }: Forwarded,
): Record<string, string> {
  const said = [String(Date.now()), named(from), named(tenantId), named(client)].join('.');
  return { [FORWARDED]: said, [SIGNATURE]: digestOf(secret, method, url, said).toString('base64url') };
}

/** The forwarding node and client of a request; undefined when the headers were not signed with this secret. */
export function forwardedBy(
  secret: string,
  { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
): Forwarded | undefined {
  const [said, signature] = [textOf(headers, FORWARDED), textOf(headers, SIGNATURE)];
  const expected = digestOf(secret, method, url, said);
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const [at = '', from = '', tenantId = '', client = ''] = said.split('.');
  if (Math.abs(Date.now() - Number(at)) > VALID_MS) return undefined;
  return { from: nameIn(from), tenantId: nameIn(tenantId), client: nameIn(client) };
}

function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
