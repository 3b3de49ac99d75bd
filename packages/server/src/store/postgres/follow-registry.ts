import { DamagedJournal } from '../journal.js';
import type { RegistryChange } from '../ownership.js';
import type { QuestionConnection } from './question-connection.js';
import type { Entry, RegistryState } from './registry-state.js';

const PAGE_MS = 30_000;

interface RegistryRow extends Entry {
  readonly version: string;
  readonly digest: string;
}

/** Applies the changes of the registry since the last call. Returns the digest that it should have. */
export async function followRegistry(
  database: QuestionConnection,
  state: RegistryState,
  onChanges: (changes: readonly RegistryChange[]) => void = () => undefined,
): Promise<string> {
  // One statement sees one state of both tables.
  const rows = await database.ask<Partial<RegistryRow> & Pick<RegistryRow, 'version' | 'digest'>>(
    `SELECT h.version, h.digest, r.kind, r.name, r.value FROM registry_head h LEFT JOIN registry r ON r.version > $1
       ORDER BY r.version, r.kind, r.name`,
    [state.version],
    PAGE_MS,
  );
  const [head] = rows;
  if (head === undefined) throw new DamagedJournal('The registry has lost its head');
  const version = Number(head.version);
  // Local changes made in the meantime are newer.
  if (version <= state.version) return head.digest;
  const changes: RegistryChange[] = [];
  for (const { kind, name, value } of rows) {
    if (typeof kind !== 'string' || typeof name !== 'string') continue;
    const before = state.get(kind, name);
    state.apply({ kind, name, value: value ?? null });
    if (before !== (value ?? undefined)) changes.push({ kind, name });
  }
  state.version = version;
  if (changes.length > 0) onChanges(changes);
  return head.digest;
}
