import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isBrokerCredential, isBrokerHost, KNOWN_BROKERS } from './broker-hosts.js';
import { authorityOf, hostOf, isLoopback } from './host-name.js';
import { servedBrokers } from './served-brokers.js';

const page = readFileSync(
  fileURLToPath(new URL('../../../../docs/reference/blocked-hosts.md', import.meta.url)),
  'utf8',
);

describe('blocked hosts', () => {
  it('are those of the page of the documentation', () => {
    const rows = [...page.matchAll(/^\| ([^|]+) \| (`[^|]+`) \|$/gm)].map(([, name, domains = '']) => [
      name,
      domains.split(', ').map((one) => one.replaceAll('`', '')),
    ]);
    expect(rows).toEqual(KNOWN_BROKERS.map(({ name, domains }) => [name, domains]));
  });

  it.each(['api.robinhood.com', 'api.tastyworks.com', 'sim-api.tradestation.com', 'apisb.etrade.com'])(
    '%s is one',
    (host) => expect(isBrokerHost(host)).toBe(true),
  );

  it.each(['robinhood.com.example.org', 'notrobinhood.com', 'example.com', ''])('%j is none', (host) =>
    expect(isBrokerHost(host)).toBe(false),
  );

  it('are known for every served broker, so that its other hosts are blocked', async () => {
    for (const { hosts } of await servedBrokers())
      for (const host of hosts) expect(isBrokerHost(host), host).toBe(true);
  });
});

describe('credentials in the environment', () => {
  it.each([
    'APCA_API_SECRET_KEY',
    'TRADIER_ACCESS_TOKEN',
    'ROBINHOOD_PASSWORD',
    'robinhood_totp',
    'IBKR_USERNAME',
  ])('%s is one', (name) => expect(isBrokerCredential(name)).toBe(true));

  it.each(['OPENAI_API_KEY', 'PUBLIC_KEY', 'APCA_API_BASE_URL', 'IB_CLIENT_ID', 'PATH'])(
    '%s is none',
    (name) => expect(isBrokerCredential(name)).toBe(false),
  );
});

describe('names of hosts', () => {
  it.each([
    ['API.Robinhood.COM.', 'api.robinhood.com'],
    ['[2001:DB8::1]', '2001:db8::1'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['a..b', undefined],
    ['', undefined],
    ['a b', undefined],
  ])('%j is %j', (name, host) => expect(hostOf(name)).toBe(host));

  it.each([
    ['a.example:443', { host: 'a.example', port: 443 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['a.example', undefined],
    ['a.example:70000', undefined],
    ['::1:443', undefined],
  ])('the authority %j is %j', (text, authority) => expect(authorityOf(text)).toEqual(authority));

  it.each(['localhost', '127.8.9.10', '::1', '0.0.0.0', 'bot.localhost', '::ffff:127.0.0.1'])(
    '%s is this machine',
    (host) => expect(isLoopback(host)).toBe(true),
  );
});
