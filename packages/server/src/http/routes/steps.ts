/** Steps of simulations: orders, cancels, quotes and time in one commit (D174). */
import { type Command, isOrderEvent, type Portfolio, pushProblem } from '@sandpit/core';
import type { OrderStatus, OrderUpdate, Scope, StepBody, StepResult } from '@sandpit/protocol';
import { orderAtHand } from '../../engine/simulation/past-orders.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { Simulations } from '../../engine/directory/simulations.js';
import { MAIN } from '../../engine/values/cell-names.js';
import type { Step } from '../../engine/simulation/step.js';
import { TenantTurns, type Turn } from '../../engine/scheduling/tenant-turns.js';
import { EphemeralFull } from '../../store/ephemeral-cells.js';
import { StoreUnavailable } from '../../store/journal.js';
import { isMadeBy } from '../admission.js';
import {
  Answer,
  EPHEMERAL_FULL,
  ORDER_NOT_FOUND,
  PORTFOLIO_NOT_FOUND,
  refuse,
  refuseCoded,
  SERVICE_UNAVAILABLE,
  SIMULATION_NOT_FOUND,
} from '../answer.js';
import type { Principal } from '../auth.js';
import type { Handlers } from '../call.js';
import { NOT_FOR_ENTRIES } from '../competition-refusals.js';
import type { RecordingsInUse } from '../recordings-in-use.js';
import { advanceTo, type ClockGoal, goalOf } from '../clock-goals.js';
import { keptOf, symbolIn } from '../listed.js';
import { isoOf } from '../translate/instants.js';
import { pushedQuoteOf } from '../translate/market-data.js';
import { canceledOrder, createdOrder, orderRequestOf, orderUpdatesOf } from '../translate/orders.js';
import { portfolioUpdate } from '../translate/portfolios.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { shownQuote } from './market-data.js';
import { askedBy, recordingOf, shownOpen } from './orders.js';
import { holdingsOf, ownOpenOrder, ownOrder, ownPortfolio } from '../owned.js';
import { acceptsQuotes } from '../../feeds/feed.js';

/**
 * Limits of a step: it stops after the decision with the event that reaches the first, or after as many records as the second. A decision
 * has at most 1,024 events (D264).
 */
const MOST_EVENTS = 1000;
const MOST_RECORDS = 10_000;
/** Maximum events of all parts of a request; each part may then still continue to its next event or record. */
const MOST_EVENTS_TOGETHER = 20_000;
const MOST_RECORDS_TOGETHER = 100_000;

const NOT_STEPPED = refuse(409, 'Only a created simulation with a manual clock can be stepped');
const NOT_EPHEMERAL = refuse(
  409,
  'The first simulation of this request is ephemeral, and this one is stored: step it in another request',
);
const NOT_STORED = refuse(
  409,
  'The first simulation of this request is stored, and this one is ephemeral: step it in another request',
);
const NOT_A_PUSH_FEED = refuse(409, 'Quotes can be pushed into a simulation with a push feed only');

type Submit = Extract<Command, { type: 'SubmitOrder' }>;
type Cancel = Extract<Command, { type: 'CancelOrder' }>;
type Push = Extract<Command, { type: 'UpdateMarket' }>;

/** A step whose request is validated: it can no longer fail for its format. */
interface Plan {
  readonly orders: readonly Submit[];
  /** With the refusal of those that have ended or do not exist. */
  readonly cancels: readonly { readonly command: Cancel; readonly refused: Answer | undefined }[];
  readonly push: Push | undefined;
  readonly goal: ClockGoal | undefined;
  readonly symbols: readonly string[];
  readonly portfolios: readonly Portfolio[];
}

/** The remaining events and records of a step. */
interface Budget {
  events: number;
  records: number;
}

type Asker = Pick<Principal, 'tenantId' | 'by' | 'agent' | 'scopes'>;

