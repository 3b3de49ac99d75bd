import { isForShares } from './instruments/instrument.js';
import { LEDGER_ACCOUNTS } from './ledger/ledger.js';
import { MarginExcess } from './orders/margin-excess.js';
import { isForAuction } from './orders/auction.js';
import { awaitsPrice, legRatios, remainingOf, symbolsTraded } from './orders/order.js';
import type { Order } from './orders/order.js';
import { MOST_ALERTS } from './market/alert.js';
import { MOST_OUTCOMES } from './orders/outcome-rule.js';
import { piecesOf } from './orders/script-pieces.js';
import { isTerminal } from './orders/status.js';
import { noteContracts } from './portfolios/contracts-on-order.js';
import type { OnOrder } from './portfolios/contracts-on-order.js';
import { cashOf, owedCash, reservedShares } from './portfolios/portfolio.js';
import type { Portfolio } from './portfolios/portfolio.js';
import { Reservation } from './portfolios/reservation.js';
import { Position } from './positions/position.js';
import type { State } from './state.js';
import { Money } from './values/money.js';
import { Quantity } from './values/quantity.js';

/** Checks the invariants that hold after every command. Returns a sentence for each violation; empty = none. */
export function brokenInvariants(state: State): string[] {
  const broken: string[] = [];
  for (const portfolio of state.portfolios.values()) checkPortfolio(portfolio, broken);
  for (const order of state.orders.values()) checkOrder(state, order, broken);
  checkAccounts(state, broken);
  checkHolders(state, broken);
  checkBooks(state, broken);
  checkHalts(state, broken);
  checkOutcomes(state, broken);
  checkAlerts(state, broken);
  return broken;
}

/** Checks that the indexes of holders list exactly the portfolios with positions: recovery rebuilds the same. */
function checkHolders({ portfolios, holders, optionHolders }: State, broken: string[]): void {
  let held = 0;
  let underlyings = 0;
  for (const portfolio of portfolios.values()) {
    held += portfolio.positions.size;
    underlyings += portfolio.optionsOn.size;
    for (const symbol of portfolio.positions.keys())
      if (holders.get(symbol)?.has(portfolio) !== true) broken.push(`a holder of ${symbol} is not listed`);
    for (const underlying of portfolio.optionsOn.keys())
      if (optionHolders.get(underlying)?.has(portfolio) !== true)
        broken.push(`a holder of options on ${underlying} is not listed`);
  }
  const listed = (index: ReadonlyMap<string, ReadonlySet<unknown>>): number => {
    let sum = 0;
    for (const [key, { size }] of index) {
      if (size === 0) broken.push(`${key} is listed without a holder`);
      sum += size;
    }
    return sum;
  };
  if (listed(holders) !== held) broken.push('a portfolio is listed for what it does not hold');
  if (listed(optionHolders) !== underlyings)
    broken.push('a portfolio is listed for options that it does not hold');
}

function checkAccounts(state: State, broken: string[]): void {
  let portfolios = 0;
  for (const { accountId, portfolioIds, requiredType } of state.accounts.values()) {
    portfolios += portfolioIds.length;
    for (const id of portfolioIds) {
      const terms = state.portfolios.get(id)?.terms;
      if (terms?.accountId !== accountId) broken.push(`account ${accountId}: portfolio ${id} is not its own`);
      if (requiredType !== undefined && terms?.accountType !== requiredType)
        broken.push(`account ${accountId}: portfolio ${id} is not of its type`);
    }
  }
  if (portfolios !== state.portfolios.size) broken.push('a portfolio belongs to no account');
  if (state.accounts.size > state.counters.account) broken.push('accounts are not counted right');
}

