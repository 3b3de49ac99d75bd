import { isForShares } from './instruments/instrument.js';
import type { Calendar } from './calendar/calendar.js';
import { entryKey, isOver, minuteOf } from './competitions/competition.js';
import type { Competition } from './competitions/competition.js';
import type { Event, OrderEvent, SplitMarket } from './event.js';
import { SHARES } from './instruments/instrument.js';
import type { Instrument } from './instruments/instrument.js';
import { emptyBalances } from './ledger/ledger.js';
import type { LedgerEntry } from './ledger/ledger.js';
import {
  ACTION_MEMORY_DAYS,
  actionIdOf,
  effectiveAt,
  endsShares,
  newSymbolOf,
  renamedAction,
  turnOf,
} from './corporate-actions/corporate-action.js';
import type { CorporateAction } from './corporate-actions/corporate-action.js';
import type { PositionConverted, ReceivedLot } from './lifecycle/conversion.js';
import type { FutureSettled } from './lifecycle/future-settled.js';
import type { OptionEnded, SharesMoved } from './lifecycle/option-event.js';
import { countedDayTrades, isRestricting, newMarginAccount } from './margin/margin-account.js';
import type { MarginCall } from './margin/margin-account.js';
import { WHOLE_MARKET } from './instruments/halted-by.js';
import type { Alert } from './market/alert.js';
import { bandAfterHalt, newBand, pricesWith } from './market/price-bands.js';
import type { BandState } from './market/price-bands.js';
import type { Book } from './matching/book.js';
import { addMultiLegOrder, removeMultiLegOrder, wakeMultiLegOrder } from './matching/multi-leg-index.js';
import type { OrdersRested } from './matching/orders-rested.js';
import { cashOfExecution, chargesOf, tradedBy } from './orders/execution.js';
import { MarginExcess } from './orders/margin-excess.js';
import { OpenOrders } from './orders/open-orders.js';
import { awaitsPrice, isOpening, legRatios, newOrder, NOTHING_SET_ASIDE, sideOf } from './orders/order.js';
import type { Order, OrderProgress, OrderTerms, Side } from './orders/order.js';
import { attachedCount } from './orders/order-request.js';
import { copyOf } from './orders/progress.js';
import { isTerminal, isTransitionAllowed } from './orders/status.js';
import type { Account } from './portfolios/account.js';
import { noteContracts } from './portfolios/contracts-on-order.js';
import { noteRiskSide } from './portfolios/portfolio.js';
import type { CloseMark, Portfolio } from './portfolios/portfolio.js';
import { Reservation } from './portfolios/reservation.js';
import type { Secured } from './portfolios/reservation.js';
import { forgetDayTrades } from './positions/day-trade.js';
import { Position, takeFromLots } from './positions/position.js';
import { settlementEntries, settlementInstant } from './settlement/obligation.js';
import type { Obligation } from './settlement/obligation.js';
import {
  noteDelivered,
  addHolder,
  addTimer,
  bookOf,
  forgetMargin,
  noteHolders,
  noteMargin,
  noteMark,
  noteScripted,
  openOrdersIn,
  placeAlert,
  removeHolder,
  removeHoldings,
  scheduleHaltEnd,
  scheduleLimitState,
  scheduleOrder,
} from './state.js';
import type { AnnouncedAction, State } from './state.js';
import { cashSideOf, postTrade } from './trading/entries.js';
import { orderAfter, placedOrder } from './trading/follow-order.js';
import type { OrderSnapshot } from './trading/follow-order.js';
import type { BookedExecution, OrderExecuted } from './trading/trade.js';
import { Ids } from './values/ids.js';
import type { Instant } from './values/instant.js';
import { Money } from './values/money.js';
import { Quantity } from './values/quantity.js';
import { TradingDate } from './values/trading-date.js';

/**
 * Applies an event of a record at `at`. Returns its order, in the state after the event; undefined for an event that concerns no order.
 */
export function evolveTelling(
  state: State,
  event: Event,
  at: Instant,
  calendar: Calendar,
): EvolvedOrder | undefined {
  const isMove = event.type === 'OrderMoved' || event.type === 'OrderExecuted';
  // Looked up before the event, which may remove the order from the open ones.
  const moved = isMove ? state.orders.get(event.order) : undefined;
  const reserved = moved?.progress.reserved;
  evolve(state, event, calendar);
  if (event.type === 'OrderRejected')
    return placedOrder(event, portfolioOf(state, event.request.portfolioId).terms.accountId, at);
  const order = event.type === 'OrderAccepted' ? state.orders.get(event.number) : moved;
  if (order === undefined) return undefined;
  const { terms, progress } = order;
  return progress.reserved === reserved ? { terms, progress } : { terms, progress, hasReservedOther: true };
}

/** An order after an event. */
export interface EvolvedOrder extends OrderSnapshot {
  /** True when the event changed its reserved cash, or began it. */
  readonly hasReservedOther?: true;
}

/**
 * Applies one event. This is the only code that changes state: an event that a decision emits and one that is read from
 * a journal go through the same lines.
 */
