/** The tools of agents: operations of `/v1` under names that say what they are for, their schemas those of the routes. */
import { type AgentLevel, type Json, plainSchemaOf, type Route, routes, Simulation } from '@sandpit/protocol';
import type { AnsweringId } from '../dialects/operations.js';

/** How a tool is called to a program, and what a program may think of it. */
export interface Tool {
  readonly name: string;
  readonly id: AnsweringId;
  /** The least level that is offered it. */
  readonly level: AgentLevel;
  readonly description: string;
  readonly annotations: Readonly<Record<string, boolean | string>>;
  readonly inputSchema: Readonly<Record<string, Json>> & { readonly type: 'object' };
  readonly outputSchema: Readonly<Record<string, Json>> & { readonly type: 'object' };
  /** Where an argument belongs. */
  readonly places: ReadonlyMap<string, 'params' | 'query' | 'body'>;
}

type Named = readonly [name: string, id: AnsweringId];

const READ: readonly Named[] = [
  ['list_portfolios', 'listPortfolios'],
  ['get_portfolio', 'getPortfolio'],
  ['list_share_positions', 'listEquityPositions'],
  ['list_option_positions', 'listOptionPositions'],
  ['list_future_positions', 'listFuturePositions'],
  ['get_portfolio_margin', 'getPortfolioMargin'],
  ['get_equity_curve', 'getEquityCurve'],
  ['list_activities', 'listActivities'],
  ['list_day_trades', 'listDayTrades'],
  ['list_orders', 'listOrders'],
  ['get_order', 'getOrder'],
  ['list_executions', 'listExecutions'],
  ['get_quotes', 'getQuotes'],
  ['get_bars', 'getBars'],
  ['list_option_expirations', 'listOptionExpirations'],
  ['get_option_chain', 'getOptionChain'],
  ['find_instruments', 'listInstruments'],
  ['get_market_hours', 'getMarketHours'],
  ['get_trading_calendar', 'getTradingCalendar'],
  ['list_brokers', 'listBrokers'],
];

const BY_LEVEL: Readonly<Record<AgentLevel, readonly Named[]>> = {
  read: READ,
  preview: [
    ['preview_order', 'previewOrder'],
    ['compute_margin_requirements', 'computeRequirements'],
  ],
  capped: [
    ['place_order', 'createOrder'],
    ['update_order', 'updateOrder'],
    ['cancel_order', 'cancelOrder'],
  ],
  full: [
    ['cancel_all_orders', 'cancelAccountOrders'],
    ['open_portfolio', 'createPortfolio'],
    ['close_portfolio', 'closePortfolio'],
    ['reset_portfolio', 'resetPortfolio'],
    ['transfer_cash', 'transferCash'],
    ['switch_broker', 'switchBroker'],
    ['upgrade_margin', 'upgradeMargin'],
    ['exercise_option', 'exerciseOption'],
    ['do_not_exercise_option', 'doNotExerciseOption'],
  ],
  control: [
    ['create_simulation', 'createSimulation'],
    ['list_simulations', 'listSimulations'],
    ['delete_simulation', 'deleteSimulation'],
    ['get_clock', 'getClock'],
    ['set_clock', 'setClock'],
    ['advance_clock', 'advanceClock'],
    ['push_quotes', 'pushQuotes'],
    ['put_instruments', 'putInstruments'],
    ['add_corporate_actions', 'addCorporateActions'],
  ],
};

/** What can not be undone. */
const DESTRUCTIVE: ReadonlySet<AnsweringId> = new Set<AnsweringId>([
  'closePortfolio',
  'resetPortfolio',
  'deleteSimulation',
  'cancelOrder',
  'cancelAccountOrders',
  'exerciseOption',
  'advanceClock',
  'setClock',
]);

/** Names the simulation that a tool is used in; only agents that make some have a choice. */
export const SIMULATION_ARGUMENT = 'simulationId';

type Properties = Readonly<Record<string, Json>>;
type ObjectSchema = { readonly properties?: Properties; readonly required?: readonly string[] };

function toolOf(name: string, id: AnsweringId, level: AgentLevel): Tool {
  const route: Route = routes[id];
  const { params, query, body, summary, description, method } = route;
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  const places = new Map<string, 'params' | 'query' | 'body'>();
  for (const [place, schema] of [
    ['params', params],
    ['query', query],
    ['body', body],
  ] as const) {
    if (schema === undefined) continue;
    const { properties: own = {}, required: needed = [] } = plainSchemaOf(schema) as ObjectSchema;
    for (const [property, value] of Object.entries(own)) {
      properties[property] = value;
      places.set(property, place);
    }
    required.push(...needed);
  }
  const chooses = places.get(SIMULATION_ARGUMENT) === undefined;
  if (chooses)
    properties[SIMULATION_ARGUMENT] = {
      type: 'string',
      description: 'A simulation that this agent made; absent = the one of its token. Level control only.',
    };
  // An agent gets no token: it names the simulation.
  const reply =
    id === 'createSimulation'
      ? Simulation
      : Object.entries(route.responses).find(([status]) => status.startsWith('2'))?.[1];
  const isRead = method === 'GET' || route.scope === 'read';
  return {
    name,
    id,
    level,
    description: `${summary}. ${description ?? ''} Simulated: no real market, broker or money.`.replace(
      /\s+/g,
      ' ',
    ),
    annotations: {
      title: summary,
      readOnlyHint: isRead,
      destructiveHint: DESTRUCTIVE.has(id),
      idempotentHint: isRead || method === 'PUT' || method === 'DELETE',
      openWorldHint: false,
    },
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    outputSchema: answerSchema(reply === undefined ? {} : plainSchemaOf(reply)),
    places,
  };
}

/** Every answer: what it is, when and where it was true, and one of a result and an error. */
export const answerSchema = (result: Json): Tool['outputSchema'] => ({
  type: 'object',
  properties: {
    simulated: { const: true, description: 'Always: nothing here is real.' },
    simulationId: { type: 'string' },
    at: { type: 'string', format: 'date-time', description: 'Simulated time.' },
    result,
    error: {
      type: 'object',
      properties: { statusCode: { type: 'integer' }, code: { type: 'string' }, message: {} },
      required: ['statusCode', 'message'],
    },
    wouldPass: { type: 'string', description: 'With an error: what would pass instead.' },
  },
  required: ['simulated'],
});

export const TOOLS: readonly Tool[] = (Object.entries(BY_LEVEL) as [AgentLevel, readonly Named[]][]).flatMap(
  ([level, named]) => named.map(([name, id]) => toolOf(name, id, level)),
);