/** Every halt with an end has a timer for it, and no other symbol has one. */
function checkHalts({ halts, haltTimers, counters, now }: State, broken: string[]): void {
  for (const [symbol, halt] of halts.inForce) {
    if (halt.symbol !== symbol) broken.push(`halt of ${symbol}: is of ${halt.symbol}`);
    if (halt.since > now) broken.push(`halt of ${symbol}: begins later`);
    if (halt.until !== undefined && halt.until <= halt.since) broken.push(`halt of ${symbol}: lasts no time`);
    if (haltTimers.get(symbol)?.due !== halt.until)
      broken.push(`halt of ${symbol}: has no timer for its end`);
  }
  for (const symbol of haltTimers.keys())
    if (!halts.inForce.has(symbol)) broken.push(`halt of ${symbol}: is over and has a timer`);
  for (const [symbol, { at, pushes }] of halts.resumed)
    if (at > now || pushes > counters.push) broken.push(`halt of ${symbol}: ended later`);
}

/** Alerts have not exceeded their limit, and exactly the active ones are indexed by their symbols. */
function checkAlerts({ alerts, alertsOn, counters, now }: State, broken: string[]): void {
  if (alerts.size > MOST_ALERTS) broken.push('there are too many alerts');
  let active = 0;
  for (const [number, { number: own, symbol, status, fired, armedAt }] of alerts) {
    if (own !== number || number > counters.alert) broken.push(`alert ${number}: has another number`);
    if (alertsOn.get(symbol)?.has(number) !== true && status === 'ACTIVE')
      broken.push(`alert ${number}: is active and in no index`);
    if ((status === 'FIRED') !== (fired !== undefined) || armedAt > now || (fired?.at ?? now) > now)
      broken.push(`alert ${number}: has not fired when it says`);
    if (status === 'ACTIVE') active++;
  }
  let indexed = 0;
  for (const numbers of alertsOn.values()) indexed += numbers.size;
  if (indexed !== active) broken.push('alerts that are not active are indexed');
}

/** Rules have not exceeded their limits, and every order that a script keeps from the market is indexed by its symbols. */
function checkOutcomes({ outcomes, counters, orders, scripted }: State, broken: string[]): void {
  if (outcomes.size > MOST_OUTCOMES) broken.push('there are too many outcomes');
  for (const [number, { skip, times, passed, used, ...rule }] of outcomes) {
    if (rule.number !== number || number > counters.outcome)
      broken.push(`outcome ${number}: has another number`);
    if (passed > skip || (times > 0 && used > times) || (used > 0 && passed < skip))
      broken.push(`outcome ${number}: has met too many orders`);
  }
  let kept = 0;
  for (const order of orders.values()) {
    const { terms, progress } = order;
    const { scriptRun: run } = progress;
    if (run === undefined) continue;
    const symbols = new Set(symbolsTraded(terms));
    kept += symbols.size;
    if (terms.script === undefined || progress.arrival === undefined)
      broken.push(`order ${terms.number}: is kept from the market without a script`);
    if (run.due !== undefined && run.since === undefined)
      broken.push(`order ${terms.number}: its script stands still and is due`);
    if (run.due !== undefined && isForAuction(progress.timeInForce))
      broken.push(`order ${terms.number}: its script is due before its auction`);
    if (run.elapsed < 0 || run.next > piecesOf(terms).length)
      broken.push(`order ${terms.number}: its script has come too far`);
    if ([...symbols].some((symbol) => scripted.get(symbol)?.has(order) !== true))
      broken.push(`order ${terms.number}: its script is not found by its symbols`);
  }
  let found = 0;
  for (const all of scripted.values()) found += all.size;
  if (found !== kept) broken.push('an order is found as scripted that is not');
}

