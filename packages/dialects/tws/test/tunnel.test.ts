/** Ports of the command line, which lead through a WebSocket to a server. */
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TwsPorts } from '../../../cli/src/tws-ports.js';
import { openPortfolio } from '../../../server/src/testing/test-app.js';
import { frameOfText, openTwsAccount, placeOrder, stock, type TwsAccount, WireClient } from './account.js';

let opened: TwsAccount;
let url: string;
const refused: string[] = [];
const ports: TwsPorts[] = [];

beforeAll(async () => {
  opened = await openTwsAccount();
  await opened.test.app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(opened.test.app.server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  for (const one of ports) one.close();
  await opened.test.close();
});

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function portFor(token: string, portfolioId = opened.portfolioId): Promise<number> {
  const port = await freePort();
  const onRefused = (reason: string): void => void refused.push(reason);
  ports.push(
    await TwsPorts.open({ url, token: () => Promise.resolve(token), portfolioId, ports: [port], onRefused }),
  );
  return port;
}

it('a port of the command line: orders and answers pass, and the client id is that of the portfolio', async () => {
  const client = await WireClient.open(await portFor(opened.owner.token ?? ''), 3);
  client.send(...placeOrder(1, stock('AAPL')));
  await client.status(1, 'Submitted');
  const second = new WireClient(opened.port);
  second.write(Buffer.concat([Buffer.from('API\0'), frameOfText('v157..178')]));
  second.send(71, 2, 3, '');
  expect((await second.error(-1))[0]).toBe('326');
  client.write(Buffer.alloc(200_000, 1));
  await client.closed;
});

it('a port of the command line: a wrong token and the portfolio of another tenant are refused', async () => {
  const other = (await openPortfolio(opened.test.as({ tenantId: 'tenant-2' }))) as { portfolioId: string };
  const wrong = [
    await portFor('nothing'),
    await portFor(opened.owner.token ?? '', other.portfolioId),
    await portFor(opened.owner.token ?? '', 'no id'),
  ];
  for (const port of wrong) {
    const client = new WireClient(port);
    client.write(Buffer.concat([Buffer.from('API\0'), frameOfText('v157..178')]));
    await client.closed;
    expect(client.inbox).toEqual([]);
  }
  expect(refused).toEqual(['the credential is not valid', 'portfolio not found', 'portfolio not found']);
});

it('a port of the command line: a token without the scope trade reads and cannot trade; revoking a key pair ends its connection', async () => {
  const reader = await WireClient.open(await portFor(opened.test.as({ scope: 'read' }).token ?? ''), 7);
  reader.send(61, 1);
  await reader.next((fields) => fields[0] === '62');
  reader.send(...placeOrder(77, stock('AAPL')));
  expect((await reader.error(77))[0]).toBe('201');
  reader.end();
  const path = `/v1/accounts/portfolios/${opened.portfolioId}/key-pairs`;
  const { body } = await opened.owner.post(path);
  const { keyId, secretKey } = body as { keyId: string; secretKey: string };
  const client = await WireClient.open(await portFor(`${keyId}.${secretKey}`), 8);
  await opened.owner.delete(`${path}/${keyId}`);
  await client.closed;
});

it('a port in use rejects, and closes those that were opened', async () => {
  const [free, used] = [await freePort(), opened.port];
  const parts = {
    url,
    token: () => Promise.resolve(''),
    portfolioId: opened.portfolioId,
    onRefused: () => undefined,
  };
  await expect(TwsPorts.open({ ...parts, ports: [free, used] })).rejects.toThrow(`port ${used} is in use`);
  (await TwsPorts.open({ ...parts, ports: [free] })).close();
});
