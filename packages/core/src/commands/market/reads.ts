import { ALL_MULTI_LEG } from '../fills/match-multi-leg-orders.js';
import { changesOptions, endsContracts, newSymbolOf } from '../../corporate-actions/corporate-action.js';
import type { CorporateAction } from '../../corporate-actions/corporate-action.js';
import type { Command } from '../../command.js';
import { sliceOfAction } from './action-slice.js';
import { futureSpecification } from '../../instruments/future-specifications.js';
import { parseFutureSymbol } from '../../instruments/future-symbols.js';
import { possibleUnderlyingsOf } from '../../instruments/option-roots.js';
import { isLongAsOsi } from '../../instruments/osi.js';
import type { Quote } from '../../market/quote.js';
import type { CappedAgent } from '../../orders/agent-caps.js';
import type { Order, OrderLeg, OrderTerms } from '../../orders/order.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { DONE_ALONE, TIMERS_AT_ONCE, underlyingsDelivering, underlyingsInTurn } from '../../state.js';
import type { AnnouncedAction, State, Timer } from '../../state.js';
import type { Instant } from '../../values/instant.js';

/**
 * Symbols whose quotes a command reads, so that a feed that computes quotes updates them first. All such reads are declared here:
 * tests fail if a decision reads another symbol. Beyond them, an execution may use the last known quotes of a MARGIN portfolio's other
 * holdings, as on every tick. `closes`: the symbols whose closes are noted at the end of a session.
 */
export function symbolsRead(
  state: State,
  command: Command,
  at: Instant,
  closes: () => readonly string[],
): ReadonlySet<string> {
  const symbols = symbolsNamed(state, command, at, closes);
  return command.type === 'UpdateMarket' ? symbols : withDelivered(state, symbols);
}

/** Adds the other shares that options deliver, and the symbols for put-call parity of underlyings without a quote. */
function withDelivered(state: State, symbols: ReadonlySet<string>): ReadonlySet<string> {
  const unquoted = new Set<string>();
  const others: string[] = [];
  for (const symbol of symbols) {
    if (!isLongAsOsi(symbol)) continue;
    for (const underlying of possibleUnderlyingsOf(symbol, state.listed))
      if (state.books.get(underlying)?.quote === undefined) unquoted.add(underlying);
    const contract = state.listed.get(symbol);
    if (contract?.assetClass === 'OPTION')
      for (const other of contract.others ?? []) others.push(other.symbol);
  }
  if (unquoted.size === 0 && others.length === 0) return symbols;
  const all = new Set([...symbols, ...others]);
  for (const underlying of unquoted) addParityReads(state, underlying, all);
  return all;
}

function symbolsNamed(
  state: State,
  command: Command,
  at: Instant,
  closes: () => readonly string[],
): ReadonlySet<string> {
  switch (command.type) {
    case 'SubmitOrder': {
      const { portfolioId } = command.order;
      const read = withLoss(state, command, portfolioId, withHoldings(state, portfolioId, command.order));
      return withCompetition(state, portfolioId, read);
    }
    case 'ReplaceOrder': {
      const number = state.ids.numberOf('ORDER', command.orderId);
      const order = number === undefined ? undefined : state.orders.get(number);
      if (order === undefined) return NOTHING;
      const { number: found, portfolioId } = order.terms;
      const read = withLoss(state, command, portfolioId, ofOrder(state, found));
      return withCompetition(state, portfolioId, read);
    }
    case 'UpgradeMargin': {
      const portfolio = state.portfolios.get(command.portfolioId);
      const orders = portfolio?.openOrders.oldestFirst() ?? [];
      return new Set([...heldIn(portfolio), ...orders.flatMap(({ terms }) => ofTerms(terms))]);
    }
    case 'ExerciseOption': {
      const held = heldIn(state.portfolios.get(command.portfolioId));
      return new Set([...held, ...underlyingsOf(state, command.symbol)]);
    }
    case 'ImportPositions':
      return withUnderlyings(
        state,
        command.lots.map(({ symbol }) => symbol),
      );
    case 'SetAlert':
      return new Set([command.terms.symbol]);
    case 'UpdateAlert': {
      const number = state.ids.numberOf('ALERT', command.alertId);
      const alert = number === undefined ? undefined : state.alerts.get(number);
      return alert === undefined ? NOTHING : new Set([alert.symbol]);
    }
    case 'SwitchBroker':
    case 'ResetPortfolio':
    case 'TransferCash':
    case 'ClosePortfolio':
    case 'LookAtMargin':
      return heldIn(state.portfolios.get(command.portfolioId));
    case 'AdvanceClock':
      return symbolsDue(state, at, closes);
    case 'UpdateMarket':
      return withMultiLegOrders(state, command.quotes);
    case 'SetCompetitionPhase':
    case 'JudgeEntry':
      return heldInAll(state);
    case 'BeginCompetition':
    case 'AddEntry':
    case 'RemoveEntry':
    case 'SettleCompetition':
    case 'DoNotExercise':
    case 'OpenAccount':
    case 'UpdateAccount':
    case 'RenamePortfolio':
    case 'SetAccountStatus':
    case 'DeleteAccount':
    case 'OpenPortfolio':
    case 'CancelOrder':
    case 'CancelAccountOrders':
    case 'ListInstruments':
    case 'AnnounceActions':
    case 'WithdrawAction':
    case 'SetOutcome':
    case 'DeleteOutcomes':
    case 'DeleteAlert':
    case 'HaltTrading':
    case 'LiftHalt':
    case 'ChangeRules':
    case 'MoveClock':
    case 'TagIds':
    case 'BeginFork':
      return NOTHING;
  }
}