function evolve(state: State, event: Event, calendar: Calendar): void {
  switch (event.type) {
    case 'OrderAccepted':
      return accept(state, event);
    case 'OrderRejected':
      // The order was never open. Its number and those of its exits are used up, because a comparison may accept it (`SubmitOrder.number`).
      state.counters.order = Math.max(state.counters.order, event.number + attachedCount(event.request));
      return;
    case 'OrderMoved': {
      const order = orderOf(state, event.order);
      const through = event.transition === 'ACTIVATED' ? 'RESERVING' : undefined;
      const after = orderAfter(order, event, state.now);
      if (event.renamed !== undefined) return rename(state, order, after);
      if (event.script !== undefined) order.terms = after.terms;
      return move(state, order, after.progress, through);
    }
    case 'OrderExecuted':
      return execute(state, event, calendar);
    case 'OrdersRested':
      return rest(state, event);
    case 'MatchingPaused':
      return scheduleMatching(state, event.symbols);
    case 'SmaChanged':
      portfolioOf(state, event.portfolioId).margin.sma = event.balance;
      return;
    case 'CallIssued': {
      const { margin } = portfolioOf(state, event.portfolioId);
      state.counters.call = Math.max(state.counters.call, event.call.number);
      margin.calls = [...margin.calls, event.call];
      scheduleCall(state, event.portfolioId, event.call);
      return;
    }
    case 'CallMoved': {
      const { margin } = portfolioOf(state, event.portfolioId);
      margin.calls = margin.calls.map((call) => (call.number === event.call.number ? event.call : call));
      scheduleCall(state, event.portfolioId, event.call);
      return;
    }
    case 'CallClosed': {
      const { margin } = portfolioOf(state, event.portfolioId);
      margin.calls = margin.calls.filter(({ number }) => number !== event.call.number);
      return;
    }
    case 'MarginWarned':
      portfolioOf(state, event.portfolioId).margin.warnedOn = event.date;
      return;
    case 'DayShortfallNoted':
      portfolioOf(state, event.portfolioId).margin.shortfall = { date: event.date, amount: event.amount };
      return;
    case 'CallDue': {
      const portfolio = portfolioOf(state, event.portfolioId);
      const { margin } = portfolio;
      noteMargin(state, portfolio);
      if (event.call.type === 'INTRADAY')
        margin.unmetIntraday = [...margin.unmetIntraday, calendar.dateOf(state.now)].slice(-2);
      margin.calls = margin.calls.map((call) =>
        call.number === event.call.number ? { ...call, isDue: true } : call,
      );
      return;
    }
    case 'LiquidationDecided': {
      const { margin } = portfolioOf(state, event.portfolioId);
      margin.calls = margin.calls.map((call) =>
        isRestricting(call) ? { ...call, isLiquidating: true } : call,
      );
      return;
    }
    case 'InterestAccrued':
      for (const { portfolioId, interest, borrowFees } of event.points) {
        const { margin } = portfolioOf(state, portfolioId);
        if (margin.accruedThrough?.slice(0, 7) !== event.date.slice(0, 7))
          margin.earlier = { interest: margin.interest, borrowFees: margin.borrowFees };
        margin.interest += interest;
        margin.borrowFees += borrowFees;
        margin.accruedThrough = event.date;
      }
      if (event.complete) state.accruedThrough = event.date;
      return;
    case 'AccrualsPosted': {
      const { margin } = portfolioOf(state, event.portfolioId);
      margin.interest -= event.interest;
      margin.borrowFees -= event.borrowFees;
      margin.earlier = { interest: 0, borrowFees: 0 };
      return;
    }
    case 'LedgerPosted':
      return post(state, portfolioOf(state, event.portfolioId), event.entries);
    case 'PositionsImported':
      return importPositions(state, event);
    case 'DayTradeTracked': {
      const { dayTrades, margin } = portfolioOf(state, event.portfolioId);
      const { date, count } = event.tracker;
      const before = dayTrades.get(event.symbol);
      const more = count - (before?.date === date ? before.count : 0);
      margin.dayTrades = countedDayTrades(margin.dayTrades, date, more);
      dayTrades.set(event.symbol, event.tracker);
      return;
    }
    case 'ObligationSettled':
      return settle(state, event);
    case 'ObligationMoved':
      return moveObligation(state, event, calendar);
    case 'AccountOpened': {
      const account: Account = {
        accountId: event.accountId,
        ...event.details,
        ...(event.requiredType !== undefined && { requiredType: event.requiredType }),
        status: 'ACTIVE',
        createdAt: event.at,
        updatedAt: event.at,
        portfolioIds: [],
      };
      state.accounts.set(event.accountId, account);
      state.counters.account += 1;
      return;
    }
    case 'AccountUpdated':
      Object.assign(accountOf(state, event), event.names, { updatedAt: event.at });
      return;
    case 'AccountStatusChanged':
      Object.assign(accountOf(state, event), { status: event.status, updatedAt: event.at });
      return;
    case 'AccountDeleted':
      state.accounts.delete(event.accountId);
      return;
    case 'PortfolioOpened': {
      const { terms } = event;
      state.counters.portfolio = Math.max(state.counters.portfolio, terms.number);
      const account = accountOf(state, terms);
      state.portfolios.set(terms.portfolioId, {
        terms,
        account,
        settings: terms.initialSettings,
        updatedAt: terms.createdAt,
        promotionalCashAdded: false,
        balances: emptyBalances(),
        reservedByOrders: Reservation.none(),
        reservedByPositions: Reservation.none(),
        secured: new Map(),
        positions: new Map(),
        optionsOn: new Map(),
        contractsOnOrder: new Map(),
        openOrders: new OpenOrders(),
        clientOrderIds: new Map(),
        obligations: new Map(),
        previousClose: event.previousClose,
        dayTrades: new Map(),
        margin: newMarginAccount(),
        owing: new Set(),
      });
      account.portfolioIds.push(terms.portfolioId);
      if (state.competition?.phase === 'RUNNING') noteEquity(state, terms.initialCash);
      return;
    }
    case 'CompetitionBegun':
      state.competition = { terms: event.terms, phase: event.phase, points: [], trades: 0 };
      return;
    case 'CompetitionPhaseChanged': {
      const competition = competitionOf(state);
      competition.phase = event.phase;
      if (!isOver(event.phase)) delete competition.result;
      return;
    }
    case 'CompetitionMarked':
      return noteEquity(state, event.equity);
    case 'CompetitionHigh':
      competitionOf(state).highest = event.equity;
      return;
    case 'EntryRemoved': {
      const { type, cell, entryId, ...removal } = event;
      const competition = competitionOf(state);
      const entry = competition.entries?.get(cell ?? entryId ?? '');
      const removed = { ...removal, at: state.now };
      if (entry === undefined) competition.removed = removed;
      else competition.entries?.set(entryKey(entry), { ...entry, removed });
      return;
    }
    case 'EntryAdded': {
      const { type, ...entry } = event;
      const competition = competitionOf(state);
      competition.entries ??= new Map();
      competition.entries.set(entryKey(entry), entry);
      return;
    }
    case 'CompetitionSettled':
      competitionOf(state).result = event.result;
      return;
    case 'PortfolioChanged': {
      const portfolio = portfolioOf(state, event.portfolioId);
      portfolio.settings = event.settings;
      portfolio.promotionalCashAdded = event.promotionalCashAdded;
      portfolio.updatedAt = event.at;
      if (portfolio.positions.size > 0) noteMargin(state, portfolio);
      return;
    }
    case 'PortfolioRenamed': {
      const portfolio = portfolioOf(state, event.portfolioId);
      const { name: _, ...terms } = portfolio.terms;
      portfolio.terms = event.name === undefined ? terms : { ...terms, name: event.name };
      portfolio.updatedAt = event.at;
      return;
    }
    case 'PortfolioClosed': {
      const portfolio = portfolioOf(state, event.portfolioId);
      const ids = accountOf(state, portfolio.terms).portfolioIds;
      ids.splice(ids.indexOf(event.portfolioId), 1);
      removeHoldings(state, portfolio);
      forgetMargin(state, portfolio);
      state.portfolios.delete(event.portfolioId);
      return;
    }
    case 'PortfolioReset': {
      const portfolio = portfolioOf(state, event.portfolioId);
      portfolio.settings = { ...portfolio.terms.initialSettings, brokerId: portfolio.settings.brokerId };
      removeHoldings(state, portfolio);
      portfolio.positions.clear();
      portfolio.owing.clear();
      portfolio.optionsOn.clear();
      for (const underlying of portfolio.secured.keys()) secure(portfolio, underlying, NOTHING_SECURED);
      portfolio.obligations.clear();
      for (const [symbol, tracker] of portfolio.dayTrades) {
        portfolio.dayTrades.set(symbol, forgetDayTrades(tracker));
      }
      Object.assign(portfolio.margin, newMarginAccount());
      portfolio.previousClose = event.previousClose;
      portfolio.updatedAt = event.at;
      return;
    }
    case 'OptionsSecured':
      return secure(portfolioOf(state, event.portfolioId), event.underlying, event);
    case 'OptionEnded':
      return endOption(state, event, calendar);
    case 'FutureSettled':
      return settleFuture(state, event);
    case 'ExerciseInstructed': {
      const position = portfolioOf(state, event.portfolioId).positions.get(event.symbol);
      if (position === undefined) throw new RangeError('instructions for a position that does not exist');
      if (event.quantity === 0) delete position.doNotExercise;
      else position.doNotExercise = event.quantity;
      return;
    }
    case 'ExercisePriceTaken':
      state.exercisePrices.set(event.symbol, { date: event.date, price: event.price });
      return;
    case 'AssignmentsDrawn':
      state.assigning = event.standsAt;
      if (event.standsAt === undefined) state.assignedThrough = event.date;
      return;
    case 'InstrumentsListed':
      for (const instrument of event.instruments) {
        list(state, instrument);
        noteHolders(state, instrument.symbol);
      }
      return;
    case 'QuotesPushed':
      for (const instrument of event.listed) list(state, instrument);
      state.counters.push++;
      for (const quote of event.quotes) {
        // Another company has the symbol.
        state.retired.delete(quote.symbol);
        bookOf(state, quote.symbol).setQuote(quote, true, state.counters.push);
        noteMark(state, quote.symbol);
      }
      return;
    case 'ActionsAnnounced':
      for (const { actionId, action } of event.actions) {
        const number = ++state.counters.action;
        const byKind = event.byKind === true ? { byKind: event.byKind } : {};
        state.actions.set(actionId, { actionId, number, action, ...byKind, status: 'ANNOUNCED' });
        scheduleAction(state, calendar, actionId);
        // Dividends change the model values of options.
        noteHolders(state, action.symbol);
      }
      return;
    case 'ActionWithdrawn': {
      const announced = state.actions.get(event.actionId);
      if (announced !== undefined) {
        announced.status = 'WITHDRAWN';
        noteHolders(state, announced.action.symbol);
      }
      return unscheduleAction(state, event.actionId);
    }
    case 'SplitBegun': {
      const { mark, market, close } = event;
      if (close !== undefined) state.closes.set(event.symbol, close);
      const announced = actionOf(state, event.actionId);
      announced.underWay = { through: 0, ...(mark !== undefined && { mark }), series: [] };
      if (market !== undefined) splitMarket(bookOf(state, event.symbol), market);
      return;
    }
    case 'ActionBegun':
      return beginAction(state, event);
    case 'PositionConverted':
      return convert(state, event, calendar);
    case 'ActionContinued': {
      const announced = actionOf(state, event.actionId);
      const { within: _, ...before } = announced.underWay ?? { series: [] };
      announced.underWay = {
        ...before,
        through: event.through,
        ...(event.within !== undefined && { within: event.within }),
      };
      return;
    }
    case 'ActionDone': {
      const announced = state.actions.get(event.actionId);
      if (announced !== undefined) {
        announced.status = 'EFFECTIVE';
        delete announced.underWay;
      }
      if (endsShares(event.action)) passOnActions(state, calendar, event.action);
      state.concerned = undefined;
      noteHolders(state, event.action.symbol);
      forgetOldActions(state, event.action.exDate);
      if (event.market !== undefined) splitMarket(bookOf(state, event.action.symbol), event.market);
      return;
    }
    case 'SeriesAdjusted':
      return adjustSeries(state, event);
    case 'OptionAdjusted':
      return adjustPosition(state, portfolioOf(state, event.portfolioId), event);
    case 'PositionSplit':
      return split(state, portfolioOf(state, event.portfolioId), event);
    case 'DividendAccrued': {
      const portfolio = portfolioOf(state, event.portfolioId);
      const obligation = obligationOf(state, calendar, portfolio, event.payDate);
      obligation.cash = Money.add(obligation.cash, event.amount);
      noteMargin(state, portfolio);
      if (event.amount > 0)
        obligation.dividends = Money.add(obligation.dividends ?? Money.zero, event.amount);
      return;
    }
    case 'SessionMarked':
      for (const { portfolioId, date, totalEquity, maintenanceExcess, sma } of event.points) {
        const portfolio = portfolioOf(state, portfolioId);
        portfolio.previousClose = {
          date,
          totalEquity,
          maintenanceExcess,
          ...beforeOf(portfolio.previousClose),
        };
        if (sma !== undefined) portfolio.margin.sma = sma.balance;
        if (state.competition?.phase === 'RUNNING') noteEquity(state, totalEquity);
      }
      if (event.complete) state.closedThrough = event.date;
      return;
    case 'AgentSpent':
      return spend(state, event);
    case 'AgentRefused':
      return;
    case 'ClosesNoted':
      for (const [symbol, close] of event.closes) state.closes.set(symbol, close);
      state.closesOf = event.date;
      for (const [symbol, until] of state.restricted) if (until <= state.now) state.restricted.delete(symbol);
      for (const symbol of state.bands.keys()) scheduleLimitState(state, symbol, undefined);
      state.bands.clear();
      return;
    case 'ShortSalesRestricted':
      state.restricted.set(event.symbol, event.until);
      return;
    case 'BandMoved':
      return moveBand(state, event);
    case 'OutcomeSet':
      state.outcomes.set(event.rule.number, event.rule);
      state.counters.outcome = Math.max(state.counters.outcome, event.rule.number);
      return;
    case 'OutcomesDeleted':
      for (const number of event.outcomes) state.outcomes.delete(number);
      return;
    case 'OutcomeMet': {
      const rule = state.outcomes.get(event.outcome);
      if (rule === undefined) throw new RangeError(`no outcome ${event.outcome}`);
      const met = event.isPassedOver === true ? { passed: rule.passed + 1 } : { used: rule.used + 1 };
      state.outcomes.set(event.outcome, { ...rule, ...met });
      return;
    }
    case 'AlertSet': {
      const { alert: number, terms } = event;
      const createdAt = state.alerts.get(number)?.createdAt ?? state.now;
      placeAlert(state, number, { ...terms, number, createdAt, armedAt: state.now, status: 'ACTIVE' });
      state.counters.alert = Math.max(state.counters.alert, number);
      return;
    }
    case 'AlertRestated':
      return placeAlert(state, event.alert, { ...alertOf(state, event.alert), ...event.terms });
    case 'AlertFired': {
      const fired = { at: state.now, price: event.price };
      return placeAlert(state, event.alert, { ...alertOf(state, event.alert), status: 'FIRED', fired });
    }
    case 'AlertsEnded':
      for (const number of event.alerts)
        placeAlert(state, number, { ...alertOf(state, number), status: 'ENDED' });
      return;
    case 'AlertsDeleted':
      for (const number of event.alerts) placeAlert(state, number, undefined);
      return;
    case 'OrderRefused':
      return;
    case 'TradingHalted': {
      const { halt } = event;
      state.halts.inForce.set(halt.symbol, halt);
      for (const [symbol, band] of bandsUnder(state, halt.symbol)) {
        const { limitSince: _since, ...rest } = band;
        state.bands.set(symbol, rest);
        scheduleLimitState(state, symbol, undefined);
      }
      if (halt.reason.startsWith('MWC')) state.halts.breakers.set(halt.reason, calendar.dateOf(state.now));
      return scheduleHaltEnd(state, halt.symbol, halt.until);
    }
    case 'TradingResumed':
      return resumeTrading(state, event);
    case 'RulesChanged':
      state.rules = event.rules;
      for (const portfolio of state.portfolios.values())
        if (portfolio.positions.size > 0) noteMargin(state, portfolio);
      return;
    case 'ClockMoved':
      state.clock = event.now;
      return;
    case 'IdsTagged':
      state.idSecret = Ids.tagged(state.idSecret, event.tag, state.counters);
      state.ids = new Ids(state.idSecret);
      return;
    case 'ForkBegun':
      state.clock = event.now;
      state.seed = event.seed ?? state.seed;
      state.marketSeq = 0;
      // A simulation with its own clock has left its competition.
      state.competition = undefined;
      return;
  }
}

