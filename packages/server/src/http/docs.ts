import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { openApiDocument, type OpenApiOptions } from '@sandpit/protocol';
import type { FastifyInstance } from 'fastify';
import { llmsText } from './llms-text.js';
import { ROUTE_NOT_FOUND } from './answer.js';
import { type DemoTokenRules, type IssueDemoToken, PAGE_SCRIPT, registerDemoToken } from './demo-token.js';
import { type DashboardFiles, wantsPage } from './dashboard.js';
import { type DocsSite, registerDocsSite } from './docs-site.js';
import { accepts, isCompressible, reply as sendAnswer, SECURITY_HEADERS, send } from './reply.js';

/** The API reference loads nothing from other servers. */
const PAGE_POLICY =
  "default-src 'self'; base-uri 'self'; frame-ancestors 'none'; img-src 'self' data:; object-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'";

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const PAGE_STYLE = `
.topbar .download-url-wrapper { display: none; }
.topbar-wrapper .link { font: 600 1.4rem/1 system-ui, sans-serif; color: #fff; text-decoration: none; }
.topbar-wrapper .link svg, .topbar-wrapper .link img { display: none; }
.topbar-wrapper .link::after { content: 'Sandpit'; }
.swagger-ui .topbar { background: #1d3b2f; }
`;

/** The OpenAPI document, the site, the API reference and the guide for language models. None of them needs a token. */
export async function registerDocs(
  app: FastifyInstance,
  options: OpenApiOptions,
  site: DocsSite,
  dashboard: DashboardFiles | undefined,
  issueDemoToken: IssueDemoToken | undefined,
  rules: DemoTokenRules,
): Promise<void> {
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
  await app.register(async (page) => {
    page.addHook('onRequest', (_request, _reply, done) => {
      made();
      done();
    });
    page.addHook('onSend', (request, reply, payload, done) => {
      reply.headers({
        ...SECURITY_HEADERS,
        'content-security-policy': PAGE_POLICY,
        'x-request-id': request.id,
      });
      const { cors = [] } = request;
      for (let i = 0; i + 1 < cors.length; i += 2) void reply.header(cors[i] ?? '', cors[i + 1]);
      // The files of the library.
      if (!(payload instanceof Readable) || !isCompressible(String(reply.getHeader('content-type'))))
        return done();
      void reply.header('vary', 'Accept-Encoding');
      if (request.method !== 'GET' || reply.statusCode !== 200 || !accepts(request, 'gzip')) return done();
      void reply
        .header('content-encoding', 'gzip')
        .removeHeader('content-length')
        .removeHeader('accept-ranges');
      done(
        null,
        pipeline(payload, createGzip(), () => undefined),
      );
    });
    await page.register(swagger, { mode: 'static', specification: { document: document as never } });
    await page.register(swaggerUi, {
      routePrefix: '/docs/api',
      uiConfig: { docExpansion: 'none', filter: true, persistAuthorization: true, tryItOutEnabled: true },
      logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs/', target: '_self' },
      theme: {
        title: 'Sandpit API',
        css: [{ filename: 'sandpit.css', content: PAGE_STYLE }],
        ...(issueDemoToken !== undefined && { js: [{ filename: 'sandpit.js', content: PAGE_SCRIPT }] }),
      },
    });
  });
}
