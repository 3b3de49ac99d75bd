import { type Brokerage, Instant } from '@sandpit/core';
import { ClockRefused } from '../../engine/clock.js';
import { type Answer, refuse, refuseCoded } from '../answer.js';
import { execute, type Handlers } from '../call.js';
import { durationMs, instantOf, isoOf } from '../translate/instants.js';
import { instrumentsOf, shownInstrument } from '../translate/instruments.js';
import { pushedQuoteOf } from '../translate/market-data.js';
import { answerTo } from '../translate/rejections.js';
import { clockOf, corporateActionOf, shownActions } from '../translate/simulations.js';

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
>;

const NOT_A_PUSH_FEED = refuse(409, 'Quotes can be pushed into a simulation with a push feed only');

/** A clock that moves farther at once would keep its simulation busy for longer than anybody waits. */
const LONGEST_MOVE_MS = 10 * 366 * 86_400_000;
const TOO_FAR = 'must be within ten years of the present of the simulation';

/** Control of the market and the clock of the token's own simulation (D35). */
export const simulationHandlers: SimulationHandlers = {
  async pushQuotes({ simulation, body }) {
    if (simulation.feed.kind !== 'push') return NOT_A_PUSH_FEED;
    const now = simulation.now();
    const { calendar } = simulation.brokerage.rules;
    const quotes = body.quotes.map((quote) => pushedQuoteOf(quote, now, calendar));
    const early = quotes.flatMap(({ at }, i) =>
      at > now ? [`quotes.${i}.timestamp must not be later than now`] : [],
    );
    if (early.length > 0) return refuse(400, early);
    await simulation.pushQuotes(quotes);
    return { accepted: body.quotes.length, now: isoOf(simulation.now()) };
  },

  getClock: ({ simulation }) => clockOf(simulation),

  async setClock({ simulation, body }) {
    const { now, speed } = body;
    const to = now === undefined ? undefined : instantOf(now, simulation.brokerage.rules.calendar);
    if (to !== undefined && isTooFar(to, simulation.now())) return refuse(400, [`now ${TOO_FAR}`]);
    return unlessRefused(async () => {
      if (speed !== undefined) await simulation.setSpeed(speed);
      if (to !== undefined) await simulation.moveClock(to);
      return clockOf(simulation);
    });
  },

  async advanceClock({ simulation, body }) {
    const { to, by } = body;
    const from = simulation.now();
    const target =
      to === undefined
        ? Instant.plusMs(from, durationMs(by ?? 'PT0S'))
        : instantOf(to, simulation.brokerage.rules.calendar);
    if (isTooFar(target, from)) return refuse(400, [`${to === undefined ? 'by' : 'to'} ${TOO_FAR}`]);
    return unlessRefused(async () => {
      if (simulation.clock().mode !== 'manual') throw new ClockRefused('Only a manual clock can be advanced');
      await simulation.moveClock(target);
      return clockOf(simulation);
    });
  },

  putInstruments(call) {
    const { brokerage } = call.simulation;
    const isIndex = (symbol: string) => brokerage.instrument(symbol)?.assetClass === 'INDEX';
    const { calendar } = brokerage.rules;
    const today = calendar.dateOf(call.simulation.now());
    const listing = instrumentsOf(call.body.instruments, isIndex, today);
    if ('problems' in listing) return refuse(400, listing.problems);
    const { instruments } = listing;
    return execute<'ListInstruments'>(call, { type: 'ListInstruments', instruments }, ({ result }) =>
      result !== undefined
        ? answerTo(result)
        : { instruments: instruments.map((instrument) => shownInstrument(instrument, calendar, today)) },
    );
  },

  async addCorporateActions(call) {
    const today = call.simulation.brokerage.rules.calendar.dateOf(call.simulation.now());
    const actions = call.body.actions.map((action) => corporateActionOf(action, today));
    const unknown = await call.simulation.read([], (brokerage) => firstUnlisted(brokerage, actions));
    if (unknown !== undefined) {
      return refuseCoded('UNKNOWN_SYMBOL', `Unknown symbol ${unknown}`, { symbol: unknown });
    }
    return execute<'AnnounceActions'>(call, { type: 'AnnounceActions', actions }, ({ result }) =>
      'code' in result
        ? answerTo(result)
        : { actions: shownActions(result, call.simulation.brokerage.rules.calendar) },
    );
  },

  listCorporateActions: ({ simulation }) =>
    simulation.read([], ({ state, rules }) => ({
      actions: shownActions(state.actions.values(), rules.calendar),
    })),

  withdrawCorporateAction(call) {
    const { actionId } = call.params;
    return execute<'WithdrawAction'>(call, { type: 'WithdrawAction', actionId }, ({ result }) =>
      'code' in result ? answerTo(result) : { actionId, message: 'Corporate action withdrawn' },
    );
  },
};

const isTooFar = (to: Instant, from: Instant): boolean => to - from > LONGEST_MOVE_MS;

const firstUnlisted = (
  brokerage: Brokerage,
  actions: readonly { readonly symbol: string }[],
): string | undefined => actions.find(({ symbol }) => brokerage.instrument(symbol) === undefined)?.symbol;

/** A clock that does not do what was asked is a conflict. */
async function unlessRefused<T>(act: () => Promise<T>): Promise<T | Answer> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ClockRefused) return refuse(409, error.message);
    throw error;
  }
}
