import { HISTORY_FORMAT } from '../history/history-rows.js';
import { DamagedJournal, RecordsMissing, StoreUnavailable } from '../journal.js';
import type { AcknowledgedHeads } from './acknowledged-heads.js';
import type { Cell } from './cells.js';
import type { QuestionConnection } from './question-connection.js';
import type { RegisteredCell, RegistryState } from './registry-state.js';

const PAGE_MS = 30_000;

interface HeadRow {
  readonly cell: number;
  readonly epoch: string;
  readonly seq: string;
  readonly hash: Buffer;
  /** Acknowledged records that it lacks: it is out of service. */
  readonly missing: string | null;
  readonly losses: number;
  /** The last record in the history. */
  readonly told: string | null;
}

const TAKEN = `cell, epoch, seq, hash, missing, losses,
  (SELECT h.seq FROM history_cell h WHERE h.cell = head.cell AND h.format = ${HISTORY_FORMAT}) AS told`;

interface OwnershipParts {
  readonly database: QuestionConnection;
  readonly incarnation: number;
  readonly state: RegistryState;
  readonly cells: Map<string, Cell>;
  readonly memory: AcknowledgedHeads;
  readonly reloadRegistry: () => Promise<unknown>;
}

/** Ownership of a single server: it acquires every cell at the start. */
export class SoleOwnership {
  readonly #parts: OwnershipParts;

  constructor(parts: OwnershipParts) {
    this.#parts = parts;
  }

  /** Acquires every cell without a live owner, with the next epoch, so that an earlier owner can no longer commit. */
  async takeAll(): Promise<void> {
    const { database, incarnation, state } = this.#parts;
    const rows = await database.ask<HeadRow>(
      `UPDATE head SET incarnation = $1, epoch = epoch + 1
         WHERE incarnation IS NULL OR incarnation IN (SELECT id FROM incarnation WHERE struck_out)
         RETURNING ${TAKEN}`,
      [incarnation],
      PAGE_MS,
    );
    const heads = new Map(rows.map((row) => [row.cell, row]));
    for (const registered of state.cells.values()) {
      if (registered.deletedAt !== undefined) continue;
      const head = heads.get(registered.key);
      if (head === undefined) throw new DamagedJournal(`The head of ${registered.id} is missing`);
      if (head.missing === null) this.#own(registered, head);
    }
  }

  #own({ id, key, origin }: RegisteredCell, { epoch, seq: last, hash, losses, told }: HeadRow): void {
    const { cells, memory } = this.#parts;
    const seq = Number(last);
    const cell: Cell = {
      id,
      key,
      head: { epoch: Number(epoch), seq, hash },
      lastSeq: seq,
      origin,
      losses,
      isLost: false,
      told: told === null ? undefined : Number(told),
    };
    cells.set(id, cell);
    memory.remember(id, { key, seq, hash, losses });
  }

  /** Acquires a lost cell again. Rejects with `RecordsMissing` if it lacks acknowledged records. */
  acquireCell(simulationId: string): void | Promise<void> {
    return this.#parts.cells.has(simulationId) ? undefined : this.#acquireCell(simulationId);
  }

  async #acquireCell(simulationId: string): Promise<void> {
    const { database, incarnation, state, cells, reloadRegistry } = this.#parts;
    const registered = state.cells.get(simulationId);
    if (registered === undefined || registered.deletedAt !== undefined) return;
    const [row] = await database.ask<HeadRow>(
      `UPDATE head SET incarnation = $1, epoch = epoch + 1 WHERE cell = $2
         AND (incarnation IS NULL OR incarnation = $1 OR incarnation IN (SELECT id FROM incarnation WHERE struck_out))
         RETURNING ${TAKEN}`,
      [incarnation, registered.key],
    );
    if (row === undefined) throw new StoreUnavailable(`${simulationId} is served elsewhere`);
    if (row.missing !== null) throw new RecordsMissing(Number(row.missing));
    // Tags of accepted losses are in the registry.
    if (row.losses > 0) await reloadRegistry();
    if (cells.has(simulationId)) throw new StoreUnavailable(`${simulationId} is being taken`);
    this.#own(registered, row);
  }

  /** A cell that differs from memory: it accepts no further commits. */
  forget(cell: Cell): void {
    const { cells } = this.#parts;
    cell.isLost = true;
    if (cells.get(cell.id) === cell) cells.delete(cell.id);
  }
}
