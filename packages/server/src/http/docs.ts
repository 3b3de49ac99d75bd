import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { openApiDocument, type OpenApiOptions } from '@sandpit/protocol';
import type { FastifyInstance } from 'fastify';
import { SECURITY_HEADERS, send } from './reply.js';

/** The page comes with its scripts and styles, and loads nothing from elsewhere. */
const PAGE_POLICY =
  "default-src 'self'; base-uri 'self'; frame-ancestors 'none'; img-src 'self' data:; object-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'";

/** `/openapi.json`, and `/docs` to read it in a browser. Both are for everybody. */
export async function registerDocs(app: FastifyInstance, options: OpenApiOptions): Promise<void> {
  const document = openApiDocument(options);
  const text = JSON.stringify(document);
  app.get('/openapi.json', (request, reply) => send(request, reply, 200, text));
  await app.register(async (page) => {
    page.addHook('onSend', (request, reply, _payload, done) => {
      reply.headers({
        ...SECURITY_HEADERS,
        'content-security-policy': PAGE_POLICY,
        'x-request-id': request.id,
      });
      const { cors = [] } = request;
      for (let i = 0; i + 1 < cors.length; i += 2) void reply.header(cors[i] ?? '', cors[i + 1]);
      done();
    });
    await page.register(swagger, { mode: 'static', specification: { document: document as never } });
    await page.register(swaggerUi, { routePrefix: '/docs', uiConfig: { docExpansion: 'none' } });
  });
}
