import { envSchema } from 'env-schema';
import { Instant, Money, seedOf } from '@sandpit/core';
import { defaultCalendar } from './engine/default-calendar.js';

/** Everything an operator can set, parsed and checked. `config.ts` is the only reader of the environment. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly metricsPort: number | undefined;
  readonly dataDir: string;
  readonly jwtSecret: string | undefined;
  readonly jwksUrl: string | undefined;
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  readonly tokenTtlSeconds: number;
  readonly feed: 'synthetic' | 'replay' | 'push';
  readonly replayPath: string | undefined;
  readonly clock: 'wall' | 'manual' | 'scaled';
  readonly clockStart: Instant | undefined;
  readonly clockSpeed: number;
  readonly calendar: 'XNYS' | 'always-open';
  /** 32-bit; undefined = drawn at the first start and kept. */
  readonly seed: number | undefined;
  readonly initialCash: Money;
  readonly proAccounts: number;
  readonly portfolioMarginEquity: Money;
  readonly marketCollarBps: number;
  readonly quoteMaxAgeMs: number | undefined;
  readonly brokersFile: string | undefined;
  readonly logLevel: string;
  /** Requests per minute, tenant and route. */
  readonly rateLimitDefault: number;
  readonly streamHeartbeatMs: number;
}

/** A setting that cannot be used: the start ends with its message. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting';
}

const text = { type: 'string' } as const;
const oneOf = (values: readonly string[], fallback: string) => ({
  type: 'string',
  enum: values,
  default: fallback,
});

/** Names, ranges and defaults. The table in the README is compared with it. */
export const SCHEMA = {
  type: 'object',
  properties: {
    PORT: { type: 'integer', minimum: 0, maximum: 65_535, default: 3000 },
    HOST: { type: 'string', minLength: 1, default: '127.0.0.1' },
    METRICS_PORT: { type: 'integer', minimum: 0, maximum: 65_535 },
    DATA_DIR: { type: 'string', minLength: 1, default: './data' },
    DATABASE_URL: text,
    JWT_SECRET: text,
    JWT_JWKS_URL: text,
    JWT_ISSUER: { type: 'string', minLength: 1, default: 'sandpit' },
    JWT_AUDIENCE: { type: 'string', minLength: 1, default: 'sandpit' },
    TOKEN_TTL_SECONDS: { type: 'integer', minimum: 1, maximum: 31_536_000, default: 86_400 },
    MARKET_FEED: oneOf(['synthetic', 'replay', 'push'], 'synthetic'),
    REPLAY_PATH: text,
    MARKET_CLOCK: oneOf(['wall', 'manual', 'scaled'], 'wall'),
    CLOCK_START: text,
    CLOCK_SPEED: { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000, default: 60 },
    MARKET_CALENDAR: { type: 'string', enum: ['XNYS', 'always-open'] },
    SEED: text,
    INITIAL_CASH: { type: 'string', default: '100000' },
    PRO_ACCOUNTS: { type: 'integer', minimum: 1, maximum: 1_000_000, default: 10 },
    PORTFOLIO_MARGIN_EQUITY: { type: 'string', default: '110000' },
    MARKET_COLLAR: { type: 'number', minimum: 0, maximum: 1, default: 0.05 },
    QUOTE_MAX_AGE: { type: 'number', minimum: 0, maximum: 31_536_000 },
    BROKERS_FILE: text,
    LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    RATE_LIMIT_DEFAULT: { type: 'integer', minimum: 1, maximum: 1_000_000_000, default: 1000 },
    STREAM_HEARTBEAT_MS: { type: 'integer', minimum: 10, maximum: 3_600_000, default: 30_000 },
  },
} as const;

interface Environment {
  PORT: number;
  HOST: string;
  METRICS_PORT?: number;
  DATA_DIR: string;
  DATABASE_URL?: string;
  JWT_SECRET?: string;
  JWT_JWKS_URL?: string;
  JWT_ISSUER: string;
  JWT_AUDIENCE: string;
  TOKEN_TTL_SECONDS: number;
  MARKET_FEED: Settings['feed'];
  REPLAY_PATH?: string;
  MARKET_CLOCK: Settings['clock'];
  CLOCK_START?: string;
  CLOCK_SPEED: number;
  MARKET_CALENDAR?: Settings['calendar'];
  SEED?: string;
  INITIAL_CASH: string;
  PRO_ACCOUNTS: number;
  PORTFOLIO_MARGIN_EQUITY: string;
  MARKET_COLLAR: number;
  QUOTE_MAX_AGE?: number;
  BROKERS_FILE?: string;
  LOG_LEVEL: string;
  RATE_LIMIT_DEFAULT: number;
  STREAM_HEARTBEAT_MS: number;
}

