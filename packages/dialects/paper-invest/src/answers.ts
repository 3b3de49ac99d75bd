/** Fields that Paper Invest's clients read in addition to those of `/v1`. */
import type { EquityPosition, Mirror } from '@sandpit/dialect-port';

type Fields = Readonly<Record<string, unknown>>;

/** Names that clients know parts of an order by. Dialects have no notes (D207). */
function order({ notes: _, ...fields }: Fields): Fields {
  const { orderId, orderType, positionIntent, averagePrice, executedAt } = fields;
  return {
    ...fields,
    id: orderId,
    type: orderType,
    ...(positionIntent !== undefined && { side: positionIntent }),
    ...(averagePrice !== undefined && { filledAvgPrice: averagePrice, avgFillPrice: averagePrice }),
    ...(executedAt !== undefined && { filledAt: executedAt }),
  };
}

/** A page whose items are found under `orders` as well. */
function orders(page: Fields): Fields {
  const shown = (page['data'] as readonly Fields[]).map(order);
  return { ...page, data: shown, orders: shown };
}

function equities(positions: unknown): unknown {
  return (positions as readonly EquityPosition[]).map((position) => ({
    ...position,
    quantity: Math.round((position.settledQuantity + position.pendingQuantity) * 1e6) / 1e6,
    lastPrice: position.price,
    unrealizedPl: position.unrealizedPnl,
  }));
}

const token = (fields: Fields): Fields => ({
  ...fields,
  accessToken: fields['token'],
  access_token: fields['token'],
});

/** Extended responses by operation; all others are those of `/v1`. */
export const answers: Mirror['answers'] = {
  exchangeToken: token,
  createOrder: order,
  getOrder: order,
  updateOrder: order,
  cancelOrder: order,
  listOrders: orders,
  listAccountOrders: orders,
  listPortfolioOrders: orders,
  listFilledToday: orders,
  listEquityPositions: equities,
};
