import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { webhookSetting } from '../../webhooks.js';
import type { StoredWebhook } from '../../webhooks.js';
import { all, openConnection, Statements } from '../database/connection.js';
import type { Database, SqlValue } from '../database/connection.js';
import { addWebhookTables, WEBHOOK_FILE } from '../journal/journal-schema.js';
import type { RowSum } from '../journal/row-sums.js';
import { RegistryTables } from '../registry/registry-tables.js';

/** Moves the webhooks of earlier versions into the journal, inside the commit that changes its format: all of them, or none. */
export function adoptWebhooks(database: Database, directory: string, sum: RowSum): void {
  addWebhookTables(database);
  const path = join(directory, WEBHOOK_FILE);
  if (!existsSync(path)) return;
  const file = openConnection(path, { readOnly: true });
  try {
    if (all(file.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'webhook'")).length === 0) return;
    const registry = new RegistryTables(database);
    const statements = new Statements(database);
    for (const { data } of all<{ data: string }>(file.prepare('SELECT data FROM webhook ORDER BY k'))) {
      const [name, value] = webhookSetting(JSON.parse(data) as StoredWebhook);
      registry.apply({ kind: 'save-setting', name, value }, sum);
    }
    // Events after the cursor that were tried were found by their deliveries.
    const cursors = `SELECT webhook, simulation, seq, place, (SELECT json_group_array(json_array(d.seq, d.place)) FROM delivery d
        WHERE d.webhook = c.webhook AND d.simulation = c.simulation AND (d.seq, d.place) > (c.seq, c.place)) AS tried FROM cursor c`;
    copy(file, cursors, statements.of('INSERT INTO webhook_cursor VALUES (?, ?, ?, ?, ?)'));
    copy(
      file,
      'SELECT id, webhook, simulation, event, type, attempts, tries, status, next_at, tried_at, body FROM delivery ORDER BY k',
      statements.of(
        `INSERT INTO webhook_delivery (id, webhook, simulation, event, type, attempts, tries, status, next_at, tried_at, body)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
    );
  } finally {
    file.close();
  }
}

type Insert = ReturnType<Statements['of']>;

function copy(file: Database, rows: string, insert: Insert): void {
  for (const row of file.prepare(rows).iterate())
    insert.run(...Object.values(row as Record<string, SqlValue>));
}

/** The file is no longer needed: a commit has its contents. */
export function removeAdopted(directory: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(join(directory, WEBHOOK_FILE + end), { force: true });
}
