/**
 * How an operator's command reaches the running server, which alone may write to its data directory: a port of the loopback
 * interface, and a secret that whoever can read the data directory has. Both are drawn anew at each start.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Access, AccessRefused } from './access.js';
import { executeKeyRequest, type KeyRequest } from './key-request.js';

const FILE = 'operator.json';
const LONGEST_ORDER = 65_536;
const ANSWER_MS = 5000;

interface OperatorEndpoint {
  readonly url: string;
  readonly secret: string;
}

/** Opens the door. Returns how to close it. */
export async function openOperatorEndpoint(dataDir: string, access: Access): Promise<() => Promise<void>> {
  const secret = randomBytes(32).toString('base64url');
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(body));
    };
    if (!isBearer(request.headers.authorization, secret)) return answer(401, { error: 'Unauthorized' });
    textOf(request)
      .then((text) => executeKeyRequest(access, JSON.parse(text) as KeyRequest))
      .then(
        (done) => answer(200, { done }),
        (error: unknown) =>
          error instanceof AccessRefused
            ? answer(409, { error: error.message })
            : answer(500, { error: String(error) }),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  server.unref();
  const path = join(dataDir, FILE);
  const draft = `${path}.${process.pid}`;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, JSON.stringify({ url, secret } satisfies OperatorEndpoint), { mode: 0o600 });
  renameSync(draft, path);
  return async () => {
    rmSync(path, { force: true });
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  };
}

/** Has an order carried out by the server that uses the directory. Throws `AccessRefused` with what it, or its silence, says. */
export async function callOperatorEndpoint(dataDir: string, order: KeyRequest): Promise<unknown> {
  const { url, secret } = doorIn(dataDir);
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify(order),
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((error: unknown) => {
    throw new AccessRefused(`the server that uses ${dataDir} does not answer: try again`, { cause: error });
  });
  const { done, error } = (await response.json()) as { readonly done?: unknown; readonly error?: string };
  if (error !== undefined) throw new AccessRefused(error);
  return done;
}

function doorIn(dataDir: string): OperatorEndpoint {
  try {
    return JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as OperatorEndpoint;
  } catch (error) {
    throw new AccessRefused(
      `another process uses ${dataDir} and takes no orders: a server that is starting does a moment later`,
      { cause: error },
    );
  }
}

function isBearer(header: string | undefined, secret: string): boolean {
  const given = Buffer.from(header ?? '');
  const right = Buffer.from(`Bearer ${secret}`);
  return given.length === right.length && timingSafeEqual(given, right);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    const bytes = part as Buffer;
    length += bytes.length;
    if (length > LONGEST_ORDER) throw new AccessRefused('the order is too long');
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString();
}
