import type { Decision } from '../../decision.js';
import { saleFees } from '../../fees/regulatory.js';
import { plainEquity } from '../../instruments/equity.js';
import { isInTheMoney, withOthersInCash } from '../../instruments/exercise-value.js';
import { valueOf } from '../../instruments/instrument.js';
import { optionEventPostings, entryTypeOf } from '../../lifecycle/option-event-postings.js';
import type { Means, PlannedOptionEvent, ProtectiveLong } from '../../lifecycle/plan-expiry.js';
import { balanced } from '../../ledger/ledger.js';
import type { LedgerEntry } from '../../ledger/ledger.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { freeCash, reservedShares } from '../../portfolios/portfolio.js';
import { releaseOrders } from '../orders/release-orders.js';
import { freeShares, securedAfter, secureOptionsOver } from './secure-options.js';
import type { ContractChange } from './secure-options.js';
import { changeSma, smaEventOf, smaOfOptionEvents } from '../margin/sma.js';

/** Exercises, assignments and expirations of one portfolio on one underlying at the same time. */
export interface OptionEventGroup {
  readonly underlying: string;
  readonly acts: readonly PlannedOptionEvent[];
  readonly isExpiry: boolean;
  /** True when the underlying had no price at all. */
  readonly isUnpriced?: boolean;
}

/**
 * Posts option events to the books. Netted shares involve no cash: a net debit leaves settled cash at once, a net credit arrives with the
 * delivery on the next settlement day (D83, D87, D88).
 */
export function bookOptionEvents(
  d: Decision,
  portfolio: Portfolio,
  { underlying, acts, ...more }: OptionEventGroup,
): void {
  // Options may be quoted without any quote of their underlying.
  for (const symbol of new Set(acts.flatMap((act) => (act.shares === 0 ? [] : [act.contract.underlying]))))
    if (d.instrument(symbol) === undefined)
      d.emit({ type: 'InstrumentsListed', instruments: [plainEquity(symbol)] });
  const cash = acts.reduce((sum, act) => sum + act.cash, 0);
  const isPaid = cash < 0 && acts.some((act) => act.shares !== 0);
  const fees = deliveryFees(d, portfolio, acts, cash);
  const last = acts.findLastIndex((act) => act.shares < 0);
  const charged = fees.reduce((sum, { amount }) => Money.add(sum, amount), Money.zero);
  const sma = smaOfOptionEvents(d, portfolio, underlying, acts, last < 0 ? Money.zero : charged);
  acts.forEach((act, index) => {
    enter(d, portfolio, act, { ...more, isPaid, fees: index === last ? fees : [] });
  });
  changeSma(d, portfolio, smaEventOf(acts), sma);
  const moved = new Set([underlying, ...acts.map(({ contract }) => contract.underlying)]);
  for (const symbol of moved) secureOptionsOver(d, portfolio, symbol);
  for (const symbol of d.rules.components === true ? moved : [underlying])
    releaseOrders(d, portfolio, symbol, 'BROKER');
  for (const { contract, closes } of acts) if (closes) releaseOrders(d, portfolio, contract.symbol, 'BROKER');
}

/** Cash and shares available to a CASH portfolio without these contracts; `undefined` for MARGIN portfolios, which may borrow. */
export function meansOf(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  gone: readonly ContractChange[],
): Means | undefined {
  if (portfolio.settings.portfolioType === 'MARGIN') return undefined;
  const after = securedAfter(d, portfolio, underlying, gone);
  const before = portfolio.secured.get(underlying)?.cash ?? Money.zero;
  const reserved = (symbol: string): number =>
    (symbol === underlying ? after.shares : 0) +
    (after.others?.find((one) => one.symbol === symbol)?.quantity ?? 0);
  const sharesOf = (symbol: string): Quantity =>
    Quantity.ofUnits(Math.max(0, freeShares(portfolio, underlying, symbol) - reserved(symbol)));
  return {
    cash: Money.ofUnits(freeCash(portfolio) + before - after.cash),
    shares: sharesOf(underlying),
    sharesOf,
  };
}

