import type {
  Clock,
  CreateSimulationBody,
  OutcomeBody,
  OutcomeEffect,
  ScriptedOutcome,
} from '@sandpit/protocol';
import { Sandpit } from '../client.js';
import type { Portfolio } from '../portfolio.js';
import { sharedBroker, sharedServer } from './server.js';

export interface SandboxOptions {
  /** Initial time of its clock, ISO 8601; by default a day on which the market is open. */
  readonly start?: string;
  /** The same seed gives the same ids and prices. */
  readonly seed?: number | string;
  /** Dollars of its portfolio. */
  readonly cash?: number;
  /** `push` unless given: quotes come from the test. */
  readonly feed?: CreateSimulationBody['feed'];
  /** `XNYS` unless given. */
  readonly calendar?: CreateSimulationBody['calendar'];
  /** Type of its portfolio; CASH unless given. */
  readonly portfolioType?: 'CASH' | 'MARGIN';
  /** True (the default): the simulation is kept in memory only and ends with the process. */
  readonly ephemeral?: boolean;
  /** True: the simulation runs in a server process, started by the first sandbox that asks for it. Default: in this process. */
  readonly server?: boolean;
}

/** Account id of every sandbox. */
const ACCOUNT = '00000000-0000-4000-8000-000000000001';
const START = '2026-01-05T10:00:00-05:00';

/**
 * A simulation for one test: its own market, its own clock, a portfolio. `await using sim = await sandbox()` deletes it at the end of the
 * block; else call `close`.
 */
export async function sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { start = START, seed = 1, cash, feed = 'push', calendar = 'XNYS' } = options;
  const { portfolioType = 'CASH', ephemeral = true, server = false } = options;
  const { access, fetch = globalThis.fetch } = await (server ? sharedServer() : sharedBroker());
  const owner = new Sandpit(access, { fetch });
  const { simulationId, token } = await owner.call('createSimulation', {
    body: { feed, clock: 'manual', calendar, start, seed, ephemeral },
  });
  const client = new Sandpit({ url: access.url, token }, { fetch });
  const portfolio = await client.openPortfolio({
    accountId: ACCOUNT,
    portfolioType,
    ...(cash !== undefined && { cash }),
  });
  return new Sandbox(owner, simulationId, client, portfolio, fetch);
}

/** A market under the control of a test. */
export class Sandbox implements AsyncDisposable {
  readonly simulationId: string;
  /** By a token for this simulation. */
  readonly client: Sandpit;
  readonly portfolio: Portfolio;
  /** How its brokerage is reached, for other clients. */
  readonly fetch: typeof globalThis.fetch;
  readonly #owner: Sandpit;

  constructor(
    owner: Sandpit,
    simulationId: string,
    client: Sandpit,
    portfolio: Portfolio,
    fetch: typeof globalThis.fetch,
  ) {
    this.#owner = owner;
    this.simulationId = simulationId;
    this.client = client;
    this.portfolio = portfolio;
    this.fetch = fetch;
  }

  /** Pushes a quote. Resolves when all affected orders are processed. */
  async quote(
    symbol: string,
    bid: number,
    ask: number,
    more: { readonly last?: number } = {},
  ): Promise<void> {
    await this.client.call('pushQuotes', { body: { quotes: [{ symbol, bid, ask, ...more }] } });
  }

  /** Advances the clock by an ISO 8601 duration: `PT5M`, `P1D` (same time, next date). Resolves when everything due in between has happened. */
  advance(by: string): Promise<Clock> {
    return this.client.call('advanceClock', { body: { by } });
  }

  /** Scripts the outcome of the next order that matches: `script({ reject: { code: 'INSUFFICIENT_FUNDS' } })`. */
  script(outcome: OutcomeEffect, more: Partial<Omit<OutcomeBody, 'outcome'>> = {}): Promise<ScriptedOutcome> {
    return this.client.call('createOutcome', { body: { match: {}, ...more, outcome } });
  }

  async close(): Promise<void> {
    await this.#owner.call('deleteSimulation', { params: { simulationId: this.simulationId } });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
