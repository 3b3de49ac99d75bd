import { Readable } from 'node:stream';
import { calendarById } from '@sandpit/core';
import type { ForkBody, Tier } from '@sandpit/protocol';
import type { FastifyRequest } from 'fastify';
import type { KeyPairs } from '../../access/key-pairs.js';
import type { Competitions } from '../../competitions/competitions.js';
import { ImportTooLarge } from '../../engine/transfers/import-folder.js';
import { TooManyImports } from '../../engine/transfers/imports.js';
import { ImportRefused } from '../../engine/transfers/import-refused.js';
import type { SimulationConfig } from '../../engine/configuration/simulation-config.js';
import { NotRecorded, TooManySimulations } from '../../engine/directory/creation.js';
import { TooManyLists } from '../../engine/directory/entries.js';
import type { SimulationInfo } from '../../engine/directory/entries.js';
import { TooDeep } from '../../engine/directory/forking.js';
import { NoLiveSource } from '../../engine/directory/shared-dependencies.js';
import { MAIN, mainOf } from '../../engine/values/cell-names.js';
import { datesOf, NotMaskable } from '../../feeds/mask.js';
import { Answer, refuse, refuseCoded, SIMULATION_NOT_FOUND, SNAPSHOT_NOT_FOUND } from '../answer.js';
import { NoSuchPoint } from '../../engine/forks/fork-points.js';
import { MOST_SNAPSHOTS, SnapshotNameTaken, TooManySnapshots } from '../../engine/forks/snapshots.js';
import { issueToken, lineageOf, type Principal, TOO_MANY_GENERATIONS } from '../auth.js';
import { NDJSON } from '../body.js';
import { notOverYet, type Places } from '../competition-refusals.js';
import type { Call, Handlers, Issuers } from '../call.js';
import { allowUpload, endUpload } from '../client-error.js';
import { beginStream, hasBody, writeToStream } from '../reply.js';
import type { Faults } from '../faults.js';
import type { RecordingsInUse } from '../recordings-in-use.js';
import type { HttpDeps, HttpSettings } from '../settings.js';
import type { Streams } from '../stream/streams.js';
import { isoOfMs } from '../translate/instants.js';
import { pageOfAll } from '../translate/pages.js';
import { forkOf, realMs, simulationConfigOf, simulationOf, snapshotOf } from '../translate/simulations.js';

const NO_TOKENS = refuse(409, 'This server does not issue tokens: they come from its identity provider');
const NOT_A_FILE = refuse(415, `Content-Type must be ${NDJSON}`);
const EMPTY_FILE = refuse(400, 'The file cannot be imported: it is empty');
const MAIN_IS_NOT_ONE_FILE = refuse(
  409,
  'The main simulation is exported with its tenant: sandpit tenant export NAME',
);
const TOO_DEEP = refuse(409, 'A fork has at most 64 generations before it');
const STAYS_EPHEMERAL = refuse(
  409,
  'A fork of an ephemeral simulation is ephemeral: export it and import the file to store it',
);
export const BAD_TTL = refuse(400, ['ttl must be a positive duration of at most P10Y']);
const GOES_WITH_COMPETITION = refuse(409, 'A simulation of a competition is deleted with the competition');
const GOES_WITH_EVALUATION = refuse(409, 'A cell of an evaluation is deleted with the evaluation');
const MAIN_STAYS = refuse(409, 'The main simulation cannot be deleted');

/** Simulations of a tenant (D44). */
export function simulationsHandlers(
  deps: HttpDeps,
  streams: Streams,
  faults: Faults,
  keyPairs: KeyPairs,
  places: Places,
  recordings: RecordingsInUse,
  competitions: Pick<Competitions, 'directory'>,
) {
  deps.simulations.directory.onRemoved = async (simulationId) => {
    streams.endSimulation(simulationId);
    faults.endSimulation(simulationId);
    // The key pairs are invalid even if this write fails.
    await keyPairs.endSimulation(simulationId).catch(() => undefined);
  };
  return {
    ...ownSimulationHandlers(deps, places, recordings, competitions),
    ...transferHandlers(deps, places, recordings),
    ...forkHandlers(deps, places),
  };
}

/** The refusal of a request about a simulation whose competition, or whose run, is not over; undefined = it may be used. */
function stillRunning(places: Places, simulationId: string): Answer | undefined {
  const place = places.placeOf(simulationId);
  return place?.isOver === false ? notOverYet(place) : undefined;
}

