import { join } from 'node:path';
import type {
  ClosedPortfolioRow,
  History,
  HistoryHealth,
  ListItem,
  ListQuery,
  MinuteMark,
  OrderQuery,
  OrderRow,
  Page,
  SnapshotMinute,
  SnapshotRow,
} from '../../history.js';
import { DamagedJournal, StoreUnavailable } from '../../journal.js';
import type { PastAccess } from '../../past.js';
import { openConnection, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import type { FromProjector } from './history-messages.js';
import { HistoryQueries } from './history-queries.js';
import type { ReaderRequest } from './history-reader.js';
import type { StoredItem } from './past-records.js';
import { HISTORY_FILE } from './history-schema.js';
import { historyFailureOf } from './history-failure.js';
import type { HistoryFailure } from './history-failure.js';
import type { JournalBlocks } from '../journal/journal-blocks.js';
import type { ProjectingThread } from './projecting-thread.js';
import { ReadingThread } from './reading-thread.js';
import type { SimulationKeys } from '../journal/simulation-keys.js';
import { ProjectionWaiters } from '../../projection-waiters.js';
import { workerUrl } from '../../worker-url.js';

type QuestionIn<Request> = Request extends unknown ? Omit<Request, 'id' | 'simulation'> : never;
/** Questions to the reader about a simulation. */
type Question = QuestionIn<ReaderRequest>;

const NOTE_EVERY_MS = 5_000;

export interface SqliteHistoryParts {
  readonly directory: string;
  readonly projector: ProjectingThread;
  readonly keys: SimulationKeys;
  /** On a connection of the calling thread. */
  readonly journal: JournalBlocks;
  readonly note: (text: string) => void;
}

/**
 * History in a database of its own. The calling thread reads single rows, the reader answers paged queries, the projector writes. If tables
 * are damaged, all threads close them and the projector derives them again.
 */
export class SqliteHistory implements History {
  readonly answersAtOnce = true;
  readonly #keys: SimulationKeys;
  readonly #journal: JournalBlocks;
  readonly #directory: string;
  readonly #path: string;
  readonly #note: (text: string) => void;
  readonly #projector: ProjectingThread;
  readonly #reader: ReadingThread;
  readonly #waits = new ProjectionWaiters();
  /** Known positions, by the keys of simulations. */
  readonly #positions = new Map<number, number>();
  #database: Database | undefined;
  #queries: HistoryQueries | undefined;
  #status: HistoryHealth['status'] | 'starting' = 'starting';
  #reason: string | undefined;
  #progress = 0;
  /** Count since the start, modulo 2³²: compared with the records committed since then. */
  #projectedRecords = 0;
  #notedAt = -Infinity;
  #isLettingGo = false;
  #isClosed = false;
  #started: () => void = () => undefined;
  readonly #readers: (() => Promise<void>)[] = [];

  private constructor({ directory, projector, keys, journal, note }: SqliteHistoryParts) {
    this.#keys = keys;
    this.#journal = journal;
    this.#note = note;
    this.#directory = directory;
    this.#path = join(directory, HISTORY_FILE);
    this.#reader = new ReadingThread(directory, (trouble) => this.#errorOf(trouble));
    this.#projector = projector;
  }

  /** Resolves when it is known whether the tables can be used. */
  static async start(parts: SqliteHistoryParts): Promise<SqliteHistory> {
    const history = new SqliteHistory(parts);
    await new Promise<void>((resolve) => {
      history.#started = resolve;
      parts.projector.begin((message) => history.#receive(message));
    });
    return history;
  }

  #receive(message: FromProjector): void {
    switch (message.kind) {
      case 'ok':
        if (this.#status === 'rebuilding') this.#note('The history is complete again');
        if (this.#status === 'failing') this.#note('The history is written again');
        this.#become('ok', undefined);
        return;
      case 'rebuilding':
        this.#rebuilding(message.reason, message.progress);
        return;
      case 'failing':
        if (this.#reason !== message.reason) this.#note(`The history cannot be written: ${message.reason}`);
        this.#become('failing', message.reason);
        this.#waits.rejectAll(this.#unavailable());
        return;
      case 'damaged':
        this.#rebuild(message.reason);
        return;
      case 'projected':
        this.#projected(message);
        return;
      case 'closed':
        return;
    }
  }

  #become(status: HistoryHealth['status'], reason: string | undefined): void {
    this.#status = status;
    this.#reason = reason;
    this.#started();
  }

  #rebuilding(reason: string, progress: number): void {
    const isNew = this.#status !== 'rebuilding';
    this.#progress = progress;
    this.#become('rebuilding', reason);
    const now = performance.now();
    if (!isNew && now - this.#notedAt < NOTE_EVERY_MS) return;
    this.#notedAt = now;
    this.#note(
      isNew
        ? `The history is derived again from the journal: ${reason}`
        : `The history is derived again from the journal: ${Math.floor(progress * 100)} %`,
    );
  }

  #projected({ positions, records, upTo }: Extract<FromProjector, { kind: 'projected' }>): void {
    this.#projectedRecords = upTo ?? (this.#projectedRecords + records) | 0;
    for (let index = 0; index < positions.length; index += 2) {
      const simulation = positions[index] ?? 0;
      const seq = positions[index + 1] ?? 0;
      this.#positions.set(simulation, seq);
      this.#waits.reached(simulation, seq);
    }
  }

  /** A simulation is deleted: its rows go little by little. */
  forget(simulation: number): void {
    this.#positions.delete(simulation);
    this.#projector.send({ kind: 'forget', simulation });
  }

  health(): HistoryHealth {
    const status = this.#status === 'starting' ? 'failing' : this.#status;
    return {
      status,
      ...(this.#reason !== undefined && { reason: this.#reason }),
      behind: Math.max(0, (this.#projector.signal.committedRecords - this.#projectedRecords) | 0),
      ...(status === 'rebuilding' && { progress: this.#progress }),
      waits: this.#waits.measured,
    };
  }

  position(simulationId: string): number {
    const simulation = this.#keys.find(simulationId)?.key;
    return simulation === undefined ? 0 : this.#positionOf(simulation);
  }

  #positionOf(simulation: number): number {
    let position = this.#positions.get(simulation);
    if (position === undefined) {
      if (this.#status === 'rebuilding' || this.#status === 'starting') return 0;
      position = this.#ask((queries) => queries.position(simulation));
      this.#positions.set(simulation, position);
    }
    return position;
  }

  reached(simulationId: string, seq: number): Promise<void> {
    try {
      const simulation = this.#keys.find(simulationId)?.key;
      if (this.#status === 'rebuilding') return Promise.reject(this.#unavailable());
      if (simulation === undefined || this.#positionOf(simulation) >= seq) return Promise.resolve();
      if (this.#status !== 'ok') return Promise.reject(this.#unavailable());
      const reached = this.#waits.add(simulation, seq);
      this.#projector.signal.hurry();
      return reached;
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  order(simulationId: string, order: number): OrderRow | undefined {
    return this.#look(simulationId, (queries, simulation) => queries.order(simulation, order));
  }

  closedPortfolio(simulationId: string, portfolioId: string): ClosedPortfolioRow | undefined {
    return this.#look(simulationId, (queries, simulation) =>
      queries.closedPortfolio(simulation, portfolioId),
    );
  }

  orderByClientOrderId(simulationId: string, portfolioId: string, clientOrderId: string): number | undefined {
    return this.#look(simulationId, (queries, simulation) =>
      queries.orderByClientOrderId(simulation, portfolioId, clientOrderId),
    );
  }

  async orders(query: OrderQuery): Promise<Page<OrderRow>> {
    const simulation = this.#keys.find(query.simulationId)?.key;
    if (simulation === undefined) return { items: [], total: 0 };
    this.#refuseUnusable();
    return (await this.#reader.ask({ kind: 'orders', simulation, query })) as Page<OrderRow>;
  }

  async closedPortfolios(simulationId: string): Promise<readonly ClosedPortfolioRow[]> {
    return this.#all<ClosedPortfolioRow>(simulationId, { kind: 'closed-portfolios' });
  }

  async standingMinutes(simulationId: string, portfolioId: string): Promise<readonly SnapshotMinute[]> {
    return this.#all<SnapshotMinute>(simulationId, { kind: 'standing-minutes', portfolioId });
  }

  async standings(
    simulationId: string,
    portfolioId: string,
    from: number,
    to: number,
  ): Promise<readonly SnapshotRow[]> {
    return this.#all<SnapshotRow>(simulationId, { kind: 'standings', portfolioId, from, to });
  }

  async marks(
    simulationId: string,
    symbol: string,
    from: number,
    to: number,
  ): Promise<readonly MinuteMark[]> {
    return this.#all<MinuteMark>(simulationId, { kind: 'marks', symbol, from, to });
  }

  /** All results of a query. */
  async #all<Row>(simulationId: string, request: Question): Promise<readonly Row[]> {
    const simulation = this.#keys.find(simulationId)?.key;
    if (simulation === undefined) return [];
    this.#refuseUnusable();
    return ((await this.#reader.ask({ ...request, simulation })) as Page<Row>).items;
  }

  async list(query: ListQuery): Promise<Page<ListItem>> {
    const simulation = this.#keys.find(query.simulationId)?.key;
    if (simulation === undefined) return { items: [], total: 0 };
    this.#refuseUnusable();
    const page = (await this.#reader.ask({ kind: 'list', simulation, query })) as Page<StoredItem>;
    return { ...page, items: page.items.map(listItem) };
  }

  streamEvents(
    simulationId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly ListItem[] {
    const items = this.#look(simulationId, (queries, simulation) =>
      queries.streamEvents(simulation, after, limit),
    );
    return items?.map(listItem) ?? [];
  }

  #look<Answer>(
    simulationId: string,
    look: (queries: HistoryQueries, simulation: number) => Answer,
  ): Answer | undefined {
    const simulation = this.#keys.find(simulationId)?.key;
    return simulation === undefined ? undefined : this.#ask((queries) => look(queries, simulation));
  }

  /** Several rows are read: they must be of the same moment. */
  #ask<Answer>(look: (queries: HistoryQueries) => Answer): Answer {
    this.#refuseUnusable();
    try {
      this.#database ??= openConnection(this.#path, { readOnly: true });
      this.#queries ??= new HistoryQueries(new Statements(this.#database), this.#journal);
      this.#database.exec('BEGIN');
      try {
        return look(this.#queries);
      } finally {
        // Some failures end the transaction themselves.
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      }
    } catch (error) {
      const trouble = historyFailureOf(error);
      throw trouble.kind === 'unexpected' ? error : this.#errorOf(trouble);
    }
  }

  #refuseUnusable(): void {
    if (this.#status === 'rebuilding' || this.#status === 'starting') throw this.#unavailable();
  }

  #unavailable(): StoreUnavailable {
    const why = this.#reason === undefined ? '' : `: ${this.#reason}`;
    return new StoreUnavailable(
      this.#status === 'rebuilding'
        ? `The history is being derived again${why}`
        : `The history cannot be written${why}`,
    );
  }

  #errorOf({ kind, message }: HistoryFailure): Error {
    switch (kind) {
      case 'history-damaged':
        this.#rebuild(message);
        return this.#unavailable();
      case 'journal-damaged':
        return new DamagedJournal(message);
      case 'unreadable':
        return new StoreUnavailable(`The history cannot be read: ${message}`);
      case 'unexpected':
        return new Error(message);
    }
  }

  /** Access of other threads to the same tables. */
  get past(): PastAccess {
    return {
      module: workerUrl('sqlite/history/past-source').href,
      data: { directory: this.#directory },
      errorOf: (failure) => this.#errorOf(failure as HistoryFailure),
      onReplace: (letGo) => void this.#readers.push(letGo),
    };
  }

  /** The tables are damaged: all readers stop, then the tables are rebuilt. */
  #rebuild(reason: string): void {
    if (this.#isLettingGo || this.#isClosed) return;
    this.#isLettingGo = true;
    this.#rebuilding(reason, 0);
    this.#waits.rejectAll(this.#unavailable());
    void this.#letGo().then(async () => {
      this.#positions.clear();
      if (!this.#isClosed) await this.#projector.rebuild(reason);
      this.#isLettingGo = false;
    });
  }

  async #letGo(): Promise<void> {
    this.#queries = undefined;
    const database = this.#database;
    this.#database = undefined;
    // Not during a query.
    await this.#reader.stop('The history is being derived again');
    await Promise.all(this.#readers.map((letGo) => letGo()));
    database?.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waits.rejectAll(new StoreUnavailable('The store is closed'));
    await this.#letGo();
    await this.#projector.close();
  }
}

function listItem({ seq, at, event, item, json }: StoredItem): ListItem {
  return { seq, at, event, item, data: JSON.parse(json) as unknown };
}
