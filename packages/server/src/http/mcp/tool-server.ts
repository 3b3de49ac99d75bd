/** One conversation with an agent, in the words of the Model Context Protocol. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type AnsweringId, type OperationInput, Refused } from '@sandpit/dialect-port';
import { type AgentLevel, agentLevels } from '@sandpit/protocol';
import type { Simulations } from '../../engine/directory/simulations.js';
import { isMadeBy } from '../admission.js';
import { type Agent, levelRefusal } from '../agents/levels.js';
import { type Answer, refuse, SIMULATION_NOT_FOUND } from '../answer.js';
import type { Caller, Operations } from '../dialects/operations.js';
import { isoOf } from '../translate/instants.js';
import { describe, PROMPTS, promptText } from './prompts.js';
import { rulePages } from './rule-pages.js';
import { placesOf } from './tool-schema.js';
import {
  type Arguments,
  type Ask,
  CELL_TOOLS,
  listed,
  SIMULATION_ARGUMENT,
  type Tool,
  TOOLS,
} from './tools.js';
import { wouldPass } from './would-pass.js';

export interface ToolDeps {
  readonly operations: Operations;
  readonly simulations: Simulations;
  readonly version: string;
}

/** Counts a call of a request against its rate limit. Returns the refusal when the call exceeds it. */
export type Counting = () => Answer | undefined;

const NOTICE = 'SIMULATED: no real market, broker or money.';

const INSTRUCTIONS = `Sandpit is a simulated US brokerage: no order reaches a real market, and every answer says so. Prices and amounts are US dollars; times are simulated times in UTC. Tools beyond the level of this token (read, preview, capped, full, control) are not listed. A refusal has an error with figures, and \`wouldPass\` with a change that would make the call succeed. Call list_accounts first for ids, preview_order before a large order. The resources are the brokerage's rules.`;

/** A plain bearer token is offered the tools that read. */
const PLAIN_BEARER: Agent = { agentId: '', level: 'read' };

/** An entry of a competition is offered the tools that trade: what its token may do is checked in each. */
const ENTRY: Agent = { agentId: '', level: 'full' };

const RUN_INSTRUCTIONS =
  ' This token plays one run: call get_run for its instructions; advance moves its clock.';

/** The JSON-RPC code of a request beyond the rate limit. */
const TOO_MANY = -32_029;

const rank = (level: AgentLevel): number => agentLevels.indexOf(level);

