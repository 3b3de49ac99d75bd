/**
 * Sends requests that nobody should send to a real server: the examples of all operations with fields taken out, exchanged, repeated, nested
 * and made extreme, ids of another tenant, broken JSON, wrong methods, types and tokens.
 *
 *   npm run fuzz -- --requests 10000 [--seed 1] [--lanes 8]
 *
 * Each answer is below 500, or a 503 with `Retry-After`; an error has the contract's shape and reveals no internals; nothing of the other
 * tenant is in an answer, and what it owns stays as it was; the process lives and `verify` is sound afterwards.
 *
 * Leaves out: streams, files that are uploaded, and what more than one request does together.
 */
import { cpSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { examples, type Example } from '../packages/protocol/src/examples.js';
import { type Route, routeEntries } from '@sandpit/protocol';
import { cashPortfolioBody, restingOrderBody } from '../packages/server/src/testing/request-bodies.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { Chance } from './chance.js';
import { Client } from './client.js';
import { JWT_SECRET, tokenOf } from './tokens.js';

const SETTINGS = {
  MARKET_FEED: 'synthetic',
  MARKET_CALENDAR: 'always-open',
  RATE_LIMIT_DEFAULT: '1000000000',
  BYTES_PER_TENANT: '4294967295',
  JWT_SECRET,
};
/** Name that stands in everything of the other tenant. */
const CANARY = 'canary-of-the-other-tenant';
const INTERNALS =
  /node_modules|\bat \S+ \(|\.[jt]s:\d|SQLITE_|ECONN|ENOENT|Cannot read propert|is not a function/;
/** Answers that take longer hold something up. */
const SLOWEST_MS = 20_000;
/** The simulation of the token must stay, and faults and outcomes end connections by request. */
const LEFT_OUT: ReadonlySet<string> = new Set(['deleteSimulation', 'createFault', 'createOutcome']);
/** Ids kept from answers, for later requests. */
const MOST_IDS = 400;

const NASTY: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  0,
  -0,
  -1,
  0.1 + 0.2,
  1e-9,
  1e15,
  9_007_199_254_740_993,
  1e308,
  '1',
  'NaN',
  [],
  {},
  [[]],
  [null],
  { length: 1e9 },
  '\u0000',
  '\u2800',
  '\ud800',
  'A'.repeat(5_000),
  '../../etc/passwd',
  "' OR 1=1 --",
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00.000Z',
  '0000-01-01',
  'P999999999Y',
  'PT0S',
  '-P1D',
  'AAPL',
  'AAPL260116C00200000',
  'ESZ26',
  '/ES',
  'constructor',
  '__proto__',
];

/** What a run found. */
export interface FuzzReport {
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** In sentences; empty = sound. */
  readonly problems: readonly string[];
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Draws requests from a seed and from ids that earlier answers had. */
class Requests {
  readonly #chance: Chance;
  readonly #ids: string[] = [];
  readonly #foreign: readonly string[];
  readonly #tokens: readonly string[];
  readonly #routes: readonly (readonly [Route, Example])[];

  /** `foreign`: ids of the other tenant; `tokens`: of the tenant that sends, good and bad ones. */
  constructor(chance: Chance, foreign: readonly string[], tokens: readonly string[]) {
    this.#chance = chance;
    this.#foreign = foreign;
    this.#tokens = tokens;
    this.#routes = routeEntries
      .filter(([id, route]) => route.events === undefined && route.upload !== true && !LEFT_OUT.has(id))
      .map(([id, route]) => [route, examples[id] ?? {}]);
  }

  /** Keeps ids of an answer. */
  learn(text: string): void {
    for (const [id] of text.matchAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))
      if (this.#ids.length < MOST_IDS) this.#ids.push(id);
      else this.#ids[this.#chance.int(0, MOST_IDS - 1)] = id;
  }

  next(): Sent {
    const chance = this.#chance;
    const [route, example] = chance.pick(this.#routes);
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => this.#parameter(example.params?.[name]));
    const method = chance.hits(0.02)
      ? chance.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD'])
      : route.method;
    const headers: Record<string, string> = { authorization: `Bearer ${chance.pick(this.#tokens)}` };
    if (chance.hits(0.05)) headers['accept'] = chance.pick(['text/csv', 'application/xml', '*/*;q=0', '']);
    if (chance.hits(0.05))
      headers['idempotency-key'] = chance.pick(['a', 'x'.repeat(300), '"', String(chance.int(1, 9))]);
    const query = this.#query(example);
    const sent = { method, path: `${path}${query}`, headers };
    if (method === 'GET' || method === 'HEAD' || (route.body === undefined && !chance.hits(0.05)))
      return sent;
    headers['content-type'] = chance.hits(0.02)
      ? chance.pick(['text/plain', 'text/csv', 'application/xml', ''])
      : 'application/json';
    return { ...sent, headers, body: this.#text(this.#altered(example.body ?? {}, chance.int(0, 3))) };
  }

  #parameter(known: string | undefined): string {
    const chance = this.#chance;
    if (chance.hits(0.6) && this.#ids.length > 0) return chance.pick(this.#ids);
    if (chance.hits(0.4)) return chance.pick(this.#foreign);
    if (known !== undefined && chance.hits(0.7)) return encodeURIComponent(known);
    return chance.pick(['AAPL', '%00', '%2e%2e', '..', '%', 'a'.repeat(2_000), '-', '%F0%9F%92%A9', 'main']);
  }

  #query({ query = {} }: Example): string {
    const chance = this.#chance;
    const parts = Object.entries(query).map(
      ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
    );
    while (chance.hits(0.25)) {
      const name = chance.pick([
        ...Object.keys(query),
        'limit',
        'page',
        'cursor',
        'from',
        'to',
        'status',
        'symbol',
        '__proto__',
      ]);
      const value = chance.pick(NASTY);
      parts.push(`${name}=${chance.hits(0.1) ? '%' : encodeURIComponent(wellFormed(value))}`);
    }
    return parts.length === 0 ? '' : `?${parts.join('&')}`;
  }

  /** A copy of a value with so many changes anywhere inside. */
  #altered(value: unknown, changes: number): unknown {
    let copy = structuredClone(value);
    for (let n = 0; n < changes; n += 1) copy = this.#changed(copy, 0);
    return this.#withIds(copy);
  }

  #changed(value: unknown, depth: number): unknown {
    const chance = this.#chance;
    const isList = Array.isArray(value);
    if (typeof value !== 'object' || value === null || depth > 6 || chance.hits(0.15))
      return chance.pick(NASTY);
    const keys = Object.keys(value);
    const key = keys.length > 0 ? chance.pick(keys) : 'x';
    const copy = (isList ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
    switch (chance.int(0, 4)) {
      case 0:
        Reflect.deleteProperty(copy, key);
        return isList ? Object.values(copy) : copy;
      case 1:
        if (isList) return Array.from({ length: chance.int(0, 2_000) }, () => copy[key]);
        copy[chance.pick(['extra', 'constructor', 'toString', ''])] = chance.pick(NASTY);
        return copy;
      case 2:
        copy[key] = chance.pick(NASTY);
        return copy;
      default:
        copy[key] = this.#changed(copy[key], depth + 1);
        return copy;
    }
  }

  /** Ids of examples become ids that are there, or those of the other tenant. */
  #withIds(value: unknown): unknown {
    if (typeof value === 'string')
      return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(value) && this.#ids.length > 0
        ? this.#chance.pick(this.#chance.hits(0.85) ? this.#ids : this.#foreign)
        : value;
    if (Array.isArray(value)) return value.map((one) => this.#withIds(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#withIds(one)]));
  }

  #text(body: unknown): string {
    const chance = this.#chance;
    const text = JSON.stringify(body);
    if (!chance.hits(0.05)) return text;
    switch (chance.int(0, 4)) {
      case 0:
        return text.slice(0, chance.int(0, text.length));
      case 1:
        return `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      case 2:
        return text.replace(/^\{/, '{"__proto__":{"admin":true},');
      case 3:
        return text.replace(/\d+/, '1e999');
      default:
        return `${text}${text}`;
    }
  }
}

/** As text of a query; half a surrogate pair has no encoding. */
const wellFormed = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replace(/[\ud800-\udfff]/g, '?');

/** Why an answer breaks the contract; undefined = it does not. */
function complaint(status: number, headers: Headers, text: string, ms: number): string | undefined {
  if (text.includes(CANARY)) return 'shows something of the other tenant';
  if (ms > SLOWEST_MS) return `took ${Math.round(ms)} ms`;
  if (status < 400) return undefined;
  if (INTERNALS.test(text)) return 'reveals internals';
  if (status >= 500 && !(status === 503 && headers.has('retry-after'))) return `is ${status}`;
  if (text === '') return undefined;
  try {
    const { statusCode, message } = JSON.parse(text) as Record<string, unknown>;
    const isText = [message].flat().every((one) => typeof one === 'string');
    return statusCode === status && isText ? undefined : 'has another shape than errors have';
  } catch {
    return 'is no JSON';
  }
}

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  readonly lanes?: number;
}

export const fuzz = ({ requests, seed, lanes = 8 }: FuzzOptions): Promise<FuzzReport> =>
  inDirectory(async (directory) => {
    const settings = { ...SETTINGS, DATA_DIR: directory };
    const server = ServerProcess.launch(settings);
    const url = await server.listening;
    const problems: string[] = [];
    const statuses: Record<string, number> = {};
    const other = new Client(url, tokenOf('other'));
    const foreign = await owned(other, CANARY);
    const before = await pictureOf(other);
    // What the scope `admin` changes in `main` is the market of all tenants.
    const main = tokenOf('sender', JWT_SECRET, undefined, 'trade read simulate');
    const made = await new Client(url, main).ask('POST', '/v1/simulations', {
      feed: 'synthetic',
      clock: 'manual',
    });
    const { simulationId = '' } = made.body as Readonly<Record<string, string>>;
    const wrong = [tokenOf('sender', 'another secret, also of more than 32 bytes'), 'x'];
    const tokens = [
      main,
      main,
      main,
      ...Array<string>(4).fill(tokenOf('sender', JWT_SECRET, simulationId)),
      ...wrong,
    ];
    const chance = new Chance(seed);
    let sent = 0;
    const lane = async (own: Chance): Promise<void> => {
      const drawn = new Requests(own, foreign, tokens);
      await owned(new Client(url, tokens[0] ?? ''), 'Sender').then((ids) => drawn.learn(ids.join(' ')));
      while (sent < requests && problems.length < 50) {
        sent += 1;
        const { path, ...request } = drawn.next();
        const began = performance.now();
        try {
          const answer = await fetch(url + path, { ...request, redirect: 'manual' });
          const text = await answer.text();
          statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
          const why = complaint(answer.status, answer.headers, text, performance.now() - began);
          if (why === undefined) drawn.learn(text);
          else
            problems.push(
              `${request.method} ${path.slice(0, 300)} ${why}: ${(request.body ?? '').slice(0, 500)} → ${text.slice(0, 300)}`,
            );
        } catch (error) {
          problems.push(
            `${request.method} ${path.slice(0, 300)} has no answer (${String(error)}, ${String((error as Error).cause)}): ${(request.body ?? '').slice(0, 500)}`,
          );
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, () => lane(chance.fork())));
    if (server.child.exitCode !== null) problems.push(`the server ended: ${server.err.slice(-3).join(' ')}`);
    else {
      if ((await pictureOf(other)) !== before) problems.push('what the other tenant owns has changed');
      const { code } = await server.end('SIGTERM');
      if (code !== 0)
        problems.push(`the server stopped with ${code ?? 'a signal'}: ${server.err.slice(-3).join(' ')}`);
    }
    const verify = ServerProcess.verify(settings, directory);
    const { code } = await verify.exited;
    if (code !== 0 && process.env['FUZZ_KEEP'] !== undefined)
      cpSync(directory, process.env['FUZZ_KEEP'], { recursive: true });
    if (code !== 0) problems.push(`verify: ${verify.out.concat(verify.err).slice(-5).join(' ')}`);
    return { requests: sent, statuses, problems };
  });

/** An account with two portfolios and a resting order. Returns their ids. */
async function owned(client: Client, name: string): Promise<readonly string[]> {
  const made = async (path: string, body: object): Promise<Readonly<Record<string, string>>> =>
    (await client.ask('POST', path, body)).body as Readonly<Record<string, string>>;
  const { accountId = '' } = await made('/v1/accounts', { name });
  const ids = [accountId];
  for (let n = 0; n < 2; n += 1) {
    const { portfolioId = '' } = await made('/v1/accounts/portfolios', cashPortfolioBody({ accountId }));
    const { orderId = '' } = await made('/v1/orders', restingOrderBody(portfolioId));
    ids.push(portfolioId, orderId);
  }
  return ids;
}

/** What a tenant owns, as text; quotes that its orders wait for change by themselves. */
async function pictureOf(client: Client): Promise<string> {
  const parts = [];
  for (const path of ['/v1/accounts', '/v1/orders', '/v1/simulations', '/v1/webhooks', '/v1/competitions'])
    parts.push(JSON.stringify(await client.get(path)).replace(/"waitingFor":"[^"]*"/g, ''));
  return parts.join('\n');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      lanes: { type: 'string', default: '8' },
    },
  });
  const [requests, seed, lanes] = [Number(values.requests), Number(values.seed), Number(values.lanes)];
  const { problems, ...figures } = await fuzz({ requests, seed, lanes });
  for (const problem of problems) console.log(problem);
  console.log(`${JSON.stringify(figures)}, seed ${seed}: ${problems.length === 0 ? 'sound' : 'NOT SOUND'}`);
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main();
