import { hrefOf, routeOf } from '../route.ts';

/** Fields that belong to the previous symbol of the ticket only. */
const OF_SYMBOL = [
  'symbol',
  'limit',
  'stop',
  'target',
  'guard',
  'guardLimit',
  'legs',
  'strategy',
  'expiration',
  'contract',
];

/** The address of another symbol on the trade page; side, quantity and portfolio stay. */
export function symbolHref(symbol: string): string {
  const { simulationId, query } = routeOf(location.hash);
  const kept = [...query].filter(([name]) => !OF_SYMBOL.includes(name));
  return hrefOf(simulationId, `trade/${encodeURIComponent(symbol)}`, Object.fromEntries(kept));
}

/** Shows another symbol without an entry in the history, so that Back leaves the page. */
export function openSymbol(symbol: string): void {
  history.replaceState(null, '', symbolHref(symbol));
  dispatchEvent(new HashChangeEvent('hashchange'));
}