/** Reads and checks the environment. Throws `BadSetting` with one line that says which setting is wrong and why. */
export function readSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  // An empty variable is one that is not set.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const env = parse(given);
  if (env.DATABASE_URL !== undefined)
    throw new BadSetting('DATABASE_URL: only the embedded store is supported yet');
  if (env.JWT_SECRET !== undefined && Buffer.byteLength(env.JWT_SECRET) < 32) {
    throw new BadSetting('JWT_SECRET must be at least 32 bytes');
  }
  if (env.JWT_SECRET !== undefined && env.JWT_JWKS_URL !== undefined) {
    throw new BadSetting('JWT_SECRET and JWT_JWKS_URL exclude each other');
  }
  if (env.JWT_JWKS_URL !== undefined && !/^https?:\/\//.test(env.JWT_JWKS_URL)) {
    throw new BadSetting('JWT_JWKS_URL must be an http(s) URL');
  }
  if (env.MARKET_FEED === 'replay' && env.REPLAY_PATH === undefined) {
    throw new BadSetting('REPLAY_PATH is required when MARKET_FEED is replay');
  }
  return {
    port: env.PORT,
    host: env.HOST,
    metricsPort: env.METRICS_PORT,
    dataDir: env.DATA_DIR,
    jwtSecret: env.JWT_SECRET,
    jwksUrl: env.JWT_JWKS_URL,
    jwtIssuer: env.JWT_ISSUER,
    jwtAudience: env.JWT_AUDIENCE,
    tokenTtlSeconds: env.TOKEN_TTL_SECONDS,
    feed: env.MARKET_FEED,
    replayPath: env.REPLAY_PATH,
    clock: env.MARKET_CLOCK,
    clockStart: instant('CLOCK_START', env.CLOCK_START),
    clockSpeed: env.CLOCK_SPEED,
    calendar: env.MARKET_CALENDAR ?? defaultCalendar(env.MARKET_FEED),
    seed: env.SEED === undefined ? undefined : seedFrom(env.SEED),
    initialCash: money('INITIAL_CASH', env.INITIAL_CASH),
    proAccounts: env.PRO_ACCOUNTS,
    portfolioMarginEquity: money('PORTFOLIO_MARGIN_EQUITY', env.PORTFOLIO_MARGIN_EQUITY),
    marketCollarBps: Math.round(env.MARKET_COLLAR * 10_000),
    quoteMaxAgeMs: env.QUOTE_MAX_AGE === undefined ? undefined : env.QUOTE_MAX_AGE * 1000,
    brokersFile: env.BROKERS_FILE,
    logLevel: env.LOG_LEVEL,
    rateLimitDefault: env.RATE_LIMIT_DEFAULT,
    streamHeartbeatMs: env.STREAM_HEARTBEAT_MS,
  };
}

function parse(data: Record<string, string | undefined>): Environment {
  try {
    return envSchema<Environment>({ schema: SCHEMA, data, env: false });
  } catch (error) {
    throw new BadSetting(describe(error));
  }
}

/** `env/PORT must be integer` → `PORT must be integer`; a choice says what there is to choose from. */
const describe = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replaceAll('env/', '')
    .replace(/^env /, '')
    .replaceAll(/(\w+) must be equal to one of the allowed values/g, (whole, name: string) => {
      const property: object | undefined = Object.entries(SCHEMA.properties).find(
        ([key]) => key === name,
      )?.[1];
      return property !== undefined && 'enum' in property
        ? `${name} must be one of ${String(property.enum).replaceAll(',', ', ')}`
        : whole;
    });

/** A whole number as it is, any other text by its hash. */
const seedFrom = (seed: string): number => (/^\d{1,10}$/.test(seed) ? Number(seed) >>> 0 : seedOf(seed));

function instant(name: string, value: string | undefined): Instant | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d{4}-\d{2}-\d{2}(T.*(Z|[+-]\d{2}:?\d{2}))?$/i.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw new BadSetting(`${name} must be an ISO 8601 instant with its offset`);
  return Instant.ofMs(ms);
}

function money(name: string, value: string): Money {
  const amount = Money.parse(value);
  if (amount === undefined || amount <= 0 || amount % 100 !== 0 || amount > Money.ofDollars(1_000_000_000)) {
    throw new BadSetting(
      `${name} must be a positive number of dollars with at most two decimals, at most 1000000000`,
    );
  }
  return amount;
}
