import { Instant } from '@sandpit/core';
import { expect, it } from 'vitest';
import { misspelt, readSettings } from './config.js';

const CLUSTER = { CLUSTER_SECRET: 'secret', DATABASE_URL: 'postgres://a@b/c' };

it('readSettings: reports every wrong setting at once, in the order of the table', () => {
  const wrong = { SEED: '1', INITIAL_CASH: '-5', MARKET_FEED: 'psychic', JWT_SECRET: 'short', PORT: '1e3' };
  expect(() => readSettings(wrong)).toThrow(
    'PORT must be an integer from 0 to 65535; JWT_SECRET must be at least 32 bytes; ' +
      'MARKET_FEED must be one of synthetic, replay, push, live; INITIAL_CASH must be a positive number of dollars',
  );
});

it.each([
  [
    { JWT_SECRET: 'x'.repeat(40), JWT_JWKS_URL: 'https://idp' },
    'JWT_SECRET and JWT_JWKS_URL exclude each other',
  ],
  [{ JWT_JWKS_URL: 'ftp://idp' }, 'JWT_JWKS_URL must be an http(s) URL'],
  [{ MARKET_FEED: 'replay' }, 'REPLAY_PATH is required when MARKET_FEED is replay'],
  [{ CLOCK_SPEED: '0' }, 'CLOCK_SPEED must be a positive number'],
  [{ CLOCK_START: '2026-01-05T09:30' }, 'CLOCK_START must be an ISO 8601 date or a timestamp with a zone'],
  [{ CLOCK_START: '9999-12-31' }, 'CLOCK_START must lie between 1970-01-01 and 2199-12-31'],
  [{ MARKET_COLLAR: '1.5' }, 'MARKET_COLLAR must not be greater than 1'],
  [{ NODE_PORT: '3001' }, 'CLUSTER_SECRET is required when NODE_PORT is set'],
  [{ ...CLUSTER, NODE_PORT: '3000' }, 'NODE_PORT must differ from PORT'],
  [{ ...CLUSTER, PORT: '65535' }, 'NODE_PORT is required when PORT is 65535'],
  [{ INITIAL_CASH: '100.001' }, 'INITIAL_CASH must have at most 2 decimal places'],
])('refuses %j', (settings, message) => {
  expect(() => readSettings(settings)).toThrow(message);
});

it.each([
  [{}, 'http://127.0.0.1', '127.0.0.1', 3001],
  [{ PORT: '0' }, 'http://127.0.0.1', '127.0.0.1', 0],
  [{ PORT: '0', NODE_PORT: '4000' }, 'http://127.0.0.1', '127.0.0.1', 4000],
  [{ HOST: '::1' }, 'http://[::1]', '::1', 3001],
  [{ NODE_URL: 'http://10.0.0.5' }, 'http://10.0.0.5', '10.0.0.5', 3001],
  // The port for clients is not the one for nodes.
  [{ NODE_URL: 'http://10.0.0.5:3000/' }, 'http://10.0.0.5', '10.0.0.5', 3001],
  // Port of a proxy, or `NODE_PORT` itself.
  [{ NODE_URL: 'http://[fd00::5]:8080' }, 'http://[fd00::5]:8080', 'fd00::5', 3001],
  [{ NODE_URL: 'https://node-1.example.com' }, 'https://node-1.example.com', 'node-1.example.com', 3001],
])('NODE_URL, NODE_PORT: %j is reached at %s', (settings, url, host, port) => {
  expect(readSettings({ ...CLUSTER, ...settings }).cluster).toMatchObject({ url, host, port });
});

it('readSettings: treats an empty variable as unset and ignores foreign variables', () => {
  expect(readSettings({ PORT: '', MARKET_FEED: '', PATH: '/bin', constructor: 'x' })).toEqual(
    readSettings({}),
  );
});

it('readSettings: converts text to the type of the setting', () => {
  expect(
    readSettings({
      PORT: '0',
      INITIAL_CASH: '2500.50',
      MARKET_COLLAR: '0.1',
      QUOTE_MAX_AGE: '1.5',
      CLOCK_START: '2026-01-05T09:30:00-05:00',
      SEED: '7',
    }),
  ).toMatchObject({
    port: 0,
    initialCash: 25_005_000,
    marketCollarBps: 1000,
    quoteMaxAgeMs: 1500,
    clockStart: Instant.ofMs(Date.UTC(2026, 0, 5, 14, 30)),
    seed: 7,
  });
});