function withUnderlyings(state: State, symbols: readonly string[]): ReadonlySet<string> {
  return new Set([...symbols, ...symbols.flatMap((symbol) => underlyingsOf(state, symbol))]);
}

/** Possible underlyings of an option; of other symbols none. */
const underlyingsOf = ({ listed }: State, symbol: string): readonly string[] =>
  isLongAsOsi(symbol) ? possibleUnderlyingsOf(symbol, listed) : [];

/** Adds all holdings for an agent with a loss cap, which depends on the portfolio's value. */
const withLoss = (
  state: State,
  { agent }: { readonly agent?: CappedAgent },
  portfolioId: string,
  symbols: ReadonlySet<string>,
): ReadonlySet<string> =>
  agent?.caps.maxDailyLoss === undefined
    ? symbols
    : new Set([...symbols, ...heldIn(state.portfolios.get(portfolioId))]);

/** Adds all holdings and the symbols of open orders for competition rules. */
function withCompetition(
  state: State,
  portfolioId: string,
  symbols: ReadonlySet<string>,
): ReadonlySet<string> {
  if (state.competition === undefined) return symbols;
  const portfolio = state.portfolios.get(portfolioId);
  const orders = portfolio?.openOrders.oldestFirst() ?? [];
  return withUnderlyings(state, [
    ...symbols,
    ...heldIn(portfolio),
    ...orders.flatMap(({ terms }) => ofTerms(terms)),
  ]);
}

/** Adds symbols that multi-leg orders read after a quote of one leg, and the underlyings of options. */
function withMultiLegOrders(state: State, quotes: readonly Quote[]): ReadonlySet<string> {
  const all = new Set(quotes.map(({ symbol }) => symbol));
  let concerned: Set<Order> | undefined;
  for (const quote of quotes) {
    const book = state.books.get(quote.symbol);
    if (book?.isOption === true && book.open.size > 0)
      for (const underlying of underlyingsOf(state, quote.symbol)) all.add(underlying);
    // The opening of an index ends the series that wait for it.
    for (const series of state.awaitingOpening.get(quote.symbol) ?? []) all.add(series);
    concerned = state.multiLegOrdersOn.get(quote.symbol)?.concernedBy(quote, concerned) ?? concerned;
    for (const { terms } of state.scripted.get(quote.symbol) ?? [])
      for (const symbol of withHoldings(state, terms.portfolioId, terms)) all.add(symbol);
  }
  for (const { terms } of concerned ?? [])
    for (const other of withHoldings(state, terms.portfolioId, terms)) all.add(other);
  return all;
}

const NOTHING: ReadonlySet<string> = new Set();

/** Symbols read by the timers due at an instant, as far as one batch serves them. */
function symbolsDue(state: State, at: Instant, closes: () => readonly string[]): ReadonlySet<string> {
  const symbols = new Set<string>();
  for (const { due, what } of state.timers.inOrder(TIMERS_AT_ONCE)) {
    if (due > at) break;
    addReads(state, what, symbols);
    if (what.kind === 'SESSION_CLOSE') for (const symbol of closes()) symbols.add(symbol);
    if (DONE_ALONE.has(what.kind)) break;
  }
  return symbols;
}

