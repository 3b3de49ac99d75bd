import { beforeAll, expect, it } from 'vitest';
import * as client from '@sandpit/client';
import type { CreateOrderBody } from '@sandpit/protocol';
import { asTypeScript as orderAsTypeScript } from '../trade/order-code.ts';
import { asCurl, asPython, asTypeScript, operationOf } from './call-code.ts';

beforeAll(() => {
  Object.assign(globalThis, { location: { origin: 'http://127.0.0.1:3000' } });
});

it('operationOf: finds the operation of a path, a fixed path before one with parameters', () => {
  expect(operationOf({ method: 'GET', path: '/v1/orders/filled/today?limit=5' })).toEqual({
    id: 'listFilledToday',
    params: {},
    query: { limit: '5' },
  });
  expect(operationOf({ method: 'GET', path: '/v1/market-data/quote/BRK%2FB' })).toMatchObject({
    id: 'getQuote',
    params: { symbol: 'BRK/B' },
  });
  expect(operationOf({ method: 'POST', path: '/dashboard/logout' })).toBeUndefined();
});

it('asCurl, asTypeScript, asPython: escape quotes in the body of a call', () => {
  const call = {
    method: 'POST',
    path: '/v1/simulation/halts',
    body: `{"symbol":"AAPL","reason":"T1","x":"it's","y":true}`,
  };
  expect(asCurl(call)).toBe(
    `curl -sS -X POST 'http://127.0.0.1:3000/v1/simulation/halts' \\
  -H "Authorization: Bearer $SANDPIT_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"symbol":"AAPL","reason":"T1","x":"it'\\''s","y":true}'`,
  );
  expect(asTypeScript(call)).toContain(
    `await sandpit.call('haltTrading', {\n  body: {\n    "symbol": "AAPL",`,
  );
  expect(asPython(call)).toContain(`client.call("haltTrading", body={\n        "symbol": "AAPL",`);
  expect(asPython(call)).toContain('"y": True');
  const stream = { method: 'GET', path: '/v1/stream/quotes?symbols=AAPL%2CMSFT' };
  expect(asTypeScript(stream)).toContain('of sandpit.quoteEvents(["AAPL","MSFT"])');
  expect(asPython(stream)).toContain('for event in client.quote_events(["AAPL", "MSFT"]):');
});

it('asTypeScript: imports from the package what its client exports', () => {
  const order = orderAsTypeScript({ symbol: 'AAPL' } as CreateOrderBody);
  for (const code of [order, asTypeScript({ method: 'GET', path: '/v1/accounts' }) ?? '']) {
    const [, imported = '', from] = /^import \{ (\w+) \} from '(.*)';$/m.exec(code) ?? [];
    expect(from).toBe('sandpit-broker');
    expect(client).toHaveProperty(imported);
  }
});
