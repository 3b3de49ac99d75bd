import { ALPACA_KEY, ALPACA_SECRET, FakeAlpaca } from './fake-alpaca.js';
import { FakeMassive, MASSIVE_KEY } from './fake-massive.js';
import { FakeTradier, TRADIER_TOKEN } from './fake-tradier.js';
import type { FakeSource } from './fake-vendor.js';

/** A vendor as tests use it: its fake, and the settings of a server on it. */
export interface Vendor<Fake extends FakeSource = FakeSource> {
  readonly name: string;
  readonly start: () => Promise<Fake>;
  /** `key`: where not the right one. */
  readonly settings: (source: Fake, key?: string) => Readonly<Record<string, string>>;
  /** What no log, answer, metric or journal may contain. */
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
  secrets: [TRADIER_TOKEN],
};
