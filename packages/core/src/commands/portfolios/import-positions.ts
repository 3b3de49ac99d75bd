import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { ImportedLot, ImportedPosition } from '../../event.js';
import { isShares, isTradable, multiplierOf, pricePer, valueOf } from '../../instruments/instrument.js';
import type { Tradable } from '../../instruments/instrument.js';
import { namesAdjusted, optionOnListed, unknownDeliverable } from '../../instruments/symbols.js';
import { tradingEndsAt } from '../../instruments/trading-hours.js';
import { hasRoomFor } from '../../ledger/ledger.js';
import type { LedgerEntry } from '../../ledger/ledger.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { valuationOf, worthOf } from '../../portfolios/valuation.js';
import type { LotToImport } from '../../positions/lot-to-import.js';
import { Position } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { scheduleEndOf } from '../options/end-series.js';
import { meetCallsNow } from '../margin/meet-calls.js';
import { heldBeyond } from '../orders/option-level.js';
import { portfolioToChange } from './portfolios.js';
import { secureAllOptions } from '../options/secure-options.js';
import { scheduleSettlementOf } from '../market/settle-futures.js';
import { changeSma } from '../margin/sma.js';

/** Largest balance of the books, in dollars. */
const MOST_DOLLARS = 100e9;

/** An imported lot. */
interface EnteredLot extends Required<LotToImport> {
  readonly basis: 'GIVEN' | 'MARK';
}

export interface ImportSummary {
  readonly portfolio: Portfolio;
  readonly lots: readonly EnteredLot[];
}

interface Checked extends EnteredLot {
  readonly instrument: Tradable;
  readonly mark: Price | undefined;
}

/**
 * Imports cash and positions from another broker into an empty portfolio (D206), all or none. Lots keep their cost and date;
 * the rules of the account are those of a broker switch. The import is an external flow at the marks (D186).
 */
export function importPositions(
  d: Decision,
  command: Extract<Command, { type: 'ImportPositions' }>,
): ImportSummary | Rejection {
  const portfolio = portfolioToChange(d, command, 'positions cannot be imported');
  if ('code' in portfolio) return portfolio;
  if (portfolio.positions.size > 0 || portfolio.openOrders.size > 0) {
    return {
      code: 'CONFLICT',
      message: 'Positions can only be imported into a portfolio without positions and open orders',
    };
  }
  const { cash, lots } = command;
  if (lots.length === 0 && cash === 0) {
    return { code: 'INVALID', messages: ['positions or cash must be given'] };
  }
  listContracts(d, lots);
  const messages: string[] = [];
  const checked = lots.flatMap((lot, index) => {
    const one = checkLot(d, portfolio, lot);
    if (typeof one !== 'string') return one;
    messages.push(`positions[${index}]: ${one}`);
    return [];
  });
  const bySymbol = new Map<string, Checked[]>();
  for (const lot of checked) {
    const others = bySymbol.get(lot.symbol);
    if (others === undefined) bySymbol.set(lot.symbol, [lot]);
    else others.push(lot);
  }
  for (const [symbol, ofOne] of bySymbol)
    if (ofOne.some(({ quantity }) => quantity > 0) && ofOne.some(({ quantity }) => quantity < 0))
      messages.push(`${symbol} cannot be held long and short in one portfolio`);
  if (messages.length > 0) return { code: 'INVALID', messages };

  let lotId = d.state.counters.lot;
  const positions = [...bySymbol.values()].map((ofOne) => positionOf(ofOne, () => (lotId += 1)));
  const refused = booksProblem(portfolio, cash, positions) ?? accountProblem(d, portfolio, cash, positions);
  if (refused !== undefined) return refused;

  const { portfolioId } = portfolio.terms;
  d.emit({
    type: 'PositionsImported',
    portfolioId,
    cash,
    positions,
    entries: entriesOf(d, cash, positions),
    equityBefore: worthOf(portfolio, d).totalEquity,
  });
  for (const { symbol } of positions) {
    scheduleEndOf(d, symbol);
    scheduleSettlementOf(d, symbol);
  }
  const { marginEquity, fedRequirement, smaBalance } = valuationOf(portfolio, d, d.broker(portfolio));
  changeSma(
    d,
    portfolio,
    'IMPORT',
    Money.max(cash, Money.ofUnits(marginEquity - fedRequirement - smaBalance)),
  );
  secureAllOptions(d, portfolio);
  meetCallsNow(d, portfolio);
  return {
    portfolio,
    lots: checked.map(({ symbol, quantity, price, acquiredAt, basis }) => ({
      symbol,
      quantity,
      price,
      acquiredAt,
      basis,
    })),
  };
}