/** Adds to an agent's use of its day. A new agent's entry drops those of earlier days. */
function spend({ agents }: State, { agentId, date, amount }: Extract<Event, { type: 'AgentSpent' }>): void {
  const before = agents.get(agentId);
  if (before === undefined) for (const [other, use] of agents) if (use.date < date) agents.delete(other);
  agents.set(agentId, { date, used: before?.date === date ? Money.add(before.used, amount) : amount });
}

function actionOf(state: State, actionId: string): AnnouncedAction {
  const announced = state.actions.get(actionId);
  if (announced === undefined) throw new RangeError(`no corporate action ${actionId}`);
  return announced;
}

export function scheduleAction(state: State, calendar: Calendar, actionId: string): void {
  const announced = state.actions.get(actionId);
  if (announced?.status !== 'ANNOUNCED') return;
  const due = effectiveAt(calendar, announced.action);
  addTimer(state, due, turnOf(announced), { kind: 'CORPORATE_ACTION', actionId });
}

/**
 * Later actions of a symbol that has ended: they concern the shares under their new symbol, or lapse with merged or delisted ones (D208).
 */
function passOnActions(state: State, calendar: Calendar, ended: CorporateAction): void {
  const successor = ended.type === 'SYMBOL_CHANGE' ? ended.newSymbol : undefined;
  for (const announced of [...state.actions.values()]) {
    const { action, actionId, status } = announced;
    const isConcerned = action.symbol === ended.symbol || newSymbolOf(action) === ended.symbol;
    if (status !== 'ANNOUNCED' || !isConcerned) continue;
    if (successor === undefined) {
      if (action.symbol !== ended.symbol) continue;
      announced.status = 'WITHDRAWN';
      unscheduleAction(state, actionId);
      continue;
    }
    const renamed = renamedAction(action, ended.symbol, successor);
    const id = actionIdOf(renamed);
    unscheduleAction(state, actionId);
    state.actions.delete(actionId);
    // The same action may be announced under both symbols.
    if (state.actions.get(id)?.status === 'ANNOUNCED') continue;
    state.actions.set(id, { ...announced, actionId: id, action: renamed });
    scheduleAction(state, calendar, id);
  }
}

