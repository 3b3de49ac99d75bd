/** The client of `bodies.ts`, in a separate process: many bodies, whole but for their last byte, then all last bytes at once. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';

export interface Flood {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly contents: Contents;
  readonly bytes: number;
  readonly count: number;
}

/** Kinds of bodies, each the most work for its bytes. */
export type Contents = keyof typeof CONTENTS;

const filled = (before: string, element: string, after: string, bytes: number): string => {
  const count = Math.floor((bytes - before.length - after.length + 1) / (element.length + 1));
  return (before + Array.from({ length: count }, () => element).join(',') + after).padEnd(bytes);
};

const PART = 250_000;
const parts = (element: string, bytes: number): string[] =>
  Array.from({ length: Math.floor(bytes / (PART + 50)) }, () =>
    filled('{"orders":[', element, ']}', PART).trim(),
  );

const CONTENTS = {
  'empty steps': (bytes: number) => filled('{"steps":[', '{}', ']}', bytes),
  'steps of empty orders': (bytes: number) => `{"steps":[${parts('{}', bytes).join(',')}]}`.padEnd(bytes),
  quotes: (bytes: number) => filled('{"quotes":[', '{"symbol":"AAPL","bid":1,"ask":2}', ']}', bytes),
  'empty objects': (bytes: number) => filled('{"x":[', '{}', ']}', bytes),
  messages: (bytes: number) => filled('[', '{"jsonrpc":"2.0","method":"notifications/x"}', ']', bytes),
  calls: (bytes: number) => filled('[', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', ']', bytes),
};

const PATIENCE_MS = 60_000;

async function flood(port: number, { method, path, token, contents, bytes, count }: Flood): Promise<object> {
  const body = Buffer.from(CONTENTS[contents](bytes));
  const head =
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
    `Accept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n` +
    `${token === undefined ? '' : `Authorization: Bearer ${token}\r\n`}\r\n`;
  const answers: Record<string, number> = {};
  const ends: Promise<void>[] = [];
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += 1) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1', 0, 20)));
    socket.on('error', () => undefined);
    ends.push(
      new Promise((resolve) =>
        socket.on('close', () => {
          const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none';
          answers[status] = (answers[status] ?? 0) + 1;
          resolve();
        }),
      ),
    );
    socket.write(head);
    socket.write(body.subarray(0, -1));
  }
  const isSent = (socket: Socket): boolean => socket.destroyed || socket.writableLength === 0;
  for (let waited = 0; waited < PATIENCE_MS && !sockets.every(isSent); waited += 50) await later(50);
  const began = performance.now();
  for (const socket of sockets) if (!socket.destroyed) socket.write(body.subarray(-1));
  await Promise.race([Promise.all(ends), later(PATIENCE_MS, undefined, { ref: false })]);
  for (const socket of sockets) socket.destroy();
  return { answers, ms: performance.now() - began };
}

process.on('message', (asked: Flood & { readonly port: number }) => {
  flood(asked.port, asked).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      throw error;
    },
  );
});
