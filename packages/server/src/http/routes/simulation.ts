import {
  announcementOf,
  actionIdOf,
  hasSameTerms,
  newSymbolOf,
  type Brokerage,
  type CorporateAction,
  isOrderEvent,
  type State,
  type TradingDate,
  WHOLE_MARKET,
} from '@sandpit/core';
import { ClockRefused } from '../../engine/clocks/clock.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { MAIN } from '../../engine/values/cell-names.js';
import { mapInSlices, Slice } from '../../engine/scheduling/slice.js';
import { Answer, refuse, refuseCoded } from '../answer.js';
import { isLive } from '../../feeds/live-feed.js';
import { execute, type Handlers } from '../call.js';
import { symbolIn } from '../listed.js';
import { advanceTo, type ClockGoal, goalOf, problemOf, symbolsAtStake } from '../clock-goals.js';
import { afterDuration, instantOf, isoOf } from '../translate/instants.js';
import { instrumentsOf, shownInstrument } from '../translate/instruments.js';
import { pushedQuoteOf } from '../translate/market-data.js';
import { pageOfAll } from '../translate/pages.js';
import { answerTo } from '../translate/rejections.js';
import { clockOf, corporateActionOf, shownActions, shownHalt } from '../translate/simulations.js';
import { acceptsQuotes } from '../../feeds/feed.js';

type SimulationHandlers = Pick<
  Handlers,
  | 'pushQuotes'
  | 'getClock'
  | 'setClock'
  | 'advanceClock'
  | 'putInstruments'
  | 'addCorporateActions'
  | 'listCorporateActions'
  | 'withdrawCorporateAction'
  | 'haltTrading'
  | 'listHalts'
  | 'liftHalt'
>;

const NO_EVENTS_OF_MAIN = refuse(409, 'Only a created simulation can be advanced to its next event');
const NOT_A_PUSH_FEED = refuse(409, 'Quotes can be pushed into a simulation with a push feed only');

/** Quotes of a push that is not decided in the slice in which its request was read. */
const LONG_PUSH = 100;

/** Control of the market and the clock of the token's own simulation (D35). */
export const simulationHandlers: SimulationHandlers = {
  async pushQuotes({ simulation: { market }, body }) {
    if (!acceptsQuotes(market.feed)) return NOT_A_PUSH_FEED;
    const now = market.now();
    const { calendar } = market.brokerage.rules;
    const quotes = await mapInSlices(body.quotes, (quote) => pushedQuoteOf(quote, now, calendar));
    const early = quotes.flatMap(({ at }, i) =>
      at > now ? [`quotes.${i}.timestamp must not be later than now`] : [],
    );
    if (early.length > 0) return refuse(400, early);
    // The decision has its own slice.
    if (quotes.length >= LONG_PUSH) await new Slice().yield();
    const refused = await market.pushQuotes(quotes);
    if (refused !== undefined) return answerTo(refused);
    return { accepted: body.quotes.length, now: isoOf(market.now()) };
  },

  getClock: ({ simulation: { market } }) => clockOf(market),

  async setClock({ simulation: { market }, body }) {
    const { now, speed } = body;
    const to = now === undefined ? undefined : instantOf(now, market.brokerage.rules.calendar);
    const problem = to && problemOf(to, market.now());
    if (problem !== undefined) return refuse(400, [`now ${problem}`]);
    return unlessRefused(async () => {
      if (speed !== undefined) await market.setSpeed(speed);
      if (to !== undefined) await market.moveClock(to);
      return clockOf(market);
    });
  },

  async advanceClock({ simulation, principal, body }) {
    const { market } = simulation;
    const goal = goalOf(market, body);
    if (goal instanceof Answer && goal.status === 400) return goal;
    if (market.clock().mode !== 'manual') return refuse(409, 'Only a manual clock can be advanced');
    if (goal instanceof Answer) return goal;
    const isMain = principal.simulationId === MAIN;
    if (goal.next === 'EVENT' && isMain) return NO_EVENTS_OF_MAIN;
    return unlessRefused(async () => {
      if (goal.next === undefined) await market.moveClock(goal.to);
      else await advanceToNext(market, goal, isMain ? symbolsOf(market, principal.tenantId) : new Set());
      return clockOf(market);
    });
  },

  async putInstruments(asked) {
    const call = ofMarket(asked);
    const { brokerage } = call.simulation;
    const classOf = (symbol: string) => brokerage.instrument(symbol)?.assetClass;
    const { calendar } = brokerage.rules;
    const today = calendar.dateOf(call.simulation.now());
    const listing = instrumentsOf(call.body.instruments, classOf, today);
    if ('problems' in listing) return refuse(400, listing.problems);
    const { instruments } = listing;
    // The market itself has no positions; its followers may.
    const inUse = await call.simulation.classesInUseAnywhere(instruments);
    if (inUse.length > 0) return refuse(400, [...inUse]);
    return execute<'ListInstruments'>(call, { type: 'ListInstruments', instruments }, ({ result }) =>
      result !== undefined
        ? answerTo(result)
        : { instruments: instruments.map((instrument) => shownInstrument(instrument, calendar, today)) },
    );
  },

  async addCorporateActions(asked) {
    const call = ofMarket(asked);
    const today = call.simulation.brokerage.rules.calendar.dateOf(call.simulation.now());
    const actions = call.body.actions.map((action) => corporateActionOf(action, today));
    const unknown = await call.simulation.read([], (brokerage) => firstUnlisted(brokerage, actions));
    if (unknown !== undefined) {
      return refuseCoded('UNKNOWN_SYMBOL', `Unknown symbol ${unknown}`, { symbol: unknown });
    }
    const changed = await call.simulation.read([], ({ state }) => firstChanged(state, actions, today));
    if (changed !== undefined)
      return refuse(409, `${changed} is announced with other terms; withdraw it first`);
    return execute<'AnnounceActions'>(call, announcementOf(actions), ({ result }) =>
      'code' in result
        ? answerTo(result)
        : { actions: shownActions(result, call.simulation.brokerage.rules.calendar, today) },
    );
  },

  listCorporateActions: ({ simulation: { market } }) =>
    market.read([], ({ state, rules, at }) => ({
      actions: shownActions(state.actions.values(), rules.calendar, rules.calendar.dateOf(at)),
      ...(isLive(market.feed) && { unsupported: [...market.feed.unsupportedActions()] }),
    })),

  withdrawCorporateAction(asked) {
    const call = ofMarket(asked);
    const { actionId } = call.params;
    return execute<'WithdrawAction'>(call, { type: 'WithdrawAction', actionId }, ({ result }) =>
      'code' in result ? answerTo(result) : { actionId, message: 'Corporate action withdrawn' },
    );
  },

  haltTrading(asked) {
    const call = ofMarket(asked);
    const { symbol: given, reason, until, for: lasts } = call.body;
    const { calendar } = call.simulation.brokerage.rules;
    const now = call.simulation.now();
    return execute<'HaltTrading'>(
      call,
      {
        type: 'HaltTrading',
        symbol: haltedSymbol(call.simulation, given),
        reason,
        ...(until !== undefined && { until: instantOf(until, calendar) }),
        ...(lasts !== undefined && { forMs: afterDuration(now, lasts, calendar) - now }),
      },
      ({ result }) => ('code' in result ? answerTo(result) : shownHalt(result)),
    );
  },

  listHalts: ({ simulation: { market }, query }) =>
    market.read([], ({ state }) => {
      const inForce = [...state.halts.inForce.values()].sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
      return pageOfAll(inForce, query, ({ symbol }) => symbol, shownHalt);
    }),

  liftHalt(asked) {
    const call = ofMarket(asked);
    const symbol = haltedSymbol(call.simulation, call.params.symbol);
    return execute<'LiftHalt'>(call, { type: 'LiftHalt', symbol }, ({ result }) =>
      'code' in result ? answerTo(result) : { symbol, message: 'Halt lifted' },
    );
  },
};

