import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { CatchUpScheduler } from './catch-up-scheduler.js';

/** Keeps the event loop busy, as writing out a page does. */
function work(ms: number): void {
  const began = performance.now();
  while (performance.now() - began < ms);
}

it('CatchUpScheduler: serves tenants in rotation, regardless of the number of their streams', async () => {
  const turns = new CatchUpScheduler();
  const done: string[] = [];
  const step = (tenantId: string) => turns.take(tenantId, () => void done.push(tenantId));
  const all = Array.from({ length: 10 }, () => step('greedy'));
  all.push(step('modest'), step('modest'));
  await Promise.all(all);
  expect(done.slice(0, 4)).toEqual(['greedy', 'modest', 'greedy', 'modest']);
  expect(done).toHaveLength(12);
});

it('CatchUpScheduler: yields the event loop, even if a stream returns at once', async () => {
  const turns = new CatchUpScheduler();
  let others = 0;
  const over = new AbortController();
  const other = (async () => {
    for (; !over.signal.aborted; others++) await nextTurn();
  })();
  // One millisecond of work in each step: two or three fit into a slice.
  const stream = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await turns.take('a', () => work(1));
  };
  await Promise.all([stream(), stream()]);
  over.abort();
  await other;
  expect(others).toBeGreaterThanOrEqual(40 / 3);
});

it('CatchUpScheduler: continues after a failed step', async () => {
  const turns = new CatchUpScheduler();
  const failed = turns.take('a', () => Promise.reject(new Error('no history')));
  const next = turns.take('a', () => 7);
  await expect(failed).rejects.toThrow('no history');
  expect(await next).toBe(7);
});
