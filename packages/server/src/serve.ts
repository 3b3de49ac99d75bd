import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dialect } from '@sandpit/dialect-port';
import type { FastifyInstance } from 'fastify';
import type pino from 'pino';
import { Access } from './access/access.js';
import { openOperatorEndpoint } from './access/operator-endpoint.js';
import { compose } from './compose.js';
import type { Composition } from './compose.js';
import type { Beginnings } from './beginnings.js';
import { BadSetting, type Settings } from './config.js';
import { DEMO, prepareDemoTenant } from './demo-tenant.js';
import { Tenants } from './engine/transfers/tenants.js';
import { EXIT } from './exit-codes.js';
import { loadDialects } from './dialects.js';
import { createApp } from './http/app.js';
import { issueToken } from './http/auth.js';
import { DashboardFiles } from './http/dashboard.js';
import type { NodeListener } from './http/cluster/node-listener.js';
import { DocsSite } from './http/docs-site.js';
import { isLoopback } from './http/demo-token.js';
import { LoginLinks } from './http/login-links.js';
import type { OpeningStore } from './open-store.js';
import { Opened } from './opened.js';
import { sharedSecret } from './shared-secret.js';
import { storedPart } from './store/store.js';
import { watchMainThread } from './watchdog/watchdog.js';
import { lineOfRefusal, linesOf } from './terminal.js';
import { endProcess } from './threads/process-end.js';

/** Time beyond `DRAIN_MS` after which a stop ends the process in any case. */
const STOP_MS = 9_000;

interface ServeParts {
  readonly opening: OpeningStore;
  readonly log: pino.Logger;
  readonly onFatal: (error: Error) => void;
  /** Receives the requests of other nodes; undefined = there are none. */
  readonly listener: NodeListener | undefined;
  readonly beginnings: Beginnings;
  /** Ends what listens on the port meanwhile. */
  readonly beforeListening?: () => Promise<void>;
  /** Writes lines to the terminal; absent = there is none. */
  readonly say?: (line: string) => void;
}

/** Time for which requests under way may delay the restart of a node that was removed from the cluster. */
const ABANDON_MS = 2_000;

/**
 * Starts everything above the store: simulations, the HTTP server, the endpoints for operators. Resolves once it listens; ends the process
 * at a signal. For a node of a cluster it resolves, with its port, after the node was removed from the cluster and has closed everything.
 */