export function stepHandlers(
  simulations: Simulations,
  recordings: RecordingsInUse,
): Pick<Handlers, 'stepSimulation' | 'stepSimulations'> {
  const turns = new TenantTurns();
  /** Requests for several simulations, sequential for each tenant: two that hold each other's simulations would deadlock. */
  const lastOf = new Map<string, Promise<unknown>>();

  const alone = <T>(tenantId: string, work: () => Promise<T>): Promise<T> => {
    const done = (lastOf.get(tenantId) ?? Promise.resolve()).then(work);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    lastOf.set(tenantId, settled);
    void settled.then(() => {
      if (lastOf.get(tenantId) === settled) lastOf.delete(tenantId);
    });
    return done;
  };

  return {
    async stepSimulation({ simulation, principal, body, status, pending }) {
      const missing = missingScope(principal, body);
      if (missing !== undefined) return missing;
      if (principal.simulationId === MAIN) return NOT_STEPPED;
      if (principal.isEntry === true && body.quotes !== undefined) return NOT_FOR_ENTRIES;
      const step = await begun(simulation, principal.isEntry === true);
      if (step === undefined) return NOT_STEPPED;
      let answer: Answer | undefined;
      try {
        const plan = await planOf(simulation, principal, body);
        if (plan instanceof Answer) return plan;
        await step.open(commandsOf(plan));
        const budget = { events: MOST_EVENTS, records: MOST_RECORDS };
        const result = await turnOf(turns, principal, (turn) =>
          new StepRun(simulation, step, budget).run(plan, body, turn),
        );
        answer = Answer.json(status, result);
        const kept = pending?.keep(answer);
        if (kept !== undefined) step.keep(kept);
      } finally {
        step.commit();
      }
      await durable(simulation, step, body);
      return answer;
    },

    stepSimulations({ principal, body, status, pending }) {
      const ids = body.steps.map(({ simulationId }) => simulationId);
      const repeated = ids.flatMap((id, i) =>
        ids.indexOf(id) < i ? [`steps.${i}.simulationId must not name a simulation twice`] : [],
      );
      if (repeated.length > 0) return refuse(400, repeated);
      for (const id of ids) {
        const inUse = recordings.readingRefusal(principal.tenantId, id);
        if (inUse !== undefined) return inUse;
      }
      for (const part of body.steps) {
        const missing = missingScope(principal, part);
        if (missing !== undefined) return missing;
      }
      return alone(principal.tenantId, async () => {
        const taken: { readonly simulation: Simulation; readonly step: Step; readonly body: StepBody }[] = [];
        const together = { events: MOST_EVENTS_TOGETHER, records: MOST_RECORDS_TOGETHER };
        const texts: string[] = [];
        /** Whether the simulations of this batch are ephemeral. They must all be of one kind, because a commit writes to one store. */
        let areEphemeral: boolean | undefined;
        let answer: Answer;
        try {
          for (const part of body.steps) {
            const { simulationId, ...asked } = part;
            const result = await resultOf(async () => {
              const simulation = await found(simulations, principal, simulationId);
              if (simulation instanceof Answer) return simulation;
              areEphemeral ??= simulation.isEphemeral;
              if (simulation.isEphemeral !== areEphemeral) return areEphemeral ? NOT_EPHEMERAL : NOT_STORED;
              const step = await begun(simulation, false);
              if (step === undefined) return NOT_STEPPED;
              taken.push({ simulation, step, body: asked });
              const plan = await planOf(simulation, principal, asked);
              if (plan instanceof Answer) return plan;
              await step.open(commandsOf(plan));
              const budget = {
                events: Math.min(MOST_EVENTS, Math.max(1, together.events)),
                records: Math.min(MOST_RECORDS, Math.max(1, together.records)),
              };
              const run = new StepRun(simulation, step, budget);
              const done = await turnOf(turns, principal, (turn) => run.run(plan, asked, turn));
              together.events -= done.events.length;
              together.records -= step.recordCount;
              return done;
            });
            // Stored as text, so that the parts of a large request are not in memory twice.
            texts.push(JSON.stringify({ simulationId, ...result }));
          }
          answer = new Answer(status, `{"results":[${texts.join(',')}]}`);
          const [first] = taken;
          if (first?.simulation.isEphemeral === true) pending?.endWith(first.simulation.id);
          const kept = pending?.keep(answer);
          if (kept !== undefined && first !== undefined) first.step.keep(kept);
        } finally {
          // In one turn, which is one commit.
          for (const { step } of taken) step.commit();
        }
        await Promise.all(taken.map(({ simulation, step, body: asked }) => durable(simulation, step, asked)));
        return answer;
      });
    },
  };
}

/** Scopes that a step requires in addition to that of its route: it shows orders, and may place some. */
function missingScope({ scopes }: Pick<Principal, 'scopes'>, body: StepBody): Answer | undefined {
  const trades = (body.orders ?? []).length > 0 || (body.cancels ?? []).length > 0;
  const needed: readonly Scope[] = trades ? ['read', 'trade'] : ['read'];
  const missing = needed.find((scope) => !scopes.has(scope));
  return (
    missing &&
    refuseCoded('INSUFFICIENT_SCOPE', `The token lacks the scope ${missing}`, { requiredScope: missing })
  );
}

async function found(
  simulations: Simulations,
  { agent, tenantId }: Asker,
  simulationId: string,
): Promise<Simulation | Answer> {
  if (simulationId === MAIN) return NOT_STEPPED;
  if (agent !== undefined && !isMadeBy(simulations.entries, agent, simulationId, tenantId))
    return SIMULATION_NOT_FOUND;
  const simulation = await simulations.directory.find(simulationId, tenantId);
  if (simulation === undefined) return SIMULATION_NOT_FOUND;
  return simulation.isOutOfService ? SERVICE_UNAVAILABLE : simulation;
}

