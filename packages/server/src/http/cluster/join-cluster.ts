import type { Dialect } from '@sandpit/dialect-port';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as later } from 'node:timers/promises';
import type { Access } from '../../access/access.js';
import type { KeyGrants } from '../dialects/key-grants.js';
import type { KeyPair, KeyPairs } from '../../access/key-pairs.js';
import type { Cluster } from '../../cluster/cluster.js';
import type { LocalTenants } from '../../cluster/tenant-placement.js';
import type { Competitions } from '../../competitions/competitions.js';
import type { Evaluations } from '../../evaluations/evaluations.js';
import type { Invitations } from '../../invitations/invitations.js';
import { MARKET } from '../../engine/values/cell-names.js';
import type { Simulations } from '../../engine/directory/simulations.js';
import { MARKET_TENANT } from '../../store/ownership.js';
import { EVENT_TAGS, settingsOf } from '../../store/registry.js';
import type { Ownership } from '../../store/ownership.js';
import type { Store } from '../../store/store.js';
import type { Webhooks } from '../../webhooks/webhooks.js';
import { effectWithoutData, isMarketControl } from '../admission.js';
import { takesLines } from '../body.js';
import { type Authenticator, countedAs, type Principal } from '../auth.js';
import type { Sockets } from '../dialects/sockets.js';
import { INVITATIONS_PATH, type NodeWork } from '../invitations/node-work.js';
import type { RequestLimit } from '../request-limit.js';
import type { Streams } from '../stream/streams.js';
import type { KnownMethods } from '../known-methods.js';
import type { Tickets } from '../tickets.js';
import { PLAIN_BODY } from '../bodies/body-plan.js';
import { Gateway } from './gateway.js';
import { keyOfNodes } from './node-auth.js';
import type { NodeListener } from './node-listener.js';
import { isRead } from './request-tenant.js';
import type { Asker, Askers } from './request-tenant.js';

type UpgradeParts = [request: IncomingMessage, socket: Duplex, head: Buffer];

const MARKET_TAGS = settingsOf(MARKET) + EVENT_TAGS;

/** Shortest interval between two reads of changes by other nodes, ms. */
const REFRESH_MS = 100;

/** This node among others. */
export interface ClusterSettings {
  /** `NODE_ID`. */
  readonly nodeId: string;
  /** `CLUSTER_SECRET`. */
  readonly secret: string;
  /** Receives the requests of other nodes. */
  readonly listener: Pick<NodeListener, 'attach' | 'port'>;
}

export interface ClusterDeps extends ClusterSettings {
  readonly dialects: readonly Dialect[];
  readonly cluster: Cluster;
  readonly ownership: Ownership;
  readonly store: Pick<Store, 'registry'>;
  readonly simulations: Simulations;
  readonly access: Access;
  readonly session: Pick<Authenticator, 'principalOf'>;
  readonly tickets: Pick<Tickets, 'principalOf'>;
  readonly methods: Pick<KnownMethods, 'routeOf'>;
  readonly keyPairs: KeyPairs;
  readonly limit: RequestLimit;
  readonly grants: KeyGrants;
  readonly competitions: Competitions;
  readonly evaluations: Evaluations;
  readonly invitations: Invitations;
  readonly nodeWork: Pick<NodeWork, 'answerNode'>;
  readonly webhooks: Webhooks;
  readonly streams: Streams;
  readonly sockets: Sockets;
  readonly note: (text: string) => void;
}

/** Installs the gateway of a cluster in a server. Returns the handlers of acquired and lost tenants. */
export function joinCluster(app: FastifyInstance, deps: ClusterDeps): LocalTenants {
  const { cluster, ownership, nodeId, secret, listener, nodeWork, note } = deps;
  followRegistry(deps);
  const askers = askersOf(deps);
  const gateway = new Gateway({
    nodeId,
    key: keyOfNodes(secret, ownership),
    placement: cluster.placement,
    askers,
    bodies: app.bodies,
    planOf: (method, path) => {
      const route = deps.methods.routeOf(method, path);
      return takesLines(route?.operation) ? 'stream' : route && (route.body ?? PLAIN_BODY);
    },
    isLive: livenessOf(ownership),
    answerNode: (path, body) =>
      path === INVITATIONS_PATH ? nodeWork.answerNode(body) : cluster.answerNode(path, body),
    note,
  });
  const listeners = app.server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[];
  const local = (request: IncomingMessage, response: ServerResponse): void => {
    for (const listener of listeners) listener(request, response);
  };
  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => gateway.handle(request, response, local));
  const upgrades = app.server.listeners('upgrade') as ((...parts: UpgradeParts) => void)[];
  app.addHook('onReady', (done) => {
    listener.attach({
      request: (request, response) => gateway.handleNode(request, response, local),
      upgrade: (...parts) =>
        gateway.handleNodeUpgrade(...parts, (...same) => {
          for (const upgrade of upgrades) upgrade(...same);
        }),
    });
    done();
  });
  deps.sockets.passOn = gateway.passOn;
  deps.sockets.refresh = () => askers.refresh();
  app.addHook('preClose', (done) => {
    gateway.close();
    done();
  });
  return localTenantsOf(deps);
}

