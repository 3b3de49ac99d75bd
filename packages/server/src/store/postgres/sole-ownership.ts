import { DamagedJournal, RecordsMissing, StoreUnavailable } from '../journal.js';
import type { AcknowledgedHeads } from './acknowledged-heads.js';
import type { Cell } from './cells.js';
import type { HistoryProjector } from './history-projector.js';
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
}

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
  #projector: HistoryProjector | undefined;

  constructor(parts: OwnershipParts) {
    this.#parts = parts;
  }

  /** Acquires every cell without a live owner, with the next epoch, so that an earlier owner can no longer commit. */
  async takeAll(): Promise<void> {
    const { database, incarnation, state } = this.#parts;
    const rows = await database.ask<HeadRow>(
      `UPDATE head SET incarnation = $1, epoch = epoch + 1
         WHERE incarnation IS NULL OR incarnation IN (SELECT id FROM incarnation WHERE struck_out)
         RETURNING cell, epoch, seq, hash, missing, losses`,
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

  #own({ id, key, origin }: RegisteredCell, { epoch, seq: last, hash, losses }: HeadRow): Cell {
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
    };
    cells.set(id, cell);
    memory.remember(id, { key, seq, hash, losses });
    return cell;
  }

  /** The projector continues from the end of each cell's history tables. */
  async ownPositions(projector: HistoryProjector): Promise<void> {
    const { database, cells } = this.#parts;
    this.#projector = projector;
    const rows = await database.ask<{ cell: number; seq: string }>(
      'SELECT cell, seq FROM history_position',
      [],
      PAGE_MS,
    );
    const positions = new Map(rows.map(({ cell, seq }) => [cell, Number(seq)]));
    for (const cell of cells.values()) projector.own(cell, positions.get(cell.key ?? 0) ?? 0);
  }

  /** Acquires a lost cell again. Rejects with `RecordsMissing` if it lacks acknowledged records. */
  takeCell(simulationId: string): void | Promise<void> {
    return this.#parts.cells.has(simulationId) ? undefined : this.#takeCell(simulationId);
  }

  async #takeCell(simulationId: string): Promise<void> {
    const { database, incarnation, state, cells, reloadRegistry } = this.#parts;
    const registered = state.cells.get(simulationId);
    if (registered === undefined || registered.deletedAt !== undefined) return;
    const [row] = await database.ask<HeadRow & { readonly told: string | null }>(
      `UPDATE head SET incarnation = $1, epoch = epoch + 1 WHERE cell = $2
         AND (incarnation IS NULL OR incarnation = $1 OR incarnation IN (SELECT id FROM incarnation WHERE struck_out))
         RETURNING cell, epoch, seq, hash, missing, losses,
           (SELECT p.seq FROM history_position p WHERE p.cell = head.cell) AS told`,
      [incarnation, registered.key],
    );
    if (row === undefined) throw new StoreUnavailable(`${simulationId} is served elsewhere`);
    if (row.missing !== null) throw new RecordsMissing(Number(row.missing));
    // Tags of accepted losses are in the registry.
    if (row.losses > 0) await reloadRegistry();
    if (cells.has(simulationId)) throw new StoreUnavailable(`${simulationId} is being taken`);
    this.#projector?.own(this.#own(registered, row), Number(row.told ?? 0));
  }

  /** A cell that differs from memory: it accepts no further commits. */
  forget(cell: Cell): void {
    const { cells } = this.#parts;
    cell.isLost = true;
    if (cells.get(cell.id) === cell) cells.delete(cell.id);
    if (cell.key !== undefined) this.#projector?.forget(cell.key);
  }
}
