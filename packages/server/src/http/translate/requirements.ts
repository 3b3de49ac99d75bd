import {
  amountDue,
  type Brokerage,
  type BrokerConfiguration,
  canonicalSymbol,
  type ClassOf,
  flagLacking,
  hasSameOthers,
  type Holding,
  type HouseRates,
  type HypotheticalBook,
  type Instant,
  type Instrument,
  Money,
  namesAdjusted,
  type OptionContract,
  optionContract,
  parseOsi,
  type Portfolio,
  type Price,
  Quantity,
  type Requirement,
  requirementOfPortfolio,
  rootOfOsi,
  settlesAt,
  type Tradable,
  type TradingDate,
  type Underlying,
  unknownDeliverable,
  valuationOf,
  withOthersInCash,
} from '@sandpit/core';
import type { PortfolioMargin, RequirementPosition, Requirements, RequirementsBody } from '@sandpit/protocol';
import { type Answer, refuse, refuseCoded } from '../answer.js';
import { callOf } from './history.js';
import { instantOf } from './instants.js';
import { type Unlistable, withDeliverables } from './instruments.js';
import { centsNumber, moneyNumber, priceOf, quantityNumber, quantityOf } from './numbers.js';
import type { ClosedPortfolio } from './portfolios.js';

/** Brokerage and date at which a hypothetical book is valued. */
export interface HypotheticalSource {
  readonly brokerage: Brokerage;
  readonly now: Instant;
  readonly today: TradingDate;
}

/** The book of a body, or the reason why there is none (D106): first unknown names, then all problems of the figures. */
export function hypotheticalBook(
  { brokerage, now, today }: HypotheticalSource,
  body: RequirementsBody,
): HypotheticalBook | Answer {
  const { calendar, brokers } = brokerage.rules;
  const asOf = body.asOf === undefined ? now : instantOf(body.asOf, calendar);
  const instruments: Tradable[] = [];
  const problems: string[] = [];
  for (const [i, position] of body.positions.entries()) {
    const field = position.optionSymbol === undefined ? 'symbol' : 'optionSymbol';
    const symbol = canonicalSymbol(position.optionSymbol ?? position.symbol ?? '', today);
    const { deliverable, deliverables } = position;
    const instrument = instrumentNamed(brokerage, symbol, now, position);
    if (instrument !== undefined && 'problem' in instrument) {
      problems.push(`positions.${i}${instrument.problem}`);
      continue;
    }
    if (instrument === undefined) {
      if (namesAdjusted(symbol, (name) => brokerage.instrument(name, now)?.assetClass))
        return refuseCoded('UNKNOWN_DELIVERABLE', `positions.${i}: ${unknownDeliverable(symbol)}`, {
          symbol,
        });
      if (field === 'optionSymbol') {
        problems.push(`positions.${i}.optionSymbol must be an option symbol in OSI form`);
        continue;
      }
      return refuseCoded('UNKNOWN_SYMBOL', `Unknown symbol ${symbol}`, { symbol });
    }
    if (instrument.assetClass === 'INDEX')
      return refuseCoded('INSTRUMENT_NOT_TRADABLE', `${symbol} is an index: it cannot be held`, { symbol });
    if (field === 'optionSymbol' && instrument.assetClass !== 'OPTION') {
      problems.push(`positions.${i}.optionSymbol must be an option symbol in OSI form`);
      continue;
    }
    const given = deliverables === undefined ? 'deliverable' : 'deliverables';
    if ((deliverable ?? deliverables) !== undefined && instrument.assetClass !== 'OPTION')
      problems.push(`positions.${i}.${given} should exist for options only`);
    const other = instruments.find((one) => one.symbol === symbol);
    if (other?.assetClass === 'OPTION' && instrument.assetClass === 'OPTION')
      if (!hasSameDeliverables(other, instrument))
        problems.push(`positions.${i}.${given} must be the same in all positions of ${symbol}`);
    instruments.push(instrument);
    if (instrument.assetClass !== 'EQUITY' && !Number.isInteger(position.quantity))
      problems.push(`positions.${i}.quantity must be a whole number of contracts`);
    if (instrument.assetClass === 'OPTION' && settlesAt(instrument, calendar) <= asOf)
      problems.push(`positions.${i}.${field} must not be expired: ${symbol}`);
  }
  const prices = bySymbol(body.prices, today);
  const isPriced = (symbol: string): boolean => prices.has(symbol);
  const quantities = new Map<string, Quantity>();
  const held = new Map<string, Tradable>();
  if (problems.length === 0) {
    instruments.forEach((instrument, i) => {
      const { symbol } = instrument;
      held.set(symbol, instrument);
      const quantity = quantityOf(body.positions[i]?.quantity ?? 0);
      quantities.set(symbol, Quantity.add(quantities.get(symbol) ?? Quantity.zero, quantity));
    });
    const missing = new Set<string>();
    for (const [symbol, instrument] of held) {
      if (!isPriced(symbol)) missing.add(symbol);
      if (instrument.assetClass !== 'OPTION') continue;
      const isNeeded = body.marginType === 'PORTFOLIO' || (quantities.get(symbol) ?? 0) < 0;
      if (isNeeded && !isPriced(instrument.underlying) && !isPriced(rootOfOsi(symbol)))
        missing.add(instrument.underlying);
      for (const other of instrument.others ?? [])
        if (isNeeded && !isPriced(other.symbol)) missing.add(other.symbol);
    }
    for (const symbol of missing) problems.push(`prices must contain ${symbol}`);
  }
  if (problems.length > 0) return refuse(400, problems);
  const house = houseOf(brokers, body.brokerId);
  if (house === undefined) return refuse(400, `brokerId must be one of ${[...brokers.keys()].join(', ')}`);
  const holdings: Holding[] = [];
  const underlyings = new Map<string, Underlying>();
  for (const [symbol, instrument] of held) {
    const quantity = quantities.get(symbol) ?? Quantity.zero;
    const mark = prices.get(symbol);
    if (mark === undefined) continue;
    const isOption = instrument.assetClass === 'OPTION';
    const valued = isOption ? withOthersInCash(instrument, (one) => prices.get(one)) : instrument;
    holdings.push({ instrument: valued, quantity, mark });
    if (instrument.assetClass !== 'OPTION') continue;
    const { underlying } = instrument;
    const stock = brokerage.instrument(underlying, now);
    underlyings.set(underlying, {
      price: prices.get(underlying) ?? prices.get(rootOfOsi(symbol)) ?? underlyings.get(underlying)?.price,
      leverageFactor: stock?.assetClass === 'EQUITY' ? stock.leverageFactor : 1,
      dividends: brokerage.options.dividendsOn(underlying),
    });
    for (const other of instrument.others ?? []) {
      const shares = brokerage.instrument(other.symbol, now);
      underlyings.set(other.symbol, {
        price: prices.get(other.symbol),
        leverageFactor: shares?.assetClass === 'EQUITY' ? shares.leverageFactor : 1,
        dividends: [],
      });
    }
  }
  flagLacking(holdings, (symbol) => quantities.get(symbol) ?? Quantity.zero);
  return {
    marginType: body.marginType,
    engine: body.portfolioMarginEngineType,
    house,
    asOf,
    calendar: calendar.id,
    holdings,
    underlyings,
    volatilities: volatilitiesOf(body.volatilities ?? {}, today, held),
    rate: brokerage.rules.riskFreeRate,
    components: true,
  };
}

