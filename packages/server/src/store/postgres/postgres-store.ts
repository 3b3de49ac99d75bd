import { hostname } from 'node:os';
import { CheckpointMaker } from '../checkpoint-maker.js';
import type { CheckpointedSimulation } from '../checkpoint-work.js';
import { NO_CHECKPOINTS } from '../checkpoints.js';
import { DamagedJournal, StoreUnavailable } from '../journal.js';
import type { Store } from '../store.js';
import { recoveryUrl, workerUrl } from '../worker-url.js';
import { AcknowledgedHeads } from './acknowledged-heads.js';
import { removeExpiredAnswers } from './answers.js';
import { BlockReader } from './block-reader.js';
import type { Cell, Origin } from './cells.js';
import { CheckpointTable } from './checkpoint-table.js';
import type { CellReading } from './checkpoint-thread.js';
import { CommitQueue } from './commit-queue.js';
import { DatabaseAddress, sentenceOf } from './database.js';
import { followRegistry } from './follow-registry.js';
import { HistoryTables } from './history-tables.js';
import { HistoryWrites } from './history-writes.js';
import { Incarnation } from './incarnation.js';
import { markLosses } from './lost-records.js';
import { errorOfPast } from './past-source.js';
import { PostgresContents } from './postgres-contents.js';
import { PostgresHistory } from './postgres-history.js';
import { PostgresJournal } from './postgres-journal.js';
import { PostgresRegistry } from './postgres-registry.js';
import { adoptEndpoints, webhooksInPostgres } from './postgres-webhooks.js';
import { Purge } from './purge.js';
import { QuestionConnection } from './question-connection.js';
import { RegistryState } from './registry-state.js';
import type { RegisteredCell } from './registry-state.js';
import { prepareTables } from './schema.js';
import { SoleOwnership } from './sole-ownership.js';
import { TenantOwnership } from './tenant-ownership.js';
import { TicketTable } from './ticket-table.js';

/** Longest delay until registry changes of other nodes apply here. */
const FOLLOW_MS = 400;
const EXPIRY_MS = 1_000;

export interface PostgresStoreOptions {
  /** `DATABASE_URL`. */
  readonly url: string;
  /** URL of a module that is a `CheckpointMaking`; absent = checkpoints are neither written nor used. */
  readonly recovery?: string;
  /** File that stores the acknowledged heads of this node across restarts; absent = they end with the process. */
  readonly memory?: string;
  /** A label of this node, for people. */
  readonly node?: string;
  /** Shares the database with other nodes; absent = this server has it to itself. */
  readonly cluster?: ClusterMember;
  /** Other nodes own all tenants of this node: its state in memory is invalid. Only in a cluster. */
  readonly onEvicted?: () => void;
  /** Called once, when the store has failed permanently: the process should end. */
  readonly onFatal?: (error: Error) => void;
  /** One line for the operator. */
  readonly note?: (text: string) => void;
  /** Another node owns this simulation now, or the database lacks acknowledged records: the state in memory is invalid. */
  readonly onLost?: (simulationId: string) => void;
}

/** This server as a node of a cluster. */
interface ClusterMember {
  /** Address for other nodes. */
  readonly url: string;
  readonly version: string;
  /** Digests of settings that must be the same on all nodes, by name. */
  readonly facts: Readonly<Record<string, string>>;
}

