import type { Brokerage, Command } from '@sandpit/core';

/** Which symbols a command looks at, so that their quotes are brought up to date before it. */
export function symbolsConcerned(brokerage: Brokerage, command: Command): readonly string[] {
  switch (command.type) {
    case 'SubmitOrder':
      return withHoldings(brokerage, command.order.portfolioId, command.order.symbol);
    case 'ReplaceOrder': {
      const { ids, orders } = brokerage.state;
      const order = orders.get(ids.numberOf('ORDER', command.orderId) ?? 0);
      return order === undefined ? [] : withHoldings(brokerage, order.terms.portfolioId, order.terms.symbol);
    }
    case 'SwitchBroker':
    case 'UpgradeMargin':
    case 'ResetPortfolio':
    case 'TransferCash':
      return [...(brokerage.state.portfolios.get(command.portfolioId)?.positions.keys() ?? [])];
    default:
      return [];
  }
}

/** Which symbols the next thing that is due looks at. */
export function symbolsOfTimer(brokerage: Brokerage): Iterable<string> {
  const what = brokerage.state.timers.first()?.what;
  switch (what?.kind) {
    case 'ORDER_RELEASE':
    case 'ORDER_ARRIVAL': {
      const order = brokerage.state.orders.get(what.order);
      return order === undefined ? [] : withHoldings(brokerage, order.terms.portfolioId, order.terms.symbol);
    }
    case 'SESSION_OPEN':
      return brokerage.symbolsAtWork();
    case 'SESSION_CLOSE':
    case 'CORPORATE_ACTION':
      return brokerage.symbolsOfInterest();
    default:
      return [];
  }
}

/** An order looks at its own market; on margin also at everything the portfolio holds. */
function withHoldings(brokerage: Brokerage, portfolioId: string, symbol: string): readonly string[] {
  const portfolio = brokerage.state.portfolios.get(portfolioId);
  if (portfolio?.settings.portfolioType !== 'MARGIN') return [symbol];
  return [...new Set([symbol, ...portfolio.positions.keys()])];
}
