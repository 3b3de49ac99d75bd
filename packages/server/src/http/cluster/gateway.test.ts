import alpaca from '@sandpit/dialect-alpaca';
import paperInvest from '@sandpit/dialect-paper-invest';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TenantPlacement } from '../../cluster/tenant-placement.js';
import type { Ownership } from '../../store/ownership.js';
import { openPostgresStore } from '../../store/postgres/postgres-store.js';
import { execute } from '../../testing/database-copies.js';
import { gate } from '../../testing/gate.js';
import { newDatabase } from '../../testing/test-database.js';
import { refuse } from '../answer.js';
import { addressOf } from '../client-address.js';
import { UNDER_WAY } from '../idempotency.js';
import { NOT_OWNER, REFUSED } from './forwarding.js';
import { Gateway } from './gateway.js';
import { digestOf, frameKeyOf, keyOfNodes, signedHeaders } from './node-auth.js';
import type { NodeKey, NodeRequest } from './node-auth.js';
import { NodeListener } from './node-listener.js';
import { Bodies } from '../bodies/bodies.js';
import { signWhole } from './signed-body.js';

const TENANT = 'tenant-1';
const MIB = 1_048_576;
const SECRET = 'the secret of the nodes';

describe('A gateway', () => {
  let database: string;
  /** A node that owns the tenant. */
  let ownership: Ownership;
  /** For clients, and for other nodes. */
  let url: string;
  let nodeUrl: string;
  /** Messages of nodes that the node has answered. */
  let told: [path: string, body: string][];
  /** Limits of the next listener, if not its own. */
  let listening: { headersTimeout: number; connectionsCheckingInterval: number } | undefined;
  const notes: string[] = [];
  const ends: (() => unknown)[] = [];
  /** The node can load a tenant. */
  let mayEnter: Promise<void>;
  /** Is shown each request of another node as it arrives. */
  let seen: ((response: ServerResponse) => void) | undefined;
  /** Answers a request on that node. */
  let local: (request: IncomingMessage, response: ServerResponse) => void;

  const losing = async (): Promise<void> => ownership.release([TENANT], undefined);

  /** Limits of the bodies that the next node forwards. */
  let limits: { readonly bytesPerTenant: number; readonly mostHeld: number };
  let monotonicMs = 0;

  async function open(node: string) {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const listener = await NodeListener.open(0, '127.0.0.1', '127.0.0.1', listening);
    const at = `http://127.0.0.1:${listener.port}`;
    const opened = await openPostgresStore({
      url: database,
      node,
      cluster: { url: at, version: '1', facts: {} },
    });
    ends.push(
      () => server.close(),
      () => listener.detach(),
      () => listener.close(),
      () => opened.close(),
    );
    const owning = opened.ownership;
    if (owning === undefined) throw new Error('no cluster');
    await owning.declare([]);
    await owning.poll();
    const placed = new TenantPlacement(owning, false);
    placed.open({
      enter: () => mayEnter,
      dismiss: () => undefined,
      leave: () => Promise.resolve(),
    });
    const askerOf = (tenantId = TENANT) =>
      Promise.resolve({ tenantId, simulationId: 'main', countedAs: tenantId });
    const bodies = new Bodies(limits.bytesPerTenant, () => monotonicMs, limits.mostHeld);
    const gateway = new Gateway({
      nodeId: node,
      key: keyOfNodes(SECRET, owning),
      placement: placed,
      askers: {
        bearer: (header) => askerOf(/^Bearer (tenant-.*)/.exec(header)?.[1]),
        keyPair: () => askerOf(),
        grant: () => askerOf(),
        keyId: () => askerOf(),
        ticket: () => askerOf(),
        dialects: [alpaca, paperInvest],
        organizer: () => Promise.resolve(undefined),
        hasData: () => Promise.resolve(true),
        changesMarket: () => false,
        effectOf: () => 'stores',
        refresh: () => Promise.resolve(),
      },
      bodies,
      planOf: (_, path) =>
        path === '/v1/simulations/import' ? 'stream' : { mostBytes: 8 * MIB, lists: new Set() },
      isLive: async (incarnation) => {
        await owning.poll();
        return owning.nodes.some((one) => one.incarnation === incarnation);
      },
      answerNode: (path, body) => {
        told.push([path, body.toString()]);
        return Promise.resolve({ isTold: true });
      },
      note: (text) => notes.push(text),
    });
    server.on('request', (request, response) => gateway.handle(request, response, local));
    listener.attach({
      request: (request, response) => {
        seen?.(response);
        gateway.handleNode(request, response, local);
      },
      upgrade: (request, socket, head) =>
        gateway.handleNodeUpgrade(request, socket, head, () => socket.end('HTTP/1.1 101 Opened\r\n\r\n')),
    });
    const port = (server.address() as AddressInfo).port;
    return {
      url: `http://127.0.0.1:${port}`,
      nodeUrl: at,
      ownership: owning,
      placement: placed,
      listener,
      bodies,
    };
  }

  beforeEach(async () => {
    mayEnter = Promise.resolve();
    limits = { bytesPerTenant: 256 * MIB, mostHeld: 256 * MIB };
    monotonicMs = 0;
    told = [];
    seen = undefined;
    listening = undefined;
    notes.length = 0;
    database = await newDatabase();
    const owner = await open('a');
    ({ ownership, url, nodeUrl } = owner);
    expect(await owner.placement.serves(TENANT)).toBe(true);
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const ask = (headers: Readonly<Record<string, string>> = {}, at = url): Promise<Response> =>
    fetch(`${at}/v1/orders`, { headers: { authorization: 'Bearer token', ...headers } });

  /** The key of the node itself, which is live. */
  const ownKey = (): NodeKey => keyOfNodes(SECRET, ownership);
  const signed = (
    more: Partial<NodeRequest> = {},
    { key = ownKey(), method = 'GET', path = '/v1/orders' } = {},
  ): Record<string, string> =>
    signedHeaders(key, method, path, {
      kind: 'client',
      to: ownership.incarnation,
      tenantId: TENANT,
      client: '192.0.2.7',
      body: { digest: digestOf(undefined) },
      ...more,
    });

  it('a node that loses a tenant while it answers sends 503, and a whole answer while it is the owner', async () => {
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

  it('a node that loses a tenant while it answers closes a forwarded request, whose answer then counts as lost', async () => {
    const forwarded = (): Promise<Response> => ask(signed(), nodeUrl);
    local = (_, response) => response.writeHead(204).end();
    expect((await forwarded()).status).toBe(204);
    local = (_, response) => void losing().then(() => response.writeHead(200).end('an earlier owner'));
    await expect(forwarded()).rejects.toThrow('fetch failed');
    local = (_, response) => response.writeHead(204).end();
    expect((await forwarded()).status).toBe(204);
  });

  it('lets a node whose clock differs send its request again, and blames a CLUSTER_SECRET only for a wrong signature', async () => {
    local = (_, response) => response.writeHead(204).end();
    const signedWith = (more: Partial<NodeKey>): Promise<Response> =>
      ask(signed({}, { key: { ...ownKey(), ...more } }), nodeUrl);
    for (const skewMs of [31_000, -31_000]) {
      const late = await signedWith({ nowMs: () => ownership.nowMs() + skewMs });
      expect([late.status, late.headers.get(NOT_OWNER)]).toEqual([421, '1']);
    }
    expect(notes.join()).toContain('more than 30 seconds from now');
    expect(notes.join()).not.toContain('CLUSTER_SECRET');
    const foreign = await signedWith({ secret: 'another secret' });
    expect([foreign.status, foreign.headers.get(REFUSED)]).toEqual([403, '1']);
    expect(notes.join()).toContain("not signed with this node's CLUSTER_SECRET");
    // Nodes sign with the time of the database.
    const own = ownKey();
    const wrong = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 180_000);
    const answered = signedWith(own);
    wrong.mockRestore();
    expect((await answered).status).toBe(204);
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
    const { nodeUrl: at, placement: next, ownership: owning } = await open('b');
    await ownership.release([TENANT], undefined);
    const [isAsked, isLeft] = [gate(), gate()];
    seen = (response) => {
      response.once('close', isLeft.open);
      isAsked.open();
    };
    const isLoaded = gate();
    mayEnter = isLoaded.passed;
    let served = 0;
    local = () => served++;
    const leaving = new AbortController();
    const headers = signed({ to: owning.incarnation });
    const asked = fetch(`${at}/v1/orders`, { headers, signal: leaving.signal });
    await isAsked.passed;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await isLeft.passed;
    isLoaded.open();
    expect(await next.serves(TENANT)).toBe(true);
    const began = performance.now();
    await next.handOverAll(() => undefined);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(served).toBe(0);
  });

  const paths = ['market', 'take', 'status', 'source', 'classes'].map((name) => `/cluster/${name}`);
  const post = (path: string, headers: Record<string, string>, body: Buffer | string): Promise<Response> =>
    fetch(nodeUrl + path, { method: 'POST', headers, body });
  const message = (body: Buffer | string, more: Partial<NodeRequest> = {}, path = '/cluster/acquire') =>
    signed(
      { kind: 'node', body: { digest: digestOf(Buffer.from(body)) }, ...more },
      { method: 'POST', path },
    );

  /** Sends bytes and returns the response, read until the server ends the connection. */
  async function answerTo(at: string, ...pieces: readonly (string | Buffer)[]): Promise<string> {
    const socket = connect(Number(new URL(at).port), '127.0.0.1');
    let text = '';
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (const piece of pieces) socket.write(piece);
    await closed;
    return text;
  }

  it('answers every path between nodes with 403 where a request is not signed, whatever its method', async () => {
    for (const path of [...paths, '/cluster/', '/v1/orders'])
      for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
        const refused = await fetch(nodeUrl + path, { method, headers: { authorization: 'Bearer token' } });
        expect([refused.status, refused.headers.get(REFUSED)], `${method} ${path}`).toEqual([403, '1']);
      }
    expect(told).toEqual([]);
    const body = '{"tenantIds":["ghost"]}';
    expect(await (await post('/cluster/acquire', message(body), body)).json()).toEqual({ isTold: true });
    expect(told).toEqual([['/cluster/acquire', body]]);
  });

  it('passes no request of a client to the paths between nodes, in no form of its URL, and no header of nodes to its own', async () => {
    local = (request, response) => response.writeHead(404, { 'x-url': request.url ?? '' }).end();
    const { url: other } = await open('b');
    const forms = [
      ...paths,
      '/%63luster/take',
      '//cluster/acquire',
      '/v1/../cluster/acquire',
      '/v1/%2e%2e/cluster/acquire',
      `//127.0.0.1:${new URL(nodeUrl).port}/cluster/acquire`,
      `${nodeUrl}/cluster/acquire`,
      '/cluster/acquire?ticket=t',
      '/cluster/acquire;a=b',
    ];
    const spoofed = Object.entries(message('{}'))
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    for (const at of [url, other])
      for (const form of forms)
        for (const head of ['', spoofed]) {
          const answer = await answerTo(
            at,
            `POST ${form} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer token\r\n${head}connection: close\r\ncontent-length: 2\r\n\r\n{}`,
          );
          expect(answer, `${at} ${form}`).toMatch(/^HTTP\/1.1 404 /);
        }
    expect(told).toEqual([]);
    expect(notes).toEqual([]);
  });

  it('sends the request of a client to no host that its URL names', async () => {
    let strangers = 0;
    const stranger = createServer((_, response) => {
      strangers += 1;
      response.end();
    });
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    ends.push(() => stranger.close());
    const { port } = stranger.address() as AddressInfo;
    const { url: other } = await open('b');
    const urls: (string | undefined)[] = [];
    local = (request, response) => {
      urls.push(request.url);
      response.writeHead(204).end();
    };
    for (const form of [`http://127.0.0.1:${port}/v1/orders?a=b`, `//127.0.0.1:${port}/v1/orders`])
      for (const at of [url, other])
        await answerTo(
          at,
          `GET ${form} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer token\r\nconnection: close\r\n\r\n`,
        );
    expect(strangers).toBe(0);
    expect(urls).toEqual([
      '/v1/orders?a=b',
      '/v1/orders?a=b',
      `//127.0.0.1:${port}/v1/orders`,
      `//127.0.0.1:${port}/v1/orders`,
    ]);
  });

  it('ignores headers of nodes that a client sends: sender, tenant and client are its own', async () => {
    const addresses: string[] = [];
    local = (request, response) => {
      addresses.push(addressOf({ raw: request, ip: request.socket.remoteAddress } as FastifyRequest));
      response.writeHead(204).end();
    };
    expect((await ask(signed({ tenantId: 'tenant-2', client: '203.0.113.9' }))).status).toBe(204);
    expect((await ask(signed({ client: '203.0.113.9' }), nodeUrl)).status).toBe(204);
    expect(addresses.map((one) => one.replace('::ffff:', ''))).toEqual(['127.0.0.1', '203.0.113.9']);
    const { url: other } = await open('b');
    expect((await ask(signed({ tenantId: 'tenant-2', client: '203.0.113.9' }), other)).status).toBe(204);
    expect(addresses.at(-1)?.replace('::ffff:', '')).toBe('127.0.0.1');
  });

  it('accepts a signature once, and for no other method, URL, tenant, client, kind, receiver or body', async () => {
    local = (_, response) => response.writeHead(204).end();
    const headers = signed();
    expect((await ask(headers, nodeUrl)).status).toBe(204);
    expect((await ask(headers, nodeUrl)).status).toBe(421);
    const same = await fetch(`${nodeUrl}/v1/orders`, { method: 'HEAD', headers: signed() });
    expect(same.status).toBe(403);
    const elsewhere = await fetch(`${nodeUrl}/v1/orders?limit=1`, { headers: signed() });
    expect(elsewhere.status).toBe(403);
    for (const [field, value] of [
      ['tenantId', 'tenant-2'],
      ['client', '203.0.113.9'],
      ['from', ownership.incarnation + 1],
      ['kind', 'node'],
      ['at', Date.now() + 1],
    ] as const) {
      const { 'x-sandpit-forwarded': said = '', ...rest } = signed();
      const declared = JSON.parse(Buffer.from(said, 'base64url').toString()) as object;
      const forged = Buffer.from(JSON.stringify({ ...declared, [field]: value })).toString('base64url');
      expect((await ask({ ...rest, 'x-sandpit-forwarded': forged }, nodeUrl)).status, field).toBe(403);
    }
    expect((await ask(signed({ to: ownership.incarnation + 1 }), nodeUrl)).status).toBe(421);
    expect((await post('/cluster/acquire', message('{"a":1}'), '{"a":2}')).status).toBe(403);
    // A message of a node is no request of a client, and the reverse.
    expect((await post('/v1/orders', message('{}', {}, '/v1/orders'), '{}')).status).toBe(200);
    expect(told.splice(0)).toEqual([['/v1/orders', '{}']]);
    expect((await post('/cluster/acquire', message('{}', { kind: 'client' }), '{}')).status).toBe(204);
    expect(told).toEqual([]);
  });

  it('refuses what a removed node signs, and what a node signed for an earlier start of this one', async () => {
    local = (_, response) => response.writeHead(204).end();
    const other = await open('b');
    const key = { ...ownKey(), incarnation: other.ownership.incarnation };
    expect((await ask(signed({}, { key }), nodeUrl)).status).toBe(204);
    await execute(database, `UPDATE sandpit.incarnation SET struck_out = true WHERE id = ${key.incarnation}`);
    const removed = await answerTo(
      nodeUrl,
      `GET /v1/orders HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${linesOf(signed({}, { key }))}\r\n`,
    );
    expect(removed).toMatch(/^HTTP\/1.1 421 .*x-sandpit-not-owner: 1.*removed from the cluster/is);
    const message = signedHeaders(key, 'GET', '/cluster/acquire', {
      kind: 'node',
      to: ownership.incarnation,
      tenantId: '',
      client: '',
      body: { digest: digestOf(undefined) },
    });
    expect((await fetch(`${nodeUrl}/cluster/acquire`, { headers: message })).status).toBe(421);
    expect(told).toEqual([]);
    const socket = await answerTo(
      nodeUrl,
      upgrade('/alpaca/stream', signed({}, { key, path: '/alpaca/stream' })),
    );
    expect(socket).toMatch(/^HTTP\/1.1 421 /);
  });

  it('reads at most 1 MiB of a message, none of an unsigned body, and no message in frames', async () => {
    const longest = Buffer.alloc(1_048_576, 0x20);
    expect((await post('/cluster/acquire', message(longest), longest)).status).toBe(200);
    expect(told.splice(0)[0]?.[1]).toHaveLength(1_048_576);
    const longer = Buffer.alloc(1_048_577, 0x20);
    const head = (headers: Readonly<Record<string, string>>, framing: string): string =>
      `POST /cluster/acquire HTTP/1.1\r\nhost: a\r\n${linesOf(headers)}${framing}\r\n\r\n`;
    expect(await answerTo(nodeUrl, head(message(longer), 'content-length: 400000000'))).toMatch(
      /^HTTP\/1.1 413 /,
    );
    expect(
      await answerTo(nodeUrl, head(message(longer), 'transfer-encoding: chunked'), '100001\r\n', longer),
    ).toMatch(/^HTTP\/1.1 413 /);
    expect(await answerTo(nodeUrl, head({}, 'content-length: 400000000'))).toMatch(/^HTTP\/1.1 403 /);
    expect(
      await answerTo(nodeUrl, head(message('', { body: { frames: true } }), 'transfer-encoding: chunked')),
    ).toMatch(/^HTTP\/1.1 413 /);
    expect(told).toEqual([]);
  });

  it('does nothing for a body that is cut short', async () => {
    let served = 0;
    local = () => served++;
    const body = '{"tenantIds":[]}';
    for (const headers of [message(body), message(body, { kind: 'client' })]) {
      const socket = connect(Number(new URL(nodeUrl).port), '127.0.0.1');
      const isClosed = gate();
      seen = (response) => response.once('close', isClosed.open);
      socket.write(
        `POST /cluster/acquire HTTP/1.1\r\nhost: a\r\n${linesOf(headers)}content-length: ${body.length}\r\n\r\n{"ten`,
      );
      socket.end();
      socket.resume();
      await isClosed.passed;
    }
    expect([served, told]).toEqual([0, []]);
  });

  it('ends connections whose heads and bodies do not arrive, and answers others meanwhile', async () => {
    local = (_, response) => response.writeHead(204).end();
    listening = { headersTimeout: 300, connectionsCheckingInterval: 50 };
    const { nodeUrl: at } = await open('b');
    const silent = Array.from({ length: 200 }, () =>
      answerTo(at, 'POST /cluster/acquire HTTP/1.1\r\nhost: a\r\nx-drip: '),
    );
    expect((await ask(signed(), at)).status).toBe(421);
    for (const answer of await Promise.all(silent)) expect(answer).toMatch(/^HTTP\/1.1 408 /);
  });

  it('passes a long body on in signed frames, and ends the connection where a frame is not as it was signed', async () => {
    const { url: other } = await open('b');
    const long = Buffer.alloc(5_000_000, 'abcdefghij');
    let heard: Promise<{ length: string | undefined; digest: string } | undefined> =
      Promise.resolve(undefined);
    local = (asked, response) => {
      heard = (async () => {
        const pieces: Buffer[] = [];
        for await (const piece of asked) pieces.push(piece as Buffer);
        response.writeHead(204).end();
        return { length: asked.headers['content-length'], digest: digestOf(Buffer.concat(pieces)) };
      })().catch(() => undefined);
    };
    const send = async (framing: Readonly<Record<string, string>>): Promise<number | undefined> => {
      const headers = { authorization: 'Bearer token', 'content-type': 'application/x-ndjson', ...framing };
      const sending = request(`${other}/v1/simulations/import`, { method: 'POST', headers });
      const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
      for (let start = 0; start < long.length; start += 700_000)
        sending.write(long.subarray(start, start + 700_000));
      sending.end();
      const [answer] = await answered;
      answer.resume();
      return answer.statusCode;
    };
    expect(await send({ 'content-length': '5000000' })).toBe(204);
    expect(await heard).toEqual({ length: '5000000', digest: digestOf(long) });
    expect(await send({ 'transfer-encoding': 'chunked' })).toBe(204);
    expect(await heard).toEqual({ length: undefined, digest: digestOf(long) });

    const path = '/v1/simulations/import';
    const framed = async (change: (frames: Buffer[]) => readonly Buffer[]): Promise<string> => {
      heard = Promise.resolve(undefined);
      const headers = signed({ body: { frames: true } }, { method: 'POST', path });
      const signing = signWhole(frameKeyOf(SECRET, headers), Buffer.from('first'));
      let step = signing.next();
      while (step.done !== true) step = signing.next();
      const [head = Buffer.alloc(0), data = Buffer.alloc(0), last = Buffer.alloc(0)] = step.value;
      const body = Buffer.concat([...change([Buffer.concat([head, data]), last])]);
      const answer = await answerTo(
        nodeUrl,
        `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${linesOf(headers)}transfer-encoding: chunked\r\n\r\n`,
        `${body.length.toString(16)}\r\n`,
        body,
        '\r\n0\r\n\r\n',
      );
      return answer.slice(0, 12);
    };
    expect(await framed((frames) => frames)).toBe('HTTP/1.1 204');
    expect((await heard)?.digest).toBe(digestOf(Buffer.from('first')));
    expect(await framed((frames) => frames.slice(0, 1))).not.toContain('204');
    expect(await heard).toBeUndefined();
    expect(await framed(([first, last]) => [last as Buffer, first as Buffer])).not.toContain('204');
    expect(await heard).toBeUndefined();
    expect(await framed(([first, last]) => [first as Buffer, first as Buffer, last as Buffer])).not.toContain(
      '204',
    );
    const changed = await framed(([first = Buffer.alloc(0), last = Buffer.alloc(0)]) => [
      Buffer.from(first.map((byte, index) => (index === first.length - 1 ? byte ^ 1 : byte))),
      last,
    ]);
    expect(changed).not.toContain('204');
    expect(await heard).toBeUndefined();
  });

  /** Answers requests with the digests of their bodies, once `isAnswered` is open. */
  const digesting = (isAnswered = Promise.resolve()) => {
    const seenBodies: Buffer[] = [];
    local = (asked, response) => {
      void (async () => {
        const pieces: Buffer[] = [];
        for await (const piece of asked) pieces.push(piece as Buffer);
        const body = Buffer.concat(pieces);
        seenBodies.push(body);
        await isAnswered;
        response.writeHead(200, { 'content-length': '43' }).end(digestOf(body));
      })().catch(() => undefined);
    };
    return seenBodies;
  };
  const put = (at: string, body: Buffer, tenant = 'token', more = {}, method = 'PUT'): Promise<Response> =>
    fetch(`${at}/v1/orders`, {
      method,
      body,
      headers: { authorization: `Bearer ${tenant}`, ...more },
    });

  it('forwards bodies of every length whole, and repeats a long one too whose answer was lost', async () => {
    const { url: other, bodies } = await open('b');
    digesting();
    for (const length of [1, 65_535, 65_536, 65_537, 131_072, MIB + 1, 8 * MIB]) {
      const body = Buffer.alloc(length, 'abcdefghijk');
      expect(await (await put(other, body)).text(), String(length)).toBe(digestOf(body));
    }
    const long = Buffer.alloc(3 * MIB, 'x');
    const whole = local;
    let requests = 0;
    local = (asked, response) => {
      requests += 1;
      if (requests > 1) return whole(asked, response);
      asked.resume().once('end', () => response.destroy());
    };
    const answered = await put(other, long, 'token', { 'idempotency-key': 'k' }, 'POST');
    expect(await answered.text()).toBe(digestOf(long));
    expect([requests, bodies.heldBytes]).toEqual([2, 0]);
    // Without a key, and with one that a change of an order does not honor.
    for (const more of [{}, { 'idempotency-key': 'k' }]) {
      requests = 0;
      expect((await put(other, long, 'token', more)).status).toBe(503);
      expect(requests).toBe(1);
    }
  });

  it('does not forward the body of a GET', async () => {
    const { url: other } = await open('b');
    const lengths: unknown[] = [];
    local = (asked, response) => {
      lengths.push(asked.headers['content-length'], asked.headers['transfer-encoding']);
      response.writeHead(204).end();
    };
    const head = `GET /v1/orders HTTP/1.1\r\nhost: a\r\nauthorization: Bearer token\r\nconnection: close\r\n`;
    expect(await answerTo(other, `${head}content-length: 3\r\n\r\nabc`)).toMatch(/^HTTP\/1.1 204 /);
    expect(lengths).toEqual([undefined, undefined]);
  });

  it('refuses bytes of a tenant beyond its limit with 429 before it asks their owner, and forwards those of others', async () => {
    limits = { bytesPerTenant: 2 * MIB, mostHeld: 256 * MIB };
    const { url: other, placement } = await open('b');
    expect(await placement.serves('tenant-2')).toBe(true);
    const seenBodies = digesting();
    const body = Buffer.alloc(MIB, 'x');
    for (let i = 0; i < 2; i += 1) expect((await put(other, body)).status).toBe(200);
    monotonicMs += 4_000;
    const head = `PUT /v1/orders HTTP/1.1\r\nhost: a\r\nauthorization: Bearer token\r\nconnection: close\r\n`;
    const whole = [`content-length: ${MIB}\r\n\r\n`, body];
    const chunks = [`transfer-encoding: chunked\r\n\r\n${MIB.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'];
    for (const pieces of [whole, chunks]) {
      const refused = await answerTo(other, head, ...pieces);
      expect(refused).toMatch(/^HTTP\/1.1 429 .*retry-after: 6\r\n.*"code":"RATE_LIMITED","retryAfter":6/is);
    }
    expect(seenBodies).toHaveLength(2);
    expect((await put(url, body, 'tenant-2')).status).toBe(200);
    monotonicMs += 6_000;
    expect((await put(other, body)).status).toBe(200);
    const tooLong = await answerTo(other, head, `content-length: ${8 * MIB + 1}\r\n\r\n`, Buffer.alloc(MIB));
    expect(tooLong).toMatch(/^HTTP\/1.1 413 .*Body must not be larger than 8 MiB/is);
  });

  it('shares the memory of bodies by tenant: that of the tenant with the most is given up, not those of others', async () => {
    limits = { bytesPerTenant: 256 * MIB, mostHeld: 8 * MIB };
    const { url: other, bodies } = await open('b');
    expect(await (await open('c')).placement.serves('tenant-2')).toBe(true);
    // An owner that answers later: until then the bodies are in memory, so that they can be sent again.
    const isAnswered = gate();
    const seenBodies = digesting(isAnswered.passed);
    const body = Buffer.alloc(2 * MIB, 'x');
    const sent = Array.from({ length: 4 }, () => put(other, body));
    await expect.poll(() => [seenBodies.length, bodies.heldBytes]).toEqual([4, 8 * MIB]);
    const ofOther = put(other, Buffer.alloc(MIB, 'y'), 'tenant-2');
    await expect.poll(() => seenBodies.length).toBe(5);
    expect(bodies.heldBytes).toBe(7 * MIB);
    isAnswered.open();
    // Those that were given up had been sent.
    expect((await Promise.all([...sent, ofOther])).map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 200,
    ]);
    expect(bodies.heldBytes).toBe(0);
    // Bodies that do not arrive whole.
    const head = `PUT /v1/orders HTTP/1.1\r\nhost: a\r\nauthorization: Bearer token\r\n`;
    const socket = connect(Number(new URL(other).port), '127.0.0.1');
    socket.write(`${head}content-length: ${8 * MIB}\r\n\r\n`);
    socket.write(Buffer.alloc(5 * MIB));
    await expect.poll(() => bodies.heldBytes).toBeGreaterThan(4 * MIB);
    const second = put(other, Buffer.alloc(3 * MIB, 'z'), 'tenant-2');
    const [refusal] = (await once(socket, 'data')) as [Buffer];
    expect(refusal.toString()).toMatch(/^HTTP\/1.1 503 /);
    socket.destroy();
    expect((await second).status).toBe(200);
  });

  it('sends at most 16 MiB of the bodies of a tenant before they are answered', async () => {
    const { url: other } = await open('b');
    const isAnswered = gate();
    const seenBodies = digesting(isAnswered.passed);
    const bodies = Array.from({ length: 5 }, (_, i) => Buffer.alloc(5 * MIB, String(i)));
    const sent = bodies.map((body) => put(other, body));
    await expect.poll(() => seenBodies.length).toBe(3);
    isAnswered.open();
    const answers = await Promise.all(sent.map(async (one) => (await one).text()));
    expect(answers).toEqual(bodies.map(digestOf));
  });

  it('refuses a request that a node has signed for another tenant than that of its credential', async () => {
    local = (_, response) => response.writeHead(204).end();
    const asked = await ask({ ...signed(), authorization: 'Bearer tenant-2' }, nodeUrl);
    expect([asked.status, asked.headers.get(NOT_OWNER)]).toEqual([403, null]);
    expect(notes.join()).toContain('for another tenant than that of its credential');
    expect((await ask(signed(), nodeUrl)).status).toBe(204);
  });

  it('reads the path of a URL as the router does: without a fragment, and without escapes that mean nothing', async () => {
    const { url: other } = await open('b');
    const urls: unknown[] = [];
    local = (asked, response) => {
      urls.push(asked.url);
      response.writeHead(204).end();
    };
    for (const form of ['/v1/%6Frders?x=%6F', '/v1/orders#?ticket=t', '/v1/a%2Fb%zz', '/%2561'])
      await answerTo(
        other,
        `GET ${form} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer token\r\nconnection: close\r\n\r\n`,
      );
    expect(urls).toEqual(['/v1/orders?x=%6F', '/v1/orders', '/v1/a%2Fb%zz', '/%2561']);
  });

  it('opens a WebSocket that another node has signed, once, and no other upgrade', async () => {
    const path = '/alpaca/stream';
    const headers = signed({}, { path });
    expect(await answerTo(nodeUrl, upgrade(path, headers))).toMatch(/^HTTP\/1.1 101 /);
    expect(await answerTo(nodeUrl, upgrade(path, headers))).toMatch(/^HTTP\/1.1 421 /);
    expect(await answerTo(nodeUrl, upgrade(path, {}))).toMatch(/^HTTP\/1.1 403 /);
    expect(await answerTo(nodeUrl, upgrade(path, signed({}, { path: '/alpaca/v2/iex' })))).toMatch(
      /^HTTP\/1.1 403 /,
    );
    expect(await answerTo(nodeUrl, upgrade(path, signed({}, { path }), 'h2c'))).toMatch(/^HTTP\/1.1 403 /);
    expect(await answerTo(nodeUrl, 'CONNECT /cluster/acquire HTTP/1.1\r\nhost: a\r\n\r\n')).toBe('');
  });
});

const linesOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

const upgrade = (path: string, headers: Readonly<Record<string, string>>, protocol = 'websocket'): string =>
  `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n${linesOf(headers)}\r\n`;
