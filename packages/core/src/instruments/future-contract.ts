import type { TradingDate } from '../values/trading-date.js';
import type { FutureContract } from './future.js';
import { firstNoticeDateOf, lastTradeDateBy, monthsLater } from './future-dates.js';
import { futureSpecification } from './future-specifications.js';
import type { FutureSpecification } from './future-specifications.js';
import { formatFutureSymbol, monthCode } from './future-symbols.js';
import type { FutureSymbol } from './future-symbols.js';

/** Number of months of a root that are listed at a time (D126). */
const FRONT_MONTHS = 3;

/** The contract that a symbol names, with `said` overriding the table's terms of its root (D91); `undefined` for an unknown one. */
export function futureContract(
  named: FutureSymbol,
  said: Partial<Omit<FutureContract, 'assetClass' | 'symbol' | 'root'>> = {},
): FutureContract | undefined {
  const specification = futureSpecification(named.root);
  if (specification === undefined) return undefined;
  const { root, multiplier, tickSize, settlement, lastTrade, hasNotices } = specification;
  return {
    assetClass: 'FUTURE',
    symbol: formatFutureSymbol(named),
    root,
    multiplier,
    tickSize,
    settlement,
    lastTradeDate: lastTradeDateBy(lastTrade, named),
    ...(hasNotices && { firstNoticeDate: firstNoticeDateOf(named) }),
    ...said,
  };
}

/** The front months of a root on a date, in order, of those with the most trading. The last trade date still counts. */
export function frontMonths(specification: FutureSpecification, today: TradingDate): FutureContract[] {
  const { root, months, activeMonths = months, lastTrade } = specification;
  const front: FutureContract[] = [];
  const thisMonth = { year: Number(today.slice(0, 4)), month: Number(today.slice(5, 7)) };
  for (let ahead = 0; front.length < FRONT_MONTHS; ahead++) {
    const month = monthsLater(thisMonth, ahead);
    if (!activeMonths.includes(monthCode(month.month)) || lastTradeDateBy(lastTrade, month) < today) continue;
    const contract = futureContract({ root, ...month });
    if (contract !== undefined) front.push(contract);
  }
  return front;
}

/** The contract that a symbol names, if it is among the front months of that date or was among those of an earlier one. */
export function futureListed(
  specification: FutureSpecification,
  named: FutureSymbol,
  today: TradingDate,
): FutureContract | undefined {
  const { months, activeMonths = months } = specification;
  if (!activeMonths.includes(monthCode(named.month))) return undefined;
  const contract = futureContract(named);
  if (contract === undefined || contract.lastTradeDate < today) return contract;
  return frontMonths(specification, today).find(({ symbol }) => symbol === contract.symbol);
}
