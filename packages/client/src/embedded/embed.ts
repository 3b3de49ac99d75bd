import type { CreateSimulationBody } from '@sandpit/protocol';
import { Sandpit } from '../client.js';

export interface EmbeddedOptions {
  /** Data directory, the same as a server's; absent = everything is in memory. */
  readonly dataDir?: string;
  /** Seed of `main`: the same seed gives the same ids and synthetic prices. Absent = a random one. */
  readonly seed?: number | string;
  /** Market of `main`; `synthetic` unless given. */
  readonly feed?: CreateSimulationBody['feed'];
  /** Clock of `main`; `wall` unless given. */
  readonly clock?: CreateSimulationBody['clock'];
  /** Where a manual or scaled clock starts, ISO 8601. */
  readonly start?: string;
  readonly calendar?: NonNullable<CreateSimulationBody['calendar']>;
  /** Further settings of a server, by their names (`INITIAL_CASH`). The environment is not read. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A brokerage in this process (D256): no port, no thread, and no file unless a data directory is given. */
export interface EmbeddedBroker extends AsyncDisposable {
  readonly client: Sandpit;
  /** Answers requests for any route and any origin as a server would. */
  readonly fetch: typeof globalThis.fetch;
  /** An embedded broker has no port. */
  readonly url: undefined;
  /** A token of the demo tenant, which `client` uses. */
  readonly token: string;
  /** Makes durable what was answered, ends streams, and rejects later calls. */
  close(): Promise<void>;
}

/** The exports of the server that are used here. */
interface ServerModule {
  readonly openEmbedded: (options: {
    readonly dataDir?: string;
    readonly settings: Readonly<Record<string, string>>;
  }) => Promise<Pick<EmbeddedBroker, 'fetch' | 'token' | 'close'>>;
}

/** Any origin leads to the broker. */
const ORIGIN = 'http://sandpit.embedded';

/** Starts a brokerage in this process. Rejects while another process, or another one of this process, uses the data directory. */
export async function embedded(options: EmbeddedOptions = {}): Promise<EmbeddedBroker> {
  const { dataDir, seed, feed, clock, start, calendar, settings } = options;
  // Not a dependency of the client, which is of use in a browser as well.
  const path = new URL('../../../server/dist/embedded.js', import.meta.url).href;
  const { openEmbedded } = (await import(path)) as ServerModule;
  const service = await openEmbedded({
    ...(dataDir !== undefined && { dataDir }),
    settings: {
      ...(seed !== undefined && { SEED: String(seed) }),
      ...(feed !== undefined && { MARKET_FEED: feed }),
      ...(clock !== undefined && { MARKET_CLOCK: clock }),
      ...(start !== undefined && { CLOCK_START: start }),
      ...(calendar !== undefined && { MARKET_CALENDAR: calendar }),
      ...settings,
    },
  });
  const { fetch, token } = service;
  const close = (): Promise<void> => service.close();
  return {
    client: new Sandpit({ url: ORIGIN, token }, { fetch, retryForMs: 0 }),
    fetch,
    url: undefined,
    token,
    close,
    [Symbol.asyncDispose]: close,
  };
}
