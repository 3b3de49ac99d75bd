import { randomUUID } from 'node:crypto';
import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import type { Dialect } from '@sandpit/dialect-port';
import { type OperationId, pathsOf, type Route, routeEntries } from '@sandpit/protocol';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { Competitions } from '../competitions/competitions.js';
import { Evaluations } from '../evaluations/evaluations.js';
import { type CompareHere, Comparisons } from '../engine/comparisons/comparisons.js';
import { Invitations } from '../invitations/invitations.js';
import { LONG_WORK } from '../engine/scheduling/long-work.js';
import { RequirementWorkers } from '../engine/scheduling/requirement-workers.js';
import { KeyGrants } from './dialects/key-grants.js';
import { KeyPairs } from '../access/key-pairs.js';
import { Admission, type Charge } from './admission.js';
import { RecordingsInUse } from './recordings-in-use.js';
import { ROUTE_NOT_FOUND } from './answer.js';
import { Analytics } from './analytics/analytics.js';
import type { Principal } from './auth.js';
import { Bodies } from './bodies/bodies.js';
import { planOf } from './bodies/body-plan.js';
import { parseJsonBodies } from './body.js';
import type { Handlers, Issuers } from './call.js';
import {
  answerBrokenRequest,
  answerExpectation,
  answerOnSocket,
  brokenHead,
  trackResponses,
} from './client-error.js';
import { guardConnections } from './connections.js';
import { allowOrigin } from './cors.js';
import { type DashboardFiles, registerDashboard } from './dashboard.js';
import { type DialectDeps, mountDialect, refusesUrl } from './dialects/mount-dialect.js';
import { addPrefixes, withPrefix } from './dialects/hosts.js';
import { openMirror } from './dialects/mirror.js';
import { Operations } from './dialects/operations.js';
import { DialectPorts } from './dialects/ports.js';
import { Sessions } from './dialects/sessions.js';
import { Sockets } from './dialects/sockets.js';
import type { IssueDemoToken } from './demo-token.js';
import { API_REFERENCE, registerDocs } from './docs.js';
import { type DocsSite, registerDocsSite } from './docs-site.js';
import { Faults } from './faults.js';
import { Idempotency } from './idempotency.js';
import { LocalMemberWork } from './invitations/local-work.js';
import { NodeWork } from './invitations/node-work.js';
import type { Places } from './competition-refusals.js';
import { cellWork } from './evaluation-cells.js';
import { KnownBrowsers } from './known-browsers.js';
import { KnownMethods } from './known-methods.js';
import { LateRoutes } from './late-routes.js';
import type { LoginLinks } from './login-links.js';
import type { Traffic } from './metrics.js';
import { NO_SCHEMAS } from './no-schemas.js';
import { failed, type OnRefusal, reply as send } from './reply.js';
import { accountHandlers } from './routes/accounts.js';
import { Rates } from './agents/rates.js';
import { registerTools } from './mcp/register.js';
import { agentTokenIssuer, authHandlers, ticketIssuer } from './routes/auth.js';
import { faultHandlers } from './routes/faults.js';
import { analyticsHandlers } from './routes/analytics.js';
import { executionQualityHandlers } from './routes/execution-quality.js';
import { fixtureHandlers } from './routes/fixtures.js';
import { importHandlers } from './routes/imports.js';
import { historyHandlers } from './routes/history.js';
import { marginHandlers } from './routes/margin.js';
import { marketDataHandlers } from './routes/market-data.js';
import { optionHandlers } from './routes/options.js';
import { orderBatchHandlers } from './routes/order-batch.js';
import { orderListHandlers } from './routes/order-lists.js';
import { orderHandlers } from './routes/orders.js';
import { portfolioHandlers } from './routes/portfolios.js';
import { keyPairHandlers, keyPairIssuer } from './routes/key-pairs.js';
import { Health, serviceHandlers } from './routes/service.js';
import { alertHandlers } from './routes/alerts.js';
import { outcomeHandlers } from './routes/outcomes.js';
import { reportHandlers } from './routes/report.js';
import { simulationHandlers } from './routes/simulation.js';
import { simulationIssuer, simulationsHandlers } from './routes/simulations.js';
import { type CompetitionId, competitionHandlers, competitionIssuer } from './routes/competitions.js';
import { type EvaluationId, evaluationHandlers, evaluationIssuer } from './routes/evaluations.js';
import { type InvitationId, invitationHandlers, invitationIssuer, WrongCodes } from './routes/invitations.js';
import { RecentTraffic } from './recent-traffic.js';
import { RequestLimit, withLimit } from './request-limit.js';
import { clusterHandlers } from './routes/cluster.js';
import { serverHandlers } from './routes/server.js';
import { comparisonHandlers } from './routes/comparisons.js';
import { stepHandlers } from './routes/steps.js';
import { streamHandlers } from './routes/streams.js';
import { webhookHandlers, webhookIssuer } from './routes/webhooks.js';
import { serve, type Widen } from './serve.js';
import type { HttpDeps } from './settings.js';
import { Streams } from './stream/streams.js';
import { Tickets } from './tickets.js';
import { webhookMessages } from './translate/webhook-messages.js';
import { realTimers, type Timers } from '../webhooks/timers.js';
import { Webhooks } from '../webhooks/webhooks.js';
import type { Resolve } from '../webhooks/addresses.js';
import type { Cluster } from '../cluster/cluster.js';
import { storedPart } from '../store/store.js';
import type { LocalTenants } from '../cluster/tenant-placement.js';
import { type ClusterSettings, joinCluster } from './cluster/join-cluster.js';

