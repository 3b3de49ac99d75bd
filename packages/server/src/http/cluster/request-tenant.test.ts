import { expect, it } from 'vitest';
import { tenantOf } from './request-tenant.js';

const askers: Parameters<typeof tenantOf>[1] = {
  bearer: (authorization) =>
    Promise.resolve(
      authorization === 'Bearer good' ? { tenantId: 'entrant', simulationId: 'main' } : undefined,
    ),
  keyPair: () => Promise.resolve(undefined),
  ticket: () => undefined,
  organizer: () => Promise.resolve('organizer'),
  refresh: () => Promise.resolve(),
};
const ask = (method: string, authorization?: string) =>
  tenantOf(
    {
      method,
      url: '/v1/competitions/c/entries',
      headers: authorization === undefined ? {} : { authorization },
    },
    askers,
  );

it('forwards requests about a competition to the node of its organizer', async () => {
  expect(await ask('POST', 'Bearer good')).toBe('organizer');
  expect(await ask('GET', 'Bearer good')).toBe('organizer');
  expect(await ask('GET')).toBe('organizer');
});

it('a change without a valid credential is not forwarded: any node refuses it before reading its body', async () => {
  expect(await ask('POST')).toBeUndefined();
  expect(await ask('POST', 'Bearer bad')).toBeUndefined();
});
