/** The client of the pages: a change requested twice within a double click is sent once. */
import { type Arguments, OPERATIONS, Sandpit } from '@sandpit/client';
import type { OperationId, ParamsOf, ReplyOf } from '@sandpit/protocol';

/** Longest time between the clicks of a double click, ms. */
const DOUBLE_CLICK_MS = 500;

/** Each of these calls counts, however fast they follow each other. */
const REPEATABLE: ReadonlySet<OperationId> = new Set(['advanceClock', 'setClock', 'stepSimulation']);

/** The answer to the latest change, given to equal calls while it is awaited and shortly after. */
export class LatestChange {
  #latest: { readonly key: string; readonly beganMs: number; isOver: boolean; answer: unknown } | undefined;

  /** `send` runs unless the previous change has the same key and is recent or awaited. A failed change may be sent again at once. */
  once<T>(key: string, nowMs: number, send: () => Promise<T>): Promise<T> {
    const latest = this.#latest;
    if (latest?.key === key && (!latest.isOver || nowMs - latest.beganMs < DOUBLE_CLICK_MS))
      return latest.answer as Promise<T>;
    const answer = send();
    const change = { key, beganMs: nowMs, isOver: false, answer };
    this.#latest = change;
    answer.then(
      () => {
        change.isOver = true;
      },
      () => {
        if (this.#latest === change) this.#latest = undefined;
      },
    );
    return answer;
  }
}

export class PageClient extends Sandpit {
  readonly #changes = new LatestChange();

  override call<Id extends OperationId>(
    id: Id,
    ...given: ParamsOf<Id> extends undefined ? [Arguments<Id>?] : [Arguments<Id>]
  ): Promise<ReplyOf<Id>> {
    const send = (): Promise<ReplyOf<Id>> => super.call(id, ...given);
    if (OPERATIONS[id].startsWith('GET ') || REPEATABLE.has(id)) return send();
    return this.#changes.once(JSON.stringify([id, given]), performance.now(), send);
  }
}