/** The longest head that the parser accepts: the validator limits the length of parameters. */
const MAX_PARAMETER_LENGTH = maxHeaderSize;

export interface AppDeps extends HttpDeps {
  /** APIs of other services, in front of the same brokerage. */
  readonly dialects: readonly Dialect[];
  readonly log?: FastifyBaseLogger;
  /** Absent = requests are not counted. */
  readonly traffic?: Pick<Traffic, 'count'> | undefined;
  /** URL of this server in the OpenAPI document; absent = the origin that serves the document. */
  readonly publicUrl?: string;
  readonly version?: string;
  /** The dashboard at `/`; absent = the answer for programs. */
  readonly dashboard?: DashboardFiles | undefined;
  readonly loginLinks?: LoginLinks;
  /** The documentation site at `/docs`; without a build, `/docs` leads to the API reference. */
  readonly docsSite: DocsSite;
  /** Issues the token of the API reference; absent = its reader enters one. */
  readonly issueDemoToken?: IssueDemoToken;
  /** Receives every refused request. */
  readonly onRefusal?: OnRefusal;
  /** A line in the log for every request. */
  readonly isAccessLogged?: boolean;
  /** Where the data is; absent = in memory. */
  readonly dataDir?: string | undefined;
  /** Real time for the deliveries of webhooks; absent = the machine's. */
  readonly webhookTimers?: Timers;
  /** Another way to resolve the names of receivers. */
  readonly resolve?: Resolve;
  /** Everything is done on this thread: how comparisons are (D256). Absent = in threads. */
  readonly compareHere?: CompareHere | undefined;
  /** This node among others; absent = this server is alone. */
  readonly cluster?: { readonly cluster: Cluster; readonly settings: ClusterSettings } | undefined;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts requests for the metrics server; undefined = there is none. */
    traffic: Pick<Traffic, 'count'> | undefined;
    /** Figures of the last minute; absent outside of the API. */
    recent: RecentTraffic | undefined;
    /** Receives errors. */
    logger: FastifyBaseLogger | undefined;
    onRefusal: OnRefusal | undefined;
    isAccessLogged: boolean;
    /** Receives and parses bodies. */
    bodies: Bodies;
    /** From now on everything but health returns 503. */
    beginDrain: () => void;
    /** The node serves its tenants from now on. */
    noteBegun: () => void;
    openStreams: () => number;
    /** Ends all streams. */
    endStreams: () => void;
    webhookFigures: () => ReturnType<Webhooks['figures']>;
    /** False while another node may own the tenants of this one; answers must wait then. */
    mayAnswer: (() => boolean) | undefined;
    /** State that this node loads and drops with its tenants; undefined = the node serves all tenants. */
    localTenants: LocalTenants | undefined;
    /** Webhooks have come into the store with a tenant. */
    enterWebhooks: (tenantId: string) => Promise<void>;
    /** Ports of dialects whose protocols are no HTTP. */
    dialectPorts: DialectPorts;
    /** Deletes all data of a tenant, the competitions that it organizes included. */
    eraseTenant: (tenantId: string) => Promise<void>;
  }
  interface FastifyRequest {
    /** On the monotonic clock. */
    beganMs: number | undefined;
  }
}

