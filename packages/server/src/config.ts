import { hostname } from 'node:os';
import { calendarById, type EarlyAssignment, type Instant, type Money, seedOf } from '@sandpit/core';
import {
  calendars,
  choice,
  clockModes,
  clockSpeedBounds,
  closed,
  earlyAssignments,
  feeds,
  integer,
  moneyBounds,
  nonNegative,
  optional,
  positive,
  ruled,
  simulatedTime,
  text,
  validateTexts,
} from '@sandpit/protocol';
import { DIALECT_NAMES, type DialectName, isDialectName } from './dialect-names.js';
import { defaultCalendar } from './engine/configuration/default-calendar.js';
import type { Feed } from './feeds/feed.js';
import { isRange } from './http/connections.js';
import { instantOf } from './http/translate/instants.js';
import { moneyOf } from './http/translate/numbers.js';
import { liveProblems, type LiveSettings, liveSettingsFrom } from './live-settings.js';

/** Everything an operator can set, parsed and checked. `config.ts` is the only reader of the environment. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly metricsPort: number | undefined;
  readonly dataDir: string;
  /** URL of the PostgreSQL that stores the data; undefined = the data directory stores it. */
  readonly databaseUrl: string | undefined;
  /** Settings of a node that shares the database with others; undefined = this server has it to itself. */
  readonly cluster: ClusterSettings | undefined;
  readonly jwtSecret: string | undefined;
  readonly jwksUrl: string | undefined;
  readonly jwtAgentClaim: string | undefined;
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  readonly tokenTtlSeconds: number;
  readonly feed: Feed['kind'];
  readonly replayPath: string | undefined;
  /** Directory for recorded ticks of a live feed; undefined = they are not recorded. */
  readonly recordDir: string | undefined;
  /** Present when `feed` is live. */
  readonly live: LiveSettings | undefined;
  readonly clock: 'wall' | 'manual' | 'scaled';
  readonly clockStart: Instant | undefined;
  readonly clockSpeed: number;
  readonly calendar: 'XNYS' | 'always-open';
  /** 32-bit; undefined = drawn at the first start and stored. */
  readonly seed: number | undefined;
  readonly initialCash: Money;
  readonly proAccounts: number;
  /** Maximum number of simulations of a tenant of the tier. */
  readonly basicSimulations: number;
  readonly proSimulations: number;
  /** Minutes without a request after which a simulation leaves memory. */
  readonly simulationIdleMinutes: number;
  /** Open connections in all. */
  readonly maxConnections: number;
  /** Addresses and CIDR ranges of proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Bytes of the bodies of a tenant within ten seconds. */
  readonly bytesPerTenant: number;
  /** Bytes of a file that is imported (D170). */
  /** Members that the invitations of a tenant may have. */
  readonly maxMembers: number;
  readonly importMaxBytes: number;
  /** Memory of all ephemeral simulations; a tenant may use a quarter of it. */
  readonly ephemeralMaxBytes: number;
  /** Accepts the machine's clock, however far it is from the last known time. */
  readonly allowClockJump: boolean;
  readonly portfolioMarginEquity: Money;
  readonly marketCollarBps: number;
  readonly quoteMaxAgeMs: number | undefined;
  /** Continuous, a year. */
  readonly riskFreeRate: number;
  /** Early assignment in `main` (D89); undefined = off. */
  readonly earlyAssignment: EarlyAssignment | undefined;
  /** Scripted outcomes and magic client order ids in every `main` (D175, D176). */
  readonly scriptedOrders: boolean;
  readonly brokersFile: string | undefined;
  readonly logLevel: string;
  /** From a signal until the listener closes. */
  readonly drainMs: number;
  /** A main thread blocked for this long ends the process; undefined = never. */
  readonly watchdogMs: number | undefined;
  /** Requests per minute, tenant and route. */
  readonly rateLimitDefault: number;
  readonly streamHeartbeatMs: number;
  /** Origins whose pages may use the API (D144). */
  readonly corsOrigins: ReadonlySet<string>;
  /** Undefined = all that are installed. */
  readonly dialects: readonly DialectName[] | undefined;
  /** Ports with the protocol of TWS, each of one portfolio, and the address that these listen on (D274). */
  readonly twsPorts: readonly { readonly port: number; readonly portfolioId: string }[];
  readonly twsHost: string;
  /** True when the API reference gets a token of the demo tenant from any browser on this machine. */
  readonly demoToken: boolean;
  /** Webhooks may go to addresses that are not public. */
  readonly webhookAllowPrivate: boolean;
}

