import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { calendarById, Instant } from '@sandpit/core';
import type { Calendar } from '@sandpit/core';
import { loadBrokers } from './brokers/load-brokers.js';
import { Cluster } from './cluster/cluster.js';
import type { Settings } from './config.js';
import { standbyFrom } from './engine/recovery/checkpoint.js';
import { FolderInMemory, FolderOnDisk } from './engine/transfers/import-folder.js';
import type { DurableRecord } from './engine/records/records.js';
import { LIVE_MAX_AGE_MS } from './engine/directory/opener.js';
import { NoLiveRecording, NoLiveSource } from './engine/directory/shared-dependencies.js';
import { Simulations } from './engine/directory/simulations.js';
import type { SimulationConfig } from './engine/configuration/simulation-config.js';
import type { SharedDependencies } from './engine/directory/shared-dependencies.js';
import { MachineTime } from './engine/clocks/machine-time.js';
import type { Feed } from './feeds/feed.js';
import type { RelayAnswers, RelayQuestion } from './feeds/live-feed.js';
import type { LiveMarketFeed } from './feeds/live/live-market-feed.js';
import type { LiveRecordingFeed } from './feeds/live/live-recording-feed.js';
import type { LiveSource } from './feeds/live/source.js';
import { OpenReaders } from './feeds/open-readers.js';
import { PushFeed } from './feeds/push/push-feed.js';
import { ReplayArchive } from './feeds/replay/archive.js';
import { recordedActions } from './feeds/replay/recorded-actions.js';
import { MaskedFeed } from './feeds/replay/masked-feed.js';
import { ReplayFeed } from './feeds/replay/replay-feed.js';
import { drawOf } from './feeds/synthetic/chance.js';
import { SyntheticFeed } from './feeds/synthetic/synthetic-feed.js';
import { askerOf } from './http/cluster/ask-node.js';
import { keyOfNodes } from './http/cluster/node-auth.js';
import type { LiveSettings } from './live-settings.js';
import { beginOpening } from './open-store.js';
import type { OpeningStore } from './open-store.js';
import { openMemoryStore } from './store/sqlite/memory-store.js';
import type { Store } from './store/store.js';
import { withEphemeral } from './store/with-ephemeral.js';

export { lowerPriority, NICE_OF_BATCHES } from './store/lower-priority.js';

/** The parts of a running server. */
export interface Composition {
  readonly store: Store;
  readonly simulations: Simulations;
  /** This node among others; undefined = this server is alone. */
  readonly cluster: Cluster | undefined;
}

/** The only module that chooses and connects concrete parts. */
export async function compose(
  settings: Settings,
  onFatal: (error: Error) => void,
  surroundings: ComposeOptions = {},
): Promise<Composition> {
  let simulations: Simulations | undefined;
  const opening = surroundings.opening ?? beginOpening(settings, onFatal, surroundings.note);
  opening.onDamage = ({ message }, simulationId) => {
    if (simulationId !== undefined) simulations?.directory.takeOutOfService(simulationId, message);
  };
  opening.onLost = (simulationId) => simulations?.directory.dropLost(simulationId);
  const store = withEphemeral(
    await opening.store,
    await openMemoryStore({ standbyFrom }),
    settings.ephemeralMaxBytes,
  );
  const cluster = clusterOf(settings, store, surroundings.note);
  try {
    simulations = await Simulations.start(
      {
        ...(await sharedDependenciesOf(settings, store, onFatal, surroundings)),
        ...(cluster !== undefined && {
          onMarketRecorded: () => cluster.tellMarket(),
          classesInUseElsewhere: cluster.classesInUse,
          liveLead: {
            ask: async <Q extends RelayQuestion>(question: Q, timeoutMs: number) =>
              (await cluster.askAboutSource(question, timeoutMs)) as RelayAnswers[Q['ask']],
          },
          onMarketLost: () => opening.onEvicted(),
          mayLead: () => cluster.reasons.length === 0,
        }),
      },
      {
        feed: settings.feed,
        clock: settings.clock,
        calendar: settings.calendar,
        start: settings.clockStart ?? Date.now(),
        speed: settings.clockSpeed,
        ...(settings.earlyAssignment !== undefined && { earlyAssignment: settings.earlyAssignment }),
        ...(settings.calendar === 'XNYS' && { shortSaleRestriction: true as const }),
        ...(settings.scriptedOrders && { scripts: true as const }),
        ...(settings.seed !== undefined && { seed: settings.seed }),
      },
    );
    return { store, simulations, cluster };
  } catch (error) {
    cluster?.close();
    await store.close();
    throw error;
  }
}

