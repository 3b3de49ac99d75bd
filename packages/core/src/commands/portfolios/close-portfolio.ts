import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { valuationOf, worthOf } from '../../portfolios/valuation.js';
import { Position } from '../../positions/position.js';
import type { CloseObstacle, Rejection } from '../../rejection.js';
import { Money } from '../../values/money.js';
import type { TradingDate } from '../../values/trading-date.js';
import { finalAccrualsOf, postFinalAccruals } from '../margin/interest.js';
import { amountDue } from '../margin/meet-calls.js';
import { portfolioToChange } from './portfolios.js';
import { changeSma } from '../margin/sma.js';

/**
 * Closes a portfolio that is empty and owes nothing (D11, D212): posts its accruals and pays out its cash. A frozen account
 * cannot close one, because that would release the cash.
 */
export function closePortfolio(
  d: Decision,
  command: Extract<Command, { type: 'ClosePortfolio' }>,
): Portfolio | Rejection {
  const portfolio = portfolioToChange(d, command, 'portfolios cannot be closed');
  if ('code' in portfolio) return portfolio;
  const reasons = obstaclesTo(d, portfolio);
  if (reasons.length > 0) return { code: 'PORTFOLIO_NOT_EMPTY', reasons };
  postFinalAccruals(d, portfolio);
  payOut(d, portfolio);
  d.emit({
    type: 'PortfolioClosed',
    portfolioId: command.portfolioId,
    settings: portfolio.settings,
    value: valuationOf(portfolio, d, d.broker(portfolio)),
    at: d.at,
    name: portfolio.terms.name ?? null,
  });
  return portfolio;
}

function obstaclesTo(d: Decision, portfolio: Portfolio): CloseObstacle[] {
  const { positions, openOrders, margin, balances } = portfolio;
  const obstacles: CloseObstacle[] = [];
  const value = valuationOf(portfolio, d, d.broker(portfolio));
  const held = [...positions.values()].filter((position) => Position.held(position) !== 0).length;
  if (held > 0) obstacles.push({ code: 'POSITIONS', count: held });
  // Exits that never became active are not counted (D155): they end with their entry, which is open.
  const open = [...openOrders].filter(({ progress }) => progress.status !== 'CREATED').length;
  if (open > 0) obstacles.push({ code: 'OPEN_ORDERS', count: open });
  obstacles.push(...unsettled(portfolio));
  if (value.marginLoan > 0) obstacles.push({ code: 'LOAN', amount: value.marginLoan });
  if (margin.calls.length > 0) {
    const due = margin.calls.map((call) => amountDue(call, portfolio, value));
    const amount = due.reduce(Money.add, Money.zero);
    obstacles.push({ code: 'MARGIN_CALL', count: due.length, amount });
  }
  const { interest, borrowFees } = finalAccrualsOf(portfolio);
  const accrued = Money.add(interest, borrowFees);
  const availableCash = Money.max(balances.SETTLED_CASH, Money.zero);
  if (accrued > availableCash) obstacles.push({ code: 'ACCRUALS', amount: accrued, availableCash });
  return obstacles;
}

/** Obstacles from pending cash and shares. */
function unsettled({ obligations, positions, balances }: Portfolio): CloseObstacle[] {
  const obstacles: CloseObstacle[] = [];
  const toPay: TradingDate[] = [];
  const toDeliver = new Map<string, TradingDate>();
  for (const { date, cash, quantities } of obligations.values()) {
    if (cash !== 0) toPay.push(date);
    for (const [symbol, quantity] of quantities)
      if (quantity !== 0 && date > (toDeliver.get(symbol) ?? '')) toDeliver.set(symbol, date);
  }
  // Realized variation of futures is paid with the next daily settlement (D95).
  let variation = Money.zero;
  for (const position of positions.values())
    variation = Money.add(variation, position.variation ?? Money.zero);
  if (toPay.length > 0 || variation !== 0) {
    const settlesOn = latest(toPay);
    obstacles.push({
      code: 'UNSETTLED_CASH',
      amount: Money.add(balances.PENDING_CASH, variation),
      ...(settlesOn !== undefined && { settlesOn }),
    });
  }
  const deliveredOn = latest([...toDeliver.values()]);
  if (deliveredOn !== undefined)
    obstacles.push({ code: 'UNDELIVERED', count: toDeliver.size, settlesOn: deliveredOn });
  return obstacles;
}

const latest = (dates: readonly TradingDate[]): TradingDate | undefined => [...dates].sort().at(-1);

function payOut(d: Decision, portfolio: Portfolio): void {
  const { portfolioId } = portfolio.terms;
  const amount = Money.negate(portfolio.balances.SETTLED_CASH);
  if (amount === 0) return;
  const equityBefore = worthOf(portfolio, d).totalEquity;
  d.emit({
    type: 'LedgerPosted',
    portfolioId,
    entries: [d.capitalEntry('WITHDRAWAL', amount)],
    equityBefore,
  });
  changeSma(d, portfolio, 'WITHDRAWAL', amount);
}