/** Settings of a node of a cluster (D199). */
interface ClusterSettings {
  /** A label for people. */
  readonly nodeId: string;
  /** URL under which other nodes reach it; one that ends without a port gets that of the listener for nodes. */
  readonly url: string;
  /** Address and port of the listener for nodes; port 0 = any free one. */
  readonly host: string;
  readonly port: number;
  /** Secret that signs requests between nodes. */
  readonly secret: string;
}

/** A setting that cannot be used: the start ends with its message. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting';
}

/** Bytes of a path, a URL or a secret: more than anybody has. */
const LONGEST = 4096;

const path = (options: { default?: string } = {}) => text({ maxLength: LONGEST, ...options });
const secret = () => text({ maxLength: LONGEST, 'x-text': false });
const socketUrl = () =>
  text({ maxLength: LONGEST, pattern: '^wss?://', 'x-expected': 'must be a ws(s) URL with its path' });
const origin = () =>
  text({
    maxLength: LONGEST,
    pattern: '^https?://[^/]+/?$',
    'x-expected': 'must be an origin such as https://data.example.com',
  });
const dollars = (options: { default: number }) =>
  positive(moneyBounds, { 'x-expected': 'must be a positive number of dollars', ...options });

const listIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** True for the form that browsers send: scheme, host and port, with nothing after them. */
const isOrigin = (given: string): boolean =>
  /^https?:\/\//.test(given) && URL.canParse(given) && new URL(given).origin === given;

/** The dialects of a list; `none` and an empty list are none. */
const dialectsIn = (list: string): readonly DialectName[] =>
  list === 'none' ? [] : listIn(list).filter(isDialectName);

