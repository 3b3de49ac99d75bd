import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signToken as sign, TestApp } from '../testing/test-app.js';
import { Authenticator } from './auth.js';

let test: TestApp;

beforeEach(async () => {
  test = await TestApp.open();
});
afterEach(() => test.close());

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const inAnHour = (): number => Math.floor(test.time.nowMs / 1000) + 3600;
const claims = (more: object = {}): object => ({ sub: 'tenant-1', exp: inAnHour(), ...more });
const statusWith = async (token: string | undefined): Promise<number> =>
  (await test.withToken(token).get('/v1/accounts')).status;

describe('A bearer token', () => {
  it('is accepted with all claims of the contract, and with the required ones only', async () => {
    expect(await statusWith(test.token())).toBe(200);
    expect(await statusWith(sign(claims()))).toBe(200);
    expect(await statusWith(sign(claims({ aud: ['other', 'sandpit'], iss: 'sandpit' })))).toBe(200);
  });

  const refused: Record<string, () => string | undefined> = {
    'is missing': () => undefined,
    'is empty': () => '',
    'is no token': () => 'nonsense',
    'has four parts': () => `${test.token()}.x`,
    'is signed with another secret': () => sign(claims(), undefined, 'x'.repeat(40)),
    'has another signature': () => `${test.token().slice(0, -2)}xx`,
    'has no signature': () => test.token().replace(/[^.]+$/, ''),
    'says alg none': () => `${encode({ alg: 'none' })}.${encode(claims())}.`,
    'says alg none, signed': () => sign(claims(), { alg: 'none' }),
    'says HS512': () => sign(claims(), { alg: 'HS512' }),
    'says RS256': () => sign(claims(), { alg: 'RS256' }),
    'names an extension that must be understood': () => sign(claims(), { alg: 'HS256', crit: ['exp'] }),
    'is expired': () => sign(claims({ exp: Math.floor(test.time.nowMs / 1000) - 1 })),
    'has no exp': () => sign({ sub: 'tenant-1' }),
    'has an exp that is no number': () => sign(claims({ exp: '9999999999' })),
    'is not valid yet': () => sign(claims({ nbf: inAnHour() })),
    'has no sub': () => sign({ exp: inAnHour() }),
    'has an empty sub': () => sign(claims({ sub: '' })),
    'has a sub that is no text': () => sign(claims({ sub: 7 })),
    'has an unknown tier': () => sign(claims({ tier: 'GOLD' })),
    'has a scope that is no text': () => sign(claims({ scope: ['read'] })),
    'is for somebody else': () => sign(claims({ aud: 'other' })),
    'is from somebody else': () => sign(claims({ iss: 'other' })),
    'lives in a simulation that does not exist': () => sign(claims({ sim: 'nowhere' })),
    'has claims that are no object': () => sign([1]),
    'is longer than any of ours': () => sign(claims({ more: 'x'.repeat(5000) })),
  };

  it.each(Object.keys(refused))('is refused when it %s', async (name) => {
    const { status, body, headers } = await test.withToken(refused[name]?.()).get('/v1/accounts');
    expect(status).toBe(401);
    expect(body).toEqual({ statusCode: 401, message: 'Unauthorized', error: 'Unauthorized' });
    expect(headers['www-authenticate']).toBe('Bearer');
  });

  it('is refused before the request is validated', async () => {
    const stranger = test.withToken(undefined);
    for (const request of [
      { payload: '{"broken', headers: { 'content-type': 'application/json' } },
      { payload: 'x', headers: { 'content-type': 'text/plain' } },
      { payload: 'x'.repeat(1_100_000), headers: { 'content-type': 'application/json' } },
    ]) {
      expect((await stranger.inject({ method: 'POST', url: '/v1/orders', ...request })).status).toBe(401);
    }
    expect((await stranger.get('/v1/orders/not-a-uuid')).status).toBe(401);
  });

  it('expires even if it is in the cache', async () => {
    const client = test.as();
    expect((await client.get('/v1/accounts')).status).toBe(200);
    test.time.nowMs += 86_400_000;
    expect((await client.get('/v1/accounts')).status).toBe(401);
  });

  it('is BASIC with the scopes trade and read by default', async () => {
    const client = test.withToken(sign(claims()));
    const { body } = await client.get('/v1/simulation/clock');
    expect(body).toEqual({
      statusCode: 403,
      message: 'The token lacks the scope simulate',
      error: { code: 'INSUFFICIENT_SCOPE', requiredScope: 'simulate' },
    });
    expect((await client.post('/v1/accounts', {})).status).toBe(201);
    expect((await client.post('/v1/accounts', {})).body.error).toMatchObject({ currentTier: 'BASIC' });
  });

  it('requires the scope of the route, before its body is validated', async () => {
    const reader = test.as({ scope: 'read' });
    expect((await reader.post('/v1/orders', {})).status).toBe(403);
    expect((await test.as({ scope: 'trade' }).get('/v1/accounts')).status).toBe(403);
  });

  it('requires admin to move the shared market', async () => {
    const tester = test.as({ scope: 'read trade simulate' });
    expect((await tester.put('/v1/simulation/quotes', {})).body.error).toEqual({
      code: 'INSUFFICIENT_SCOPE',
      requiredScope: 'admin',
    });
    expect((await tester.get('/v1/simulation/clock')).status).toBe(200);
    const { body } = await tester.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const inside = test.withToken(body.token as string);
    expect((await inside.put('/v1/simulation/quotes', {})).status).toBe(400);
  });
});

