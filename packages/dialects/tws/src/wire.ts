/** The sending side of a connection. */
import { type Field, frameOf } from './codec.js';
import type { TwsRefusal } from './refusals.js';
import { ANSWER, type Answer } from './tables.js';

/** Bytes of a client's connection. */
interface Sink {
  write(bytes: Uint8Array): void;
  report(error: unknown): void;
  onClose(listener: () => void): void;
}

export class Wire {
  readonly version: number;
  readonly #sink: Sink;

  constructor(sink: Sink, version: number) {
    this.#sink = sink;
    this.version = version;
  }

  send(answer: Answer, ...fields: readonly Field[]): void {
    this.#sink.write(frameOf([...ANSWER[answer], ...fields]));
  }

  /** `id`: of the request or the order; −1 = of neither. */
  error(id: number, { code, message }: Pick<TwsRefusal, 'code' | 'message'>): void {
    this.send('ERROR', id, code, message, ...(this.version >= 166 ? [''] : []));
  }

  report(error: unknown): void {
    this.#sink.report(error);
  }

  onClose(listener: () => void): void {
    this.#sink.onClose(listener);
  }
}
