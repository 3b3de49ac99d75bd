import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { FutureContract } from '../instruments/future.js';
import { valueOf } from '../instruments/instrument.js';
import { marginOf } from '../instruments/future-margins.js';
import type { FutureMargin } from '../instruments/future-margins.js';
import { formatScaled, multiplyDivide } from '../values/scaled.js';
import { marketHours } from '../calendar/hours.js';
import { dailySettlementAt, hoursOf } from '../instruments/trading-hours.js';
import type { Amounts, Holding, MarginGroup, MarginTerms } from './book.js';

/** A held delivery month. */
interface Month {
  readonly contract: FutureContract;
  readonly quantity: Quantity;
  readonly margin: FutureMargin;
  /** The applied part of a listed `spreadMargin`, in basis points. */
  readonly shareBps: number;
}

/** Default requirement of a pair of months without a listed `spreadMargin`: a share of the larger maintenance (D94). */
const SPREAD_BPS = 2000;
const SPREAD_INITIAL_BPS = 11_000;
const ONE = 1_000_000;
const WHOLE_BPS = 10_000;

/** Margin rules of futures. */
type FutureTerms = Pick<MarginTerms, 'asOf' | 'calendar' | 'house'>;

/**
 * Current part of a contract's margin, in basis points (D94): a broker may require less while the trade day is open and not
 * yet settled.
 */
export function marginShareBps(contract: FutureContract, { asOf, calendar, house }: FutureTerms): number {
  const { futuresIntradayFractionBps = WHOLE_BPS } = house;
  if (futuresIntradayFractionBps === WHOLE_BPS) return WHOLE_BPS;
  const hours = marketHours(calendar, hoursOf(contract));
  const isIntraday =
    hours.isOpen('REGULAR', asOf) && asOf < dailySettlementAt(contract, hours.tradeDateOf(asOf), calendar);
  return isIntraday ? futuresIntradayFractionBps : WHOLE_BPS;
}

/** Current margin of a contract; without known figures its whole notional, never 0. */
export function futureMarginOf({ instrument, mark }: Holding, terms: FutureTerms): FutureMargin {
  if (instrument.assetClass !== 'FUTURE') throw new RangeError(`${instrument.symbol} is no future`);
  const notional = (): Money => valueOf(instrument, mark, Quantity.of(1));
  const { initial, maintenance } = marginOf(instrument, terms.calendar.dateOf(terms.asOf), mark) ?? {
    initial: notional(),
    maintenance: notional(),
  };
  const share = marginShareBps(instrument, terms);
  return {
    initial: Money.scale(initial, share, WHOLE_BPS),
    maintenance: Money.scale(maintenance, share, WHOLE_BPS),
  };
}

/** Maintenance requirement of one pair of months. */
function spreadMarginOf(
  long: Pick<Month, 'contract' | 'margin' | 'shareBps'>,
  short: Pick<Month, 'contract' | 'margin'>,
): Money {
  const listed = long.contract.spreadMargin ?? short.contract.spreadMargin;
  return listed === undefined
    ? Money.scale(Money.max(long.margin.maintenance, short.margin.maintenance), SPREAD_BPS, WHOLE_BPS)
    : Money.scale(listed, long.shareBps, WHOLE_BPS);
}

/**
 * Margin groups of the months of one root (D94): long and short months are paired, earliest with earliest; each remaining contract
 * requires its maintenance.
 */
export function futureGroups(holdings: readonly Holding[], terms: FutureTerms): MarginGroup[] {
  const months = holdings.map((holding): Month => {
    const { instrument, quantity } = holding;
    if (instrument.assetClass !== 'FUTURE') throw new RangeError(`${instrument.symbol} is no future`);
    return {
      contract: instrument,
      quantity,
      margin: futureMarginOf(holding, terms),
      shareBps: marginShareBps(instrument, terms),
    };
  });
  months.sort(
    (a, b) =>
      byText(a.contract.lastTradeDate, b.contract.lastTradeDate) ||
      byText(a.contract.symbol, b.contract.symbol),
  );
  const open = (sign: 1 | -1) =>
    months
      .filter(({ quantity }) => quantity * sign > 0)
      .map((month) => ({ month, left: Quantity.abs(month.quantity) }));
  const longs = open(1);
  const shorts = open(-1);
  const groups: MarginGroup[] = [];
  for (let i = 0, k = 0; ;) {
    const long = longs[i];
    const short = shorts[k];
    if (long === undefined || short === undefined) break;
    const pairs = Quantity.min(long.left, short.left);
    if (pairs > 0) groups.push(pairGroup(long.month, short.month, pairs));
    long.left = Quantity.subtract(long.left, pairs);
    short.left = Quantity.subtract(short.left, pairs);
    if (long.left === 0) i++;
    if (short.left === 0) k++;
  }
  const outright = [...longs, ...shorts]
    .filter(({ left }) => left > 0)
    .map(({ month, left }) => outrightGroup(month, month.quantity < 0 ? Quantity.negate(left) : left))
    .sort((a, b) => byText(a.legs[0]?.symbol ?? '', b.legs[0]?.symbol ?? ''));
  return [...outright, ...groups];
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const times = (amount: Money, contracts: Quantity): Money =>
  Money.ofUnits(multiplyDivide(amount, contracts, ONE, 'half-up'));

/** No Reg T, no loan value: equity of any kind backs futures (D94). */
const amounts = (maintenance: Money, initial: Money): Amounts => ({
  fed: Money.zero,
  house: maintenance,
  opening: initial,
  initial,
  counted: Money.zero,
});

const shown = (money: Money): string => formatScaled(money, 4);

function outrightGroup({ contract, margin }: Month, quantity: Quantity): MarginGroup {
  const contracts = Quantity.abs(quantity);
  return {
    strategy: 'FUTURE',
    underlying: contract.root,
    legs: [{ symbol: contract.symbol, quantity }],
    amounts: amounts(times(margin.maintenance, contracts), times(margin.initial, contracts)),
    rule: `D94: ${shown(margin.maintenance)} to hold a contract, ${shown(margin.initial)} to open it`,
  };
}

function pairGroup(long: Month, short: Month, pairs: Quantity): MarginGroup {
  const each = spreadMarginOf(long, short);
  const maintenance = times(each, pairs);
  return {
    strategy: 'FUTURE_SPREAD',
    underlying: long.contract.root,
    legs: [
      { symbol: long.contract.symbol, quantity: pairs },
      { symbol: short.contract.symbol, quantity: Quantity.negate(pairs) },
    ],
    amounts: amounts(maintenance, Money.scale(maintenance, SPREAD_INITIAL_BPS, 10_000)),
    rule: `D94: month against month, ${shown(each)} a pair, initially 110 %`,
  };
}
