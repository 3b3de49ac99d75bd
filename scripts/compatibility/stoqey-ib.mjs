/** Calls of the npm client `@stoqey/ib`, unmodified: it connects to the paper port of TWS on this machine. */
import { EventName, IBApi, OrderAction, OrderType, SecType } from '@stoqey/ib';
import { attempt, report } from './attempts.mjs';

const WITHIN_MS = 15_000;
const ib = new IBApi({ host: '127.0.0.1', port: 7497, clientId: 1 });
let nextId = 0;
let requestId = 1000;

/** Resolves with the arguments of an event that is accepted; rejects with an error of the request. */
const event = (name, act, id, accepts = () => true) =>
  new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(late);
      ib.off(name, listen);
      ib.off(EventName.error, fail);
    };
    const late = setTimeout(() => {
      done();
      reject(new Error(`no ${name}`));
    }, WITHIN_MS);
    const listen = (...given) => {
      if (!accepts(...given)) return;
      done();
      resolve(given);
    };
    const fail = (error, code, reqId) => {
      if (reqId !== id || code === 202) return;
      done();
      reject(new Error(`${code}: ${error.message}`));
    };
    ib.on(name, listen);
    ib.on(EventName.error, fail);
    act();
  });

const call = (name, answer, ...given) => attempt(name, () => event(answer, () => ib[name](...given)));
/** A request with an id of its own. */
const ask = (name, answer, ...given) => {
  const id = (requestId += 1);
  return attempt(name, () => event(answer, () => ib[name](id, ...given), id));
};
const place = (label, contract, order, status) => {
  const id = (nextId += 1);
  const isMine = (orderId, now) => orderId === id && now === status;
  return attempt(label, async () => {
    await event(
      EventName.orderStatus,
      () => ib.placeOrder(id, contract, { transmit: true, ...order }),
      id,
      isMine,
    );
    return id;
  });
};

const apple = { symbol: 'AAPL', secType: SecType.STK, exchange: 'SMART', currency: 'USD' };
const account = 'DU0000001';
const market = { action: OrderAction.BUY, orderType: OrderType.MKT, totalQuantity: 10 };
const limit = { action: OrderAction.BUY, orderType: OrderType.LMT, totalQuantity: 5, lmtPrice: 10 };

[nextId] = await attempt('connect', () => event(EventName.nextValidId, () => ib.connect()));
await call('reqIds', EventName.nextValidId);
await call('reqManagedAccts', EventName.managedAccounts);
await call('reqCurrentTime', EventName.currentTime);
await ask('reqContractDetails', EventName.contractDetailsEnd, apple);
await ask('reqMatchingSymbols', EventName.symbolSamples, 'AAP');
await ask(
  'reqSecDefOptParams',
  EventName.securityDefinitionOptionParameterEnd,
  'AAPL',
  '',
  SecType.STK,
  265598,
);
await call('reqMarketRule', EventName.marketRule, 26);
await place('placeOrder market', apple, market, 'Filled');
const id = await place('placeOrder limit', apple, limit, 'Submitted');
await attempt('placeOrder change', () =>
  event(
    EventName.openOrder,
    () => ib.placeOrder(id, apple, { ...limit, lmtPrice: 11, transmit: true }),
    id,
    (orderId, _contract, order) => orderId === id && order.lmtPrice === 11,
  ),
);
await call('reqOpenOrders', EventName.openOrderEnd);
await call('reqAllOpenOrders', EventName.openOrderEnd);
await attempt('cancelOrder', () =>
  event(
    EventName.orderStatus,
    () => ib.cancelOrder(id),
    id,
    (orderId, now) => orderId === id && now === 'Cancelled',
  ),
);
await attempt('placeOrder whatIf', () => {
  const previewed = (nextId += 1);
  const act = () => ib.placeOrder(previewed, apple, { ...market, whatIf: true, transmit: true });
  return event(EventName.openOrder, act, previewed, (orderId) => orderId === previewed);
});
await attempt('placeOrder bracket', async () => {
  const parent = nextId + 1;
  const exit = { action: OrderAction.SELL, totalQuantity: 5, parentId: parent };
  ib.placeOrder(parent, apple, { ...limit, transmit: false });
  ib.placeOrder(parent + 1, apple, { ...exit, orderType: OrderType.LMT, lmtPrice: 900, transmit: false });
  nextId += 3;
  const act = () =>
    ib.placeOrder(parent + 2, apple, { ...exit, orderType: OrderType.STP, auxPrice: 5, transmit: true });
  return event(
    EventName.orderStatus,
    act,
    parent,
    (orderId, now) => orderId === parent && now === 'Submitted',
  );
});
await attempt('reqGlobalCancel', () =>
  event(
    EventName.orderStatus,
    () => ib.reqGlobalCancel(),
    -1,
    (_id, now) => now === 'Cancelled',
  ),
);
await ask('reqExecutions', EventName.execDetailsEnd, {});
await call('reqCompletedOrders', EventName.completedOrdersEnd, false);
await call('reqPositions', EventName.positionEnd);
await ask('reqPositionsMulti', EventName.positionMultiEnd, account, '');
await call('reqAccountUpdates', EventName.accountDownloadEnd, true, account);
await ask('reqAccountUpdatesMulti', EventName.accountUpdateMultiEnd, account, '', false);
await ask('reqAccountSummary', EventName.accountSummaryEnd, 'All', 'NetLiquidation,BuyingPower');
await ask('reqPnL', EventName.pnl, account, '');
await ask('reqPnLSingle', EventName.pnlSingle, account, '', 265598);
await ask('reqMktData', EventName.tickPrice, apple, '', false, false);
await attempt('reqMktData snapshot', () =>
  event(EventName.tickSnapshotEnd, () => ib.reqMktData(998, apple, '', true, false), 998),
);
await ask('reqTickByTickData', EventName.tickByTickBidAsk, apple, 'BidAsk', 0, false);
await ask('reqHistoricalData', EventName.historicalData, apple, '', '5 D', '1 day', 'TRADES', 1, 1, false);
await call('reqFamilyCodes', EventName.familyCodes);
await ask('reqSoftDollarTiers', EventName.softDollarTiers);
await call('reqNewsProviders', EventName.newsProviders);
await attempt('reqContractDetails forex', () => {
  const pair = { symbol: 'EUR', secType: SecType.CASH, exchange: 'IDEALPRO', currency: 'USD' };
  return event(EventName.contractDetailsEnd, () => ib.reqContractDetails(999, pair), 999);
});
report();
process.exit(0);
