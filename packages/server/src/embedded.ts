/** The whole service in the calling process (D256): no port, no thread, and no file unless a data directory is given. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { calendarById } from '@sandpit/core';
import { Access } from './access/access.js';
import { drawApiKey, idOfApiKey } from './access/api-key.js';
import { compose, unconnectedFeedOpener } from './compose.js';
import { readSettings } from './config.js';
import type { Settings } from './config.js';
import { DEMO, prepareDemoTenant } from './demo-tenant.js';
import { loadDialects } from './dialects.js';
import { standbyFrom } from './engine/recovery/checkpoint.js';
import { ComparisonRun } from './engine/comparisons/comparison-run.js';
import type { CompareHere } from './engine/comparisons/comparisons.js';
import { createApp } from './http/app.js';
import { issueToken } from './http/auth.js';
import { DashboardFiles } from './http/dashboard.js';
import { DocsSite } from './http/docs-site.js';
import { LocalFetch } from './http/in-process/local-fetch.js';
import { prepareDataDirectory } from './open-store.js';
import { signingSecret } from './signing-secret.js';
import { openMemoryStore } from './store/sqlite/memory-store.js';
import { openStoreInPlace } from './store/sqlite/store-in-place.js';
import type { Store } from './store/store.js';

interface EmbeddedOptions {
  /** Data directory, the same as a server's; absent = everything is in memory. */
  readonly dataDir?: string;
  /** Settings of a server, by their names (`MARKET_FEED`). The environment is not read. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedService {
  readonly fetch: typeof globalThis.fetch;
  /** A token of the demo tenant. */
  readonly token: string;
  /** Resolves when everything that was answered is durable, and all is released. */
  close(): Promise<void>;
}

/** One caller is not limited by default. */
const UNLIMITED = { RATE_LIMIT_DEFAULT: '1000000000', BYTES_PER_TENANT: '4294967295' };

/** Settings of what an embedded service does not have. */
const OF_SERVERS =
  /^(PORT|HOST|METRICS_PORT|DATA_DIR|DATABASE_URL|CLUSTER_.*|NODE_.*|DRAIN_MS|WATCHDOG_SECONDS)$/;

/** The address in `demo-credentials.json`: that of a server which is started on the directory later. */
const DEFAULT_URL = 'http://127.0.0.1:3000';

/** Rejects with `StoreInUse` while another process, or another service of this one, uses the data directory. */
export async function openEmbedded({
  dataDir,
  settings: given = {},
}: EmbeddedOptions = {}): Promise<EmbeddedService> {
  const wrong = Object.keys(given).find((name) => OF_SERVERS.test(name));
  if (wrong !== undefined) throw new TypeError(`${wrong} is no setting of an embedded broker`);
  const read = readSettings({ ...UNLIMITED, LOG_LEVEL: 'silent', DATA_DIR: dataDir ?? 'data', ...given });
  if (dataDir !== undefined) prepareDataDirectory(read);
  let failure: Error | undefined;
  const onFatal = (error: Error): void => void (failure ??= error);
  const store = await opened(dataDir, onFatal);
  const settings = { ...read, jwtSecret: secretOf(read, dataDir) };
  const { simulations, ...composition } = await compose(settings, onFatal, {
    inProcess: dataDir === undefined ? 'IN_MEMORY' : 'ON_DISK',
    opening: {
      store: Promise.resolve(store),
      onDamage: () => undefined,
      onLost: () => undefined,
      onEvicted: () => undefined,
      isEvicted: false,
    },
  });
  const access = new Access(
    composition.store.registry,
    () => Date.now(),
    () => undefined,
  );
  const app = await createApp({
    ...composition,
    simulations,
    cluster: undefined,
    dialects: await loadDialects(settings.dialects),
    access,
    settings,
    clockMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    dashboard: DashboardFiles.in(join(import.meta.dirname, '../../dashboard/dist')),
    docsSite: new DocsSite(join(import.meta.dirname, '../../site/dist')),
    compareHere,
  });
  await app.ready();
  const token = await demoToken(settings, access, dataDir);
  const local = new LocalFetch(app.server);
  const close = async (): Promise<void> => {
    local.refuse();
    app.beginDrain();
    app.endStreams();
    await local.drained();
    await app.close();
    await simulations.close();
    await composition.store.close();
  };
  let closing: Promise<void> | undefined;
  return {
    fetch: (...asked) => (failure === undefined ? local.fetch(...asked) : Promise.reject(failure)),
    token,
    close: () => (closing ??= close()),
  };
}

const compareHere: CompareHere = async (task, journals, onProgress) => {
  const { riskFreeRate, recordings, feed } = task;
  const openFeed = unconnectedFeedOpener({ riskFreeRate, replayPath: recordings });
  const run = new ComparisonRun(task, {
    ...journals,
    openFeed: () => openFeed(feed, calendarById(feed.calendar)),
    onProgress,
  });
  return run.run();
};

const opened = (dataDir: string | undefined, onFatal: (error: Error) => void): Promise<Store> =>
  dataDir === undefined
    ? openMemoryStore({ standbyFrom })
    : openStoreInPlace({ directory: dataDir, standbyFrom, onFatal });

/** Without a data directory tokens end with the service. */
function secretOf(settings: Settings, dataDir: string | undefined): string | undefined {
  if (dataDir !== undefined) return signingSecret(settings);
  return settings.jwtSecret ?? randomBytes(48).toString('base64url');
}

async function demoToken(settings: Settings, access: Access, dataDir: string | undefined): Promise<string> {
  const issue = async (keyId: string): Promise<string | undefined> =>
    (await issueToken(settings, { ...DEMO, keyId }, Date.now()))?.token;
  if (dataDir === undefined) {
    const drawn = drawApiKey();
    await access.createKey(DEMO, drawn);
    return tokenOr(await issue(idOfApiKey(drawn.hash)));
  }
  await prepareDemoTenant({ access, dataDir, baseUrl: DEFAULT_URL, issueToken: issue });
  const [key] = access.keys(DEMO.tenantId).filter(({ revokedAt }) => revokedAt === undefined);
  return tokenOr(key === undefined ? undefined : await issue(key.id));
}

function tokenOr(token: string | undefined): string {
  if (token === undefined) throw new Error('The demo tenant of this data directory has no valid API key');
  return token;
}