/** A repeated announcement gets a new number: the timer of the withdrawn one must not run first. */
function unscheduleAction(state: State, actionId: string): void {
  for (const timer of [...state.timers.values()]) {
    if (timer.what.kind === 'CORPORATE_ACTION' && timer.what.actionId === actionId)
      state.timers.remove(timer);
  }
}

/** The timer of a call that is due one day (D119). */
export function scheduleCall(state: State, portfolioId: string, { number, dueAt }: MarginCall): void {
  addTimer(state, dueAt, number, { kind: 'CALL_DUE', portfolioId, call: number });
}

export function scheduleSettlement(
  state: State,
  calendar: Calendar,
  portfolio: Portfolio,
  date: TradingDate,
): void {
  const { portfolioId, number } = portfolio.terms;
  addTimer(state, settlementInstant(calendar, date), number, { kind: 'SETTLEMENT', portfolioId, date });
}

function accept(state: State, event: Extract<OrderEvent, { type: 'OrderAccepted' }>): void {
  const portfolio = portfolioOf(state, event.request.portfolioId);
  const { terms, progress } = placedOrder(event, portfolio.terms.accountId, state.now);
  const order = newOrder(terms, progress);
  state.counters.order = Math.max(state.counters.order, event.number);
  addOpenOrder(state, portfolio, order);
  setAside(portfolio, order, undefined, order.progress);
  scheduleOrder(state, order);
  if (state.competition !== undefined) countAccepted(state.competition, terms, state.now);
}

function competitionOf({ competition }: State): Competition {
  if (competition === undefined) throw new RangeError('the simulation takes part in no competition');
  return competition;
}

/** The latest equity of an instant counts. */
function noteEquity(state: State, equity: Money): void {
  const { points } = competitionOf(state);
  if (points.at(-1)?.at === state.now) points.pop();
  points.push({ at: state.now, equity });
}

/** Counts the entrant's orders: neither the exits that come with an order, nor house orders. */
function countAccepted(competition: Competition, { origin, bracket }: OrderTerms, at: Instant): void {
  const isLeading = bracket === undefined || bracket.part === 'ENTRY' || bracket.part === 'OCO_LIMIT';
  if (origin !== undefined || !isLeading) return;
  const minute = minuteOf(at);
  const { accepted } = competition;
  competition.accepted = { minute, count: accepted?.minute === minute ? accepted.count + 1 : 1 };
}

/** Enters an order in all indexes of open orders. */
export function addOpenOrder(state: State, portfolio: Portfolio, order: Order): void {
  const { number, clientOrderId } = order.terms;
  state.orders.set(number, order);
  order.inPortfolio = portfolio.openOrders.add(order);
  noteContracts(portfolio.contractsOnOrder, order.terms, undefined, order.progress);
  if (clientOrderId !== undefined) portfolio.clientOrderIds.set(clientOrderId, number);
  enterMarket(state, order);
}

function enterMarket(state: State, order: Order): void {
  const { symbol, underlying } = order.terms;
  if (order.progress.scriptRun !== undefined) noteScripted(state, order, true);
  if (underlying !== undefined) {
    const others = state.optionOrders.get(underlying);
    if (others === undefined) state.optionOrders.set(underlying, new Set([order]));
    else others.add(order);
  }
  if (order.terms.legs !== undefined) {
    addMultiLegOrder(state.multiLegOrdersOn, order);
    return;
  }
  const book = bookOf(state, symbol);
  order.inBook = book.open.add(order);
  book.isOption = order.terms.assetClass === 'OPTION';
  if (awaitsPrice(order.terms, order.progress)) book.awaitingPrice.add(order);
  if (order.progress.timeInForce === 'OPG') book.onOpen.add(order);
  if (order.progress.timeInForce === 'CLS') book.onClose.add(order);
  if (order.progress.offer !== undefined) book.offered.add(order);
}

function leaveMarket(state: State, order: Order): void {
  const { symbol, underlying } = order.terms;
  if (order.terms.script !== undefined) noteScripted(state, order, false);
  if (underlying !== undefined) {
    const others = state.optionOrders.get(underlying);
    others?.delete(order);
    if (others?.size === 0) state.optionOrders.delete(underlying);
  }
  if (order.terms.legs === undefined) {
    const book = bookOf(state, symbol);
    book.remove(order);
    book.awaitingPrice.delete(order);
    book.onOpen.delete(order);
    book.onClose.delete(order);
    book.offered.delete(order);
    const movedInBook = book.open.removeAt(order.inBook);
    if (movedInBook !== undefined) movedInBook.inBook = order.inBook;
  } else {
    removeMultiLegOrder(state.multiLegOrdersOn, order);
  }
}

function removeOpenOrder(state: State, portfolio: Portfolio, order: Order): void {
  const { number, clientOrderId } = order.terms;
  leaveMarket(state, order);
  const moved = portfolio.openOrders.removeAt(order.inPortfolio);
  if (moved !== undefined) moved.inPortfolio = order.inPortfolio;
  state.orders.delete(number);
  if (clientOrderId !== undefined) portfolio.clientOrderIds.delete(clientOrderId);
}

