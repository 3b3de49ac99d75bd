import { createReadStream, createWriteStream, openAsBlob, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { Instant } from '@sandpit/core';
import {
  callTenantWork,
  TENANT_DELETE,
  TENANT_EXPORT,
  TENANT_IMPORT,
  type TenantWork,
} from './access/operator-endpoint.js';
import { BadSetting, readSettings } from './config.js';
import type { Settings } from './config.js';
import { MARKET } from './engine/values/cell-names.js';
import { eraseNotes } from './competitions/notes.js';
import { eraseEvaluations } from './evaluations/notes.js';
import { eraseInvitationNotes } from './invitations/notes.js';
import { eraseTenant } from './engine/transfers/erasure.js';
import { FolderOnDisk } from './engine/transfers/import-folder.js';
import { Imports } from './engine/transfers/imports.js';
import { recover } from './engine/recovery/recovery.js';
import { rulesNamed } from './engine/configuration/rules-in-force.js';
import type { KeptConfig } from './engine/configuration/simulation-config.js';
import { Tenants } from './engine/transfers/tenants.js';
import { openExistingStore, openStoreAlone } from './open-store.js';
import type { Store } from './store/store.js';
import { printUsage } from './usage.js';

const USAGE = `usage: sandpit tenant export NAME [--to FILE] [--data DIR]
       sandpit tenant import FILE [--data DIR]
       sandpit tenant delete NAME [--data DIR]

Exports a tenant with its simulations to a file (default: standard output), imports such a file, or deletes every row of a tenant from a
data directory (default: DATA_DIR, ./data), while a server uses it or not. Backups keep what was deleted.`;

/** Work of a command, executed directly or by the server that uses the directory. */
interface Work {
  readonly alone: (tenants: TenantWork) => Promise<void>;
  readonly byServer: (dataDir: string) => Promise<void>;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { to: { type: 'string' }, data: { type: 'string' } },
    allowPositionals: true,
  });
  const [verb, subject, ...rest] = positionals;
  if (subject === undefined || rest.length > 0) throw new BadSetting(USAGE);
  if (verb === 'import' && !statSync(subject).isFile()) throw new BadSetting(`${subject} is not a file`);
  const work = workOf(verb, subject, values.to);
  const settings = readSettings({
    ...process.env,
    ...(values.data !== undefined && { DATA_DIR: values.data }),
  });
  let store: Store;
  try {
    store = await (verb === 'import' ? openStoreAlone : openExistingStore)(settings);
  } catch (error) {
    if ((error as Error).name !== 'StoreInUse') throw error;
    return work.byServer(settings.dataDir);
  }
  try {
    const tenants = tenantsAlone(settings, store);
    await tenants.imports.takeBackTenants();
    await work.alone(tenants.tenants);
  } finally {
    await store.close();
  }
}

function workOf(verb: string | undefined, subject: string, to: string | undefined): Work {
  switch (verb) {
    case 'export':
      return {
        alone: (tenants) => written(tenants.export(subject), to),
        byServer: async (dataDir) => {
          const { body } = await callTenantWork(dataDir, TENANT_EXPORT, subject);
          if (body !== null) await written(body, to);
        },
      };
    case 'import':
      return {
        alone: async (tenants) => tell('imported', await tenants.import(createReadStream(subject))),
        byServer: async (dataDir) =>
          tell('imported', await callTenantWork(dataDir, TENANT_IMPORT, '', await openAsBlob(subject))),
      };
    case 'delete':
      return {
        alone: async (tenants) => tell('deleted', await tenants.delete(subject)),
        byServer: async (dataDir) => tell('deleted', await callTenantWork(dataDir, TENANT_DELETE, subject)),
      };
    default:
      throw new BadSetting(USAGE);
  }
}

/** A file is there whole or not at all. */
async function written(pieces: AsyncIterable<string | Uint8Array>, to: string | undefined): Promise<void> {
  if (to === undefined) return pipeline(pieces, process.stdout, { end: false });
  const draft = `${to}.part`;
  await pipeline(pieces, createWriteStream(draft, { mode: 0o600 }));
  renameSync(draft, to);
  process.stderr.write(`written to ${to}\n`);
}

async function tell(what: string, result: object): Promise<void> {
  const told =
    result instanceof Response ? ((await result.json()) as { readonly done: object }).done : result;
  process.stdout.write(`${what} ${JSON.stringify(told)}\n`);
}

/** The work on a data directory that no server uses. */
function tenantsAlone(
  { dataDir }: Settings,
  store: Store,
): { readonly tenants: Tenants; readonly imports: Imports } {
  const imports = new Imports(store, new FolderOnDisk(join(dataDir, 'imports')), (text) =>
    process.stderr.write(`${text}\n`),
  );
  const tenants = new Tenants({
    store,
    imports,
    marketNow: () => marketNow(store),
    erase: async (tenantId) => {
      await eraseInvitationNotes(store.registry, tenantId);
      await eraseNotes(store.registry, tenantId);
      await eraseEvaluations(store.registry, tenantId);
      await eraseTenant(store, tenantId);
    },
  });
  return { tenants, imports };
}

/** Clock of the market when its server stopped; with a wall clock, now. */
async function marketNow(store: Store): Promise<number | undefined> {
  const entry = store.registry.simulation(MARKET);
  if (entry === undefined) return undefined;
  const config = JSON.parse(entry.config) as KeptConfig;
  if (config.clock === 'wall') return Date.now();
  const { brokerage } = await recover(store, MARKET, rulesNamed(store.registry, config.rules), config);
  const { state } = brokerage;
  return Instant.max(state.clock ?? state.now, state.now);
}

const KNOWN =
  /^(BadSetting|AccessRefused|TenantRefused|ImportRefused|DamagedJournal|StoreUnavailable|UnusableDatabase)$/;

try {
  if (!printUsage(USAGE)) await main();
} catch (error) {
  const isKnown = error instanceof Error && (KNOWN.test(error.name) || 'code' in error);
  process.stderr.write(`${isKnown ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
}