const hasSameDeliverables = (a: OptionContract, b: OptionContract): boolean =>
  a.deliverable === b.deliverable && (a.cash ?? 0) === (b.cash ?? 0) && hasSameOthers(a, b);

/**
 * A listed instrument, or an option that need not be listed: its symbol contains its terms (D66), except the deliverables of an adjusted
 * contract (D245).
 */
function instrumentNamed(
  brokerage: Brokerage,
  symbol: string,
  now: Instant,
  position: RequirementPosition,
): Instrument | Unlistable | undefined {
  const { deliverables, deliverable = deliverables && 0 } = position;
  const named = contractNamed(brokerage, symbol, now, deliverable);
  if (named?.assetClass !== 'OPTION' || deliverables === undefined) return named;
  return withDeliverables(named, position, (name) => brokerage.instrument(name, now)?.assetClass);
}

function contractNamed(
  brokerage: Brokerage,
  symbol: string,
  now: Instant,
  deliverable: number | undefined,
): Instrument | undefined {
  const listed = brokerage.instrument(symbol, now);
  if (listed?.assetClass === 'OPTION' && deliverable !== undefined) {
    const { inLieu: _, inLieuAtSplit: __, ...contract } = listed;
    return { ...contract, deliverable };
  }
  if (listed !== undefined) return listed;
  const named = parseOsi(symbol);
  const classOf: ClassOf = (name) => brokerage.instrument(name, now)?.assetClass;
  if (deliverable === undefined && namesAdjusted(symbol, classOf)) return undefined;
  return named && optionContract(named, deliverable === undefined ? {} : { deliverable }, classOf);
}

/** Without a broker FINRA's rates apply (D106). */
const FINRA: HouseRates = { houseMaintenanceLongBps: 2500, houseMaintenanceShortBps: 3000 };

const houseOf = (
  brokers: ReadonlyMap<string, BrokerConfiguration>,
  brokerId: string | undefined,
): HouseRates | undefined => (brokerId === undefined ? FINRA : brokers.get(brokerId));

