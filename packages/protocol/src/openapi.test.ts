import { Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { errorCodeNames } from './errors.js';
import { text } from './fields.js';
import { Components } from './openapi-components.js';
import { openApiDocument, openApiPath } from './openapi.js';
import { limitOrder } from './testing/order.js';
import { type BodyOf, type ParamsOf, type QueryOf, type ReplyOf, routeEntries, routes } from './routes.js';
import { errorStatusesOf } from './routes/route.js';
import { validateBody } from './validate.js';

interface Operation {
  operationId: string;
  description?: string;
  parameters: { $ref?: string; name: string; in: string; required: boolean }[];
  requestBody?: object;
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }>;
  security: object[];
}

interface Document {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Record<string, unknown>> };
}

const document = openApiDocument({
  serverUrl: 'http://127.0.0.1:3000',
  version: '1.2.3',
}) as unknown as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

function walk(value: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  else if (typeof value === 'object' && value !== null) {
    visit(value as Record<string, unknown>);
    for (const item of Object.values(value)) walk(item, visit);
  }
}

function at(pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
}

/** Ways to show who asks; an optional one may be none. */
const WAYS = { none: 0, bearer: 1, ticket: 2, optional: 3 } as const;

describe('The table of routes', () => {
  it('has no two operations on one method and path', () => {
    const all = routeEntries.flatMap(([, route]) =>
      [route.path, ...Object.values(route.aliases ?? {})].map(
        (path) => `${route.method} ${path.replace(/:\w+/g, ':')}`,
      ),
    );
    expect(new Set(all).size).toBe(all.length);
  });

  it('declares exactly the parameters of its paths', () => {
    for (const [id, route] of routeEntries) {
      for (const path of [route.path, ...Object.values(route.aliases ?? {})]) {
        const named = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]);
        expect(Object.keys(route.params?.properties ?? {}), id).toEqual(named);
      }
    }
  });

  it('requires scope read for reads, trade or simulate for changes', () => {
    for (const [id, route] of routeEntries) {
      expect(route.path.startsWith('/v1/'), id).toBe(true);
      expect(route.scope === undefined, id).toBe(route.auth === 'none');
      if (/^\/v1\/simulations?(\/|$)/.test(route.path)) expect(route.scope, id).toBe('simulate');
      // Comparisons belong to simulations (D173).
      else if (id === 'cancelComparison') expect(route.scope, id).toBe('simulate');
      // Its organizer's (D194); entries are their tenant's.
      else if (
        /^\/v1\/competitions/.test(route.path) &&
        (route.method !== 'GET' || id === 'exportCompetition')
      )
        expect(route.scope, id).toBe(
          ['enterCompetition', 'createEntryToken', 'withdrawEntry'].includes(id) ? 'trade' : 'simulate',
        );
      // Its owner's, and what the token of a cell does (D210).
      else if (
        /^\/v1\/evaluations(\/|$)/.test(route.path) &&
        (route.method !== 'GET' || id === 'exportEvaluation')
      )
        expect(route.scope, id).toBe('simulate');
      // Nodes and tenants are the operator's (D236).
      else if (id === 'getCluster' || /^\/v1\/server(\/|$)/.test(route.path))
        expect(route.scope, id).toBe('operator');
      else if (/^\/v1\/invitations(\/|$)/.test(route.path) && route.auth !== 'none')
        expect(route.scope, id).toBe('admin');
      // They show what trading does (D191).
      else if (/^\/v1\/webhooks(\/|$)/.test(route.path)) expect(route.scope, id).toBe('trade');
      else if (route.method === 'GET' && route.auth !== 'none') expect(route.scope, id).toBe('read');
      else if (route.method === 'PUT' || route.method === 'DELETE') expect(route.scope, id).toBe('trade');
    }
  });

  it.each([
    'POST /v1/accounts/portfolios',
    'GET /v1/accounts/portfolios/:portfolioId',
    'GET /v1/accounts/:accountId/portfolios',
    'GET /v1/accounts/portfolios/:portfolioId/equities',
    'GET /v1/accounts/portfolios/:portfolioId/options',
    'GET /v1/accounts/portfolios/:portfolioId/day-trades',
    'GET /v1/accounts/portfolios/:portfolioId/margin-eligibility',
    'PUT /v1/accounts/portfolios/:portfolioId/margin-upgrade',
    'PUT /v1/accounts/portfolios/:portfolioId/broker',
    'POST /v1/accounts/portfolios/:portfolioId/reset',
    'POST /v1/orders',
    'GET /v1/orders/:orderId',
    'PUT /v1/orders/:orderId',
    'PUT /v1/orders/:orderId/cancel',
    'GET /v1/orders/account/:accountId',
    'GET /v1/orders/portfolio/:portfolioId',
    'DELETE /v1/orders/account/:accountId',
    'POST /v1/orders/batch',
    'GET /v1/health',
    'GET /v1/stream/orders',
  ])('has %s of the contract', (operation) => {
    expect(routeEntries.map(([, route]) => `${route.method} ${route.path}`)).toContain(operation);
  });

  it('provides the types of handlers', () => {
    const params: ParamsOf<'getOrder'> = { orderId: limitOrder.portfolioId };
    const query: QueryOf<'listAccountOrders'> = { page: 1, limit: 50, status: 'FILLED' };
    const none: BodyOf<'getOrder'> = undefined;
    const health: ReplyOf<'getHealth'> = { status: 'ok', timestamp: '' };
    const body: Pick<BodyOf<'createOrder'>, 'orderType' | 'limitPrice'> = { orderType: 'MARKET' };
    // @ts-expect-error -- a closed list
    const wrong: BodyOf<'createOrder'>['orderType'] = 'BEST';
    expect([params, query, none, health, body, wrong]).toHaveLength(6);
  });
});

