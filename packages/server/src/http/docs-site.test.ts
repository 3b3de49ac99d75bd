import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestApp } from '../testing/test-app.js';

let directory: string;
let test: TestApp;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sandpit-site-'));
  test = await TestApp.open({ siteDirectory: directory });
});
afterEach(async () => {
  await test.close();
  rmSync(directory, { recursive: true });
});

/** A small site, of which `contents` is the first page. */
function build(contents: string): void {
  mkdirSync(join(directory, 'assets'), { recursive: true });
  mkdirSync(join(directory, 'rules'), { recursive: true });
  writeFileSync(join(directory, 'index.html'), contents);
  writeFileSync(join(directory, '404.html'), 'not here');
  writeFileSync(join(directory, 'rules/fees.html'), 'fees');
  writeFileSync(join(directory, 'assets/app.js'), 'start()');
  writeFileSync(join(directory, 'sources.sha256'), contents);
}

const get = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  test.app.inject({ url, headers: { ...headers } });

it('/docs redirects to the API reference until the site is built', async () => {
  for (const url of ['/docs', '/docs/'])
    expect(await get(url)).toMatchObject({ statusCode: 302, headers: { location: '/docs/api/' } });
  expect((await get('/docs/rules/fees')).statusCode).toBe(404);
  expect((await get('/docs/api/')).body).toContain('swagger-ui');
});

it('/docs/ serves the site as soon as its build is complete', async () => {
  expect((await get('/docs/')).statusCode).toBe(302);
  build('first');
  expect(await get('/docs')).toMatchObject({ statusCode: 302, headers: { location: '/docs/' } });
  expect(await get('/docs/')).toMatchObject({ statusCode: 200, body: 'first' });
});

it('pages are found without their extension, under a policy that forbids inline scripts', async () => {
  build('first');
  const { statusCode, body, headers } = await get('/docs/rules/fees');
  expect([statusCode, body, headers['content-type']]).toEqual([200, 'fees', 'text/html; charset=utf-8']);
  expect(headers['content-security-policy']).toContain("script-src 'self';");
});

it('assets are cached by browsers, pages are not', async () => {
  build('first');
  expect((await get('/docs/assets/app.js')).headers['cache-control']).toContain('immutable');
  expect((await get('/docs/')).headers['cache-control']).toBe('no-store');
});

it('pages and assets are compressed for clients that accept gzip', async () => {
  build('compressible '.repeat(1000));
  const plain = await get('/docs/');
  expect([plain.headers['content-encoding'], plain.headers['vary']]).toEqual([undefined, 'Accept-Encoding']);
  for (const accepted of ['gzip', 'br;q=1.0, gzip;q=0.8, *;q=0.1', 'deflate, gzip', '*']) {
    const { headers, rawPayload } = await get('/docs/', { 'accept-encoding': accepted });
    expect(headers, accepted).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(rawPayload.length),
    });
    expect(gunzipSync(rawPayload).toString()).toBe(plain.body);
  }
  for (const refused of ['identity', 'br', 'gzip;q=0', 'gzip; q=0.000, br', 'xgzip'])
    expect((await get('/docs/', { 'accept-encoding': refused })).body, refused).toBe(plain.body);
});

it('pages and assets that are stored compressed are served like others', async () => {
  build('first');
  const names = ['rules/fees.html', 'assets/app.js'];
  const text = 'as stored '.repeat(200);
  for (const name of names) {
    rmSync(join(directory, name));
    writeFileSync(join(directory, `${name}.br`), brotliCompressSync(text));
  }
  for (const name of names) {
    const url = `/docs/${name.replace('.html', '')}`;
    const plain = await get(url);
    expect(plain).toMatchObject({ statusCode: 200, body: text });
    expect([plain.headers['content-encoding'], plain.headers['vary']]).toEqual([
      undefined,
      'Accept-Encoding',
    ]);
    for (const [accepted, encoding, decompress] of [
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['gzip, br;q=0', 'gzip', gunzipSync],
    ] as const) {
      const { headers, rawPayload } = await get(url, { 'accept-encoding': accepted });
      expect(headers).toMatchObject({
        'content-type': plain.headers['content-type'],
        'content-encoding': encoding,
        'content-length': String(rawPayload.length),
        vary: 'Accept-Encoding',
      });
      expect(decompress(rawPayload).toString()).toBe(text);
    }
    expect((await get(`${url}.br`)).statusCode).toBe(404);
  }
  writeFileSync(join(directory, 'rules/fees.html.br'), 'damaged');
  expect((await get('/docs/rules/fees')).json()).toMatchObject({ statusCode: 500 });
});

it('files of the API reference are compressed for clients that accept gzip', async () => {
  const url = '/docs/api/static/swagger-ui-bundle.js';
  const plain = await get(url);
  expect([plain.headers['content-encoding'], plain.headers['vary']]).toEqual([undefined, 'Accept-Encoding']);
  const { headers, rawPayload } = await get(url, { 'accept-encoding': 'br, gzip' });
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(headers['content-length']).toBeUndefined();
  expect(gunzipSync(rawPayload).equals(plain.rawPayload)).toBe(true);
  expect(rawPayload.length * 3).toBeLessThan(plain.rawPayload.length);
  const head = await test.app.inject({ method: 'HEAD', url, headers: { 'accept-encoding': 'gzip' } });
  expect([head.statusCode, head.rawPayload.length]).toEqual([200, 0]);
});

it('a path without a page is 404: a page for browsers, JSON for programs', async () => {
  build('first');
  expect(await get('/docs/nowhere', { accept: 'text/html' })).toMatchObject({
    statusCode: 404,
    body: 'not here',
  });
  expect((await get('/docs/nowhere')).json()).toMatchObject({ statusCode: 404 });
});

it('files outside the site are not served', async () => {
  build('first');
  for (const path of ['sources.sha256', '../site/index.html', '..%2f..%2fetc/passwd', 'rules', '__proto__'])
    expect((await get(`/docs/${path}`)).statusCode, path).toBe(404);
});
