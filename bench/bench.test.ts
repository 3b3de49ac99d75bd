import { expect, it } from 'vitest';
import { measureCore } from './core.js';

it('the measurement of the core runs with a small number of orders', async () => {
  Object.assign(process.env, { BENCH_ORDERS: '200', BENCH_DAYS: '1' });
  const rows = await measureCore();
  expect(rows.length).toBeGreaterThan(0);
  for (const { value } of rows) expect(value).toBeGreaterThan(0);
});
