/** Follows the trend of AAPL at Interactive Brokers: long above its average of 20 days, else short, with a target and a stop. */
import {
  BarSizeSetting,
  EventName,
  IBApi,
  OrderAction,
  OrderType,
  SecType,
  TimeInForce,
  WhatToShow,
} from '@stoqey/ib';

const ib = new IBApi({ host: '127.0.0.1', port: 7497, clientId: 1 });
const stock = { symbol: 'AAPL', secType: SecType.STK, exchange: 'SMART', currency: 'USD' };
/** Dollars of the position. */
const SIZE = 5000;

ib.on(EventName.error, (error, code: number) => {
  if (code < 2100 || code > 2200) console.error(code, error.message);
});

function nextOrderId(): Promise<number> {
  return new Promise((resolve) => {
    ib.once(EventName.nextValidId, resolve);
    ib.connect();
  });
}

/** Closing prices of the last 20 days, oldest first. */
function closes(): Promise<readonly number[]> {
  return new Promise((resolve) => {
    const found: number[] = [];
    ib.on(EventName.historicalData, (_id, time, _open, _high, _low, close) => {
      if (time.startsWith('finished')) resolve(found);
      else found.push(close);
    });
    ib.reqHistoricalData(1, stock, '', '20 D', BarSizeSetting.DAYS_ONE, WhatToShow.TRADES, 1, 1, false);
  });
}

const orderId = await nextOrderId();
const prices = await closes();
const average = prices.reduce((sum, price) => sum + price, 0) / prices.length;
const price = prices.at(-1) ?? 0;
const isLong = price > average;
console.log(`AAPL at ${price.toFixed(2)}, average ${average.toFixed(2)}: ${isLong ? 'long' : 'short'}`);

const [side, other] = isLong ? [OrderAction.BUY, OrderAction.SELL] : [OrderAction.SELL, OrderAction.BUY];
const [gain, loss] = isLong ? [1.06, 0.97] : [0.94, 1.03];
const at = (part: number): number => Math.round(price * part * 100) / 100;
const totalQuantity = Math.floor(SIZE / price);
const exit = { action: other, totalQuantity, parentId: orderId, tif: TimeInForce.GTC };

ib.on(EventName.execDetails, (_id, _contract, { side: traded, shares, price: paid }) =>
  console.log(`${traded} ${shares} AAPL filled at ${paid}`),
);
ib.on(EventName.commissionReport, () => ib.disconnect());
ib.placeOrder(orderId, stock, { action: side, orderType: OrderType.MKT, totalQuantity, transmit: false });
ib.placeOrder(orderId + 1, stock, { ...exit, orderType: OrderType.LMT, lmtPrice: at(gain), transmit: false });
ib.placeOrder(orderId + 2, stock, { ...exit, orderType: OrderType.STP, auxPrice: at(loss), transmit: true });
