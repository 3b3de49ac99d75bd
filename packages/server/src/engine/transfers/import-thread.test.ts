import { once } from 'node:events';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { compiledUrl } from '../../threads/compiled-url.js';

it('import: a file that cannot be read is refused without a path of this machine', async () => {
  const path = join(tmpdir(), 'no-such-folder', 'import.ndjson');
  const worker = new Worker(compiledUrl('engine/transfers/import-thread.js'), {
    workerData: { task: 'verify', path },
    execArgv: [],
  });
  const [message] = (await once(worker, 'message')) as [{ kind: string; problem?: string }];
  expect(message).toEqual({
    kind: 'done',
    problem: 'the file of the import cannot be read: import it again',
  });
});