/** Lists contracts on listed underlyings that the market does not have: their symbols contain their terms. */
function listContracts(d: Decision, lots: readonly LotToImport[]): void {
  const symbols = new Set(lots.map(({ symbol }) => symbol));
  const instruments = [...symbols].flatMap((symbol) =>
    d.instrument(symbol) === undefined ? (optionOnListed(symbol, (name) => d.instrument(name)) ?? []) : [],
  );
  if (instruments.length > 0) d.emit({ type: 'InstrumentsListed', instruments });
}

/** A lot with the inputs for its import, or the reason why it cannot be held here. */
function checkLot(
  d: Decision,
  { settings }: Portfolio,
  { symbol, quantity, price, acquiredAt = d.at }: LotToImport,
): Checked | string {
  const instrument = d.instrument(symbol);
  if (instrument === undefined)
    return namesAdjusted(symbol, (name) => d.instrument(name)?.assetClass)
      ? unknownDeliverable(symbol)
      : `unknown symbol ${symbol}`;
  if (!isTradable(instrument)) return `${symbol} is an index and cannot be held`;
  if (quantity === 0) return `quantity of ${symbol} must not be 0`;
  if (acquiredAt > d.at) return `acquiredAt of ${symbol} must not be in the future`;
  if (isShares(instrument)) {
    if (quantity < 0 && settings.portfolioType === 'CASH')
      return `a CASH portfolio cannot hold ${symbol} short`;
  } else {
    const adjusted = d.state.adjusted.get(symbol);
    if (adjusted !== undefined) return `${symbol} was adjusted: it is ${adjusted} now`;
    if (quantity % Quantity.of(1) !== 0) return `quantity of ${symbol} must be whole contracts`;
    if (tradingEndsAt(instrument, d.rules.calendar) <= d.at) return `${symbol} has traded for the last time`;
    if (instrument.assetClass === 'FUTURE' && settings.portfolioType === 'CASH')
      return 'CASH portfolios cannot hold futures';
  }
  const mark = d.mark(symbol);
  const cost = price ?? mark;
  if (cost === undefined) return `price of ${symbol} must be given: it has no quote yet`;
  const size = (Math.abs(quantity) / Quantity.of(1)) * multiplierOf(instrument);
  if ((Math.max(cost, mark ?? 0) / Price.of('1')) * size > MOST_DOLLARS)
    return `${symbol} must not be worth more than 100 billion dollars`;
  const basis = price === undefined ? 'MARK' : 'GIVEN';
  return { symbol, quantity, price: cost, acquiredAt, basis, instrument, mark };
}

/** Lots of one symbol as one position, oldest first: they are closed in that order (D56). */
function positionOf(lots: readonly Checked[], nextLotId: () => number): ImportedPosition {
  const [first] = lots;
  if (first === undefined) throw new RangeError('a position without a lot');
  const { symbol, instrument, mark } = first;
  const isFuture = instrument.assetClass === 'FUTURE';
  const worth = (price: Price, quantity: Quantity): Money =>
    valueOf(instrument, price, Quantity.abs(quantity));
  const entered = lots
    .toSorted((a, b) => a.acquiredAt - b.acquiredAt)
    .map(({ quantity, price, acquiredAt }): ImportedLot => {
      const lot = { lotId: nextLotId(), quantity, cost: worth(price, quantity), openedAt: acquiredAt };
      // Variation of a future counts from the import: earlier variation was settled at the other broker.
      return isFuture ? { ...lot, marked: worth(mark ?? price, quantity) } : lot;
    });
  const held = Quantity.ofUnits(entered.reduce((sum, { quantity }) => sum + quantity, 0));
  const cost = Money.ofUnits(entered.reduce((sum, lot) => sum + lot.cost, 0));
  // Value of all lots together, as in the portfolio.
  const now = isFuture ? Money.zero : worth(mark ?? pricePer(instrument, cost, Quantity.abs(held)), held);
  return {
    symbol,
    assetClass: instrument.assetClass,
    ...(instrument.assetClass === 'OPTION' && { underlying: instrument.underlying }),
    value: held < 0 ? Money.negate(now) : now,
    lots: entered,
  };
}

