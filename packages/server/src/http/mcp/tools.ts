/** The tools of agents: operations of `/v1` under names that state their purpose, merged by subject. */
import { type AnsweringId, Refused } from '@sandpit/dialect-port';
import type { AgentLevel, Json, ReplyOf } from '@sandpit/protocol';
import { refuse } from '../answer.js';
import { type Choice, inputOf, type InputSchema } from './tool-schema.js';

export type Arguments = Readonly<Record<string, unknown>>;

/** Runs an operation for the agent that called a tool; of `given` the operation gets the arguments that it has. */
export type Ask = <Id extends AnsweringId>(id: Id, given: Arguments) => Promise<ReplyOf<Id>>;

/** The effect of a tool, which decides the hints that hosts show. */
type Effect = 'reads' | 'changes' | 'destroys';

export interface Tool {
  readonly name: string;
  /** The lowest level that is offered it. */
  readonly level: AgentLevel;
  readonly title: string;
  readonly description: string;
  readonly effect: Effect;
  /** A second call with the same arguments has no further effect. */
  readonly isIdempotent: boolean;
  readonly inputSchema: InputSchema;
  /** Calls the operations of the tool. */
  readonly run: (given: Arguments, ask: Ask) => Promise<unknown>;
}

interface Definition extends Choice {
  readonly title: string;
  readonly description: string;
  /** The operations whose arguments the tool has; without `run` the one that it calls. */
  readonly of: readonly [AnsweringId, ...AnsweringId[]];
  readonly effect?: Effect;
  readonly isIdempotent?: boolean;
  readonly run?: Tool['run'];
}

const text = (value: unknown): string => String(value);

/** Refuses a call with one sentence. */
const wrong = (message: string): Refused => new Refused(refuse(400, [message]));

/** An order with its executions. */
async function orderNow(orderId: string, ask: Ask): Promise<unknown> {
  const order = await ask('getOrder', { orderId });
  if ((order.filledQuantity ?? 0) === 0) return order;
  const { data: executions } = await ask('listExecutions', { orderId, limit: 100 });
  return { ...order, executions };
}

const INCLUDES = ['margin', 'dayTrades', 'marginCalls', 'settlements'] as const;

