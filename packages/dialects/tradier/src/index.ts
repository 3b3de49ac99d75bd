/** Tradier: its brokerage API with form bodies, answers in JSON or XML, and streams. A token of Sandpit opens all portfolios of its simulation. */
import type { Credential, Dialect, DialectRoute, Head } from '@sandpit/dialect-port';
import { balances, gainLoss, getProfile, history, positions } from './accounts.js';
import {
  easyToBorrow,
  getCalendar,
  getChain,
  getClock,
  getExpirations,
  getHistory,
  getQuotes,
  getStrikes,
  getTimesales,
  lookUpOptions,
  search,
} from './markets.js';
import { cancelOrder, changeOrder, getOrder, listOrders, listUserOrders, placeOrder } from './orders.js';
import { refusedByDoor, translated } from './refusals.js';
import { reading } from './request.js';
import { AccountSocket, MarketSocket, openSession, sessionIn, streamMarket } from './streams.js';
import {
  addSymbols,
  createWatchlist,
  deleteWatchlist,
  getWatchlist,
  listWatchlists,
  removeSymbol,
  updateWatchlist,
} from './watchlists.js';
import { plainText, wantsJson } from './wire.js';

/** A bearer token: of three parts one of Sandpit, of two parts a key pair. The stream of a session needs its id alone. */
function credentialOf({ headers, url }: Head): Credential | undefined {
  const token = /^Bearer ([^\s]{1,4200})$/i.exec(String(headers['authorization'] ?? ''))?.[1];
  if (token === undefined)
    return sessionIn(/^\/v1\/markets\/events\?(?:.*&)?sessionid=([\w.-]{1,500})/.exec(url)?.[1], 'market');
  const [, keyId, secret] = /^(PK[A-Z0-9]{1,40})\.([A-Za-z0-9]{1,80})$/.exec(token) ?? [];
  return keyId === undefined || secret === undefined
    ? { kind: 'TOKEN', token }
    : { kind: 'KEY_PAIR', keyId, secret };
}

/** A simulated market has no companies behind its symbols. */
const noFundamentals = reading(['symbols'], ({ head }) =>
  Promise.resolve(
    wantsJson(head)
      ? { status: 200, text: '[]' }
      : { ...plainText(200, '<items/>'), headers: { 'content-type': 'application/xml; charset=utf-8' } },
  ),
);

const ROUTES: readonly (readonly [DialectRoute['method'], string, DialectRoute['handle']])[] = [
  ['GET', '/v1/user/profile', getProfile],
  ['GET', '/v1/user/balances', balances.all],
  ['GET', '/v1/user/positions', positions.all],
  ['GET', '/v1/user/history', history.all],
  ['GET', '/v1/user/gainloss', gainLoss.all],
  ['GET', '/v1/user/orders', listUserOrders],
  ['GET', '/v1/accounts/:account/balances', balances.one],
  ['GET', '/v1/accounts/:account/positions', positions.one],
  ['GET', '/v1/accounts/:account/history', history.one],
  ['GET', '/v1/accounts/:account/gainloss', gainLoss.one],
  ['GET', '/v1/accounts/:account/orders', listOrders],
  ['POST', '/v1/accounts/:account/orders', placeOrder],
  ['GET', '/v1/accounts/:account/orders/:id', getOrder],
  ['PUT', '/v1/accounts/:account/orders/:id', changeOrder],
  ['DELETE', '/v1/accounts/:account/orders/:id', cancelOrder],
  ['GET', '/v1/markets/quotes', getQuotes],
  ['POST', '/v1/markets/quotes', getQuotes],
  ['GET', '/v1/markets/clock', getClock],
  ['GET', '/v1/markets/calendar', getCalendar],
  ['GET', '/v1/markets/history', getHistory],
  ['GET', '/v1/markets/timesales', getTimesales],
  ['GET', '/v1/markets/options/chains', getChain],
  ['GET', '/v1/markets/options/expirations', getExpirations],
  ['GET', '/v1/markets/options/strikes', getStrikes],
  ['GET', '/v1/markets/options/lookup', lookUpOptions],
  ['GET', '/v1/markets/search', search],
  ['GET', '/v1/markets/lookup', search],
  ['GET', '/v1/markets/etb', easyToBorrow],
  ['POST', '/v1/markets/events/session', openSession('market')],
  ['POST', '/v1/accounts/events/session', openSession('account')],
  ['GET', '/v1/watchlists', listWatchlists],
  ['POST', '/v1/watchlists', createWatchlist],
  ['GET', '/v1/watchlists/:id', getWatchlist],
  ['PUT', '/v1/watchlists/:id', updateWatchlist],
  ['DELETE', '/v1/watchlists/:id', deleteWatchlist],
  ['POST', '/v1/watchlists/:id/symbols', addSymbols],
  ['DELETE', '/v1/watchlists/:id/symbols/:symbol', removeSymbol],
  ['GET', '/beta/markets/fundamentals/:what', noFundamentals],
];

const STREAMS = (['GET', 'POST'] as const).map((method) => ({
  method,
  path: '/v1/markets/events',
  handle: streamMarket,
  credentialOfBody: (_head: Head, { sessionid }: Readonly<Record<string, unknown>>) =>
    sessionIn(sessionid, 'market'),
}));

const dialect: Dialect = {
  name: 'tradier',
  prefix: '/tradier',
  hosts: [
    'api.tradier.com',
    'sandbox.tradier.com',
    'stream.tradier.com',
    'ws.tradier.com',
    'sandbox-ws.tradier.com',
  ],
  routes: [...ROUTES.map(([method, path, handle]) => ({ method, path, handle })), ...STREAMS],
  bodies: ['form'],
  sockets: [
    { path: /^\/v1\/markets\/events$/, visit: (visit) => new MarketSocket(visit) },
    { path: /^\/v1\/accounts\/events$/, visit: (visit) => new AccountSocket(visit) },
  ],
  credentialOf,
  limitHeaders: ({ limit, remaining, resetSeconds, nowMs }) => [
    'x-ratelimit-allowed',
    String(limit),
    'x-ratelimit-used',
    String(limit - remaining),
    'x-ratelimit-available',
    String(remaining),
    'x-ratelimit-expiry',
    String(nowMs + resetSeconds * 1000),
  ],
  refuse: refusedByDoor,
  translate: translated,
};

export default dialect;
