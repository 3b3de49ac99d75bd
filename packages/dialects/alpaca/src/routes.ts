/** The paths of Alpaca's trading API, and who answers them. */
import { changeConfiguration, getAccount, getConfiguration } from './account.js';
import { listActivities } from './activities.js';
import { corporateActions, getAnnouncement, listAnnouncements } from './announcements.js';
import {
  addToWatchlist,
  createWatchlist,
  deleteWatchlist,
  getAsset,
  getWatchlist,
  listAssets,
  listWatchlists,
  removeFromWatchlist,
  updateWatchlist,
} from './assets.js';
import { getCalendar, getClock, getClocks, getMarketCalendar } from './hours.js';
import {
  auctionsOfMany,
  auctionsOfOne,
  mostActives,
  movers,
  optionConditions,
  optionExchanges,
  stockConditions,
  stockExchanges,
} from './market-lists.js';
import {
  barsOfMany,
  barsOfOne,
  latestBar,
  latestBarsOf,
  latestOptionQuotes,
  latestOptionTrades,
  latestQuote,
  latestQuotes,
  latestTrade,
  latestTrades,
  emptyNews,
  quotesOfMany,
  quotesOfOne,
  snapshot,
  snapshots,
  tradesOfMany,
  tradesOfOne,
  tradesOfOptions,
} from './market-data.js';
import {
  getContract,
  latestOptionBars,
  listContracts,
  optionBars,
  optionChain,
  optionSnapshots,
} from './options.js';
import {
  cancelAllOrders,
  cancelOrder,
  getOrder,
  getOrderByClientId,
  listOrders,
  placeOrder,
  replaceOrder,
} from './orders.js';
import { getPortfolioHistory } from './portfolio-history.js';
import {
  closeAllPositions,
  closePosition,
  doNotExercise,
  exercise,
  getPosition,
  listPositions,
} from './positions.js';
import type { DialectRoute } from '@sandpit/dialect-port';
import { type AlpacaHandler, handled } from './request.js';
import { streamTradeEvents } from './trade-events.js';

/** `::` is a colon of the path itself. */
const ROUTES: readonly (readonly [DialectRoute['method'], string, AlpacaHandler])[] = [
  ['GET', '/v2/account', getAccount],
  ['GET', '/v2/account/configurations', getConfiguration],
  ['PATCH', '/v2/account/configurations', changeConfiguration],
  ['GET', '/v2/account/activities', listActivities],
  ['GET', '/v2/account/activities/:type', listActivities],
  ['GET', '/v2/account/portfolio/history', getPortfolioHistory],
  ['GET', '/v2/clock', getClock],
  ['GET', '/v3/clock', getClocks],
  ['GET', '/v2/calendar', getCalendar],
  ['GET', '/v3/calendar/:market', getMarketCalendar],
  ['GET', '/v2/corporate_actions/announcements', listAnnouncements],
  ['GET', '/v2/corporate_actions/announcements/:id', getAnnouncement],
  ['GET', '/v2/assets', listAssets],
  ['GET', '/v2/assets/:symbol', getAsset],
  ['POST', '/v2/orders', placeOrder],
  ['GET', '/v2/orders', listOrders],
  ['DELETE', '/v2/orders', cancelAllOrders],
  ['GET', '/v2/orders::by_client_order_id', getOrderByClientId],
  ['GET', '/v2/orders/:id', getOrder],
  ['PATCH', '/v2/orders/:id', replaceOrder],
  ['DELETE', '/v2/orders/:id', cancelOrder],
  ['GET', '/v2/positions', listPositions],
  ['DELETE', '/v2/positions', closeAllPositions],
  ['GET', '/v2/positions/:symbol', getPosition],
  ['DELETE', '/v2/positions/:symbol', closePosition],
  ['POST', '/v2/positions/:symbol/exercise', exercise],
  ['POST', '/v2/positions/:symbol/do-not-exercise', doNotExercise],
  ['GET', '/v2/watchlists', listWatchlists],
  ['POST', '/v2/watchlists', createWatchlist],
  ['GET', '/v2/watchlists::by_name', getWatchlist],
  ['PUT', '/v2/watchlists::by_name', updateWatchlist],
  ['POST', '/v2/watchlists::by_name', addToWatchlist],
  ['DELETE', '/v2/watchlists::by_name', deleteWatchlist],
  ['GET', '/v2/watchlists/:id', getWatchlist],
  ['PUT', '/v2/watchlists/:id', updateWatchlist],
  ['POST', '/v2/watchlists/:id', addToWatchlist],
  ['DELETE', '/v2/watchlists/:id', deleteWatchlist],
  ['DELETE', '/v2/watchlists/:id/:symbol', removeFromWatchlist],
  ['GET', '/v2/options/contracts', listContracts],
  ['GET', '/v2/options/contracts/:symbol', getContract],
  ['GET', '/v1/corporate-actions', corporateActions],
  ['GET', '/v1beta1/corporate-actions', corporateActions],
  ['GET', '/v1beta1/screener/stocks/most-actives', mostActives],
  ['GET', '/v1beta1/screener/:market/movers', movers],
  ['GET', '/v2/stocks/meta/exchanges', stockExchanges],
  ['GET', '/v2/stocks/meta/conditions/:ticktype', stockConditions],
  ['GET', '/v2/stocks/auctions', auctionsOfMany],
  ['GET', '/v2/stocks/:symbol/auctions', auctionsOfOne],
  ['GET', '/v2/stocks/bars', barsOfMany],
  ['GET', '/v2/stocks/quotes', quotesOfMany],
  ['GET', '/v2/stocks/trades', tradesOfMany],
  ['GET', '/v2/stocks/bars/latest', latestBarsOf],
  ['GET', '/v2/stocks/quotes/latest', latestQuotes],
  ['GET', '/v2/stocks/trades/latest', latestTrades],
  ['GET', '/v2/stocks/snapshots', snapshots],
  ['GET', '/v2/stocks/:symbol/bars', barsOfOne],
  ['GET', '/v2/stocks/:symbol/quotes', quotesOfOne],
  ['GET', '/v2/stocks/:symbol/trades', tradesOfOne],
  ['GET', '/v2/stocks/:symbol/bars/latest', latestBar],
  ['GET', '/v2/stocks/:symbol/quotes/latest', latestQuote],
  ['GET', '/v2/stocks/:symbol/trades/latest', latestTrade],
  ['GET', '/v2/stocks/:symbol/snapshot', snapshot],
  ['GET', '/v1beta1/options/bars', optionBars],
  ['GET', '/v1beta1/options/bars/latest', latestOptionBars],
  ['GET', '/v1beta1/options/quotes/latest', latestOptionQuotes],
  ['GET', '/v1beta1/options/trades/latest', latestOptionTrades],
  ['GET', '/v1beta1/options/trades', tradesOfOptions],
  ['GET', '/v1beta1/options/meta/exchanges', optionExchanges],
  ['GET', '/v1beta1/options/meta/conditions/:ticktype', optionConditions],
  ['GET', '/v1beta1/options/snapshots', optionSnapshots],
  ['GET', '/v1beta1/options/snapshots/:underlying', optionChain],
  ['GET', '/v1beta1/news', emptyNews],
];

export const alpacaRoutes: readonly DialectRoute[] = ROUTES.map(([method, path, handler]) => ({
  method,
  path,
  handle: handled(handler),
}));

/** Routes whose answers are streams. */
export const alpacaStreams: readonly DialectRoute[] = [
  { method: 'GET', path: '/v2/events/trades', handle: handled(streamTradeEvents) },
];
