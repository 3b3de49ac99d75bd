/** The end of the process while a thread calls SQLite: the binding would abort the process if the call were interrupted. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { compiledUrl } from './compiled-url.js';

const MODULE = JSON.stringify(compiledUrl('threads/process-end.js').href);

const THREAD = `
  import { createRequire } from 'node:module';
  import { parentPort, workerData } from 'node:worker_threads';
  import { eachUninterrupted, uninterrupted } from ${MODULE};
  const { DatabaseSync } = createRequire(workerData.from)('@photostructure/sqlite');
  const database = new DatabaseSync(':memory:');
  const few = database.prepare('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) SELECT i FROM n');
  function* rows() { yield* few.iterate(); }
  parentPort.postMessage('reads');
  for (;;) {
    if (workerData.kind === 'all') uninterrupted(() => few.all());
    if (workerData.kind === 'nested') uninterrupted(() => uninterrupted(() => few.all()));
    if (workerData.kind === 'each') for (const row of eachUninterrupted(rows())) if (row.i === 300) break;
    if (workerData.kind === 'without') few.all();
    if (workerData.kind === 'endless') uninterrupted(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  }
`;

const mainWith = (kind: string): string => `
  import { Worker } from 'node:worker_threads';
  import { endProcess } from ${MODULE};
  const url = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(THREAD)});
  const worker = new Worker(new URL(url), { workerData: { kind: '${kind}', from: ${JSON.stringify(import.meta.filename)} } });
  worker.once('message', () => setTimeout(() => endProcess(7${kind === 'endless' ? ', 100' : ''}), 20));
`;

const endOf = (kind: string): { readonly status: number | null; readonly signal: NodeJS.Signals | null } => {
  const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', mainWith(kind)]);
  return { status, signal };
};

it.each(['all', 'nested', 'each'])(
  'endProcess: gives its exit code while a thread reads SQLite (%s)',
  (kind) => {
    for (let round = 0; round < 3; round += 1) expect(endOf(kind)).toEqual({ status: 7, signal: null });
  },
);

it('endProcess: is aborted by the binding if the calls are not marked', () => {
  expect(endOf('without')).toEqual({ status: null, signal: 'SIGABRT' });
});

it('endProcess: does not wait for a thread that never leaves its work', () => {
  expect(endOf('endless')).toEqual({ status: 7, signal: null });
});
