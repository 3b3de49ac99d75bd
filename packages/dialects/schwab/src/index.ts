/** Charles Schwab: its Trader API for individuals, with OAuth, market data and the streamer. The app key is a key pair of a portfolio. */
import type { Credential, Dialect, DialectRoute, Head } from '@sandpit/dialect-port';
import { getAccount, getAccountNumbers, getUserPreference, listAccounts } from './accounts.js';
import { getChain, getExpirations } from './chains.js';
import {
  findInstruments,
  getInstrument,
  getMarket,
  getMovers,
  getPriceHistory,
  listMarkets,
} from './markets.js';
import { bearerIn, credentialOfLogin, oauthRoutes } from './oauth.js';
import {
  cancelOrder,
  getOrder,
  listAllOrders,
  listOrders,
  placeOrder,
  previewOrder,
  replaceOrder,
} from './orders.js';
import { getQuote, getQuotes } from './quotes.js';
import { refusedByDoor, translated } from './refusals.js';
import { Streamer } from './streamer.js';
import { getTransaction, listTransactions } from './transactions.js';

function credentialOf(head: Head): Credential | undefined {
  const given = String(head.headers['authorization'] ?? '');
  const token = /^Bearer ([^\s]{1,4200})$/i.exec(given)?.[1];
  return token === undefined ? credentialOfLogin(head) : bearerIn(token);
}

const ROUTES: readonly (readonly [DialectRoute['method'], string, DialectRoute['handle']])[] = [
  ['GET', '/trader/v1/accounts/accountNumbers', getAccountNumbers],
  ['GET', '/trader/v1/accounts', listAccounts],
  ['GET', '/trader/v1/accounts/', listAccounts],
  ['GET', '/trader/v1/accounts/:hash', getAccount],
  ['GET', '/trader/v1/accounts/:hash/orders', listOrders],
  ['POST', '/trader/v1/accounts/:hash/orders', placeOrder],
  ['GET', '/trader/v1/accounts/:hash/orders/:id', getOrder],
  ['PUT', '/trader/v1/accounts/:hash/orders/:id', replaceOrder],
  ['DELETE', '/trader/v1/accounts/:hash/orders/:id', cancelOrder],
  ['POST', '/trader/v1/accounts/:hash/previewOrder', previewOrder],
  ['GET', '/trader/v1/accounts/:hash/transactions', listTransactions],
  ['GET', '/trader/v1/accounts/:hash/transactions/:id', getTransaction],
  ['GET', '/trader/v1/orders', listAllOrders],
  ['GET', '/trader/v1/userPreference', getUserPreference],
  ['GET', '/marketdata/v1/quotes', getQuotes],
  ['GET', '/marketdata/v1/:symbol/quotes', getQuote],
  ['GET', '/marketdata/v1/pricehistory', getPriceHistory],
  ['GET', '/marketdata/v1/chains', getChain],
  ['GET', '/marketdata/v1/expirationchain', getExpirations],
  ['GET', '/marketdata/v1/markets', listMarkets],
  ['GET', '/marketdata/v1/markets/:market', getMarket],
  ['GET', '/marketdata/v1/movers/:index', getMovers],
  ['GET', '/marketdata/v1/instruments', findInstruments],
  ['GET', '/marketdata/v1/instruments/:cusip', getInstrument],
];

const dialect: Dialect = {
  name: 'schwab',
  prefix: '/schwab',
  hosts: ['api.schwabapi.com'],
  routes: ROUTES.map(([method, path, handle]) => ({ method, path, handle })),
  openRoutes: oauthRoutes,
  bodies: ['json', 'form'],
  sockets: [{ path: /^\/ws$/, visit: (visit) => new Streamer(visit) }],
  credentialOf,
  limitHeaders: ({ limit, remaining }) => [
    'x-ratelimit-limit',
    String(limit),
    'x-ratelimit-remaining',
    String(remaining),
  ],
  refuse: refusedByDoor,
  translate: translated,
};

export default dialect;