function move(state: State, order: Order, progress: OrderProgress, through?: 'RESERVING'): void {
  const before = order.progress;
  if (!isTransitionAllowed(before.status, progress.status, through)) {
    throw new RangeError(
      `order ${order.terms.number} cannot move from ${before.status} to ${progress.status}`,
    );
  }
  const portfolio = portfolioOf(state, order.terms.portfolioId);
  order.progress = progress;
  setAside(portfolio, order, before, progress);
  noteContracts(portfolio.contractsOnOrder, order.terms, before, progress);
  if (progress.arrival !== undefined && progress.arrival > state.counters.arrival) {
    state.counters.arrival = progress.arrival;
  }
  if (isTerminal(progress.status)) {
    removeOpenOrder(state, portfolio, order);
    if (order.timer !== undefined) scheduleOrder(state, order);
    // The rest of the position must still be liquidated.
    if (order.terms.origin === 'LIQUIDATION' && progress.status !== 'REJECTED') noteMargin(state, portfolio);
    return;
  }
  const isPackage = order.terms.legs !== undefined;
  const isKept = progress.scriptRun !== undefined;
  if (isKept !== (before.scriptRun !== undefined)) noteScripted(state, order, isKept);
  if (isPackage) wakeMultiLegOrder(state.multiLegOrdersOn, order);
  const awaits = awaitsPrice(order.terms, progress);
  if (!isPackage && awaits !== awaitsPrice(order.terms, before)) {
    const { awaitingPrice } = bookOf(state, order.terms.symbol);
    if (awaits) awaitingPrice.add(order);
    else awaitingPrice.delete(order);
  }
  if (before.offer !== progress.offer) {
    const { offered } = bookOf(state, order.terms.symbol);
    if (progress.offer === undefined) offered.delete(order);
    else offered.add(order);
  }
  if (!isPackage && waitsElsewhere(before, progress)) {
    const book = bookOf(state, order.terms.symbol);
    if (progress.arrival === undefined) book.remove(order);
    else book.place(order, portfolio.terms.fillModel);
  }
  if (
    before.status !== progress.status ||
    before.expiresAt !== progress.expiresAt ||
    before.releaseAt !== progress.releaseAt ||
    before.arrival !== progress.arrival ||
    before.scriptRun?.due !== progress.scriptRun?.due ||
    before.cancelAt !== progress.cancelAt
  ) {
    scheduleOrder(state, order);
  }
}

/** Moves an order to another symbol, with its reservations and its priority. */
function rename(state: State, order: Order, { terms, progress }: OrderSnapshot): void {
  const portfolio = portfolioOf(state, terms.portfolioId);
  setAside(portfolio, order, order.progress, {
    ...order.progress,
    ...NOTHING_SET_ASIDE,
    reservedQuantity: Quantity.zero,
  });
  noteContracts(portfolio.contractsOnOrder, order.terms, order.progress, undefined);
  leaveMarket(state, order);
  order.terms = terms;
  order.progress = progress;
  setAside(portfolio, order, undefined, progress);
  noteContracts(portfolio.contractsOnOrder, terms, undefined, progress);
  enterMarket(state, order);
  if (terms.legs === undefined && progress.arrival !== undefined)
    bookOf(state, terms.symbol).place(order, portfolio.terms.fillModel);
}

/** Schedules the matching of orders that a full decision has left to the next one. */
export function scheduleMatching(state: State, symbols: readonly string[]): void {
  if (symbols.length > 0 && state.unmatched.length === 0) addTimer(state, state.now, 0, { kind: 'MATCHING' });
  state.unmatched = symbols;
}

function rest(state: State, { symbol, sessions, bid, ask }: OrdersRested): void {
  const book = bookOf(state, symbol);
  for (const lane of book.lanes) {
    const openedAt = sessions[lane.session];
    if (openedAt === undefined) continue;
    book.setSession(lane, openedAt);
    for (const order of [...lane.leftBy(bid, ask)]) {
      const progress = copyOf(order.progress);
      progress.restingSince = state.now;
      order.progress = progress;
      book.place(order, lane.model);
    }
  }
}

function moveBand(state: State, event: Extract<Event, { type: 'BandMoved' }>): void {
  const { symbol, date, price, trade, isFirstTrade, reference, isLimited, isExempt } = event;
  const known = state.bands.get(symbol);
  const before = known?.date === date ? known : newBand(date);
  const { isAfterHalt: _isAfterHalt, isExempt: _isExempt, limitSince, ...kept } = before;
  const since = isLimited === undefined ? limitSince : isLimited ? state.now : undefined;
  state.bands.set(symbol, {
    ...kept,
    ...(before.isAfterHalt === true && reference === undefined && { isAfterHalt: true as const }),
    prices: pricesWith(before.prices, state.now, price),
    ...(trade !== undefined && { trade }),
    ...(isFirstTrade === true && { hasTrades: true as const }),
    ...(reference !== undefined && { reference, referenceAt: state.now }),
    ...(since !== undefined && { limitSince: since }),
    ...(isExempt !== undefined && { isExempt }),
  });
  if (isLimited !== undefined) scheduleLimitState(state, symbol, since);
}

/** The bands that a halt covers. */
const bandsUnder = ({ bands }: State, symbol: string): readonly (readonly [string, BandState])[] =>
  symbol === WHOLE_MARKET ? [...bands] : [...bands].filter(([one]) => one === symbol);

/** Ends a halt. Orders no longer count as resting: they are matched with the next quote like arriving orders (D128, D178). */
function resumeTrading(state: State, { symbol, pushes }: Extract<Event, { type: 'TradingResumed' }>): void {
  state.halts.inForce.delete(symbol);
  state.halts.resumed.set(symbol, { at: state.now, pushes });
  scheduleHaltEnd(state, symbol, undefined);
  for (const [one, band] of bandsUnder(state, symbol)) state.bands.set(one, bandAfterHalt(band));
  const concerned =
    symbol === WHOLE_MARKET
      ? [...state.orders.values()]
      : [...openOrdersIn(state, symbol), ...(state.optionOrders.get(symbol) ?? [])];
  for (const order of concerned) forgetRest(state, order);
}

function forgetRest(state: State, order: Order): void {
  const { terms, places } = order;
  if (order.progress.restingSince !== undefined) {
    const progress = copyOf(order.progress);
    progress.restingSince = undefined;
    order.progress = progress;
    if (terms.legs === undefined && places !== undefined)
      bookOf(state, terms.symbol).place(order, portfolioOf(state, terms.portfolioId).terms.fillModel);
  }
  if (terms.legs !== undefined) wakeMultiLegOrder(state.multiLegOrdersOn, order);
}

const waitsElsewhere = (before: OrderProgress, after: OrderProgress): boolean =>
  before.arrival !== after.arrival ||
  before.limitPrice !== after.limitPrice ||
  before.stopPrice !== after.stopPrice ||
  before.mark !== after.mark ||
  before.triggered !== after.triggered ||
  before.restingSince !== after.restingSince ||
  before.offer !== after.offer ||
  (before.scriptRun === undefined) !== (after.scriptRun === undefined);

/** Maintains the portfolio's sums of reservations by open orders. */
function setAside(
  portfolio: Portfolio,
  order: Order,
  before: OrderProgress | undefined,
  after: OrderProgress,
): void {
  const { reservedByOrders: sum } = portfolio;
  const cash = after.reserved - (before?.reserved ?? 0);
  if (cash !== 0) sum.cash = Money.ofUnits(sum.cash + cash);
  const taken = before?.takes ?? MarginExcess.none;
  if (after.takes !== taken)
    sum.headroom = MarginExcess.add(sum.headroom, MarginExcess.subtract(after.takes, taken));
  const shares = after.reservedQuantity - (before?.reservedQuantity ?? 0);
  if (shares !== 0) setAsideHoldings(sum, order.terms, shares);
  const cover = after.cover - (before?.cover ?? 0);
  if (cover !== 0 && order.terms.underlying !== undefined) addShares(sum, order.terms.underlying, cover);
  if (after.coverOthers !== before?.coverOthers) {
    for (const { symbol, quantity } of before?.coverOthers ?? []) addShares(sum, symbol, 0 - quantity);
    for (const { symbol, quantity } of after.coverOthers ?? []) addShares(sum, symbol, quantity);
  }
}