function ownSimulationHandlers(
  { simulations, settings, clockMs }: HttpDeps,
  places: Places,
  recordings: RecordingsInUse,
  competitions: Pick<Competitions, 'directory'>,
): Pick<
  Handlers,
  | 'createSimulation'
  | 'createSimulationToken'
  | 'listSimulations'
  | 'getSimulation'
  | 'getSimulationMask'
  | 'deleteSimulation'
> {
  return {
    async createSimulation({ principal, body, pending }) {
      const { tenantId, tier, agent } = principal;
      if (settings.jwtSecret === undefined) return NO_TOKENS;
      if (!isLifetime(body.ttl)) return BAD_TTL;
      const inUse = recordings.creationRefusal(tenantId, body);
      if (inUse !== undefined) return inUse;
      const allowed = allowedFor(tier, settings);
      const simulation = await unlessRefused(
        simulations.creation.create(
          tenantId,
          { ...simulationConfigOf(body, clockMs()), ...(agent !== undefined && { madeBy: agent.agentId }) },
          allowed,
        ),
        tier,
        allowed,
      );
      if (simulation instanceof Answer) return simulation;
      if (simulation.isEphemeral) pending?.endWith(simulation.id);
      const info = simulations.entries.info(simulation.id, tenantId);
      if (info === undefined) return SIMULATION_NOT_FOUND;
      return simulationOf(info, { now: simulation.now(), isOwner: isOwner(principal) });
    },

    createSimulationToken({ principal, params: { simulationId } }) {
      if (settings.jwtSecret === undefined) return NO_TOKENS;
      const info = seenBy(principal, simulations.entries.info(simulationId, principal.tenantId));
      if (info === undefined) return SIMULATION_NOT_FOUND;
      // The organizer must not trade for an entrant.
      const place = places.placeOf(simulationId);
      if (place !== undefined && place.role !== 'MARKET' && !place.isOver) return notOverYet(place);
      return { simulationId, tokenType: 'Bearer' };
    },

    listSimulations: ({ principal, query }) =>
      pageOfAll(
        simulations.entries
          .list(principal.tenantId)
          .filter((info) => seenBy(principal, info) !== undefined)
          .toReversed(),
        query,
        ({ id }) => id,
        (info) => simulationOf(info, { isOwner: isOwner(principal) }),
      ),

    async getSimulation({ principal, params: { simulationId } }) {
      const { tenantId } = principal;
      // The name of an entry may have been erased since.
      const name = competitions.directory.entryIn(simulationId)?.entry.displayName;
      const look = (): SimulationInfo | undefined => {
        const info = seenBy(principal, simulations.entries.info(simulationId, tenantId));
        return info && name !== undefined ? { ...info, config: { ...info.config, name } } : info;
      };
      const found = look();
      if (found === undefined) return SIMULATION_NOT_FOUND;
      // An import can complete during this read: the status read first decides if the simulation is opened.
      if (!canOpen(found)) return simulationOf(found, { isOwner: isOwner(principal) });
      const simulation = await (
        simulationId === MAIN
          ? Promise.resolve(simulations.market)
          : simulations.directory.find(simulationId, tenantId)
      ).catch((error: unknown) => {
        if (look()?.brokenBy === undefined) throw error;
        return undefined;
      });
      const info = look();
      return info === undefined
        ? SIMULATION_NOT_FOUND
        : simulationOf(info, { now: simulation?.now(), isOwner: isOwner(principal) });
    },

    async getSimulationMask({ principal, params: { simulationId } }) {
      const { tenantId } = principal;
      const config = seenBy(principal, simulations.entries.info(simulationId, tenantId))?.config;
      if (config?.mask === undefined || !isOwner(principal)) return SIMULATION_NOT_FOUND;
      const { weeks, symbols, prices } = config.mask;
      const dates = datesOf(config.mask);
      const key = (await simulations.directory.find(simulationId, tenantId))?.feed.mask?.key;
      if (key === undefined) return SIMULATION_NOT_FOUND;
      return { simulationId, symbols, dates, prices, weeks, instruments: [...key] };
    },

    async deleteSimulation({ principal, params: { simulationId } }) {
      if (simulationId === MAIN) return MAIN_STAYS;
      if (seenBy(principal, simulations.entries.info(simulationId, principal.tenantId)) === undefined)
        return SIMULATION_NOT_FOUND;
      const running = stillRunning(places, simulationId);
      if (running !== undefined) return running;
      const place = places.placeOf(simulationId);
      if (place !== undefined) return place.role === 'CELL' ? GOES_WITH_EVALUATION : GOES_WITH_COMPETITION;
      const removed = await simulations.directory.remove(simulationId, principal.tenantId);
      if (!removed) return SIMULATION_NOT_FOUND;
      return { simulationId, message: 'Simulation deleted' };
    },
  };
}

