/**
 * Rate limit on orders of agents of level `capped`. It counts real time, which the brokerage does not know. The core decides on all other
 * caps.
 */
import type { Simulation } from '../../engine/simulation/simulation.js';
import { Answer, refuseCoded } from '../answer.js';
import type { Call, Handlers } from '../call.js';
import { ownOpenOrder } from '../owned.js';
import { agesOfOrders } from './recent-orders.js';

const MINUTE_MS = 60_000;

/** Times at which an agent placed and changed orders in a simulation. */
class Rate {
  /** Times of the agent's latest orders, monotonic ms. */
  readonly times: number[] = [];
  /** True when those from before this server started are among them. */
  isRecalled = false;
  #last: Promise<unknown> = Promise.resolve();

  /** Sequential: of fifty concurrent orders each sees the previous ones. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

type Guarded = 'createOrder' | 'updateOrder';

/** The handlers that place and change orders, with the rates of agents in front of them. */
export class Rates {
  readonly #rates = new Map<string, Rate>();
  readonly #monotonicMs: () => number;
  readonly #startedMs: number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#startedMs = monotonicMs();
  }

  guard(handlers: Pick<Handlers, Guarded>): Pick<Handlers, Guarded> {
    return {
      createOrder: (call) => this.#within(call, () => handlers.createOrder(call)),
      updateOrder: (call) =>
        // The handler itself refuses a change of an order that does not exist.
        ownOpenOrder(call.simulation.brokerage, call.params.orderId) === undefined
          ? handlers.updateOrder(call)
          : this.#within(call, () => handlers.updateOrder(call)),
    };
  }

  #within<Result>(
    { simulation, principal }: Pick<Call, 'simulation' | 'principal'>,
    proceed: () => Result | Promise<Result>,
  ): Result | Answer | Promise<Result | Answer> {
    const { agent } = principal;
    const most = agent?.caps?.maxOrdersPerMinute;
    if (agent === undefined || most === undefined) return proceed();
    const rate = this.#of(agent.agentId, simulation);
    return rate.alone(async () => {
      if (!rate.isRecalled) await this.#recall(rate, simulation, agent.agentId, most);
      const refused = refusalOf(rate, most, this.#monotonicMs());
      if (refused !== undefined) return refused;
      const at = this.#monotonicMs();
      const result = await proceed();
      if (!isCapped(result)) rate.times.push(at);
      return result;
    });
  }

  /** A server that has run for a minute need not read its history. */
  async #recall(rate: Rate, simulation: Simulation, agentId: string, most: number): Promise<void> {
    const ago = this.#monotonicMs() - this.#startedMs;
    if (ago < MINUTE_MS) {
      const ages = await agesOfOrders(simulation, agentId, most, MINUTE_MS);
      const nowMs = this.#monotonicMs();
      // Orders before the start, regardless of any clock.
      rate.times.push(...ages.map((age) => nowMs - Math.max(age, ago)).sort((a, b) => a - b));
    }
    rate.isRecalled = true;
  }

  #of(agentId: string, { id }: Simulation): Rate {
    const name = `${id} ${agentId}`;
    let rate = this.#rates.get(name);
    if (rate === undefined) this.#rates.set(name, (rate = new Rate()));
    return rate;
  }
}

/** True when another cap refused the order, so that it was not placed. */
const isCapped = (result: unknown): boolean =>
  result instanceof Answer && result.status === 403 && result.text.includes('"code":"CAP_EXCEEDED"');

function refusalOf({ times }: Rate, most: number, nowMs: number): Answer | undefined {
  while ((times[0] ?? Infinity) <= nowMs - MINUTE_MS) times.shift();
  if (times.length < most) return undefined;
  const [oldest = nowMs] = times;
  return refuseCoded('CAP_EXCEEDED', `This agent places or changes at most ${most} orders a minute`, {
    cap: 'maxOrdersPerMinute',
    allowed: most,
    left: 0,
    retryAfter: Math.max(1, Math.ceil((oldest + MINUTE_MS - nowMs) / 1000)),
  });
}
