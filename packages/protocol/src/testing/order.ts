/** A body that is accepted, to be changed by a test. */
export const limitOrder = {
  portfolioId: '0192f0c1-6e01-7d2a-8f3e-9a4c51d0b7aa',
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'LIMIT',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 10,
  timeInForce: 'DAY',
  limitPrice: 187.5,
};

/** The order without a price. */
export const marketOrder = without({ ...limitOrder, orderType: 'MARKET' }, 'limitPrice');

const call = { optionSymbol: 'AAPL260116C00150000', positionIntent: 'BUY_TO_OPEN', quantity: 1 };

export const verticalSpread = {
  ...limitOrder,
  assetClass: 'OPTION',
  strategy: 'VERTICAL_SPREAD',
  legs: [call, { ...call, optionSymbol: 'AAPL260116C00160000', positionIntent: 'SELL_TO_OPEN' }],
};

/** A copy that lacks some fields. */
export function without<T extends object>(body: T, ...names: (keyof T)[]): Partial<T> {
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => !names.includes(name as keyof T)),
  ) as Partial<T>;
}
