import { expect, it } from 'vitest';
import { cashPortfolioBody } from '../../../server/src/testing/request-bodies.js';
import { credentialsIn, inDirectory, ServerProcess } from '../../../server/src/testing/server-process.js';
import type { Body } from '../../../server/src/testing/test-app.js';

const SETTINGS = { MARKET_FEED: 'push', MARKET_CALENDAR: 'always-open' };
const CALLBACK = 'https://127.0.0.1';

it('a server that is killed keeps tokens and orders, and forgets codes', async () => {
  await inDirectory(async (directory) => {
    const environment = { ...SETTINGS, DATA_DIR: directory };
    const first = ServerProcess.launch(environment);
    let url = await first.listening;
    const { token } = credentialsIn(directory);
    const ask = async (method: string, path: string, bearer: string, body?: object): Promise<Response> =>
      fetch(url + path, {
        method,
        headers: { authorization: bearer, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const v1 = async (path: string, body: object): Promise<Body> =>
      (await ask('POST', path, `Bearer ${token}`, body)).json();
    const { portfolioId } = await v1('/v1/accounts/portfolios', cashPortfolioBody());
    const { keyId, secretKey } = await v1(`/v1/accounts/portfolios/${portfolioId}/key-pairs`, {});
    const quotes = [{ symbol: 'AAPL', bid: 9.99, ask: 10, last: 10 }];
    await ask('PUT', '/v1/simulation/quotes', `Bearer ${token}`, { quotes });
    const click = async (): Promise<string> => {
      const query = new URLSearchParams({ client_id: keyId, redirect_uri: CALLBACK });
      const path = `${url}/schwab/v1/oauth/authorize?${query.toString()}`;
      const clicked = await fetch(path, { method: 'POST', redirect: 'manual' });
      return new URL(clicked.headers.get('location') ?? '').searchParams.get('code') ?? '';
    };
    const tokens = (fields: Record<string, string>): Promise<Response> =>
      fetch(`${url}/schwab/v1/oauth/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${keyId}:${secretKey}`).toString('base64')}` },
        body: new URLSearchParams({ redirect_uri: CALLBACK, ...fields }),
      });
    const login = await tokens({ grant_type: 'authorization_code', code: await click() });
    const { access_token, refresh_token } = (await login.json()) as Record<string, string>;
    const bearer = `Bearer ${access_token}`;
    const [account] = (await (
      await ask('GET', '/schwab/trader/v1/accounts/accountNumbers', bearer)
    ).json()) as Body;
    const orders = `/schwab/trader/v1/accounts/${account.hashValue}/orders`;
    const placed = await ask('POST', orders, bearer, {
      orderType: 'LIMIT',
      price: 5,
      session: 'NORMAL',
      duration: 'GOOD_TILL_CANCEL',
      orderStrategyType: 'SINGLE',
      orderLegCollection: [
        { instruction: 'BUY', quantity: 1, instrument: { symbol: 'AAPL', assetType: 'EQUITY' } },
      ],
    });
    const id = /\d+$/.exec(placed.headers.get('location') ?? '')?.[0] ?? '';
    const code = await click();
    await first.end('SIGKILL');

    const second = ServerProcess.launch(environment);
    url = await second.listening;
    const shown = await ask('GET', `${orders}/${id}`, bearer);
    expect([shown.status, ((await shown.json()) as Body).status]).toEqual([200, 'WORKING']);
    expect((await tokens({ grant_type: 'refresh_token', refresh_token: refresh_token ?? '' })).status).toBe(
      200,
    );
    expect((await tokens({ grant_type: 'authorization_code', code })).status).toBe(400);
    await second.end('SIGTERM');
  });
});
