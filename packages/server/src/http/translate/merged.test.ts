import { expect, test } from 'vitest';
import { merged } from './merged.js';

test('merged: returns the first object with the fields of the others, in order, each with its last value', () => {
  const first = { portfolioId: 'p', status: 'ACTIVE' };
  const shown = merged(first, { equities: [] }, { status: 'CLOSED', options: [] });
  expect(shown).toBe(first);
  expect(JSON.stringify(shown)).toBe('{"portfolioId":"p","status":"CLOSED","equities":[],"options":[]}');
});
