import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TenantPlacement } from '../../cluster/tenant-placement.js';
import type { Ownership } from '../../store/ownership.js';
import { openPostgresStore } from '../../store/postgres/postgres-store.js';
import { projectRecord } from '../../store/projection.js';
import { gate } from '../../testing/gate.js';
import { newDatabase } from '../../testing/test-database.js';
import { refuse } from '../answer.js';
import { UNDER_WAY } from '../idempotency.js';
import { NOT_OWNER, REFUSED } from './forwarding.js';
import { Gateway } from './gateway.js';
import { keyOfNodes, signedHeaders } from './node-auth.js';

const TENANT = 'tenant-1';
const KEY = { secret: 'the secret of the nodes', nowMs: () => Date.now() };

describe('A gateway', () => {
  let database: string;
  /** A node that owns the tenant. */
  let ownership: Ownership;
  let url: string;
  const notes: string[] = [];
  const ends: (() => unknown)[] = [];
  /** The node can load a tenant. */
  let mayEnter: Promise<void>;
  /** Answers a request on that node. */
  let local: (request: IncomingMessage, response: ServerResponse) => void;

  const losing = async (): Promise<void> => ownership.give([TENANT], undefined);

  async function open(node: string) {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const opened = await openPostgresStore({
      url: database,
      projection: projectRecord,
      node,
      cluster: { url: at, version: '1', facts: {} },
    });
    ends.push(
      () => server.close(),
      () => opened.close(),
    );
    const owning = opened.ownership;
    if (owning === undefined) throw new Error('no cluster');
    await owning.declare([]);
    await owning.look();
    const placement = new TenantPlacement(owning, false);
    placement.open({
      enter: () => mayEnter,
      dismiss: () => undefined,
      leave: () => Promise.resolve(),
    });
    const asker = { tenantId: TENANT, simulationId: 'main' };
    const gateway = new Gateway({
      nodeId: node,
      key: KEY,
      placement,
      askers: {
        bearer: () => Promise.resolve(asker),
        keyPair: () => Promise.resolve(asker),
        ticket: () => asker,
        organizer: () => Promise.resolve(undefined),
        refresh: () => Promise.resolve(),
      },
      answerNode: () => Promise.resolve(undefined),
      note: (text) => notes.push(text),
    });
    server.on('request', (request, response) => gateway.handle(request, response, local));
    return { url: at, ownership: owning, placement, server };
  }

  beforeEach(async () => {
    mayEnter = Promise.resolve();
    database = await newDatabase();
    const owner = await open('a');
    ({ ownership, url } = owner);
    expect(await owner.placement.serves(TENANT)).toBe(true);
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const ask = (headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${url}/v1/orders`, { headers: { authorization: 'Bearer token', ...headers } });

  it('whose node loses a tenant while it answers sends 503 in place of what it knows, and a whole answer while it is the owner', async () => {
    local = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"isOf":');
      response.end('"the owner"}');
    };
    expect(await (await ask()).json()).toEqual({ isOf: 'the owner' });
    local = (_, response) =>
      void losing().then(() => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"isOf":');
        response.end('"an earlier owner"}');
      });
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ statusCode: 503, message: 'Service unavailable' });
  });

  it('whose node loses a tenant while it answers ends the connection of a forwarded request, whose answer counts as lost then', async () => {
    const forwarded = (): Promise<Response> =>
      ask(signedHeaders(KEY, 'GET', '/v1/orders', { from: 'b', tenantId: TENANT, client: '127.0.0.1' }));
    local = (_, response) => response.writeHead(204).end();
    expect((await forwarded()).status).toBe(204);
    local = (_, response) => void losing().then(() => response.writeHead(200).end('an earlier owner'));
    await expect(forwarded()).rejects.toThrow('fetch failed');
    local = (_, response) => response.writeHead(204).end();
    expect((await forwarded()).status).toBe(204);
  });

  it('lets a node whose clock differs send its request again, and blames a CLUSTER_SECRET only for a wrong signature', async () => {
    local = (_, response) => response.writeHead(204).end();
    const signedWith = (key: typeof KEY): Promise<Response> =>
      ask(signedHeaders(key, 'GET', '/v1/orders', { from: 'b', tenantId: TENANT, client: '127.0.0.1' }));
    const late = await signedWith({ ...KEY, nowMs: () => Date.now() + 180_000 });
    expect([late.status, late.headers.get(NOT_OWNER)]).toEqual([421, '1']);
    expect(notes.join()).toContain('signed more than two minutes from now');
    expect(notes.join()).not.toContain('CLUSTER_SECRET');
    const foreign = await signedWith({ ...KEY, secret: 'another secret' });
    expect([foreign.status, foreign.headers.get(REFUSED)]).toEqual([403, '1']);
    expect(notes.join()).toContain("not signed with this node's CLUSTER_SECRET");
    // Nodes sign with the time of the database.
    const own = keyOfNodes(KEY.secret, ownership);
    const wrong = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 180_000);
    const signed = signedWith(own);
    wrong.mockRestore();
    expect((await signed).status).toBe(204);
  });

  it('asks again while the owner still does the keyed request whose connection was lost', async () => {
    const { url: other } = await open('b');
    const place = (): Promise<Response> =>
      fetch(`${other}/v1/orders`, {
        method: 'POST',
        body: '{}',
        headers: { authorization: 'Bearer token', 'idempotency-key': 'k1' },
      });
    const underWay = refuse(409, UNDER_WAY);
    const answers: ((response: ServerResponse) => void)[] = [
      (response) => response.destroy(),
      (response) => response.writeHead(409, { 'content-length': underWay.text.length }).end(underWay.text),
      (response) => response.writeHead(201, { 'content-length': 2 }).end('{}'),
    ];
    local = (_, response) => answers.shift()?.(response);
    expect((await place()).status).toBe(201);
    expect(answers).toEqual([]);
    // A client's own repetition is answered at once.
    local = (_, response) =>
      response.writeHead(409, { 'content-length': underWay.text.length }).end(underWay.text);
    expect((await place()).status).toBe(409);
  });

  it('drops a forwarded request whose sender has left before the tenant was loaded, so that it does not delay a handover', async () => {
    const { url: at, placement, server } = await open('b');
    await ownership.give([TENANT], undefined);
    const [isAsked, isLeft] = [gate(), gate()];
    server.prependOnceListener('request', (_, response: ServerResponse) => {
      response.once('close', isLeft.open);
      isAsked.open();
    });
    const isLoaded = gate();
    mayEnter = isLoaded.passed;
    let served = 0;
    local = () => served++;
    const leaving = new AbortController();
    const headers = signedHeaders(KEY, 'GET', '/v1/orders', {
      from: 'c',
      tenantId: TENANT,
      client: '127.0.0.1',
    });
    const asked = fetch(`${at}/v1/orders`, { headers, signal: leaving.signal });
    await isAsked.passed;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await isLeft.passed;
    isLoaded.open();
    expect(await placement.serves(TENANT)).toBe(true);
    const began = performance.now();
    await placement.handOverAll(() => undefined);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(served).toBe(0);
  });
});
