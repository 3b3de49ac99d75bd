import { createHash } from 'node:crypto';
import { setTimeout as later } from 'node:timers/promises';
import { mainOf, MAIN } from './engine/values/cell-names.js';
import type { KeptConfig } from './engine/configuration/simulation-config.js';
import type { JournalRecord } from './store/journal.js';
import { StoreUnavailable, UnusableDatabase } from './store/journal.js';
import type { ForkBeginning, Registry, SimulationEntry } from './store/registry.js';
import { MIGRATION, STORE_SETTINGS } from './store/store.js';
import type { Store, StoreContents } from './store/store.js';

/** Maximum number of records in flight to the destination. */
const MOST_UNDER_WAY = 2_000;
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** Answers and deliveries copied at a time. */
const PAGE = 200;
/** A start reads this many records in negligible time: they need no checkpoint. */
const NOT_WORTH_A_CHECKPOINT = 1_000;
const LOOK_MS = 20;

export interface MigrationReport {
  readonly cells: number;
  readonly records: number;
  /** Records that an earlier attempt had copied. */
  readonly found: number;
  readonly answers: number;
  readonly webhooks: number;
  readonly deliveries: number;
  /** SHA-256 over the registry and the journals, the same of both stores; hexadecimal. */
  readonly digest: string;
}

type MigratedStore = Store & { readonly contents: StoreContents };

/**
 * Copies a store into another one, and compares both by hashes. Data copied by an earlier attempt is checked and kept.
 * Rejects with `UnusableDatabase` if the destination contains other data, with `DamagedJournal` when the source is damaged.
 */
export async function migrateStore(
  source: Store,
  destination: Store,
  note: (text: string) => void,
): Promise<MigrationReport> {
  const from = migrated(source);
  const to = migrated(destination);
  await begin(from, to);
  await copyTenants(from.registry, to.registry);
  const cells = await copyCells(from, to, note);
  await copySettings(from.registry, to.registry);
  const answers = await copyAnswers(from.contents, to.contents);
  const hooks = await copyWebhooks(from, to);
  const digest = digestOf(from, cells.digests);
  if (digest !== digestOf(to, cells.digests))
    throw new UnusableDatabase(
      'The registry of the destination is not that of the source; run the command again',
    );
  await historyDerived(to, note);
  await leaveCheckpoints(to);
  await to.registry.deleteSetting(MIGRATION);
  return {
    cells: cells.digests.size,
    records: cells.records,
    found: cells.found,
    answers,
    ...hooks,
    digest,
  };
}

function migrated(store: Store): MigratedStore {
  const { contents } = store;
  if (contents === undefined) throw new Error('This store cannot be migrated');
  return { ...store, contents };
}

/** Marks the destination, so that no server starts on the half of it. */
async function begin(from: MigratedStore, to: MigratedStore): Promise<void> {
  const { installation } = from.contents;
  if (from.registry.setting(MIGRATION) !== undefined)
    throw new UnusableDatabase(
      'The source is itself the destination of a migration that has not finished; finish that one first',
    );
  const mark = to.registry.setting(MIGRATION);
  if (mark === installation) return;
  if (mark !== undefined)
    throw new UnusableDatabase(
      'The destination has a part of another source; empty it, or go on with that source',
    );
  const isEmpty =
    to.registry.tenants().length === 0 &&
    to.registry.simulations().length === 0 &&
    to.contents.deleted().length === 0 &&
    to.registry.settings('').length === 0;
  if (!isEmpty)
    throw new UnusableDatabase('The destination has data already; name an empty database or directory');
  await to.registry.saveSetting(MIGRATION, installation);
}

async function copyTenants(from: Registry, to: Registry): Promise<void> {
  const wanted = new Set(from.tenants().map(({ id }) => id));
  // A name may have passed to another tenant since an earlier attempt.
  for (const { id } of to.tenants()) if (!wanted.has(id)) await to.deleteTenant(id);
  for (const tenant of from.tenants()) {
    if (to.tenant(tenant.id) === undefined) await to.createTenant(tenant);
    else await to.updateTenant(tenant);
    for (const key of from.apiKeys(tenant.id)) {
      const found = to.apiKey(key.hash);
      if (found === undefined) await to.createApiKey(key);
      else if (key.revokedAt !== undefined) await to.revokeApiKey(key.hash, key.revokedAt);
    }
  }
}

