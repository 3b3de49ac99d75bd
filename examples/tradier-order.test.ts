import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { inDirectory } from '../packages/server/src/testing/server-process.js';
import { withServer } from './with-server.js';

const SCRIPT = fileURLToPath(new URL('./tradier-order.sh', import.meta.url));

it('A bracket order of a bot for Tradier is filled, and its exits wait', async () => {
  const { stdout } = await withServer({}, (credentials) =>
    inDirectory(async (directory) => {
      const file = join(directory, 'demo-credentials.json');
      await writeFile(file, JSON.stringify(credentials));
      return promisify(execFile)('sh', [SCRIPT, file]);
    }),
  );
  const [account = '', order = '', positions = ''] = stdout.split('\n');
  expect(account).toMatch(/^account VA\d{8}$/);
  expect(JSON.parse(order)).toMatchObject({
    order: {
      class: 'otoco',
      status: 'open',
      leg: [{ status: 'filled' }, { status: 'open' }, { status: 'open' }],
    },
  });
  expect(JSON.parse(positions)).toMatchObject({ positions: { position: { symbol: 'AAPL', quantity: 10 } } });
}, 60_000);