function clusterOf(
  { cluster, recordDir }: Settings,
  store: Store,
  note: (text: string) => void = () => undefined,
): Cluster | undefined {
  const { ownership } = store;
  if (cluster === undefined || ownership === undefined) return undefined;
  return new Cluster({
    store,
    ownership,
    note,
    ask: askerOf(keyOfNodes(cluster.secret, ownership)),
    isByMarket: recordDir !== undefined,
  });
}

/** Dependencies from outside of the settings. */
export interface ComposeOptions {
  /** Begun already; absent = it is opened here. */
  readonly opening?: OpeningStore;
  /** Logs one line for the operator. */
  readonly note?: (text: string) => void;
  /** Receives every record once it is durable. */
  readonly tell?: (record: DurableRecord) => void;
  /** The machine's clock, ms. */
  readonly wallMs?: () => number;
  /** Never jumps, ms. */
  readonly monotonicMs?: () => number;
  /** The service is part of another program: it starts no threads, and writes no files if it is in memory. */
  readonly inProcess?: 'IN_MEMORY' | 'ON_DISK';
}

/** Dependencies that all simulations share under these settings. */
export async function sharedDependenciesOf(
  settings: Settings,
  store: Store,
  onFatal: (error: Error) => void,
  {
    note = () => undefined,
    tell,
    // A tenant moves between machines, so it goes by a clock that they share.
    wallMs = () => store.ownership?.nowMs() ?? Date.now(),
    monotonicMs = () => performance.now(),
    inProcess,
  }: ComposeOptions = {},
): Promise<SharedDependencies> {
  const brokers = await loadBrokers(settings.brokersFile);
  return {
    store,
    brokers: new Map(brokers.map((broker) => [broker.id, broker])),
    portfolioMarginEquity: settings.portfolioMarginEquity,
    marketCollarBps: settings.marketCollarBps,
    riskFreeRate: settings.riskFreeRate,
    quoteMaxAgeMs: settings.quoteMaxAgeMs,
    openFeed: feedOpener(settings, note),
    ...(settings.replayPath !== undefined && { recordings: settings.replayPath }),
    ...(settings.recordDir !== undefined && { liveRecordings: settings.recordDir }),
    onError: (error) => onFatal(error instanceof Error ? error : new Error(String(error))),
    note,
    tell,
    time: new MachineTime({
      registry: store.registry,
      wallMs,
      monotonicMs,
      isJumpAllowed: settings.allowClockJump,
      note,
    }),
    idleMs: settings.simulationIdleMinutes * 60_000,
    importFolder:
      inProcess === 'IN_MEMORY' ? new FolderInMemory() : new FolderOnDisk(join(settings.dataDir, 'imports')),
    isInProcess: inProcess !== undefined,
  };
}

/** The connection to a live source is opened once and shared. Modules of live sources are loaded when there is one. */
function feedOpener(settings: Settings, note: (text: string) => void): SharedDependencies['openFeed'] {
  let live: Promise<LiveMarketFeed> | undefined;
  const openOther = unconnectedFeedOpener(settings, note);
  const openReaders = new OpenReaders();
  return async (config, calendar) => {
    if (config.feed === 'live') return (live ??= openLiveFeed(settings, calendar, note));
    if (config.liveRecording === true) return openRecording(settings, calendar, await live, openReaders);
    return openOther(config, calendar);
  };
}

