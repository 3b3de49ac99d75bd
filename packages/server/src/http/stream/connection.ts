import type { ServerResponse } from 'node:http';
import { randomInt } from 'node:crypto';
import type { StreamEvent, StreamEventData } from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { beginStream } from '../reply.js';
import { StreamFault } from './stream-fault.js';

/** A reader this far behind is disconnected, and can resume. */
const MAX_QUEUED_BYTES = 262_144;
const MAX_QUEUED_EVENTS = 1000;
/** Time limit for a reader that was cut off, or that blocks its catch-up, to read the data in flight. */
const STALL_MS = 10_000;
const RETRY_MS = 3000;
const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** The text of one event; the same for all who read it. */
export function frameOf<Name extends StreamEvent>(
  name: Name,
  id: string,
  data: StreamEventData<Name>,
): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** One reader of a stream, with a bounded backlog in memory. */
export class Connection {
  readonly #response: ServerResponse;
  readonly #closed: (() => void)[] = [];
  readonly #fault: StreamFault | undefined;
  readonly #mayAnswer: () => boolean;
  #queuedEvents = 0;
  #state: 'open' | 'ending' | 'closed' = 'open';

  readonly #isOfEvents: boolean;

  /** Turns the connection of a request into a stream and sends its head. */
  constructor(request: FastifyRequest, reply: FastifyReply, contentType = EVENT_STREAM) {
    this.#isOfEvents = contentType === EVENT_STREAM;
    const response = beginStream(request, reply, {
      'content-type': contentType,
      // A buffering proxy would hold events back.
      'x-accel-buffering': 'no',
      connection: 'keep-alive',
    });
    this.#response = response;
    this.#mayAnswer = () => request.server.mayAnswer?.() ?? true;
    const { stream, after = 0 } = request.fault?.fault ?? {};
    if (stream !== undefined) this.#fault = new StreamFault(stream, after);
    response.socket?.setNoDelay(true);
    response.socket?.setTimeout(0);
    response.on('drain', () => (this.#queuedEvents = 0));
    response.on('error', () => response.destroy());
    response.on('close', () => {
      this.#state = 'closed';
      for (const listener of this.#closed) listener();
    });
    if (request.method === 'HEAD') {
      this.finish();
      return;
    }
    // Clients that lost the same server do not all reconnect at once.
    if (this.#isOfEvents) this.#send(`retry: ${RETRY_MS + randomInt(1000)}\n\n`);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** True while sent data waits in memory for a slow client. */
  get isBehind(): boolean {
    return this.#response.writableNeedDrain;
  }

  onClose(listener: () => void): void {
    if (this.#state === 'closed') listener();
    else this.#closed.push(listener);
  }

  /** Sends an event, or several in one piece, or disconnects a reader that is too far behind. */
  write(frame: string | Buffer, positionId: () => string): void {
    if (!this.isOpen) return;
    // Another node may own the data: the reader has to resume.
    if (!this.#mayAnswer()) return this.#reset();
    if (this.#response.writableLength > MAX_QUEUED_BYTES || this.#queuedEvents >= MAX_QUEUED_EVENTS) {
      this.end(positionId(), 503, 'The reader is too slow; resume with Last-Event-ID');
      return;
    }
    const part = this.#fault === undefined ? frame : this.#passed(this.#fault, frame);
    if (part.length > 0) this.#send(part);
  }

  /** The part of a frame that a fault lets pass. A frame of another type than events is one event. */
  #passed(fault: StreamFault, frame: string | Buffer): string | Buffer {
    return this.#isOfEvents ? fault.pass(frame) : fault.repeat([frame]).join('');
  }

  #send(part: string | Buffer): void {
    const response = this.#response;
    if (this.#fault?.isCut === true) {
      this.#state = 'ending';
      response.write(part, () => response.destroy());
    } else if (!response.write(part)) {
      this.#queuedEvents += 1;
    }
  }

  /** Resolves when the reader accepts more, or has disconnected. */
  async drained(): Promise<void> {
    if (!this.isOpen || !this.#response.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const stalled = setTimeout(() => this.#reset(), STALL_MS);
      const done = (): void => {
        clearTimeout(stalled);
        this.#response.off('drain', done);
        this.#response.off('close', done);
        resolve();
      };
      this.#response.on('drain', done);
      this.#response.on('close', done);
    });
  }

  /** Ends the stream if it is complete. */
  finish(): void {
    if (!this.isOpen) return;
    this.#state = 'ending';
    this.#response.end();
    const stalled = setTimeout(() => this.#reset(), STALL_MS);
    stalled.unref();
    this.onClose(() => clearTimeout(stalled));
  }

  /** Sends the reason, and ends the stream. A reader that does not read it in time loses the connection. */
  end(id: string, statusCode: number, message: string): void {
    if (!this.isOpen) return;
    this.#state = 'ending';
    if (this.#fault?.isStalled === true) return this.#reset();
    this.#response.end(frameOf('error', id, { statusCode, message }));
    const stalled = setTimeout(() => this.#reset(), STALL_MS);
    stalled.unref();
    this.onClose(() => clearTimeout(stalled));
  }

  /** A regular close would leave unread data in the kernel's buffers; a reset frees it. */
  #reset(): void {
    const { socket } = this.#response;
    if (socket !== null && !socket.destroyed) socket.resetAndDestroy();
    else this.#response.destroy();
  }
}
