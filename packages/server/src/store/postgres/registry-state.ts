import { hash } from 'node:crypto';
import { AlreadyExists, NotInRegistry, settingsOf } from '../registry.js';
import type { ApiKey, SimulationEntry, Tenant } from '../registry.js';
import type { Origin } from './cells.js';

/** Name that keeps the key of a cell reserved after its tenant has been erased. */
export const erasedNameOf = (key: number): string => `erased/${key}`;

/** Kinds of rows of the registry. */
export type EntryKind = 'tenant' | 'api-key' | 'simulation' | 'setting';

/** A row; without a value it is deleted. */
export interface Entry {
  readonly kind: EntryKind;
  readonly name: string;
  readonly value: string | null;
}

/** A simulation with the store's data about it. */
export interface RegisteredCell extends SimulationEntry {
  readonly key: number;
  readonly origin?: Origin;
  /** True when it is deleted and its rows are removed: no fork rests on it, and it rests on no other. */
  readonly isPurged?: true;
}

/** A simulation as the registry returns it. */
export const entryOf = ({ id, tenantId, config, createdAt, deletedAt }: RegisteredCell): SimulationEntry => ({
  id,
  tenantId,
  config,
  createdAt,
  ...(deletedAt !== undefined && { deletedAt }),
});

export type RegistryChange =
  | { readonly change: 'create-tenant'; readonly tenant: Tenant }
  | { readonly change: 'update-tenant'; readonly tenant: Tenant }
  | { readonly change: 'create-api-key'; readonly key: ApiKey }
  | { readonly change: 'revoke-api-key'; readonly hash: string; readonly revokedAt: number }
  | { readonly change: 'create-simulation'; readonly cell: Omit<RegisteredCell, 'key'> }
  | { readonly change: 'delete-simulation'; readonly id: string; readonly deletedAt: number }
  | { readonly change: 'mark-purged'; readonly key: number }
  | { readonly change: 'delete-tenant'; readonly id: string }
  | { readonly change: 'save-setting'; readonly name: string; readonly value: string }
  | { readonly change: 'delete-setting'; readonly name: string };

const EMPTY_DIGEST = '0'.repeat(64);

/** The beginning of a setting's name up to the first slash; empty = there is none. */
const groupOf = (name: string): string => name.slice(0, name.indexOf('/') + 1);

const nameOf = (kind: EntryKind, name: string): string => `${kind} ${name}`;

/** The registry in memory, from its rows. */
export class RegistryState {
  /** Grows with each change, of whichever node. */
  version = 0;
  /** Exclusive or of the hashes of all rows, in hexadecimal digits: detects rows that another program has changed. */
  digest = EMPTY_DIGEST;
  /** The largest key of a cell there ever was. */
  lastKey = 0;
  readonly tenants = new Map<string, Tenant>();
  readonly apiKeys = new Map<string, ApiKey>();
  readonly cells = new Map<string, RegisteredCell>();
  readonly settings = new Map<string, string>();
  /** By the beginning of their names up to the first slash. */
  readonly #settingGroups = new Map<string, Map<string, string>>();
  readonly #rows = new Map<string, string>();
  readonly #cellsOf = new Map<string | null, Map<string, RegisteredCell>>();
  readonly #origins = new Map<number, Origin>();
  /** Names of deleted cells whose rows may still be there, by key. */
  readonly #unpurged = new Map<number, string>();

  get(kind: EntryKind, name: string): string | undefined {
    return this.#rows.get(nameOf(kind, name));
  }

  cellsOf(tenantId: string | null): Iterable<RegisteredCell> {
    return this.#cellsOf.get(tenantId)?.values() ?? [];
  }

  /** Settings whose names begin with this prefix, in no order. */
  settingsFrom(prefix: string): readonly (readonly [name: string, value: string])[] {
    const group = groupOf(prefix);
    const all = group === '' ? this.settings : (this.#settingGroups.get(group) ?? []);
    return [...all].filter(([name]) => name.startsWith(prefix));
  }

  #setSetting(name: string, value: string | null): void {
    const group = groupOf(name);
    const grouped = this.#settingGroups.get(group) ?? new Map<string, string>();
    this.#settingGroups.set(group, grouped);
    for (const settings of [this.settings, grouped])
      if (value === null) settings.delete(name);
      else settings.set(name, value);
  }

  /** Start of the cell with this key when it is a fork: known for deleted ones, too, because forks rest on them. */
  originOf(key: number): Origin | undefined {
    return this.#origins.get(key);
  }