/** Every active order is in the book of its instrument, and no other is; those that wait for a price are indexed. */
function checkBooks(state: State, broken: string[]): void {
  const atWork = new Map<string, number>();
  for (const order of state.orders.values()) {
    const { terms, progress } = order;
    if ((terms.underlying !== undefined) !== (terms.assetClass === 'OPTION'))
      broken.push(`order ${terms.number} has no underlying, or one although it is not for options`);
    if (terms.underlying !== undefined && state.optionOrders.get(terms.underlying)?.has(order) !== true)
      broken.push(`order ${terms.number} is not found by what its options are on`);
    if (terms.legs !== undefined) {
      if (
        terms.legs.some(({ optionSymbol }) => state.multiLegOrdersOn.get(optionSymbol)?.has(order) !== true)
      )
        broken.push(`order ${terms.number} is not found by its legs`);
      continue;
    }
    if (progress.arrival !== undefined) atWork.set(terms.symbol, (atWork.get(terms.symbol) ?? 0) + 1);
  }
  for (const { symbol, workingOrders, open, awaitingPrice } of state.books.values()) {
    const waiting = [...open].filter(({ terms, progress }) => awaitsPrice(terms, progress));
    if (waiting.length !== awaitingPrice.size || waiting.some((order) => !awaitingPrice.has(order)))
      broken.push(`book ${symbol}: not the orders that wait for a price`);
    if (workingOrders !== (atWork.get(symbol) ?? 0)) broken.push(`book ${symbol}: not the orders at work`);
    atWork.delete(symbol);
  }
  for (const symbol of atWork.keys()) broken.push(`book ${symbol}: is missing`);
  for (const [underlying, orders] of state.optionOrders)
    for (const { terms } of orders)
      if (terms.underlying !== underlying || !state.orders.has(terms.number))
        broken.push(`order ${terms.number} is found on ${underlying}`);
}

