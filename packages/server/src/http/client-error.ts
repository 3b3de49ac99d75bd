import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, refuse } from './answer.js';
import { SECURITY_HEADERS } from './reply.js';

const MALFORMED = refuse(400, 'Malformed request');
const EXPECTATION_FAILED = refuse(417, 'Expectation Failed');
const TIMEOUT = refuse(408, 'Request timeout');
const HEADERS_TOO_LARGE = refuse(431, 'Request header fields too large');

/** Uploads of files, which are slow. */
const uploading = new WeakMap<Socket, { heardAtMs: number }>();

/** Time without data after which an upload is aborted, ms. */
const SILENCE_MS = 20_000;

/** Extends a request while its body keeps arriving. Returns a function to report progress. */
export function allowUpload(socket: Socket): () => void {
  const upload = { heardAtMs: performance.now() };
  uploading.set(socket, upload);
  return () => (upload.heardAtMs = performance.now());
}

/** Restores the usual time limit of the request on the connection. */
export function endUpload(socket: Socket): void {
  uploading.delete(socket);
}

/** Answers a request that the HTTP parser refused: it never becomes a request, so the answer is written directly to the socket. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const upload = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? uploading.get(socket) : undefined;
  if (upload !== undefined && performance.now() - upload.heardAtMs < SILENCE_MS) return;
  answerOnSocket(socket, answerFor(error.code));
}

/** Requests of a connection. */
interface Requested {
  /** Responses that have not ended, oldest first. */
  readonly open: ServerResponse[];
  last: IncomingMessage;
}

const requested = new WeakMap<Socket, Requested>();

/** Keeps track of the responses of a server, so that no other answer is written into them. Install it after all other listeners. */
export function trackResponses(server: Server): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const known = requested.get(socket);
    if (known === undefined) requested.set(socket, { open: [response], last: request });
    else {
      known.open.push(response);
      known.last = request;
    }
    response.once('close', () => {
      const { open = [] } = requested.get(socket) ?? {};
      const place = open.indexOf(response);
      if (place !== -1) open.splice(place, 1);
    });
  });
}

/** Answers without a response, and ends the connection. After the beginning of a response it only ends the connection. */
export function answerOnSocket(socket: Socket, answer: Answer): void {
  const { open = [], last } = requested.get(socket) ?? {};
  const isOfBody = last?.complete === false;
  // The broken request has its answer already, in part or as a whole.
  if (open[0]?.headersSent === true || (isOfBody && open.length === 0)) return void socket.destroy();
  // Requests that were received whole before the broken one get their answers.
  if (!isOfBody && open.length > 0) return void open.at(-1)?.once('close', () => socket.destroySoon());
  if (socket.writable && open.length < 2) {
    const headers = {
      ...SECURITY_HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(answer.text)),
      'x-request-id': randomUUID(),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('')}\r\n${answer.text}`,
    );
  }
  socket.destroySoon();
}

/** The refusal of a head that the HTTP parser accepts: no host, or two (RFC 9112, 3.2). Repairs other defects. */
export function brokenHead({ headers, rawHeaders, httpVersion }: IncomingMessage): Answer | undefined {
  // An empty header counts as absent (D147); the framework would refuse it.
  if (headers['content-type'] === '') delete headers['content-type'];
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0') ? undefined : MALFORMED;
}

/** An `Expect` that is not `100-continue`. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(417, {
    ...SECURITY_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': randomUUID(),
    connection: 'close',
  });
  response.end(EXPECTATION_FAILED.text);
}

function answerFor(code: string | undefined): Answer {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return TIMEOUT;
  if (code === 'HPE_HEADER_OVERFLOW') return HEADERS_TOO_LARGE;
  return MALFORMED;
}
