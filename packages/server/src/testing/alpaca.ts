import alpaca from '@sandpit/dialect-alpaca';
import type { AddressInfo } from 'node:net';
import { type Body, openPortfolio, TestApp, type TestAppOptions, type TestClient } from './test-app.js';

/** A listening server with a portfolio, and the key pair that opens it to Alpaca's clients. */
export interface AlpacaAccount {
  readonly test: TestApp;
  /** URL of `/alpaca`. */
  readonly url: string;
  /** Client of the owner, at `/v1`. */
  readonly owner: TestClient;
  readonly portfolioId: string;
  readonly keyId: string;
  readonly secretKey: string;
}

export async function openAlpacaAccount(
  options: TestAppOptions = {},
  portfolio: object = {},
): Promise<AlpacaAccount> {
  const test = await TestApp.open(options);
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = test.app.server.address() as AddressInfo;
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner, portfolio)) as { portfolioId: string };
  const pair = await keyPairOf(owner, portfolioId);
  return { test, url: `http://127.0.0.1:${port}/alpaca`, owner, portfolioId, ...pair };
}

/** A new key pair of a portfolio. */
export async function keyPairOf(
  owner: TestClient,
  portfolioId: string,
): Promise<{ readonly keyId: string; readonly secretKey: string }> {
  const reply = await owner.post(`/v1/accounts/portfolios/${portfolioId}/key-pairs`);
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body as { keyId: string; secretKey: string };
}

interface AlpacaReply {
  readonly status: number;
  readonly body: Body;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type AlpacaSend = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body?: object,
) => Promise<AlpacaReply>;

/** Templates of all paths that a GET answers at once. */
export const alpacaPaths = (): string[] =>
  alpaca.routes
    .filter(({ method, path }) => method === 'GET' && path !== '/v2/events/trades')
    .map(({ path }) => path);

/** Sends requests of the dialect with a key pair, without a socket. */
export const alpacaSender =
  (test: TestApp, keys: { readonly keyId: string; readonly secretKey: string }): AlpacaSend =>
  async (method, url, body) => {
    const response = await test.app.inject({
      method,
      url: `/alpaca${url}`,
      headers: { 'apca-api-key-id': keys.keyId, 'apca-api-secret-key': keys.secretKey },
      ...(body !== undefined && { payload: body }),
    });
    return {
      status: response.statusCode,
      body: response.body === '' ? undefined : (JSON.parse(response.body) as unknown),
      headers: response.headers,
    };
  };