/** Adds the contracts that a closing order reserves; for multi-leg orders the closing legs, in their ratio. */
function setAsideHoldings(sum: Reservation, { symbol, legs }: OrderTerms, units: number): void {
  if (legs === undefined) return addShares(sum, symbol, units);
  const ratios = legRatios(legs);
  legs.forEach(({ optionSymbol, positionIntent }, index) => {
    if (!isOpening(positionIntent)) addShares(sum, optionSymbol, units * (ratios[index] ?? 1));
  });
}

function addShares({ shares }: Reservation, symbol: string, change: number): void {
  const sum = Quantity.ofUnits((shares.get(symbol) ?? 0) + change);
  if (sum === 0) shares.delete(symbol);
  else shares.set(symbol, sum);
}

function execute(
  state: State,
  event: Extract<OrderEvent, { type: 'OrderExecuted' }>,
  calendar: Calendar,
): void {
  const order = orderOf(state, event.order);
  const { terms } = order;
  const portfolio = portfolioOf(state, terms.portfolioId);
  const cashSide = cashSideOf(terms, event.executions);
  for (const execution of event.executions)
    bookExecution(state, portfolio, terms, event, cashSide, execution, calendar);
  portfolio.updatedAt = state.now;
  if (state.competition !== undefined && terms.origin === undefined)
    state.competition.trades += event.executions.length;
  noteMargin(state, portfolio);
  move(state, order, orderAfter(order, event, state.now).progress);
}

function bookExecution(
  state: State,
  portfolio: Portfolio,
  terms: OrderTerms,
  { settlementDate }: OrderExecuted,
  cashSide: Side,
  execution: BookedExecution,
  calendar: Calendar,
): void {
  const { quantity, value, lot: opened, closed, variation } = execution;
  const { assetClass, underlying } = terms;
  const { symbol, positionIntent } = tradedBy(terms, execution);
  const buy = sideOf(positionIntent) === 'BUY';
  postTrade(portfolio.balances, assetClass, positionIntent, cashSide, execution);
  state.counters.execution = Math.max(state.counters.execution, execution.number);

  let position = portfolio.positions.get(symbol);
  if (position === undefined) {
    position = Position.open(symbol, assetClass, underlying);
    addPosition(state, portfolio, position);
  }
  const signed = buy ? quantity : Quantity.negate(quantity);
  const isDelivered = isForShares(assetClass);
  if (isDelivered) position.pending = Quantity.add(position.pending, signed);
  else position.settled = Quantity.add(position.settled, signed);
  if (opened !== undefined) {
    state.counters.lot = Math.max(state.counters.lot, opened);
    const lot = { lotId: opened, quantity: signed, cost: value, openedAt: state.now };
    position.lots.push(assetClass === 'FUTURE' ? { ...lot, marked: value } : lot);
  } else {
    takeFromLots(position.lots, closed ?? []);
  }
  noteRiskSide(portfolio, position);
  if (variation !== undefined) {
    position.variation = Money.add(position.variation ?? Money.zero, variation);
    position.closedAt = state.now;
  }
  if (settlementDate !== undefined) {
    const obligation = obligationOf(state, calendar, portfolio, settlementDate);
    // A purchase was paid at once. The proceeds of a sale, less its charges, arrive at settlement.
    const cash = cashOfExecution(execution);
    const moved = Money.ofUnits((buy ? 0 - cash : cash) - chargesOf(execution));
    if (cashSide === 'SELL') obligation.cash = Money.add(obligation.cash, moved);
    else payAhead(obligation, moved);
    if (isDelivered) {
      const before = obligation.quantities.get(symbol) ?? Quantity.zero;
      obligation.quantities.set(symbol, Quantity.add(before, signed));
    }
  }
  if (!isDelivered) removeIfOver(state, portfolio, position);
  if (portfolio.terms.fillModel !== 'ideal') takeFromMarket(bookOf(state, symbol), buy, execution);
}

/** Removes the executed quantity from the displayed size of the quote, or from the modeled book behind it. */
function takeFromMarket(book: Book, buy: boolean, { quantity, rule }: BookedExecution): void {
  // An auction has its own size, and a script needs none.
  if (rule === 'OPENING_AUCTION' || rule === 'CLOSING_AUCTION' || rule === 'SCRIPTED') return;
  const modeled = rule === 'MODELLED_BOOK';
  if (buy) {
    if (modeled) book.modelledAskTaken += quantity;
    else book.askLeft -= quantity;
  } else {
    if (modeled) book.modelledBidTaken += quantity;
    else book.bidLeft -= quantity;
  }
}

/** Removes contracts from the position. Shares move on the settlement date, cash by the entries. */
function endOption(state: State, event: OptionEnded, calendar: Calendar): void {
  const portfolio = portfolioOf(state, event.portfolioId);
  const { symbol, closed, shares, settlementDate, entries } = event;
  post(state, portfolio, entries);
  if (closed !== undefined) {
    const position = portfolio.positions.get(symbol);
    if (position === undefined) throw new RangeError('ending a position that does not exist');
    const change = position.settled < 0 ? event.quantity : Quantity.negate(event.quantity);
    position.settled = Quantity.add(position.settled, change);
    takeFromLots(position.lots, closed);
    removeIfOver(state, portfolio, position);
    noteMargin(state, portfolio);
  }
  portfolio.updatedAt = state.now;
  if (settlementDate === undefined) return;
  const obligation = obligationOf(state, calendar, portfolio, settlementDate);
  for (const { postings } of entries) {
    for (const { account, amount } of postings)
      if (account === 'PENDING_CASH') obligation.cash = Money.add(obligation.cash, amount);
      else if (account === 'SETTLED_CASH') payAhead(obligation, amount);
  }
  if (shares !== undefined) moveShares(state, portfolio, obligation, shares);
}

function settleFuture(state: State, event: FutureSettled): void {
  const portfolio = portfolioOf(state, event.portfolioId);
  const position = portfolio.positions.get(event.symbol);
  if (position === undefined) throw new RangeError('settling a future that is not held');
  post(state, portfolio, event.entries);
  delete position.variation;
  delete position.closedAt;
  if (event.closed !== undefined) {
    takeFromLots(position.lots, event.closed);
    position.settled = Quantity.zero;
  } else {
    const byLot = new Map(event.marked?.map(({ lotId, marked }) => [lotId, marked]));
    for (const [index, lot] of position.lots.entries())
      position.lots[index] = { ...lot, marked: byLot.get(lot.lotId) ?? lot.cost };
    position.settlementPrice = event.price;
    position.settledAt = state.now;
    // Intraday margin ends at the close (D94).
    noteMargin(state, portfolio);
  }
  removeIfOver(state, portfolio, position);
}

function moveShares(
  state: State,
  portfolio: Portfolio,
  { quantities }: Obligation,
  { symbol, quantity, closed, opened }: SharesMoved,
): void {
  let position = portfolio.positions.get(symbol);
  if (position === undefined) {
    position = Position.open(symbol, SHARES);
    addPosition(state, portfolio, position);
  }
  position.pending = Quantity.add(position.pending, quantity);
  takeFromLots(position.lots, closed);
  for (const { lot, ...more } of opened) {
    state.counters.lot = Math.max(state.counters.lot, lot);
    position.lots.push({ lotId: lot, ...more, openedAt: state.now });
  }
  noteRiskSide(portfolio, position);
  quantities.set(symbol, Quantity.add(quantities.get(symbol) ?? Quantity.zero, quantity));
}

