import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  askTokens,
  basic,
  codeFor,
  logIn,
  openSchwabAccount,
  pairOf,
  type SchwabAccount,
  schwabSender,
} from './account.js';

let opened: SchwabAccount;
const CALLBACK = 'https://127.0.0.1:8182';
const MINUTE = 60_000;

/** A pair that a token makes ends with that token. */
const SETTINGS = { RATE_LIMIT_DEFAULT: '1000000', TOKEN_TTL_SECONDS: '2592000' };

beforeAll(async () => {
  opened = await openSchwabAccount({ settings: SETTINGS });
});

afterAll(() => opened.test.close());

const anyone = (...args: Parameters<SchwabAccount['send']>) => schwabSender(opened.test, undefined)(...args);
const authorize = (fields: Record<string, string>, method: 'GET' | 'POST' = 'GET', headers = {}) =>
  anyone(
    method,
    `/v1/oauth/authorize?${new URLSearchParams({ client_id: opened.keyId, redirect_uri: CALLBACK, ...fields }).toString()}`,
    undefined,
    headers,
  );
const asks = async (token: string, app = opened.test) =>
  (await schwabSender(app, token)('GET', '/trader/v1/accounts/accountNumbers')).status;

it('authorize: shows a page that says simulated, and redirects with code and state after the click', async () => {
  const page = await authorize({ state: 'a&b' });
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.text).toContain('<strong>simulated</strong>');
  expect(page.text).toContain(CALLBACK);
  const clicked = await authorize({ state: 'a&b' }, 'POST');
  expect(clicked.status).toBe(302);
  const location = String(clicked.headers['location']);
  expect(location).toMatch(
    /^https:\/\/127\.0\.0\.1:8182\/\?code=C0\.[\w-]{32}%40&session=[\w-]{36}&state=a%26b$/,
  );
});

it('authorize: redirects at once for the proxy of sandpit run', async () => {
  expect((await authorize({}, 'GET', { 'x-sandpit-run': '1' })).status).toBe(302);
});

it('authorize: a click that another site sends gets the page', async () => {
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])
    expect((await authorize({}, 'POST', headers)).status).toBe(200);
  expect((await authorize({}, 'POST', { 'sec-fetch-site': 'same-origin' })).status).toBe(302);
});

it.each([
  ['javascript:alert(1)'],
  ['data:text/html,x'],
  ['http://evil.example/'],
  ['//evil.example'],
  ['https://user:pass@evil.example/'],
  ['https://evil.example/#fragment'],
  [''],
  [`https://evil.example/${'x'.repeat(2000)}`],
])('authorize: never redirects to %j', async (redirect_uri) => {
  for (const method of ['GET', 'POST'] as const) {
    const reply = await authorize({ redirect_uri }, method, { 'x-sandpit-run': '1' });
    expect([reply.status, reply.headers['location']]).toEqual([400, undefined]);
  }
});

it('authorize: refuses unknown keys, fields that it does not know, and fields that come twice, without markup of theirs', async () => {
  for (const fields of [
    { client_id: 'PKNOTTHERE' },
    { client_id: '<script>' },
    { response_type: 'token' },
    { prompt: '<b>' },
    { code_challenge: 'x', code_challenge_method: 'plain' },
  ]) {
    const reply = await authorize(fields, 'POST');
    expect(reply.status, JSON.stringify(fields)).toBe(400);
    expect(reply.text).not.toMatch(/<script|<b>/);
  }
  const twice = await anyone(
    'GET',
    `/v1/oauth/authorize?client_id=${opened.keyId}&client_id=x&redirect_uri=${CALLBACK}`,
  );
  expect(twice.status).toBe(400);
});

it('token: a code gives the six fields that clients read, once, and only with its redirect_uri', async () => {
  const code = await codeFor(opened);
  const fields = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
  const { status, body } = await askTokens(opened, fields);
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual([
    'access_token',
    'expires_in',
    'id_token',
    'refresh_token',
    'scope',
    'token_type',
  ]);
  expect(body).toMatchObject({ expires_in: 1800, token_type: 'Bearer', scope: 'api' });
  expect(await asks(body.access_token)).toBe(200);
  expect((await askTokens(opened, fields)).body.error).toBe('invalid_grant');
  const other = await codeFor(opened);
  expect(
    (await askTokens(opened, { ...fields, code: other, redirect_uri: 'https://127.0.0.1' })).body.error,
  ).toBe('invalid_grant');
  // A failed attempt uses the code up.
  expect((await askTokens(opened, { ...fields, code: other })).body.error).toBe('invalid_grant');
});

it('token: a code is good for five minutes and for its own key', async () => {
  const late = await codeFor(opened);
  opened.test.time.nowMs += 5 * MINUTE;
  const fields = { grant_type: 'authorization_code', code: late, redirect_uri: CALLBACK };
  expect((await askTokens(opened, fields)).body.error).toBe('invalid_grant');
  const pair = await pairOf(opened.owner, opened.portfolioId);
  const code = await codeFor(opened);
  const foreign = await askTokens(opened, { ...fields, code }, basic(pair.keyId, pair.secretKey));
  expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_grant']);
});