describe('an API key', () => {
  const exchange = (body: object) => test.withToken(undefined).post('/v1/auth/token', body);

  it('is exchanged for a token', async () => {
    const { apiKey, hash } = await test.access.createKey({
      tenantId: 'a',
      tier: 'ENTERPRISE',
      scope: 'read',
    });
    expect(apiKey).not.toContain(hash);
    const { status, body } = await exchange({ apiKey });
    expect(status).toBe(200);
    expect(body).toMatchObject({ tokenType: 'Bearer', expiresIn: 86400 });
    expect(Date.parse(body.expiresAt as string) - Date.parse(body.createdAt as string)).toBe(86_400_000);
    const client = test.withToken(body.token as string);
    expect((await client.get('/v1/accounts')).status).toBe(200);
    expect((await client.post('/v1/accounts', {})).status).toBe(403);
  });

  it('is refused if it is unknown', async () => {
    const { status, body } = await exchange({ apiKey: 'sp_unknown' });
    expect(status).toBe(401);
    expect(body).toEqual({ statusCode: 401, message: 'Invalid API Key', error: 'Unauthorized' });
    expect((await exchange({})).body.message).toEqual(['apiKey must be a string']);
  });
});

describe('Tokens of an identity provider', () => {
  let provider: Server;
  let url: string;
  let publicKey: string;
  let privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

  beforeAll(async () => {
    const pair = await generateKeyPair('RS256');
    privateKey = pair.privateKey;
    publicKey = await exportSPKI(pair.publicKey);
    const key = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
    provider = createServer((_, response) => response.end(JSON.stringify({ keys: [key] })));
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`;
  });
  afterAll(() => provider.close());

  const settings = () => ({
    jwtSecret: undefined,
    jwksUrl: url,
    jwtAgentClaim: undefined as string | undefined,
    jwtIssuer: 'idp',
    jwtAudience: 'sandpit',
    tokenTtlSeconds: 60,
  });

  const signed = (claims: object) =>
    new SignJWT({ sub: 't', exp: 9_999_999_999, tier: 'PRO', scope: 'read openid', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(privateKey);
  const OURS = { iss: 'idp', aud: 'sandpit' };

  it.each(['ES256', 'PS256', 'EdDSA'])('are verified if they are signed with %s', async (alg) => {
    const pair = await generateKeyPair(alg);
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: alg, use: 'sig' };
    const other = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const its = { ...settings(), jwksUrl: `http://127.0.0.1:${port}/jwks` };
    const token = await new SignJWT({ sub: 't', exp: 9_999_999_999, ...OURS })
      .setProtectedHeader({ alg, kid: alg })
      .sign(pair.privateKey);
    const authenticator = new Authenticator(its, test.access, Date.now);
    expect(await authenticator.principalOf(`Bearer ${token}`)).toMatchObject({ tenantId: 't' });
    expect(await authenticator.principalOf(`Bearer ${token.slice(0, -6)}AAAAAA`)).toBeUndefined();
    expect(await authenticator.principalOf(`Bearer ${await signed(OURS)}`)).toBeUndefined();
    other.close();
  });

  it("belong to an agent if the operator's claim is present", async () => {
    const claim = 'https://example.com/sandpit';
    const named = new Authenticator({ ...settings(), jwtAgentClaim: claim }, test.access, Date.now);
    const unnamed = new Authenticator(settings(), test.access, Date.now);
    const bearer = async (said: unknown) => `Bearer ${await signed({ ...OURS, [claim]: said })}`;
    const agent = await bearer({ agent: 'a-1', level: 'capped', caps: { maxOrderNotional: 5 } });
    expect((await named.principalOf(agent))?.agent).toEqual({
      agentId: 'a-1',
      level: 'capped',
      caps: { maxOrderNotional: 5 },
    });
    expect((await unnamed.principalOf(agent))?.agent).toBeUndefined();
    expect((await named.principalOf(`Bearer ${await signed(OURS)}`))?.agent).toBeUndefined();
    // A restriction that cannot be parsed denies access.
    for (const said of [
      'read',
      {},
      { level: 'read' },
      { agent: 'a-1' },
      { agent: 'a-1', level: 'most' },
      [],
      null,
      7,
    ])
      expect(await named.principalOf(await bearer(said))).toBeUndefined();
  });

  it('are verified only with its keys', async () => {
    const authenticator = new Authenticator(settings(), test.access, Date.now);
    const token = await signed(OURS);
    const principal = await authenticator.principalOf(`Bearer ${token}`);
    expect(principal).toMatchObject({ tenantId: 't', tier: 'PRO', scopes: new Set(['read']) });
    const own = sign({ sub: 't', exp: 9_999_999_999, ...OURS });
    expect(await authenticator.principalOf(`Bearer ${own}`)).toBeUndefined();
    expect(await authenticator.principalOf(`Bearer ${token.slice(0, -4)}AAAA`)).toBeUndefined();
    // The provider's public key is no secret: it must not pass for one.
    const confused = sign({ sub: 't', exp: 9_999_999_999, ...OURS }, { alg: 'HS256', kid: 'one' }, publicKey);
    expect(await authenticator.principalOf(`Bearer ${confused}`)).toBeUndefined();
  });

  it.each([
    ['no issuer', { aud: 'sandpit' }],
    ['another issuer', { iss: 'idp2', aud: 'sandpit' }],
    ['no audience', { iss: 'idp' }],
    ['another audience', { iss: 'idp', aud: ['other'] }],
    ['neither', {}],
  ])('are refused with %s', async (_, claims) => {
    const authenticator = new Authenticator(settings(), test.access, Date.now);
    expect(await authenticator.principalOf(`Bearer ${await signed(claims)}`)).toBeUndefined();
    const among = await signed({ iss: 'idp', aud: ['other', 'sandpit'] });
    expect(await authenticator.principalOf(`Bearer ${among}`)).toBeDefined();
  });
});
