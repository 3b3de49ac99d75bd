/** `/mcp`: the tools of agents over Streamable HTTP, without sessions. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from '../admission.js';
import { refuse } from '../answer.js';
import { LIST_BODY } from '../bodies/body-plan.js';
import { isLoopback } from '../demo-token.js';
import { failed, reply as send, takeOver } from '../reply.js';
import type { Counting, ToolDeps } from './tool-server.js';

const MCP_PATH = '/mcp';

const POST_ONLY = refuse(405, 'Only POST is answered here', { allow: 'POST' });

/** A page of another site must not use its visitor's tools, regardless of the host name. */
const FOREIGN_ORIGIN = refuse(403, 'Pages of this origin may not use the tools: see CORS_ORIGINS');

export function registerTools(
  app: FastifyInstance,
  admission: Admission,
  deps: ToolDeps,
  corsOrigins: ReadonlySet<string>,
): void {
  const admit = admission.forTools();
  app.route({
    method: 'POST',
    url: MCP_PATH,
    config: { body: LIST_BODY },
    onRequest: (request, reply, next) => {
      if (isForeign(request, corsOrigins)) send(request, reply, FOREIGN_ORIGIN);
      else admit(request, reply, next);
    },
    handler: (request, reply) => {
      const count = admission.chargeEach(request);
      answer(request, reply, deps, count).catch((error: unknown) => failed(request, reply, error));
    },
  });
  app.route({
    method: ['GET', 'DELETE'],
    url: MCP_PATH,
    handler: (request, reply) =>
      send(request, reply, isForeign(request, corsOrigins) ? FOREIGN_ORIGIN : POST_ONLY),
  });
}

/** True for a browser's request from a page of another origin. Programs send no origin. */
function isForeign({ headers: { origin, host } }: FastifyRequest, allowed: ReadonlySet<string>): boolean {
  if (origin === undefined || allowed.has(origin)) return false;
  // Accepts local names only: another name may be a foreign domain that resolves here.
  const name = (host ?? '').replace(/:\d+$/, '');
  return !(isLoopback(name) && (origin === `http://${host}` || origin === `https://${host}`));
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ToolDeps,
  count: Counting,
): Promise<void> {
  const { principal, simulation } = request;
  if (principal === undefined || simulation === undefined)
    throw new Error('an admitted request without principal or simulation');
  // A server that no agent talks to does not have to read the protocol.
  const [{ StreamableHTTPServerTransport }, { toolServer }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
    import('./tool-server.js'),
  ]);
  const server = toolServer({ principal, simulation, request, reply }, deps, count);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  const { raw } = reply;
  takeOver(request, reply);
  raw.once('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request.raw, raw, request.body);
}
