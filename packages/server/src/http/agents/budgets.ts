/** The caps of agents of level `capped`, held in front of whatever places or changes an order. */
import { Quantity, tradableOf, unitsOf, valueOf } from '@sandpit/core';
import type {
  Brokerage,
  Calendar,
  Money,
  OrderLeg,
  OrderRequest,
  PositionIntent,
  Price,
} from '@sandpit/core';
import type { AgentCaps } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation.js';
import { Answer, refuseCoded } from '../answer.js';
import type { Principal } from '../auth.js';
import type { Call, Handlers } from '../call.js';
import { keptOf } from '../listed.js';
import { holdingsOf, ownOpenOrder, ownPortfolio } from '../routes/owned.js';
import { orderChangesOf, orderRequestOf } from '../translate/orders.js';
import { moneyNumber } from '../translate/numbers.js';
import type { Agent } from './levels.js';
import { agesOfOrders } from './recent-orders.js';

const MINUTE_MS = 60_000;
const ORDERS_AT_ONCE = 500;

/** What an order is about. */
type Wanted = Pick<
  OrderRequest,
  'symbol' | 'positionIntent' | 'quantity' | 'notional' | 'limitPrice' | 'stopPrice' | 'legs'
>;

/** What one agent has used of its caps in a simulation. */
class Budget {
  /** Of which `used` is; undefined = not looked up yet. */
  day: string | undefined;
  /** Dollars. */
  used = 0;
  /** When its last orders were placed or changed, monotonic ms. */
  readonly times: number[] = [];
  /** Whether those from before this server started are among them. */
  isRecalled = false;
  #last: Promise<unknown> = Promise.resolve();

  /** One after the other: of fifty orders that come together each sees what those before it have used. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

type Guarded = 'createOrder' | 'updateOrder';

/** The handlers that place and change orders, with the caps of agents in front of them. */
export class Budgets {
  readonly #budgets = new Map<string, Budget>();
  readonly #monotonicMs: () => number;
  readonly #startedMs: number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#startedMs = monotonicMs();
  }

  guard(handlers: Pick<Handlers, Guarded>): Pick<Handlers, Guarded> {
    return {
      createOrder: (call) => {
        const capped = cappedIn(call.principal);
        if (capped === undefined) return handlers.createOrder(call);
        return this.#within(
          call,
          capped,
          () => {
            const { body, simulation } = call;
            const { calendar } = simulation.brokerage.rules;
            const order = orderRequestOf(body, body.portfolioId, calendar, simulation.now());
            return { portfolioId: body.portfolioId, after: order, before: undefined };
          },
          () => handlers.createOrder(call),
        );
      },
      updateOrder: (call) => {
        const capped = cappedIn(call.principal);
        if (capped === undefined) return handlers.updateOrder(call);
        return this.#within(
          call,
          capped,
          () => changeIn(call),
          () => handlers.updateOrder(call),
        );
      },
    };
  }

  async #within<Result>(
    { simulation, principal }: Pick<Call, 'simulation' | 'principal'>,
    agent: Capped,
    wantedOf: () => Change | undefined,
    proceed: () => Result | Promise<Result>,
  ): Promise<Result | Answer> {
    const budget = this.#of(agent, simulation);
    return budget.alone(async () => {
      const wanted = wantedOf();
      // Of what is not there the handler says so itself.
      if (wanted === undefined) return proceed();
      const day = dayOf(simulation);
      if (budget.day !== day) {
        budget.used = await usedOn(simulation, principal, agent, day);
        budget.day = day;
      }
      if (!budget.isRecalled) await this.#recall(budget, simulation, principal, agent);
      const refused = await refusalOf(simulation, principal, agent.caps, budget, wanted, this.#monotonicMs());
      if (refused instanceof Answer) return refused;
      budget.times.push(this.#monotonicMs());
      const result = await proceed();
      if (!(result instanceof Answer) || result.status < 400) budget.used += refused.more;
      return result;
    });
  }

  /** A server that has run for a minute has nothing to recall. */
  async #recall(budget: Budget, simulation: Simulation, principal: Principal, agent: Capped): Promise<void> {
    const most = agent.caps.maxOrdersPerMinute;
    const ago = this.#monotonicMs() - this.#startedMs;
    if (most !== undefined && ago < MINUTE_MS) {
      const ages = await agesOfOrders(simulation, principal, agent.agentId, most, MINUTE_MS);
      const nowMs = this.#monotonicMs();
      // They were before the start, whatever a clock says.
      budget.times.push(...ages.map((age) => nowMs - Math.max(age, ago)).sort((a, b) => a - b));
    }
    budget.isRecalled = true;
  }

  #of({ agentId }: Capped, { id }: Simulation): Budget {
    const name = `${id} ${agentId}`;
    let budget = this.#budgets.get(name);
    if (budget === undefined) this.#budgets.set(name, (budget = new Budget()));
    return budget;
  }
}

