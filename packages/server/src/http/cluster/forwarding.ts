import { Agent, request as send } from 'node:http';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { request as sendSecurely } from 'node:https';
import type { Transform } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import type { ClusterNode } from '../../store/ownership.js';

/** Set by a node that turns out not to be the owner; the request had no effect. */
export const NOT_OWNER = 'x-sandpit-not-owner';
/** Set by a node that does not accept the signature of the one that forwards. */
export const REFUSED = 'x-sandpit-refused';

const CONNECT_MS = 1_000;
const IDLE_MS = 20_000;
/** Responses up to this size are buffered before they are forwarded, so that a lost one can be requested again. */
const HELD_BYTES = 4 * 1024 * 1024;

/** Headers of one connection, which no proxy passes on. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** A limit of its connections would let the streams of one tenant keep the requests of others waiting. */
const agent = new Agent({ keepAlive: true, maxFreeSockets: 64, timeout: IDLE_MS });

/** A request for another node, sent once or repeatedly. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** The whole body in pieces, or its signed stream, which can be sent once. */
  readonly body: readonly Buffer[] | Transform;
}

/** Outcome of a request to another node. */
export type Outcome =
  /** The request had no effect at the other node. */
  | { readonly became: 'not-done'; readonly why: string }
  /** The other node does not accept the signature. */
  | { readonly became: 'refused' }
  /** The request may have been executed. */
  | { readonly became: 'lost'; readonly why: string }
  | { readonly became: 'answered'; readonly answer: HeldAnswer }
  /** The response arrives in pieces. */
  | { readonly became: 'streaming'; readonly response: IncomingMessage };

export interface HeldAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Headers of a request on their way to another node. */
export function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !OF_CONNECTION.has(name) && !name.startsWith('x-sandpit-'))
      passed[name] = value;
  return passed;
}

/** Alternating names and values, without those of the connection. */
export function answerHeaders({ rawHeaders }: IncomingMessage): readonly string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (!OF_CONNECTION.has(name.toLowerCase())) kept.push(name, rawHeaders[i + 1] ?? '');
  }
  return kept;
}

/** Sends a request to a node. `signal` ends the wait for an answer when the node or the client is lost. */
export function sendTo(
  node: Pick<ClusterNode, 'url'>,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<Outcome> {
  const { method, url, headers, body } = outgoing;
  return new Promise((resolve) => {
    const target = new URL(node.url);
    const isSecure = target.protocol === 'https:';
    // The URL of a client is never resolved: it could name another host.
    const options = { ...urlToHttpOptions(target), path: url, method, headers, signal };
    let isSent = false;
    const request: ClientRequest = isSecure ? sendSecurely(options) : send({ ...options, agent });
    const slow = setTimeout(
      // After a block of this node the connection may be there.
      () => setImmediate(() => isSent || request.destroy(new Error('no connection'))),
      CONNECT_MS,
    );
    request.on('socket', (socket) => {
      const connected = (): void => {
        clearTimeout(slow);
        isSent = true;
      };
      if (socket.connecting) socket.once(isSecure ? 'secureConnect' : 'connect', connected);
      else connected();
    });
    request.on('error', (error) => {
      clearTimeout(slow);
      resolve({ became: isSent ? 'lost' : 'not-done', why: error.message });
    });
    request.on('response', (response) => {
      clearTimeout(slow);
      outcomeOf(response).then(resolve, (error: unknown) =>
        resolve({ became: 'lost', why: error instanceof Error ? error.message : String(error) }),
      );
    });
    if ('pipe' in body) {
      body.pipe(request);
      return;
    }
    request.cork();
    for (const piece of body) request.write(piece);
    request.end();
    request.uncork();
  });
}

async function outcomeOf(response: IncomingMessage): Promise<Outcome> {
  const { headers, statusCode = 502 } = response;
  if (headers[NOT_OWNER] !== undefined || headers[REFUSED] !== undefined) {
    response.resume();
    return headers[REFUSED] !== undefined
      ? { became: 'refused' }
      : { became: 'not-done', why: 'the node that should own its tenant says that another one does' };
  }
  const length = Number(headers['content-length'] ?? Infinity);
  const isEmpty = statusCode === 204 || statusCode === 304;
  if (!isEmpty && !(length <= HELD_BYTES)) return { became: 'streaming', response };
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const answer = { status: statusCode, headers: answerHeaders(response), body: Buffer.concat(pieces) };
  return { became: 'answered', answer };
}

/** Forwards a response to the client, with its headers. */
export function answerWith(response: ServerResponse, { status, headers, body }: HeldAnswer): void {
  if (response.destroyed || response.headersSent) return;
  response.removeHeader('x-sandpit-node');
  response.writeHead(status, [...headers]);
  response.end(body);
}
