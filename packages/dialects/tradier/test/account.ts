/** A server with a portfolio, and the ways to send requests of the dialect to it. */
import {
  type DialectReply,
  type DialectSend,
  dialectSender,
  FORM_BODY,
  openDialectServer,
} from '../../../server/src/testing/dialects.js';
import {
  pushQuote,
  type TestApp,
  type TestAppOptions,
  type TestClient,
} from '../../../server/src/testing/test-app.js';

export type TradierReply = DialectReply;

export interface TradierAccount {
  readonly test: TestApp;
  readonly owner: TestClient;
  readonly token: string;
  readonly portfolioId: string;
  /** Account number of the portfolio. */
  readonly account: string;
  /** URL of `/tradier`. */
  readonly url: string;
  readonly send: DialectSend;
}

/** Sends forms and accepts JSON. */
export const tradierSender = (test: TestApp, token: string | undefined): DialectSend =>
  dialectSender(test, '/tradier', token, FORM_BODY);

export async function openTradierAccount(
  options: TestAppOptions = {},
  portfolio: object = {},
): Promise<TradierAccount> {
  const { origin, ...opened } = await openDialectServer(options, portfolio);
  const token = opened.owner.token ?? '';
  const send = tradierSender(opened.test, token);
  return { ...opened, token, account: 'VA00000001', url: `${origin}/tradier`, send };
}

export { pushQuote };
