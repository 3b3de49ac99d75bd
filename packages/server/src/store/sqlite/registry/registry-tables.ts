import type { Tier } from '@sandpit/core';
import { settingsOf } from '../../registry.js';
import type { ApiKey, SimulationEntry, Tenant } from '../../registry.js';
import type { Operation, WriteRefusal } from '../journal/batch.js';
import { all, one, Statements } from '../database/connection.js';
import type { Database, SqlValue } from '../database/connection.js';
import { forkSetting, forkSettingValue } from '../journal/fork-origin.js';
import { REGISTRY_TABLES, registryRowHash } from '../journal/row-sums.js';
import type { RegistryTable, RowSum } from '../journal/row-sums.js';

export type RegistryOperation = Exclude<
  Operation,
  { kind: 'save-answer' | 'delete-answers' | 'write' | 'probe' }
>;

type RegistryRefusal = Pick<WriteRefusal, 'reason' | 'message'>;

/** Writes the registry, and updates the state sum. Used by the writer only, inside its commits. */
export class RegistryTables {
  readonly #statements: Statements;

  constructor(database: Database) {
    this.#statements = new Statements(database);
  }

  apply(operation: RegistryOperation, sum: RowSum): RegistryRefusal | undefined {
    const change = (table: RegistryTable, key: SqlValue, sql: string, ...values: readonly SqlValue[]): void =>
      this.change(sum, table, key, sql, ...values);
    switch (operation.kind) {
      case 'create-tenant': {
        const { id, name, tier, scope, createdAt } = operation.tenant;
        if (this.#has('SELECT 1 FROM tenant WHERE id = ?', id)) return exists(`tenant with the id ${id}`);
        if (this.#has('SELECT 1 FROM tenant WHERE name = ?', name))
          return exists(`tenant with the name ${name}`);
        change('tenant', id, 'INSERT INTO tenant VALUES (?, ?, ?, ?, ?)', id, name, tier, scope, createdAt);
        return undefined;
      }
      case 'update-tenant': {
        const { id, name, tier, scope } = operation.tenant;
        if (!this.#has('SELECT 1 FROM tenant WHERE id = ?', id)) return missing(`tenant ${id}`);
        if (this.#has('SELECT 1 FROM tenant WHERE name = ? AND id <> ?', name, id)) {
          return exists(`tenant with the name ${name}`);
        }
        const sql = 'UPDATE tenant SET name = ?, tier = ?, scope = ? WHERE id = ?';
        change('tenant', id, sql, name, tier, scope, id);
        return undefined;
      }
      case 'create-api-key': {
        const { hash, tenantId, tier, scope, createdAt, revokedAt = null } = operation.key;
        if (!this.#has('SELECT 1 FROM tenant WHERE id = ?', tenantId)) return missing(`tenant ${tenantId}`);
        if (this.#has('SELECT 1 FROM api_key WHERE hash = ?', hash)) return exists('API key like this one');
        const sql = 'INSERT INTO api_key VALUES (?, ?, ?, ?, ?, ?)';
        change('api_key', hash, sql, hash, tenantId, tier, scope, createdAt, revokedAt);
        return undefined;
      }
      case 'revoke-api-key': {
        const { hash, revokedAt } = operation;
        if (!this.#has('SELECT 1 FROM api_key WHERE hash = ?', hash)) return missing('API key');
        const sql = 'UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE hash = ?';
        change('api_key', hash, sql, revokedAt, hash);
        return undefined;
      }
      case 'create-simulation': {
        const { id, tenantId, config, createdAt } = operation.simulation;
        const sql = 'INSERT INTO simulation (key, id, tenant, config, created_at) VALUES (?, ?, ?, ?, ?)';
        change('simulation', operation.key, sql, operation.key, id, tenantId, config, createdAt);
        if (operation.origin !== undefined)
          this.#saveSetting(sum, forkSetting(operation.key), forkSettingValue(operation.origin));
        return undefined;
      }
      case 'delete-simulation': {
        const { key, deletedAt } = operation;
        const sql = 'UPDATE simulation SET deleted_at = coalesce(deleted_at, ?) WHERE key = ?';
        change('simulation', key, sql, deletedAt, key);
        this.#deleteSettings(sum, key);
        return undefined;
      }
      case 'delete-tenant': {
        const { tenantId } = operation;
        const keys = all<{ hash: string }>(
          this.#statements.of('SELECT hash FROM api_key WHERE tenant = ?'),
          tenantId,
        );
        for (const { hash } of keys) change('api_key', hash, 'DELETE FROM api_key WHERE hash = ?', hash);
        const sql = 'SELECT key FROM simulation WHERE tenant = ? AND deleted_at IS NOT NULL';
        const simulations = all<{ key: number }>(this.#statements.of(sql), tenantId);
        // The key stays reserved: checkpoints, history and blocks that are being removed refer to it.
        const erase = `UPDATE simulation SET id = 'erased/' || key, tenant = NULL, config = '{}' WHERE key = ?`;
        for (const { key } of simulations) change('simulation', key, erase, key);
        change('tenant', tenantId, 'DELETE FROM tenant WHERE id = ?', tenantId);
        return undefined;
      }
      case 'save-setting': {
        this.#saveSetting(sum, operation.name, operation.value);
        return undefined;
      }
      case 'delete-setting':
        this.deleteSetting(sum, operation.name);
        return undefined;
    }
  }

  #saveSetting(sum: RowSum, name: string, value: string): void {
    this.change(sum, 'setting', name, 'INSERT OR REPLACE INTO setting VALUES (?, ?)', name, value);
  }

  deleteSetting(sum: RowSum, name: string): void {
    this.change(sum, 'setting', name, 'DELETE FROM setting WHERE name = ?', name);
  }

  isLive(simulation: number): boolean {
    return this.#has('SELECT 1 FROM simulation WHERE key = ? AND deleted_at IS NULL', simulation);
  }

  /** Changes the one row that the key names. */
  change(
    sum: RowSum,
    table: RegistryTable,
    key: SqlValue,
    sql: string,
    ...values: readonly SqlValue[]
  ): void {
    this.#toggle(sum, table, key);
    this.#statements.of(sql).run(...values);
    this.#toggle(sum, table, key);
  }

  #toggle(sum: RowSum, table: RegistryTable, key: SqlValue): void {
    const sql = `SELECT * FROM ${table} WHERE ${REGISTRY_TABLES[table]} = ?`;
    const row = one<Record<string, SqlValue>>(this.#statements.of(sql), key);
    if (row !== undefined) sum.toggle(registryRowHash(table, row));
  }

  /** Deletes the settings of the simulation with this key. */
  #deleteSettings(sum: RowSum, key: number): void {
    const simulation = one<{ id: string }>(
      this.#statements.of('SELECT id FROM simulation WHERE key = ?'),
      key,
    );
    if (simulation === undefined) return;
    for (const [name] of new RegistryQueries(this.#statements).settings(settingsOf(simulation.id)))
      this.deleteSetting(sum, name);
  }

  #has(sql: string, ...values: readonly SqlValue[]): boolean {
    return one(this.#statements.of(sql), ...values) !== undefined;
  }
}

function exists(what: string): RegistryRefusal {
  return { reason: 'already-exists', message: `There is a ${what} already` };
}

function missing(what: string): RegistryRefusal {
  return { reason: 'not-in-registry', message: `There is no ${what}` };
}

interface TenantRow {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly scope: string;
  readonly created_at: number;
}

interface ApiKeyRow {
  readonly hash: string;
  readonly tenant: string;
  readonly tier: string;
  readonly scope: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
}

interface SimulationRow {
  readonly key: number;
  readonly id: string;
  readonly tenant: string | null;
  readonly config: string;
  readonly created_at: number;
  readonly deleted_at: number | null;
}

/** Reads the registry, from any thread. */
export class RegistryQueries {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  tenants(where: 'id = ?' | 'name = ?' | 'true', ...values: readonly string[]): readonly Tenant[] {
    const sql = `SELECT * FROM tenant WHERE ${where} ORDER BY created_at, rowid`;
    return all<TenantRow>(this.#statements.of(sql), ...values).map((row) => ({
      id: row.id,
      name: row.name,
      tier: row.tier as Tier,
      scope: row.scope,
      createdAt: row.created_at,
    }));
  }

  apiKeys(where: 'hash = ?' | 'tenant = ?', value: string): readonly ApiKey[] {
    const sql = `SELECT * FROM api_key WHERE ${where} ORDER BY created_at, rowid`;
    return all<ApiKeyRow>(this.#statements.of(sql), value).map((row) => ({
      hash: row.hash,
      tenantId: row.tenant,
      tier: row.tier as Tier,
      scope: row.scope,
      createdAt: row.created_at,
      ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
    }));
  }

  simulations(
    where: 'id = ?' | 'tenant IS ? AND deleted_at IS NULL' | 'deleted_at IS NULL' | 'deleted_at IS NOT NULL',
    ...values: readonly (string | null)[]
  ): readonly SimulationEntry[] {
    const sql = `SELECT * FROM simulation WHERE ${where} ORDER BY key`;
    return all<SimulationRow>(this.#statements.of(sql), ...values).map((row) => ({
      id: row.id,
      tenantId: row.tenant,
      config: row.config,
      createdAt: row.created_at,
      ...(row.deleted_at === null ? {} : { deletedAt: row.deleted_at }),
    }));
  }

  setting(name: string): string | undefined {
    return one<{ value: string }>(this.#statements.of('SELECT value FROM setting WHERE name = ?'), name)
      ?.value;
  }

  settings(prefix: string): readonly (readonly [string, string])[] {
    const sql =
      'SELECT name, value FROM setting WHERE name >= ?1 AND name < ?1 || char(0x10ffff) ORDER BY name';
    const rows = all<{ name: string; value: string }>(this.#statements.of(sql), prefix);
    return rows.map(({ name, value }) => [name, value]);
  }
}