/** Fields that this server adds to requests. */
const REQUEST_FIELDS = [
  'principal',
  'simulation',
  'operation',
  'window',
  'limits',
  'beganMs',
  'cors',
  'ticket',
  'fault',
  'onAnswered',
  'admitted',
] as const;

/** Dependencies shared by all Fastify instances of a service. */
interface Shared {
  readonly faults: Faults;
  readonly bodies: Bodies;
  readonly recent: RecentTraffic;
}

/**
 * An instance without routes, with the hooks and parsers of all. `late` = the first instance, which passes requests on; absent = one of those
 * that receive them.
 */
function newInstance(
  deps: AppDeps,
  { faults, bodies, recent }: Shared,
  late?: LateRoutes,
): { readonly app: FastifyInstance; readonly methods: KnownMethods } {
  const app = fastify({
    // The framework's logger would create one per request; errors are logged in `reply.ts`.
    logger: false,
    // A HEAD request gets the head of the response to GET (D280).
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestIdOf,
    requestTimeout: 20_000,
    keepAliveTimeout: 65_000,
    // Node's own answer to a request without a host is not in the contract's form.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5000, requireHostHeader: false },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    schemaController: NO_SCHEMAS,
    rewriteUrl: (request) => withPrefix(deps.dialects, request),
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      if (!refusesUrl(deps.dialects, request, reply)) failed(request, reply, error);
    },
  }) as unknown as FastifyInstance;
  for (const name of REQUEST_FIELDS) app.decorateRequest(name, undefined);
  app.decorate('traffic', deps.traffic);
  app.decorate('recent', recent);
  app.decorate('logger', deps.log);
  app.decorate('onRefusal', deps.onRefusal);
  app.decorate('isAccessLogged', deps.isAccessLogged === true && deps.log !== undefined);
  app.decorate('mayAnswer', () => deps.store.mayAnswer?.() ?? true);
  app.decorate('bodies', bodies);
  app.addHook('onRequest', (request, reply, done) => {
    if (late?.serve(request, reply) === true) return;
    request.beganMs = performance.now();
    LONG_WORK.began(request.beganMs);
    if (allowOrigin(deps.settings.corsOrigins, request, reply)) return;
    const refused = brokenHead(request.raw);
    if (refused === undefined) done();
    else send(request, reply, refused);
  });
  parseJsonBodies(app, bodies);
  const methods = new KnownMethods(app);
  app.setNotFoundHandler((request, reply) => send(request, reply, methods.refusalOf(request.url)));
  app.setErrorHandler((error, request, reply) => failed(request, reply, error));
  app.addHook('preHandler', faults.strike);
  return { app, methods };
}

