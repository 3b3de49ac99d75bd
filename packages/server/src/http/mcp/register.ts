/** `/mcp`: the tools of agents over Streamable HTTP. Each request is answered by itself; nothing is kept between them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from '../admission.js';
import { refuse } from '../answer.js';
import { failed, reply as send, SECURITY_HEADERS } from '../reply.js';
import type { ToolDeps } from './tool-server.js';

export const MCP_PATH = '/mcp';

const POST_ONLY = refuse(405, 'Only POST is answered here', { allow: 'POST' });

export function registerTools(app: FastifyInstance, admission: Admission, deps: ToolDeps): void {
  app.route({
    method: 'POST',
    url: MCP_PATH,
    onRequest: admission.forTools(),
    handler: (request, reply) => {
      answer(request, reply, deps).catch((error: unknown) => failed(request, reply, error));
    },
  });
  app.route({
    method: ['GET', 'DELETE'],
    url: MCP_PATH,
    handler: (request, reply) => send(request, reply, POST_ONLY),
  });
}

async function answer(request: FastifyRequest, reply: FastifyReply, deps: ToolDeps): Promise<void> {
  const { principal, simulation } = request;
  if (principal === undefined || simulation === undefined)
    throw new Error('a tool without anybody to use it');
  // A server that no agent talks to does not have to read the protocol.
  const [{ StreamableHTTPServerTransport }, { toolServer }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
    import('./tool-server.js'),
  ]);
  const server = toolServer({ principal, simulation, request, reply }, deps);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  const { raw } = reply;
  reply.hijack();
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) raw.setHeader(name, value);
  raw.once('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request.raw, raw, request.body);
}
