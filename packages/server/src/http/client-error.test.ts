/** Errors that the HTTP parser finds, on connections with and without answers. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestApp } from '../testing/test-app.js';

let test: TestApp;
let token: string;
let socket: Socket;
let text: string;

beforeEach(async () => {
  test = await TestApp.open();
  token = test.as({ tier: 'PRO' }).token ?? '';
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  socket = connect((test.app.server.address() as AddressInfo).port, '127.0.0.1');
  text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
});
afterEach(() => test.close());

const GARBAGE = 'garbage\r\n\r\n';
const head = (method: string, path: string, lines = ''): string =>
  `${method} ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n${lines}\r\n`;
const statuses = (): string[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status);

it('a broken request after the beginning of an answer ends the connection without another answer', async () => {
  socket.write(head('GET', '/v1/stream/orders'));
  await expect.poll(() => text).toContain('retry:');
  socket.write(GARBAGE);
  await once(socket, 'close');
  expect(statuses()).toEqual(['200']);
});

it('a broken body is answered 400', async () => {
  socket.write(
    `${head('POST', '/v1/orders', 'content-type: application/json\r\ntransfer-encoding: chunked\r\n')}1\r\n{`,
  );
  socket.write(`\r\nnot a length\r\n`);
  await once(socket, 'close');
  expect(statuses()).toEqual(['400']);
});

it('a broken request behind whole ones: those get their answers, and then the connection ends', async () => {
  const body = '{"userId":"11111111-1111-4111-8111-111111111111"}';
  const post =
    head('POST', '/v1/accounts', `content-type: application/json\r\ncontent-length: ${body.length}\r\n`) +
    body;
  socket.write(post + post + GARBAGE);
  await once(socket, 'close');
  expect(statuses()).toHaveLength(2);
  expect(statuses()[0]).toBe('400');
  expect(text).not.toContain('Malformed');
});

it('a broken request on a connection whose answers have ended is answered 400', async () => {
  socket.write(head('GET', '/v1/health'));
  await expect.poll(() => text).toContain('"status"');
  socket.write(GARBAGE);
  await once(socket, 'close');
  expect(statuses()).toEqual(['200', '400']);
});

it('a broken body whose request was answered before it arrived ends the connection without another answer', async () => {
  socket.write(`${head('POST', '/v1/nothing', 'transfer-encoding: chunked\r\n')}1\r\n{`);
  await expect.poll(() => text).toContain('"statusCode":404');
  socket.write('\r\nnot a length\r\n');
  await once(socket, 'close');
  expect(statuses()).toEqual(['404']);
});
