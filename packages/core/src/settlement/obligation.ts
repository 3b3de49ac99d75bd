import type { Calendar } from '../calendar/calendar.js';
import { settlementOf } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import { balanced } from '../ledger/ledger.js';
import type { LedgerEntry } from '../ledger/ledger.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';

/** Cash and shares of a portfolio that move at one settlement: trades, and dividends payable that day. */
export interface Obligation {
  readonly date: TradingDate;
  /** Cash due from PENDING_CASH; negative = to be paid. */
  cash: Money;
  /** Shares due by symbol; negative = to be delivered. */
  readonly quantities: Map<string, Quantity>;
  /** Cash that already left SETTLED_CASH for purchases that settle on this day; absent = none. Interest counts it from then on (D118). */
  paid?: Money;
  /** Dividends received in the cash: they increase the SMA when they are paid. */
  dividends?: Money;
}

/** Settlement days from trade to settlement of US equities, by the trade date from which the cycle holds (Rule 15c6-1). */
const CYCLES: readonly { readonly effectiveFrom: TradingDate; readonly days: number }[] = [
  { effectiveFrom: TradingDate.of('1995-06-07'), days: 3 },
  { effectiveFrom: TradingDate.of('2017-09-05'), days: 2 },
  { effectiveFrom: TradingDate.of('2024-05-28'), days: 1 },
];

/** Settlement days from `tradeDate` to the settlement of an equity trade. Source: SEC Rule 15c6-1 as amended. */
function settlementCycle(tradeDate: TradingDate): number {
  let days = CYCLES[0]?.days ?? 1;
  for (const cycle of CYCLES) if (tradeDate >= cycle.effectiveFrom) days = cycle.days;
  return days;
}

/**
 * The date on which a trade is delivered and paid (D83, D127): shares by the cycle of the date, options on the next settlement
 * day. `undefined` for a future, which has no delivery before its end.
 */
export function settlementDateOf(
  instrument: Tradable,
  tradeDate: TradingDate,
  calendar: Calendar,
): TradingDate | undefined {
  switch (settlementOf(instrument)) {
    case 'EQUITY_CYCLE':
      return calendar.plusSettlementDays(tradeDate, settlementCycle(tradeDate));
    case 'NEXT_DAY':
      return calendar.plusSettlementDays(tradeDate, 1);
    case 'NONE':
      return undefined;
  }
}

/** Cash already paid for purchases that have not settled. */
export function paidAhead(obligations: ReadonlyMap<TradingDate, Pick<Obligation, 'paid'>>): Money {
  let sum = 0;
  for (const { paid = 0 } of obligations.values()) sum += paid;
  return Money.ofUnits(sum);
}

/** Settlement happens at 09:00 New York on the settlement date (D58). */
export const settlementInstant = (calendar: Calendar, date: TradingDate): Instant =>
  calendar.instantOf(date, 9, 0);

/** The ledger entry of an obligation that was settled, if cash moved. */
export function settlementEntries({
  date,
  cash,
  entry,
}: {
  readonly date: TradingDate;
  readonly cash: Money;
  readonly entry?: number;
}): LedgerEntry[] {
  if (entry === undefined) return [];
  const postings = balanced([
    { account: 'PENDING_CASH', amount: Money.negate(cash) },
    { account: 'SETTLED_CASH', amount: cash },
  ]);
  return [{ number: entry, type: 'SETTLEMENT', postings, about: { date } }];
}