const READ: Readonly<Record<string, Definition>> = {
  list_accounts: {
    title: 'List accounts and portfolios',
    description: 'Lists the accounts, newest first, each with its open portfolios. Start here to find ids.',
    of: ['listAccounts'],
    run: async (given, ask) => {
      const { data, pagination } = await ask('listAccounts', given);
      const accounts = await Promise.all(
        data.map(async (account) => ({
          ...account,
          portfolios: await ask('listAccountPortfolios', { accountId: account.accountId }),
        })),
      );
      return { data: accounts, pagination };
    },
  },
  get_portfolio: {
    title: 'Get a portfolio',
    description: 'Balances, buying power, equity and profit in dollars at the quotes in force.',
    of: ['getPortfolio'],
    more: {
      include: {
        type: 'array',
        items: { enum: [...INCLUDES] },
        description: 'Details to add: requirement per margin group, day trades, calls, unsettled cash.',
      },
    },
    run: async ({ portfolioId, include = [] }, ask) => {
      const wanted = Array.isArray(include) ? include : [include];
      if (!wanted.every((one) => INCLUDES.some((known) => known === one)))
        throw wrong(`each value in include must be one of ${INCLUDES.join(', ')}`);
      const given = { portfolioId };
      return {
        ...(await ask('getPortfolio', given)),
        ...(wanted.includes('margin') && { margin: await ask('getPortfolioMargin', given) }),
        ...(wanted.includes('dayTrades') && { dayTrades: (await ask('listDayTrades', given)).data }),
        ...(wanted.includes('marginCalls') && { marginCalls: (await ask('listMarginCalls', given)).data }),
        ...(wanted.includes('settlements') && { settlements: await ask('listSettlements', given) }),
      };
    },
  },
  list_positions: {
    title: 'List positions',
    description: 'Shares, options and futures of a portfolio with cost, market value and profit.',
    of: ['listEquityPositions'],
    run: async (given, ask) => ({
      equities: await ask('listEquityPositions', given),
      options: await ask('listOptionPositions', given),
      futures: await ask('listFuturePositions', given),
    }),
  },
  get_analysis: {
    title: 'Get performance, trades, costs, taxes or the equity curve',
    description:
      'What trading returned and cost. Ratios are fractions: 0.01 = 1 %. Each `about` uses the parameters that fit it.',
    of: ['getPerformance', 'listTrades', 'getExecutionQuality', 'listRealizedGains', 'getEquityCurve'],
    more: {
      about: {
        enum: ['performance', 'trades', 'costs', 'taxes', 'equity'],
        description:
          'performance (default): return, risk, drawdown; trades: round trips; costs: slippage; taxes: realized gains of a year; equity: its curve, newest first.',
      },
    },
    run: async ({ about = 'performance', ...given }, ask) => {
      switch (about) {
        case 'performance':
          return ask('getPerformance', given);
        case 'trades':
          return ask('listTrades', given);
        case 'costs':
          return ask('getExecutionQuality', given);
        case 'taxes':
          return ask('listRealizedGains', given);
        case 'equity':
          return ask('getEquityCurve', given);
        default:
          throw wrong('about must be one of performance, trades, costs, taxes, equity');
      }
    },
  },
  list_activities: {
    title: 'List activities',
    description: 'Orders, executions, cash movements, settlements and corporate actions, newest first.',
    of: ['listActivities'],
  },
  list_orders: {
    title: 'List orders',
    description: 'Orders of all accounts, newest first, with filters.',
    of: ['listOrders'],
  },
  get_order: {
    title: 'Get an order',
    description:
      'An order with its executions. An open order says in `waitingFor` why it does not execute, a rejected one in `rejectReason`.',
    of: ['getOrder'],
    run: ({ orderId }, ask) => orderNow(text(orderId), ask),
  },
  get_quotes: {
    title: 'Get quotes',
    description: 'The latest quotes of shares, options, futures or indices.',
    of: ['getQuotes'],
  },
  get_bars: {
    title: 'Get bars',
    description: 'Open, high, low, close and volume, oldest first.',
    of: ['getBars'],
  },
  get_option_chain: {
    title: 'Get an option chain',
    description:
      'Calls and puts by strike, with quotes and Greeks. Without `expiration`: the nearest one, and the list of all expirations.',
    of: ['getOptionChain'],
    run: async (given, ask) => {
      const chain = await ask('getOptionChain', given);
      if (given['expiration'] !== undefined) return chain;
      const { expirations } = await ask('listOptionExpirations', given);
      return { ...chain, expirations };
    },
  },
  find_instruments: {
    title: 'Find instruments',
    description: 'Symbols that can be traded, with their properties. Options: name the `underlying`.',
    of: ['listInstruments'],
  },
  get_market_hours: {
    title: 'Get market hours',
    description:
      'Whether the market is open, and when it opens and closes next. With `from` or `to` also the trading days between.',
    of: ['getTradingCalendar'],
    more: { exchange: { type: 'string', description: 'Such as XNYS (default) or XCME.' } },
    run: async (given, ask) => {
      const { exchange, from, to } = given;
      const hours =
        exchange === undefined
          ? await ask('getMarketHours', {})
          : await ask('getExchangeHours', { exchange });
      if (from === undefined && to === undefined) return hours;
      const { days } = await ask('getTradingCalendar', given);
      return { ...hours, days };
    },
  },
  list_brokers: {
    title: 'List brokers',
    description: 'Broker configurations: commissions, margin rates, permissions.',
    of: ['listBrokers'],
  },
};

const PREVIEW: Readonly<Record<string, Definition>> = {
  preview_order: {
    title: 'Preview an order',
    description: 'Estimates fills, charges and margin of an order; reasons against it are in `rejections`.',
    of: ['previewOrder'],
    except: ['clientOrderId', 'notes', 'recordRefusal'],
    effect: 'reads',
  },
  compute_margin_requirements: {
    title: 'Compute margin requirements',
    description: 'Margins hypothetical positions by group. Stores nothing.',
    of: ['computeRequirements'],
    effect: 'reads',
  },
};

