/** The API reference at `/docs/api`. */
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { PAGE_SCRIPT } from './demo-token.js';
import { API_REFERENCE, type OpenApi } from './docs.js';
import { accepts, isCompressible, SECURITY_HEADERS } from './reply.js';

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

/** With `hasDemoToken` its reader gets a token, as `registerDemoToken` issues them. */
export async function registerApiReference(
  app: FastifyInstance,
  openApi: OpenApi,
  { hasDemoToken }: { readonly hasDemoToken: boolean },
): Promise<void> {
  await app.register(async (page) => {
    page.addHook('onRequest', (_request, _reply, done) => {
      openApi.text();
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
    await page.register(swagger, { mode: 'static', specification: { document: openApi.document as never } });
    await page.register(swaggerUi, {
      routePrefix: API_REFERENCE,
      uiConfig: { docExpansion: 'none', filter: true, persistAuthorization: true, tryItOutEnabled: true },
      logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs/', target: '_self' },
      theme: {
        title: 'Sandpit API',
        css: [{ filename: 'sandpit.css', content: PAGE_STYLE }],
        ...(hasDemoToken && { js: [{ filename: 'sandpit.js', content: PAGE_SCRIPT }] }),
      },
    });
  });
}