function obligationOf(state: State, calendar: Calendar, portfolio: Portfolio, date: TradingDate) {
  let obligation = portfolio.obligations.get(date);
  if (obligation === undefined) {
    obligation = { date, cash: Money.zero, quantities: new Map() };
    portfolio.obligations.set(date, obligation);
    scheduleSettlement(state, calendar, portfolio, date);
  }
  return obligation;
}

/** Records settled cash that has moved before its settlement date. */
function payAhead(obligation: Obligation, moved: Money): void {
  obligation.paid = Money.subtract(obligation.paid ?? Money.zero, moved);
}

function beforeOf(close: CloseMark | undefined): Pick<CloseMark, 'before'> {
  if (close === undefined) return {};
  const { date, totalEquity, maintenanceExcess } = close;
  return { before: { date, totalEquity, maintenanceExcess } };
}

/** Adds what was due on a date to what is due on a later one. */
function moveObligation(
  state: State,
  { portfolioId, date, to }: Extract<Event, { type: 'ObligationMoved' }>,
  calendar: Calendar,
): void {
  const portfolio = portfolioOf(state, portfolioId);
  const moved = portfolio.obligations.get(date);
  if (moved === undefined) throw new RangeError('moving an obligation that does not exist');
  portfolio.obligations.delete(date);
  const target = obligationOf(state, calendar, portfolio, to);
  target.cash = Money.add(target.cash, moved.cash);
  for (const [symbol, quantity] of moved.quantities)
    target.quantities.set(symbol, Quantity.add(target.quantities.get(symbol) ?? Quantity.zero, quantity));
  if (moved.paid !== undefined) target.paid = Money.add(target.paid ?? Money.zero, moved.paid);
  if (moved.dividends !== undefined)
    target.dividends = Money.add(target.dividends ?? Money.zero, moved.dividends);
}

function settle(state: State, event: Extract<Event, { type: 'ObligationSettled' }>): void {
  const portfolio = portfolioOf(state, event.portfolioId);
  const obligation = portfolio.obligations.get(event.date);
  if (obligation === undefined) throw new RangeError('settling an obligation that does not exist');
  portfolio.obligations.delete(event.date);
  for (const [symbol, quantity] of obligation.quantities) {
    const position = portfolio.positions.get(symbol);
    if (position === undefined) throw new RangeError('settling a position that does not exist');
    position.settled = Quantity.add(position.settled, quantity);
    position.pending = Quantity.subtract(position.pending, quantity);
    removeIfOver(state, portfolio, position);
  }
  post(state, portfolio, settlementEntries(event));
}

function list(state: State, instrument: Instrument): void {
  state.listed.set(instrument.symbol, instrument);
  noteDelivered(state, instrument);
  state.adjusted.delete(instrument.symbol);
  state.retired.delete(instrument.symbol);
}

/** Renames series and drops the quotes of the old ones. One symbol can be the old name of one and the new name of another. */
function adjustSeries(
  state: State,
  { actionId, series, listed, markets }: Extract<Event, { type: 'SeriesAdjusted' }>,
): void {
  const announced = state.actions.get(actionId);
  if (announced?.underWay !== undefined) announced.underWay = { ...announced.underWay, series };
  for (const instrument of listed) {
    state.listed.set(instrument.symbol, instrument);
    noteDelivered(state, instrument);
  }
  for (const { from, to } of series) {
    state.adjusted.set(from, to);
    for (const symbol of [from, to]) state.books.get(symbol)?.forgetQuote();
  }
  for (const { to } of series) state.adjusted.delete(to);
  for (const market of markets) {
    const book = bookOf(state, market.quote.symbol);
    book.setQuote(market.quote, true);
    splitMarket(book, market);
  }
}

function adjustPosition(
  state: State,
  portfolio: Portfolio,
  { symbol, to, contracts, underlying }: Extract<Event, { type: 'OptionAdjusted' }>,
): void {
  const position = portfolio.positions.get(symbol);
  if (position === undefined) throw new RangeError('adjusting a position that does not exist');
  const times = (quantity: Quantity): Quantity => Quantity.ofUnits(quantity * contracts);
  removePosition(state, portfolio, position);
  addPosition(state, portfolio, {
    ...position,
    symbol: to,
    ...(underlying !== undefined && { underlying }),
    settled: times(position.settled),
    lots: position.lots.map((lot) => ({ ...lot, quantity: times(lot.quantity) })),
    ...(position.doNotExercise !== undefined && { doNotExercise: times(position.doNotExercise) }),
  });
  portfolio.updatedAt = state.now;
  noteMargin(state, portfolio);
}

/** Removes a position that is empty and that no pending delivery will change. */
function removeIfOver(state: State, portfolio: Portfolio, position: Position): void {
  if (position.settled !== 0 || position.pending !== 0 || position.lots.length > 0) return;
  // Realized variation of a future is posted with the next daily settlement.
  if (position.variation !== undefined && position.variation !== 0) return;
  for (const { quantities } of portfolio.obligations.values()) if (quantities.has(position.symbol)) return;
  removePosition(state, portfolio, position);
}

function removePosition(state: State, portfolio: Portfolio, position: Position): void {
  portfolio.positions.delete(position.symbol);
  portfolio.owing.delete(position.symbol);
  removeHolder(state.holders, position.symbol, portfolio);
  if (position.underlying === undefined) return;
  const options = portfolio.optionsOn.get(position.underlying);
  options?.delete(position.symbol);
  if ((options?.size ?? 0) > 0) return;
  portfolio.optionsOn.delete(position.underlying);
  removeHolder(state.optionHolders, position.underlying, portfolio);
}

/** Enters a position in all indexes of positions. */
export function addPosition(state: State, portfolio: Portfolio, position: Position): void {
  const { symbol, underlying } = position;
  portfolio.positions.set(symbol, position);
  noteRiskSide(portfolio, position);
  addHolder(state.holders, symbol, portfolio);
  if (underlying === undefined) return;
  const options = portfolio.optionsOn.get(underlying);
  if (options === undefined) portfolio.optionsOn.set(underlying, new Set([symbol]));
  else options.add(symbol);
  addHolder(state.optionHolders, underlying, portfolio);
}

const NOTHING_SECURED: Secured = { cash: Money.zero, shares: Quantity.zero };

/** Replaces the collateral of the short options on an underlying. */
export function secure(
  { secured, reservedByPositions: sum }: Portfolio,
  underlying: string,
  next: Secured,
): void {
  const { cash, shares, others, lacking } = next;
  const before = secured.get(underlying) ?? NOTHING_SECURED;
  sum.cash = Money.ofUnits(sum.cash + cash - before.cash);
  if (shares !== before.shares) addShares(sum, underlying, shares - before.shares);
  for (const { symbol, quantity } of before.others ?? []) addShares(sum, symbol, Quantity.negate(quantity));
  for (const { symbol, quantity } of others ?? []) addShares(sum, symbol, quantity);
  if (cash === 0 && shares === 0 && others === undefined && lacking === undefined) secured.delete(underlying);
  else
    secured.set(underlying, {
      cash,
      shares,
      ...(others !== undefined && { others }),
      ...(lacking !== undefined && { lacking }),
    });
}

const COUNTS_LATER: ReadonlySet<CorporateAction['type']> = new Set([
  'SPLIT',
  'STOCK_DIVIDEND',
  'SYMBOL_CHANGE',
]);

