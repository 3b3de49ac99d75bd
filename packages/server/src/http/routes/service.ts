import { setTimeout as after } from 'node:timers/promises';
import { Answer } from '../answer.js';
import type { Handlers } from '../call.js';
import type { HttpDeps } from '../settings.js';
import { isoOfMs } from '../translate/instants.js';

/** What was found out serves everybody who asks within this time; never longer than a second (D41). */
const PROBE_KEPT_MS = 500;
/** Nothing that is well takes longer to answer. */
const PROBE_TIMEOUT_MS = 1000;

/** Whether the server can do its work: commit to its store, and get an answer out of its engine. Tried, not assumed. */
export class Health {
  readonly #deps: Pick<HttpDeps, 'store' | 'simulations' | 'clockMs'>;
  #latest: { readonly begunAtMs: number; readonly isWell: Promise<boolean> } | undefined;
  /** Set when the server is on its way out. */
  isDraining = false;

  constructor(deps: Pick<HttpDeps, 'store' | 'simulations' | 'clockMs'>) {
    this.#deps = deps;
  }

  async check(): Promise<boolean> {
    if (this.isDraining) return false;
    const nowMs = this.#deps.clockMs();
    if (this.#latest === undefined || Math.abs(nowMs - this.#latest.begunAtMs) > PROBE_KEPT_MS) {
      this.#latest = { begunAtMs: nowMs, isWell: this.#probe() };
    }
    return this.#latest.isWell;
  }

  async #probe(): Promise<boolean> {
    const { store, simulations } = this.#deps;
    if (store.health().status !== 'ok' || simulations.main.isOutOfService) return false;
    const abort = new AbortController();
    const tooLate = after(PROBE_TIMEOUT_MS, false, { signal: abort.signal }).catch(() => false);
    const works = Promise.all([store.probe(), simulations.main.durable()]).then(
      () => true,
      () => false,
    );
    const isWell = await Promise.race([works, tooLate]);
    abort.abort();
    return isWell;
  }
}

export function serviceHandlers(
  health: Health,
  clockMs: () => number,
): Pick<Handlers, 'getHealth' | 'getReadiness'> {
  const report = async (): Promise<Answer> => {
    const isWell = await health.check();
    return Answer.json(isWell ? 200 : 503, {
      status: isWell ? 'ok' : 'error',
      timestamp: isoOfMs(clockMs()),
    });
  };
  return { getHealth: report, getReadiness: report };
}
