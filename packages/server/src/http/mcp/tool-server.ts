/** One conversation with an agent, in the words of the Model Context Protocol. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type AgentLevel, agentLevels } from '@sandpit/protocol';
import type { Simulations } from '../../engine/simulations.js';
import { isMadeBy } from '../admission.js';
import { type Agent, levelRefusal } from '../agents/levels.js';
import { SIMULATION_NOT_FOUND } from '../answer.js';
import { type Caller, type Given, type Operations, Refused } from '../dialects/operations.js';
import { isoOf } from '../translate/instants.js';
import { rulePages } from './rule-pages.js';
import { SIMULATION_ARGUMENT, type Tool, TOOLS } from './tools.js';
import { wouldPass } from './would-pass.js';

export interface ToolDeps {
  readonly operations: Operations;
  readonly simulations: Simulations;
  readonly version: string;
}

const NOTICE = 'SIMULATED: no real market, broker or money.';

const INSTRUCTIONS = `Sandpit is a simulated US brokerage: nothing here is real, and every answer says so. What this token may do depends on its level (read, preview, capped, full, control); tools beyond it are not listed. A refusal says what would pass instead. The resources are the rules by which the brokerage decides. Prices and amounts are dollars, times are simulated times in UTC.`;

/** A bearer that is no agent's looks, and does nothing. */
const STRANGER: Agent = { agentId: '', level: 'read' };

const rank = (level: AgentLevel): number => agentLevels.indexOf(level);

/** A server for one caller, with the tools of the caller's level. */
// The high-level server of the SDK takes schemas of another library only; ours are JSON Schema already.
// eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
export function toolServer(caller: Caller, deps: ToolDeps): Server {
  const agent = caller.principal.agent ?? STRANGER;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
  const server = new Server(
    { name: 'sandpit', title: 'Sandpit, a simulated US brokerage', version: deps.version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  const offered = TOOLS.filter(({ level }) => rank(level) <= rank(agent.level));
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: offered.map(({ name, description, annotations, inputSchema, outputSchema }) => ({
      name,
      description,
      annotations,
      inputSchema,
      outputSchema,
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}`);
    return called(tool, params.arguments ?? {}, agent, caller, deps);
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: rulePages().map(({ uri, name, title }) => ({ uri, name, title, mimeType: 'text/markdown' })),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const page = rulePages().find((one) => one.uri === uri);
    if (page === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri}`);
    return { contents: [{ uri, mimeType: 'text/markdown', text: page.text }] };
  });
  return server;
}

async function called(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  agent: Agent,
  caller: Caller,
  deps: ToolDeps,
): Promise<CallToolResult> {
  let place = caller;
  try {
    place = await placeOf(tool, given, agent, caller, deps);
    const { simulationId, tenantId } = place.principal;
    const isOwn = isMadeBy(deps.simulations, agent, simulationId, tenantId);
    const tooLow = levelRefusal(agent, tool.id, isOwn);
    if (tooLow !== undefined) throw new Refused(tooLow);
    const result = await deps.operations.run(place, tool.id, argumentsOf(tool, given));
    return answerOf(place, { result });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { status, messages, details } = error;
    const message = messages.length === 1 ? messages[0] : messages;
    const instead = wouldPass(error, given);
    return {
      ...answerOf(place, { error: { ...details, statusCode: status, message }, wouldPass: instead }),
      isError: true,
    };
  }
}

/** Where a tool is used: in the simulation of the token, or in one that the agent made. */
async function placeOf(
  { places }: Tool,
  given: Readonly<Record<string, unknown>>,
  agent: Agent,
  caller: Caller,
  { simulations }: ToolDeps,
): Promise<Caller> {
  const id = given[SIMULATION_ARGUMENT];
  if (id === undefined || places.has(SIMULATION_ARGUMENT) || id === caller.principal.simulationId)
    return caller;
  const { tenantId } = caller.principal;
  const isOwn = typeof id === 'string' && isMadeBy(simulations, agent, id, tenantId);
  const simulation = isOwn ? await simulations.find(id, tenantId) : undefined;
  if (simulation === undefined || simulation.isOutOfService) throw new Refused(SIMULATION_NOT_FOUND);
  return { ...caller, simulation, principal: { ...caller.principal, simulationId: simulation.id } };
}

/** Arguments where the route has them. Those of paths and queries travel as text there. */
function argumentsOf({ places }: Tool, given: Readonly<Record<string, unknown>>): Given {
  const params: Record<string, string> = {};
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const place = places.get(name);
    if (place === undefined && name === SIMULATION_ARGUMENT) continue;
    if (place === 'params') params[name] = textOf(value);
    else if (place === 'query') query[name] = textOf(value);
    // What nothing asks for, the schema of the body refuses by name.
    else body[name] = value;
  }
  const hasBody = [...places.values()].includes('body') || Object.keys(body).length > 0;
  return { params, query, ...(hasBody && { body }) };
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function answerOf({ simulation }: Caller, told: Readonly<Record<string, unknown>>): CallToolResult {
  const structuredContent = {
    simulated: true,
    simulationId: simulation.id,
    at: isoOf(simulation.now()),
    ...told,
  };
  const text = `${NOTICE}\n${JSON.stringify(structuredContent)}`;
  return { content: [{ type: 'text', text }], structuredContent };
}
