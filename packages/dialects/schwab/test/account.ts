/** A server with a portfolio and its key pair, and the ways to send requests of the dialect to it. */
import { keyPairOf } from '../../../server/src/testing/alpaca.js';
import {
  type DialectReply,
  type DialectSend,
  dialectSender,
  JSON_BODY,
  openDialectServer,
} from '../../../server/src/testing/dialects.js';
import {
  type Body,
  pushQuote,
  type TestApp,
  type TestAppOptions,
  type TestClient,
} from '../../../server/src/testing/test-app.js';
import { hashOf } from '../src/request.js';

export type SchwabReply = DialectReply;

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
  readonly send: DialectSend;
}

export const schwabSender = (test: TestApp, bearer: string | undefined): DialectSend =>
  dialectSender(test, '/schwab', bearer, JSON_BODY);

export { keyPairOf as pairOf };

export async function openSchwabAccount(
  options: TestAppOptions = {},
  portfolio: object = {},
): Promise<SchwabAccount> {
  const { origin, ...opened } = await openDialectServer(options, portfolio);
  const { owner, portfolioId, test } = opened;
  const { keyId, secretKey: secret } = await keyPairOf(owner, portfolioId);
  const send = schwabSender(test, `${keyId}.${secret}`);
  return { ...opened, hash: hashOf(portfolioId), keyId, secret, url: `${origin}/schwab`, send };
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
