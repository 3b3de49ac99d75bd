/** The brokerage, as the pages ask it: the SDK of this repository with one token. */
import type {
  CreateOrderBody,
  OperationId,
  OrderPreview,
  ReplyOf,
  Requirements,
  Scope,
} from '@sandpit/protocol';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { notedFetch } from './requests.ts';
import { type Arguments, OPERATIONS, Sandpit } from '@sandpit/client';
import { type Claims, MAIN } from './session.ts';

/** How long a page waits for a server that does not answer before it says so: less than until it asks again. */
const RETRY_MS = 2000;

/** One simulation, seen with one token. */
export class Broker extends Sandpit {
  readonly claims: Claims;

  constructor(token: string, claims: Claims) {
    super({ url: location.origin, token }, { fetch: notedFetch, retryForMs: RETRY_MS });
    this.claims = claims;
  }

  get simulationId(): string {
    return this.claims.simulationId;
  }

  may(scope: Scope): boolean {
    return this.claims.scopes.has(scope);
  }

  /** Whether the market and the clock may be moved. */
  get controlsMarket(): boolean {
    return this.may('simulate') && (this.simulationId !== MAIN || this.may('admin'));
  }

  /** One page of a list that has no parameters in its path, with the cursor of the page that follows. */
  async page<Id extends OperationId>(
    id: Id,
    query: Arguments<Id>['query'],
  ): Promise<{ readonly reply: ReplyOf<Id>; readonly nextCursor: string | undefined }> {
    const [method = 'GET', path = ''] = OPERATIONS[id].split(' ');
    const { body, nextCursor } = await this.transport.send({
      method,
      path,
      query: query as Readonly<Record<string, string>>,
    });
    return { reply: body as ReplyOf<Id>, nextCursor };
  }

  /** What placing an order would do (D42). */
  async preview(body: CreateOrderBody, signal: AbortSignal): Promise<OrderPreview> {
    const asked = { method: 'POST', path: '/v1/orders/preview', body, signal };
    return (await this.transport.send(asked)).body as OrderPreview;
  }

  /** The requirement of a portfolio, group by group (D43). */
  async margin(portfolioId: string): Promise<Requirements> {
    const path = `/v1/accounts/portfolios/${portfolioId}/margin`;
    return (await this.transport.send({ method: 'GET', path })).body as Requirements;
  }
}

export const BrokerContext = createContext<Broker | undefined>(undefined);

/** The broker of the page. */
export function useBroker(): Broker {
  const broker = useContext(BrokerContext);
  if (broker === undefined) throw new Error('no page without a broker');
  return broker;
}
