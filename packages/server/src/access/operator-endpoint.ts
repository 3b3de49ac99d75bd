/**
 * Endpoint through which an operator's command reaches the running server, which alone may write to its data directory. It is a port of the
 * loopback interface, protected by a secret that only readers of the data directory know. Both are drawn again at each start.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
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
export async function openOperatorEndpoint(
  dataDir: string,
  access: Access,
  tenants: TenantWork,
): Promise<() => Promise<void>> {
  const secret = randomBytes(32).toString('base64url');
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(body));
    };
    if (!isBearer(request.headers.authorization, secret)) return answer(401, { error: 'Unauthorized' });
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const name = searchParams.get('name') ?? '';
    const done =
      pathname === TENANT_EXPORT
        ? sendFile(response, tenants.export(name))
        : pathname === TENANT_IMPORT
          ? tenants.import(request)
          : pathname === TENANT_DELETE
            ? tenants.delete(name)
            : textOf(request).then((text) => executeKeyRequest(access, JSON.parse(text) as KeyRequest));
    done.then(
      (result) => {
        if (!response.headersSent) answer(200, { done: result });
      },
      (error: unknown) => {
        if (response.headersSent) return response.destroy();
        const isRefusal = error instanceof Error && REFUSALS.has(error.name);
        answer(isRefusal ? 409 : 500, { error: isRefusal ? error.message : String(error) });
      },
    );
  });
  // Importing the file of a tenant is slow.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  server.unref();
  const path = join(dataDir, FILE);
  const draft = `${path}.${process.pid}`;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, JSON.stringify({ url, secret } satisfies OperatorEndpoint), { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    server.close();
    rmSync(draft, { force: true });
    throw error;
  }
  return async () => {
    rmSync(path, { force: true });
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  };
}

/** Operations on tenants as a whole, by the owner of their simulations. */
export interface TenantWork {
  export(name: string): AsyncGenerator<string>;
  import(chunks: AsyncIterable<Uint8Array>): Promise<object>;
  delete(name: string): Promise<object>;
}

export const TENANT_EXPORT = '/tenant/export';
export const TENANT_IMPORT = '/tenant/import';
export const TENANT_DELETE = '/tenant/delete';

const REFUSALS: ReadonlySet<string> = new Set(['AccessRefused', 'TenantRefused', 'ImportRefused']);

async function sendFile(response: ServerResponse, pieces: AsyncGenerator<string>): Promise<void> {
  // An error in the first piece can still be answered.
  const first = await pieces.next();
  response.writeHead(200, { 'content-type': 'application/x-ndjson', connection: 'close' });
  if (first.done !== true) response.write(first.value);
  await pipeline(pieces, response);
}

/** Asks the server that uses the directory to work on a tenant. Throws `AccessRefused` with its message, or when it does not answer. */
export async function callTenantWork(
  dataDir: string,
  path: string,
  name: string,
  file?: Blob,
): Promise<Response> {
  const { url, secret } = doorIn(dataDir);
  const response = await fetch(`${url}${path}?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    ...(file !== undefined && { body: file }),
  }).catch((error: unknown) => {
    throw new AccessRefused(`the server that uses ${dataDir} does not answer: try again`, { cause: error });
  });
  if (response.ok) return response;
  const { error = 'the server refuses' } = (await response.json()) as { readonly error?: string };
  throw new AccessRefused(error);
}

/** Asks the server that uses the directory to execute a request. Throws `AccessRefused` with its message, or when it does not answer. */
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