const haltedSymbol = (simulation: Simulation, symbol: string): string =>
  symbol === WHOLE_MARKET ? symbol : symbolIn(simulation, symbol);

/** Symbols that a tenant holds or has ordered in its simulation on a market. */
function symbolsOf(market: Simulation, tenantId: string): ReadonlySet<string> {
  const cell = [...market.followers].find((one) => one.tenantId === tenantId);
  return cell === undefined ? new Set() : symbolsAtStake(cell);
}

/** Advances a manual clock to the next quote or order event. */
async function advanceToNext(
  market: Simulation,
  goal: ClockGoal,
  symbols: ReadonlySet<string>,
): Promise<void> {
  const step = await market.beginStep();
  try {
    await step.open([]);
    let isSeen = false;
    const hasEvent = (): boolean => {
      for (const { events } of step.records.splice(0)) isSeen ||= events.some(isOrderEvent);
      return isSeen;
    };
    await advanceTo(step, market, goal, { symbols, hasEvent, isFull: () => false }, new Slice());
  } finally {
    step.commit();
  }
  await step.durable();
  await market.followersApplied();
}

/** Redirects a request to the market that its simulation follows. */
const ofMarket = <T extends { readonly simulation: Simulation }>(call: T): T => ({
  ...call,
  simulation: call.simulation.market,
});

/** The first symbol that is neither listed nor given by another action. */
function firstUnlisted(brokerage: Brokerage, actions: readonly CorporateAction[]): string | undefined {
  const given = new Set(actions.map(newSymbolOf));
  for (const { action, status } of brokerage.state.actions.values())
    if (status === 'ANNOUNCED') given.add(newSymbolOf(action));
  return actions.find(({ symbol }) => brokerage.instrument(symbol) === undefined && !given.has(symbol))
    ?.symbol;
}

/** The id of the first action that was announced with other terms, before or in the same request, and can be seen today. */
function firstChanged(
  state: State,
  actions: readonly CorporateAction[],
  today: TradingDate,
): string | undefined {
  const known = new Map<string, CorporateAction>();
  for (const action of actions) {
    const id = actionIdOf(action);
    const announced = state.actions.get(id);
    const before = known.get(id) ?? (announced?.status === 'ANNOUNCED' ? announced.action : undefined);
    const isSeen = before !== undefined && (before.knownFrom === undefined || before.knownFrom <= today);
    if (isSeen && !hasSameTerms(before, action)) return id;
    known.set(id, action);
  }
  return undefined;
}

/** A request that the clock does not support is a conflict. */
async function unlessRefused<T>(act: () => Promise<T>): Promise<T | Answer> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ClockRefused) return refuse(409, error.message);
    throw error;
  }
}
