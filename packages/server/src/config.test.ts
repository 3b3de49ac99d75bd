import { Instant } from '@sandpit/core';
import { expect, it } from 'vitest';
import { misspelt, readSettings } from './config.js';

it('says every wrong setting at once, in the order of the table', () => {
  const wrong = { SEED: '1', INITIAL_CASH: '-5', MARKET_FEED: 'psychic', JWT_SECRET: 'short', PORT: '1e3' };
  expect(() => readSettings(wrong)).toThrow(
    'PORT must be an integer from 0 to 65535; JWT_SECRET must be at least 32 bytes; ' +
      'MARKET_FEED must be one of synthetic, replay, push; INITIAL_CASH must be a positive number of dollars',
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
  [{ INITIAL_CASH: '100.001' }, 'INITIAL_CASH must have at most 2 decimal places'],
])('refuses %j', (settings, message) => {
  expect(() => readSettings(settings)).toThrow(message);
});

it('takes an empty variable for one that is not set, and leaves alone what is not ours', () => {
  expect(readSettings({ PORT: '', MARKET_FEED: '', PATH: '/bin', constructor: 'x' })).toEqual(
    readSettings({}),
  );
});

it('reads text as what it stands for', () => {
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
  'takes no provider of tokens without being told its issuer and audience: %j',
  (more: Record<string, string>) => {
    const provider = { JWT_JWKS_URL: 'https://idp.example/jwks' };
    expect(() => readSettings({ ...provider, ...more })).toThrow(
      'JWT_JWKS_URL needs JWT_ISSUER and JWT_AUDIENCE',
    );
    const whole = { ...provider, JWT_ISSUER: 'https://idp.example', JWT_AUDIENCE: 'sandpit', ...more };
    expect(readSettings(whole).jwtIssuer).toBe('https://idp.example');
  },
);

it('names variables that look like settings and are none', () => {
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