const CAPPED: Readonly<Record<string, Definition>> = {
  place_order: {
    title: 'Place an order',
    description:
      'Places an order and answers with its state and executions: FILLED, ACTIVE with `waitingFor`, or REJECTED with `rejectReason`. Give a `clientOrderId` to make a repeat safe.',
    of: ['createOrder'],
    except: ['recordRefusal'],
    run: async (given, ask) => orderNow((await ask('createOrder', given)).orderId, ask),
  },
  update_order: {
    title: 'Change an open order',
    description: 'Changes prices, quantity or time in force of an open order and answers with the order.',
    of: ['updateOrder'],
    effect: 'destroys',
    isIdempotent: true,
    run: async (given, ask) => orderNow((await ask('updateOrder', given)).orderId, ask),
  },
  cancel_order: {
    title: 'Cancel orders',
    description: 'Cancels one order by `orderId`, or all open orders of an account by `accountId`.',
    of: ['cancelOrder', 'cancelAccountOrders'],
    optional: ['orderId', 'accountId'],
    effect: 'destroys',
    isIdempotent: true,
    run: async (given, ask) => {
      const { orderId, accountId } = given;
      if ((orderId === undefined) === (accountId === undefined))
        throw wrong('exactly one of orderId and accountId must be given');
      return orderId === undefined ? ask('cancelAccountOrders', given) : ask('cancelOrder', given);
    },
  },
  close_position: {
    title: 'Close a position',
    description:
      'Sells what is long or buys back what is short in one symbol: by default all that no other order holds back, at the market. Answers like place_order.',
    of: ['createOrder'],
    only: ['portfolioId', 'symbol', 'quantity', 'limitPrice', 'clientOrderId'],
    effect: 'destroys',
    run: closePosition,
  },
};

const FULL: Readonly<Record<string, Definition>> = {
  open_portfolio: {
    title: 'Open a portfolio',
    description: 'Opens a portfolio with starting cash; an `accountId` that does not exist is created.',
    of: ['createPortfolio'],
  },
  update_portfolio: {
    title: 'Change broker or margin type, or move cash',
    description:
      'Switches the broker (`brokerId`) or the margin type (`marginType`), or deposits `amount` (negative = withdraws); one per call.',
    of: ['switchBroker', 'upgradeMargin', 'transferCash'],
    except: ['reason'],
    optional: ['brokerId', 'marginType', 'amount'],
    effect: 'destroys',
    run: async (given, ask) => {
      const { brokerId, marginType, amount } = given;
      if ([brokerId, marginType, amount].filter((one) => one !== undefined).length !== 1)
        throw wrong('exactly one of brokerId, marginType and amount must be given');
      if (amount !== undefined) return ask('transferCash', given);
      return brokerId === undefined ? ask('upgradeMargin', given) : ask('switchBroker', given);
    },
  },
  reset_portfolio: {
    title: 'Reset or close a portfolio',
    description:
      'Cancels orders, closes positions and restores the initial cash; with `close` closes a portfolio without positions and open orders instead. Cannot be undone.',
    of: ['resetPortfolio'],
    effect: 'destroys',
    more: { close: { type: 'boolean', default: false, description: 'true: closes the portfolio.' } },
    run: async ({ close = false, ...given }, ask) =>
      close === true ? ask('closePortfolio', given) : ask('resetPortfolio', given),
  },
  exercise_option: {
    title: 'Exercise an option, or decline to',
    description:
      'Exercises long contracts now, or with `doNotExercise` keeps them from being exercised at expiration.',
    of: ['exerciseOption'],
    effect: 'destroys',
    more: {
      doNotExercise: {
        type: 'boolean',
        default: false,
        description: 'true: lets that many contracts expire; quantity 0 withdraws the instruction.',
      },
    },
    run: async ({ doNotExercise = false, ...given }, ask) =>
      doNotExercise === true ? ask('doNotExerciseOption', given) : ask('exerciseOption', given),
  },
};

/** The longest that a request for a comparison waits for its end. */
const LONGEST_WAIT_SECONDS = 30;

const STRINGS: Json = { type: 'array', items: { type: 'string' } };

const ADVANCES =
  'Places `orders` and cancels `cancels`, then moves a manual clock forward by a duration (`by`), to an instant (`to`) or `until` something happens, and answers with order events and all that `observe` names; `hasMore` = call again.';

/** Arguments of an advance that make it a step. */
const STEP_ARGUMENTS = {
  orders: { type: 'array', items: { type: 'object' }, description: 'Each as for place_order.' },
  cancels: { type: 'array', items: { type: 'string' }, description: 'Order ids.' },
  observe: {
    type: 'object',
    properties: { symbols: STRINGS, portfolios: STRINGS, orders: { type: 'boolean' } },
    description: 'Quotes, and portfolios (ids) with positions and `orders`, to show.',
  },
} as const;