/** Refusal if the amounts exceed the limits of the books, or a CASH portfolio would owe. */
function booksProblem(
  portfolio: Portfolio,
  cash: Money,
  positions: readonly ImportedPosition[],
): Rejection | undefined {
  const cost = positions.reduce((sum, { lots }) => sum + lots.reduce((all, lot) => all + lot.cost, 0), 0);
  const size = Math.abs(cash) + cost;
  if (!Money.isPostable(Money.ofUnits(size)) || !hasRoomFor(portfolio.balances, Money.ofUnits(size)))
    return { code: 'INVALID', messages: ['the import must not take the books beyond 100 billion dollars'] };
  if (portfolio.settings.portfolioType === 'CASH' && portfolio.balances.SETTLED_CASH + cash < 0)
    return { code: 'INVALID', messages: ['cash must not leave a CASH portfolio with a debt'] };
  return undefined;
}

/** Refusal of positions that the account or its broker do not allow, as for a broker switch (contract 4.1). */
function accountProblem(
  d: Decision,
  portfolio: Portfolio,
  cash: Money,
  positions: readonly ImportedPosition[],
): Rejection | undefined {
  const held = new Map<string, Position>();
  const optionsOn = new Map<string, Set<string>>();
  for (const { symbol, assetClass, underlying, lots } of positions) {
    const position = Position.open(symbol, assetClass, underlying);
    position.settled = Quantity.ofUnits(lots.reduce((sum, { quantity }) => sum + quantity, 0));
    held.set(symbol, position);
    if (underlying !== undefined)
      optionsOn.set(underlying, (optionsOn.get(underlying) ?? new Set<string>()).add(symbol));
  }
  const balances = {
    ...portfolio.balances,
    SETTLED_CASH: Money.add(portfolio.balances.SETTLED_CASH, cash),
  };
  const after = { ...portfolio, positions: held, optionsOn, balances };
  const beyond = heldBeyond(d, after, d.broker(portfolio));
  return beyond === undefined ? undefined : { code: 'BROKER_RESTRICTION', message: beyond };
}

/** One entry for the cash and one for each position that has a cost in the books, against CAPITAL. */
function entriesOf(d: Decision, cash: Money, positions: readonly ImportedPosition[]): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  const add = (entry: LedgerEntry): void => {
    entries.push({ ...entry, number: entry.number + entries.length });
  };
  if (cash !== 0) add(d.capitalEntry('IMPORT', cash));
  for (const { symbol, assetClass, lots } of positions) {
    if (assetClass === 'FUTURE') continue;
    const quantity = Quantity.ofUnits(lots.reduce((sum, lot) => sum + lot.quantity, 0));
    const cost = Money.ofUnits(lots.reduce((sum, lot) => sum + lot.cost, 0));
    // A contract with a cost of 0 needs no entry.
    if (cost === 0) continue;
    const booked = quantity < 0 ? Money.negate(cost) : cost;
    add(
      d.entry(
        'IMPORT',
        [
          { account: 'SECURITIES', amount: booked },
          { account: 'CAPITAL', amount: Money.negate(booked) },
        ],
        { symbol, quantity, price: pricePer(d.tradable(symbol), cost, Quantity.abs(quantity)) },
      ),
    );
  }
  return entries;
}
