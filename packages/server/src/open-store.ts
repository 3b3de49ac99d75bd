import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { factsOf, VERSION } from './cluster-facts.js';
import { BadSetting } from './config.js';
import type { Settings } from './config.js';
import { UnusableDatabase, UnusableDirectory } from './store/journal.js';
import type { PostgresStoreOptions } from './store/postgres/postgres-store.js';
import { makePrivateDirectory } from './store/sqlite/database/private-files.js';
import { JOURNAL_FILE } from './store/sqlite/journal/journal-schema.js';
import { openSqliteStore } from './store/sqlite/sqlite-store.js';
import type { SqliteStoreOptions } from './store/sqlite/sqlite-store.js';
import { recoveryUrl } from './store/worker-url.js';
import { MIGRATION } from './store/store.js';
import type { Store } from './store/store.js';

/** Before anything else is written there: the data directory is its owner's alone. */
export const prepareDataDirectory = (settings: Settings): void => makePrivateDirectory(settings.dataDir);

/** Events of a store in use. */
export interface StoreEvents extends Pick<SqliteStoreOptions, 'note' | 'onDamage'> {
  /** The state of a simulation in memory is invalid: another node owns it, or the database lacks records of it. */
  readonly onLost?: (simulationId: string) => void;
  /** Other nodes own all tenants of this node. Only in a cluster. */
  readonly onEvicted?: () => void;
}

/** The store that these settings name. `onFatal` is called once, when it has failed permanently. */
export async function openStore(
  settings: Settings,
  onFatal?: (error: Error) => void,
  events: StoreEvents = {},
): Promise<Store> {
  const { cluster } = settings;
  const member = {
    memory: join(settings.dataDir, 'postgres.json'),
    ...(cluster && {
      node: cluster.nodeId,
      cluster: { url: cluster.url, version: VERSION, facts: await factsOf(settings) },
    }),
  };
  const store = await openAnyStore(settings, onFatal, events, member);
  if (store.registry.setting(MIGRATION) === undefined) return store;
  await store.close();
  const Unusable = settings.databaseUrl === undefined ? UnusableDirectory : UnusableDatabase;
  throw new Unusable(
    'A migration into this store has not finished: run sandpit migrate again, then start the server',
  );
}

/** The store for a command, which never joins a cluster. Rejects with `StoreInUse` while a server or a node of a cluster uses the store. */
export const openStoreAlone = (settings: Settings): Promise<Store> =>
  openStore({ ...settings, cluster: undefined });

/** Opens an existing store for a command; throws `BadSetting` instead of creating a data directory. */
export async function openExistingStore(settings: Settings): Promise<Store> {
  const { databaseUrl, dataDir } = settings;
  if (databaseUrl === undefined && !existsSync(join(dataDir, JOURNAL_FILE)))
    throw new BadSetting(`${dataDir} is no data directory: it has no ${JOURNAL_FILE}`);
  return openStoreAlone(settings);
}

/** A setting of the registry in a database that servers may use; undefined = it has none. */
export async function settingInDatabase(url: string, name: string): Promise<string | undefined> {
  const { settingIn } = await import('./store/postgres/read-setting.js');
  return settingIn(url, name);
}

/** Any store for a migration, which continues an unfinished one. */
export async function openAnyStore(
  settings: Pick<Settings, 'databaseUrl' | 'dataDir'>,
  onFatal?: (error: Error) => void,
  { onLost, onEvicted, ...more }: StoreEvents = {},
  member: Pick<PostgresStoreOptions, 'node' | 'cluster' | 'memory'> = {},
): Promise<Store> {
  const { databaseUrl, dataDir } = settings;
  if (databaseUrl !== undefined) {
    const { openPostgresStore } = await import('./store/postgres/postgres-store.js');
    return openPostgresStore({
      url: namedUrl(databaseUrl, member.cluster && member.node),
      recovery: recoveryUrl().href,
      ...(onFatal !== undefined && { onFatal }),
      ...(more.note !== undefined && { note: more.note }),
      ...(onLost !== undefined && { onLost }),
      ...member,
      ...(onEvicted !== undefined && { onEvicted }),
    });
  }
  return openSqliteStore({
    directory: dataDir,
    recovery: recoveryUrl().href,
    ...(onFatal !== undefined && { onFatal }),
    ...more,
  });
}

/** The URL of a database whose connections carry the name of the node, unless it names them itself. */
export function namedUrl(url: string, node: string | undefined): string {
  if (node === undefined || /[?&]application_name=/.test(url)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}application_name=${encodeURIComponent(node)}`;
}

/** A store that is opening: its threads start while the caller does other work. */
export interface OpeningStore {
  /** Rejects with `StoreInUse`, `UnusableDatabase` or `DamagedJournal`; a rejection without a listener does not end the process. */
  readonly store: Promise<Store>;
  /** Receives damage that is found in the background. */
  onDamage: NonNullable<StoreEvents['onDamage']>;
  onLost: NonNullable<StoreEvents['onLost']>;
  /** Other nodes own all tenants of this node. */
  onEvicted: () => void;
  isEvicted: boolean;
}

/** Like `openStore`, for callers that set the handling of damage later. */
export function beginOpening(
  settings: Settings,
  onFatal: (error: Error) => void,
  note?: (text: string) => void,
): OpeningStore {
  const opening: OpeningStore = {
    store: openStore(settings, onFatal, {
      ...(note !== undefined && { note }),
      onDamage: (problem, simulationId) => opening.onDamage(problem, simulationId),
      onLost: (simulationId) => opening.onLost(simulationId),
      onEvicted: () => {
        opening.isEvicted = true;
        opening.onEvicted();
      },
    }),
    onDamage: () => undefined,
    onLost: () => undefined,
    onEvicted: () => undefined,
    isEvicted: false,
  };
  opening.store.catch(() => undefined);
  return opening;
}