/** Result of a part: its effects, or the whole body of its error. */
async function resultOf(
  part: () => Promise<StepResult | Answer>,
): Promise<StepResult | { readonly error: unknown }> {
  try {
    const result = await part();
    return result instanceof Answer ? { error: JSON.parse(result.text) as unknown } : result;
  } catch (error) {
    if (error instanceof EphemeralFull) return { error: JSON.parse(EPHEMERAL_FULL.text) as unknown };
    if (!(error instanceof StoreUnavailable)) throw error;
    return { error: JSON.parse(SERVICE_UNAVAILABLE.text) as unknown };
  }
}

/** The step of a simulation that can be stepped, when it is its turn. */
async function begun(simulation: Simulation, isOwnRun: boolean): Promise<Step | undefined> {
  const isStepped =
    simulation.market === simulation &&
    simulation.clock().mode === 'manual' &&
    // Simulations of a competition share one clock; the cell of an evaluation is its entrant's.
    (isOwnRun || simulation.brokerage.state.competition === undefined);
  return isStepped ? simulation.beginStep() : undefined;
}

async function turnOf<T>(
  turns: TenantTurns,
  { tenantId }: Pick<Principal, 'tenantId'>,
  work: (turn: Turn) => Promise<T>,
): Promise<T> {
  const turn = await turns.take(tenantId);
  try {
    return await work(turn);
  } finally {
    turn.end();
  }
}

async function durable(simulation: Simulation, step: Step, body: StepBody): Promise<void> {
  await step.durable();
  const { calendar } = simulation.brokerage.rules;
  const now = simulation.now();
  if (body.quotes !== undefined && body.quotes.length > 0 && step.recordCount > 0)
    simulation.feed.record(body.quotes.map((quote) => pushedQuoteOf(quote, now, calendar)));
  await simulation.followersApplied();
}

const commandsOf = ({ orders, cancels }: Plan): readonly Command[] => [
  ...orders,
  ...cancels.map(({ command }) => command),
];

/** Validates a request before any part of it is executed. */
async function planOf(simulation: Simulation, principal: Asker, body: StepBody): Promise<Plan | Answer> {
  const { brokerage } = simulation;
  const { calendar } = brokerage.rules;
  const now = simulation.now();
  const goal = body.advance && goalOf(simulation, body.advance, 'advance.');
  if (goal instanceof Answer) return goal;
  const quotes = (body.quotes ?? []).map((quote) => pushedQuoteOf(quote, now, calendar));
  if (quotes.length > 0 && !acceptsQuotes(simulation.feed)) return NOT_A_PUSH_FEED;
  const early = quotes.flatMap(({ at }, i) =>
    at > now ? [`quotes.${i}.timestamp must not be later than now`] : [],
  );
  if (early.length > 0) return refuse(400, early);
  const unlisted = pushProblem(brokerage, quotes);
  if (unlisted !== undefined) return answerTo(unlisted);
  const portfolios = (body.observe?.portfolios ?? []).map((id) => ownPortfolio(brokerage, id));
  if (portfolios.includes(undefined)) return PORTFOLIO_NOT_FOUND;
  const { agent } = principal;
  const orders = (body.orders ?? []).map((order): Submit => {
    const asked = orderRequestOf(order, order.portfolioId, calendar, now);
    return {
      type: 'SubmitOrder',
      ...askedBy({ principal }),
      order: agent === undefined ? asked : { ...asked, agent: agent.agentId },
      ...recordingOf(order),
    };
  });
  const cancels = [];
  for (const orderId of body.cancels ?? []) {
    const command: Cancel = { type: 'CancelOrder', ...askedBy({ principal }), orderId };
    const isOpen = ownOpenOrder(brokerage, orderId) !== undefined;
    const refused = isOpen ? undefined : await overBefore(simulation, principal, orderId);
    cancels.push({ command, refused });
  }
  return {
    orders,
    cancels,
    push: quotes.length === 0 ? undefined : { type: 'UpdateMarket', quotes, pushed: true },
    goal,
    symbols: (body.observe?.symbols ?? []).map((symbol) => symbolIn(simulation, symbol)),
    portfolios: portfolios.filter((portfolio) => portfolio !== undefined),
  };
}

/** Why an order that is not open cannot be canceled. */
async function overBefore(simulation: Simulation, principal: object, orderId: string): Promise<Answer> {
  await simulation.read([principal], () => undefined);
  const order = await ownOrder(simulation, orderId);
  return order === undefined ? ORDER_NOT_FOUND : notCancelable(order.progress.status, orderId);
}

const notCancelable = (status: OrderStatus, orderId: string): Answer =>
  answerTo(
    { code: 'ORDER_NOT_UPDATABLE', message: `An order with status ${status} cannot be canceled`, status },
    { orderId },
  );