function checkPortfolio(portfolio: Portfolio, broken: string[]): void {
  const { portfolioId, accountType } = portfolio.terms;
  const fail = (what: string): void => void broken.push(`portfolio ${portfolioId}: ${what}`);
  const { balances } = portfolio;

  let sum = 0;
  for (const account of LEDGER_ACCOUNTS) {
    if (!Number.isSafeInteger(balances[account])) fail(`${account} is not an exact integer`);
    sum += balances[account];
  }
  if (sum !== 0) fail('the ledger does not balance');
  if (balances.SETTLED_CASH % 100 !== 0 || balances.PENDING_CASH % 100 !== 0)
    fail('cash is not in whole cents');
  if (portfolio.settings.portfolioType === 'CASH' && balances.SETTLED_CASH < 0)
    fail('a CASH portfolio owes cash');
  if (accountType !== 'INDIVIDUAL' && portfolio.settings.portfolioType !== 'CASH')
    fail('a retirement account on margin');

  const cash = cashOf(portfolio, shortCost(portfolio));
  if (cash.settledCash < 0 || cash.reservedCash < 0 || cash.marginLoan < 0)
    fail('a reported balance is negative');
  const reported = cash.settledCash + cash.pendingCash + cash.reservedCash - cash.marginLoan;
  if (reported !== balances.SETTLED_CASH + balances.PENDING_CASH) fail('cash views disagree');

  for (const order of portfolio.openOrders) {
    const { reserved, reservedQuantity, takes } = order.progress;
    if (reserved < 0 || reservedQuantity < 0 || takes.initial < 0 || takes.maintenance < 0)
      fail(`order ${order.terms.number} has a negative reservation`);
  }
  const { reservedByOrders, reservedByPositions } = portfolio;
  if (!isSame(reservedByOrders, setAsideByOrders(portfolio)))
    fail('the reserved amount is not the sum of the reservations of open orders');
  if (!isSame(reservedByPositions, setAsideByPositions(portfolio)))
    fail('the reserved amount is not the collateral of short options');
  if (!isSameOnOrder(portfolio.contractsOnOrder, contractsOnOrder(portfolio)))
    fail('contracts on order are not those of open orders');
  for (const underlying of portfolio.secured.keys())
    if (!portfolio.optionsOn.has(underlying)) fail(`${underlying}: collateral for options that are not held`);
  if (portfolio.settings.portfolioType === 'CASH') {
    if (reservedByOrders.cash + reservedByPositions.cash + owedCash(portfolio) > balances.SETTLED_CASH)
      fail('more cash is reserved than available');
    if (!MarginExcess.isNone(reservedByOrders.headroom)) fail('a CASH portfolio reserves margin');
  }
  for (const { shares } of [reservedByOrders, reservedByPositions]) {
    for (const symbol of shares.keys())
      if (!portfolio.positions.has(symbol)) fail(`${symbol} is reserved and not held`);
  }

  let cost = 0;
  let pendingCash = 0;
  const pendingShares = new Map<string, number>();
  for (const obligation of portfolio.obligations.values()) {
    pendingCash += obligation.cash;
    for (const [symbol, quantity] of obligation.quantities) {
      pendingShares.set(symbol, (pendingShares.get(symbol) ?? 0) + quantity);
      if (!portfolio.positions.has(symbol)) fail(`shares of ${symbol} are to be delivered to no position`);
    }
  }
  for (const position of portfolio.positions.values()) {
    const held = Position.held(position);
    const lots = position.lots.reduce((total, lot) => total + lot.quantity, 0);
    if (lots !== held) fail(`lots of ${position.symbol} do not add up to the position`);
    if (position.lots.some((lot) => lot.quantity === 0 || lot.quantity < 0 !== held < 0 || lot.cost < 0)) {
      fail(`a lot of ${position.symbol} is empty, on the wrong side or of negative cost`);
    }
    // Futures have no booked cost, and contracts are delivered at once.
    if (!isForShares(position.assetClass) && position.pending !== 0)
      fail(`${position.symbol} is still to be delivered`);
    if ((position.variation ?? 0) % 100 !== 0) fail(`variation of ${position.symbol} is not in whole cents`);
    pendingCash += position.variation ?? 0;
    if (
      position.assetClass === 'OPTION' &&
      !portfolio.optionsOn.get(position.underlying ?? '')?.has(position.symbol)
    )
      fail(`${position.symbol} is not found by its underlying`);
    if (held < 0 && position.assetClass !== 'OPTION' && portfolio.settings.portfolioType === 'CASH')
      fail(`a CASH portfolio is short ${position.symbol}`);
    if (position.pending !== (pendingShares.get(position.symbol) ?? 0)) {
      fail(`pending ${position.symbol} is not what obligations will deliver`);
    }
    if (!Number.isSafeInteger(position.settled) || !Number.isSafeInteger(position.pending)) {
      fail(`${position.symbol} is not an exact number of shares`);
    }
    const isEmpty = position.settled === 0 && position.pending === 0 && (position.variation ?? 0) === 0;
    if (isEmpty && !pendingShares.has(position.symbol)) {
      fail(`an empty position in ${position.symbol} is kept`);
    }
    if (reservedShares(portfolio, position.symbol) > Math.abs(held))
      fail(`more ${position.symbol} is reserved than held`);
    cost += Position.booked(position);
  }
  for (const { date, count, openQuantity, openValue } of portfolio.dayTrades.values()) {
    if (count < 0 || openQuantity < 0 || openValue < 0) fail(`day trades of ${date} are negative`);
  }
  if (pendingCash !== balances.PENDING_CASH) fail('pending cash is not what will settle');
  if (cost !== balances.SECURITIES) fail('the cost of open lots is not what the ledger says');
}

