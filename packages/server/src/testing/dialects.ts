/** A listening server with a portfolio, and the ways to send requests of a dialect to it. */
import type { AddressInfo } from 'node:net';
import { type Body, openPortfolio, TestApp, type TestAppOptions, type TestClient } from './test-app.js';

export interface DialectReply {
  readonly status: number;
  readonly text: string;
  /** Undefined for an answer that is not JSON. */
  readonly body: Body;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type DialectSend = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<DialectReply>;

/** How a dialect has its bodies: their type, and their text. */
export interface BodyForm {
  readonly type: string;
  readonly textOf: (body: unknown) => string;
}

export const JSON_BODY: BodyForm = { type: 'application/json', textOf: (body) => JSON.stringify(body) };
export const FORM_BODY: BodyForm = {
  type: 'application/x-www-form-urlencoded',
  textOf: (body) =>
    new URLSearchParams(
      Object.entries(body as object).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString(),
};

/** Sends requests under a prefix with a bearer, without a socket. A text is sent as it is. */
export const dialectSender =
  (test: TestApp, prefix: string, bearer: string | undefined, form: BodyForm): DialectSend =>
  async (method, url, body, headers = {}) => {
    const response = await test.app.inject({
      method,
      url: prefix + url,
      headers: {
        accept: 'application/json',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': form.type }),
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : form.textOf(body) }),
    });
    const isJson = String(response.headers['content-type']).includes('json') && response.body !== '';
    return {
      status: response.statusCode,
      text: response.body,
      body: isJson ? response.json<unknown>() : undefined,
      headers: response.headers,
    };
  };

/** A server that listens, and a new portfolio of its owner. */
export async function openDialectServer(
  options: TestAppOptions,
  portfolio: object,
): Promise<{
  readonly test: TestApp;
  readonly owner: TestClient;
  readonly portfolioId: string;
  readonly origin: string;
}> {
  const test = await TestApp.open(options);
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = test.app.server.address() as AddressInfo;
  const owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner, portfolio)) as { portfolioId: string };
  return { test, owner, portfolioId, origin: `http://127.0.0.1:${port}` };
}
