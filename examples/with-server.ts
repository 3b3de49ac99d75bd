import { credentialsIn, inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import type { Credentials } from '../packages/server/src/testing/server-process.js';

/** For the tests of the examples: a server of their own on a free port, as `npm start` would start it. */
export function withServer<T>(
  settings: Readonly<Record<string, string>>,
  use: (credentials: Credentials) => Promise<T>,
): Promise<T> {
  return inDirectory(async (directory) => {
    const server = ServerProcess.launch({ DATA_DIR: directory, ...settings });
    try {
      await server.listening;
      return await use(credentialsIn(directory));
    } finally {
      await server.end('SIGTERM');
    }
  });
}
