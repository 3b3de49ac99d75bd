import type { Settings } from './config.js';
import { makePrivateDirectory } from './store/sqlite/private-files.js';
import { openSqliteStore } from './store/sqlite/sqlite-store.js';
import type { SqliteStoreOptions } from './store/sqlite/sqlite-store.js';
import { recoveryUrl } from './store/sqlite/worker-url.js';
import type { Store } from './store/store.js';

/** Before anything else is written there: the data directory is its owner's alone. */
export const prepareDataDirectory = (settings: Settings): void => makePrivateDirectory(settings.dataDir);

/** The store that these settings name. `onFatal` is called once, when it has failed for good. */
export const openStore = (
  settings: Settings,
  onFatal?: (error: Error) => void,
  more: Pick<SqliteStoreOptions, 'note' | 'onDamage'> = {},
): Promise<Store> =>
  openSqliteStore({
    directory: settings.dataDir,
    recovery: recoveryUrl().href,
    ...(onFatal !== undefined && { onFatal }),
    ...more,
  });

/** A store on its way: its threads start while whoever wants it does other things. */
export interface OpeningStore {
  /** Rejects with `StoreInUse` or `DamagedJournal`; whoever waits for it hears of that. */
  readonly store: Promise<Store>;
  /** Hears of damage that is found behind the server's back. */
  onDamage: NonNullable<SqliteStoreOptions['onDamage']>;
}

/** Like `openStore`, for whoever knows later what damage is to lead to. */
export function beginOpening(
  settings: Settings,
  onFatal: (error: Error) => void,
  note?: (text: string) => void,
): OpeningStore {
  const opening: OpeningStore = {
    store: openStore(settings, onFatal, {
      ...(note !== undefined && { note }),
      onDamage: (problem, simulationId) => opening.onDamage(problem, simulationId),
    }),
    onDamage: () => undefined,
  };
  opening.store.catch(() => undefined);
  return opening;
}