interface Capped extends Agent {
  readonly caps: AgentCaps;
}

interface Change {
  readonly portfolioId: string;
  readonly after: Wanted;
  readonly before: Wanted | undefined;
}

function cappedIn({ agent }: Principal): Capped | undefined {
  return agent?.caps === undefined ? undefined : { ...agent, caps: agent.caps };
}

/** What an update makes of an order that is open. */
function changeIn({ simulation, principal, params, body }: Call<'updateOrder'>): Change | undefined {
  const { brokerage } = simulation;
  const order = ownOpenOrder(brokerage, principal.tenantId, params.orderId);
  if (order === undefined) return undefined;
  const { terms, progress } = order;
  const before = wantedOf({ ...terms, ...progress });
  const changes = orderChangesOf(body, brokerage.rules.calendar);
  return { portfolioId: terms.portfolioId, before, after: { ...before, ...changes } };
}

interface Asked {
  readonly symbol: string;
  readonly positionIntent: PositionIntent;
  readonly quantity: Quantity;
  readonly notional: Money | undefined;
  readonly limitPrice: Price | undefined;
  readonly stopPrice: Price | undefined;
  readonly legs: readonly OrderLeg[] | undefined;
}

const wantedOf = ({
  symbol,
  positionIntent,
  quantity,
  notional,
  limitPrice,
  stopPrice,
  legs,
}: Asked): Wanted => ({
  symbol,
  positionIntent,
  quantity,
  ...(notional !== undefined && { notional }),
  ...(limitPrice !== undefined && { limitPrice }),
  ...(stopPrice !== undefined && { stopPrice }),
  ...(legs !== undefined && { legs }),
});

const calendarOf = ({ brokerage }: Simulation): Calendar => brokerage.rules.calendar;
const dayOf = (simulation: Simulation): string => calendarOf(simulation).dateOf(simulation.now());

/** What the agent has placed on a day: its orders carry its name, so that a restart forgets nothing. */
async function usedOn(
  simulation: Simulation,
  principal: Principal,
  { agentId }: Agent,
  day: string,
): Promise<number> {
  const { brokerage } = simulation;
  const history = await simulation.past(principal);
  const from = calendarOf(simulation).instantOf(day as ReturnType<Calendar['dateOf']>, 0, 0);
  let used = 0;
  let before: number | undefined;
  do {
    const page = await history.orders({
      simulationId: simulation.id,
      scope: { tenantId: principal.tenantId },
      from,
      offset: 0,
      limit: ORDERS_AT_ONCE,
      ...(before !== undefined && { before }),
    });
    for (const row of page.items) {
      const terms = JSON.parse(row.terms) as Asked & { readonly agent?: string };
      if (terms.agent !== agentId) continue;
      const progress = JSON.parse(row.progress) as Asked & { readonly averagePrice?: Price };
      const limitPrice = progress.averagePrice ?? progress.limitPrice;
      used += notionalOf(brokerage, wantedOf({ ...terms, ...progress, limitPrice })) ?? 0;
    }
    before = page.next;
  } while (before !== undefined);
  return used;
}

