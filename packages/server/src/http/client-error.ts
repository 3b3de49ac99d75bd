import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, refuse } from './answer.js';
import { SECURITY_HEADERS } from './reply.js';

const MALFORMED = refuse(400, 'Malformed request');
const TIMEOUT = refuse(408, 'Request timeout');
const HEADERS_TOO_LARGE = refuse(431, 'Request header fields too large');

/** What the HTTP parser refuses never becomes a request: its answer is written to the socket by hand. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) {
    const answer = answerFor(error.code);
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

function answerFor(code: string | undefined): Answer {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return TIMEOUT;
  if (code === 'HPE_HEADER_OVERFLOW') return HEADERS_TOO_LARGE;
  return MALFORMED;
}