/** Knows the incarnations that are not removed. One that is not known yet may have begun a moment ago. */
function livenessOf(ownership: Ownership): (incarnation: number) => Promise<boolean> {
  let reading: Promise<void> | undefined;
  const isKnown = (incarnation: number): boolean =>
    ownership.nodes.some((node) => node.incarnation === incarnation);
  return async (incarnation) => {
    if (isKnown(incarnation)) return true;
    await (reading ??= ownership
      .poll()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
    return isKnown(incarnation);
  };
}

/** Applies registry changes of other nodes to the copies in memory. */
function followRegistry({
  ownership,
  simulations,
  access,
  keyPairs,
  limit,
  competitions,
  evaluations,
  invitations,
}: ClusterDeps): void {
  ownership.onRegistryChanges((changes) => {
    let isOfAccess = false;
    for (const { kind, name } of changes) {
      isOfAccess ||= kind === 'api-key' || kind === 'tenant' || name === 'revoked-tokens';
      // Records of the market that this node follows are lost.
      if (name === MARKET_TAGS) simulations.directory.dropLost(MARKET);
      if (kind !== 'setting' || keyPairs.follow(name) || limit.followSetting(name)) continue;
      if (!invitations.followSetting(name) && !competitions.followSetting(name))
        evaluations.directory.followSetting(name);
    }
    if (isOfAccess) access.follow().catch(() => undefined);
  });
}

function askersOf({
  dialects,
  ownership,
  session,
  tickets,
  methods,
  keyPairs,
  grants,
  competitions,
  evaluations,
  store,
  cluster,
}: ClusterDeps): Askers {
  let begunAt = -Infinity;
  let next: Promise<void> | undefined;
  /** Reads changes of other nodes that were made before the call. Calls share the next read. */
  const refresh = (): Promise<void> =>
    (next ??= later(Math.max(0, begunAt + REFRESH_MS - performance.now()), undefined, { ref: false }).then(
      () => {
        next = undefined;
        begunAt = performance.now();
        return ownership.refreshRegistry().catch(() => undefined);
      },
    ));
  /** Retries with the latest changes of other nodes. */
  async function known<T>(find: () => T | undefined | Promise<T | undefined>): Promise<T | undefined> {
    const found = await find();
    if (found !== undefined) return found;
    await refresh();
    return find();
  }
  const asker = (principal: Principal | undefined): Asker | undefined =>
    principal && {
      tenantId: principal.tenantId,
      simulationId: principal.simulationId,
      countedAs: countedAs(principal),
      principal,
    };
  const ofPair = (pair: KeyPair | undefined): Asker | undefined =>
    pair && { tenantId: pair.tenantId, simulationId: pair.simulationId, countedAs: countedAs(pair) };
  return {
    dialects,
    bearer: async (header: string) => asker(await known(() => session.principalOf(header))),
    keyPair: async (keyId: string, key: string) => ofPair(await known(() => keyPairs.find(keyId, key))),
    grant: async (grant: string, purpose: string) => ofPair(await known(() => grants.pairOf(grant, purpose))),
    keyId: async (keyId: string) => ofPair(await known(() => keyPairs.known(keyId))),
    ticket: async (ticket: string) => asker(await tickets.principalOf(ticket)),
    hasData: (tenantId: string) =>
      cluster.placement.isPlaced(tenantId, () => store.registry.simulations(tenantId).length > 0),
    changesMarket: (method: string, path: string) =>
      isMarketControl(methods.routeOf(method, path)?.operation),
    effectOf: (principal: Principal, method: string, path: string) => {
      const route = methods.routeOf(method, path);
      if (route === undefined) return isRead(method) ? 'reads' : 'refused';
      return effectWithoutData(principal, route.operation);
    },
    organizer: (id: string) =>
      known(() => competitions.directory.byId.get(id)?.note.organizer ?? evaluations.directory.ownerOf(id)),
    refresh,
  };
}

function localTenantsOf({
  simulations,
  competitions,
  evaluations,
  invitations,
  webhooks,
  streams,
}: ClusterDeps): LocalTenants {
  return {
    enter: async (tenantId) => {
      if (tenantId === MARKET_TENANT) return simulations.lead.acquire();
      await simulations.tenants.enter(tenantId);
      // Opens simulations, which must stay open.
      competitions.enterTenant(tenantId);
      evaluations.enterTenant(tenantId);
      invitations.enterTenant(tenantId);
      await webhooks.enterTenant(tenantId);
    },
    dismiss: (tenantId) => streams.endTenant(tenantId),
    leave: async (tenantId) => {
      if (tenantId === MARKET_TENANT) return simulations.lead.release();
      await competitions.leaveTenant(tenantId);
      await evaluations.leaveTenant(tenantId);
      await webhooks.leaveTenant(tenantId);
      await simulations.tenants.leave(tenantId);
    },
  };
}