/** Why the caps do not allow an order; else how many dollars more it takes of them. */
async function refusalOf(
  simulation: Simulation,
  principal: Principal,
  caps: AgentCaps,
  budget: Budget,
  { portfolioId, after, before }: Change,
  nowMs: number,
): Promise<Answer | { readonly more: number }> {
  const { symbols, maxOrdersPerMinute, maxOrderNotional, maxNotional, maxDailyLoss } = caps;
  const { brokerage } = simulation;
  const { tenantId } = principal;
  const asked =
    after.legs === undefined ? [after.symbol] : after.legs.map(({ optionSymbol }) => optionSymbol);
  const allowed = new Set(symbols?.map((symbol) => symbol.toUpperCase()));
  const isAllowed = (symbol: string): boolean => {
    const instrument = brokerage.instrument(symbol);
    const underlying = instrument?.assetClass === 'OPTION' ? instrument.underlying : symbol;
    return allowed.has(symbol.toUpperCase()) || allowed.has(underlying.toUpperCase());
  };
  if (symbols !== undefined && !asked.every(isAllowed))
    return exceeded(`This agent trades ${symbols.join(', ')} only`, {
      cap: 'symbols',
      symbols: [...symbols],
    });
  while ((budget.times[0] ?? Infinity) <= nowMs - MINUTE_MS) budget.times.shift();
  if (maxOrdersPerMinute !== undefined && budget.times.length >= maxOrdersPerMinute) {
    const [oldest = nowMs] = budget.times;
    const retryAfter = Math.max(1, Math.ceil((oldest + MINUTE_MS - nowMs) / 1000));
    return exceeded(`This agent places or changes at most ${maxOrdersPerMinute} orders a minute`, {
      cap: 'maxOrdersPerMinute',
      allowed: maxOrdersPerMinute,
      left: 0,
      retryAfter,
    });
  }
  const portfolio = ownPortfolio(brokerage, tenantId, portfolioId);
  const reads = new Set([...keptOf(asked), ...holdingsOf([portfolio])]);
  const { notional, earlier, loss } = await simulation.read(
    [principal],
    () => ({
      notional: notionalOf(brokerage, after),
      earlier: before === undefined ? 0 : (notionalOf(brokerage, before) ?? 0),
      loss: lossOf(brokerage, ownPortfolio(brokerage, tenantId, portfolioId)),
    }),
    reads,
  );
  if (notional === 0) return { more: 0 };
  if (maxDailyLoss !== undefined && loss !== undefined && loss >= maxDailyLoss)
    return exceeded(
      `The portfolio has lost ${loss} since the previous close: this agent opens nothing more today`,
      {
        cap: 'maxDailyLoss',
        allowed: maxDailyLoss,
        asked: loss,
      },
    );
  if (maxOrderNotional === undefined && maxNotional === undefined) return { more: 0 };
  if (notional === undefined)
    return exceeded('There is no price yet to hold this order against the caps', { cap: 'maxOrderNotional' });
  if (maxOrderNotional !== undefined && notional > maxOrderNotional)
    return exceeded(
      `An order of this agent may be about ${maxOrderNotional}; this one is about ${notional}`,
      {
        cap: 'maxOrderNotional',
        allowed: maxOrderNotional,
        left: maxOrderNotional,
        asked: notional,
      },
    );
  const more = Math.max(0, notional - earlier);
  const left = maxNotional === undefined ? Infinity : cents(maxNotional - budget.used);
  if (maxNotional !== undefined && more > left)
    return exceeded(
      `This agent has ${Math.max(0, left)} of its ${maxNotional} left today; this takes ${cents(more)}`,
      {
        cap: 'maxNotional',
        allowed: maxNotional,
        left: Math.max(0, left),
        asked: cents(more),
      },
    );
  return { more };
}

const cents = (dollars: number): number => Math.round(dollars * 100) / 100;

function exceeded(message: string, details: Parameters<typeof refuseCoded<'CAP_EXCEEDED'>>[2]): Answer {
  return refuseCoded('CAP_EXCEEDED', message, details);
}

const isOpening = (intent: PositionIntent): boolean => intent.endsWith('_TO_OPEN');

/** Dollars below the equity of the previous close; negative = above it. */
function lossOf(brokerage: Brokerage, portfolio: ReturnType<typeof ownPortfolio>): number | undefined {
  if (portfolio?.previousClose === undefined) return undefined;
  const now = brokerage.worthOf(portfolio).totalEquity;
  return cents(moneyNumber(portfolio.previousClose.totalEquity) - moneyNumber(now));
}

/**
 * Dollars that an order opens, at the most it may pay or, where it names no price, at the market; of short options what they may have to
 * take: the strike. 0 = it opens nothing; undefined = nothing says what it would cost.
 */
function notionalOf(brokerage: Brokerage, wanted: Wanted): number | undefined {
  const { symbol, positionIntent, quantity, notional: amount, legs } = wanted;
  if (amount !== undefined) return isOpening(positionIntent) ? moneyNumber(amount) : 0;
  if (legs === undefined) return legNotional(brokerage, symbol, positionIntent, quantity, wanted);
  const units = unitsOf(legs.map((leg) => leg.quantity))?.units ?? 1;
  let sum = 0;
  for (const leg of legs) {
    const contracts = Quantity.ofUnits(Math.round((leg.quantity / units) * quantity));
    const notional = legNotional(brokerage, leg.optionSymbol, leg.positionIntent, contracts, {});
    if (notional === undefined) return undefined;
    sum += notional;
  }
  return cents(sum);
}

function legNotional(
  brokerage: Brokerage,
  symbol: string,
  intent: PositionIntent,
  quantity: Quantity,
  { limitPrice, stopPrice }: Pick<Wanted, 'limitPrice' | 'stopPrice'>,
): number | undefined {
  if (!isOpening(intent)) return 0;
  const instrument = tradableOf(symbol, brokerage.instrument(symbol));
  const isShort = intent === 'SELL_TO_OPEN';
  const quote = brokerage.quote(symbol);
  const market = [brokerage.mark(symbol), quote?.ask, quote?.bid, stopPrice].filter(
    (price) => price !== undefined,
  );
  const highest = market.length === 0 ? undefined : (Math.max(...market) as Price);
  const own =
    isShort && limitPrice !== undefined && highest !== undefined
      ? (Math.max(limitPrice, highest) as Price)
      : limitPrice;
  const price = instrument.assetClass === 'OPTION' && isShort ? instrument.strike : (own ?? highest);
  return price === undefined ? undefined : cents(moneyNumber(valueOf(instrument, price, quantity)));
}