interface CopiedCells {
  /** SHA-256 over the records of each cell. */
  readonly digests: Map<string, string>;
  records: number;
  found: number;
}

async function copyCells(
  from: MigratedStore,
  to: MigratedStore,
  note: (text: string) => void,
): Promise<CopiedCells> {
  const copied: CopiedCells = { digests: new Map(), records: 0, found: 0 };
  const live = from.registry.simulations();
  const wanted = new Set(live.map(({ id }) => id));
  // Deleted at the source since an earlier attempt.
  for (const { id } of to.registry.simulations())
    if (!wanted.has(id))
      await to.registry.deleteSimulation(id, from.registry.simulation(id)?.deletedAt ?? Date.now());
  for (const { id, deletedAt = 0, ...entry } of from.contents.deleted()) {
    if (to.registry.simulation(id) === undefined) await to.registry.createSimulation({ id, ...entry });
    await to.registry.deleteSimulation(id, deletedAt);
  }
  for (const entry of live) {
    const begins = beginningOf(entry, wanted);
    if (to.registry.simulation(entry.id) === undefined) await to.registry.createSimulation(entry, begins);
    const { digest, records, end } = await copyJournal(from, to, entry.id);
    // A fork that is new has its parent's records already.
    const found = end - (begins?.sequence ?? 0);
    copied.digests.set(entry.id, digest);
    copied.records += records;
    copied.found += found;
    note(`${entry.id}: ${records} records, ${digest}`);
  }
  return copied;
}

/** Start of a fork's journal; undefined when its parent was deleted: the records of its ancestors become its own. */
function beginningOf(
  { config, tenantId }: SimulationEntry,
  live: ReadonlySet<string>,
): ForkBeginning | undefined {
  const { fork } = JSON.parse(config) as Partial<KeptConfig>;
  // An imported fork has its own copy of all records.
  if (fork?.parentId === undefined) return undefined;
  const { parentId, sequence } = fork;
  const simulationId = parentId === MAIN ? mainOf(tenantId ?? '') : parentId;
  return live.has(simulationId) ? { simulationId, sequence } : undefined;
}

/** Copies the records that the destination lacks, and compares those of both by their hash. `end`: its last record before. */
async function copyJournal(
  from: MigratedStore,
  to: MigratedStore,
  id: string,
): Promise<{ readonly digest: string; readonly records: number; readonly end: number }> {
  const end = to.journal.lastSeq(id);
  const sum = createHash('sha256');
  let records = 0;
  let characters = 0;
  let underWay: Promise<void>[] = [];
  for await (const record of from.journal.read(id, 0)) {
    sum.update(textOf(record));
    records = record.seq;
    if (record.seq <= end) continue;
    underWay.push(to.journal.append(record));
    characters += record.payload.length;
    if (underWay.length < MOST_UNDER_WAY && characters < MOST_CHARACTERS) continue;
    await Promise.all(underWay);
    underWay = [];
    characters = 0;
  }
  await Promise.all(underWay);
  const digest = sum.digest('hex');
  const there = createHash('sha256');
  for await (const record of to.journal.read(id, 0)) there.update(textOf(record));
  if (there.digest('hex') !== digest)
    throw new UnusableDatabase(
      `The journal of ${id} at the destination is not that of the source; empty the destination and run the command again`,
    );
  return { digest, records, end };
}

const textOf = ({ seq, at, payload }: JournalRecord): string => `${seq} ${at} ${payload}\n`;

const isCopied = (name: string): boolean => !STORE_SETTINGS.some((prefix) => name.startsWith(prefix));