function transferHandlers(
  { simulations, settings }: HttpDeps,
  places: Places,
  recordings: RecordingsInUse,
): Pick<Handlers, 'exportSimulation' | 'importSimulation'> {
  return {
    async exportSimulation(call) {
      const { simulationId } = call.params;
      const { tenantId } = call.principal;
      if (simulationId === MAIN) return MAIN_IS_NOT_ONE_FILE;
      const info = seenBy(call.principal, simulations.entries.info(simulationId, tenantId));
      if (info?.config.mask !== undefined && !isOwner(call.principal)) return SIMULATION_NOT_FOUND;
      const running = info && stillRunning(places, simulationId);
      if (running !== undefined) return running;
      const pieces =
        info === undefined ? undefined : await simulations.transfers.export(simulationId, tenantId);
      return pieces === undefined ? SIMULATION_NOT_FOUND : sendPieces(call, pieces);
    },

    async importSimulation({ principal, request }) {
      const { tenantId, tier, agent } = principal;
      if (settings.jwtSecret === undefined) return NO_TOKENS;
      if (!(request.body instanceof Readable)) return hasBody(request) ? NOT_A_FILE : EMPTY_FILE;
      const allowed = allowedFor(tier, settings);
      const check = (config: SimulationConfig): void => {
        const inUse = recordings.creationRefusal(tenantId, config);
        if (inUse !== undefined) throw new RefusedImport(inUse);
      };
      const limits = { allowed, mostBytes: settings.importMaxBytes, check };
      const imported = await unlessRefused(
        simulations.transfers.import(tenantId, arriving(request, request.body), limits, agent?.agentId),
        tier,
        allowed,
      );
      if (imported instanceof Answer) return imported;
      return imported === undefined
        ? SIMULATION_NOT_FOUND
        : simulationOf(imported, { isOwner: isOwner(principal) });
    },
  };
}

/** Snapshots and forks (D171, D172). */
function forkHandlers(
  { simulations, settings }: HttpDeps,
  places: Places,
): Pick<Handlers, 'takeSnapshot' | 'listSnapshots' | 'deleteSnapshot' | 'forkSimulation'> {
  return {
    async takeSnapshot({ principal, params: { simulationId }, body }) {
      const { tenantId } = principal;
      if (forkedBy(principal, simulations.entries.info(simulationId, tenantId)) === undefined)
        return SIMULATION_NOT_FOUND;
      const running = stillRunning(places, simulationId);
      if (running !== undefined) return running;
      try {
        const taken = await simulations.forking.takeSnapshot(simulationId, tenantId, body.name);
        return taken === undefined ? SIMULATION_NOT_FOUND : snapshotOf(simulationId, taken);
      } catch (error) {
        if (error instanceof SnapshotNameTaken)
          return refuse(409, `The simulation has a snapshot with the name ${body.name ?? ''} already`);
        if (error instanceof TooManySnapshots)
          return refuse(409, `a simulation has at most ${MOST_SNAPSHOTS.toLocaleString('en-US')} snapshots`);
        throw error;
      }
    },

    listSnapshots({ principal, params: { simulationId }, query }) {
      const { tenantId } = principal;
      if (forkedBy(principal, simulations.entries.info(simulationId, tenantId)) === undefined)
        return SIMULATION_NOT_FOUND;
      return pageOfAll(
        simulations.snapshots.of(storedId(simulationId, tenantId)).toReversed(),
        query,
        ({ snapshotId }) => snapshotId,
        (snapshot) => snapshotOf(simulationId, snapshot),
      );
    },

    async deleteSnapshot({ principal, params: { simulationId, snapshotId } }) {
      const { tenantId } = principal;
      if (forkedBy(principal, simulations.entries.info(simulationId, tenantId)) === undefined)
        return SIMULATION_NOT_FOUND;
      const removed = await simulations.snapshots.remove(storedId(simulationId, tenantId), snapshotId);
      return removed ? { snapshotId, message: 'Snapshot deleted' } : SNAPSHOT_NOT_FOUND;
    },

    async forkSimulation({ principal, params: { simulationId }, body, pending }) {
      const { tenantId, tier, agent } = principal;
      if (settings.jwtSecret === undefined) return NO_TOKENS;
      const parent = forkedBy(principal, simulations.entries.info(simulationId, tenantId));
      if (parent === undefined) return SIMULATION_NOT_FOUND;
      const running = stillRunning(places, simulationId);
      if (running !== undefined) return running;
      if (!isLifetime(body.ttl)) return BAD_TTL;
      if (parent.config.ephemeral === true && body.ephemeral === false) return STAYS_EPHEMERAL;
      const allowed = allowedFor(tier, settings);
      const wanted = {
        ...forkOf(body, calendarById(parent.config.calendar)),
        ...(agent !== undefined && { madeBy: agent.agentId }),
      };
      try {
        const forked = await unlessRefused(
          simulations.forking.fork(simulationId, tenantId, wanted, allowed),
          tier,
          allowed,
        );
        if (forked instanceof Answer) return forked;
        if (forked?.simulation.isEphemeral === true) pending?.endWith(forked.simulation.id);
        const info = forked && simulations.entries.info(forked.simulation.id, tenantId);
        if (info === undefined) return SIMULATION_NOT_FOUND;
        const shown = simulationOf(info, { now: forked?.simulation.now(), isOwner: isOwner(principal) });
        return { ...shown, stateHash: forked?.stateHash ?? '' };
      } catch (error) {
        if (error instanceof TooDeep) return TOO_DEEP;
        if (!(error instanceof NoSuchPoint)) throw error;
        return noSuchPoint(error, body);
      }
    },
  };
}

