import { one } from '../database/connection.js';
import type { Statements } from '../database/connection.js';

/** Origin of a fork's journal: after a record of another simulation. */
export interface ForkOrigin {
  /** Key of the simulation that wrote the record: an ancestor if the parent inherited it. */
  readonly parent: number;
  /** The last record that both have; the fork's own follow. 0 = the parent's beginning. */
  readonly seq: number;
}

const PREFIX = 'fork/';

/** The setting with the origin of a fork: it stays until the last block of the fork is removed. */
export const forkSetting = (simulation: number): string => `${PREFIX}${simulation}`;

export const forkSettingValue = ({ parent, seq }: ForkOrigin): string => JSON.stringify({ parent, seq });

/** Origin of a fork; undefined for any other simulation. */
export function forkOriginOf(statements: Statements, simulation: number): ForkOrigin | undefined {
  const sql = 'SELECT value FROM setting WHERE name = ?';
  const row = one<{ value: string }>(statements.of(sql), forkSetting(simulation));
  return row === undefined ? undefined : (JSON.parse(row.value) as ForkOrigin);
}

const OF_FORKS = `FROM setting WHERE name >= '${PREFIX}' AND name < 'fork0' AND json_extract(value, '$.parent') = ?`;

/** The last record of a simulation that forks rest on; 0 = none does. */
export function heldByForks(statements: Statements, simulation: number): number {
  const sql = `SELECT max(json_extract(value, '$.seq')) AS seq ${OF_FORKS}`;
  return one<{ seq: number | null }>(statements.of(sql), simulation)?.seq ?? 0;
}

/** True when any fork begins in the journal of a simulation. */
export function hasForks(statements: Statements, simulation: number): boolean {
  return one(statements.of(`SELECT 1 ${OF_FORKS} LIMIT 1`), simulation) !== undefined;
}
