import { ALPACA_KEY, ALPACA_SECRET, FakeAlpaca } from './fake-alpaca.js';
import { FakeMassive, MASSIVE_KEY } from './fake-massive.js';
import { FakeTradier, TRADIER_TOKEN } from './fake-tradier.js';
import type { FakeSource } from './fake-vendor.js';

/** A vendor as tests use it: its fake, and the settings of a server on it. */
export interface Vendor<Fake extends FakeSource = FakeSource> {
  readonly name: string;
  readonly start: () => Promise<Fake>;
  /** `key`: if not the valid one. */
  settings(source: Fake, key?: string): Readonly<Record<string, string>>;
  /** Address of snapshots. */
  readonly snapshotPath: (symbol: string) => string;
  /** Message to the operator about a refused key. */
  readonly refusal: RegExp;
  /** The plan that is 15 minutes late. */
  readonly delayedPlan: string;
  readonly halts: 'full' | 'nasdaq' | 'none';
  /** Secrets that no log, answer, metric or journal may contain. */
  readonly secrets: readonly string[];
}

export const ALPACA: Vendor<FakeAlpaca> = {
  name: 'alpaca',
  start: () => new FakeAlpaca().start(),
  settings: ({ url, origin }, key = ALPACA_SECRET) => ({
    LIVE_SOURCE: 'alpaca',
    LIVE_URL: url,
    LIVE_OPTIONS: 'none',
    LIVE_REST_URL: origin,
    LIVE_ACCOUNT_URL: origin,
    APCA_API_KEY_ID: ALPACA_KEY,
    APCA_API_SECRET_KEY: key,
  }),
  snapshotPath: () => '/v2/stocks/snapshots',
  refusal: /Alpaca.* refuses/,
  delayedPlan: 'delayed_sip',
  halts: 'full',
  secrets: [ALPACA_KEY, ALPACA_SECRET],
};

export const MASSIVE: Vendor<FakeMassive> = {
  name: 'massive',
  start: () => new FakeMassive().start(),
  settings: ({ url, origin }, key = MASSIVE_KEY) => ({
    LIVE_SOURCE: 'massive',
    LIVE_URL: url,
    LIVE_OPTIONS: 'none',
    LIVE_REST_URL: origin,
    MASSIVE_API_KEY: key,
  }),
  snapshotPath: (symbol) => `/v3/quotes/${symbol}`,
  refusal: /Massive refuses/,
  delayedPlan: 'delayed',
  halts: 'nasdaq',
  secrets: [MASSIVE_KEY],
};

export const TRADIER: Vendor<FakeTradier> = {
  name: 'tradier',
  start: () => new FakeTradier().start(),
  settings: ({ url, origin }, key = TRADIER_TOKEN) => ({
    LIVE_SOURCE: 'tradier',
    LIVE_URL: url,
    LIVE_REST_URL: origin,
    TRADIER_TOKEN: key,
  }),
  snapshotPath: () => '/v1/markets/quotes',
  refusal: /Tradier refuses TRADIER_TOKEN/,
  delayedPlan: 'sandbox',
  halts: 'none',
  secrets: [TRADIER_TOKEN],
};