/** The whole HTTP surface: every operation of the table of routes, and the pages that describe them. */
export async function createApp(given: AppDeps): Promise<FastifyInstance> {
  const limit = new RequestLimit(given.store.registry, given.settings.rateLimitDefault);
  const deps: AppDeps = { ...given, settings: withLimit(given.settings, limit) };
  const late = new LateRoutes();
  const faults = new Faults();
  const shared: Shared = {
    faults,
    bodies: new Bodies(deps.settings.bytesPerTenant, deps.monotonicMs),
    recent: new RecentTraffic(performance.now()),
  };
  const { app, methods } = newInstance(deps, shared, late);
  app.server.on('checkExpectation', answerExpectation);
  app.server.on('connect', (_request: unknown, socket: Socket) => answerOnSocket(socket, ROUTE_NOT_FOUND));

  const health = new Health(deps);
  const { store } = deps;
  const tickets = new Tickets(deps.access, deps.clockMs, store.tickets);
  const streams = new Streams(deps, tickets);
  if (deps.cluster !== undefined) health.isBegun = false;
  app.decorate('noteBegun', () => void (health.isBegun = true));
  app.decorate('beginDrain', () => void (health.isDraining = true));
  app.decorate('openStreams', () => streams.count);
  app.decorate('endStreams', () => streams.close());
  app.addHook('preClose', (done) => {
    health.isDraining = true;
    streams.close();
    faults.close();
    done();
  });
  const competitions = Competitions.start({
    ...deps,
    note: (text) => deps.log?.warn(text),
  });
  app.addHook('onClose', () => competitions.close());
  const evaluations = Evaluations.start({
    ...deps,
    work: cellWork(deps.store),
    note: (text) => deps.log?.warn(text),
  });
  app.addHook('onClose', () => evaluations.close());
  const places: Places = {
    placeOf: (simulationId) =>
      competitions.directory.placeOf(simulationId) ?? evaluations.directory.placeOf(simulationId),
  };
  const analytics = new Analytics(deps.store, deps.simulations.entries);
  app.addHook('onClose', () => analytics.close());
  const { cluster, dashboard } = deps;
  const memberWork = new LocalMemberWork({
    ...deps,
    competitions,
    analytics,
    eraseTenant: (tenantId) => app.eraseTenant(tenantId),
    seenAt: (memberId) => invitations.seenAt(memberId),
  });
  const nodeWork =
    cluster &&
    new NodeWork(cluster.cluster, {
      work: memberWork,
      joinHere: (request) => invitations.joinHere(request),
    });
  const invitations: Invitations = new Invitations({
    ...deps,
    competitions,
    work: memberWork,
    ...(nodeWork !== undefined && { elsewhere: nodeWork }),
    maxMembers: deps.settings.maxMembers,
  });
  app.addHook('onClose', () => invitations.close());
  const recordings = new RecordingsInUse(deps.simulations.entries, [competitions.directory]);
  const counted = ({ isEntry, simulationId }: Principal): void => {
    if (isEntry === true) evaluations.runs.admitted(simulationId);
  };
  const admission = new Admission(deps, tickets, health, places, recordings, (principal) => {
    const { keyId } = principal.origin;
    if (keyId !== undefined) invitations.seen(keyId);
    counted(principal);
  });
  const idempotency = new Idempotency(deps.store, deps.clockMs);
  const desk = new RequirementWorkers(deps.compareHere !== undefined);
  app.addHook('onClose', () => desk.stop());
  const comparisons = new Comparisons(deps.store, deps.clockMs, undefined, deps.compareHere);
  app.addHook('onClose', () => comparisons.close());
  const keyPairs = new KeyPairs(deps.store.registry, deps.access, deps.clockMs);
  const grants = new KeyGrants(keyPairs, deps.settings.jwtSecret ?? '', deps.clockMs);
  const webhooks = await Webhooks.start({
    store: storedPart(deps.store),
    simulations: deps.simulations,
    translator: webhookMessages,
    addresses: {
      allowPrivate: deps.settings.webhookAllowPrivate,
      ownPorts: () => [portOf(app.server.address()), deps.cluster?.settings.listener.port],
      nodeUrls: () => deps.store.ownership?.nodes.map(({ url }) => url) ?? [],
      ...(deps.resolve !== undefined && { resolve: deps.resolve }),
    },
    timers: deps.webhookTimers ?? realTimers,
    chance: Math.random,
    note: (webhookId, text) => deps.log?.warn({ webhookId }, text),
  });
  app.addHook('onClose', () => webhooks.close());
  app.decorate('webhookFigures', () => webhooks.figures());
  app.decorate('enterWebhooks', (tenantId: string) => webhooks.enterTenant(tenantId));
  app.decorate('eraseTenant', async (tenantId: string) => {
    keyPairs.forgetTenant(tenantId);
    await comparisons.eraseTenant(tenantId);
    await invitations.eraseTenant(tenantId);
    await competitions.eraseTenant(tenantId);
    await evaluations.creation.eraseTenant(tenantId);
    await deps.simulations.tenants.erase(tenantId);
  });
  const wrongCodes = new WrongCodes(deps.monotonicMs);
  const invitationDeps = { invitations, competitions, work: memberWork, wrongCodes };
  const handlers: Handlers = {
    ...handlersOf(
      deps,
      health,
      streams,
      faults,
      admission.charge,
      desk,
      analytics,
      keyPairs,
      places,
      recordings,
      competitions,
    ),
    ...comparisonHandlers(deps.simulations, comparisons, places, recordings),
    ...webhookHandlers(webhooks, deps.simulations.entries),
    ...serverHandlers({
      ...deps,
      recent: shared.recent,
      limit,
      openStreams: () => app.openStreams(),
      webhookFigures: () => app.webhookFigures(),
      nodeId: deps.cluster?.settings.nodeId,
    }),
    ...competitionHandlers(deps, competitions, streams, recordings),
    ...evaluationHandlers(deps, evaluations),
    ...invitationHandlers(deps, invitationDeps),
  };
  const issuers: Issuers = {
    ...simulationIssuer(deps),
    ...ticketIssuer(tickets),
    ...agentTokenIssuer(deps),
    ...keyPairIssuer(keyPairs),
    ...webhookIssuer(webhooks),
    ...competitionIssuer(deps, competitions),
    ...evaluationIssuer(deps, evaluations),
    ...invitationIssuer(deps, invitationDeps),
  };
  const serving = (id: OperationId, route: Route, widen?: Widen) =>
    serve(id, route, handlers[id], idempotency, issuers[id as keyof Issuers], widen);
  for (const [id, route] of routeEntries) {
    const onRequest = admission.for(id, route);
    const handler = serving(id, route);
    const config = { body: planOf(route), operation: id };
    for (const [, url] of pathsOf(id, route))
      app.route({ method: route.method, url, config, onRequest, handler });
  }
  const operations = new Operations(handlers, places, recordings, deps.simulations.entries, idempotency);
  const sockets = new Sockets(app);
  const dialectDeps: DialectDeps = {
    ...deps,
    operations,
    registry: store.registry,
    keyPairs,
    grants,
    session: admission.session(),
    sessions: new Sessions(deps.clockMs),
    sockets,
    streams,
    faults,
    recordings,
    onAdmitted: counted,
    isDraining: () => health.isDraining,
    placement: cluster?.cluster.placement,
  };
  const ports = new DialectPorts({ ...dialectDeps, log: deps.log });
  app.decorate('dialectPorts', ports);
  app.addHook('preClose', (done) => {
    ports.close();
    done();
  });
  /** Adds a part: registered at its first request, but in a cluster at once, for the gateway has to know all routes. */
  const add = async (
    prefix: string,
    register: (instance: FastifyInstance) => Promise<void>,
  ): Promise<void> => {
    if (cluster !== undefined) return register(app);
    late.add(prefix, async () => {
      const part = newInstance(deps, shared);
      await register(part.app);
      part.methods.refuseShadows(part.app);
      return part.app;
    });
  };
  app.addHook('onClose', () => late.close());
  for (const dialect of deps.dialects) {
    const { mirror, prefix } = dialect;
    if (mirror === undefined) await add(prefix, mountDialect(dialect, dialectDeps));
    else
      await add(prefix, (instance) => {
        openMirror(instance, dialect, mirror, admission, operations, serving);
        return Promise.resolve();
      });
  }
  registerTools(
    app,
    admission,
    {
      operations,
      simulations: deps.simulations,
      version: deps.version ?? '0.1.0',
    },
    deps.settings.corsOrigins,
  );
  const { ownership } = store;
  app.decorate(
    'localTenants',
    cluster === undefined || ownership === undefined || nodeWork === undefined
      ? undefined
      : joinCluster(app, {
          ...deps,
          cluster: cluster.cluster,
          dialects: deps.dialects,
          ...cluster.settings,
          ownership,
          session: admission.session(),
          tickets,
          methods,
          keyPairs,
          limit,
          grants,
          competitions,
          evaluations,
          invitations,
          nodeWork,
          webhooks,
          streams,
          sockets,
          note: (text) => deps.log?.warn(text),
        }),
  );
  addPrefixes(app.server, deps.dialects);
  guardConnections(app.server, deps.settings);
  // The connections of this process do not break.
  if (deps.compareHere === undefined) trackResponses(app.server);
  const browsers = new KnownBrowsers(deps.monotonicMs);
  if (dashboard !== undefined)
    registerDashboard(app, dashboard, browsers, {
      ...admission.session(),
      ...deps,
      invitations,
      wrongCodes,
    });
  const document = { serverUrl: deps.publicUrl ?? '/', version: deps.version ?? '0.1.0' };
  const openApi = registerDocs(app, document, deps.docsSite, dashboard, deps.issueDemoToken, {
    isOpen: deps.settings.demoToken,
    browsers,
  });
  await add(API_REFERENCE, async (instance) => {
    // The library of the page is loaded with its first reader.
    const { registerApiReference } = await import('./api-reference.js');
    await registerApiReference(instance, openApi, { hasDemoToken: deps.issueDemoToken !== undefined });
    // It has a page for paths that do not exist.
    if (instance !== app) registerDocsSite(instance, deps.docsSite);
  });
  methods.refuseShadows(app);
  return app;
}

