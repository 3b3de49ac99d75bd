import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { loadDialects } from '../../dialects.js';
import { readSettings } from '../../config.js';
import { keyPairOf } from '../../testing/alpaca.js';
import { openPortfolio, TestApp } from '../../testing/test-app.js';
import { withPrefix } from './hosts.js';

const opened: TestApp[] = [];

async function open(settings: Record<string, string> = {}): Promise<TestApp> {
  const test = await TestApp.open({ settings });
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const test of opened.splice(0)) await test.close();
});

const statusOf = async (test: TestApp, url: string, headers: Record<string, string> = {}): Promise<number> =>
  (await test.app.inject({ method: 'GET', url, headers })).statusCode;

it('DIALECTS: serves the named dialects, and 404 on the paths of others', async () => {
  const one = await open({ DIALECTS: 'paper-invest' });
  expect(await statusOf(one, '/paperinvest/v1/health')).toBe(200);
  expect(await statusOf(one, '/alpaca/v2/account')).toBe(404);
  const none = await open({ DIALECTS: 'none' });
  expect(await statusOf(none, '/paperinvest/v1/health')).toBe(404);
  expect(await statusOf(none, '/alpaca/v2/account')).toBe(404);
  expect(await statusOf(none, '/v1/health')).toBe(200);
  const all = await open();
  expect(await statusOf(all, '/alpaca/v2/account')).toBe(401);
});

it('DIALECTS: empty is none, unset is all, an unknown name prevents the start', async () => {
  expect(readSettings({ DIALECTS: '' }).dialects).toEqual([]);
  expect(readSettings({}).dialects).toBeUndefined();
  expect((await loadDialects(undefined)).length).toBeGreaterThan(1);
  expect(() => readSettings({ DIALECTS: 'alpaca,robinhood' })).toThrow(
    'DIALECTS must be none, or names out of',
  );
});

it("a request to a dialect's host needs no prefix, with and without it, and other hosts do", async () => {
  const test = await open();
  const owner = test.as();
  const { portfolioId } = await openPortfolio(owner);
  const { keyId, secretKey } = await keyPairOf(owner, portfolioId);
  const keys = { 'apca-api-key-id': keyId, 'apca-api-secret-key': secretKey };
  for (const host of ['paper-api.alpaca.markets', 'API.Alpaca.markets:443', 'data.alpaca.markets.'])
    for (const path of ['/v2/account', '/alpaca/v2/account'])
      expect(await statusOf(test, path, { ...keys, host }), `${host}${path}`).toBe(200);
  for (const host of ['localhost', 'alpaca.markets', 'evil-api.alpaca.markets'])
    expect(await statusOf(test, '/v2/account', { ...keys, host }), host).toBe(404);
  expect(await statusOf(test, '/v1/health', { host: 'api.paperinvest.io' })).toBe(200);
});

it('over a socket: a host of a dialect reaches its routes and its WebSockets', async () => {
  const test = await open();
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = test.app.server.address() as AddressInfo;
  const host = 'paper-api.alpaca.markets';
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request({ port, path: '/v2/account', headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(401);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/stream`, { headers: { host } });
  const answer = await new Promise<string>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.send('{"action":"authenticate","data":{"key_id":"x","secret_key":"y"}}'));
    socket.on('message', (data: Buffer) => resolve(data.toString()));
  });
  expect(answer).toContain('unauthorized');
  socket.terminate();
});

it('withPrefix: adds the prefix once, and never leaves the prefix', async () => {
  const dialects = await loadDialects(['alpaca']);
  const at = (url: string) => withPrefix(dialects, { url, headers: { host: 'api.alpaca.markets' } });
  expect(at('/v2/account')).toBe('/alpaca/v2/account');
  expect(at('/alpaca/v2/account')).toBe('/alpaca/v2/account');
  expect(at('/alpacas?x=1')).toBe('/alpaca/alpacas?x=1');
  expect(at('http://api.alpaca.markets/v2/clock')).toBe('/alpaca/v2/clock');
  expect(at('*')).toBe('/alpaca/*');
});
