/** Each route with each scope (D236), and other tenants without `operator`. */
import { type OperationId, type Route, type Scope, routeEntries, scopes } from '@sandpit/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOWHERE, openPortfolio, orderBody, TestApp, type TestClient } from '../testing/test-app.js';

/** Changes of the market of every `main` (D53). */
const OF_ALL_TENANTS: ReadonlySet<OperationId> = new Set([
  'pushQuotes',
  'setClock',
  'advanceClock',
  'putInstruments',
  'addCorporateActions',
  'withdrawCorporateAction',
  'haltTrading',
  'liftHalt',
]);

const guarded = routeEntries.filter(([, route]) => route.scope !== undefined);
/** Scopes that a route requires, in the order of its checks. */
function required(id: OperationId, { scope }: Route): readonly Scope[] {
  if (OF_ALL_TENANTS.has(id)) return ['simulate', 'admin'];
  // Each part of a step requires the scope of its route (D174); its answer is a read.
  return id === 'stepSimulation' ? ['simulate', 'read'] : [scope as Scope];
}

let test: TestApp;
/** A token of a tenant in one of its simulations, by scope. */
let inside: (scope: string) => Promise<TestClient>;

beforeAll(async () => {
  test = await TestApp.open();
  inside = async (scope) => {
    const made = await test
      .as({ scope: `simulate ${scope}` })
      .post('/v1/simulations', { feed: 'push', clock: 'manual' });
    return test.as({ scope, simulationId: made.body.simulationId as string });
  };
});
afterAll(() => test.close());

/** Ids that exist nowhere: only scopes can be the reason of a 403. */
const pathOf = ({ path }: Route): string => path.replace(/:\w+/g, NOWHERE);

async function lacking(client: TestClient, route: Route): Promise<unknown> {
  const url = `${pathOf(route)}${route.events === undefined ? '' : '?limit=none'}`;
  const { status, body } = await client.inject({ method: route.method, url });
  return status === 403 ? (body.error as { readonly requiredScope?: unknown }).requiredScope : undefined;
}

describe('a route', () => {
  it.each(guarded)(
    '%s is refused to a token with every scope but its own, and names that scope',
    async (id, route) => {
      for (const scope of required(id, route)) {
        const others = scopes.filter((one) => one !== scope).join(' ');
        expect(await lacking(test.as({ scope: others }), route), scope).toBe(scope);
      }
    },
  );

  it.each(guarded.filter(([, { events }]) => events === undefined))(
    '%s is open to a token with its own scope alone, and to no other single scope',
    async (id, route) => {
      const needed = required(id, route);
      expect(await lacking(test.as({ scope: needed.join(' ') }), route)).toBeUndefined();
      for (const scope of [...scopes, ''].filter((one) => !needed.includes(one as Scope)))
        expect(await lacking(test.as({ scope }), route), scope).toBe(needed[0]);
    },
  );

  it('of the own market requires no admin in a simulation of the tenant', async () => {
    const client = await inside('simulate');
    for (const [id, route] of guarded)
      if (OF_ALL_TENANTS.has(id)) expect(await lacking(client, route), id).toBeUndefined();
  });

  it('requires operator for the cluster and for figures and limits of the server alone', () => {
    const guardedBy = guarded.filter(([, { scope }]) => scope === 'operator').map(([id]) => id);
    expect(guardedBy).toEqual(['getCluster', 'getServer', 'updateServerLimits']);
  });
});

describe('a token without operator', () => {
  it('reads no name or id of another tenant on any route, whatever its other scopes', async () => {
    const other = test.as({ tenantId: 'the-other-tenant' });
    const { portfolioId } = (await openPortfolio(other)) as { portfolioId: string };
    await other.post('/v1/orders', { ...orderBody(portfolioId), limitPrice: 1 });
    const { body } = await other.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      name: 'secret-name',
    });
    const traces = ['the-other-tenant', 'secret-name', portfolioId, String(body.simulationId)];
    const operator = test.as({ scope: 'operator' });
    const cluster = await operator.get('/v1/cluster');
    expect(cluster.status).toBe(200);
    expect(JSON.stringify(cluster.body)).toContain('the-other-tenant');
    const rest = test.as({ scope: scopes.filter((scope) => scope !== 'operator').join(' ') });
    expect(await rest.get('/v1/cluster')).toMatchObject({
      status: 403,
      body: { error: { code: 'INSUFFICIENT_SCOPE', requiredScope: 'operator' } },
    });
    expect((await rest.get('/v1/cluster?tenantId=the-other-tenant')).body).toEqual(
      (await rest.get('/v1/cluster?tenantId=unknown')).body,
    );
    for (const client of [rest, test.withToken(undefined)])
      for (const [id, route] of routeEntries) {
        if (route.method !== 'GET' || route.events !== undefined) continue;
        const { body: shown } = await client.inject({ method: 'GET', url: pathOf(route) });
        const text = JSON.stringify(shown);
        for (const trace of traces) expect(text.includes(trace), `${id}: ${trace}`).toBe(false);
      }
  });

  it('gives operator to none of the tokens that it requests', async () => {
    const rest = test.as({ scope: 'trade read simulate admin' });
    const made = await rest.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const agent = await rest.post('/v1/auth/agent-token', { level: 'control' });
    for (const token of [made.body.token, agent.body.token])
      expect((await test.withToken(token as string).get('/v1/cluster')).status).toBe(403);
    // An operator's agent is none either.
    const own = await test.as().post('/v1/auth/agent-token', { level: 'control' });
    expect((await test.withToken(own.body.token as string).get('/v1/cluster')).status).toBe(403);
    // Nor is a token of one simulation, which programs get.
    const created = await test.as().post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const forked = await test.as().post(`/v1/simulations/${created.body.simulationId as string}/forks`, {});
    const again = await test.as().post('/v1/simulations/main/token');
    for (const { body } of [created, forked, again])
      expect((await test.withToken(body.token as string).get('/v1/cluster')).status).toBe(403);
  });
});