function handlersOf(
  deps: AppDeps,
  health: Health,
  streams: Streams,
  faults: Faults,
  charge: Charge,
  desk: RequirementWorkers,
  analytics: Analytics,
  keyPairs: KeyPairs,
  places: Places,
  recordings: RecordingsInUse,
  competitions: Pick<Competitions, 'directory'>,
): Omit<
  Handlers,
  | keyof ReturnType<typeof webhookHandlers>
  | keyof ReturnType<typeof serverHandlers>
  | keyof ReturnType<typeof comparisonHandlers>
  | CompetitionId
  | EvaluationId
  | InvitationId
> {
  const rates = new Rates(deps.monotonicMs);
  return {
    ...accountHandlers(deps.settings),
    ...portfolioHandlers(deps.settings),
    ...importHandlers,
    ...fixtureHandlers,
    ...historyHandlers(analytics),
    ...analyticsHandlers(analytics),
    ...executionQualityHandlers(analytics),
    ...reportHandlers(analytics),
    ...orderHandlers,
    ...rates.guard(orderHandlers),
    ...orderListHandlers,
    ...orderBatchHandlers(charge),
    ...marginHandlers(desk),
    ...marketDataHandlers,
    ...optionHandlers,
    ...simulationHandlers,
    ...stepHandlers(deps.simulations, recordings),
    ...faultHandlers(faults),
    ...alertHandlers,
    ...outcomeHandlers,
    ...simulationsHandlers(deps, streams, faults, keyPairs, places, recordings, competitions),
    ...authHandlers(deps),
    ...keyPairHandlers(keyPairs),
    ...streamHandlers(streams),
    ...serviceHandlers(health, deps.clockMs),
    ...clusterHandlers(deps),
  };
}

const portOf = (address: ReturnType<FastifyInstance['server']['address']>): number | undefined =>
  typeof address === 'object' ? address?.port : undefined;

const USABLE_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The client's request id, if it is safe to log. */
function requestIdOf(request: {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && USABLE_ID.test(given) ? given : randomUUID();
}