/** The simulation of a file is refused for another reason than its content. */
class RefusedImport extends Error {
  override readonly name = 'RefusedImport';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('The import is refused');
    this.answer = answer;
  }
}

/** Id of a tenant's simulation in the store. */
const storedId = (simulationId: string, tenantId: string): string =>
  simulationId === MAIN ? mainOf(tenantId) : simulationId;

/** Ten years, those with 366 days included. */
const LONGEST_LIFETIME_MS = 3653 * 86_400_000;

export function isLifetime(ttl: string | undefined): boolean {
  if (ttl === undefined) return true;
  const ms = realMs(ttl);
  return ms > 0 && ms <= LONGEST_LIFETIME_MS;
}

function noSuchPoint({ reason }: NoSuchPoint, { from }: ForkBody): Answer {
  if (reason === 'snapshot') return SNAPSHOT_NOT_FOUND;
  if (reason === 'earlier')
    return refuse(400, ['from.at must not be before the beginning of the simulation']);
  return from?.at === undefined
    ? refuse(400, ['from.sequence must not be after the last record of the simulation'])
    : refuse(400, ['from.at must not be after now']);
}

/** An agent may fork simulations that it created, and the simulation of its token; other tokens do not see the fork. */
function forkedBy(principal: Principal, info: SimulationInfo | undefined): SimulationInfo | undefined {
  return info?.id === principal.simulationId ? info : seenBy(principal, info);
}

/** False for a simulation that is out of service, or whose import is under way or has failed. */
const canOpen = ({ brokenBy, imported }: SimulationInfo): boolean =>
  brokenBy === undefined && (imported?.status ?? 'READY') === 'READY';

/** An agent sees the simulations that it created, other callers all of their tenant. */
function seenBy({ agent }: Principal, info: SimulationInfo | undefined): SimulationInfo | undefined {
  return agent === undefined || info?.config.madeBy === agent.agentId ? info : undefined;
}

/** Masks are shown to the tenant alone: neither to its agents nor to tokens of simulations, which may belong to someone else by now. */
const isOwner = ({ agent, simulationId }: Principal): boolean => agent === undefined && simulationId === MAIN;

/** Tokens for simulations: the caller's rights, limited to the simulation. */
export function simulationIssuer({
  settings,
  clockMs,
}: Pick<HttpDeps, 'settings' | 'clockMs'>): Pick<
  Issuers,
  'createSimulation' | 'importSimulation' | 'forkSimulation' | 'createSimulationToken'
