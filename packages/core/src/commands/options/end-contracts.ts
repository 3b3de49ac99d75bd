import type { Conversion } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import { planEndInCash } from '../../lifecycle/plan-expiry.js';
import type { EndingSeries } from '../../lifecycle/plan-expiry.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { bookOptionEvents, meansOf } from './book-option-events.js';

/**
 * Ends a portfolio's contracts on shares that become cash, by their value at that amount (D208). OCC brings expirations forward to the next
 * standard one; until then such a contract has no time value.
 */
export function endContracts(d: Decision, portfolio: Portfolio, action: Conversion): void {
  const { symbol: underlying } = action;
  const perShare = action.type === 'MERGER' || action.type === 'DELISTING' ? action.cashPerShare : undefined;
  const series = [...(portfolio.optionsOn.get(underlying) ?? [])].sort().flatMap((symbol): EndingSeries[] => {
    const contract = d.valued(symbol);
    const position = portfolio.positions.get(symbol);
    if (contract?.assetClass !== 'OPTION' || position === undefined) return [];
    return [{ contract, count: Position.held(position) / Quantity.of(1), kept: 0 }];
  });
  if (series.length === 0) return;
  const gone = series.map(({ contract, count }) => ({ contract, count: -count }));
  const means = meansOf(d, portfolio, underlying, gone);
  const acts = planEndInCash(series, perShare ?? Price.ofUnits(0), means);
  bookOptionEvents(d, portfolio, { underlying, acts, isExpiry: true });
}
