/** Calls of Alpaca's JavaScript client 4, unmodified: its hosts are those of its defaults. */
import { Alpaca, TimeFrame } from 'alpaca-v4';
import { attempt, report } from './attempts.mjs';

const { APCA_API_KEY_ID: keyId, APCA_API_SECRET_KEY: secret } = process.env;
const alpaca = new Alpaca({ keyId, secret, paper: true });
const { trading, marketData } = alpaca;
const { orders, positions, watchlists, accountConfigurations, portfolioHistory, corporateActions } = trading;
const start = new Date(Date.now() - 86_400_000);

await attempt('account.getAccount', () => trading.account.getAccount());
await attempt('validateConnection', () => trading.validateConnection());
await attempt('clock.legacyClock', () => trading.clock.legacyClock());
await attempt('clock.clock', () => trading.clock.clock({ markets: 'NYSE' }));
await attempt('calendar.calendar', () =>
  trading.calendar.calendar({ market: 'NYSE', start: new Date('2026-01-05'), end: new Date('2026-01-06') }),
);
await attempt('accountConfigurations.getAccountConfig', () => accountConfigurations.getAccountConfig());
await attempt('portfolioHistory.getAccountPortfolioHistory', () =>
  portfolioHistory.getAccountPortfolioHistory({ period: '1M', timeframe: '1D' }),
);
await attempt('orders.market', () => orders.market({ symbol: 'AAPL', qty: 10, side: 'buy' }));
await attempt('orders.market notional', () => orders.market({ symbol: 'AAPL', notional: 150, side: 'buy' }));
const rests = await attempt('orders.limit', () =>
  orders.limit({ symbol: 'MSFT', qty: 1, side: 'buy', limitPrice: 5 }),
);
await attempt('orders.getOrderByOrderID', () => orders.getOrderByOrderID({ orderId: rests.id }));
const replaced = await attempt('orders.patchOrderByOrderId', () =>
  orders.patchOrderByOrderId({ orderId: rests.id, patchOrderRequest: { limitPrice: '6' } }),
);
await attempt('orders.deleteOrderByOrderID', () => orders.deleteOrderByOrderID({ orderId: replaced.id }));
await attempt('orders.getAllOrders', () => orders.getAllOrders({ status: 'all' }));
await attempt('submitAndWait', () =>
  trading.submitAndWait({ symbol: 'AAPL', qty: '1', side: 'buy', type: 'market', timeInForce: 'day' }),
);
await attempt('positions.getAllOpenPositions', () => positions.getAllOpenPositions());
await attempt('positions.getOpenPosition', () => positions.getOpenPosition({ symbolOrAssetId: 'AAPL' }));
await attempt('closeAllPositions', () => trading.closeAllPositions({ cancelOrders: true }));
await attempt('iterateActivities', async () => {
  for await (const one of trading.iterateActivities({ activityTypes: ['FILL'] })) void one;
});
await attempt('watchlists.getWatchlists', () => watchlists.getWatchlists());
await attempt('corporateActions.getV2CorporateActionsAnnouncements', () =>
  corporateActions.getV2CorporateActionsAnnouncements({
    caTypes: 'Dividend',
    since: '2026-01-01',
    until: '2026-02-01',
  }),
);
await attempt('marketData.getLatestPrice', () => marketData.getLatestPrice('AAPL'));
await attempt('marketData.collectStockBarsBySymbol', () =>
  marketData.collectStockBarsBySymbol({ symbols: 'AAPL,MSFT', timeframe: TimeFrame.Hour ?? '1Hour', start }),
);
await attempt('marketData.collectNews', () => marketData.collectNews({ symbols: 'AAPL' }));
report();
process.exit(0);