/** `7497:PORTFOLIO_ID`; undefined for another text. */
function twsPortIn(text: string): { readonly port: number; readonly portfolioId: string } | undefined {
  const [, port, portfolioId] = /^(\d{1,5}):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(text) ?? [];
  if (portfolioId === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { port: Number(port), portfolioId: portfolioId.toLowerCase() };
}

/** Names, ranges and defaults. The table in the README is compared with it. */
export const SCHEMA = ruled(
  closed('Settings', {
    PORT: integer(0, 65_535, { default: 3000 }),
    HOST: text({ default: '127.0.0.1' }),
    METRICS_PORT: optional(integer(0, 65_535)),
    DATA_DIR: path({ default: './data' }),
    DATABASE_URL: optional(
      text({
        maxLength: LONGEST,
        pattern: '^postgres(ql)?://',
        'x-expected': 'must be postgres://user:password@host/database',
        'x-text': false,
      }),
    ),
    NODE_ID: optional(
      text({
        maxLength: 64,
        pattern: '^[A-Za-z0-9._:-]+$',
        'x-expected': 'must consist of letters, digits, dots, colons, hyphens and underscores',
      }),
    ),
    NODE_URL: optional(origin()),
    NODE_PORT: optional(integer(0, 65_535)),
    CLUSTER_SECRET: optional(secret()),
    JWT_SECRET: optional(text({ maxLength: LONGEST, 'x-text': false })),
    JWT_JWKS_URL: optional(
      text({ maxLength: LONGEST, pattern: '^https?://', 'x-expected': 'must be an http(s) URL' }),
    ),
    JWT_AGENT_CLAIM: optional(text()),
    JWT_ISSUER: text({ default: 'sandpit' }),
    JWT_AUDIENCE: text({ default: 'sandpit' }),
    TOKEN_TTL_SECONDS: integer(1, 31_536_000, { default: 86_400 }),
    MARKET_FEED: choice(feeds, { default: 'synthetic' }),
    REPLAY_PATH: optional(path()),
    RECORD_DIR: optional(path()),
    LIVE_SOURCE: optional(choice(['alpaca', 'massive', 'tradier'])),
    LIVE_PLAN: optional(choice(['iex', 'sip', 'delayed_sip', 'realtime', 'delayed', 'live', 'sandbox'])),
    LIVE_OPTIONS: optional(choice(['indicative', 'opra', 'on', 'none'])),
    LIVE_MAX_SYMBOLS: optional(integer(1, 1_000_000)),
    LIVE_URL: optional(socketUrl()),
    LIVE_OPTIONS_URL: optional(socketUrl()),
    LIVE_REST_URL: optional(origin()),
    LIVE_ACCOUNT_URL: optional(origin()),
    APCA_API_KEY_ID: optional(secret()),
    APCA_API_SECRET_KEY: optional(secret()),
    MASSIVE_API_KEY: optional(secret()),
    POLYGON_API_KEY: optional(secret()),
    TRADIER_TOKEN: optional(secret()),
    MARKET_CLOCK: choice(clockModes, { default: 'wall' }),
    CLOCK_START: optional(simulatedTime({ description: 'Where a manual or scaled clock starts.' })),
    CLOCK_SPEED: positive(clockSpeedBounds, { default: 60 }),
    MARKET_CALENDAR: optional(choice(calendars)),
    SEED: optional(text()),
    INITIAL_CASH: dollars({ default: 100_000 }),
    PRO_ACCOUNTS: integer(1, 1_000_000, { default: 10 }),
    BASIC_SIMULATIONS: integer(0, 1_000_000, { default: 10 }),
    PRO_SIMULATIONS: integer(0, 1_000_000, { default: 1000 }),
    SIMULATION_IDLE_MINUTES: integer(1, 1_000_000, { default: 60 }),
    MAX_CONNECTIONS: integer(1, 1_000_000, { default: 10_000 }),
    TRUSTED_PROXIES: optional(text({ maxLength: LONGEST })),
    // At least the largest body.
    BYTES_PER_TENANT: integer(8_388_608, 4_294_967_295, { default: 268_435_456 }),
    MAX_MEMBERS: integer(1, 100_000, { default: 1000 }),
    IMPORT_MAX_BYTES: integer(1, 1_099_511_627_776, { default: 1_073_741_824 }),
    EPHEMERAL_MAX_BYTES: integer(0, 1_099_511_627_776, { default: 268_435_456 }),
    ALLOW_CLOCK_JUMP: choice(['true', 'false'], { default: 'false' }),
    PORTFOLIO_MARGIN_EQUITY: dollars({ default: 110_000 }),
    MARKET_COLLAR: nonNegative({ maximum: 1, decimals: 4 }, { default: 0.05 }),
    QUOTE_MAX_AGE: optional(nonNegative({ maximum: 31_536_000, decimals: 3 })),
    RISK_FREE_RATE: nonNegative({ maximum: 1, decimals: 6 }, { default: 0.04 }),
    EARLY_ASSIGNMENT: choice(earlyAssignments, { default: 'OFF' }),
    SCRIPTED_ORDERS: choice(['on', 'off'], { default: 'off' }),
    BROKERS_FILE: optional(path()),
    LOG_LEVEL: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
    DRAIN_MS: integer(0, 600_000, { default: 0 }),
    WATCHDOG_SECONDS: integer(0, 3600, { default: 10 }),
    RATE_LIMIT_DEFAULT: integer(1, 1_000_000_000, { default: 1000 }),
    STREAM_HEARTBEAT_MS: integer(10, 3_600_000, { default: 30_000 }),
    CORS_ORIGINS: optional(text({ maxLength: LONGEST })),
    DIALECTS: optional(text({ maxLength: LONGEST })),
    TWS_PORTS: optional(text({ maxLength: LONGEST })),
    TWS_HOST: text({ default: '127.0.0.1' }),
    DEMO_TOKEN: choice(['on', 'off'], { default: 'off' }),
    WEBHOOK_ALLOW_PRIVATE: choice(['on', 'off'], { default: 'off' }),
  }),
  (env, report) => {
    if (typeof env.JWT_SECRET === 'string' && Buffer.byteLength(env.JWT_SECRET) < 32) {
      report.field('JWT_SECRET', 'must be at least 32 bytes');
    }
    if (env.JWT_SECRET !== undefined && env.JWT_JWKS_URL !== undefined) {
      report.sentence('JWT_JWKS_URL', 'JWT_SECRET and JWT_JWKS_URL exclude each other');
    }
    if (env.MARKET_FEED === 'replay' && env.REPLAY_PATH === undefined) {
      report.field('REPLAY_PATH', 'is required when MARKET_FEED is replay');
    }
    if (env.CLUSTER_SECRET !== undefined && env.DATABASE_URL === undefined)
      report.field('DATABASE_URL', 'is required when CLUSTER_SECRET is set');
    if (env.CLUSTER_SECRET === undefined && env.NODE_URL !== undefined)
      report.field('CLUSTER_SECRET', 'is required when NODE_URL is set');
    if (env.CLUSTER_SECRET === undefined && env.NODE_PORT !== undefined)
      report.field('CLUSTER_SECRET', 'is required when NODE_PORT is set');
    if (env.NODE_PORT !== undefined && env.NODE_PORT !== 0 && env.NODE_PORT === env.PORT)
      report.field('NODE_PORT', 'must differ from PORT');
    if (env.CLUSTER_SECRET !== undefined && env.NODE_PORT === undefined && env.PORT === 65_535)
      report.field('NODE_PORT', 'is required when PORT is 65535');
    if (env.RECORD_DIR !== undefined && env.MARKET_FEED !== 'live')
      report.field('RECORD_DIR', 'should not exist unless MARKET_FEED is live');
    for (const { name, problem } of liveProblems(env)) report.field(name as keyof typeof env, problem);
    if (typeof env.CORS_ORIGINS === 'string' && !listIn(env.CORS_ORIGINS).every(isOrigin)) {
      report.field('CORS_ORIGINS', 'must be origins such as https://app.example.com, separated by commas');
    }
    if (
      typeof env.DIALECTS === 'string' &&
      env.DIALECTS !== 'none' &&
      dialectsIn(env.DIALECTS).length < listIn(env.DIALECTS).length
    ) {
      report.field(
        'DIALECTS',
        `must be none, or names out of ${DIALECT_NAMES.join(', ')}, separated by commas`,
      );
    }
    if (typeof env.TWS_PORTS === 'string') {
      const ports = listIn(env.TWS_PORTS).map(twsPortIn);
      if (ports.includes(undefined) || new Set(ports.map((one) => one?.port)).size < ports.length)
        report.field(
          'TWS_PORTS',
          'must be different ports with portfolio ids, such as 7497:ID, separated by commas',
        );
    }
    if (typeof env.TRUSTED_PROXIES === 'string' && !listIn(env.TRUSTED_PROXIES).every(isRange)) {
      report.field('TRUSTED_PROXIES', 'must be addresses or ranges such as 10.0.0.0/8, separated by commas');
    }
  },
);

const SOURCE_KEYS = [
  'APCA_API_KEY_ID',
  'APCA_API_SECRET_KEY',
  'MASSIVE_API_KEY',
  'POLYGON_API_KEY',
  'TRADIER_TOKEN',
] as const;

/** Removes the keys of live sources from the environment, which reports of crashes contain. */
export function forgetSourceKeys(environment: NodeJS.ProcessEnv = process.env): void {
  for (const name of SOURCE_KEYS) Reflect.deleteProperty(environment, name);
}

/** Reads and checks the environment. Throws `BadSetting` that says which settings are wrong and why. */
export function readSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  // An empty variable is one that is not set; most of the others are not ours.
  const given = Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) => Object.hasOwn(SCHEMA.properties, name) && value !== '',
    ),
  );
  const checked = validateTexts(SCHEMA, given);
  if (!checked.ok) throw new BadSetting(checked.messages.join('; '));
  const env = checked.value;
  // A provider signs tokens of many services: without these two settings the server would accept all of them.
  if (env.JWT_JWKS_URL !== undefined && (given.JWT_ISSUER === undefined || given.JWT_AUDIENCE === undefined))
    throw new BadSetting(
      'JWT_JWKS_URL needs JWT_ISSUER and JWT_AUDIENCE: what `iss` and `aud` of the provider’s tokens must be',
    );
  const calendar = env.MARKET_CALENDAR ?? defaultCalendar(env.MARKET_FEED);
  return {
    port: env.PORT,
    host: env.HOST,
    metricsPort: env.METRICS_PORT,
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    cluster:
      env.CLUSTER_SECRET === undefined
        ? undefined
        : {
            nodeId: env.NODE_ID ?? `${hostname()}:${env.PORT}`,
            ...nodeAddressOf(env.NODE_URL?.replace(/\/$/, ''), env.HOST, env.PORT),
            port: env.NODE_PORT ?? (env.PORT === 0 ? 0 : env.PORT + 1),
            secret: env.CLUSTER_SECRET,
          },
    jwtSecret: env.JWT_SECRET,
    jwksUrl: env.JWT_JWKS_URL,
    jwtAgentClaim: env.JWT_AGENT_CLAIM,
    jwtIssuer: env.JWT_ISSUER,
    jwtAudience: env.JWT_AUDIENCE,
    tokenTtlSeconds: env.TOKEN_TTL_SECONDS,
    feed: env.MARKET_FEED,
    replayPath: env.REPLAY_PATH,
    recordDir: env.RECORD_DIR,
    live: env.MARKET_FEED === 'live' ? liveSettingsFrom(env) : undefined,
    clock: env.MARKET_CLOCK,
    clockStart:
      env.CLOCK_START === undefined ? undefined : instantOf(env.CLOCK_START, calendarById(calendar)),
    clockSpeed: env.CLOCK_SPEED,
    calendar,
    seed: env.SEED === undefined ? undefined : seedFrom(env.SEED),
    initialCash: moneyOf(env.INITIAL_CASH),
    proAccounts: env.PRO_ACCOUNTS,
    basicSimulations: env.BASIC_SIMULATIONS,
    proSimulations: env.PRO_SIMULATIONS,
    simulationIdleMinutes: env.SIMULATION_IDLE_MINUTES,
    maxConnections: env.MAX_CONNECTIONS,
    trustedProxies: listIn(env.TRUSTED_PROXIES ?? ''),
    bytesPerTenant: env.BYTES_PER_TENANT,
    maxMembers: env.MAX_MEMBERS,
    importMaxBytes: env.IMPORT_MAX_BYTES,
    ephemeralMaxBytes: env.EPHEMERAL_MAX_BYTES,
    allowClockJump: env.ALLOW_CLOCK_JUMP === 'true',
    portfolioMarginEquity: moneyOf(env.PORTFOLIO_MARGIN_EQUITY),
    marketCollarBps: Math.round(env.MARKET_COLLAR * 10_000),
    quoteMaxAgeMs: env.QUOTE_MAX_AGE === undefined ? undefined : Math.round(env.QUOTE_MAX_AGE * 1000),
    riskFreeRate: env.RISK_FREE_RATE,
    earlyAssignment: env.EARLY_ASSIGNMENT === 'OFF' ? undefined : env.EARLY_ASSIGNMENT,
    scriptedOrders: env.SCRIPTED_ORDERS === 'on',
    brokersFile: env.BROKERS_FILE,
    logLevel: env.LOG_LEVEL,
    drainMs: env.DRAIN_MS,
    watchdogMs: env.WATCHDOG_SECONDS === 0 ? undefined : env.WATCHDOG_SECONDS * 1000,
    rateLimitDefault: env.RATE_LIMIT_DEFAULT,
    streamHeartbeatMs: env.STREAM_HEARTBEAT_MS,
    // Empty is not the same as not set here.
    dialects: environment['DIALECTS'] === undefined ? undefined : dialectsIn(environment['DIALECTS']),
    corsOrigins: new Set(listIn(env.CORS_ORIGINS ?? '')),
    twsPorts: listIn(env.TWS_PORTS ?? '').flatMap((one) => twsPortIn(one) ?? []),
    twsHost: env.TWS_HOST,
    demoToken: env.DEMO_TOKEN === 'on',
    webhookAllowPrivate: env.WEBHOOK_ALLOW_PRIVATE === 'on',
  };
}