function addReads(state: State, what: Timer['what'], symbols: Set<string>): void {
  switch (what.kind) {
    case 'CLOSING_AUCTION':
    case 'ORDER_RELEASE':
    case 'ORDER_ARRIVAL':
    case 'ORDER_SCRIPT':
      for (const symbol of ofOrder(state, what.order)) symbols.add(symbol);
      return;
    case 'MATCHING':
      for (const symbol of state.unmatched)
        for (const read of [symbol, ...underlyingsOf(state, symbol)])
          if (read !== ALL_MULTI_LEG) symbols.add(read);
      addReadsOfMultiLegOrders(state, symbols);
      return;
    case 'SESSION_OPEN':
      for (const { symbol, isOption, workingOrders } of state.books.values()) {
        if (workingOrders === 0) continue;
        symbols.add(symbol);
        if (isOption) for (const underlying of underlyingsOf(state, symbol)) symbols.add(underlying);
      }
      addReadsOfMultiLegOrders(state, symbols);
      return;
    case 'COMPETITION_START':
    case 'COMPETITION_HOUR':
    case 'COMPETITION_END':
      for (const symbol of heldInAll(state)) symbols.add(symbol);
      return;
    case 'SESSION_CLOSE':
      for (const [symbol, holders] of state.holders) if (holders.size > 0) symbols.add(symbol);
      for (const underlying of state.optionHolders.keys()) symbols.add(underlying);
      return;
    case 'FUTURES_SETTLE':
      for (const symbol of what.symbols) {
        symbols.add(symbol);
        addReadsOfCalled(state, symbol, symbols);
        const index = futureSpecification(parseFutureSymbol(symbol, 0)?.root ?? '')?.finalIndex;
        if (index !== undefined) symbols.add(index);
      }
      return;
    case 'SERIES_END':
      addReadsOfEndings(state, underlyingsInTurn(state, what.series), symbols);
      return;
    case 'CORPORATE_ACTION': {
      const announced = state.actions.get(what.actionId);
      if (announced === undefined) return;
      const { action } = announced;
      symbols.add(action.symbol);
      const newSymbol = newSymbolOf(action);
      if (newSymbol !== undefined) symbols.add(newSymbol);
      if (changesOptions(action)) addAdjustmentReads(state, announced, action, symbols);
      if (endsContracts(action)) addReadsOfEnded(state, announced, action, symbols);
      return;
    }
    case 'CALL_DUE':
      for (const symbol of heldIn(state.portfolios.get(what.portfolioId))) symbols.add(symbol);
      return;
    case 'INTEREST':
      for (const [symbol, holders] of state.holders) if (holders.size > 0) symbols.add(symbol);
      return;
    case 'EARLY_ASSIGNMENT':
      addOptionReads(state, symbols);
      return;
    case 'CANCEL_ARRIVAL':
      // A script may fill an order when it is canceled.
      if (state.orders.get(what.order)?.terms.script !== undefined)
        for (const symbol of ofOrder(state, what.order)) symbols.add(symbol);
      return;
    case 'HALT_END':
      for (const orders of state.scripted.values())
        for (const { terms } of orders)
          for (const symbol of ofOrder(state, terms.number)) symbols.add(symbol);
      return;
    case 'ANNOUNCEMENT':
    case 'LIMIT_STATE':
    case 'INTEREST_POST':
    case 'SETTLEMENT':
    case 'ORDER_EXPIRY':
      return;
  }
}

/** Ending series, continuing series on the same underlyings that may cover them, and the underlyings. */
function addReadsOfEndings(state: State, underlyings: readonly string[], symbols: Set<string>): void {
  for (const [symbol, holders] of state.holders) {
    if (holders.size === 0 || !underlyingsOf(state, symbol).some((one) => underlyings.includes(one)))
      continue;
    symbols.add(symbol);
    addReadsOfCalled(state, symbol, symbols);
  }
  for (const underlying of underlyings) {
    symbols.add(underlying);
    addParityReads(state, underlying, symbols);
  }
}

/** Ending positions may meet their holders' margin calls: all of those holders' symbols are read then. */
function addReadsOfCalled({ holders }: State, symbol: string, symbols: Set<string>): void {
  for (const portfolio of holders.get(symbol) ?? []) {
    if (portfolio.margin.calls.length === 0) continue;
    for (const held of heldIn(portfolio)) symbols.add(held);
  }
}

/** All held options, their underlyings, and the inputs of put-call parity for underlyings without a quote. */
function addOptionReads(state: State, symbols: Set<string>): void {
  for (const [symbol, holders] of state.holders) if (holders.size > 0) symbols.add(symbol);
  for (const underlying of state.optionHolders.keys()) {
    symbols.add(underlying);
    addParityReads(state, underlying, symbols);
  }
}

