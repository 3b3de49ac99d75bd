import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as later } from 'node:timers/promises';
import { pathsOf, routeEntries, takesIdempotencyKey } from '@sandpit/protocol';
import type { TenantPlacement } from '../../cluster/tenant-placement.js';
import { LONG_WORK } from '../../engine/scheduling/long-work.js';
import { type BodyPlan, PLAIN_BODY } from '../bodies/body-plan.js';
import type { Bodies } from '../bodies/bodies.js';
import { ForwardedBody } from '../bodies/forwarded-body.js';
import { RefusedBody } from '../bodies/refused-body.js';
import type { PassOn } from '../dialects/sockets.js';
import { Answer, refuse, ROUTE_NOT_FOUND, SERVICE_UNAVAILABLE } from '../answer.js';
import type { ClusterNode } from '../../store/ownership.js';
import { UNDER_WAY } from '../idempotency.js';
import { hasBody, SECURITY_HEADERS } from '../reply.js';
import { allowUpload, endUpload } from '../client-error.js';
import { clientOf, forwardedFor, isForwarded, noteClient } from '../client-address.js';
import { EventRelay } from './event-relay.js';
import { answerHeaders, answerWith, NOT_OWNER, passedOn, REFUSED, sendTo } from './forwarding.js';
import type { HeldAnswer, Outcome, Outgoing } from './forwarding.js';
import { digestOf, frameKeyOf, SignatureCheck, signedHeaders } from './node-auth.js';
import type { NodeKey } from './node-auth.js';
import { destinationOf, isOfTenant, isRead } from './request-tenant.js';
import type { Askers, Destination } from './request-tenant.js';
import { LONGEST_FRAME, readFrames, SignedFrames, signWhole, WholeBody } from './signed-body.js';
import type { InTurns } from './signed-body.js';
import { relaySocket } from './socket-relay.js';

/** Time for which a request is resent to the current owner of its tenant (D200). */
const PATIENCE_MS = 5_000;
const RETRY_MS = 40;
/** Time for which a stream waits for the next owner of its tenant: a lost node is removed after five seconds. */
const STREAM_PATIENCE_MS = 15_000;
/** Time after which a request whose responses are lost repeatedly is abandoned. */
const LONGEST_MS = 20_000;
/** Time for which forwarded requests may delay the stop of this node. */
const CLOSING_MS = 3_000;
/** Interval at which to check whether the node that a request waits for still exists. */
const WATCH_MS = 250;
const STREAM = /\/stream(\/(orders|portfolios?|quotes))?$/;

export interface GatewayParts {
  readonly nodeId: string;
  readonly key: NodeKey;
  readonly placement: TenantPlacement;
  readonly askers: Askers;
  readonly bodies: Pick<Bodies, 'receiveForNode' | 'inTurns' | 'discardRestFor'>;
  /** Plan for the body of a request; `stream` = unbuffered; undefined = no route. */
  readonly planOf: (method: string, path: string) => BodyPlan | 'stream' | undefined;
  /** True for the incarnation of a node that is not removed. */
  readonly isLive: (incarnation: number) => Promise<boolean>;
  /** Handles requests between nodes. */
  readonly answerNode: (path: string, body: Buffer) => Promise<object | undefined>;
  /** Logs one line for the operator. */
  readonly note: (text: string) => void;
}

/** Opens a WebSocket on this node. */
type LocalUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Answers a request on this node. */
type Local = (request: IncomingMessage, response: ServerResponse) => void;

/** Paths of operations that honor an `Idempotency-Key`. */
const KEYED_PATHS: readonly RegExp[] = routeEntries.flatMap(([id, route]) =>
  takesIdempotencyKey(route)
    ? pathsOf(id, route).map(([, template]) => new RegExp(`^${template.replaceAll(/:\w+/g, '[^/]+')}$`))
    : [],
);

/**
 * True for a request whose effect an `Idempotency-Key` keeps from happening twice: of `/v1` the operations that honor it, and the doors of
 * dialects, which keep it for their orders (D225).
 */
