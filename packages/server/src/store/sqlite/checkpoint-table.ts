import { hash } from 'node:crypto';
import type { Checkpoint } from '../checkpoints.js';
import { all } from './connection.js';
import type { Database, Statement, Statements } from './connection.js';

/** The latest, and the one before it in case the latest is damaged. */
const KEPT = 2;

function stateHash(simulation: number, seq: number, state: string): string {
  return hash('sha256', `${simulation} ${seq}\n${state}`, 'base64');
}

/** Writes checkpoints. Used by the writer only, inside its commits. */
export class CheckpointTable {
  readonly #save: Statement;
  readonly #removeOld: Statement;

  constructor(database: Database) {
    this.#save = database.prepare(
      'INSERT OR REPLACE INTO checkpoint (simulation, seq, hash, state) VALUES (?, ?, ?, ?)',
    );
    this.#removeOld = database.prepare(
      `DELETE FROM checkpoint WHERE simulation = ?1 AND seq NOT IN
         (SELECT seq FROM checkpoint WHERE simulation = ?1 ORDER BY seq DESC LIMIT ${KEPT})`,
    );
  }

  save(simulation: number, seq: number, state: string): void {
    this.#save.run(simulation, seq, stateHash(simulation, seq, state), state);
    this.#removeOld.run(simulation);
  }
}

/** The latest that is as it was saved. */
export function loadIntactCheckpoint(
  statements: Statements,
  simulation: number,
  simulationId: string,
): Checkpoint | undefined {
  const seqs = all<{ seq: number }>(
    statements.of('SELECT seq FROM checkpoint WHERE simulation = ? ORDER BY seq DESC'),
    simulation,
  );
  // One at a time: a state can be large.
  for (const { seq } of seqs) {
    const [row] = all<{ hash: string; state: string }>(
      statements.of('SELECT hash, state FROM checkpoint WHERE simulation = ? AND seq = ?'),
      simulation,
      seq,
    );
    if (row !== undefined && row.hash === stateHash(simulation, seq, row.state)) {
      return { simulationId, seq, state: row.state };
    }
  }
  return undefined;
}