/** A server for one caller, with the tools of the caller's level. */
// The high-level server of the SDK accepts schemas of another library only; ours are JSON Schema already.
// eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
export function toolServer(caller: Caller, deps: ToolDeps, count: Counting): Server {
  const { isEntry = false } = caller.principal;
  const agent = caller.principal.agent ?? (isEntry ? ENTRY : PLAIN_BEARER);
  const isRun = isEntry && caller.simulation.brokerage.state.competition?.terms.isEvaluation === true;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
  const server = new Server(
    { name: 'sandpit', title: 'Sandpit, a simulated US brokerage', version: deps.version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: isRun ? INSTRUCTIONS + RUN_INSTRUCTIONS : INSTRUCTIONS,
    },
  );
  const ofRun = isRun ? CELL_TOOLS : [];
  const offered = [...ofRun, ...TOOLS.filter(({ level }) => rank(level) <= rank(agent.level))];
  const counted = (): void => {
    const refusal = count();
    if (refusal !== undefined) throw new McpError(TOO_MANY, new Refused(refusal).message);
  };
  server.setRequestHandler(ListToolsRequestSchema, () => {
    counted();
    return { tools: offered.map((tool) => listed(tool, agent.level)) as ListToolsResult['tools'] };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const refusal = count();
    if (refusal !== undefined) return refusedWith(new Refused(refusal), params.arguments ?? {}, caller);
    const tool = [...ofRun, ...TOOLS].find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}`);
    return called(tool, params.arguments ?? {}, agent, caller, deps);
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => {
    counted();
    return {
      resources: rulePages().map(({ uri, name, title }) => ({ uri, name, title, mimeType: 'text/markdown' })),
    };
  });
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    counted();
    const page = rulePages().find((one) => one.uri === uri);
    if (page === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri}`);
    return { contents: [{ uri, mimeType: 'text/markdown', text: page.text }] };
  });
  server.setRequestHandler(ListPromptsRequestSchema, () => {
    counted();
    return { prompts: [...PROMPTS.values()].map(describe) };
  });
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    counted();
    const prompt = PROMPTS.get(params.name);
    if (prompt === undefined)
      throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${params.name}`);
    const content = { type: 'text' as const, text: promptText(prompt, params.arguments ?? {}) };
    return { description: prompt.description, messages: [{ role: 'user' as const, content }] };
  });
  return server;
}

async function called(
  tool: Tool,
  given: Arguments,
  agent: Agent,
  caller: Caller,
  deps: ToolDeps,
): Promise<CallToolResult> {
  let place = caller;
  try {
    place = await placeOf(tool, given, agent, caller, deps);
    checkNames(tool, given);
    const { simulationId, tenantId } = place.principal;
    const isOwn = isMadeBy(deps.simulations.entries, agent, simulationId, tenantId);
    const isOfRun = CELL_TOOLS.includes(tool);
    const ask: Ask = (id, asked) => {
      // What the token of a run may do is checked by its place.
      const tooLow = isOfRun ? undefined : levelRefusal(agent, id, isOwn);
      if (tooLow !== undefined) throw new Refused(tooLow);
      return deps.operations.run(place, id, requestOf(id, asked));
    };
    const result = await tool.run(given, ask);
    return answerOf(place, { result });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return refusedWith(error, given, place);
  }
}

function refusedWith(
  error: Refused,
  given: Readonly<Record<string, unknown>>,
  place: Caller,
): CallToolResult {
  const { status, messages, details } = error;
  const message = messages.length === 1 ? messages[0] : messages;
  const instead = wouldPass(error, given);
  return {
    ...answerOf(place, { error: { ...details, statusCode: status, message }, wouldPass: instead }),
    isError: true,
  };
}

/** The simulation of a tool call: that of the token, or one that the agent created. */
async function placeOf(
  { inputSchema }: Tool,
  given: Arguments,
  agent: Agent,
  caller: Caller,
  { simulations }: ToolDeps,
): Promise<Caller> {
  const id = given[SIMULATION_ARGUMENT];
  if (id === undefined || SIMULATION_ARGUMENT in inputSchema.properties) return caller;
  if (id === caller.principal.simulationId) return caller;
  const { tenantId } = caller.principal;
  const isOwn = typeof id === 'string' && isMadeBy(simulations.entries, agent, id, tenantId);
  const simulation = isOwn ? await simulations.directory.find(id, tenantId) : undefined;
  if (simulation === undefined || simulation.isOutOfService) throw new Refused(SIMULATION_NOT_FOUND);
  return { ...caller, simulation, principal: { ...caller.principal, simulationId: simulation.id } };
}

/** Refuses arguments that a tool does not have, in the words of `/v1`. */
function checkNames({ inputSchema: { properties, required } }: Tool, given: Arguments): void {
  const problems = [
    ...Object.keys(given)
      .filter((name) => name !== SIMULATION_ARGUMENT && !Object.hasOwn(properties, name))
      .map((name) => `property ${name} should not exist`),
    ...required.filter((name) => given[name] === undefined).map((name) => `${name} must be given`),
  ];
  if (problems.length > 0) throw new Refused(refuse(400, problems));
}

/** The request of an operation, with its arguments. Parameters and queries are sent as text. */
function requestOf(id: AnsweringId, given: Arguments): OperationInput {
  const params: Record<string, string> = {};
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  const places = placesOf(id);
  for (const [name, place] of places) {
    const value = given[name];
    if (value === undefined) continue;
    if (place === 'params') params[name] = textOf(value);
    else if (place === 'query') query[name] = textOf(value);
    else body[name] = value;
  }
  return { params, query, ...([...places.values()].includes('body') && { body }) };
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function answerOf(
  { simulation, principal }: Caller,
  told: Readonly<Record<string, unknown>>,
): CallToolResult {
  const structuredContent = {
    simulated: true,
    simulationId: principal.simulationId,
    at: isoOf(simulation.now()),
    ...told,
  };
  const text = `${NOTICE}\n${JSON.stringify(structuredContent)}`;
  return { content: [{ type: 'text', text }], structuredContent };
}