/**
 * Reads of an action that changes options. At its start: the options on its symbol. Later: those of the slice's open orders on it, also under
 * the new names.
 */
function addAdjustmentReads(
  state: State,
  announced: AnnouncedAction,
  { symbol: underlying }: CorporateAction,
  symbols: Set<string>,
): void {
  if (announced.underWay === undefined) {
    for (const { symbol } of state.books.values())
      if (underlyingsOf(state, symbol).includes(underlying)) symbols.add(symbol);
    return;
  }
  const renamed = new Map(announced.underWay.series.map(({ from, to }) => [from, to]));
  const underlyings = underlyingsDelivering(state, underlying);
  for (const { openOrders } of sliceOfAction(state, announced).portfolios) {
    for (const { terms } of openOrders)
      if (terms.symbol === underlying || underlyings.some((one) => one === terms.underlying))
        for (const symbol of withHoldings(state, terms.portfolioId, terms))
          symbols.add(symbol).add(renamed.get(symbol) ?? symbol);
  }
}

/** Contracts that end by an action change the margin of their holders. */
function addReadsOfEnded(
  state: State,
  announced: AnnouncedAction,
  { symbol }: CorporateAction,
  symbols: Set<string>,
): void {
  for (const portfolio of sliceOfAction(state, announced).portfolios)
    if (portfolio.optionsOn.has(symbol)) for (const held of heldIn(portfolio)) symbols.add(held);
}

/** Put-call parity values an underlying without a quote. */
function addParityReads(state: State, underlying: string, symbols: Set<string>): void {
  if (state.books.get(underlying)?.quote !== undefined) return;
  const add = (symbol: string): void => {
    if (underlyingsOf(state, symbol).includes(underlying)) symbols.add(symbol);
  };
  for (const symbol of state.books.keys()) add(symbol);
  // Recovery knows listed contracts without quotes.
  for (const symbol of state.listed.keys()) add(symbol);
}

/** All multi-leg orders read their contracts and underlyings; on margin all holdings too. */
function addReadsOfMultiLegOrders(
  { multiLegOrdersOn: packagesOn, portfolios }: State,
  symbols: Set<string>,
): void {
  const looking = new Set<string>();
  for (const [symbol, packages] of packagesOn) {
    symbols.add(symbol);
    for (const { terms } of packages) {
      symbols.add(terms.symbol);
      looking.add(terms.portfolioId);
    }
  }
  for (const portfolioId of looking) {
    const portfolio = portfolios.get(portfolioId);
    if (portfolio?.settings.portfolioType !== 'MARGIN') continue;
    for (const symbol of heldIn(portfolio)) symbols.add(symbol);
  }
}

function ofOrder(state: State, number: number): ReadonlySet<string> {
  const terms = state.orders.get(number)?.terms;
  return terms === undefined ? NOTHING : withHoldings(state, terms.portfolioId, terms);
}

/** An order reads its own market; on margin also all holdings of the portfolio. */
function withHoldings(state: State, portfolioId: string, order: Ordered): ReadonlySet<string> {
  const portfolio = state.portfolios.get(portfolioId);
  const symbols = new Set(orderedIn(order));
  if (portfolio?.settings.portfolioType !== 'MARGIN') return symbols;
  for (const underlying of underlyingsOf(state, order.symbol)) symbols.add(underlying);
  for (const symbol of heldIn(portfolio)) symbols.add(symbol);
  return symbols;
}

type Ordered = Pick<OrderTerms, 'symbol'> & { readonly legs?: readonly OrderLeg[] | undefined };

/** Symbols of an order: its own and those of its legs. */
const orderedIn = ({ symbol, legs }: Ordered): readonly string[] =>
  legs === undefined ? [symbol] : [symbol, ...legs.map(({ optionSymbol }) => optionSymbol)];

/** Symbols of an open order, with the underlying of its options. */
const ofTerms = (terms: OrderTerms): readonly string[] =>
  terms.underlying === undefined ? orderedIn(terms) : [...orderedIn(terms), terms.underlying];

/** Symbols held by any portfolio. */
const heldInAll = ({ portfolios }: State): ReadonlySet<string> =>
  new Set([...portfolios.values()].flatMap((portfolio) => [...heldIn(portfolio)]));

/** Symbols of a portfolio's positions, and the underlyings of its options. */
const heldIn = (portfolio: Portfolio | undefined): ReadonlySet<string> =>
  new Set(portfolio === undefined ? [] : [...portfolio.positions.keys(), ...portfolio.optionsOn.keys()]);