/**
 * Where other nodes reach a node: its `NODE_URL`, whose port is `NODE_PORT` unless it has another one than `PORT`. It may be that of a proxy
 * then.
 */
function nodeAddressOf(
  given: string | undefined,
  host: string,
  port: number,
): { readonly url: string; readonly host: string } {
  if (given === undefined) return { url: `http://${reachableHost(host)}`, host };
  const isPublic = given.startsWith('http:') && given.endsWith(`:${port}`);
  const url = isPublic ? given.replace(/:\d+$/, '') : given;
  return { url, host: new URL(given).hostname.replace(/^\[|\]$/g, '') };
}

/** The name by which others reach a server that listens on a host. */
function reachableHost(host: string): string {
  if (/^(0\.0\.0\.0|::)$/.test(host)) return hostname();
  return host.includes(':') ? `[${host}]` : host;
}

/** Shorter names are too often those of other programs. */
const SHORTEST_SLIP = 6;
const MOST_SLIPS = 2;

/** Prefixes of names intended for this server: no other program has such variables. */
const OURS =
  /^(MARKET|JWT|CLOCK|RATE_LIMIT|STREAM|SIMULATION|PORTFOLIO_MARGIN|SANDPIT|WATCHDOG|REPLAY|BROKERS|WEBHOOK|LIVE|CLUSTER|TWS)_/;
/** Variables of the tools around the server. */
const OF_TOOLS = /^SANDPIT_(URL|TOKEN|API_KEY|DATA)/;

/**
 * Variables that resemble a setting, each with the setting that was probably intended: `MARKT_FEED`, `MARKET_FEED`. `meant` is absent if
 * the name only begins like a setting.
 */
export function misspelt(
  environment: NodeJS.ProcessEnv = process.env,
): readonly { readonly name: string; readonly meant?: string }[] {
  const known = Object.keys(SCHEMA.properties);
  return Object.keys(environment).flatMap((name) => {
    if (name.length < SHORTEST_SLIP || known.includes(name)) return [];
    const meant = known.find((setting) => slipsBetween(name, setting) <= MOST_SLIPS);
    if (meant !== undefined) return [{ name, meant }];
    return OURS.test(name) && !OF_TOOLS.test(name) ? [{ name }] : [];
  });
}

/** Number of wrong, missing or extra letters (Levenshtein); Infinity when the lengths differ too much. */
function slipsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MOST_SLIPS) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? Infinity;
}

/** A whole number unchanged, any other text as its hash. */
const seedFrom = (seed: string): number => (/^\d{1,10}$/.test(seed) ? Number(seed) >>> 0 : seedOf(seed));
