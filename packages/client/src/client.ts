import type {
  BodyOf,
  CreatePortfolioBody,
  HaltEvent,
  OperationId,
  OrderUpdate,
  ParamsOf,
  PortfolioUpdate,
  Quote,
  QueryOf,
  ReplyOf,
  ResumeEvent,
} from '@sandpit/protocol';
import { follow, type FollowOptions } from './events.js';
import { SandpitError } from './errors.js';
import { OPERATIONS } from './operations.js';
import { OrderWatch } from './order-watch.js';
import { Order } from './order.js';
import { Portfolio } from './portfolio.js';
import { type Access, type NdjsonFile, Transport, type TransportOptions } from './transport.js';

/** Arguments of an operation: its path, query and body parameters. Those with a default may be omitted. */
export type Arguments<Id extends OperationId> = (ParamsOf<Id> extends undefined
  ? { readonly params?: undefined }
  : { readonly params: ParamsOf<Id> }) & {
  readonly query?: Partial<QueryOf<Id>> | undefined;
  readonly body?: BodyOf<Id>;
  /** Idempotency key of a POST; drawn when absent, if the request may be retried. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

/** A halt of trading in a symbol, or its end. */
export type HaltUpdate =
  ({ readonly event: 'halt' } & HaltEvent) | ({ readonly event: 'resume' } & ResumeEvent);

/** A page of a list, and where the next one begins. */
type Listing<Id extends OperationId> = ReplyOf<Id> extends { data: (infer Item)[] } ? Item : never;

/** A Sandpit, by one token. */
export class Sandpit {
  readonly transport: Transport;
  readonly #watch: OrderWatch;

  constructor(access: Access, options: TransportOptions = {}) {
    this.transport = new Transport(access, options);
    this.#watch = new OrderWatch(this);
  }

  /** Calls any operation of the API by its name. POSTs that may be retried carry an `Idempotency-Key`, so that a retry has no second effect. */
  async call<Id extends OperationId>(
    id: Id,
    ...[given]: ParamsOf<Id> extends undefined ? [Arguments<Id>?] : [Arguments<Id>]
  ): Promise<ReplyOf<Id>> {
    return (await this.#send(id, given ?? ({} as Arguments<Id>))).body as ReplyOf<Id>;
  }

  /** One page of a list, with the `cursor` of the one that follows. */
  async page<Id extends OperationId>(
    id: Id,
    ...[given]: ParamsOf<Id> extends undefined ? [Arguments<Id>?] : [Arguments<Id>]
  ): Promise<{ readonly reply: ReplyOf<Id>; readonly nextCursor: string | undefined }> {
    const { body, nextCursor } = await this.#send(id, given ?? ({} as Arguments<Id>));
    return { reply: body as ReplyOf<Id>, nextCursor };
  }

  /** Every item of a list, page after page, without omissions or repetitions even if items are added. */
  async *list<Id extends OperationId>(
    id: Id,
    ...[given]: ParamsOf<Id> extends undefined ? [Arguments<Id>?] : [Arguments<Id>]
  ): AsyncGenerator<Listing<Id>, void, undefined> {
    let cursor: string | undefined;
    do {
      const query = { limit: 500, ...given?.query, ...(cursor !== undefined && { cursor }) };
      const { body, nextCursor } = await this.#send(id, { ...given, query } as unknown as Arguments<Id>);
      yield* (body as { readonly data: readonly Listing<Id>[] }).data;
      cursor = nextCursor;
    } while (cursor !== undefined);
  }

  /** A whole list as streamed CSV: all rows, regardless of `limit`. For paged lists, and those of positions, lots and bars. */
  async csv<Id extends OperationId>(id: Id, given: Arguments<Id>): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#file(id, given, 'text/csv');
    if (body === null) throw new SandpitError('The CSV has no body');
    return body as ReadableStream<Uint8Array>;
  }

  /** The report of a portfolio: a self-contained page of HTML. */
  async report(
    portfolioId: string,
    query: Partial<QueryOf<'getReport'>> = {},
    signal?: AbortSignal,
  ): Promise<string> {
    const given = { params: { portfolioId }, query, ...(signal !== undefined && { signal }) };
    return (await this.#file('getReport', given, 'text/html')).text();
  }

  /** Imports the CSV file of a broker into an empty portfolio. */
  async importCsv(
    portfolioId: string,
    csv: string,
    query: Arguments<'importPositions'>['query'] = {},
  ): Promise<ReplyOf<'importPositions'>> {
    const { method, path } = routeOf('importPositions', { params: { portfolioId }, body: {} });
    const { body } = await this.transport.send({
      method,
      path,
      query: query,
      csv,
    });
    return body as ReplyOf<'importPositions'>;
  }

  /** Opens a portfolio: by default CASH, INDIVIDUAL and at the default broker, in a new account unless it names one. */
  async openPortfolio({
    cash,
    ...terms
  }: Partial<CreatePortfolioBody> & { readonly cash?: number } = {}): Promise<Portfolio> {
    const { portfolioId } = await this.call('createPortfolio', {
      body: {
        accountId: globalThis.crypto.randomUUID(),
        portfolioType: 'CASH',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
        ...(cash !== undefined && { initialCash: cash }),
        ...terms,
      },
    });
    return this.portfolio(portfolioId);
  }

  /** An existing portfolio. Sends no request yet. */
  portfolio(portfolioId: string): Portfolio {
    return new Portfolio(this, portfolioId);
  }

  /** The current state of an order. */
  async order(orderId: string): Promise<Order> {
    return new Order(this, await this.call('getOrder', { params: { orderId } }));
  }

  /** The quote in force. */
  quote(symbol: string): Promise<Quote> {
    return this.call('getQuote', { params: { symbol } });
  }

  /**
   * One step of a simulation with a manual clock (D174): places orders, cancels, pushes quotes, advances the clock, then reads. If the
   * server stops before the instant or event, the step continues from there and joins the `events`; after `advance.by`, `hasMore` may be
   * true.
   */
  async step(body: BodyOf<'stepSimulation'> = {}, signal?: AbortSignal): Promise<ReplyOf<'stepSimulation'>> {
    const options = signal === undefined ? {} : { signal };
    let result = await this.call('stepSimulation', { body, ...options });
    const { advance, observe } = body;
    const on = { ...(advance && { advance }), ...(observe && { observe }) };
    const { orders, cancels, events } = result;
    while (result.hasMore && advance?.by === undefined) {
      const later = await this.call('stepSimulation', { body: on, ...options });
      events.push(...later.events);
      result = { ...later, orders, cancels, events };
    }
    return result;
  }

  /** The file of a simulation, as it comes: lines of JSON that `importSimulation` accepts, here or on another server. */
  async exportSimulation(simulationId: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const url = `${this.transport.baseUrl}/v1/simulations/${encodeURIComponent(simulationId)}/export`;
    const { body } = await this.transport.open('GET', url, {}, undefined, signal);
    if (body === null) throw new SandpitError('The export has no body');
    return body as ReadableStream<Uint8Array>;
  }

  /** The file of a finished competition, that `sandpit competition verify` checks. */
  async exportCompetition(competitionId: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const url = `${this.transport.baseUrl}/v1/competitions/${encodeURIComponent(competitionId)}/export`;
    const { body } = await this.transport.open('GET', url, {}, undefined, signal);
    if (body === null) throw new SandpitError('The export has no body');
    return body as ReadableStream<Uint8Array>;
  }

  /** The file of an evaluation whose cells have all ended, that `sandpit eval verify` checks. */
  async exportEvaluation(evaluationId: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const url = `${this.transport.baseUrl}/v1/evaluations/${encodeURIComponent(evaluationId)}/export`;
    const { body } = await this.transport.open('GET', url, {}, undefined, signal);
    if (body === null) throw new SandpitError('The export has no body');
    return body as ReadableStream<Uint8Array>;
  }

  /** Creates a simulation from a file. `getSimulation` shows its `status`: IMPORTING, then READY or FAILED. Not tried again. */
  async importSimulation(file: NdjsonFile, signal?: AbortSignal): Promise<ReplyOf<'importSimulation'>> {
    return (await this.transport.upload(
      '/v1/simulations/import',
      file,
      signal,
    )) as ReplyOf<'importSimulation'>;
  }

  /** Order events from now on, or from `lastEventId`. */
  orderEvents(
    filter: { readonly accountId?: string; readonly portfolioId?: string } = {},
    options: FollowOptions = {},
  ): AsyncGenerator<OrderUpdate & { readonly eventId: string }, void, undefined> {
    return this.#follow<OrderUpdate>('/v1/stream/orders', filter, options);
  }

  /** Portfolios with their positions: the current state, then changes. At most 100 by id. */
  portfolioEvents(
    of:
      | { readonly accountId: string }
      | { readonly portfolioId: string }
      | { readonly portfolioIds: readonly string[] },
    options: FollowOptions = {},
  ): AsyncGenerator<PortfolioUpdate & { readonly eventId: string }, void, undefined> {
    const query = 'portfolioIds' in of ? { portfolioIds: of.portfolioIds.join(',') } : { ...of };
    return this.#follow<PortfolioUpdate>('/v1/stream/portfolios', query, options);
  }

  /** Quotes of up to 100 symbols: those in force, then as they change. */
  quoteEvents(
    symbols: readonly string[],
    options: FollowOptions = {},
  ): AsyncGenerator<Quote & { readonly eventId: string }, void, undefined> {
    return this.#follow<Quote>('/v1/stream/quotes', { symbols: symbols.join(',') }, options, ['quote']);
  }

  /** Halts of trading in up to 100 symbols, and their ends: those in force, then as they come. */
  haltEvents(
    symbols: readonly string[],
    options: FollowOptions = {},
  ): AsyncGenerator<HaltUpdate & { readonly eventId: string }, void, undefined> {
    const query = { symbols: symbols.join(',') };
    return this.#follow<HaltUpdate>('/v1/stream/quotes', query, options, ['halt', 'resume']);
  }

  /** Waits for an order to be over, by the stream: it never polls. */
  settled(orderId: string, signal?: AbortSignal): ReturnType<OrderWatch['over']> {
    return this.#watch.over(orderId, signal);
  }

  async *#follow<Data extends object>(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    options: FollowOptions,
    /** Events of these names only, each with its name if there are several; absent = all. */
    names?: readonly string[],
  ): AsyncGenerator<Data & { readonly eventId: string }, void, undefined> {
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const parameters = new URLSearchParams(given).toString();
    const whole = parameters === '' ? path : `${path}?${parameters}`;
    for await (const { id, event, data } of follow(this.transport, whole, options)) {
      if (event === 'reset')
        throw new SandpitError(
          'Events after the last one are no longer retained: read the current state, then follow again',
        );
      if (names?.includes(event) === false) continue;
      yield { ...(names !== undefined && names.length > 1 && { event }), ...(data as Data), eventId: id };
    }
  }

  #file<Id extends OperationId>(id: Id, given: Arguments<Id>, accept: string): Promise<Response> {
    const { path } = routeOf(id, given);
    const query = given.query as Readonly<Record<string, string>> | undefined;
    const url = this.transport.urlOf(query === undefined ? { path } : { path, query });
    return this.transport.open('GET', url, { accept }, undefined, given.signal);
  }

  #send<Id extends OperationId>(id: Id, given: Arguments<Id>) {
    const { method, path } = routeOf(id, given);
    const { query, body, idempotencyKey, signal } = given;
    return this.transport.send({
      method,
      path,
      query: query as Readonly<Record<string, string>>,
      ...(body !== undefined && { body }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(signal !== undefined && { signal }),
    });
  }
}

/** Method of an operation, and its path with the names in it. */
function routeOf<Id extends OperationId>(
  id: Id,
  given: Arguments<Id>,
): { readonly method: string; readonly path: string } {
  const [method = '', template = ''] = OPERATIONS[id].split(' ');
  const params = (given.params ?? {}) as Readonly<Record<string, string>>;
  const path = template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return { method, path };
}
