import { setTimeout as after } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { FeedState } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { type FeedStatus, isLive } from '../../feeds/live-feed.js';
import { Answer } from '../answer.js';
import type { Handlers } from '../call.js';
import type { HttpDeps } from '../settings.js';
import { isoOfMs } from '../translate/instants.js';

/** The result of a probe serves all requests within this time; never longer than a second (D41). */
const PROBE_KEPT_MS = 500;
/** A healthy dependency answers within this time. */
const PROBE_TIMEOUT_MS = 1000;

/** Simulations out of service that are named. */
const MOST_NAMED = 10;

/** A clock that is set right is set by less. */
const NOTED_AHEAD_MS = 60_000;

/** Time by which the market of a simulation on the wall clock is ahead of the machine's clock; 0 on other clocks. */
export const clockAheadMs = (simulation: Simulation, machineMs: number): number =>
  simulation.clock().mode === 'wall' ? Math.max(0, simulation.now() - machineMs) : 0;

const feedStateOf = ({ sinceMs, lastMessageAtMs, counts: _, ...status }: FeedStatus): FeedState => ({
  ...status,
  since: isoOfMs(sinceMs),
  ...(lastMessageAtMs !== undefined && { lastMessageAt: isoOfMs(lastMessageAtMs) }),
});

type HealthDeps = Pick<HttpDeps, 'store' | 'simulations' | 'clockMs'> & { readonly log?: FastifyBaseLogger };

/** True when the server can do its work: commit to its store, and get an answer out of its engine. Tried, not assumed. */
export class Health {
  readonly #deps: HealthDeps;
  #latest: { readonly begunAtMs: number; readonly problems: Promise<readonly string[]> } | undefined;
  #wasWell = true;
  /** Set when the server is on its way out. */
  isDraining = false;
  /** False while a node of a cluster has not begun. */
  isBegun = true;

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  /** Problems that make the server unhealthy; empty = healthy. */
  async problems(): Promise<readonly string[]> {
    if (this.isDraining) return ['the server is stopping'];
    const nowMs = this.#deps.clockMs();
    if (this.#latest === undefined || Math.abs(nowMs - this.#latest.begunAtMs) > PROBE_KEPT_MS) {
      this.#latest = { begunAtMs: nowMs, problems: this.#probe() };
    }
    return this.#latest.problems;
  }

  /** State of the connection to a source of live market data, if any (D183). */
  feed(): FeedState | undefined {
    const { feed } = this.#deps.simulations.market;
    return isLive(feed) ? feedStateOf(feed.status()) : undefined;
  }

  /** Conditions that keep traffic away and that a restart does not mend, so that the server is healthy. */
  obstacles(): readonly string[] {
    const feed = this.feed();
    return [
      ...(this.isBegun ? [] : ['the node has not begun']),
      ...(feed?.status === 'refused' ? [`market data: ${feed.reason ?? 'the source refuses'}`] : []),
    ];
  }

  /** Conditions to report that do not make the server unhealthy. */
  remarks(): readonly string[] {
    const { store, simulations, clockMs } = this.#deps;
    const { status } = store.history.health();
    const aheadMs = Math.max(...simulations.onMarket.map((one) => clockAheadMs(one, clockMs())));
    const feed = this.feed();
    const broken = simulations.outOfService.list();
    return [
      ...broken.slice(0, MOST_NAMED).map(([id, reason]) => `simulation ${id} is out of service: ${reason}`),
      ...(broken.length > MOST_NAMED
        ? [`${broken.length - MOST_NAMED} more simulations are out of service`]
        : []),
      ...(feed?.status === 'reconnecting'
        ? [`market data: reconnecting${feed.reason === undefined ? '' : `: ${feed.reason}`}`]
        : []),
      ...(feed?.halts === 'none' ? ['market data: this source tells no trading halts'] : []),
      ...(status === 'rebuilding' ? ['the history is being rebuilt'] : []),
      ...(status === 'failing' ? ['the history cannot be written'] : []),
      ...(aheadMs >= NOTED_AHEAD_MS
        ? [
            `the market is ${Math.round(aheadMs / 1000)} s ahead of the machine’s clock, which was set back; a start is refused until it has caught up`,
          ]
        : []),
    ];
  }

  async #probe(): Promise<readonly string[]> {
    const problem = await this.#problem();
    if ((problem === undefined) !== this.#wasWell) {
      this.#wasWell = problem === undefined;
      if (problem === undefined) this.#deps.log?.info('ready again');
      else this.#deps.log?.warn({ reason: problem }, 'not ready');
    }
    return problem === undefined ? [] : [problem];
  }

  async #problem(): Promise<string | undefined> {
    const { store, simulations } = this.#deps;
    if (store.health().status !== 'ok') return 'the store does not commit';
    if (simulations.market.isOutOfService) return 'the market is out of service: its journal is damaged';
    const abort = new AbortController();
    const tooLate = after(PROBE_TIMEOUT_MS, 'nothing was committed within a second', {
      signal: abort.signal,
    }).catch(() => undefined);
    const works = Promise.all([store.probe(), simulations.market.durable()]).then(
      () => undefined,
      () => 'the store does not commit',
    );
    const problem = await Promise.race([works, tooLate]);
    abort.abort();
    return problem;
  }
}

export function serviceHandlers(
  health: Health,
  clockMs: () => number,
): Pick<Handlers, 'getHealth' | 'getReadiness'> {
  const report = (isWell: boolean, reasons?: readonly string[], feed?: FeedState): Answer =>
    Answer.json(isWell ? 200 : 503, {
      status: isWell ? 'ok' : 'error',
      timestamp: isoOfMs(clockMs()),
      reasons,
      ...(feed !== undefined && { halts: feed.halts, feed }),
    });
  return {
    getHealth: async () => report((await health.problems()).length === 0),
    async getReadiness() {
      const problems = [...(await health.problems()), ...health.obstacles()];
      return report(problems.length === 0, [...problems, ...health.remarks()], health.feed());
    },
  };
}
