/** A listening server with a portfolio and its key pair, and the ways to send requests of the dialect to it. */
import type { AddressInfo } from 'node:net';
import {
  type Body,
  openPortfolio,
  pushQuote,
  TestApp,
  type TestAppOptions,
  type TestClient,
} from '../../../server/src/testing/test-app.js';
import { hashOf } from '../src/request.js';

export interface SchwabReply {
  readonly status: number;
  readonly text: string;
  /** Undefined for an answer that is not JSON. */
  readonly body: Body;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type SchwabSend = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<SchwabReply>;

export interface SchwabAccount {
  readonly test: TestApp;
  readonly owner: TestClient;
  readonly portfolioId: string;
  readonly hash: string;
  readonly keyId: string;
  readonly secret: string;
  /** URL of `/schwab`. */
  readonly url: string;
  /** Sends with the key pair as bearer. */
  readonly send: SchwabSend;
}

export const schwabSender =
  (test: TestApp, bearer: string | undefined): SchwabSend =>
  async (method, url, body, headers = {}) => {
    const response = await test.app.inject({
      method,
      url: `/schwab${url}`,
      headers: {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const isJson = String(response.headers['content-type']).includes('json') && response.body !== '';
    return {
      status: response.statusCode,
      text: response.body,
      body: isJson ? response.json() : undefined,
      headers: response.headers,
    };
  };

export const pairOf = async (
  owner: TestClient,
  portfolioId: string,
): Promise<{ readonly keyId: string; readonly secretKey: string }> =>
  (await owner.post(`/v1/accounts/portfolios/${portfolioId}/key-pairs`)).body as {
    keyId: string;
    secretKey: string;
  };

export async function openSchwabAccount(
  options: TestAppOptions = {},
  portfolio: object = {},
): Promise<SchwabAccount> {
  const test = await TestApp.open(options);
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = test.app.server.address() as AddressInfo;
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner, portfolio)) as { portfolioId: string };
  const { keyId, secretKey: secret } = await pairOf(owner, portfolioId);
  const send = schwabSender(test, `${keyId}.${secret}`);
  const url = `http://127.0.0.1:${port}/schwab`;
  return { test, owner, portfolioId, hash: hashOf(portfolioId), keyId, secret, url, send };
}

/** Number of an order, from its `Location`. */
export const placedId = ({ headers }: SchwabReply): number =>
  Number(/\/orders\/(\d+)$/.exec(String(headers['location']))?.[1]);

export const basic = (keyId: string, secret: string): string =>
  `Basic ${Buffer.from(`${keyId}:${secret}`).toString('base64')}`;

/** Sends the form of a request for tokens. */
export const askTokens = (
  { test, keyId, secret }: Pick<SchwabAccount, 'test' | 'keyId' | 'secret'>,
  fields: Readonly<Record<string, string>>,
  app = basic(keyId, secret),
) =>
  schwabSender(test, undefined)('POST', '/v1/oauth/token', new URLSearchParams(fields).toString(), {
    authorization: app,
    'content-type': 'application/x-www-form-urlencoded',
  });

const CALLBACK = 'https://127.0.0.1:8182';

/** The code of a login, after a click. */
export async function codeFor(
  { test, keyId }: Pick<SchwabAccount, 'test' | 'keyId'>,
  redirect = CALLBACK,
): Promise<string> {
  const query = new URLSearchParams({ client_id: keyId, redirect_uri: redirect, response_type: 'code' });
  const clicked = await schwabSender(test, undefined)('POST', `/v1/oauth/authorize?${query.toString()}`);
  return new URL(String(clicked.headers['location'])).searchParams.get('code') ?? '';
}

export async function logIn(account: Pick<SchwabAccount, 'test' | 'keyId' | 'secret'>): Promise<Body> {
  const code = await codeFor(account);
  return (await askTokens(account, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK })).body;
}

export { pushQuote };
