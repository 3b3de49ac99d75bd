/** The OpenAPI 3.1 document, generated from the table of routes and the schemas that validate. */
import type { TObject, TSchema } from 'typebox';
import {
  CodedProblem,
  type ErrorCode,
  errorCodes,
  type HttpErrorStatus,
  Problem,
  statusNames,
  statusOf,
} from './errors.js';
import { type Example, examples } from './examples.js';
import { Components, type Json } from './openapi-components.js';
import { type OperationId, routeEntries } from './routes.js';
import {
  errorCodesOf,
  errorStatusesOf,
  isCsvList,
  isPaged,
  pathsOf,
  type Route,
  tags,
  takesIdempotencyKey,
} from './routes/route.js';
import { streamEventSchemas } from './streams.js';

export interface OpenApiOptions {
  /** URL of this server. */
  readonly serverUrl: string;
  readonly version: string;
}

/** A complete document as a plain object; the caller may change it. */
export function openApiDocument({ serverUrl, version }: OpenApiOptions): Record<string, Json> {
  const components = new Components();
  const sharedResponses: Record<string, Json> = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const [operationId, route] of routeEntries) {
    for (const [id, path] of pathsOf(operationId, route)) {
      const item = (paths[openApiPath(path)] ??= {});
      item[route.method.toLowerCase()] = operation(operationId, id, route, components, sharedResponses);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sandpit',
      version,
      description: 'A simulated US brokerage: portfolios, orders, market data and simulations.',
      contact: { name: 'The contributors of Sandpit' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: components.schemas(),
      parameters: { IdempotencyKey: idempotencyKey, LastEventId: lastEventId },
      responses: sharedResponses,
      headers: responseHeaders,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        ticket: {
          type: 'apiKey',
          in: 'query',
          name: 'ticket',
          description: 'A ticket from `POST /v1/stream/ticket`.',
        },
      },
    },
  };
}

/** `/v1/orders/:orderId` → `/v1/orders/{orderId}` */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe: for 24 hours, the same key with the same body returns the stored answer; with another body 422.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

const lastEventId: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last event that the client received; the stream resumes after it.',
  schema: { type: 'string' },
};

const responseHeaders: Json = {
  RequestId: { description: 'Id of this request in the logs of the server.', schema: { type: 'string' } },
  RateLimitLimit: { description: 'Requests allowed per minute.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests left in this minute.', schema: { type: 'integer' } },
  RateLimitReset: {
    description: 'Seconds until the full limit is available again.',
    schema: { type: 'integer' },
  },
  IdempotentReplayed: { description: '`true` on a replayed answer.', schema: { type: 'string' } },
  NextCursor: {
    description: 'Value of `cursor` for the next page; absent on the last page.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
  },
  RetryAfter: { description: 'Seconds after which to repeat the request.', schema: { type: 'integer' } },
  WwwAuthenticate: { description: 'Always `Bearer`.', schema: { type: 'string' } },
};

function header(name: string): Json {
  return { $ref: `#/components/headers/${name}` };
}

const everyAnswer: Readonly<Record<string, Json>> = {
  'X-Request-Id': header('RequestId'),
  'X-RateLimit-Limit': header('RateLimitLimit'),
  'X-RateLimit-Remaining': header('RateLimitRemaining'),
  'X-RateLimit-Reset': header('RateLimitReset'),
};

function operation(
  operationId: OperationId,
  id: string,
  route: Route,
  components: Components,
  sharedResponses: Record<string, Json>,
): Json {
  const example = examples[operationId] ?? {};
  return {
    operationId: id,
    tags: [route.tag],
    summary: route.summary,
    ...(id === operationId ? {} : { 'x-alias-of': operationId }),
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.scope === undefined ? {} : { 'x-scope': route.scope }),
    security: security(route),
    parameters: [
      ...parametersIn('path', route.params, components, example.params),
      ...parametersIn('query', queryOf(route), components, example.query),
      ...(takesIdempotencyKey(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...(route.events === undefined ? [] : [{ $ref: '#/components/parameters/LastEventId' }]),
    ],
    ...(route.upload === true
      ? { requestBody: { required: true, content: lines({ type: 'string' }, example.upload) } }
      : {}),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyIsOptional !== true,
            content: {
              ...(json(components.refer(route.body), example.body) as Readonly<Record<string, Json>>),
              ...(route.takesFile === true ? { 'text/csv': { schema: { type: 'string' } } } : {}),
            },
          },
        }),
    responses: { ...answers(route, components, example), ...problems(route, components, sharedResponses) },
  };
}

function security(route: Route): Json[] {
  switch (route.auth) {
    case 'none':
      return [];
    case 'bearer':
      return [{ bearer: [] }];
    case 'ticket':
      return [{ bearer: [] }, { ticket: [] }];
    case 'optional':
      return route.events === undefined ? [{}, { bearer: [] }] : [{}, { bearer: [] }, { ticket: [] }];
  }
}

/** The ticket of a stream is a security scheme in the document, not one more parameter. */
function queryOf(route: Route): TObject | undefined {
  if (route.query === undefined || !('ticket' in route.query.properties)) return route.query;
  const properties = Object.entries(route.query.properties).filter(([name]) => name !== 'ticket');
  return { ...route.query, properties: Object.fromEntries(properties) };
}

