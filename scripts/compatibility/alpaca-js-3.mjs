/** Calls of Alpaca's JavaScript client 3, unmodified: hosts and keys are those of its defaults. */
import Alpaca from 'alpaca-v3';
import { attempt, report } from './attempts.mjs';

const alpaca = new Alpaca({ paper: true });
const order = { symbol: 'AAPL', qty: 1, side: 'buy', type: 'market', time_in_force: 'day' };
const range = { start: new Date(Date.now() - 86_400_000).toISOString(), limit: 100 };
const minutes = { ...range, timeframe: alpaca.newTimeframe(5, alpaca.timeframeUnit.MIN) };
const drained = async (items) => {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
};

await attempt('getAccount', () => alpaca.getAccount());
await attempt('getAccountConfigurations', () => alpaca.getAccountConfigurations());
await attempt('updateAccountConfigurations', () =>
  alpaca.updateAccountConfigurations({ no_shorting: false }),
);
await attempt('getClock', () => alpaca.getClock());
await attempt('getCalendar', () =>
  alpaca.getCalendar({ start: new Date('2026-01-05'), end: new Date('2026-01-06') }),
);
const assets = await attempt('getAssets', () => alpaca.getAssets({ status: 'active' }));
await attempt('getAsset', () => alpaca.getAsset(assets?.[0]?.id ?? 'AAPL'));
const bought = await attempt('createOrder market', () => alpaca.createOrder({ ...order, qty: 10 }));
await attempt('getOrder', () => alpaca.getOrder(bought.id));
const rests = await attempt('createOrder limit', () =>
  alpaca.createOrder({
    ...order,
    type: 'limit',
    limit_price: 5,
    time_in_force: 'gtc',
    client_order_id: 'own',
  }),
);
await attempt('getOrderByClientId', () => alpaca.getOrderByClientId('own'));
const replaced = await attempt('replaceOrder', () => alpaca.replaceOrder(rests.id, { limit_price: '6' }));
await attempt('getOrders', () => alpaca.getOrders({ status: 'all' }));
await attempt('cancelOrder', () => alpaca.cancelOrder(replaced.id));
await attempt('createOrder stop', () =>
  alpaca.createOrder({ ...order, type: 'stop', stop_price: 100_000, time_in_force: 'gtc' }),
);
await attempt('createOrder trailing_stop', () =>
  alpaca.createOrder({
    ...order,
    side: 'sell',
    type: 'trailing_stop',
    trail_percent: 5,
    time_in_force: 'gtc',
  }),
);
await attempt('cancelAllOrders', () => alpaca.cancelAllOrders());
const { AskPrice: ask } = await attempt('getLatestQuote', () => alpaca.getLatestQuote('AAPL'));
await attempt('createOrder bracket', () =>
  alpaca.createOrder({
    ...order,
    type: 'limit',
    limit_price: 5,
    order_class: 'bracket',
    take_profit: { limit_price: 10 },
    stop_loss: { stop_price: 4 },
  }),
);
await attempt('createOrder oco', () =>
  alpaca.createOrder({
    ...order,
    side: 'sell',
    type: 'limit',
    order_class: 'oco',
    time_in_force: 'gtc',
    take_profit: { limit_price: Math.ceil(ask * 2) },
    stop_loss: { stop_price: Math.floor(ask / 2) },
  }),
);
await alpaca.cancelAllOrders();
await attempt('getPositions', () => alpaca.getPositions());
await attempt('getPosition', () => alpaca.getPosition('AAPL'));
await attempt('closePosition', () => alpaca.closePosition('AAPL'));
await attempt('closeAllPositions', () => alpaca.closeAllPositions());
const list = await attempt('addWatchlist', () => alpaca.addWatchlist('tech', ['AAPL']));
await attempt('addToWatchlist', () => alpaca.addToWatchlist(list.id, 'MSFT'));
await attempt('updateWatchlist', () => alpaca.updateWatchlist(list.id, { name: 'more', symbols: ['MSFT'] }));
await attempt('getWatchlist', () => alpaca.getWatchlist(list.id));
await attempt('getWatchlists', () => alpaca.getWatchlists());
await attempt('deleteFromWatchlist', () => alpaca.deleteFromWatchlist(list.id, 'MSFT'));
await attempt('deleteWatchlist', () => alpaca.deleteWatchlist(list.id));
await attempt('getAccountActivities', () => alpaca.getAccountActivities({ activityTypes: 'FILL' }));
await attempt('getPortfolioHistory', () => alpaca.getPortfolioHistory({ period: '1M', timeframe: '1D' }));
await attempt('getLatestQuotes', () => alpaca.getLatestQuotes(['AAPL', 'MSFT']));
await attempt('getLatestTrade', () => alpaca.getLatestTrade('AAPL'));
await attempt('getLatestTrades', () => alpaca.getLatestTrades(['AAPL']));
await attempt('getLatestBar', () => alpaca.getLatestBar('AAPL'));
await attempt('getLatestBars', () => alpaca.getLatestBars(['AAPL']));
await attempt('getSnapshot', () => alpaca.getSnapshot('AAPL'));
await attempt('getSnapshots', () => alpaca.getSnapshots(['AAPL']));
await attempt('getBarsV2', () => drained(alpaca.getBarsV2('AAPL', minutes)));
await attempt('getMultiBarsV2', () => alpaca.getMultiBarsV2(['AAPL'], minutes));
await attempt('getTradesV2', () => drained(alpaca.getTradesV2('AAPL', range)));
await attempt('getMultiTradesV2', () => alpaca.getMultiTradesV2(['AAPL'], range));
await attempt('getQuotesV2', () => drained(alpaca.getQuotesV2('AAPL', range)));
await attempt('getMultiQuotesV2', () => alpaca.getMultiQuotesV2(['AAPL'], range));
await attempt('getNews', () => alpaca.getNews({ symbols: ['AAPL'] }));
await attempt('getLatestCryptoTrades', () => alpaca.getLatestCryptoTrades(['BTC/USD']));
await attempt('trade_ws', () => connected(alpaca.trade_ws, 'onConnect'));
await attempt('data_stream_v2', () => connected(alpaca.data_stream_v2, 'onConnect'));
report();
process.exit(0);

/** Resolves once a stream has logged in. */
function connected(stream, event) {
  return new Promise((resolve, reject) => {
    stream[event](() => {
      stream.disconnect();
      resolve();
    });
    stream.onError(reject);
    stream.connect();
    setTimeout(() => reject(new Error('no login within 20 s')), 20_000).unref();
  });
}
