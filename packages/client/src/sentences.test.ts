import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandpit } from './client.js';

/** Answers at addresses that are not Sandpit's, by credentials of the request. */
const STRANGERS: Readonly<Record<string, readonly [status: number, body: string]>> = {
  'Bearer page': [200, '<html>Welcome</html>'],
  'Bearer gone': [404, '<html>Not found</html>'],
  'Bearer other-version': [404, '{"statusCode":404,"message":"Route not found","error":"Not Found"}'],
  'Bearer expired': [401, '{"statusCode":401,"message":"Unauthorized","error":"Unauthorized"}'],
};

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const [status, body] = STRANGERS[request.headers.authorization ?? ''] ?? [500, ''];
    response.writeHead(status, { connection: 'close' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const complaint = async (token: string, where = url): Promise<string> => {
  try {
    await new Sandpit({ url: where, token }, { retryForMs: 0 }).call('listPortfolios');
  } catch (error) {
    return (error as Error).message.replaceAll(where, 'URL');
  }
  return 'none';
};

describe('error messages: one sentence with the remedy', () => {
  it('about an address that is not a Sandpit’s', async () => {
    const sentence = (status: number): string =>
      `URL answers, but not as a Sandpit does (HTTP ${status}): is that its address?`;
    expect(await complaint('page')).toBe(sentence(200));
    expect(await complaint('gone')).toBe(sentence(404));
    expect(await complaint('x', 'localhost:3000')).toBe('URL is no URL of a server: http://HOST:PORT is');
  });

  it('about a server that does not run', async () => {
    expect(await complaint('x', 'http://127.0.0.1:9')).toMatch(
      /^No Sandpit answers at URL: .+\. Is it running \(sandpit up\)\?$/,
    );
  });

  it('about a token that is expired, and a server of another version', async () => {
    expect(await complaint('expired')).toBe(
      'Unauthorized: URL does not accept this token. Get another one (sandpit token, or an API key)',
    );
    expect(await complaint('other-version')).toBe(
      'Route not found: URL is a Sandpit of another version than this client. Install the same of both',
    );
  });
});