> {
  const issue = async (
    { tenantId, tier, scopes, expiresAtMs, origin, agent }: Principal,
    simulationId: string,
  ) => {
    const fromTokenIds = lineageOf(origin);
    if (fromTokenIds === undefined) return TOO_MANY_GENERATIONS;
    const issued = await issueToken(
      settings,
      {
        tenantId,
        tier,
        // A token of one simulation shows nothing of other tenants (D236).
        scope: [...scopes].filter((scope) => scope !== 'operator').join(' '),
        simulationId,
        // An expiring right stays limited when passed on.
        notAfterMs: expiresAtMs,
        keyId: origin.keyId,
        fromTokenIds,
        agent,
      },
      clockMs(),
    );
    return issued ?? NO_TOKENS;
  };
  return {
    async createSimulation({ principal }, kept) {
      const issued = await issue(principal, kept.simulationId);
      return issued instanceof Answer ? issued : { ...kept, token: issued.token };
    },
    async importSimulation({ principal }, kept) {
      const issued = await issue(principal, kept.simulationId);
      return issued instanceof Answer ? issued : { ...kept, token: issued.token };
    },
    async forkSimulation({ principal }, kept) {
      const issued = await issue(principal, kept.simulationId);
      return issued instanceof Answer ? issued : { ...kept, token: issued.token };
    },
    async createSimulationToken({ principal }, kept) {
      const issued = await issue(principal, kept.simulationId);
      if (issued instanceof Answer) return issued;
      const { token, issuedAtMs, expiresAtMs } = issued;
      const expiresIn = (expiresAtMs - issuedAtMs) / 1000;
      return { ...kept, token, expiresIn, expiresAt: isoOfMs(expiresAtMs) };
    },
  };
}

const sentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The pieces of a body as they come. The request lasts for as long as they do. */
async function* arriving({ raw }: FastifyRequest, body: Readable): AsyncGenerator<Uint8Array> {
  const heard = allowUpload(raw.socket);
  try {
    // A refused request receives its answer on this connection.
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      heard();
      yield chunk as Uint8Array;
    }
  } finally {
    endUpload(raw.socket);
  }
}

/** Sends a file piece by piece, at the speed of the reader. A connection that ends without the last piece has not sent the file. */
/** Sends a file of lines of JSON as it comes. */
export async function sendPieces(
  { request, reply }: Pick<Call, 'request' | 'reply'>,
  pieces: AsyncGenerator<string>,
): Promise<undefined> {
  // An error in the first piece can still be answered.
  const first = await pieces.next();
  const raw = beginStream(request, reply, { 'content-type': NDJSON });
  try {
    if (first.done !== true) await writeToStream(raw, first.value);
    for await (const piece of pieces) {
      await writeToStream(raw, piece);
      if (raw.destroyed) return undefined;
    }
    raw.end();
  } catch (error) {
    request.server.logger?.error({ err: error, requestId: request.id }, 'export failed');
    raw.destroy();
  }
  return undefined;
}

/** Maximum number of concurrent simulations of a tenant. */
function allowedFor(tier: Tier, { basicSimulations, proSimulations }: HttpSettings): number {
  if (tier === 'ENTERPRISE') return Infinity;
  return tier === 'BASIC' ? basicSimulations : proSimulations;
}

/** The result of creating a simulation, or the refusal. */
export async function unlessRefused<T>(
  creation: Promise<T>,
  tier: Tier,
  allowed: number,
): Promise<T | Answer> {
  try {
    return await creation;
  } catch (error) {
    if (error instanceof TooManySimulations) {
      const message = `The ${tier} tier includes ${allowed} simulation${allowed === 1 ? '' : 's'}`;
      const requiredTier = tier === 'BASIC' ? 'PRO' : 'ENTERPRISE';
      return refuseCoded('FEATURE_NOT_AVAILABLE', message, { currentTier: tier, requiredTier });
    }
    if (error instanceof RefusedImport) return error.answer;
    if (error instanceof ImportRefused) return refuse(400, `The file cannot be imported: ${error.message}`);
    if (error instanceof ImportTooLarge) return refuse(413, sentence(error.message));
    if (error instanceof TooManyImports || error instanceof TooManyLists)
      return refuse(409, sentence(error.message));
    if (error instanceof NotMaskable) return refuse(400, [`mask: ${error.message}`]);
    if (error instanceof NoLiveSource)
      return refuse(400, ['feed live is only allowed where MARKET_FEED is live']);
    if (!(error instanceof NotRecorded)) throw error;
    return refuse(400, [`replay must name recorded symbols, which ${error.symbols.join(', ')} are not`]);
  }
}
