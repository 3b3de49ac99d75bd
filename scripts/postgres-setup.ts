/**
 * One PostgreSQL for all test files of a run, started by the first that needs a database: a run without such tests starts none.
 */
import { createServer } from 'node:net';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresServer } from '../packages/server/src/testing/postgres-server.js';

export default async function setup(): Promise<() => Promise<void>> {
  const path = join(tmpdir(), `sandpit-postgres-${process.pid}.sock`);
  let server: Promise<PostgresServer> | undefined;
  const start = async (): Promise<PostgresServer> => {
    const { PostgresServer: Server } = await import('../packages/server/src/testing/postgres-server.js');
    return Server.start();
  };
  /** Each connection receives the URL of a new database. */
  const door = createServer((socket) => {
    socket.on('error', () => undefined);
    server ??= start();
    server
      .then((one) => one.newDatabase())
      .then(
        (url) => socket.end(url),
        (error: unknown) => socket.end(`failed: ${error instanceof Error ? error.message : String(error)}`),
      );
  });
  await new Promise<void>((resolve) => door.listen(path, resolve));
  process.env['SANDPIT_TEST_POSTGRES'] = path;
  return async () => {
    await new Promise((resolve) => door.close(resolve));
    rmSync(path, { force: true });
    for (const name of readdirSync(tmpdir()))
      if (name.startsWith(`sandpit-test-without-data-${process.pid}-`))
        rmSync(join(tmpdir(), name), { recursive: true, force: true });
    await (await server)?.stop();
  };
}
