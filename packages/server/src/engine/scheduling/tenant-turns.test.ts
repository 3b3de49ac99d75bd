import { expect, it } from 'vitest';
import { TenantTurns } from './tenant-turns.js';

/** Keeps the event loop busy, as a step does. */
function work(ms: number): void {
  const began = performance.now();
  while (performance.now() - began < ms);
}

it('TenantTurns: serves tenants in rotation, regardless of the number of their requests', async () => {
  const turns = new TenantTurns();
  const done: string[] = [];
  const request = async (tenantId: string): Promise<void> => {
    const turn = await turns.take(tenantId);
    done.push(tenantId);
    turn.end();
  };
  const all = Array.from({ length: 10 }, () => request('greedy'));
  all.push(request('modest'), request('modest'));
  await Promise.all(all);
  // The first had its turn immediately.
  expect(done.slice(0, 5)).toEqual(['greedy', 'greedy', 'modest', 'greedy', 'modest']);
  expect(done).toHaveLength(12);
});

it('TenantTurns: admits another tenant during a long turn, but never two at once', async () => {
  const turns = new TenantTurns();
  const told: string[] = [];
  let inside = 0;
  const request = async (tenantId: string, pieces: number): Promise<void> => {
    const turn = await turns.take(tenantId);
    for (let i = 0; i < pieces; i += 1) {
      inside += 1;
      expect(inside).toBe(1);
      work(1);
      told.push(tenantId);
      inside -= 1;
      await turn.breathe();
    }
    turn.end();
  };
  await Promise.all([request('long', 20), request('short', 1)]);
  expect(told.indexOf('short')).toBeLessThan(10);
  expect(told).toHaveLength(21);
  const turn = await turns.take('later');
  turn.end();
});