/** A step under way. */
class StepRun {
  readonly #simulation: Simulation;
  readonly #step: Step;
  readonly #budget: Budget;
  readonly #events: OrderUpdate[] = [];

  constructor(simulation: Simulation, step: Step, budget: Budget) {
    this.#simulation = simulation;
    this.#step = step;
    this.#budget = budget;
  }

  async run(plan: Plan, body: StepBody, turn: Turn): Promise<StepResult> {
    const step = this.#step;
    const orders = [];
    for (const command of plan.orders) {
      orders.push(this.#place(command));
      await turn.breathe();
    }
    const cancels = [];
    for (const { command, refused } of plan.cancels) {
      cancels.push(this.#cancel(command, refused));
      await turn.breathe();
    }
    if (plan.push !== undefined) step.execute<'UpdateMarket'>(plan.push);
    // Parts of a decision that was too large are due at once (D264).
    const goal = plan.goal ?? (this.#hasDue() ? { to: step.now() } : undefined);
    const hasMore = goal !== undefined && (await this.#advance(goal, plan, turn));
    const seen = this.#observe(plan, body);
    this.#tellEvents();
    return {
      now: isoOf(step.now()),
      orders,
      cancels,
      events: this.#events,
      ...seen,
      hasMore,
    };
  }

  #hasDue(): boolean {
    return (this.#simulation.brokerage.nextDue() ?? Infinity) <= this.#step.now();
  }

  #place(command: Submit): StepResult['orders'][number] {
    const { ids } = this.#simulation.brokerage.state;
    const { result } = this.#step.execute<'SubmitOrder'>(command);
    return isRejection(result)
      ? failed(answerTo(result, { symbol: command.order.symbol, ids }))
      : { statusCode: 201, order: createdOrder(ids, result) };
  }

  #cancel(command: Cancel, refused: Answer | undefined): StepResult['cancels'][number] {
    const { orderId } = command;
    if (refused !== undefined) return { orderId, ...failed(refused) };
    const { ids } = this.#simulation.brokerage.state;
    const { result } = this.#step.execute<'CancelOrder'>(command);
    if (!isRejection(result)) return { statusCode: 200, ...canceledOrder(ids, result) };
    // The order ended in this step.
    const number = ids.numberOf('ORDER', orderId);
    const order = number === undefined ? undefined : orderAtHand(this.#simulation, number);
    const answer =
      result.code === 'NOT_FOUND' && order !== undefined
        ? notCancelable(order.progress.status, orderId)
        : answerTo(result, { orderId });
    return { orderId, ...failed(answer) };
  }

  #advance(goal: ClockGoal, plan: Plan, turn: Turn): Promise<boolean> {
    const step = this.#step;
    const { events: most, records } = this.#budget;
    const before = this.#tellEvents();
    return advanceTo(
      step,
      this.#simulation,
      goal,
      {
        symbols: new Set(plan.symbols),
        hasEvent: () => this.#tellEvents() > before,
        isFull: () => this.#tellEvents() >= most || step.recordCount >= records,
      },
      turn,
    );
  }

  /** Writes the order events since the last call. Returns the number of events so far. */
  #tellEvents(): number {
    const simulation = this.#simulation;
    const { ids } = simulation.brokerage.state;
    for (const { at, events, orders } of this.#step.records.splice(0)) {
      for (const [i, event] of events.entries()) {
        const order = orders[i];
        if (order === undefined || !isOrderEvent(event)) continue;
        this.#events.push(...orderUpdatesOf(ids, event, order, at, (exit) => orderAtHand(simulation, exit)));
      }
    }
    return this.#events.length;
  }

  /** Quotes and portfolios at the end. Refreshing quotes may still fill orders. */
  #observe({ symbols, portfolios }: Plan, { observe }: StepBody): Pick<StepResult, 'quotes' | 'portfolios'> {
    if (observe === undefined) return {};
    const simulation = this.#simulation;
    const { brokerage } = simulation;
    this.#step.refresh([...keptOf(simulation, symbols), ...holdingsOf(portfolios)]);
    return {
      ...(observe.symbols !== undefined && {
        quotes: symbols
          .map((symbol) => shownQuote(simulation, brokerage, symbol))
          .filter((quote) => quote !== undefined),
      }),
      ...(observe.portfolios !== undefined && {
        portfolios: portfolios.map((portfolio) => ({
          ...portfolioUpdate(brokerage, portfolio),
          ...(observe.orders === true && {
            orders: portfolio.openOrders
              .oldestFirst()
              .map((order) => shownOpen(brokerage, simulation, order)),
          }),
        })),
      }),
    };
  }
}

const failed = (answer: Answer) => {
  const error = JSON.parse(answer.text) as NonNullable<StepResult['orders'][number]['error']>;
  return { statusCode: answer.status, error };
};