function honorsKeys(method: string, url: string): boolean {
  const [path = ''] = url.split('?', 1);
  if (!path.startsWith('/v1/')) return true;
  return method === 'POST' && KEYED_PATHS.some((keyed) => keyed.test(path));
}

/**
 * Routes all requests of a node: the owner of its tenant serves a request, other nodes forward it (D200). Requests of other nodes arrive at a
 * listener of their own (D235), and are never forwarded again.
 */
export class Gateway {
  readonly #parts: GatewayParts;
  readonly #signatures: SignatureCheck;
  readonly #noted = new Map<string, number>();
  /** Streams that this node passes on. */
  readonly #relays = new Map<ServerResponse, EventRelay>();
  #isClosed = false;
  /** Requests are forwarded until this moment, on the monotonic clock, ms. */
  #endsAt = Infinity;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.#signatures = new SignatureCheck(parts.key);
  }

  /** Answers a request of a client, here or elsewhere. Headers of nodes mean nothing in it. */
  handle(request: IncomingMessage, response: ServerResponse, local: Local): void {
    response.setHeader('x-sandpit-node', this.#parts.nodeId);
    const { url = '' } = request;
    const path = normalPath(url);
    if (path === undefined) return local(request, response);
    request.url = path;
    this.#receive(request, response, local).catch((error: unknown) => this.#fail(request, response, error));
  }

  /** Answers a request of another node. */
  handleNode(request: IncomingMessage, response: ServerResponse, local: Local): void {
    response.setHeader('x-sandpit-node', this.#parts.nodeId);
    this.#serveNode(request, response, local).catch((error: unknown) => this.#fail(request, response, error));
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    this.#note(
      'gateway',
      `A request failed on its way: ${error instanceof Error ? error.message : String(error)}`,
    );
    answer(request, response, SERVICE_UNAVAILABLE);
  }

  /** Opens a WebSocket that another node passes on: it must be signed, and its tenant served here. */
  handleNodeUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, local: LocalUpgrade): void {
    const { placement, isLive } = this.#parts;
    socket.on('error', () => socket.destroy());
    const said = this.#signatures.accept(request);
    const isSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
    if (said === undefined || said === 'stale' || said.kind !== 'client' || !isSocket)
      return refuseUpgrade(socket, said === 'stale' ? '421 Misdirected Request' : '403 Forbidden');
    (async () => {
      const isServed = (await isLive(said.from)) && (await placement.serves(said.tenantId));
      if (socket.destroyed) return;
      if (!isServed) {
        refuseUpgrade(socket, '421 Misdirected Request');
        return;
      }
      noteClient(request, said);
      local(request, socket, head);
    })().catch(() => refuseUpgrade(socket, '503 Service Unavailable'));
  }

  /** Passes a WebSocket on to the node that serves its tenant. False = this node does, or the connection has been passed on already. */
  readonly passOn: PassOn = (visit, tenantId, login) => {
    const { placement, key } = this.#parts;
    const signed = forwardedFor(visit.request);
    if (signed !== undefined && signed.tenantId !== tenantId) {
      this.#note('tenant', MISMATCH);
      visit.socket.close(1008, 'policy violation');
      return true;
    }
    if (signed !== undefined || placement.servesNow(tenantId)) return false;
    relaySocket(visit, login, { placement, key, tenantId });
    return true;
  };

  /** Attach the reader of the body synchronously: its first bytes may follow in the same packet. */
  async #serveNode(request: IncomingMessage, response: ServerResponse, local: Local): Promise<void> {
    const { key, placement, isLive, answerNode, askers } = this.#parts;
    const said = this.#signatures.accept(request);
    if (said === undefined) {
      this.#refuseForeign(request, response);
      return;
    }
    if (said === 'stale') {
      this.#refuseStale(request, response);
      return;
    }
    const { body, kind, from, tenantId, client } = said;
    const whole = 'digest' in body ? new WholeBody(request, body.digest) : undefined;
    if (kind === 'node' && whole === undefined) {
      end(request, response, TOO_LARGE);
      return;
    }
    if ('frames' in body) readFrames(request, frameKeyOf(key.secret, request.headers), body.length);
    const refusal = !(await isLive(from))
      ? REMOVED
      : kind === 'node'
        ? undefined
        : !(await isOfTenant(tenantId, request, askers))
          ? NOT_ITS_TENANT
          : (await placement.serves(tenantId))
            ? undefined
            : ELSEWHERE;
    if (refusal === NOT_ITS_TENANT) this.#note('tenant', MISMATCH);
    if (refusal !== undefined) {
      if (whole === undefined) request.resume();
      else whole.discard();
      if (refusal !== NOT_ITS_TENANT) response.setHeader(NOT_OWNER, '1');
      answer(request, response, refusal);
      return;
    }
    const checked = await whole?.checked;
    if (checked === 'long') {
      end(request, response, TOO_LARGE);
      return;
    }
    if (checked === 'different') {
      end(request, response, DIFFERENT);
      return;
    }
    if (kind === 'client') {
      noteClient(request, { client, tenantId });
      this.#serve(tenantId, request, response, local);
      if (checked !== undefined) whole?.release(checked);
      return;
    }
    whole?.discard();
    const told = await answerNode(request.url ?? '/', checked ?? Buffer.alloc(0));
    answer(request, response, told === undefined ? ROUTE_NOT_FOUND : Answer.json(200, told));
  }

  #refuseForeign(request: IncomingMessage, response: ServerResponse): void {
    this.#note(
      'secret',
      `A request from ${request.socket.remoteAddress ?? 'another node'} is not signed with this node's CLUSTER_SECRET: it is refused with 403`,
    );
    response.setHeader(REFUSED, '1');
    end(request, response, FOREIGN_SECRET);
  }

  #refuseStale(request: IncomingMessage, response: ServerResponse): void {
    this.#note(
      'clock',
      `A request from ${request.socket.remoteAddress ?? 'another node'} was signed more than 30 seconds from now, for an earlier start of this node, or was received before: it is refused until both nodes have compared their clocks with the database's`,
    );
    // The request had no effect: the other node sends it again.
    request.resume();
    response.setHeader(NOT_OWNER, '1');
    answer(request, response, STALE);
  }

  async #receive(request: IncomingMessage, response: ServerResponse, local: Local): Promise<void> {
    const { placement, askers } = this.#parts;
    const destination = await destinationOf(request, askers);
    if (destination === undefined) {
      local(request, response);
      return;
    }
    const { tenantId } = destination;
    if (this.#isWithoutRoute(request)) {
      local(request, response);
      return;
    }
    // A stream continues from another node if its tenant moves: the node forwards its own streams, too.
    const isStream = request.method === 'GET' && STREAM.test((request.url ?? '').split('?')[0] ?? '');
    // If it cannot be entered now, the request is repeated until it can.
    if (!isStream && !placement.servesNow(tenantId))
      await placement.enterSoon(tenantId).catch(() => undefined);
    if (!isStream && placement.servesNow(tenantId)) this.#serve(tenantId, request, response, local);
    else await this.#forwardCounted(destination, request, response);
  }

  /** True for a request with a body that no route reads: every node refuses it. */
  #isWithoutRoute(request: IncomingMessage): boolean {
    const { method = 'GET', url = '/' } = request;
    return !isRead(method) && hasBody(request) && this.#parts.planOf(method, pathOf(url)) === undefined;
  }

  /** Long work leaves time for requests that are forwarded, as for those that are answered here. */
  async #forwardCounted(
    destination: Destination,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const beganMs = performance.now();
    LONG_WORK.began(beganMs);
    response.once('close', () => LONG_WORK.ended(beganMs));
    const { countedAs } = destination;
    try {
      const body = await this.#receiveBody(countedAs, request);
      try {
        await this.#forward(destination, body, request, response);
      } finally {
        if (body instanceof ForwardedBody) body.end();
      }
    } catch (error) {
      if (!(error instanceof RefusedBody)) throw error;
      answer(request, response, error.answer, () => this.#discardRest(countedAs, request, response));
    }
  }

  /** The body of a request: whole, or the request itself if its route reads it as it comes. */
  async #receiveBody(
    countedAs: string | undefined,
    request: IncomingMessage,
  ): Promise<ForwardedBody | IncomingMessage | undefined> {
    const { method = 'GET', url = '/' } = request;
    if (countedAs === undefined || isRead(method) || !hasBody(request)) return undefined;
    const plan = this.#parts.planOf(method, pathOf(url)) ?? PLAIN_BODY;
    if (plan === 'stream') return request;
    return this.#parts.bodies.receiveForNode(request, countedAs, plan.mostBytes);
  }

  /** A connection that ends before its body has arrived may lose the answer. */
  #discardRest(countedAs: string | undefined, request: IncomingMessage, response: ServerResponse): void {
    if (request.complete || !hasBody(request)) return;
    const isLast = !response.shouldKeepAlive;
    response.shouldKeepAlive = true;
    request.unpipe();
    this.#parts.bodies.discardRestFor(request, countedAs, isLast);
  }

  #serve(tenantId: string, request: IncomingMessage, response: ServerResponse, local: Local): void {
    const { placement } = this.#parts;
    // The client disconnected while the tenant was opened.
    if (response.destroyed) return;
    const done = placement.enter(tenantId);
    response.once('close', done);
    const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
    // Ownership may end during a request: this node's data is outdated from then on, and is not sent.
    response.writeHead = (...head: unknown[]): ServerResponse => {
      response.writeHead = writeHead;
      if (placement.owns(tenantId)) return writeHead(...head);
      // The forwarding node treats this as a lost response, and repeats the request if possible.
      if (isForwarded(request)) return response.destroy();
      answer(request, response, SERVICE_UNAVAILABLE);
      response.write = () => true;
      response.end = () => response;
      return response;
    };
    local(request, response);
  }

  async #forward(
    { tenantId, countedAs = tenantId }: Destination,
    body: ForwardedBody | IncomingMessage | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { placement, key, bodies } = this.#parts;
    const { method = 'GET', url = '/', headers } = request;
    const isStreamed = body !== undefined && !(body instanceof ForwardedBody);
    /** False once it cannot be sent again. */
    const isThere = (): boolean =>
      body === undefined ||
      (body instanceof ForwardedBody ? body.bytes !== undefined : request.readableFlowing === null);
    const isKeyed = isRead(method) || (headers['idempotency-key'] !== undefined && honorsKeys(method, url));
    const client = clientOf(request);
    const isShort = !isStreamed && (body?.length ?? 0) <= LONGEST_FRAME;
    const digest = isShort ? digestOf(body?.bytes) : undefined;
    const signedFor = async ({ incarnation }: ClusterNode, lastId?: string): Promise<Outgoing> => {
      const announced = isStreamed ? headers['content-length'] : body?.length;
      const signed = signedHeaders(key, method, url, {
        kind: 'client',
        to: incarnation,
        tenantId,
        client,
        body:
          digest === undefined
            ? { frames: true, ...(announced !== undefined && { length: Number(announced) }) }
            : { digest },
      });
      const { 'content-length': given, ...passed } = passedOn(headers);
      const all: Outgoing['headers'] = {
        ...passed,
        ...(lastId !== undefined && { 'last-event-id': lastId }),
        ...signed,
      };
      if (body === undefined) {
        const length = isRead(method) || given === undefined ? {} : { 'content-length': '0' };
        return { method, url, headers: { ...all, ...length }, body: [] };
      }
      const frameKey = frameKeyOf(key.secret, signed);
      const inTurns: InTurns = (work) => bodies.inTurns(countedAs, work);
      if (!(body instanceof ForwardedBody)) {
        keepUpload(body, response);
        return { method, url, headers: all, body: body.pipe(new SignedFrames(frameKey, inTurns)) };
      }
      const { bytes = Buffer.alloc(0) } = body;
      const pieces = isShort ? [bytes] : await inTurns(signWhole(frameKey, bytes));
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      return { method, url, headers: { ...all, 'content-length': String(length) }, body: pieces };
    };
    const given = headers['last-event-id'];
    const relay = new EventRelay(response, typeof given === 'string' ? given : undefined);
    let lastAt = performance.now() + LONGEST_MS;
    let giveUpAt = performance.now() + PATIENCE_MS;
    let wasLost = false;
    while (!response.destroyed) {
      // A stream that was between two owners when this node closed.
      if (this.#isClosed && response.headersSent) break;
      const outcome = await this.#attempt(tenantId, (node) => signedFor(node, relay.lastId), response);
      const isBegun = response.headersSent;
      if (outcome.became === 'answered' && !isBegun) {
        if (!(wasLost && isUnderWay(outcome.answer))) {
          this.#discardRest(countedAs, request, response);
          answerWith(response, outcome.answer);
          return;
        }
        // The owner still executes the earlier request: its answer is requested again.
      } else if (outcome.became === 'answered') {
        // After a stream has begun, a refusal by the next node ends it. A node that is not ready yet is retried.
        if (outcome.answer.status !== SERVICE_UNAVAILABLE.status) break;
      } else if (outcome.became === 'streaming') {
        const source = outcome.response;
        if (!isEvents(source)) {
          passOn(source, response);
          return;
        }
        if (this.#isClosed) {
          source.destroy();
          break;
        }
        if (!response.headersSent) {
          response.removeHeader('x-sandpit-node');
          response.writeHead(source.statusCode ?? 200, [...answerHeaders(source)]);
          response.socket?.setTimeout(0);
        }
        this.#relays.set(response, relay);
        const end = await relay.pass(source);
        this.#relays.delete(response);
        if (end === 'over') {
          response.end();
          return;
        }
        giveUpAt = performance.now() + STREAM_PATIENCE_MS;
        lastAt = performance.now() + LONGEST_MS;
      } else if (outcome.became === 'refused') {
        this.#note(
          'secret',
          'Another node refuses the CLUSTER_SECRET of this one: set the same on all nodes',
        );
        break;
      } else if (outcome.became === 'lost') {
        if (!isKeyed || !isThere()) break;
        wasLost = true;
        // The loss of the node is known only now; others acquire its tenants from now on.
        giveUpAt = Math.min(lastAt, Math.max(giveUpAt, performance.now() + PATIENCE_MS));
      } else if (!isThere()) break;
      placement.forget(tenantId);
      if (performance.now() > Math.min(giveUpAt, this.#endsAt)) {
        if (outcome.became === 'not-done')
          this.#note(
            'given up',
            `A request was given up, because ${outcome.why}: check the NODE_URL of all nodes, and GET /v1/cluster`,
          );
        break;
      }
      await later(RETRY_MS);
    }
    if (response.headersSent) farewell(response, relay);
    else if (!response.destroyed)
      answer(request, response, SERVICE_UNAVAILABLE, () => this.#discardRest(countedAs, request, response));
  }

  /** Sends a request to the owner of its tenant, as far as that is known. */
  async #attempt(
    tenantId: string,
    signedFor: (node: ClusterNode) => Promise<Outgoing>,
    response: ServerResponse,
  ): Promise<Outcome> {
    const { placement } = this.#parts;
    const node = await placement.ownerOf(tenantId).catch(() => undefined);
    if (node === undefined) return { became: 'not-done', why: 'no node owns the tenant' };
    const gone = new AbortController();
    const abort = (): void => gone.abort();
    const watch = setInterval(() => {
      if (!placement.isThere(node) || performance.now() > this.#endsAt) abort();
    }, WATCH_MS);
    response.once('close', abort);
    try {
      return await sendTo(node, await signedFor(node), gone.signal);
    } finally {
      clearInterval(watch);
      response.off('close', abort);
    }
  }

  /** Ends the streams that this node passes on: their clients resume at another one. It passes on no others from now on. */
  close(): void {
    this.#isClosed = true;
    this.#endsAt = performance.now() + CLOSING_MS;
    for (const [response, relay] of this.#relays) farewell(response, relay);
  }

  /** Once a minute at most. */
  #note(about: string, text: string): void {
    const now = performance.now();
    if (now - (this.#noted.get(about) ?? -Infinity) < 60_000) return;
    this.#noted.set(about, now);
    this.#parts.note(text);
  }
}

const FOREIGN_SECRET = refuse(403, 'The request is not signed with the CLUSTER_SECRET of this node');
const misdirected = (message: string): Answer =>
  Answer.json(421, { statusCode: 421, message, error: 'Misdirected Request' });
const ELSEWHERE = misdirected('Another node owns the tenant');
const NOT_ITS_TENANT = refuse(403, 'The request was signed for another tenant than that of its credential');
const MISMATCH =
  'Another node forwards a request for another tenant than that of its credential: it is refused';
const STALE = misdirected('The request was signed at another time, for another node, or was received before');
const REMOVED = misdirected('The sending node was removed from the cluster');
const DIFFERENT = refuse(403, 'The body is not as the sending node has signed it');
const TOO_LARGE = refuse(413, 'A body between nodes has at most 1 MiB');

const isEvents = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true;

const isUnderWay = ({ status, body }: HeldAnswer): boolean =>
  status === 409 && body.toString().includes(UNDER_WAY);

/**
 * The path and query of a URL, as the router reads them: without the origin of its absolute form (RFC 9112, 3.2.2), which names this server,
 * without a fragment, and without escapes of characters that need none. Undefined for another form.
 */
function normalPath(url: string): string | undefined {
  const relative = url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*/s, '');
  const rooted = relative === url || relative.startsWith('/') ? relative : `/${relative}`;
  if (!rooted.startsWith('/')) return undefined;
  const query = rooted.indexOf('?');
  const path = query === -1 ? rooted : rooted.slice(0, query);
  if (!path.includes('%')) return rooted;
  const plain = path.replace(/%([0-9a-f]{2})/gi, (escape, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape;
  });
  return query === -1 ? plain : plain + rooted.slice(query);
}

const pathOf = (url: string): string => url.split('?')[0] ?? '';

/** Refuses a request and ends its connection: no more of its body is read. */
function end(request: IncomingMessage, response: ServerResponse, refusal: Answer): void {
  response.setHeader('connection', 'close');
  answer(request, response, refusal);
}

/** Gives an upload the time that its route gives it. */
function keepUpload(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  request.on('data', allowUpload(socket));
  response.once('close', () => endUpload(socket));
}

function passOn(source: IncomingMessage, response: ServerResponse): void {
  response.removeHeader('x-sandpit-node');
  response.writeHead(source.statusCode ?? 502, [...answerHeaders(source)]);
  source.on('error', () => response.destroy());
  source.on('aborted', () => response.destroy());
  source.pipe(response);
}

/** Ends a stream whose next owner is not found: the client resumes. */
function farewell(response: ServerResponse, { lastId }: EventRelay): void {
  const id = lastId === undefined ? '' : `id: ${lastId}\n`;
  const data = JSON.stringify({ statusCode: 503, message: 'Service unavailable' });
  response.end(`${id}event: error\ndata: ${data}\n\n`);
}

/** Answers for the gateway itself, in the form that every answer has. */
function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text, headers }: Answer,
  discardRest: () => void = () => undefined,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  discardRest();
  const given = request.headers['x-request-id'];
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'x-request-id': typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID(),
    ...headers,
  });
  response.end(text);
}
