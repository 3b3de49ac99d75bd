import { once } from 'node:events';
import { createServer, request as requestHttp, type IncomingMessage, type Server } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { certify } from './authority.js';
import { RunProxy, type ProxyOptions } from './proxy.js';
import { servedBrokers } from './served-brokers.js';

const BROKERS = await servedBrokers();
const HOSTS = BROKERS.flatMap(({ hosts }) => hosts);
const PAPER = 'paper-api.alpaca.markets';
const DATA = 'data.alpaca.markets';

const opened: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

interface Opened {
  readonly proxy: RunProxy;
  readonly ca: string;
  readonly lines: string[];
  /** Paths that the server behind the proxy received. */
  readonly asked: string[];
  readonly target: Server;
}

async function open(options: Partial<ProxyOptions> = {}): Promise<Opened> {
  const asked: string[] = [];
  const target = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    if (request.method === 'POST') response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: 'insufficient buying power' }));
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  opened.push({ close: () => target.close() });
  const { ca, cert, key } = certify(HOSTS);
  const lines: string[] = [];
  const proxy = await RunProxy.open({
    brokers: BROKERS,
    certificate: { cert, key },
    target: new URL(`http://127.0.0.1:${(target.address() as AddressInfo).port}`),
    allowNetwork: false,
    allowLoopback: true,
    onRefused: (line) => lines.push(line),
    ...options,
  });
  opened.push(proxy);
  return { proxy, ca, lines, asked, target };
}

interface Connected {
  readonly status: number;
  readonly body: string;
  readonly socket: Socket;
}

/** Sends CONNECT; resolves with the answer. */
async function connectTo({ proxy }: Opened, authority: string): Promise<Connected> {
  const socket = connect(proxy.port, '127.0.0.1');
  opened.push({ close: () => socket.destroy() });
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [data] = (await once(socket, 'data')) as [Buffer];
  const text = data.toString('latin1');
  const status = Number(text.slice(9, 12));
  return { status, body: text.slice(text.indexOf('\r\n\r\n') + 4).trim(), socket };
}

/** A GET over TLS in a tunnel. */
function getIn(
  { ca }: Opened,
  { socket }: Connected,
  servername: string,
  host = servername,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const tunneled = connectTls({ socket, servername, ca }, () => {
      requestHttps({ host, path: '/v2/clock', createConnection: () => tunneled }, (reply) => {
        reply.resume();
        resolve(reply);
      })
        .once('error', reject)
        .end();
    });
    tunneled.once('error', reject);
  });
}