const CONTROL: Readonly<Record<string, Definition>> = {
  create_simulation: {
    title: 'Create a simulation',
    description: 'Creates a market of your own; name its `simulationId` in other tools.',
    of: ['createSimulation'],
    // An agent gets no token: it names the simulation.
    run: async (given, ask) => {
      const { simulationId } = await ask('createSimulation', given);
      return ask('getSimulation', { simulationId });
    },
  },
  fork: {
    title: 'Fork a simulation',
    description: 'Copies a simulation as it stands or stood; name the new `simulationId` in other tools.',
    of: ['forkSimulation'],
    except: ['clock', 'speed', 'ttl', 'name'],
    run: async (given, ask) => {
      const { simulationId, stateHash } = await ask('forkSimulation', given);
      return { ...(await ask('getSimulation', { simulationId })), stateHash };
    },
  },
  compare: {
    title: 'Compare a simulation under other rules',
    description:
      'Executes the orders of a simulation again, by default at every broker, and answers with a row for each and the first order that went differently. If it is RUNNING after 30 seconds, call again with its `comparisonId`.',
    of: ['createComparison'],
    only: ['simulationId'],
    optional: ['simulationId'],
    more: {
      from: { type: 'object', description: 'Where it begins: `{ snapshotId }`, `{ at }` or `{ sequence }`.' },
      until: { type: 'object', description: 'Where it ends, likewise.' },
      variants: {
        type: 'array',
        items: { type: 'object' },
        description:
          '`{ name, brokerId?, brokers?: { portfolioId: brokerId }, fillModel?, latencyProfile?, latencyMs?, dayTradeRegime?, seed? }`.',
      },
      comparisonId: { type: 'string', description: 'Instead of the others: one that was begun.' },
    },
    run: async ({ comparisonId, variants = 'all-brokers', ...given }, ask) => {
      const begun =
        comparisonId === undefined ? await ask('createComparison', { ...given, variants }) : { comparisonId };
      return ask('getComparison', { comparisonId: begun.comparisonId, wait: LONGEST_WAIT_SECONDS });
    },
  },
  simulations: {
    title: 'List or delete simulations',
    description:
      'Lists the simulations that this agent made; `delete` deletes one permanently with all its data.',
    of: ['listSimulations'],
    more: { delete: { type: 'string', description: 'A simulationId.' } },
    effect: 'destroys',
    isIdempotent: true,
    run: async ({ delete: unwanted, ...given }, ask) =>
      unwanted === undefined
        ? ask('listSimulations', given)
        : ask('deleteSimulation', { simulationId: unwanted }),
  },
  advance: {
    title: 'Advance the clock, with orders',
    description: `${ADVANCES} \`speed\` sets a scaled clock instead.`,
    of: ['advanceClock', 'setClock'],
    except: ['now'],
    more: STEP_ARGUMENTS,
    effect: 'destroys',
    run: advance,
  },
  update_market: {
    title: 'Update the market',
    description:
      'Lists instruments, then announces corporate actions, resumes and halts symbols (`*` = the stock market), then pushes quotes (feed `push`).',
    of: ['addCorporateActions', 'pushQuotes'],
    optional: ['actions', 'quotes'],
    more: {
      actions: {
        type: 'array',
        items: { type: 'object' },
        description:
          '`{ type, symbol, exDate, … }`; SPLIT: ratio `{ new, old }`; CASH_DIVIDEND: amountPerShare, payDate?; SPECIAL_DIVIDEND, DELISTING: cashPerShare, payDate?; STOCK_DIVIDEND: rate; SYMBOL_CHANGE: newSymbol; SPIN_OFF: newSymbol, ratio, basisPercent; MERGER: newSymbol with ratio, cashPerShare, payDate?.',
      },
      instruments: {
        type: 'array',
        items: { type: 'object' },
        description:
          '`{ assetClass, symbol, name?, tickSize?, … }`; EQUITY: leverageFactor?, luldTier?, shortable?, borrowRateAnnual?; OPTION: an OSI symbol; FUTURE: such as `ESZ26`; INDEX.',
      },
      halts: {
        type: 'array',
        items: {
          type: 'object',
          properties: { symbol: { type: 'string' }, reason: { type: 'string' }, for: { type: 'string' } },
        },
        description: 'Such as `{ "symbol": "AAPL", "reason": "LUDP", "for": "PT5M" }`.',
      },
      resume: { type: 'array', items: { type: 'string' }, description: 'Symbols whose halts end.' },
    },
    run: async (given, ask) => {
      const { instruments, actions, quotes, halts = [], resume = [] } = given;
      if (!Array.isArray(halts) || !Array.isArray(resume)) throw wrong('halts and resume must be arrays');
      if (halts.length + resume.length > MOST_HALTS) throw wrong(`at most ${MOST_HALTS} halts in one call`);
      const isNothing = [instruments, actions, quotes].every((one) => one === undefined);
      if (isNothing && halts.length + resume.length === 0)
        throw wrong('at least one of instruments, actions, halts, resume and quotes must be given');
      const answer: Record<string, unknown> = {};
      if (instruments !== undefined) answer['instruments'] = await ask('putInstruments', { instruments });
      if (actions !== undefined) answer['actions'] = await ask('addCorporateActions', { actions });
      for (const symbol of resume) await ask('liftHalt', { symbol });
      const halted: unknown[] = [];
      for (const halt of halts) halted.push(await ask('haltTrading', halt as Arguments));
      if (halted.length > 0) answer['halts'] = halted;
      if (quotes !== undefined) answer['quotes'] = await ask('pushQuotes', { quotes });
      return answer;
    },
  },
  script: {
    title: 'Script the outcome of orders',
    description:
      'Sets what becomes of the next orders that match, such as `{ "fill": [{ "percent": 30, "after": "PT1S" }], "rest": "hold" }`, `{ "reject": { "code": "INSUFFICIENT_FUNDS" } }`, `{ "hold": { "for": "PT10S" } }`, `{ "onCancel": "fill" }` or `{ "error": {} }`. With `delete` deletes one, or `all`; without arguments lists them.',
    of: ['createOutcome'],
    only: ['skip', 'times'],
    more: {
      match: {
        type: 'object',
        description:
          'symbol, assetClass, orderType, positionIntent, quantity, clientOrderId, portfolioId; default: every order.',
      },
      outcome: { type: 'object', description: 'One of reject, rejectLater, fill, hold, onCancel, error.' },
      delete: { type: 'string', description: 'An outcomeId, or `all`.' },
    },
    run: async ({ delete: unwanted, match = {}, ...given }, ask) => {
      if (unwanted === 'all') return ask('deleteOutcomes', {});
      if (unwanted !== undefined) return ask('deleteOutcome', { outcomeId: unwanted });
      return given['outcome'] === undefined
        ? ask('listOutcomes', {})
        : ask('createOutcome', { match, ...given });
    },
  },
};

