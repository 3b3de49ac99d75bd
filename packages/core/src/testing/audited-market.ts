import type { Event } from '../event.js';
import type { Quote } from '../market/quote.js';

type OptionEnded = Extract<Event, { type: 'OptionEnded' }>;
type FutureSettled = Extract<Event, { type: 'FutureSettled' }>;

/** Indices of the final settlement of futures, as far as tests trade them. */
const FINAL_INDEX: Readonly<Record<string, string>> = { ES: 'SPX', MES: 'SPX' };
const ROOTS: Readonly<Record<string, string>> = { SPXW: 'SPX' };
/** A cent a share of a contract, in 1/10,000 dollar. */
const IN_THE_MONEY = 10_000n;

/**
 * Market prices from the journal, and the resulting ends of contracts (D56, D85, D87, D88, D95). Part of the
 * auditor: it shares no arithmetic with the core. Contracts without a quote are not checked.
 */
export class AuditedMarket {
  readonly #quotes = new Map<string, Quote>();
  readonly #exercisePrices = new Map<string, { readonly date: string; readonly price: bigint }>();

  note(quotes: readonly Quote[]): void {
    for (const quote of quotes) this.#quotes.set(quote.symbol, quote);
  }

  takeExercisePrice({ symbol, date, price }: Extract<Event, { type: 'ExercisePriceTaken' }>): void {
    const mark = this.#markOf(symbol);
    insist(mark === undefined || mark === BigInt(price), 'an exercise price is not the mark of the close');
    this.#exercisePrices.set(symbol, { date, price: BigInt(price) });
  }

  /** Throws if the market does not justify an end of contracts. `kept`: longs that are not to be exercised. */
  judge(event: OptionEnded, isLong: boolean, kept: bigint): void {
    const { act, symbol, shares, unpriced } = event;
    const { root, underlying, date, isPut, strike } = readContract(symbol);
    // The symbol of an adjusted contract does not contain its deliverable.
    if (/\d$/.test(root) || unpriced === true) return;
    const count = BigInt(event.quantity) / 1_000_000n;
    const amount = BigInt(event.amount) - BigInt(event.waived ?? 0);
    const prices = this.#pricesFor(underlying, date);
    if (prices.length === 0) return;
    const fits = (holds: (price: bigint) => boolean): void =>
      insist(prices.some(holds), `${act} of ${symbol}: not by the market`);
    const gain = (price: bigint): bigint => {
      const over = halfUp(price, 100n) - strike / 100n;
      return isPut ? -over : over;
    };
    const worth = (price: bigint): bigint => {
      const value = gain(price) * count;
      return value > 0n ? halfUp(value, 100n) * 100n : 0n;
    };
    const shareValue = (price: bigint): bigint => halfUp(halfUp(price, 100n) * count, 100n) * 100n;
    switch (act) {
      case 'ASSIGNED':
        return fits((price) => gain(price) >= IN_THE_MONEY);
      case 'CASH_SETTLED':
        return fits(
          (price) => gain(price) >= IN_THE_MONEY && amount === (isLong ? worth(price) : -worth(price)),
        );
      case 'EXPIRED':
        return fits((price) => gain(price) < IN_THE_MONEY || (isLong && count * 1_000_000n <= kept));
      case 'SOLD_AT_EXPIRY':
        if (shares === undefined && amount === this.#sold(symbol, count)) return;
        return fits((price) => amount === (shares === undefined ? worth(price) : shareValue(price)));
      case 'BUY_IN':
        return fits((price) => amount === -shareValue(price));
      case 'EXERCISED':
        // On request, at any value.
        if (shares === undefined) fits((price) => amount === worth(price));
    }
  }

  /** A future is settled by its mark; in the final settlement perhaps by an index. */
  judgeSettlement({ symbol, price, closed }: FutureSettled): void {
    const own = this.#markOf(symbol);
    const index = closed === undefined ? undefined : FINAL_INDEX[symbol.slice(0, -3)];
    const final = index === undefined ? undefined : this.#markOf(index);
    const marks = [own, final].filter((mark) => mark !== undefined);
    insist(
      marks.length === 0 || marks.includes(BigInt(price)),
      `${symbol} is settled at other than its mark`,
    );
  }

  /** Possible settlement prices of a date's series: the price determined at the close, else the mark; the opening of an index. */
  #pricesFor(underlying: string, date: string): bigint[] {
    const taken = this.#exercisePrices.get(underlying);
    if (taken?.date === date) return [taken.price];
    const mark = this.#markOf(underlying);
    const last = this.#quotes.get(underlying)?.last;
    return mark === undefined ? [] : [mark, ...(last === undefined ? [] : [BigInt(last)])];
  }

  /** Proceeds of continuing contracts at their own mark; one without a bid counts half its ask. */
  #sold(symbol: string, count: bigint): bigint | undefined {
    const { bid, last, ask } = this.#quotes.get(symbol) ?? {};
    const mark =
      bid === undefined && last === undefined && ask !== undefined ? BigInt(ask) / 2n : this.#markOf(symbol);
    return mark === undefined ? undefined : halfUp(mark * count, 10_000n) * 100n;
  }

  /** The last trade if it lies within bid and ask, else the nearer of the two; without one the midpoint, rounded down. */
  #markOf(symbol: string): bigint | undefined {
    const { bid, ask, last, close } = this.#quotes.get(symbol) ?? {};
    if (close !== undefined) return BigInt(close);
    if (last !== undefined) {
      if (bid !== undefined && last < bid) return BigInt(bid);
      return BigInt(ask !== undefined && last > ask ? ask : last);
    }
    if (bid !== undefined && ask !== undefined) return (BigInt(bid) + BigInt(ask)) / 2n;
    const side = bid ?? ask;
    return side === undefined ? undefined : BigInt(side);
  }
}

/** Parts of an option symbol, parsed independently: root, yymmdd, right, strike in thousandths. */
export function readContract(symbol: string): {
  readonly root: string;
  readonly underlying: string;
  readonly date: string;
  readonly isPut: boolean;
  /** 10^-8 dollars. */
  readonly strike: bigint;
} {
  const root = symbol.slice(0, -15);
  const digits = symbol.slice(-15, -9);
  return {
    root,
    underlying: ROOTS[root] ?? root,
    date: `20${digits.slice(0, 2)}-${digits.slice(2, 4)}-${digits.slice(4)}`,
    isPut: symbol.at(-9) === 'P',
    strike: BigInt(symbol.slice(-8)) * 100_000n,
  };
}

function insist(condition: boolean, what: string): void {
  if (!condition) throw new Error(`audit: ${what}`);
}

function halfUp(dividend: bigint, divisor: bigint): bigint {
  const magnitude = dividend < 0n ? -dividend : dividend;
  const rounded = (magnitude * 2n + divisor) / (divisor * 2n);
  return dividend < 0n ? -rounded : rounded;
}