/** Longs available for an assignment: not reserved by an order; exercisable at once if American and in the money. */
export function protectiveLongsOf(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  price: Price | undefined,
): ProtectiveLong[] {
  return [...(portfolio.optionsOn.get(underlying) ?? [])].sort().flatMap((symbol) => {
    const contract = d.instrument(symbol);
    const position = portfolio.positions.get(symbol);
    if (contract?.assetClass !== 'OPTION' || position === undefined) return [];
    const count = Math.floor((Position.held(position) - reservedShares(portfolio, symbol)) / Quantity.of(1));
    if (count <= 0) return [];
    const { style, settlement } = contract;
    const isExercisable =
      style === 'AMERICAN' &&
      settlement === 'PHYSICAL' &&
      price !== undefined &&
      isInTheMoney(
        withOthersInCash(contract, (other) => d.mark(other)),
        price,
      );
    const value = (): Money =>
      Money.toCents(valueOf(contract, d.mark(symbol) ?? Price.ofUnits(0), Quantity.of(1)));
    return [{ contract, count, kept: 0, isExercisable, value }];
  });
}

interface Fee {
  readonly name: string;
  readonly amount: Money;
}

/** Regulatory fees on the net shares sold, at the rates of shares (D82): netted shares are no sale. */
function deliveryFees(
  d: Decision,
  portfolio: Portfolio,
  acts: readonly PlannedOptionEvent[],
  cash: number,
): Fee[] {
  const net = acts.reduce((sum, act) => sum + act.shares, 0);
  if (net >= 0 || cash <= 0 || !d.broker(portfolio).passesRegulatoryFees) return [];
  const sold = acts.reduce((sum, act) => sum + Math.min(0, act.shares), 0);
  const value = acts.reduce((sum, act) => sum + (act.shares < 0 ? act.cash : 0), 0);
  return saleFees({
    side: 'SELL',
    tradeDate: d.rules.calendar.dateOf(d.at),
    cumulativeQuantity: Quantity.ofUnits(-net),
    cumulativeValue: Money.scale(Money.ofUnits(value), net, sold),
  }).filter(({ amount }) => amount < cash);
}

interface Entered {
  readonly isExpiry: boolean;
  readonly isUnpriced?: boolean;
  readonly isPaid: boolean;
  readonly fees: readonly Fee[];
}

function enter(d: Decision, portfolio: Portfolio, act: PlannedOptionEvent, how: Entered): void {
  const { contract, count } = act;
  const { symbol, strike, underlying } = contract;
  const account = how.isPaid ? 'SETTLED_CASH' : 'PENDING_CASH';
  const { ledgerEntry, lot } = d.state.counters;
  const { positions } = portfolio;
  const stock = positions.get(underlying);
  const { closed, shares, postings } = optionEventPostings(
    act,
    positions.get(symbol),
    stock,
    account,
    lot + 1,
  );
  const quantity = Quantity.of(count);
  const kept = balanced(postings);
  const entries: LedgerEntry[] = [];
  if (kept.length > 0) {
    const about = { symbol, quantity, price: strike, name: act.act };
    entries.push({
      number: ledgerEntry + 1,
      type: entryTypeOf(act.act, how.isExpiry),
      postings: kept,
      about,
    });
  }
  for (const { name, amount } of how.fees) {
    const fee = balanced([
      { account, amount: Money.negate(amount) },
      { account: 'FEES', amount },
    ]);
    entries.push({ number: ledgerEntry + 1 + entries.length, type: 'FEE', postings: fee, about: { name } });
  }
  const isDelivered = shares !== undefined || act.cash !== 0;
  const { calendar } = d.rules;
  d.emit({
    type: 'OptionEnded',
    portfolioId: portfolio.terms.portfolioId,
    act: act.act,
    symbol,
    quantity,
    price: strike,
    amount: act.cash,
    ...(act.waived !== undefined && { waived: act.waived }),
    ...(closed !== undefined && { closed }),
    ...(shares !== undefined && { shares }),
    ...(isDelivered && {
      settlementDate: calendar.plusSettlementDays(calendar.dateOf(d.at), 1),
    }),
    ...(how.isUnpriced === true && { unpriced: true as const }),
    entries,
  });
}