/** For the token of a cell of an evaluation (D210), beside the tools of level `full`. */
const CELL: Readonly<Record<string, Definition>> = {
  get_run: {
    title: 'Get the run',
    description: 'Instructions, rules, end and limits of the run that this token plays. Start here.',
    of: ['getOwnCell'],
    effect: 'reads',
    isIdempotent: true,
  },
  advance: {
    title: 'Advance the clock, with orders',
    description: `${ADVANCES} Beyond the end of the run it stops there.`,
    of: ['advanceClock'],
    more: STEP_ARGUMENTS,
    run: advance,
  },
  finish_run: {
    title: 'Finish the run',
    description: 'Ends the run permanently: open orders are canceled, positions are carried to its end.',
    of: ['finishCell'],
    effect: 'destroys',
  },
  report_usage: {
    title: 'Report usage',
    description: 'Adds tokens and costs that the agent has used, and a transcript.',
    of: ['reportUsage'],
  },
};

/** Fields of a step other than the advance of its clock. */
const OF_STEPS = ['orders', 'cancels', 'observe'];

/** A step if it does more than advance the clock; clocks that follow the market of a tenant's `main` have no steps. */
function advance(given: Arguments, ask: Ask): Promise<unknown> {
  const { by, to, until, speed } = given;
  const isStep = OF_STEPS.some((name) => given[name] !== undefined);
  if (speed !== undefined) {
    const other = ['by', 'until', ...OF_STEPS].find((name) => given[name] !== undefined);
    if (other !== undefined) throw wrong(`${other} should not exist together with speed`);
    return ask('setClock', { speed, ...(to !== undefined && { now: to }) });
  }
  if (!isStep) return ask('advanceClock', given);
  const goal = Object.fromEntries(
    Object.entries({ by, to, until }).filter(([, value]) => value !== undefined),
  );
  return ask('stepSimulation', { ...given, ...(Object.keys(goal).length > 0 && { advance: goal }) });
}

/** Halts that one call of a tool sets or lifts. */
const MOST_HALTS = 100;

/** A position of any asset class. */
interface OpenPosition {
  readonly assetClass: 'EQUITY' | 'OPTION' | 'FUTURE';
  /** Negative when short. */
  readonly quantity: number;
  readonly reserved: number;
}

