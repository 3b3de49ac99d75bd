import { openApiDocument, type OpenApiOptions } from '@sandpit/protocol';
import type { FastifyInstance } from 'fastify';
import { llmsText } from './llms-text.js';
import { ROUTE_NOT_FOUND } from './answer.js';
import { type DemoTokenRules, type IssueDemoToken, registerDemoToken } from './demo-token.js';
import { type DashboardFiles, wantsPage } from './dashboard.js';
import { type DocsSite, registerDocsSite } from './docs-site.js';
import { reply as sendAnswer, send } from './reply.js';

/** Path of the API reference. */
export const API_REFERENCE = '/docs/api';

/** The OpenAPI document, built when its text is first read; empty until then. */
export interface OpenApi {
  readonly document: Readonly<Record<string, unknown>>;
  readonly text: () => string;
}

/** The OpenAPI document, the site and the guide for language models. None of them needs a token. */
export function registerDocs(
  app: FastifyInstance,
  options: OpenApiOptions,
  site: DocsSite,
  dashboard: DashboardFiles | undefined,
  issueDemoToken: IssueDemoToken | undefined,
  rules: DemoTokenRules,
): OpenApi {
  // Built at the first request, to keep the start fast.
  const document: Record<string, unknown> = {};
  let text: string | undefined;
  const made = (): string => (text ??= JSON.stringify(Object.assign(document, openApiDocument(options))));
  const welcome = JSON.stringify({
    name: 'Sandpit',
    version: options.version,
    docs: '/docs',
    openapi: '/openapi.json',
    health: '/v1/health',
  });
  const guide = llmsText();
  app.get('/', (request, reply) => {
    // The router treats `*` alike.
    if (request.raw.url?.startsWith('/') !== true) sendAnswer(request, reply, ROUTE_NOT_FOUND);
    else if (dashboard !== undefined && wantsPage(request)) dashboard.sendPage(request, reply);
    else send(request, reply, 200, welcome, dashboard === undefined ? undefined : { vary: 'Accept' });
  });
  app.get('/openapi.json', (request, reply) => send(request, reply, 200, made()));
  app.get('/llms.txt', (request, reply) =>
    send(request, reply, 200, guide, { 'content-type': 'text/plain; charset=utf-8' }),
  );
  if (issueDemoToken !== undefined) registerDemoToken(app, issueDemoToken, rules);
  registerDocsSite(app, site);
  return { document, text: made };
}
