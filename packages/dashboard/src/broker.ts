/** The API client of the pages: the SDK of this repository with one token. */
import type { Scope } from '@sandpit/protocol';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { notedFetch } from './requests.ts';
import { PageClient } from './sent-once.ts';
import { type Claims, MAIN } from './session.ts';

/** Time after which a page reports an unresponsive server: less than the interval between requests. */
const RETRY_MS = 2000;

/** One simulation, seen with one token. */
export class Broker extends PageClient {
  readonly claims: Claims;

  constructor(token: string, claims: Claims) {
    super({ url: location.origin, token }, { fetch: notedFetch, retryForMs: RETRY_MS });
    this.claims = claims;
  }

  get simulationId(): string {
    return this.claims.simulationId;
  }

  /** A client of the same server with another token. */
  within(token: string): PageClient {
    return new PageClient({ url: location.origin, token }, { fetch: notedFetch, retryForMs: RETRY_MS });
  }

  may(scope: Scope): boolean {
    return this.claims.scopes.has(scope);
  }

  /** True when the market and the clock may be moved. */
  get controlsMarket(): boolean {
    return this.may('simulate') && (this.simulationId !== MAIN || this.may('admin'));
  }
}

export const BrokerContext = createContext<Broker | undefined>(undefined);

/** The broker of the page. */
export function useBroker(): Broker {
  const broker = useContext(BrokerContext);
  if (broker === undefined) throw new Error('no page without a broker');
  return broker;
}