function parametersIn(
  place: 'path' | 'query',
  schema: TObject | undefined,
  components: Components,
  given: Readonly<Record<string, string | number>> = {},
): Json[] {
  if (schema === undefined) return [];
  const required = new Set<string>(schema.required);
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, default: preset } = property as { description?: string; default?: Json };
    return {
      name,
      in: place,
      required: place === 'path' || (required.has(name) && preset === undefined),
      ...(description === undefined ? {} : { description }),
      schema: components.refer(property),
      ...(given[name] === undefined ? {} : { example: given[name] }),
    };
  });
}

function json(schema: Json, example?: Json): Json {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}

/** A file of lines of JSON. */
function lines(schema: Json, example?: string): Json {
  return { 'application/x-ndjson': { schema, ...(example === undefined ? {} : { example }) } };
}

function answers(route: Route, components: Components, example: Example): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, schema]) => [
      status,
      {
        description:
          route.events === undefined
            ? // As its own content type it would give clients the type `Page | string`.
              `${titleOf(schema, status)}${isCsvList(route) ? CSV_NOTE : ''}`
            : 'Events, until one side closes the connection.',
        headers: {
          ...everyAnswer,
          ...(takesIdempotencyKey(route) ? { 'Idempotent-Replayed': header('IdempotentReplayed') } : {}),
          ...(isPaged(route) ? { 'X-Next-Cursor': header('NextCursor') } : {}),
        },
        content:
          route.html === true
            ? { 'text/html': { schema: { type: 'string' }, example: example.reply as string } }
            : route.download === true
              ? lines({ type: 'string' }, `${JSON.stringify(example.reply)}\n`)
              : route.events === undefined
                ? json(components.refer(schema), status.startsWith('2') ? example.reply : undefined)
                : {
                    'text/event-stream': {
                      schema: eventSchema(route.events, components),
                      ...(example.stream === undefined ? {} : { example: eventOf(example.stream) }),
                    },
                  },
      },
    ]),
  );
}

const CSV_NOTE =
  ' With `Accept: text/csv` the response is the whole filtered list as CSV, with a header row.';

function titleOf(schema: TSchema, status: string): string {
  const { description, title } = schema as { description?: string; title?: string };
  if (status === '503') return 'The service is not healthy.';
  return description ?? title ?? 'A list.';
}

/** An event of a stream as an object: its fields by name, `data` parsed. */
function eventOf(text: string): Json {
  const fields = text
    .trimEnd()
    .split('\n')
    .map((line) => /^(\w+): (.*)$/.exec(line) ?? [])
    .map(([, name = '', value = '']): [string, unknown] => [
      name,
      name === 'data' ? JSON.parse(value) : value,
    ]);
  return Object.fromEntries(fields) as Json;
}

/** OpenAPI 3.1 has no words for a sequence of events: the schema is that of one of them. */
function eventSchema(events: readonly (keyof typeof streamEventSchemas)[], components: Components): Json {
  return {
    description: 'One event; `data` is JSON text of the schema given here.',
    oneOf: events.map((event) => ({
      type: 'object',
      title: event,
      properties: {
        id: { type: 'string' },
        event: { const: event },
        data: components.refer(streamEventSchemas[event]),
        retry: { type: 'integer' },
      },
      required: ['event', 'data'],
    })),
  };
}

function problems(
  route: Route,
  components: Components,
  sharedResponses: Record<string, Json>,
): Record<string, Json> {
  const codes = errorCodesOf(route);
  return Object.fromEntries(
    errorStatusesOf(route).map((status) => {
      const own = codes.filter((code) => statusOf(code) === status);
      const plain = own.length === 0 || hasPlainForm(route, status);
      if (own.some((code) => route.codes?.includes(code)))
        return [status, problemResponse(status, own, plain, components)];
      // A response without codes of the route is the same for all routes, and is written once.
      const name = `${statusNames[status].replaceAll(' ', '')}${plain && own.length > 0 ? 'OrCoded' : ''}`;
      sharedResponses[name] ??= problemResponse(status, own, plain, components);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function problemResponse(
  status: HttpErrorStatus,
  codes: readonly ErrorCode[],
  plain: boolean,
  components: Components,
): Json {
  const schemas = [
    ...(plain ? [components.refer(Problem)] : []),
    ...(codes.length === 0 ? [] : [components.refer(CodedProblem)]),
  ];
  return {
    description: [
      statusNames[status],
      ...codes.map((code) => `\`${code}\`: ${errorCodes[code].meaning}`),
    ].join('\n\n'),
    headers: {
      ...everyAnswer,
      ...(status === 401 ? { 'WWW-Authenticate': header('WwwAuthenticate') } : {}),
      ...(status === 429 || status === 503 ? { 'Retry-After': header('RetryAfter') } : {}),
    },
    content: json(schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas }),
  };
}

/** True when a status also has answers without a code: failed validation, and those that the route states itself. */
function hasPlainForm(route: Route, status: HttpErrorStatus): boolean {
  return status === 400 || status === 409 || route.errors?.includes(status) === true;
}
