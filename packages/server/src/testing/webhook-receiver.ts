import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pollAgain } from 'node:timers/promises';
import type { Certificate } from './certificates.js';

export interface ReceivedEvent {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly id: string; readonly simulationId: string };
}

type Respond = (event: ReceivedEvent, response: ServerResponse, request: IncomingMessage) => void;

const accept: Respond = (_, response) => response.writeHead(204).end();

/** A receiver of webhooks on a socket of this machine. Accepts everything unless told otherwise. */
export class WebhookReceiver {
  readonly events: ReceivedEvent[] = [];
  respond: Respond = accept;
  readonly #server: Server;

  readonly #scheme: 'http' | 'https';

  private constructor(server: Server, scheme: 'http' | 'https') {
    this.#server = server;
    this.#scheme = scheme;
  }

  /** With a certificate it listens for TLS. */
  static async open(host = '127.0.0.1', certificate?: Certificate): Promise<WebhookReceiver> {
    const take = (request: IncomingMessage, response: ServerResponse): void => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        const { type, timestamp, data } = JSON.parse(text) as Pick<
          ReceivedEvent,
          'type' | 'timestamp' | 'data'
        >;
        const event = { headers: request.headers, text, type, timestamp, data };
        receiver.events.push(event);
        receiver.respond(event, response, request);
      });
    };
    const server = certificate === undefined ? createServer(take) : createTlsServer(certificate, take);
    const receiver = new WebhookReceiver(server, certificate === undefined ? 'http' : 'https');
    server.listen(0, host);
    await once(server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    const host = this.#scheme === 'https' ? 'localhost' : '127.0.0.1';
    return `${this.#scheme}://${host}:${this.port}/hook`;
  }

  get types(): readonly string[] {
    return this.events.map(({ type }) => type);
  }

  /** Answers everything with a status. */
  answer(status: number, headers: Record<string, string> = {}): void {
    this.respond = (_, response) => response.writeHead(status, headers).end();
  }

  /** Resolves once so many events have come. */
  async received(count: number): Promise<readonly ReceivedEvent[]> {
    await until(() => this.events.length >= count);
    return this.events;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const POLL_MS = 5;

/** Resolves once a condition holds; the time limit of the test ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pollAgain(POLL_MS);
}