function setAsideByOrders(portfolio: Portfolio): Reservation {
  const sum = Reservation.none();
  for (const { terms, progress } of portfolio.openOrders) {
    sum.cash = Money.add(sum.cash, progress.reserved);
    sum.headroom = MarginExcess.add(sum.headroom, progress.takes);
    const ratios = terms.legs === undefined ? [] : legRatios(terms.legs);
    if (terms.legs === undefined) addShares(sum, terms.symbol, progress.reservedQuantity);
    terms.legs?.forEach(({ optionSymbol, positionIntent }, index) => {
      if (positionIntent.endsWith('CLOSE'))
        addShares(sum, optionSymbol, progress.reservedQuantity * (ratios[index] ?? 1));
    });
    if (terms.underlying !== undefined) addShares(sum, terms.underlying, progress.cover);
    for (const { symbol, quantity } of progress.coverOthers ?? []) addShares(sum, symbol, quantity);
  }
  return sum;
}

function contractsOnOrder({ openOrders }: Portfolio): OnOrder {
  const sums: OnOrder = new Map();
  for (const { terms, progress } of openOrders) noteContracts(sums, terms, undefined, progress);
  return sums;
}

const isSameOnOrder = (a: OnOrder, b: OnOrder): boolean =>
  a.size === b.size &&
  [...a].every(([underlying, { counts, cover, coverOthers }]) => {
    const other = b.get(underlying);
    return (
      other?.cover === cover &&
      other.coverOthers.size === coverOthers.size &&
      [...coverOthers].every(([symbol, quantity]) => other.coverOthers.get(symbol) === quantity) &&
      other.counts.size === counts.size &&
      [...counts].every(([symbol, count]) => other.counts.get(symbol) === count)
    );
  });

function setAsideByPositions({ secured }: Portfolio): Reservation {
  const sum = Reservation.none();
  for (const [underlying, { cash, shares, others }] of secured) {
    sum.cash = Money.add(sum.cash, cash);
    addShares(sum, underlying, shares);
    for (const { symbol, quantity } of others ?? []) addShares(sum, symbol, quantity);
  }
  return sum;
}

function addShares({ shares }: Reservation, symbol: string, more: number): void {
  const sum = Quantity.ofUnits((shares.get(symbol) ?? 0) + more);
  if (sum !== 0) shares.set(symbol, sum);
}

const isSame = (a: Reservation, b: Reservation): boolean =>
  a.cash === b.cash &&
  MarginExcess.isNone(MarginExcess.subtract(a.headroom, b.headroom)) &&
  a.shares.size === b.shares.size &&
  [...a.shares].every(([symbol, quantity]) => b.shares.get(symbol) === quantity);

/** Proceeds of short positions, instead of their market value, which a check without quotes does not have. */
function shortCost(portfolio: Portfolio): Money {
  let sum = Money.zero;
  for (const position of portfolio.positions.values()) {
    if (Position.held(position) < 0) sum = Money.add(sum, Position.costBasis(position));
  }
  return sum;
}

function checkOrder(state: State, order: Order, broken: string[]): void {
  const { number, portfolioId } = order.terms;
  const { status, quantity, filledQuantity } = order.progress;
  const fail = (what: string): void => void broken.push(`order ${number}: ${what}`);
  if (isTerminal(status)) fail('is over but still open');
  if (state.portfolios.get(portfolioId)?.openOrders.at(order.inPortfolio) !== order)
    fail('is not its portfolio’s');
  if (order.progress.reservedQuantity > quantity - filledQuantity)
    fail('has more shares reserved than it has left');
  const { bracket } = order.terms;
  if (bracket?.part === 'OCO_LIMIT' || bracket?.part === 'OCO_STOP') {
    const other = bracket.sibling === undefined ? undefined : state.orders.get(bracket.sibling);
    if (other === undefined) fail('outlives the order that it cancels');
    else if (remainingOf(other.progress) !== remainingOf(order.progress))
      fail('closes something else than the order that it cancels');
  }
  if (status === 'RESERVING') fail('is still reserving');
  if (filledQuantity < 0 || filledQuantity > quantity || quantity <= 0) fail('fills do not fit its quantity');
  if ((status === 'ACTIVE') !== (order.progress.arrival !== undefined) && status !== 'CANCELING') {
    fail('is at work without being active, or the other way round');
  }
}