/** Opens the recording of the live source, which continues while the source is connected. */
async function openRecording(
  { recordDir, quoteMaxAgeMs }: Settings,
  calendar: Calendar,
  live: LiveMarketFeed | undefined,
  openReaders: OpenReaders,
): Promise<LiveRecordingFeed> {
  if (recordDir === undefined || live === undefined) throw new NoLiveRecording();
  const [{ LiveRecordingFeed }, { ACTIONS_FILE }] = await Promise.all([
    import('./feeds/live/live-recording-feed.js'),
    import('./feeds/live/recorder.js'),
  ]);
  const path = join(recordDir, ACTIONS_FILE);
  return new LiveRecordingFeed({
    directory: recordDir,
    calendar,
    listing: live.listing(),
    maxAgeMs: quoteMaxAgeMs ?? LIVE_MAX_AGE_MS,
    live,
    readActions: async () => (existsSync(path) ? recordedActions({ path, kind: 'actions', rowMs: 0 }) : []),
    openReaders,
  });
}

/** Opens feeds that need no connection; also in threads. Recordings are opened once and shared. */
export function unconnectedFeedOpener(
  { riskFreeRate, replayPath }: Pick<Settings, 'riskFreeRate' | 'replayPath'>,
  note: (text: string) => void = () => undefined,
): SharedDependencies['openFeed'] {
  let archive: Promise<ReplayArchive> | undefined;
  return async (config: SimulationConfig, calendar: Calendar): Promise<Feed> => {
    switch (config.feed) {
      case 'synthetic':
        return new SyntheticFeed({
          seed: config.draw === undefined ? (config.pathSeed ?? config.seed) : drawOf(config.draw),
          ...(config.reseeded !== undefined && { reseeded: config.reseeded }),
          ...(config.regime !== undefined && { regime: config.regime }),
          calendar,
          riskFreeRate,
        });
      case 'push':
        return new PushFeed({ calendar });
      case 'live':
        throw new NoLiveSource();
      case 'replay': {
        const path = replayPath ?? join(import.meta.dirname, '../../../samples/equities');
        archive ??= openedArchive(path, note);
        const feed = new ReplayFeed({
          archive: await archive,
          ...(config.replay?.symbols !== undefined && { symbols: config.replay.symbols }),
          ...(config.replay?.from !== undefined && { from: Instant.ofMs(config.replay.from) }),
        });
        return config.mask === undefined ? feed : new MaskedFeed(feed, config.mask);
      }
    }
  };
}

async function openedArchive(path: string, note: (text: string) => void): Promise<ReplayArchive> {
  // Recordings were made in the real market's hours, whatever hours the simulation keeps.
  const archive = await ReplayArchive.open({ path, calendar: calendarById('XNYS') });
  const { leftOut } = archive;
  if (leftOut.length > 0)
    note(
      `Recording: ${leftOut.length} adjusted contracts such as ${leftOut[0]?.symbol ?? ''} are left out because their deliverable is unknown; a contracts file with the column deliverable lists them`,
    );
  return archive;
}

async function openLiveFeed(
  { live, quoteMaxAgeMs, dataDir, recordDir }: Settings,
  calendar: Calendar,
  note: (text: string) => void,
): Promise<LiveMarketFeed> {
  if (live === undefined) throw new NoLiveSource();
  const source = await liveSource(live);
  const [{ LiveMarketFeed }, { AssetList }, { TickRecorder }] = await Promise.all([
    import('./feeds/live/live-market-feed.js'),
    import('./feeds/live/asset-list.js'),
    import('./feeds/live/recorder.js'),
  ]);
  return LiveMarketFeed.open({
    source,
    calendar,
    maxAgeMs: quoteMaxAgeMs ?? LIVE_MAX_AGE_MS,
    ...(live.maxSymbols !== undefined && { maxSymbols: live.maxSymbols }),
    assets: new AssetList(dataDir, source.name),
    note,
    ...(recordDir !== undefined && { recorder: new TickRecorder(recordDir, note) }),
  });
}

/** The source that settings name. */
export async function liveSource(live: LiveSettings): Promise<LiveSource> {
  switch (live.source) {
    case 'alpaca':
      return (await import('./feeds/live/alpaca/alpaca-source.js')).alpacaSource(live);
    case 'massive':
      return (await import('./feeds/live/massive/massive-source.js')).massiveSource(live);
    case 'tradier':
      return (await import('./feeds/live/tradier/tradier-source.js')).tradierSource(live);
  }
}
