import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { inDirectory } from '../packages/server/src/testing/server-process.js';
import { withServer } from './with-server.js';

const SCRIPT = fileURLToPath(new URL('./first-order.sh', import.meta.url));

it('The first order from the terminal is filled and explained', async () => {
  const { stdout } = await withServer({}, (credentials) =>
    inDirectory(async (directory) => {
      const file = join(directory, 'demo-credentials.json');
      await writeFile(file, JSON.stringify(credentials));
      return promisify(execFile)('sh', [SCRIPT, file]);
    }),
  );
  const [, order = '', executions = '', positions = ''] = stdout.split('\n');
  expect(JSON.parse(order)).toMatchObject({ symbol: 'AAPL', status: 'FILLED', filledQuantity: 10 });
  expect(JSON.parse(executions)).toMatchObject({
    data: [{ quantity: 10, explanation: expect.anything() as unknown }],
  });
  expect(JSON.parse(positions)).toMatchObject([{ symbol: 'AAPL' }]);
}, 60_000);
