import { LRUCache } from 'lru-cache';
import type { History, HistoryHealth, OrderRow } from '../history.js';
import { StoreUnavailable } from '../journal.js';
import type { ValueOrPromise } from '../journal.js';
import { ProjectionWaiters } from '../projection-waiters.js';
import type { BlockReader } from './block-reader.js';
import type { Cell } from './cells.js';
import { HistoryQueries } from './history-queries.js';
import type { HistoryProjector } from './history-projector.js';
import type { QuestionConnection } from './question-connection.js';

const ABSENT_REMEMBERED = 1_000;

/** History in PostgreSQL: the answers of its tables, and how far they are. */
export class PostgresHistory extends HistoryQueries implements History {
  readonly answersAtOnce = false;
  readonly #cells: ReadonlyMap<string, Cell>;
  readonly #projector: HistoryProjector;
  readonly #waits = new ProjectionWaiters();
  /** Orders that the tables did not have, with the position of the query, so that repeated reads end. */
  readonly #absent = new LRUCache<string, number>({ max: ABSENT_REMEMBERED });
  #failure: string | undefined;

  constructor(
    database: QuestionConnection,
    blocks: BlockReader,
    cells: ReadonlyMap<string, Cell>,
    projector: HistoryProjector,
  ) {
    super(database, blocks, cells);
    this.#cells = cells;
    this.#projector = projector;
  }

  override order(simulationId: string, order: number): ValueOrPromise<OrderRow | undefined> {
    const name = `${simulationId} ${order}`;
    const position = this.position(simulationId);
    if (this.#absent.get(name) === position) return undefined;
    const found = super.order(simulationId, order);
    if (!(found instanceof Promise)) return found;
    return found.then((row) => {
      if (row === undefined) this.#absent.set(name, position);
      return row;
    });
  }

  /** The tables contain a record and all before it. */
  projected(cell: Cell, seq: number): void {
    if (cell.key !== undefined) this.#waits.reached(cell.key, seq);
  }

  failing(reason: string | undefined): void {
    this.#failure = reason;
    if (reason !== undefined) this.#waits.rejectAll(this.#unavailable());
  }

  #unavailable(): StoreUnavailable {
    return new StoreUnavailable(`The history cannot be written: ${this.#failure ?? ''}`);
  }

  health(): HistoryHealth {
    return {
      status: this.#failure === undefined ? 'ok' : 'failing',
      ...(this.#failure !== undefined && { reason: this.#failure }),
      behind: this.#projector.behind,
      waits: this.#waits.measured,
    };
  }

  #key(simulationId: string): number | undefined {
    return this.#cells.get(simulationId)?.key;
  }

  position(simulationId: string): number {
    const key = this.#key(simulationId);
    return key === undefined ? 0 : this.#projector.position(key);
  }

  reached(simulationId: string, seq: number): Promise<void> {
    // Callers that retry until the position is reached must end.
    if (!this.#cells.has(simulationId) && seq > 0)
      return Promise.reject(new StoreUnavailable(`${simulationId} is served elsewhere`));
    const key = this.#key(simulationId);
    if (key === undefined || this.#projector.position(key) >= seq) return Promise.resolve();
    if (this.#failure !== undefined) return Promise.reject(this.#unavailable());
    return this.#waits.add(key, seq);
  }
}