it('token: a challenge needs its verifier (RFC 7636, appendix B)', async () => {
  const redirect = await authorize(
    { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
    'POST',
  );
  const code = new URL(String(redirect.headers['location'])).searchParams.get('code') ?? '';
  const fields = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
  const verifier = { code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' };
  expect((await askTokens(opened, { ...fields, ...verifier })).status).toBe(200);
  const again = await authorize(
    { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
    'POST',
  );
  const second = new URL(String(again.headers['location'])).searchParams.get('code') ?? '';
  expect((await askTokens(opened, { ...fields, code: second })).status).toBe(400);
});

it('token: access lives 30 minutes, refresh seven days from the login; the refresh token stays the same', async () => {
  const { access_token, refresh_token } = await logIn(opened);
  const refresh = () => askTokens(opened, { grant_type: 'refresh_token', refresh_token });
  opened.test.time.nowMs += 30 * MINUTE - 2000;
  expect(await asks(access_token)).toBe(200);
  opened.test.time.nowMs += 2000;
  expect(await asks(access_token)).toBe(401);
  const { body } = await refresh();
  expect(body.refresh_token).toBe(refresh_token);
  expect(await asks(body.access_token)).toBe(200);
  opened.test.time.nowMs += 7 * 24 * 60 * MINUTE - 31 * MINUTE;
  expect((await refresh()).status).toBe(200);
  opened.test.time.nowMs += 2 * MINUTE;
  const dead = await refresh();
  expect([dead.status, dead.body.error]).toEqual([400, 'unsupported_token_type']);
});

it('token: zeros may follow id and secret up to the lengths that clients check', async () => {
  const [keyId, secret] = [opened.keyId.padEnd(32, '0'), opened.secret.padEnd(64, '0')];
  const code = await codeFor({ test: opened.test, keyId });
  const fields = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, client_id: keyId };
  const { status, body } = await askTokens(opened, fields, basic(keyId, secret));
  expect([status, await asks(body.access_token)]).toEqual([200, 200]);
  for (const app of [basic(`${keyId}0`, secret), basic(keyId, `${secret}0`), basic(keyId, secret.slice(1))])
    expect((await askTokens(opened, { grant_type: 'refresh_token' }, app)).status).toBe(401);
});

it('token: refuses a refresh with a foreign key, wrong secrets, and tokens of another purpose', async () => {
  const { access_token, refresh_token, id_token } = await logIn(opened);
  const pair = await pairOf(opened.owner, opened.portfolioId);
  const refresh = (token: string, app?: string) =>
    askTokens(opened, { grant_type: 'refresh_token', refresh_token: token }, app);
  expect((await refresh(refresh_token, basic(pair.keyId, pair.secretKey))).status).toBe(400);
  expect((await refresh(refresh_token, basic(opened.keyId, pair.secretKey))).status).toBe(401);
  for (const app of ['', 'Basic !!!', basic('a', 'b'), 'Bearer x'])
    expect((await refresh(refresh_token, app)).body.error).toBe('invalid_client');
  for (const token of [access_token, id_token, '', 'x'.repeat(5000), `${refresh_token}A`])
    expect((await refresh(token)).status, token.slice(0, 80)).toBe(400);
  for (const token of [refresh_token, id_token]) expect(await asks(token)).toBe(401);
  // A later end under the same signature.
  const later = access_token.replace(/\.(\d+)\./, (_: string, at: string) => `.${Number(at) + 60}.`);
  expect(await asks(later)).toBe(401);
});

it.each([
  [{}, 'unsupported_grant_type'],
  [{ grant_type: 'password' }, 'unsupported_grant_type'],
  [{ grant_type: 'authorization_code' }, 'invalid_grant'],
  [{ grant_type: 'authorization_code', code: 'C0.x@', redirect_uri: CALLBACK }, 'invalid_grant'],
  [{ grant_type: 'refresh_token', scope: 'api', other: '1' }, 'invalid_request'],
  [{ grant_type: 'refresh_token', client_id: 'PKOTHER' }, 'invalid_request'],
  [{ grant_type: 'refresh_token', client_secret: 'x' }, 'invalid_request'],
])('token: %j is %s', async (fields, error) => {
  expect((await askTokens(opened, fields as Record<string, string>)).body.error).toBe(error);
});

it('token: bodies that are no form are refused', async () => {
  const headers = { authorization: basic(opened.keyId, opened.secret) };
  for (const body of ['[]', '"x"', '7', '{"grant_type":["a"]}', '{"grant_type":{}}', 'null']) {
    const reply = await anyone('POST', '/v1/oauth/token', body, headers);
    expect([reply.status, typeof reply.body.error], body).toEqual([400, 'string']);
  }
  expect((await anyone('POST', '/v1/oauth/token', '{', headers)).status).toBe(400);
  const long = `refresh_token=${'x'.repeat(70_000)}`;
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
  expect((await anyone('POST', '/v1/oauth/token', long, form)).status).toBe(413);
});

it('tokens outlive a restart, codes do not, and a revoked pair ends everything', async () => {
  const { access_token, refresh_token } = await logIn(opened);
  const code = await codeFor(opened);
  const restarted = await opened.test.restart({ settings: SETTINGS });
  restarted.time.nowMs = opened.test.time.nowMs;
  const account = { ...opened, test: restarted };
  opened = { ...account, send: schwabSender(restarted, access_token) };
  expect(await asks(access_token, restarted)).toBe(200);
  expect((await askTokens(account, { grant_type: 'refresh_token', refresh_token })).status).toBe(200);
  const late = await askTokens(account, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  expect(late.body.error).toBe('invalid_grant');
  const owner = restarted.as({ tier: 'ENTERPRISE' });
  await owner.delete(`/v1/accounts/portfolios/${opened.portfolioId}/key-pairs/${opened.keyId}`);
  expect(await asks(access_token, restarted)).toBe(401);
  expect((await askTokens(account, { grant_type: 'refresh_token', refresh_token })).status).toBe(401);
});

it('oauth: requests of strangers are limited by address', async () => {
  const { test } = await openSchwabAccount({ settings: { RATE_LIMIT_DEFAULT: '3' } });
  const statuses = [];
  for (let i = 0; i < 5; i++)
    statuses.push((await schwabSender(test, undefined)('POST', '/v1/oauth/token')).status);
  await test.close();
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
});