/** Drops actions too old to be announced again: announcements in the past are refused. */
function forgetOldActions(state: State, today: TradingDate): void {
  const limit = TradingDate.plusDays(today, -ACTION_MEMORY_DAYS);
  for (const { actionId, action, status } of state.actions.values()) {
    // Splits and changes of symbols count in the taxes of later years.
    if (status === 'EFFECTIVE' && COUNTS_LATER.has(action.type)) continue;
    if (status !== 'ANNOUNCED' && action.exDate < limit) state.actions.delete(actionId);
  }
}

function post(state: State, portfolio: Portfolio, entries: readonly LedgerEntry[]): void {
  for (const { number, type, postings } of entries) {
    if (number > state.counters.ledgerEntry) state.counters.ledgerEntry = number;
    for (const { account, amount } of postings) {
      portfolio.balances[account] = Money.add(portfolio.balances[account], amount);
      if (type === 'TRANSFER' && account === 'SETTLED_CASH') noteTransfer(portfolio, amount);
    }
  }
  if (entries.length === 0) return;
  portfolio.updatedAt = state.now;
  if (portfolio.positions.size > 0) noteMargin(state, portfolio);
}

function importPositions(state: State, event: Extract<Event, { type: 'PositionsImported' }>): void {
  const portfolio = portfolioOf(state, event.portfolioId);
  post(state, portfolio, event.entries);
  let value = event.cash;
  for (const { symbol, assetClass, underlying, value: worth, lots } of event.positions) {
    const position = Position.open(symbol, assetClass, underlying);
    for (const lot of lots) {
      state.counters.lot = Math.max(state.counters.lot, lot.lotId);
      position.lots.push({ ...lot });
      position.settled = Quantity.add(position.settled, lot.quantity);
    }
    addPosition(state, portfolio, position);
    value = Money.add(value, worth);
  }
  noteTransfer(portfolio, value);
  portfolio.updatedAt = state.now;
  noteMargin(state, portfolio);
}

function noteTransfer(portfolio: Portfolio, amount: Money): void {
  const { previousClose } = portfolio;
  if (previousClose === undefined) return;
  const transferred = Money.add(previousClose.transferred ?? Money.zero, amount);
  portfolio.previousClose = { ...previousClose, transferred };
}

function split(state: State, portfolio: Portfolio, event: Extract<Event, { type: 'PositionSplit' }>): void {
  const position = portfolio.positions.get(event.symbol);
  if (position === undefined) throw new RangeError('splitting a position that does not exist');
  noteMargin(state, portfolio);
  position.settled = event.settled;
  position.pending = event.pending;
  const byId = new Map(position.lots.map((lot) => [lot.lotId, lot]));
  position.lots.length = 0;
  for (const { lotId, quantity, cost } of event.lots) {
    const lot = byId.get(lotId);
    if (lot === undefined) throw new RangeError('splitting a lot that does not exist');
    position.lots.push({ ...lot, quantity, cost });
  }
  for (const { date, quantity } of event.obligations)
    portfolio.obligations.get(date)?.quantities.set(event.symbol, quantity);
  removeIfOver(state, portfolio, position);
}

/** Lists new shares, puts derived marks in force and ends the symbol. */
function beginAction(state: State, event: Extract<Event, { type: 'ActionBegun' }>): void {
  const { actionId, symbol, mark, newMark, quotes, closes, listed, successor } = event;
  actionOf(state, actionId).underWay = {
    through: 0,
    ...(mark !== undefined && { mark }),
    ...(newMark !== undefined && { newMark }),
    series: [],
  };
  for (const instrument of listed) list(state, instrument);
  if (successor !== undefined) {
    state.retired.set(symbol, successor ?? '');
    state.closes.delete(symbol);
    state.books.get(symbol)?.forgetQuote();
    noteMark(state, symbol);
  }
  for (const [one, close] of closes) state.closes.set(one, close);
  for (const quote of quotes) {
    bookOf(state, quote.symbol).setQuote(quote, true);
    noteMark(state, quote.symbol);
  }
}

function convert(state: State, event: PositionConverted, calendar: Calendar): void {
  const portfolio = portfolioOf(state, event.portfolioId);
  const { symbol, kept, received, amount, payDate, entries } = event;
  const position = portfolio.positions.get(symbol);
  if (position === undefined) throw new RangeError('converting a position that does not exist');
  post(state, portfolio, entries);
  const lots = new Map(position.lots.map((lot) => [lot.lotId, lot]));
  position.lots.length = 0;
  for (const { lotId, quantity, cost } of kept ?? []) {
    const lot = lots.get(lotId);
    if (lot === undefined) throw new RangeError('keeping a lot that does not exist');
    position.lots.push({ ...lot, quantity, cost });
  }
  if (kept === undefined) {
    position.settled = Quantity.zero;
    position.pending = Quantity.zero;
    for (const { quantities } of portfolio.obligations.values()) quantities.delete(symbol);
    removePosition(state, portfolio, position);
  }
  if (received !== undefined) {
    let other = portfolio.positions.get(received.symbol);
    if (other === undefined) {
      other = Position.open(received.symbol, SHARES);
      addPosition(state, portfolio, other);
    }
    other.pending = Quantity.add(other.pending, received.pending);
    other.settled = Quantity.add(other.settled, Quantity.subtract(received.quantity, received.pending));
    takeFromLots(other.lots, received.closed);
    addByDate(state, other, received.opened);
    for (const { date, quantity } of received.obligations) {
      const quantities = portfolio.obligations.get(date)?.quantities;
      const before = quantities?.get(received.symbol) ?? Quantity.zero;
      quantities?.set(received.symbol, Quantity.add(before, quantity));
    }
    noteRiskSide(portfolio, other);
    removeIfOver(state, portfolio, other);
  }
  if (amount !== undefined && payDate !== undefined) {
    const obligation = obligationOf(state, calendar, portfolio, payDate);
    obligation.cash = Money.add(obligation.cash, amount);
  }
  portfolio.updatedAt = state.now;
  noteMargin(state, portfolio);
}

/** Adds lots by the date that they keep: they close in that order (D208). */
function addByDate(state: State, { lots }: Position, added: readonly ReceivedLot[]): void {
  for (const { lotId, quantity, cost, openedAt } of added) {
    state.counters.lot = Math.max(state.counters.lot, lotId);
    const later = lots.findIndex((lot) => lot.openedAt > openedAt);
    lots.splice(later === -1 ? lots.length : later, 0, { lotId, quantity, cost, openedAt });
  }
}

function splitMarket(book: Book, market: SplitMarket): void {
  book.setQuote(market.quote, true, book.pushed);
  book.bidLeft = market.bidLeft ?? book.bidLeft;
  book.askLeft = market.askLeft ?? book.askLeft;
  book.modelledBidTaken = market.modelledBidTaken;
  book.modelledAskTaken = market.modelledAskTaken;
}

function orderOf(state: State, number: number): Order {
  const order = state.orders.get(number);
  if (order === undefined) throw new RangeError(`no open order ${number}`);
  return order;
}

function alertOf(state: State, number: number): Alert {
  const alert = state.alerts.get(number);
  if (alert === undefined) throw new RangeError(`no alert ${number}`);
  return alert;
}

function portfolioOf(state: State, portfolioId: string): Portfolio {
  const portfolio = state.portfolios.get(portfolioId);
  if (portfolio === undefined) throw new RangeError(`no portfolio ${portfolioId}`);
  return portfolio;
}

function accountOf(state: State, { accountId }: { readonly accountId: string }): Account {
  const account = state.accounts.get(accountId);
  if (account === undefined) throw new RangeError(`no account ${accountId}`);
  return account;
}