/** Prices by symbol in its one form; of two spellings of a symbol the last counts. */
function bySymbol(prices: Readonly<Record<string, number>>, today: TradingDate): Map<string, Price> {
  return new Map(
    Object.entries(prices).map(([symbol, price]) => [canonicalSymbol(symbol, today), priceOf(price)]),
  );
}

function volatilitiesOf(
  given: Readonly<Record<string, number>>,
  today: TradingDate,
  held: ReadonlyMap<string, Tradable>,
): Map<string, number> {
  const volatilities = new Map(
    Object.entries(given).map(([symbol, volatility]) => [canonicalSymbol(symbol, today), volatility]),
  );
  // A root names its underlying too.
  for (const [symbol, instrument] of held) {
    const ofRoot = volatilities.get(rootOfOsi(symbol));
    if (instrument.assetClass === 'OPTION' && ofRoot !== undefined && !volatilities.has(symbol))
      if (!volatilities.has(instrument.underlying)) volatilities.set(symbol, ofRoot);
  }
  return volatilities;
}

/**
 * A requirement in its API form: totals rounded to the cent, as in every response, and groups that add up to them (D106): each group is
 * rounded so that the running sum is rounded correctly.
 */
export function shownRequirement({ fed, house, initial, groups, scenarios }: Requirement): Requirements {
  const initialOf = centsInTurn();
  const houseOf = centsInTurn();
  const shown = groups.map(({ strategy, underlying, legs, amounts, rule }) => ({
    strategy,
    underlying,
    legs: legs.map(({ symbol, quantity }) => ({ symbol, quantity: quantityNumber(quantity) })),
    initial: initialOf(amounts.initial),
    maintenance: houseOf(amounts.house),
    rule,
  }));
  return {
    initialRequirement: centsNumber(initial),
    maintenanceRequirement: centsNumber(house),
    fedRequirement: centsNumber(fed),
    houseRequirement: centsNumber(house),
    groups: shown,
    ...(scenarios !== undefined && {
      scenarios: scenarios.map(({ underlying, priceMove, volatilityMove, pnl }) => ({
        underlying,
        priceMove,
        ...(volatilityMove !== undefined && { volatilityMove }),
        pnl: centsNumber(pnl),
      })),
    }),
  };
}

/** Rounds amounts in sequence so that they add up to their rounded sum. */
function centsInTurn(): (amount: Money) => number {
  let sum = Money.zero;
  return (amount) => {
    const before = Money.toCents(sum);
    sum = Money.add(sum, amount);
    return moneyNumber(Money.subtract(Money.toCents(sum), before));
  };
}

const NOTHING_HELD: Requirements = {
  initialRequirement: 0,
  maintenanceRequirement: 0,
  fedRequirement: 0,
  houseRequirement: 0,
  groups: [],
};

/** Accruals count 10^-8 dollars. */
const accrued = (units: number): number => Math.round(units / 1e6) / 100;

/** Margin requirement of a portfolio's positions, and the equity available for it (D121). */
export function portfolioMargin(brokerage: Brokerage, portfolio: Portfolio): PortfolioMargin {
  const broker = brokerage.broker(portfolio);
  const value = valuationOf(portfolio, brokerage, broker);
  const requirement = requirementOfPortfolio(portfolio, brokerage, broker);
  const { calls, interest, borrowFees } = portfolio.margin;
  return {
    ...(requirement === undefined ? NOTHING_HELD : shownRequirement(requirement)),
    marginEquity: moneyNumber(value.marginEquity),
    totalEquity: moneyNumber(value.totalEquity),
    maintenanceExcess: centsNumber(value.maintenanceExcess),
    smaBalance: moneyNumber(value.smaBalance),
    calls: calls.map((call) => callOf(brokerage.state.ids, call, amountDue(call, portfolio, value))),
    accruedInterest: accrued(interest),
    accruedBorrowFees: accrued(borrowFees),
  };
}

/** Remaining amount of each open margin call of a portfolio, by its number (D217). */
export function amountsDue(
  brokerage: Brokerage,
  portfolio: Portfolio | undefined,
): ReadonlyMap<number, Money> {
  const calls = portfolio?.margin.calls ?? [];
  if (portfolio === undefined || calls.length === 0) return new Map();
  const value = valuationOf(portfolio, brokerage, brokerage.broker(portfolio));
  return new Map(calls.map((call) => [call.number, amountDue(call, portfolio, value)]));
}

/** Margin of a closed portfolio, which holds no positions. */
export const closedMargin = (_: Brokerage, { value }: ClosedPortfolio): PortfolioMargin => ({
  ...NOTHING_HELD,
  marginEquity: moneyNumber(value.marginEquity),
  totalEquity: moneyNumber(value.totalEquity),
  maintenanceExcess: moneyNumber(value.maintenanceExcess),
  smaBalance: moneyNumber(value.smaBalance),
  calls: [],
  accruedInterest: 0,
  accruedBorrowFees: 0,
});
