import { expect, it } from 'vitest';
import { fuzz } from './fuzz.js';

it('requests that nobody should send: no answer breaks the contract, nothing of another tenant is shown or changed', async () => {
  const { requests, problems } = await fuzz({ requests: 300, seed: 11 });
  expect(problems).toEqual([]);
  expect(requests).toBe(300);
}, 60_000);