describe('The OpenAPI document', () => {
  it('is plain JSON of OpenAPI 3.1', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.servers).toEqual([{ url: 'http://127.0.0.1:3000' }]);
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('is equal for every call, and a separate copy', () => {
    const again = openApiDocument({ serverUrl: 'http://127.0.0.1:3000', version: '1.2.3' });
    expect(again).toEqual(document);
    expect(again['paths']).not.toBe(document.paths);
  });

  it('resolves every reference', () => {
    let count = 0;
    walk(document, (node) => {
      if (typeof node['$ref'] !== 'string') return;
      count++;
      expect(at(node['$ref']), node['$ref']).toBeTypeOf('object');
    });
    expect(count).toBeGreaterThan(300);
  });

  it('has every route under every path, and nothing else', () => {
    const expected = routeEntries.flatMap(([, route]) =>
      [route.path, ...Object.values(route.aliases ?? {})].map(
        (path) => `${route.method.toLowerCase()} ${openApiPath(path)}`,
      ),
    );
    expect(operations.map(({ path, method }) => `${method} ${path}`).sort()).toEqual(expected.sort());
  });

  it('has a unique id for every operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of Object.keys(routes)) expect(ids).toContain(id);
  });

  it('has a description and a name without digits for every operation', () => {
    for (const { operation, path } of operations) {
      expect(operation.description, path).toMatch(/\.$/);
      expect(operation.operationId, path).toMatch(/^[a-z][A-Za-z]+$/);
    }
  });

  it('declares the parameters, bodies, answers and errors of each operation', () => {
    for (const [id, route] of routeEntries) {
      const operation = document.paths[openApiPath(route.path)]?.[route.method.toLowerCase()];
      const inPath = operation?.parameters.filter((parameter) => parameter.in === 'path');
      expect(
        inPath?.map(({ name }) => name),
        id,
      ).toEqual(Object.keys(route.params?.properties ?? {}));
      expect(
        inPath?.every(({ required }) => required),
        id,
      ).toBe(true);
      expect(operation?.requestBody !== undefined, id).toBe(
        route.body !== undefined || route.upload === true,
      );
      const statuses = [...Object.keys(route.responses), ...errorStatusesOf(route).map(String)];
      expect(Object.keys(operation?.responses ?? {}).sort(), id).toEqual([...new Set(statuses)].sort());
      const ways = route.auth === 'optional' && route.events === undefined ? 2 : WAYS[route.auth];
      expect(operation?.security.length, id).toBe(ways);
    }
  });

  it('describes streams as events', () => {
    const stream = document.paths['/v1/stream/orders']?.['get'];
    expect(Object.keys(stream?.responses['200']?.content ?? {})).toEqual(['text/event-stream']);
    expect(JSON.stringify(stream)).toContain('#/components/schemas/OrderUpdate');
    expect(stream?.parameters.map(({ name }) => name)).not.toContain('ticket');
  });

  it('leaves out keywords of the validator', () => {
    const keywords = new Set<string>();
    walk(document, (node) => Object.keys(node).forEach((name) => keywords.add(name)));
    for (const name of [
      '$id',
      '~kind',
      'x-expected',
      'x-text',
      'x-format',
      'x-discriminator',
      'x-range-in-expected',
    ]) {
      expect(keywords).not.toContain(name);
    }
  });

  it('has published schemas that validate an order', () => {
    const published: unknown = JSON.parse(
      JSON.stringify({
        $ref: '#/$defs/CreateOrderBody',
        $defs: document.components.schemas,
      }).replaceAll('#/components/schemas/', '#/$defs/'),
    );
    const check = Compile(published as object);
    expect(check.Check(limitOrder)).toBe(true);
    expect(check.Check({ ...limitOrder, orderType: 'BEST' })).toBe(false);
    expect(check.Check({ ...limitOrder, extra: 1 })).toBe(false);
    expect(check.Check({ ...limitOrder, quantity: 0 })).toBe(false);
  });

  it('allows the details of every rejection code: option levels are numbers, agent levels are words', () => {
    const published: unknown = JSON.parse(
      JSON.stringify({
        $ref: '#/$defs/PreviewRejection',
        $defs: document.components.schemas,
      }).replaceAll('#/components/schemas/', '#/$defs/'),
    );
    const check = Compile(published as object);
    const message = 'Option level 4 is required';
    expect(check.Check({ code: 'OPTION_LEVEL', message, currentLevel: 3, requiredLevel: 4 })).toBe(true);
    expect(check.Check({ code: 'LEVEL_TOO_LOW', message, level: 'read', requiredLevel: 'capped' })).toBe(
      true,
    );
    expect(check.Check({ code: 'OPTION_LEVEL', message, requiredLevel: 'high' })).toBe(false);
  });

  it('states as patterns what the validator demands of texts, keys and cursors', () => {
    const { schemas, parameters } = document.components as unknown as {
      schemas: Record<string, { properties: Record<string, { pattern?: string }> }>;
      parameters: Record<string, { schema: { pattern: string } }>;
    };
    const accepts = (pattern: string | undefined, value: string): boolean =>
      new RegExp(pattern ?? '', 'u').test(value);
    const name = schemas['CreateAccountBody']?.properties['name']?.pattern;
    const notes = schemas['CreateOrderBody']?.properties['notes']?.pattern;
    for (const value of ['a', ' a b ', 'Zoë', '\u{1F600}'])
      expect([value, accepts(name, value), accepts(notes, value)]).toEqual([value, true, true]);
    for (const value of ['', '  ', '\u00a0', 'a\u0000', 'a\u007f'])
      expect([value, accepts(name, value), accepts(notes, value)]).toEqual([value, false, false]);
    expect([accepts(name, 'a\nb'), accepts(notes, 'a\nb')]).toEqual([false, true]);
    const key = parameters['IdempotencyKey']?.schema.pattern;
    expect(['a-1', '', 'a b', 'é'].map((value) => accepts(key, value))).toEqual([true, false, false, false]);
  });

  it('gives every response one JSON type, also where a list can be CSV', () => {
    const contents = Object.values(document.paths as Record<string, Record<string, { responses: object }>>)
      .flatMap((item) => Object.values(item))
      .flatMap(({ responses }) => Object.values(responses) as { content?: object }[])
      .map(({ content = {} }) => Object.keys(content));
    expect(contents.filter((types) => types.length > 1)).toEqual([]);
  });

  it('gives examples that its schemas accept', () => {
    let count = 0;
    for (const [id, route] of routeEntries) {
      for (const schema of [route.body ?? {}, ...Object.values(route.responses)]) {
        for (const example of (schema as { examples?: unknown[] }).examples ?? []) {
          count++;
          expect(validateBody(schema, example), id).toEqual({ ok: true, value: example });
        }
      }
    }
    expect(count).toBeGreaterThan(5);
  });

  it('allows no additional properties and lists every error code', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      if (schema['type'] === 'object') expect(schema['additionalProperties'], name).toBe(false);
    }
    expect(document.components.schemas['ErrorCode']).toMatchObject({ enum: errorCodeNames });
  });
});

describe('Components', () => {
  it('refuses two schemas of one name', () => {
    const components = new Components();
    components.refer(Type.Object({ a: text() }, { $id: 'Same' }));
    components.refer(Type.Optional(Type.Object({ a: text() }, { $id: 'Same' })));
    expect(() => components.refer(Type.Object({ b: text() }, { $id: 'Same' }))).toThrow(
      'Two schemas are called Same',
    );
  });
});
