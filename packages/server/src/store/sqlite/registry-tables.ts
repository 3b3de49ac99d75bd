import type { Tier } from '@sandpit/core';
import type { ApiKey, SimulationEntry, Tenant } from '../registry.js';
import type { Operation, Refusal } from './batch.js';
import { all, one, Statements } from './connection.js';
import type { Database, SqlValue } from './connection.js';

export type RegistryOperation = Exclude<Operation, { kind: 'save-answer' | 'save-checkpoint' | 'probe' }>;

type Refused = Pick<Refusal, 'reason' | 'message'>;

/** Writes the registry. Used by the writer only, inside its commits. */
export class RegistryTables {
  readonly #statements: Statements;

  constructor(database: Database) {
    this.#statements = new Statements(database);
  }

  apply(operation: RegistryOperation): Refused | undefined {
    switch (operation.kind) {
      case 'create-tenant': {
        const { id, name, tier, scope, createdAt } = operation.tenant;
        if (this.#has('SELECT 1 FROM tenant WHERE id = ?', id)) return exists(`tenant with the id ${id}`);
        if (this.#has('SELECT 1 FROM tenant WHERE name = ?', name))
          return exists(`tenant with the name ${name}`);
        this.#run('INSERT INTO tenant VALUES (?, ?, ?, ?, ?)', id, name, tier, scope, createdAt);
        return undefined;
      }
      case 'update-tenant': {
        const { id, name, tier, scope } = operation.tenant;
        if (!this.#has('SELECT 1 FROM tenant WHERE id = ?', id)) return missing(`tenant ${id}`);
        if (this.#has('SELECT 1 FROM tenant WHERE name = ? AND id <> ?', name, id)) {
          return exists(`tenant with the name ${name}`);
        }
        this.#run('UPDATE tenant SET name = ?, tier = ?, scope = ? WHERE id = ?', name, tier, scope, id);
        return undefined;
      }
      case 'create-api-key': {
        const { hash, tenantId, tier, scope, createdAt, revokedAt } = operation.key;
        if (!this.#has('SELECT 1 FROM tenant WHERE id = ?', tenantId)) return missing(`tenant ${tenantId}`);
        if (this.#has('SELECT 1 FROM api_key WHERE hash = ?', hash)) return exists('API key like this one');
        this.#run(
          'INSERT INTO api_key VALUES (?, ?, ?, ?, ?, ?)',
          hash,
          tenantId,
          tier,
          scope,
          createdAt,
          revokedAt ?? null,
        );
        return undefined;
      }
      case 'revoke-api-key': {
        const { hash, revokedAt } = operation;
        if (!this.#has('SELECT 1 FROM api_key WHERE hash = ?', hash)) return missing('API key');
        this.#run('UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE hash = ?', revokedAt, hash);
        return undefined;
      }
      case 'create-simulation': {
        const { id, tenantId, config, createdAt } = operation.simulation;
        this.#run(
          'INSERT INTO simulation (key, id, tenant, config, created_at) VALUES (?, ?, ?, ?, ?)',
          operation.key,
          id,
          tenantId,
          config,
          createdAt,
        );
        return undefined;
      }
      case 'delete-simulation': {
        const { id, deletedAt } = operation;
        this.#run('UPDATE simulation SET deleted_at = coalesce(deleted_at, ?) WHERE id = ?', deletedAt, id);
        return undefined;
      }
      case 'save-setting':
        this.#run('INSERT OR REPLACE INTO setting VALUES (?, ?)', operation.name, operation.value);
        return undefined;
    }
  }

  #has(sql: string, ...values: readonly SqlValue[]): boolean {
    return one(this.#statements.of(sql), ...values) !== undefined;
  }

  #run(sql: string, ...values: readonly SqlValue[]): void {
    this.#statements.of(sql).run(...values);
  }
}

function exists(what: string): Refused {
  return { reason: 'already-exists', message: `There is a ${what} already` };
}

function missing(what: string): Refused {
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
    where: 'id = ?' | 'tenant IS ? AND deleted_at IS NULL' | 'deleted_at IS NULL',
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
}
