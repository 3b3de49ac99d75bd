/** Bodies of requests to a server process. */
const ACCOUNT = '00000000-0000-4000-8000-000000000001';

/** A CASH portfolio at the default broker. */
export const cashPortfolioBody = (more: object = {}): object => ({
  accountId: ACCOUNT,
  portfolioType: 'CASH',
  accountType: 'INDIVIDUAL',
  brokerId: 'default',
  ...more,
});

/** A purchase of one share of AAPL for a dollar: it rests at any usual price. */
export const restingOrderBody = (portfolioId: string, more: object = {}): object => ({
  portfolioId,
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'LIMIT',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 1,
  limitPrice: 1,
  timeInForce: 'GTC',
  ...more,
});