  /** The last record of a cell that forks rest on; 0 = none does. */
  heldByForks(key: number): number {
    let last = 0;
    for (const { parent, seq } of this.#origins.values()) if (parent === key) last = Math.max(last, seq);
    return last;
  }

  /** Keys of deleted cells whose rows may still be there. */
  unpurged(): readonly number[] {
    return [...this.#unpurged.keys()];
  }

  isUnpurged(key: number): boolean {
    return this.#unpurged.has(key);
  }

  /** Name of a deleted cell whose rows may still be there. */
  nameOfUnpurged(key: number): string | undefined {
    return this.#unpurged.get(key);
  }

  apply({ kind, name, value }: Entry): void {
    const before = this.get(kind, name);
    if (before !== undefined) this.digest = toggled(this.digest, { kind, name, value: before });
    if (value === null) this.#rows.delete(nameOf(kind, name));
    else {
      this.#rows.set(nameOf(kind, name), value);
      this.digest = toggled(this.digest, { kind, name, value });
    }
    switch (kind) {
      case 'setting':
        this.#setSetting(name, value);
        return;
      case 'tenant':
        if (value === null) this.tenants.delete(name);
        else this.tenants.set(name, JSON.parse(value) as Tenant);
        return;
      case 'api-key':
        if (value === null) this.apiKeys.delete(name);
        else this.apiKeys.set(name, JSON.parse(value) as ApiKey);
        return;
      case 'simulation': {
        const earlier = this.cells.get(name);
        if (earlier !== undefined) this.#cellsOf.get(earlier.tenantId)?.delete(name);
        this.cells.delete(name);
        if (earlier !== undefined && this.#unpurged.get(earlier.key) === name)
          this.#unpurged.delete(earlier.key);
        if (value === null) return;
        const cell = JSON.parse(value) as RegisteredCell;
        this.cells.set(name, cell);
        this.lastKey = Math.max(this.lastKey, cell.key);
        if (cell.isPurged === true) this.#origins.delete(cell.key);
        else if (cell.origin !== undefined) this.#origins.set(cell.key, cell.origin);
        if (cell.deletedAt !== undefined) {
          if (cell.isPurged !== true) this.#unpurged.set(cell.key, name);
          return;
        }
        const all = this.#cellsOf.get(cell.tenantId) ?? new Map<string, RegisteredCell>();
        this.#cellsOf.set(cell.tenantId, all.set(name, cell));
      }
    }
  }

  /** The digest with these rows in place. */
  digestWith(entries: Iterable<Entry>): string {
    let { digest } = this;
    for (const { kind, name, value } of entries) {
      const before = this.get(kind, name);
      if (before !== undefined) digest = toggled(digest, { kind, name, value: before });
      if (value !== null) digest = toggled(digest, { kind, name, value });
    }
    return digest;
  }
}

function toggled(digest: string, entry: Entry): string {
  const bytes = Buffer.from(digest, 'hex');
  const row = hash('sha256', JSON.stringify([entry.kind, entry.name, entry.value]), 'buffer');
  for (let index = 0; index < bytes.length; index += 1)
    bytes[index] = (bytes[index] ?? 0) ^ (row[index] ?? 0);
  return bytes.toString('hex');
}

/** Rows that a group of changes writes, in order of the changes. A refused change writes none. */
export class RegistryDraft {
  readonly #state: RegistryState;
  readonly #entries = new Map<string, Entry>();
  #lastKey: number;

  constructor(state: RegistryState) {
    this.#state = state;
    this.#lastKey = state.lastKey;
  }

  get entries(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  #get(kind: EntryKind, name: string): string | undefined {
    const drafted = this.#entries.get(nameOf(kind, name));
    return drafted === undefined ? this.#state.get(kind, name) : (drafted.value ?? undefined);
  }

  #put(kind: EntryKind, name: string, value: object | string | null): void {
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    this.#entries.set(nameOf(kind, name), { kind, name, value: text });
  }

  /** Throws `AlreadyExists` and `NotInRegistry`. Returns the key of a cell that is created or deleted. */
  apply(change: RegistryChange): number | undefined {
    switch (change.change) {
      case 'create-tenant': {
        const { tenant } = change;
        if (this.#get('tenant', tenant.id) !== undefined) throw exists(`tenant with the id ${tenant.id}`);
        if (this.#tenantNamed(tenant.name) !== undefined) throw exists(`tenant with the name ${tenant.name}`);
        this.#put('tenant', tenant.id, tenant);
        return undefined;
      }
      case 'update-tenant': {
        const { id, name } = change.tenant;
        const before = this.#get('tenant', id);
        if (before === undefined) throw missing(`tenant ${id}`);
        const other = this.#tenantNamed(name);
        if (other !== undefined && other !== id) throw exists(`tenant with the name ${name}`);
        const { createdAt } = JSON.parse(before) as Tenant;
        this.#put('tenant', id, { ...change.tenant, createdAt });
        return undefined;
      }
      case 'create-api-key': {
        const { key } = change;
        if (this.#get('tenant', key.tenantId) === undefined) throw missing(`tenant ${key.tenantId}`);
        if (this.#get('api-key', key.hash) !== undefined) throw exists('API key like this one');
        this.#put('api-key', key.hash, key);
        return undefined;
      }
      case 'revoke-api-key': {
        const before = this.#get('api-key', change.hash);
        if (before === undefined) throw missing('API key');
        const key = JSON.parse(before) as ApiKey;
        this.#put('api-key', change.hash, { ...key, revokedAt: key.revokedAt ?? change.revokedAt });
        return undefined;
      }
      case 'create-simulation': {
        const { id } = change.cell;
        if (this.#get('simulation', id) !== undefined) throw exists(`simulation with the id ${id}`);
        this.#lastKey += 1;
        this.#put('simulation', id, { ...change.cell, key: this.#lastKey });
        return this.#lastKey;
      }
      case 'delete-simulation': {
        const before = this.#get('simulation', change.id);
        if (before === undefined) return undefined;
        const cell = JSON.parse(before) as RegisteredCell;
        if (cell.deletedAt !== undefined) return undefined;
        this.#put('simulation', change.id, { ...cell, deletedAt: change.deletedAt });
        for (const name of this.#settingNames(settingsOf(change.id))) this.#put('setting', name, null);
        return cell.key;
      }
      case 'mark-purged': {
        const name = this.#state.nameOfUnpurged(change.key);
        const text = name === undefined ? undefined : this.#get('simulation', name);
        if (name === undefined || text === undefined) return undefined;
        this.#put('simulation', name, { ...(JSON.parse(text) as RegisteredCell), isPurged: true });
        return undefined;
      }
      case 'delete-tenant':
        this.#deleteTenant(change.id);
        return undefined;
      case 'save-setting':
        this.#put('setting', change.name, change.value);
        return undefined;
      case 'delete-setting':
        this.#put('setting', change.name, null);
        return undefined;
    }
  }

  /** Keys of its cells stay reserved; the contents of their rows are removed. */
  #deleteTenant(id: string): void {
    if (this.#get('tenant', id) !== undefined) this.#put('tenant', id, null);
    for (const key of this.#state.apiKeys.values())
      if (key.tenantId === id) this.#put('api-key', key.hash, null);
    for (const { id: name } of this.#state.cells.values()) {
      const text = this.#get('simulation', name);
      const cell = text === undefined ? undefined : (JSON.parse(text) as RegisteredCell);
      if (cell?.tenantId !== id || cell.deletedAt === undefined) continue;
      this.#put('simulation', name, null);
      this.#put('simulation', erasedNameOf(cell.key), {
        id: erasedNameOf(cell.key),
        tenantId: null,
        config: '',
        createdAt: 0,
        deletedAt: cell.deletedAt,
        key: cell.key,
        ...(cell.origin !== undefined && { origin: cell.origin }),
        ...(cell.isPurged === true && { isPurged: true }),
      } satisfies RegisteredCell);
    }
  }

  #tenantNamed(name: string): string | undefined {
    for (const { kind, name: id, value } of this.#entries.values())
      if (kind === 'tenant' && value !== null && (JSON.parse(value) as Tenant).name === name) return id;
    for (const { id, name: given } of this.#state.tenants.values())
      if (given === name && !this.#entries.has(nameOf('tenant', id))) return id;
    return undefined;
  }

  #settingNames(prefix: string): readonly string[] {
    const found = new Set<string>();
    for (const name of this.#state.settings.keys()) if (name.startsWith(prefix)) found.add(name);
    for (const { kind, name } of this.#entries.values())
      if (kind === 'setting' && name.startsWith(prefix)) found.add(name);
    return [...found];
  }
}

const exists = (what: string): AlreadyExists => new AlreadyExists(`There is a ${what} already`);
const missing = (what: string): NotInRegistry => new NotInRegistry(`There is no ${what}`);
