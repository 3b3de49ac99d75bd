import { errorCodeNames, type Route, routeEntries } from '@sandpit/protocol';
import { expect, it } from 'vitest';
import { ERROR_CLASSES } from './errors.js';
import { OPERATIONS } from './operations.js';

it('knows every operation as the table of routes has it', () => {
  const table = routeEntries.map(([id, { method, path }]: readonly [string, Route]) => [
    id,
    `${method} ${path}`,
  ]);
  expect(OPERATIONS).toEqual(Object.fromEntries(table));
});

it('has a class of its own for every error code', () => {
  expect(Object.keys(ERROR_CLASSES).sort()).toEqual([...errorCodeNames].sort());
  expect(new Set(Object.values(ERROR_CLASSES)).size).toBe(errorCodeNames.length);
});
