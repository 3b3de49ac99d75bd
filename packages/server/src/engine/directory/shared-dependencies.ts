import type { BrokerConfiguration, Calendar, Instrument, Money } from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import type { LiveLead } from '../../feeds/live-feed.js';
import type { Store } from '../../store/store.js';
import type { MachineTime } from '../clocks/machine-time.js';
import type { SimulationConfig } from '../configuration/simulation-config.js';
import type { DurableRecord } from '../records/records.js';
import type { ImportFolder } from '../transfers/import-folder.js';

/** Dependencies shared by all simulations of a server. */
export interface SharedDependencies {
  readonly store: Store;
  readonly brokers: ReadonlyMap<string, BrokerConfiguration>;
  readonly portfolioMarginEquity: Money;
  readonly marketCollarBps: number;
  readonly riskFreeRate: number;
  readonly quoteMaxAgeMs: number | undefined;
  /** Rejects with `NoLiveSource` and `NoLiveRecording`. */
  readonly openFeed: (config: SimulationConfig, calendar: Calendar) => Promise<Feed>;
  readonly onError: (error: unknown) => void;
  /** Logs one line for the operator. */
  readonly note: (text: string) => void;
  /** Receives every record of every simulation once it is durable; absent = no receiver. */
  readonly tell?: ((record: DurableRecord) => void) | undefined;
  readonly time: MachineTime;
  /** Idle time after which a simulation leaves memory, ms. */
  readonly idleMs: number;
  /** Directory of the recordings, if configured. */
  readonly recordings?: string;
  /** Directory of the server's recordings of a live source. */
  readonly liveRecordings?: string;
  /** Incoming files. */
  readonly importFolder: ImportFolder;
  /** Everything is done on this thread (D256). */
  readonly isInProcess?: boolean;
  /** Resolves when the other nodes of the cluster have applied the market's records. */
  readonly onMarketRecorded?: (() => Promise<void>) | undefined;
  /** Reasons of other nodes against another class of instruments of the market. */
  readonly classesInUseElsewhere?:
    ((instruments: readonly Instrument[]) => Promise<readonly string[]>) | undefined;
  /** The node that is connected to the live source; absent = this one is. */
  readonly liveLead?: LiveLead | undefined;
  /** This node has lost the market to another node: simulations in memory follow the wrong one. Only in a cluster. */
  readonly onMarketLost?: (() => void) | undefined;
  /** True when this node may acquire the market at its start; absent = there is no other node. */
  readonly mayLead?: (() => boolean) | undefined;
}

/** This server has no source of live market data. */
export class NoLiveSource extends Error {
  override readonly name = 'NoLiveSource';

  constructor() {
    super('This server has no source of live market data');
  }
}

/** A fork of a live simulation reads the recording of the source, and this server has none. */
export class NoLiveRecording extends Error {
  override readonly name = 'NoLiveRecording';

  constructor() {
    super('Its market is the recording of a live source: start with MARKET_FEED=live and RECORD_DIR');
  }
}