describe('the proxy of a run', () => {
  it.each([`${PAPER}:443`, 'PAPER-API.Alpaca.Markets:443', `${PAPER}.:443`, `${PAPER}:8443`])(
    'serves CONNECT %s from the dialect',
    async (authority) => {
      const run = await open();
      const connected = await connectTo(run, authority);
      expect(connected.status).toBe(200);
      expect((await getIn(run, connected, PAPER)).statusCode).toBe(200);
      expect(run.asked).toEqual(['GET /alpaca/v2/clock']);
      expect([...run.proxy.requests]).toEqual([[PAPER, 1]]);
    },
  );

  it.each(['api.robinhood.com', 'API.RobinHood.com', 'api.robinhood.com.', 'broker-api.alpaca.markets'])(
    'blocks %s with 403 and one line',
    async (host) => {
      const run = await open({ allowNetwork: true });
      const name = host.toLowerCase().replace(/\.$/, '');
      const line = `blocked: ${name} is a broker's host that Sandpit does not serve`;
      for (let i = 0; i < 2; i += 1)
        expect(await connectTo(run, `${host}:443`)).toMatchObject({ status: 403, body: line });
      expect(run.lines).toEqual([line]);
      expect([...run.proxy.blocked]).toEqual([[name, 2]]);
    },
  );

  it.each(['example.com:443', '203.0.113.1:443', '[2001:db8::1]:443', 'notalpaca.markets.example.org:443'])(
    'refuses %s without --allow-network',
    async (authority) => {
      const run = await open();
      expect((await connectTo(run, authority)).status).toBe(403);
      expect(run.lines).toHaveLength(1);
    },
  );

  it.each([
    'example.com',
    ':443',
    'example.com:0',
    'example.com:65536',
    'ex ample.com:443',
    '[::1:443',
    'a..:1',
  ])('answers 400 to CONNECT %j', async (authority) => {
    const run = await open();
    expect((await connectTo(run, authority)).status).toBe(400);
  });

  it('serves the host that TLS names, if it is listed too', async () => {
    const run = await open();
    const reply = await getIn(run, await connectTo(run, `${PAPER}:443`), DATA);
    expect(reply.statusCode).toBe(200);
    expect([...run.proxy.requests]).toEqual([[DATA, 1]]);
  });

  it('ends TLS for a host that is not listed, whatever CONNECT has named', async () => {
    const run = await open();
    const connected = await connectTo(run, `${PAPER}:443`);
    await expect(getIn(run, connected, 'api.robinhood.com')).rejects.toThrow();
    expect(run.asked).toEqual([]);
  });

  it('answers 421 to a request for another host on a served connection', async () => {
    const run = await open();
    const reply = await getIn(run, await connectTo(run, `${PAPER}:443`), PAPER, 'api.robinhood.com');
    expect(reply.statusCode).toBe(421);
    expect(run.asked).toEqual([]);
  });

  it('blocks a broker that TLS names in a tunnel to another host', async () => {
    const run = await open({ allowNetwork: true });
    const { status, socket } = await connectTo(run, '198.51.100.1:443');
    expect(status).toBe(200);
    const tunneled = connectTls({ socket, servername: 'api.tastyworks.com' });
    tunneled.once('error', () => undefined);
    await once(socket, 'close');
    expect(run.lines).toEqual(["blocked: api.tastyworks.com is a broker's host that Sandpit does not serve"]);
  });

  it('answers TLS without CONNECT, for clients that are redirected', async () => {
    const run = await open();
    const socket: TLSSocket = connectTls({
      host: '127.0.0.1',
      port: run.proxy.tlsPort,
      servername: PAPER,
      ca: run.ca,
    });
    opened.push({ close: () => socket.destroy() });
    await once(socket, 'secureConnect');
    socket.write(`GET /v2/clock HTTP/1.1\r\nHost: ${PAPER}\r\n\r\n`);
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1\.1 200 /);
    // A whole URL, as old clients send it to what they think is a proxy.
    const again = once(run.target, 'request');
    socket.write(`GET https://${PAPER}/v2/assets?a=b HTTP/1.1\r\nHost: ${PAPER}\r\n\r\n`);
    await again;
    expect(run.asked).toEqual(['GET /alpaca/v2/clock', 'GET /alpaca/v2/assets?a=b']);
  });

  it.each(['http', 'https'])('serves a request for a whole %s URL', async (scheme) => {
    const run = await open();
    const ask = async (url: string): Promise<number | undefined> => {
      const sent = requestHttp({ host: '127.0.0.1', port: run.proxy.port, path: url });
      const [reply] = (await once(sent.end(), 'response')) as [IncomingMessage];
      reply.resume();
      return reply.statusCode;
    };
    expect(await ask(`${scheme}://${PAPER}/v2/account?a=b`)).toBe(200);
    expect(run.asked).toEqual(['GET /alpaca/v2/account?a=b']);
    expect(await ask(`${scheme}://api.robinhood.com/`)).toBe(403);
    expect(await ask(`${scheme}://example.com/`)).toBe(403);
    expect(await ask('/v2/account')).toBe(400);
  });

  it('blocks a broker that a header names in a request to an address', async () => {
    const run = await open({ allowNetwork: true });
    const headers = { host: 'api.robinhood.com' };
    const path = 'http://198.51.100.1/';
    const sent = requestHttp({ host: '127.0.0.1', port: run.proxy.port, path, headers });
    const [reply] = (await once(sent.end(), 'response')) as [IncomingMessage];
    reply.resume();
    expect(reply.statusCode).toBe(403);
    expect(run.lines).toEqual(["blocked: api.robinhood.com is a broker's host that Sandpit does not serve"]);
  });

  it('reaches loopback, or nothing of it but the server', async () => {
    const other = createServer((_, response) => response.end('other'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    opened.push({ close: () => other.close() });
    const { port } = other.address() as AddressInfo;
    const run = await open();
    expect((await connectTo(run, `127.0.0.1:${port}`)).status).toBe(200);
    const isolated = await open({ allowLoopback: false });
    expect((await connectTo(isolated, `127.0.0.1:${port}`)).status).toBe(403);
    expect((await connectTo(isolated, `localhost:${port}`)).status).toBe(403);
    const own = (isolated.target.address() as AddressInfo).port;
    expect((await connectTo(isolated, `127.0.0.1:${own}`)).status).toBe(200);
  });

  it('ends connections that send their head too slowly, and answers 431 to a long one', async () => {
    const run = await open({ headWithinMs: 200 });
    for (const port of [run.proxy.port, run.proxy.tlsPort]) {
      const slow = connect(port, '127.0.0.1').on('error', () => undefined);
      slow.write(port === run.proxy.port ? `CONNECT ${PAPER}:443 HTTP/1.1\r\n` : '\x16');
      slow.resume();
      await once(slow, 'close');
    }
    const tunnel = await connectTo(run, `${PAPER}:443`);
    tunnel.socket.resume();
    await once(tunnel.socket, 'close');
    const long = connect(run.proxy.port, '127.0.0.1').on('error', () => undefined);
    long.write(`CONNECT ${PAPER}:443 HTTP/1.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
    const [data] = (await once(long, 'data')) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1\.1 431 /);
    long.destroy();
  });

  it('counts refused orders by the message of their answer', async () => {
    const run = await open();
    const { socket } = await connectTo(run, `${PAPER}:443`);
    const tunneled = connectTls({ socket, servername: PAPER, ca: run.ca });
    await once(tunneled, 'secureConnect');
    tunneled.write(`POST /v2/orders HTTP/1.1\r\nHost: ${PAPER}\r\nContent-Length: 2\r\n\r\n{}`);
    const [data] = (await once(tunneled, 'data')) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1\.1 403 /);
    expect([...run.proxy.refusals]).toEqual([['insufficient buying power', 1]]);
  });

  it('answers 502 while its server is away', async () => {
    const run = await open({ target: new URL('http://127.0.0.1:9') });
    expect((await getIn(run, await connectTo(run, `${PAPER}:443`), PAPER)).statusCode).toBe(502);
  });

  it('ends every connection when it closes', async () => {
    const run = await open();
    const { socket } = await connectTo(run, `${PAPER}:443`);
    const over = once(socket.resume(), 'close');
    opened.splice(opened.indexOf(run.proxy), 1);
    await run.proxy.close();
    await over;
  });
});