/**
 * The store in PostgreSQL. Commits go through one connection, questions through another. Rejects with `UnusableDatabase`,
 * `StoreInUse` and `DamagedJournal`.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, onFatal = () => undefined, note = () => undefined, onLost = () => undefined } = options;
  const address = new DatabaseAddress(url);
  const memory = new AcknowledgedHeads(options.memory, note);
  let isOpen = false;
  const opened: { close(): Promise<void> | void }[] = [memory];
  try {
    if (memory.database !== undefined) address.expect(memory.database);
    const connection = await address.connect();
    opened.push(connection);
    const { installation, hasOlderEndpoints } = await prepareTables(connection.client, address.shown).catch(
      (error: unknown) => {
        throw sentenceOf(error, address.shown);
      },
    );
    memory.expect({ ...connection.server, installation }, address.shown);
    const database = new QuestionConnection(address);
    opened.push(database);
    const { cluster } = options;
    const onEvicted = (): void => {
      if (cluster !== undefined) return options.onEvicted?.();
      onFatal(new StoreUnavailable('Another node has taken over: this one was silent for too long'));
    };
    const incarnation = await Incarnation.begin(address, {
      identity: { node: options.node ?? hostname(), version: '1', ...cluster },
      onEvicted,
    });
    opened.push(incarnation);
    // A node of a cluster shares the database with other nodes, not with a single server.
    await incarnation.alone(cluster === undefined ? undefined : ({ facts }) => facts === null);
    const state = new RegistryState();
    const cells = new Map<string, Cell>();
    let ownership: TenantOwnership | undefined;
    const reloadRegistry = (): Promise<string> =>
      followRegistry(database, state, (changes) => ownership?.tellRegistryChanges(changes));
    const digest = await reloadRegistry();
    if (digest !== state.digest)
      throw new DamagedJournal(`The registry in ${address.shown} is not as it was written`);
    await markLosses(connection.client, memory, state, note);
    const sole =
      cluster === undefined
        ? new SoleOwnership({ database, incarnation: incarnation.id, state, cells, memory, reloadRegistry })
        : undefined;
    await sole?.takeAll();
    const originOf = (key: number): Origin | undefined => state.originOf(key);
    const blocks = new BlockReader(database, originOf);
    const table = new CheckpointTable(database, blocks, originOf);
    const { recovery } = options;
    const newMaker = (with_: string): CheckpointMaker =>
      new CheckpointMaker(
        { url: workerUrl('postgres/checkpoint-thread'), recovery: with_, data: { url } },
        table,
        (id) => checkpointed(id, cells, state),
        (id) => isDeleted(state.cells.get(id)),
      );
    const maker = recovery === undefined ? undefined : newMaker(recovery);
    // In its own thread: the rows of a large simulation must not keep the checkpoints of others waiting.
    const rowMaker = newMaker(recovery ?? recoveryUrl().href);
    const tables = new HistoryTables({ database, blocks, cells, originOf });
    const history = new PostgresHistory({
      cells,
      tables,
      writes: new HistoryWrites(database, (key) => tables.lineOf(key), incarnation.id),
      writeRows: (cell) => queue.writeRows(cell),
      settled: () => queue.settled(),
      makeRows: (id, lineOf, write) => rowMaker.makeRows(id, lineOf, write),
      note,
    });
    if (cluster !== undefined) {
      ownership = new TenantOwnership(address, {
        incarnation,
        state,
        cells,
        reloadRegistry,
        memory,
        writeWakeUp: (cell) => queue.writeWakeUp(cell),
        onTaken: () => history.makeAll(),
        commitsInDoubt: () => queue.inDoubt,
      });
      opened.push(ownership);
      await ownership.poll();
    }
    const queue: CommitQueue = new CommitQueue(
      {
        address,
        connection,
        incarnation,
        registry: state,
        reloadRegistry: async () => {
          await reloadRegistry();
        },
        blocks,
        memory,
        installation,
        rows: history,
        events: {
          onFatal,
          onBehind: cluster === undefined ? onFatal : onEvicted,
          note,
          onLost: (cell) => {
            (ownership ?? sole)?.forget(cell);
            onLost(cell.id);
          },
        },
      },
      cells,
    );
    const acquireLost = async (id: string): Promise<void> => {
      await (ownership ?? sole)?.acquireCell(id);
    };
    const journal = new PostgresJournal(queue, cells, blocks, database, state, acquireLost, onLost);
    const acquireCell = async (id: string): Promise<void> => {
      // Records of an earlier opening are under way: the journal is read behind them.
      if (isAhead(cells.get(id))) await queue.probe();
      await acquireLost(id);
    };
    const purge = new Purge(database, state, note);
    const registry = new PostgresRegistry(queue, state, cells, (key) => purge.request(key), ownership);
    purge.open(registry);
    const webhookDatabase = new QuestionConnection(address);
    opened.push(webhookDatabase);
    if (hasOlderEndpoints) await adoptEndpoints(address, registry, reloadRegistry);
    history.makeAll();
    const follow = setInterval(() => void reloadRegistry().catch(() => undefined), FOLLOW_MS).unref();
    const tickets = cluster === undefined ? undefined : new TicketTable(database);
    const expire = setInterval(() => {
      removeExpiredAnswers(database, Date.now()).catch(() => undefined);
      tickets?.removeExpired(Date.now()).catch(() => undefined);
    }, EXPIRY_MS).unref();
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      clearInterval(follow);
      clearInterval(expire);
      await purge.close();
      history.close();
      await maker?.close();
      await rowMaker.close();
      await queue.close();
      await webhookDatabase.close();
      await ownership?.close();
      await incarnation.close();
      await database.close();
      memory.close();
    };
    isOpen = true;
    return {
      journal,
      checkpoints: maker ?? NO_CHECKPOINTS,
      history,
      registry,
      webhooks: webhooksInPostgres(webhookDatabase, incarnation.id),
      ...(ownership !== undefined && { ownership }),
      ...(tickets !== undefined && { tickets }),
      acquireCell,
      mayAnswer: () => incarnation.mayDecide(),
      contents: new PostgresContents(installation, queue, database, state),
      past: {
        module: workerUrl('postgres/past-source').href,
        data: { url },
        errorOf: errorOfPast,
        // The tables are never replaced, and the thread has no file of ours open.
        onReplace: () => undefined,
      },
      probe: () => queue.probe(),
      health: () => queue.health(),
      check: () => damageIn(blocks, cells),
      close: () => (closing ??= close()),
    };
  } finally {
    if (!isOpen)
      for (const one of opened.reverse()) await Promise.resolve(one.close()).catch(() => undefined);
  }
}

const isAhead = (cell: Cell | undefined): boolean => cell !== undefined && cell.lastSeq > cell.head.seq;

const isDeleted = (cell: RegisteredCell | undefined): boolean => cell?.deletedAt !== undefined;

/** A cell in the form for the checkpoint thread; undefined = this node does not own it. */
function checkpointed(
  id: string,
  cells: ReadonlyMap<string, Cell>,
  state: RegistryState,
): CheckpointedSimulation | undefined {
  const cell = cells.get(id);
  const config = state.cells.get(id)?.config;
  if (cell?.key === undefined || cell.isLost || config === undefined) return undefined;
  const { key, head } = cell;
  const origins: [number, Origin][] = [];
  for (let at = key, origin = state.originOf(at); origin !== undefined; origin = state.originOf(at)) {
    origins.push([at, origin]);
    at = origin.parent;
  }
  const reading: CellReading = { end: { seq: head.seq, hash: head.hash }, origins };
  return { key, config, reading };
}

/** Reads every block, and reports altered chains. */
async function* damageIn(
  blocks: BlockReader,
  cells: ReadonlyMap<string, Cell>,
): AsyncGenerator<DamagedJournal> {
  for (const { id, key, origin, head } of cells.values()) {
    if (key === undefined) continue;
    try {
      const all = blocks.blocks({ id, key, origin }, 0, head);
      while ((await all.next()).done !== true);
    } catch (error) {
      if (!(error instanceof DamagedJournal)) throw error;
      yield error;
    }
  }
}
