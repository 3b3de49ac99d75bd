/** A call of the dashboard as a command or a program of one's own. */
import { OPERATIONS } from '@sandpit/client';
import type { OperationId } from '@sandpit/protocol';

export interface CallMade {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: string | undefined;
}

interface Operation {
  readonly id: OperationId;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

const PATTERNS = (Object.entries(OPERATIONS) as [OperationId, string][])
  .map(([id, text]) => {
    const [method = '', template = ''] = text.split(' ');
    const names = [...template.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
    const pattern = new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/:\w+/g, '([^/]+)')}$`);
    return { id, method, names, pattern };
  })
  // When two patterns match, the one with fewer names wins.
  .sort((a, b) => a.names.length - b.names.length);

/** The operation of a call, with its path and query parameters; undefined for a call outside of the API. */
export function operationOf({ method, path }: CallMade): Operation | undefined {
  const [route = '', queryText = ''] = path.split('?');
  for (const { id, method: wanted, names, pattern } of PATTERNS) {
    const match = wanted === method ? pattern.exec(route) : null;
    if (match === null) continue;
    const params = Object.fromEntries(
      names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? '')]),
    );
    return { id, params, query: Object.fromEntries(new URLSearchParams(queryText)) };
  }
  return undefined;
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** Numbers and flags of a query as themselves. */
const typed = (query: Readonly<Record<string, string>>): object =>
  Object.fromEntries(
    Object.entries(query).map(([name, text]) => [
      name,
      /^\d{1,9}$/.test(text) ? Number(text) : text === 'true' || text === 'false' ? text === 'true' : text,
    ]),
  );

export function asCurl({ method, path, body }: CallMade): string {
  const isStream = path.startsWith('/v1/stream/');
  const parts = [
    `curl -sS${isStream ? 'N' : ''}${method === 'GET' ? '' : ` -X ${method}`} '${location.origin}${path.replaceAll("'", '%27')}'`,
    `-H "Authorization: Bearer $SANDPIT_TOKEN"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${body.replaceAll("'", "'\\''")}'`]),
  ];
  return parts.join(' \\\n  ');
}

/** Part of a text that this page shows, kept apart so that it does not look like an import of this file. */
const FROM_PACKAGE = ['from', "'sandpit-broker'"].join(' ');

export function asTypeScript(call: CallMade): string | undefined {
  const operation = operationOf(call);
  if (operation === undefined) return undefined;
  const { id, params, query } = operation;
  const body = call.body === undefined ? undefined : (JSON.parse(call.body) as unknown);
  const lines = [
    ...(isEmpty(params) ? [] : [`  params: ${JSON.stringify(params)},`]),
    ...(isEmpty(query) ? [] : [`  query: ${JSON.stringify(typed(query))},`]),
    ...(body === undefined ? [] : [`  body: ${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')},`]),
  ];
  const given = lines.length === 0 ? '' : `, {\n${lines.join('\n')}\n}`;
  return `import { connect } ${FROM_PACKAGE};

// The token comes from SANDPIT_TOKEN.
const sandpit = await connect({ url: '${location.origin}' });
${streamIn(operation, `console.log(await sandpit.call('${id}'${given}));`)}
`;
}

/** Streams have their own methods. */
function streamIn({ id, query }: Operation, otherwise: string): string {
  const of = (names: readonly string[]): string =>
    JSON.stringify(Object.fromEntries(Object.entries(query).filter(([name]) => names.includes(name))));
  const opened =
    id === 'streamOrders'
      ? `sandpit.orderEvents(${of(['accountId', 'portfolioId'])})`
      : id === 'streamQuotes'
        ? `sandpit.quoteEvents(${JSON.stringify((query['symbols'] ?? '').split(','))})`
        : id === 'streamPortfolios'
          ? `sandpit.portfolioEvents(${query['portfolioIds'] === undefined ? of(['accountId', 'portfolioId']) : JSON.stringify({ portfolioIds: query['portfolioIds'].split(',') })})`
          : undefined;
  return opened === undefined ? otherwise : `for await (const event of ${opened}) console.log(event);`;
}

/** JSON as Python writes it. */
function python(value: unknown, indent = ''): string {
  const deeper = `${indent}    `;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map((one) => python(one, deeper)).join(', ')}]`;
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    return `{\n${entries.map(([name, one]) => `${deeper}${JSON.stringify(name)}: ${python(one, deeper)},`).join('\n')}\n${indent}}`;
  }
  return JSON.stringify(value);
}

export function asPython(call: CallMade): string | undefined {
  const operation = operationOf(call);
  if (operation === undefined) return undefined;
  const { id, params, query } = operation;
  const body = call.body === undefined ? undefined : (JSON.parse(call.body) as unknown);
  const parts = [
    `"${id}"`,
    ...(isEmpty(params) ? [] : [`params=${python(params, '    ')}`]),
    ...(isEmpty(query) ? [] : [`query=${python(query, '    ')}`]),
    ...(body === undefined ? [] : [`body=${python(body, '    ')}`]),
  ];
  const several = query['portfolioIds'];
  const opened =
    id === 'streamOrders'
      ? 'client.order_events()'
      : id === 'streamQuotes'
        ? `client.quote_events(${python((query['symbols'] ?? '').split(','))})`
        : id === 'streamPortfolios'
          ? `client.portfolio_events(${several === undefined ? python(query['portfolioId'] ?? '') : `portfolio_ids=${python(several.split(','))}`})`
          : undefined;
  return `import sandpit  # sandpit.py, as it comes with the package

# The token comes from SANDPIT_TOKEN, the server from SANDPIT_URL=${location.origin}
with sandpit.connect() as client:
${opened === undefined ? `    print(client.call(${parts.join(', ')}))` : `    for event in ${opened}:\n        print(event)`}
`;
}