async function copySettings(from: Registry, to: Registry): Promise<void> {
  const wanted = new Map(from.settings('').filter(([name]) => isCopied(name)));
  for (const [name] of to.settings('')) if (isCopied(name) && !wanted.has(name)) await to.deleteSetting(name);
  const changed = [...wanted].filter(([name, value]) => to.setting(name) !== value);
  await Promise.all(changed.map(([name, value]) => to.saveSetting(name, value)));
}

async function copyAnswers(from: StoreContents, to: StoreContents): Promise<number> {
  let count = 0;
  for (let after = ''; ;) {
    const page = await from.answers(after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return count;
    await to.saveAnswers(page);
    count += page.length;
    after = last.lookup;
  }
}

async function copyWebhooks(
  from: MigratedStore,
  to: MigratedStore,
): Promise<{ readonly webhooks: number; readonly deliveries: number }> {
  const { webhooks, cursors } = await from.webhooks.load();
  const before = await to.webhooks.load();
  // Data of an earlier attempt is written again: deliveries keep the order in which they are stored.
  for (const { webhookId } of before.webhooks)
    await to.webhooks.apply([{ change: 'delete-webhook', webhookId }]);
  let copied = 0;
  for (const webhook of webhooks) {
    const { webhookId } = webhook;
    const mine = cursors.filter((cursor) => cursor.webhookId === webhookId);
    await to.webhooks.apply([
      { change: 'save-webhook', webhook },
      ...mine.map((cursor) => ({ change: 'save-cursor', cursor }) as const),
    ]);
    const { total } = await from.webhooks.deliveries({ webhookId, offset: 0, limit: 1 });
    // Oldest first.
    for (let rest = total; rest > 0; rest -= PAGE) {
      const limit = Math.min(PAGE, rest);
      const { items } = await from.webhooks.deliveries({ webhookId, offset: rest - limit, limit });
      await to.webhooks.apply(
        [...items].reverse().map((delivery) => ({ change: 'save-delivery', delivery }) as const),
      );
      copied += items.length;
    }
  }
  return { webhooks: webhooks.length, deliveries: copied };
}

/** Digest over the registry as seen through its port, and over the journals. */
function digestOf({ registry, contents }: MigratedStore, journals: ReadonlyMap<string, string>): string {
  const byId = <Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] =>
    [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
  const tenants = byId(registry.tenants());
  const keys = tenants.flatMap(({ id }) =>
    [...registry.apiKeys(id)].sort((a, b) => (a.hash < b.hash ? -1 : 1)),
  );
  const gone = byId(contents.deleted()).map(({ id, deletedAt }) => [id, deletedAt]);
  const live = byId(registry.simulations()).map((entry) => [entry, journals.get(entry.id)]);
  const settings = registry.settings('').filter(([name]) => isCopied(name));
  const rows = [
    tenants.map(({ id, name, tier, scope, createdAt }) => [id, name, tier, scope, createdAt]),
    keys.map(({ hash, tenantId, tier, scope, createdAt, revokedAt }) => [
      hash,
      tenantId,
      tier,
      scope,
      createdAt,
      revokedAt,
    ]),
    live.map(([entry, journal]) => {
      const { id, tenantId, config, createdAt } = entry as SimulationEntry;
      return [id, tenantId, config, createdAt, journal];
    }),
    gone,
    [...settings].sort(([a], [b]) => (a < b ? -1 : 1)),
  ];
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

/** Resolves once the history of the destination contains every record. */
async function historyDerived({ history }: Store, note: (text: string) => void): Promise<void> {
  let isNoted = false;
  for (;;) {
    const { status, behind, reason } = history.health();
    if (status === 'failing') throw new StoreUnavailable(reason ?? 'The history cannot be written');
    if (status === 'ok' && behind === 0) return;
    if (!isNoted) note(`deriving the history: ${behind} records behind`);
    isNoted = true;
    await later(LOOK_MS);
  }
}

/** The first start on the destination reads little. */
async function leaveCheckpoints({ registry, journal, checkpoints }: Store): Promise<void> {
  for (const { id } of registry.simulations())
    if (journal.lastSeq(id) >= NOT_WORTH_A_CHECKPOINT) await checkpoints.make(id).catch(() => 0);
}
