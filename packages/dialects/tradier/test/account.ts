/** A listening server with two portfolios of one tenant, and the ways to send requests of the dialect to it. */
import type { AddressInfo } from 'node:net';
import {
  type Body,
  openPortfolio,
  pushQuote,
  TestApp,
  type TestAppOptions,
  type TestClient,
} from '../../../server/src/testing/test-app.js';

export interface TradierReply {
  readonly status: number;
  readonly text: string;
  /** Undefined for an answer that is not JSON. */
  readonly body: Body;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type TradierSend = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  form?: Readonly<Record<string, unknown>>,
  headers?: Readonly<Record<string, string>>,
) => Promise<TradierReply>;

export interface TradierAccount {
  readonly test: TestApp;
  readonly owner: TestClient;
  readonly token: string;
  readonly portfolioId: string;
  /** Account number of the portfolio. */
  readonly account: string;
  /** URL of `/tradier`. */
  readonly url: string;
  readonly send: TradierSend;
}

/** Sends forms and accepts JSON. */
export const tradierSender =
  (test: TestApp, token: string | undefined): TradierSend =>
  async (method, url, form, headers = {}) => {
    const response = await test.app.inject({
      method,
      url: `/tradier${url}`,
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      ...(form !== undefined && {
        payload: new URLSearchParams(
          Object.entries(form).map(([name, value]): [string, string] => [name, String(value)]),
        ).toString(),
      }),
    });
    const isJson = String(response.headers['content-type']).includes('json') && response.body !== '';
    return {
      status: response.statusCode,
      text: response.body,
      body: isJson ? response.json() : undefined,
      headers: response.headers,
    };
  };

export async function openTradierAccount(
  options: TestAppOptions = {},
  portfolio: object = {},
): Promise<TradierAccount> {
  const test = await TestApp.open(options);
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = test.app.server.address() as AddressInfo;
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner, portfolio)) as { portfolioId: string };
  const token = owner.token ?? '';
  const send = tradierSender(test, token);
  const url = `http://127.0.0.1:${port}/tradier`;
  return { test, owner, token, portfolioId, account: 'VA00000001', url, send };
}

export { pushQuote };