it.each([{}, { JWT_ISSUER: 'https://idp.example' }, { JWT_AUDIENCE: 'sandpit' }])(
  'readSettings: requires issuer and audience of an identity provider: %j',
  (more: Record<string, string>) => {
    const provider = { JWT_JWKS_URL: 'https://idp.example/jwks' };
    expect(() => readSettings({ ...provider, ...more })).toThrow(
      'JWT_JWKS_URL needs JWT_ISSUER and JWT_AUDIENCE',
    );
    const whole = { ...provider, JWT_ISSUER: 'https://idp.example', JWT_AUDIENCE: 'sandpit', ...more };
    expect(readSettings(whole).jwtIssuer).toBe('https://idp.example');
  },
);

it('misspelt: finds variables with names similar to settings', () => {
  const given = {
    MARKT_FEED: 'replay',
    CORS_ORIGIN: 'x',
    PATH: '/bin',
    HOSTNAME: 'h',
    PORTS: '1',
    PORT: '0',
  };
  expect(misspelt(given)).toEqual([
    { name: 'MARKT_FEED', meant: 'MARKET_FEED' },
    { name: 'CORS_ORIGIN', meant: 'CORS_ORIGINS' },
  ]);
});

const LIVE = { MARKET_FEED: 'live', LIVE_SOURCE: 'alpaca', APCA_API_KEY_ID: 'K', APCA_API_SECRET_KEY: 'S' };

it.each([
  [{ MARKET_FEED: 'live' }, 'LIVE_SOURCE is required when MARKET_FEED is live'],
  [{ MARKET_FEED: 'live', LIVE_SOURCE: 'alpaca' }, 'APCA_API_KEY_ID is required when LIVE_SOURCE is alpaca'],
  [
    { MARKET_FEED: 'live', LIVE_SOURCE: 'massive' },
    'MASSIVE_API_KEY is required when LIVE_SOURCE is massive',
  ],
  [{ MARKET_FEED: 'live', LIVE_SOURCE: 'tradier' }, 'TRADIER_TOKEN is required when LIVE_SOURCE is tradier'],
  [
    { ...LIVE, LIVE_PLAN: 'sandbox' },
    'LIVE_PLAN must be one of iex, sip, delayed_sip when LIVE_SOURCE is alpaca',
  ],
  [{ ...LIVE, MARKET_CALENDAR: 'always-open' }, 'MARKET_CALENDAR must be XNYS when MARKET_FEED is live'],
  [{ ...LIVE, MARKET_CLOCK: 'manual' }, 'MARKET_CLOCK must be wall when MARKET_FEED is live'],
  [
    {
      ...LIVE,
      MARKET_CLOCK: 'scaled',
      CLOCK_SPEED: '1',
      CLOCK_START: '2026-01-05',
      LIVE_URL: 'wss://example.com/v2',
    },
    'MARKET_CLOCK must be wall when MARKET_FEED is live',
  ],
  [{ ...LIVE, LIVE_URL: 'http://127.0.0.1' }, 'LIVE_URL must be a ws(s) URL with its path'],
  [{ ...LIVE, LIVE_REST_URL: 'https://a.example/path' }, 'LIVE_REST_URL must be an origin'],
])('refuses the live settings %j', (settings, message) => {
  expect(() => readSettings(settings)).toThrow(message);
});

it('readSettings: applies the defaults of a live source, and allows a scaled clock of speed 1 with a start for a local source', () => {
  expect(readSettings(LIVE)).toMatchObject({
    feed: 'live',
    calendar: 'XNYS',
    live: { source: 'alpaca', plan: 'iex', options: 'indicative', keyId: 'K' },
  });
  expect(
    readSettings({
      ...LIVE,
      MARKET_CLOCK: 'scaled',
      CLOCK_SPEED: '1',
      CLOCK_START: '2026-01-05T10:00:00-05:00',
      LIVE_URL: 'ws://127.0.0.1:4000/v2/iex',
    }).live?.url,
  ).toBe('ws://127.0.0.1:4000/v2/iex');
  expect(
    readSettings({ MARKET_FEED: 'live', LIVE_SOURCE: 'massive', POLYGON_API_KEY: 'P' }).live,
  ).toMatchObject({ source: 'massive', plan: 'realtime', options: 'on', apiKey: 'P' });
});

it('readSettings: includes no key in messages about wrong settings', () => {
  const keys = { APCA_API_KEY_ID: 'not\u0000a key', APCA_API_SECRET_KEY: 'x'.repeat(5000) };
  expect(() => readSettings({ ...LIVE, ...keys, PORT: '-1' })).toThrow(/^(?!.*(not|xxxx))/s);
});
