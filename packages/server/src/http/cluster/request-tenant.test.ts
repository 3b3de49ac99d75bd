import alpaca from '@sandpit/dialect-alpaca';
import paperInvest from '@sandpit/dialect-paper-invest';
import { expect, it } from 'vitest';
import { destinationOf } from './request-tenant.js';

const askers: Parameters<typeof destinationOf>[1] = {
  bearer: (authorization) =>
    Promise.resolve(
      authorization === 'Bearer good'
        ? { tenantId: 'entrant', simulationId: 'main', countedAs: 'entrant' }
        : undefined,
    ),
  dialects: [alpaca, paperInvest],
  keyPair: () => Promise.resolve(undefined),
  grant: () => Promise.resolve(undefined),
  keyId: () => Promise.resolve(undefined),
  ticket: () => Promise.resolve(undefined),
  hasData: () => Promise.resolve(true),
  changesMarket: () => false,
  effectOf: () => 'stores',
  organizer: () => Promise.resolve('organizer'),
  refresh: () => Promise.resolve(),
};
const ask = async (method: string, authorization?: string, prefix = '') =>
  (
    await destinationOf(
      {
        method,
        url: `${prefix}/v1/competitions/c/entries`,
        headers: authorization === undefined ? {} : { authorization },
      },
      askers,
    )
  )?.tenantId;

it('forwards requests about a competition to the node of its organizer', async () => {
  expect(await ask('POST', 'Bearer good')).toBe('organizer');
  expect(await ask('GET', 'Bearer good')).toBe('organizer');
  expect(await ask('GET')).toBe('organizer');
  expect(await ask('POST', 'Bearer good', '/paperinvest')).toBe('organizer');
});

it('a change without a valid credential is not forwarded: any node refuses it before reading its body', async () => {
  expect(await ask('POST')).toBeUndefined();
  expect(await ask('POST', 'Bearer bad')).toBeUndefined();
});