async function closePosition(given: Arguments, ask: Ask): Promise<unknown> {
  const { portfolioId, symbol, quantity, limitPrice, clientOrderId } = given;
  const name = text(symbol).replaceAll(' ', '').toUpperCase();
  const held = await heldOf(portfolioId, name, ask);
  if (held === undefined) throw new Refused(refuse(404, `The portfolio holds no position in ${name}`));
  const size = Math.abs(held.quantity);
  const free = size - held.reserved;
  const order = {
    portfolioId,
    symbol: name,
    assetClass: held.assetClass,
    positionIntent: held.quantity < 0 ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE',
    // When open orders reserve the whole position, the order is sent for all of it: its refusal contains the figures.
    quantity: quantity ?? (free > 0 ? Number(free.toFixed(6)) : size),
    orderType: limitPrice === undefined ? 'MARKET' : 'LIMIT',
    timeInForce: 'DAY',
    ...(limitPrice !== undefined && { limitPrice }),
    ...(clientOrderId !== undefined && { clientOrderId }),
  };
  return orderNow((await ask('createOrder', order)).orderId, ask);
}

async function heldOf(portfolioId: unknown, name: string, ask: Ask): Promise<OpenPosition | undefined> {
  const given = { portfolioId };
  const equity = (await ask('listEquityPositions', given)).find(({ symbol }) => symbol === name);
  if (equity !== undefined) {
    const { settledQuantity, pendingQuantity, reservedQuantity: reserved } = equity;
    return { assetClass: 'EQUITY', quantity: settledQuantity + pendingQuantity, reserved };
  }
  const option = (await ask('listOptionPositions', given)).find(({ optionSymbol }) => optionSymbol === name);
  if (option !== undefined) return { assetClass: 'OPTION', quantity: option.quantity, reserved: 0 };
  const future = (await ask('listFuturePositions', given)).find(({ symbol }) => symbol === name);
  return future && { assetClass: 'FUTURE', quantity: future.quantity, reserved: future.reservedQuantity };
}

const BY_LEVEL: readonly (readonly [AgentLevel, Readonly<Record<string, Definition>>])[] = [
  ['read', READ],
  ['preview', PREVIEW],
  ['capped', CAPPED],
  ['full', FULL],
  ['control', CONTROL],
];

function toolOf(name: string, level: AgentLevel, definition: Definition): Tool {
  const { title, description, of, run, ...choice } = definition;
  const { effect = level === 'read' ? 'reads' : 'changes', isIdempotent = effect === 'reads' } = definition;
  return {
    name,
    level,
    title,
    description,
    effect,
    isIdempotent,
    inputSchema: inputOf(of, choice),
    run: run ?? ((given, ask) => ask(of[0], given)),
  };
}

const toolsOf = (level: AgentLevel, definitions: Readonly<Record<string, Definition>>): readonly Tool[] =>
  Object.entries(definitions).map(([name, definition]) => toolOf(name, level, definition));

export const TOOLS: readonly Tool[] = BY_LEVEL.flatMap(([level, definitions]) => toolsOf(level, definitions));

export const CELL_TOOLS: readonly Tool[] = toolsOf('full', CELL);

/** Names the simulation of a tool call; only agents that create simulations have a choice. */
export const SIMULATION_ARGUMENT = 'simulationId';

const SIMULATION_PROPERTY: Json = {
  type: 'string',
  description: 'Default: the token’s.',
};

/** A tool as `tools/list` shows it to an agent of a level. */
export function listed(tool: Tool, level: AgentLevel): Record<string, unknown> {
  const { name, title, description, effect, isIdempotent, inputSchema } = tool;
  const { properties } = inputSchema;
  const chooses = level === 'control' && !(SIMULATION_ARGUMENT in properties);
  return {
    name,
    description: `${description} Simulated.`,
    annotations: {
      title,
      readOnlyHint: effect === 'reads',
      ...(effect !== 'reads' && { destructiveHint: effect === 'destroys', idempotentHint: isIdempotent }),
      openWorldHint: false,
    },
    inputSchema: chooses
      ? { ...inputSchema, properties: { ...properties, [SIMULATION_ARGUMENT]: SIMULATION_PROPERTY } }
      : inputSchema,
    outputSchema: OUTPUT,
  };
}

/** The frame of every response, with a `result` or an `error`; results have the OpenAPI schemas of the tool's operations. */
const OUTPUT = {
  type: 'object',
  properties: { simulated: { const: true } },
  required: ['simulated'],
} as const;
