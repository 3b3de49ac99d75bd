import { setTimeout as later } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { TenantPlacement } from '../../cluster/tenant-placement.js';
import { bytesOf, tell } from '../dialects/sockets.js';
import type { PendingLogin, SocketMessage } from '../dialects/sockets.js';
import { clientOf } from '../client-address.js';
import { digestOf, signedHeaders } from './node-auth.js';
import type { NodeKey } from './node-auth.js';

/** Maximum time to find the owner of a tenant (D200). */
const PATIENCE_MS = 5_000;
const RETRY_MS = 100;
const CONNECT_MS = 1_000;
/** Messages of a client that wait for the connection to the owner. */
const MOST_WAITING = 100;
/** The client may reconnect. */
const TRY_AGAIN = 1013;

interface RelayParts {
  readonly placement: TenantPlacement;
  readonly key: NodeKey;
  readonly tenantId: string;
}

/**
 * Passes a WebSocket on to the node that owns its tenant, message by message, from the login on. The connection ends with the owner's: code
 * 1013 if the tenant moves, and the client reconnects.
 */
export function relaySocket(
  { socket, request, isGreeted }: Pick<PendingLogin, 'socket' | 'request' | 'isGreeted'>,
  login: SocketMessage,
  parts: RelayParts,
): void {
  const waiting: SocketMessage[] = [login];
  let owner: WebSocket | undefined;
  const pass = ({ data, isBinary }: SocketMessage): void => {
    if (owner !== undefined) return tell(owner, payloadOf(data, isBinary));
    waiting.push({ data, isBinary });
    if (waiting.length > MOST_WAITING) socket.terminate();
  };
  socket.removeAllListeners('message');
  socket.on('message', (data, isBinary) => pass({ data, isBinary }));
  socket.on('close', () => owner?.close());
  const { url = '/', headers } = request;
  const client = clientOf(request);
  const wanted = { url, contentType: headers['content-type'], client };
  connectToOwner(parts, wanted, () => socket.readyState !== WebSocket.OPEN).then(
    (connected) => {
      if (connected === undefined) return socket.close(TRY_AGAIN, 'unavailable');
      // The node that accepted the connection has greeted its client: the owner's greeting is the second one.
      let greetings = isGreeted ? 1 : 0;
      connected.on('message', (data, isBinary) => {
        if (greetings > 0) greetings -= 1;
        else tell(socket, payloadOf(data, isBinary));
      });
      connected.on('close', (code, reason) => {
        if (code === 1000 || (code >= 1001 && code <= 1013 && ![1004, 1005, 1006].includes(code)))
          socket.close(code, reason);
        else socket.close(TRY_AGAIN, 'unavailable');
      });
      if (socket.readyState !== WebSocket.OPEN) return connected.close();
      owner = connected;
      connected.resume();
      for (const message of waiting.splice(0)) pass(message);
    },
    () => socket.close(TRY_AGAIN, 'unavailable'),
  );
}

const payloadOf = (data: SocketMessage['data'], isBinary: boolean): string | Uint8Array => {
  const bytes = bytesOf(data);
  return isBinary ? bytes : bytes.toString('utf8');
};

interface WantedSocket {
  readonly url: string;
  readonly contentType: string | undefined;
  /** Address of the client. */
  readonly client: string;
}

/** A connection to the owner of a tenant; undefined if none is found in time. */
async function connectToOwner(
  { placement, key, tenantId }: RelayParts,
  { url, contentType, client }: WantedSocket,
  isOver: () => boolean,
): Promise<WebSocket | undefined> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (performance.now() < giveUpAt && !isOver()) {
    const node = await placement.ownerOf(tenantId).catch(() => undefined);
    if (node !== undefined) {
      const headers = {
        ...(contentType !== undefined && { 'content-type': contentType }),
        ...signedHeaders(key, 'GET', url, {
          kind: 'client',
          to: node.incarnation,
          tenantId,
          client,
          body: { digest: digestOf(undefined) },
        }),
      };
      // The path of every socket begins with a slash.
      const connected = await opened(new URL(`${node.url.replace(/^http/, 'ws')}${url}`), headers);
      if (connected !== undefined) return connected;
      placement.forget(tenantId);
    }
    await later(RETRY_MS);
  }
  return undefined;
}

function opened(at: URL, headers: Readonly<Record<string, string>>): Promise<WebSocket | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(at, { headers, handshakeTimeout: CONNECT_MS });
    // The socket is silent until it has a listener.
    socket.once('open', () => {
      socket.pause();
      resolve(socket);
    });
    socket.on('error', () => resolve(undefined));
  });
}
