/** The paths of Alpaca's trading API, and who answers them. */
import { changeConfiguration, getAccount, getConfiguration } from './account.js';
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
  cancelAllOrders,
  cancelOrder,
  getOrder,
  getOrderByClientId,
  listOrders,
  placeOrder,
  replaceOrder,
} from './orders.js';
import { closeAllPositions, closePosition, getPosition, listPositions } from './positions.js';
import type { AlpacaHandler } from './request.js';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `::` is a colon of the path itself. */
export const alpacaRoutes: readonly (readonly [Method, string, AlpacaHandler])[] = [
  ['GET', '/v2/account', getAccount],
  ['GET', '/v2/account/configurations', getConfiguration],
  ['PATCH', '/v2/account/configurations', changeConfiguration],
  ['GET', '/v2/clock', getClock],
  ['GET', '/v3/clock', getClocks],
  ['GET', '/v2/calendar', getCalendar],
  ['GET', '/v3/calendar/:market', getMarketCalendar],
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
];
