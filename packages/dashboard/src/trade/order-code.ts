/** An order as a command line or a line of code. */
import type { CreateOrderBody, Order } from '@sandpit/protocol';

/** The body that would place an order like this one. */
export function bodyOf(order: Order): CreateOrderBody {
  const body = {
    portfolioId: order.portfolioId,
    symbol: order.symbol,
    assetClass: order.assetClass,
    orderType: order.orderType,
    positionIntent: order.positionIntent,
    // The quantity of a notional order is a result, not a term.
    quantity: order.notional === undefined ? order.quantity : undefined,
    notional: order.notional,
    timeInForce: order.timeInForce,
    limitPrice: order.limitPrice,
    stopPrice: order.stopPrice,
    trailingAmount: order.trailingPercent === undefined ? order.trailingAmount : undefined,
    trailingPercent: order.trailingPercent,
    strategy: order.strategy,
    legs: order.legs,
    bracketConfig: order.bracketConfig,
    ocoConfig: order.ocoConfig,
    goodTillDate: order.goodTillDate,
    session: order.session === 'EXTENDED' ? order.session : undefined,
  };
  // Absent fields are omitted.
  return JSON.parse(JSON.stringify(body)) as CreateOrderBody;
}

export function asCurl(body: CreateOrderBody): string {
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -sS ${location.origin}/v1/orders -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '${text}'`;
}

/** Part of a text that this page shows, kept apart so that it does not look like an import of this file. */
const FROM_PACKAGE = ['from', "'sandpit-broker'"].join(' ');

export function asTypeScript(body: CreateOrderBody): string {
  return `import { connect } ${FROM_PACKAGE};

const sandpit = await connect({ url: '${location.origin}' });
const order = await sandpit.call('createOrder', {
  body: ${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')},
});
console.log(order.orderId);
`;
}

export function asPython(body: CreateOrderBody): string {
  return `import json, os, urllib.request

order = json.loads(r'''${JSON.stringify(body, null, 2)}''')
request = urllib.request.Request(
    '${location.origin}/v1/orders',
    data=json.dumps(order).encode(),
    headers={'Authorization': 'Bearer ' + os.environ['TOKEN'], 'Content-Type': 'application/json'},
)
print(json.load(urllib.request.urlopen(request)))
`;
}
