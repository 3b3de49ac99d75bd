/** Threads that read SQLite are ended by their flag. If one is terminated within a call, the binding aborts the whole process. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { endThread, isRaised, stopFlag } from './stop-flag.js';

const READER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('@photostructure/sqlite');
  const database = new DatabaseSync(':memory:');
  const read = database.prepare('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) SELECT i FROM n');
  parentPort.postMessage('reads');
  while (Atomics.load(workerData, 0) === 0) read.all();
  parentPort.once('message', () => process.exit(7));
`;

const WAITER = `
  const { parentPort } = require('node:worker_threads');
  parentPort.once('message', (message) => process.exit(message === 'stop' ? 7 : 1));
  parentPort.postMessage('waits');
`;

it.each([
  ['that reads', READER],
  ['that waits for messages', WAITER],
])('endThread: a thread %s ends by itself, and the process stays', async (_, source) => {
  for (let round = 0; round < 10; round += 1) {
    const flag = stopFlag();
    const worker = new Worker(source, { eval: true, workerData: flag });
    const exit = once(worker, 'exit');
    await once(worker, 'message');
    await endThread(worker, flag);
    expect(isRaised(flag)).toBe(true);
    // The code of a terminated thread is 1.
    expect(await exit).toEqual([7]);
  }
  const ended = new Worker('process.exit(3)', { eval: true });
  await once(ended, 'exit');
  await endThread(ended, stopFlag());
});