export async function serve(given: Settings, parts: ServeParts): Promise<number | undefined> {
  const opened = new Opened();
  try {
    return await serveWith(given, parts, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function serveWith(
  given: Settings,
  { opening, log, onFatal, listener, beginnings, beforeListening, say }: ServeParts,
  opened: Opened,
): Promise<number | undefined> {
  const evicted = new Promise<void>((resolve) => (opening.onEvicted = resolve));
  const composition = await compose(given, onFatal, {
    opening,
    note: (text) => log.warn(text),
    ...(say !== undefined && { tell: (record) => linesOf(record).forEach(say) }),
  });
  opened.add(() => close(composition));
  const { cluster } = composition;
  opened.add(() => cluster?.close());
  const jwtSecret =
    given.databaseUrl === undefined ? given.jwtSecret : await sharedSecret(given, composition.store);
  const settings = { ...given, jwtSecret };
  // A token that one node accepts is accepted by all.
  const clockMs = (): number => composition.store.ownership?.nowMs() ?? Date.now();
  const access = new Access(composition.store.registry, clockMs, (what) => log.info(what, 'audit'));
  const monotonicMs = (): number => performance.now();
  const issueDemoToken = async (keyId: string, scope: string = DEMO.scope): Promise<string | undefined> =>
    (await issueToken(settings, { ...DEMO, scope, keyId }, clockMs()))?.token;
  const demoToken = async (scope?: string): Promise<string | undefined> => {
    const [key] = access.keys(DEMO.tenantId).filter(({ revokedAt }) => revokedAt === undefined);
    return key === undefined ? undefined : issueDemoToken(key.id, scope);
  };
  const dashboard = DashboardFiles.in(join(import.meta.dirname, '../../dashboard/dist'));
  const loginLinks = new LoginLinks(monotonicMs, () => demoToken());
  const dialects = await loadDialects(settings.dialects);
  // The library of the figures is loaded for their port only.
  const measuring = settings.metricsPort === undefined ? undefined : await import('./http/metrics.js');
  const traffic = measuring && new measuring.Traffic();
  const app = await createApp({
    ...composition,
    dialects,
    traffic,
    cluster:
      cluster === undefined || settings.cluster === undefined || listener === undefined
        ? undefined
        : { cluster, settings: { ...settings.cluster, listener } },
    access,
    settings,
    dataDir: settings.dataDir,
    log,
    clockMs,
    monotonicMs,
    dashboard,
    loginLinks,
    docsSite: new DocsSite(join(import.meta.dirname, '../../site/dist')),
    // Issued on this machine only: scopes for trying the reference, and no keys of others.
    ...(isLoopback(settings.host) && { issueDemoToken: () => demoToken('trade read simulate') }),
    isAccessLogged: say === undefined && log.isLevelEnabled('info'),
    ...(say !== undefined && { onRefusal: (refused) => say(lineOfRefusal(refused)) }),
  });
  opened.add(async () => {
    listener?.detach();
    app.server.closeAllConnections();
    await app.close();
  });
  const connections = connectionsOf(app.server);
  await beforeListening?.();
  await app.listen({ port: settings.port, host: settings.host });
  await listenForTws(app, dialects, settings, log);
  // From now on every turn of the event loop is short; reading a journal at the start may be long.
  if (settings.watchdogMs !== undefined && !isWatched) {
    isWatched = true;
    watchMainThread({
      limitMs: settings.watchdogMs,
      isJson: say === undefined,
      exitCode: EXIT.STUCK,
    });
  }
  const metrics =
    traffic &&
    measuring.createMetricsServer(traffic, {
      ...composition,
      dataDir: settings.dataDir,
      clockMs: Date.now,
      openStreams: () => app.openStreams(),
      webhookFigures: () => app.webhookFigures(),
      beginnings,
    });
  opened.add(() => metrics?.close());
  await metrics?.listen({ port: settings.metricsPort ?? 0, host: settings.host });
  const { store, simulations } = composition;
  const tenants = new Tenants({
    store: storedPart(store),
    imports: simulations.imports,
    marketNow: () => simulations.market.now(),
    erase: async (tenantId) => {
      access.forgetTenant(tenantId);
      await app.eraseTenant(tenantId);
    },
    entered: (tenantId) => app.enterWebhooks(tenantId),
    ...(cluster !== undefined && {
      servedBy: async (tenantId) => {
        if (await cluster.placement.serves(tenantId)) return undefined;
        return (await cluster.placement.ownerOf(tenantId))?.nodeId ?? 'none';
      },
    }),
  });
  const closeOperatorDoor = await openOperatorEndpoint(settings.dataDir, access, tenants);
  opened.add(closeOperatorDoor);
  if (cluster !== undefined && app.localTenants !== undefined)
    await cluster.begin(simulations, app.localTenants);
  const disregardSignals = stopOnSignal(log, settings.drainMs, async () => {
    // Other nodes serve the tenants of this one before it stops; until then it forwards requests.
    await cluster
      ?.handOver()
      .catch((error: unknown) => log.warn({ err: error }, 'tenants were not handed over'));
    // Load balancers read 503 for a while before the server stops listening.
    app.beginDrain();
    await sleep(settings.drainMs);
    endConnections(app.server, connections);
    await closeOperatorDoor();
    await metrics?.close();
    await Promise.all([app.close(), listener?.close()]);
    await close(composition);
  });
  opened.add(disregardSignals);

  const baseUrl = `http://${settings.host}:${(app.server.address() as AddressInfo).port}`;
  const { port } = app.server.address() as AddressInfo;
  const shownHost = /^(0\.0\.0\.0|::)$/.test(settings.host) ? '127.0.0.1' : settings.host;
  const loginLink =
    dashboard !== undefined && settings.jwtSecret !== undefined
      ? `http://${shownHost}:${port}/#/login/${loginLinks.draw()}`
      : undefined;
  // When several nodes start at once, the owner of the market creates the demo tenant.
  const apiKey = simulations.market.isReplica
    ? undefined
    : await prepareDemoTenant({
        access,
        dataDir: settings.dataDir,
        baseUrl,
        ...(loginLink !== undefined && { loginLink }),
        issueToken: issueDemoToken,
      });
  // Secrets are printed to a terminal only: otherwise standard output is a log, which may be stored and read by others.
  const isTerminal = process.stdout.isTTY;
  if (apiKey !== undefined) {
    process.stdout.write(
      isTerminal
        ? `demo tenant created; its API key, shown this once: ${apiKey}\n`
        : `demo tenant created; its API key is in ${join(settings.dataDir, 'demo-credentials.json')}\n`,
    );
  }
  if (isTerminal && loginLink !== undefined)
    process.stdout.write(`dashboard, valid once within 10 minutes: ${loginLink}\n`);
  app.noteBegun();
  beginnings.noteBegun();
  process.stdout.write(`sandpit listening on ${baseUrl} (docs: ${baseUrl}/docs)\n`);
  if (cluster === undefined) return undefined;
  await evicted;
  log.warn('evicted: other nodes own what this one did; it begins again under another incarnation');
  disregardSignals();
  cluster.close();
  listener?.detach();
  await closeOperatorDoor();
  await metrics?.close();
  endConnections(app.server, connections);
  const abandoned = app.close();
  await Promise.race([abandoned, sleep(ABANDON_MS)]);
  app.server.closeAllConnections();
  await abandoned;
  await simulations.abandon();
  await store.close();
  return port;
}

/** Opens the ports of TWS_PORTS. */
async function listenForTws(
  app: FastifyInstance,
  dialects: readonly Dialect[],
  { twsPorts, twsHost }: Pick<Settings, 'twsPorts' | 'twsHost'>,
  log: pino.Logger,
): Promise<void> {
  if (twsPorts.length === 0) return;
  const tws = dialects.find(({ name }) => name === 'tws');
  if (tws === undefined)
    throw new BadSetting('TWS_PORTS needs the dialect tws, which DIALECTS does not name');
  if (!isLoopback(twsHost))
    log.warn(
      `TWS_HOST is ${twsHost}: the protocol has no login, so any program that reaches a port can trade in its portfolio`,
    );
  for (const one of twsPorts) {
    await app.dialectPorts.listen(tws, one, twsHost);
    process.stdout.write(`tws listening on ${twsHost}:${one.port} (portfolio ${one.portfolioId})\n`);
  }
}

/** One thread watches the process, however often its server begins. */
let isWatched = false;

/** Returns the open connections of a server from now on. */
function connectionsOf(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return connections;
}

/**
 * Closing waits for connections: each ends with its next response, or when idle. Unused connections end immediately: Node would wait a
 * minute for their first request.
 */
function endConnections(server: Server, connections: ReadonlySet<Socket>): void {
  for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  server.keepAliveTimeout = 1;
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
}

async function close({ simulations, store }: Composition): Promise<void> {
  await simulations.close();
  await store.close();
}

/** Returns how to leave signals to another server in this process. */
function stopOnSignal(log: pino.Logger, drainMs: number, stop: () => Promise<void>): () => void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'draining');
    setTimeout(() => {
      log.error({ afterMs: drainMs + STOP_MS }, 'stopping took too long: ended before everything was closed');
      endProcess(EXIT.FAILED);
    }, drainMs + STOP_MS).unref();
    stop().then(
      () => endProcess(EXIT.STOPPED),
      (error: unknown) => {
        log.error({ err: error }, 'drain failed');
        endProcess(EXIT.FAILED);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return () => {
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
  };
}
