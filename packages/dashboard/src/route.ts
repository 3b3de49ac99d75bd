/** The current location: every view has an address behind `#`. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { MAIN } from './session.ts';

export interface DashboardRoute {
  readonly simulationId: string;
  /** `portfolio`, `0192…`: the parts of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** `#/~sim/portfolio/0192…?tab=orders`; without `~sim` it is the main simulation. */
export function routeOf(hash: string): DashboardRoute {
  const [pathText = '', queryText = ''] = hash.replace(/^#?\/?/, '').split('?');
  const parts = pathText.split('/').filter((part) => part !== '');
  const simulation = parts[0]?.startsWith('~') === true ? parts.shift()?.slice(1) : undefined;
  return {
    simulationId: simulation ?? MAIN,
    path: parts.map(decoded),
    query: new URLSearchParams(queryText),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** The address of a location. */
export function hrefOf(simulationId: string, path: string, query: Query = {}): string {
  const texts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const queryText = new URLSearchParams(texts).toString();
  const start = simulationId === MAIN ? '#/' : `#/~${simulationId}/`;
  return `${start}${path}${queryText === '' ? '' : `?${queryText}`}`;
}

export const go = (href: string): void => {
  location.hash = href;
};

/** Changes the query of the current location; undefined and empty values are removed. Adds nothing to the history. */
export function setQuery(changes: Query): void {
  const [path = '#/', queryText = ''] = location.hash.split('?');
  const query = new URLSearchParams(queryText);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, String(value));
  }
  const text = query.toString();
  history.replaceState(null, '', `${path === '' ? '#/' : path}${text === '' ? '' : `?${text}`}`);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): DashboardRoute {
  const [hash, setHash] = useState(location.hash);
  const place = useMemo(() => routeOf(hash), [hash]);
  // In the task of the first drawing, so that no change of the address is missed.
  useLayoutEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return place;
}
