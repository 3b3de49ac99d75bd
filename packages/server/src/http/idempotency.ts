/**
 * `Idempotency-Key` (D24): the first answer to a key is kept for a day and repeated when the request is. It is stored in the commit of the
 * effect if there is one, so that a crash leaves both or neither.
 */
import { createHash } from 'node:crypto';
import { inSlices } from '../engine/scheduling/slice.js';
import type { Journal, StoredAnswer } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { Answer, refuse } from './answer.js';

const TTL_MS = 86_400_000;
const REPLAYED = { 'idempotent-replayed': 'true' } as const;
/** Message of a 409: the same request is being done. */
export const UNDER_WAY = 'A request with this Idempotency-Key is under way';
const VALID_KEY = /^[\x21-\x7e]{1,255}$/;

/** Refusals unrelated to the request itself: the same request may succeed a moment later. */
const NEVER_KEPT: ReadonlySet<number> = new Set([401, 403, 408, 429, 500, 503]);

/** One request with a key, under way. */
export class PendingAnswer {
  /** True when the answer has been written to the journal already. */
  isKept = false;
  readonly #answer: Omit<StoredAnswer, 'statusCode' | 'body'>;
  #endsWith: string | undefined;

  constructor(answer: Omit<StoredAnswer, 'statusCode' | 'body'>, endsWith?: string) {
    this.#answer = answer;
    this.#endsWith = endsWith;
  }

  /** The answer is about an ephemeral simulation: it is kept in memory, and no longer than the simulation. */
  endWith(simulationId: string): void {
    this.#endsWith = simulationId;
  }

  /** The answer to store; undefined for an answer that is never stored. */
  keep(answer: Answer): StoredAnswer | undefined {
    if (NEVER_KEPT.has(answer.status)) return undefined;
    this.isKept = true;
    const endsWith = this.#endsWith;
    return {
      ...this.#answer,
      statusCode: answer.status,
      body: answer.text,
      ...(endsWith !== undefined && { endsWith }),
    };
  }
}

export interface KeyedRequest {
  readonly tenantId: string;
  readonly simulationId: string;
  /** Method and route template. */
  readonly route: string;
  readonly method: string;
  /** Path with its parameters, without the query. */
  readonly path: string;
  /** The simulation that the path names. */
  readonly named?: string | undefined;
  readonly body: unknown;
  /** True when its text is so long that others have turns while its fingerprint is computed. */
  readonly isLong: boolean;
}

/** The keys of a server. */
export class Idempotency {
  readonly #journal: Journal;
  readonly #clockMs: () => number;
  readonly #isEphemeral: (simulationId: string) => boolean;
  readonly #underWay = new Set<string>();

  constructor({ journal, ephemeral }: Pick<Store, 'journal' | 'ephemeral'>, clockMs: () => number) {
    this.#journal = journal;
    this.#clockMs = clockMs;
    this.#isEphemeral = (simulationId) => ephemeral?.has(simulationId) === true;
  }

  /** Does the request, unless it has been done: then its answer is replayed. */
  async once(
    key: string,
    request: KeyedRequest,
    perform: (pending: PendingAnswer) => Promise<Answer>,
  ): Promise<Answer> {
    if (!VALID_KEY.test(key)) return refuse(400, ['Idempotency-Key must be 1 to 255 visible characters']);
    const { tenantId, simulationId, route, named } = request;
    const nowMs = this.#clockMs();
    const fingerprint = request.isLong ? await inSlices(fingerprintSteps(request)) : fingerprintOf(request);
    const kept = this.#journal.findAnswer(tenantId, simulationId, route, key, nowMs);
    if (kept !== undefined && !(kept instanceof Promise)) return replayOf(kept, fingerprint);
    const name = JSON.stringify([tenantId, simulationId, route, key]);
    if (this.#underWay.has(name)) {
      // The answer of the store is not used: its failure is no failure of this request.
      if (kept instanceof Promise) kept.catch(() => undefined);
      return refuse(409, UNDER_WAY);
    }
    // Before the asynchronous lookup: no other request with the key begins in the meantime.
    this.#underWay.add(name);
    try {
      const found = kept === undefined ? undefined : await kept;
      if (found !== undefined) return replayOf(found, fingerprint);
      const pending = new PendingAnswer(
        {
          tenantId,
          simulationId,
          route,
          key,
          fingerprint,
          expiresAt: nowMs + TTL_MS,
        },
        named !== undefined && this.#isEphemeral(named) ? named : undefined,
      );
      const answer = await perform(pending);
      if (!pending.isKept) {
        const stored = pending.keep(answer);
        if (stored !== undefined) await this.#journal.saveAnswer(stored);
      }
      return answer;
    } finally {
      this.#underWay.delete(name);
    }
  }
}

const replayOf = (found: StoredAnswer, fingerprint: string): Answer =>
  found.fingerprint === fingerprint
    ? new Answer(found.statusCode, found.body, REPLAYED)
    : refuse(422, 'Idempotency-Key was used with another request');

function fingerprintOf(request: KeyedRequest): string {
  const steps = fingerprintSteps(request);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The hash of method, path and body; the elements of each list in the body are a step each. */
function* fingerprintSteps({ method, path, body }: KeyedRequest): Generator<undefined, string> {
  const hash = createHash('sha256').update(`${method} ${path}\n`);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return hash.update(canonical(body)).digest('hex');
  let before = '{';
  for (const [name, value] of sorted(body)) {
    if (value === undefined) continue;
    hash.update(`${before}${JSON.stringify(name)}:`);
    before = ',';
    if (!Array.isArray(value)) hash.update(canonical(value));
    else {
      hash.update('[');
      for (const [index, element] of (value as readonly unknown[]).entries()) {
        hash.update(`${index === 0 ? '' : ','}${canonical(element)}`);
        yield;
      }
      hash.update(']');
    }
  }
  return hash.update('}').digest('hex');
}

const sorted = (value: object): [string, unknown][] =>
  Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));

/** JSON with the names of each object in one order: the same request in another spelling is the same request. */
function canonical(body: unknown): string {
  if (body === undefined) return '';
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(sorted(value))
      : value,
  );
}
