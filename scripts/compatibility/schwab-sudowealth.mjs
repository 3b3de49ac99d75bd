/** Calls of @sudowealth/schwab-api, unmodified: it logs in at its own hosts, and validates every answer by its schemas. */
import { createApiClient, EnhancedTokenManager } from '@sudowealth/schwab-api';
import { attempt, report } from './attempts.mjs';

const auth = new EnhancedTokenManager({
  clientId: process.env.SCHWAB_CLIENT_ID,
  clientSecret: process.env.SCHWAB_CLIENT_SECRET,
  redirectUri: 'https://127.0.0.1:8182',
});
const { authUrl } = await auth.getAuthorizationUrl();
const answered = await fetch(authUrl, { redirect: 'manual' });
const back = new URL(answered.headers.get('location')).searchParams;
await attempt('exchangeCode', () => auth.exchangeCode(back.get('code'), back.get('state')));
await attempt('refresh', async () => auth.refresh((await auth.getTokenData()).refreshToken, { force: true }));
const { trader, marketData } = createApiClient({ auth });
const numbers = await attempt('getAccountNumbers', () => trader.accounts.getAccountNumbers());
const accountNumber = numbers[0].hashValue;
await attempt('getAccounts', () => trader.accounts.getAccounts({ queryParams: { fields: 'positions' } }));
await attempt('getAccountByNumber', () =>
  trader.accounts.getAccountByNumber({ pathParams: { accountNumber } }),
);
await attempt('getUserPreference', () => trader.userPreference.getUserPreference());
const [from, to] = [-30, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
const order = {
  orderType: 'LIMIT',
  session: 'NORMAL',
  duration: 'DAY',
  price: 5,
  orderStrategyType: 'SINGLE',
  orderLegCollection: [
    { instruction: 'BUY', quantity: 1, instrument: { symbol: 'AAPL', assetType: 'EQUITY' } },
  ],
};
// The client's schema of an order asks for every field that an answer has.
const placed = await fetch(`https://api.schwabapi.com/trader/v1/accounts/${accountNumber}/orders`, {
  method: 'POST',
  headers: { authorization: `Bearer ${await auth.getAccessToken()}`, 'content-type': 'application/json' },
  body: JSON.stringify(order),
});
const orderId = Number(placed.headers.get('location').split('/').at(-1));
await attempt('getOrdersByAccount', () =>
  trader.orders.getOrdersByAccount({
    pathParams: { accountNumber },
    queryParams: { fromEnteredTime: from, toEnteredTime: to },
  }),
);
await attempt('getOrderByOrderId', () =>
  trader.orders.getOrderByOrderId({ pathParams: { accountNumber, orderId } }),
);
await attempt('cancelOrder', () => trader.orders.cancelOrder({ pathParams: { accountNumber, orderId } }));
await attempt('getTransactions', () =>
  trader.transactions.getTransactions({
    pathParams: { accountNumber },
    queryParams: { types: 'TRADE', startDate: from, endDate: to },
  }),
);
const { quotes, options, priceHistory, marketHours, instruments, movers } = marketData;
await attempt('getQuotes', () => quotes.getQuotes({ queryParams: { symbols: ['AAPL', '$SPX'] } }));
await attempt('getQuoteBySymbolId', () => quotes.getQuoteBySymbolId({ pathParams: { symbol_id: 'AAPL' } }));
await attempt('getOptionChain', () =>
  options.getOptionChain({ queryParams: { symbol: 'AAPL', strikeCount: 4, includeUnderlyingQuote: true } }),
);
await attempt('getOptionExpirationChain', () =>
  options.getOptionExpirationChain({ queryParams: { symbol: 'AAPL' } }),
);
await attempt('getPriceHistory', () =>
  priceHistory.getPriceHistory({
    queryParams: { symbol: 'AAPL', periodType: 'day', needPreviousClose: true },
  }),
);
await attempt('getMarketHours', () =>
  marketHours.getMarketHours({ queryParams: { markets: ['equity', 'option', 'bond', 'future', 'forex'] } }),
);
await attempt('getMarketHoursByMarketId', () =>
  marketHours.getMarketHoursByMarketId({ pathParams: { market_id: 'equity' } }),
);
const found = await attempt('getInstruments', () =>
  instruments.getInstruments({ queryParams: { symbol: 'AAPL', projection: 'fundamental' } }),
);
await attempt('getInstrumentByCusip', () =>
  instruments.getInstrumentByCusip({ pathParams: { cusip_id: found?.instruments[0]?.cusip ?? '' } }),
);
await attempt('getMovers', () =>
  movers.getMovers({ pathParams: { symbol_id: '$SPX' }, queryParams: { sort: 'up' } }),
);
report();
process.exit(0);
