/** Calls of the npm client `tradier-api`, unmodified: its hosts are those of its table. */
import Tradier from 'tradier-api';
import { attempt, report } from './attempts.mjs';

const { TRADIER_ACCESS_TOKEN: token, TRADIER_ACCOUNT_NUMBER: account } = process.env;
const client = new Tradier(token, 'sandbox');
const call = (name, ...given) => attempt(name, () => client[name](...given));

await call('getProfile');
await call('getBalances');
await call('getAccountBalances', account);
for (const name of ['Positions', 'Gainloss', 'Orders', 'History']) {
  await call(`getAccount${name}`, account);
  await call(`get${name}`);
}
const order = {
  class: 'equity',
  symbol: 'AAPL',
  side: 'buy',
  quantity: 5,
  type: 'limit',
  price: 10,
  duration: 'day',
};
const { id } = await call('createOrder', account, order);
await call('getAccountOrder', account, id);
await call('changeOrder', account, id, { price: 11 });
await call('cancelOrder', account, id);
await call('previewOrder', account, new URLSearchParams({ ...order, quantity: '5', price: '10' }).toString());
await call('getQuote', ['AAPL', 'MSFT']);
const { date: [date] = [] } = await call('getOptionExpirations', 'AAPL');
await call('getOptionStrikes', 'AAPL', date);
await call('getOptionChains', 'AAPL', date);
await call('getPriceHistory', 'AAPL', 'daily', '2025-12-01', '2025-12-31');
await call('getTimesales', 'AAPL', '15min', '2026-01-05 09:30', '2026-01-05 09:59', 'open');
await call('getClock');
await call('getCalendar', undefined, 2026);
await call('search', 'apple');
await call('lookup', 'AAPL');
for (const name of [
  'Company',
  'Calendars',
  'Dividends',
  'CorporateActions',
  'Ratios',
  'Financials',
  'Statistics',
])
  await call(`get${name}`, 'AAPL');
await call('createWatchlist', 'Tech', ['AAPL', 'MSFT']);
await call('addSymbols', 'tech', ['AMD']);
await call('removeSymbols', 'tech', 'AMD');
await call('updateWatchlist', 'tech', 'Tech 2', ['AAPL']);
await call('getWatchlist', 'tech');
await call('getWatchlists');
await call('deleteWatchlist', 'tech');
await call('createSession');
report();
process.exit(0);
