import { createHmac, randomUUID } from 'node:crypto';
import { CodedProblem, Problem, routeEntries, validateBody } from '@sandpit/protocol';
import type { FastifyBaseLogger, FastifyInstance, InjectOptions } from 'fastify';
import { Access } from '../access/access.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import type { SimulationConfig } from '../engine/configuration/simulation-config.js';
import type { Simulations } from '../engine/directory/simulations.js';
import { loadDialects } from '../dialects.js';
import { createApp } from '../http/app.js';
import type { Grant } from '../http/auth.js';
import type { DashboardFiles } from '../http/dashboard.js';
import { DocsSite } from '../http/docs-site.js';
import type { HttpSettings } from '../http/settings.js';
import type { Store } from '../store/store.js';
import type { Resolve } from '../webhooks/addresses.js';
import type { Timers } from '../webhooks/timers.js';
import { startSimulations, testSettings } from './simulations.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';
export const ACCOUNT = '11111111-1111-4111-8111-111111111111';
/** An id that nothing has. */
export const NOWHERE = '99999999-9999-4999-8999-999999999999';

const ALL_SCOPES = 'trade read simulate admin operator';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token signed by hand, with any claims: what the service makes and accepts is held against it. */
export function signToken(
  claims: object,
  header: object = { alg: 'HS256', typ: 'JWT' },
  secret = JWT_SECRET,
): string {
  const content = `${encode(header)}.${encode(claims)}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

/** Bodies are looked into by tests that know what they expect. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
export type Body = any;

export interface Reply {
  readonly status: number;
  readonly body: Body;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface TestAppOptions {
  readonly config?: Partial<SimulationConfig>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly store?: Store;
  readonly log?: FastifyBaseLogger;
  readonly isAccessLogged?: boolean;
  readonly dashboard?: DashboardFiles | undefined;
  /** Directory of a built documentation site; absent = there is none. */
  readonly siteDirectory?: string;
  readonly webhookTimers?: Timers;
  readonly resolve?: Resolve;
}

/** The whole service in this process: memory store, pushed quotes, a clock that moves when told. */
export class TestApp {
  readonly app: FastifyInstance;
  readonly simulations: Simulations;
  readonly main: Simulation;
  readonly store: Store;
  readonly access: Access;
  readonly settings: HttpSettings;
  /** Real time as the service sees it: the machine's clock, and a monotonic one. */
  readonly time: { nowMs: number; monotonicMs: number };

  private constructor(
    parts: Pick<TestApp, 'app' | 'simulations' | 'main' | 'store' | 'access' | 'settings' | 'time'>,
  ) {
    this.app = parts.app;
    this.simulations = parts.simulations;
    this.main = parts.main;
    this.store = parts.store;
    this.access = parts.access;
    this.settings = parts.settings;
    this.time = parts.time;
  }

  static async open(options: TestAppOptions = {}): Promise<TestApp> {
    const settings = testSettings({ JWT_SECRET, ...options.settings });
    const { store, simulations, main } = await startSimulations(options.config, options.store, settings);
    const time = { nowMs: Date.now(), monotonicMs: 0 };
    const access = new Access(store.registry, () => time.nowMs);
    const app = await createApp({
      simulations,
      store,
      access,
      settings,
      clockMs: () => time.nowMs,
      monotonicMs: () => time.monotonicMs,
      dashboard: options.dashboard,
      dialects: await loadDialects(settings.dialects),
      docsSite: new DocsSite(options.siteDirectory ?? import.meta.dirname),
      ...(options.webhookTimers !== undefined && { webhookTimers: options.webhookTimers }),
      ...(options.resolve !== undefined && { resolve: options.resolve }),
      ...(options.log !== undefined && { log: options.log, isAccessLogged: options.isAccessLogged === true }),
    });
    await app.ready();
    return new TestApp({ app, simulations, main, store, access, settings, time });
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.simulations.close();
    await this.store.close();
  }

  /** Stops and starts again on the same store. */
  async restart(options: Omit<TestAppOptions, 'store'> = {}): Promise<TestApp> {
    await this.app.close();
    await this.simulations.close();
    return TestApp.open({ ...options, store: this.store });
  }

  token(grant: Partial<Grant> = {}): string {
    const { tenantId = 'tenant-1', tier = 'PRO', scope = ALL_SCOPES, simulationId, notAfterMs } = grant;
    const iat = Math.floor(this.time.nowMs / 1000);
    const exp = Math.min(iat + this.settings.tokenTtlSeconds, Math.floor((notAfterMs ?? Infinity) / 1000));
    return signToken({
      sub: tenantId,
      tier,
      scope,
      ...(simulationId !== undefined && { sim: simulationId }),
      iat,
      exp,
      jti: randomUUID(),
      iss: this.settings.jwtIssuer,
      aud: this.settings.jwtAudience,
    });
  }

  /** A client with a token. */
  as(grant: Partial<Grant> = {}): TestClient {
    return new TestClient(this.app, this.token(grant));
  }

  withToken(token: string | undefined): TestClient {
    return new TestClient(this.app, token);
  }
}

/** An answer that is not in the form of the contract. */
export class BrokenContract extends Error {
  override readonly name = 'BrokenContract';
}

/** A client whose every answer is held against the contract. */
export class TestClient {
  readonly token: string | undefined;
  readonly #app: FastifyInstance;

  constructor(app: FastifyInstance, token: string | undefined) {
    this.#app = app;
    this.token = token;
  }

  get = (url: string, headers?: Record<string, string>): Promise<Reply> =>
    this.send('GET', url, undefined, headers);
  post = (url: string, body?: object, headers?: Record<string, string>): Promise<Reply> =>
    this.send('POST', url, body, headers);
  put = (url: string, body?: object, headers?: Record<string, string>): Promise<Reply> =>
    this.send('PUT', url, body, headers);
  delete = (url: string): Promise<Reply> => this.send('DELETE', url);

  send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    return this.inject({
      method,
      url,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: body }),
    });
  }

  async inject(request: InjectOptions & { readonly method: string; readonly url: string }): Promise<Reply> {
    const response = await this.#app.inject({
      ...request,
      headers: {
        ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
        ...request.headers,
      },
    });
    const reply: Reply = {
      status: response.statusCode,
      body: response.json(),
      text: response.body,
      headers: response.headers as Record<string, string>,
    };
    const broken = brokenPromises(request.method, request.url, reply);
    if (broken.length > 0)
      throw new BrokenContract(`${request.method} ${request.url}: ${broken.join('; ')}\n${reply.text}`);
    return reply;
  }
}

/** Violations of the table of routes by an answer. */
function brokenPromises(method: string, url: string, { status, body, headers }: Reply): string[] {
  const broken: string[] = [];
  if (headers['x-request-id'] === undefined) broken.push('no X-Request-Id');
  if (headers['cache-control'] !== 'no-store') broken.push('cacheable');
  const path = url.split('?')[0] ?? '';
  const route = routeEntries.find(
    ([, { method: known, path: template, aliases = {} }]) =>
      known === method && [template, ...Object.values(aliases)].some((one) => matches(one, path)),
  )?.[1];
  const schema = route?.responses[status];
  if (schema !== undefined) {
    const checked = validateBody(schema, body);
    if (!checked.ok) broken.push(...checked.messages);
  } else {
    const { error, statusCode } = body as { error?: unknown; statusCode?: unknown };
    const checked = validateBody(typeof error === 'object' ? CodedProblem : Problem, body);
    if (!checked.ok) broken.push(...checked.messages);
    if (statusCode !== status) broken.push(`statusCode is not ${status}`);
  }
  if (route !== undefined && headers['x-ratelimit-limit'] === undefined) broken.push('no rate limit headers');
  return broken;
}

const matches = (template: string, path: string): boolean =>
  new RegExp(`^${template.replace(/:\w+/g, '[^/]+')}$`).test(path);

/** Opens a portfolio through the API. */
export async function openPortfolio(client: TestClient, body: object = {}): Promise<Body> {
  const reply = await client.post('/v1/accounts/portfolios', {
    accountId: ACCOUNT,
    portfolioType: 'MARGIN',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    ...body,
  });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body;
}

export const pushQuote = (client: TestClient, quote: object = {}): Promise<Reply> =>
  client.put('/v1/simulation/quotes', {
    quotes: [{ symbol: 'AAPL', bid: 99.9, ask: 100, last: 100, ...quote }],
  });

/** A limit order for ten shares of AAPL; without a quote, or away from it, it rests. */
export const orderBody = (portfolioId: string, more: object = {}): object => ({
  portfolioId,
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'LIMIT',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 10,
  timeInForce: 'DAY',
  limitPrice: 100,
  ...more,
});

export async function placeOrder(client: TestClient, portfolioId: string, more: object = {}): Promise<Body> {
  const reply = await client.post('/v1/orders', orderBody(portfolioId, more));
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body;
}
