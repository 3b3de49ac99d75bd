import { MARKET_TENANT } from '../ownership.js';
import type {
  CellHead,
  ClusterNode,
  DueCell,
  Ownership,
  OwnershipFigures,
  Placement,
  RegistryChange,
} from '../ownership.js';
import { HISTORY_FORMAT } from '../history/history-rows.js';
import { RecordsMissing, StoreUnavailable } from '../journal.js';
import type { AcknowledgedHeads } from './acknowledged-heads.js';
import type { Cell } from './cells.js';
import type { DatabaseAddress } from './database.js';
import type { Incarnation, LiveIncarnation } from './incarnation.js';
import { QuestionConnection } from './question-connection.js';
import type { RegisteredCell, RegistryState } from './registry-state.js';
import { SharedQuestion } from './shared-question.js';

/** Difference of a wake-up from the one in the head row that is not worth a commit. */
const SAME_WAKE_UP_MS = 1_000;
/** Thousands of heads may change at once when a node is lost. */
const TAKE_MS = 10_000;

/**
 * Acquires tenants that no live incarnation owns, and their cells with the next epoch. One statement: the row of a tenant is locked before
 * its heads, so that of two nodes that acquire a tenant the later one finds it owned and does not change its heads.
 */
const TAKE = `
  WITH taken AS (
    INSERT INTO placement AS p (tenant, incarnation, epoch)
      SELECT tenant, $2, 1 FROM unnest($1::text[]) AS wanted (tenant)
        WHERE EXISTS (SELECT 1 FROM incarnation WHERE id = $2 AND NOT struck_out) ORDER BY tenant
      ON CONFLICT (tenant) DO UPDATE
        SET incarnation = $2, epoch = p.epoch + CASE WHEN p.incarnation = $2 AND $5 THEN 0 ELSE 1 END
        WHERE p.incarnation IS NULL OR p.incarnation = $2
          OR p.incarnation IN (SELECT id FROM incarnation WHERE struck_out)
      RETURNING tenant
  ), cells AS (
    SELECT c.cell, c.tenant FROM unnest($3::integer[], $4::text[]) AS c (cell, tenant) JOIN taken USING (tenant)
  ), moved AS (
    UPDATE head SET incarnation = $2, epoch = head.epoch + 1 FROM cells WHERE head.cell = cells.cell
      RETURNING head.cell, head.epoch, head.seq, head.hash, head.missing, head.losses, head.wake_at
  )
  SELECT taken.tenant, moved.cell, moved.epoch, moved.seq, moved.hash, moved.missing, moved.losses, moved.wake_at AS wakes, h.seq AS told
    FROM taken LEFT JOIN cells ON cells.tenant = taken.tenant LEFT JOIN moved ON moved.cell = cells.cell
      LEFT JOIN history_cell h ON h.cell = cells.cell AND h.format = ${HISTORY_FORMAT}`;

interface TakenRow {
  readonly tenant: string;
  readonly cell: number | null;
  readonly epoch: string;
  readonly seq: string;
  readonly hash: Buffer;
  /** Acknowledged records that it lacks: it is out of service. */
  readonly missing: string | null;
  readonly losses: number | null;
  /** Next wake-up, real time in ms; null = none. */
  readonly wakes: string | null;
  /** Last record in the history tables. */
  readonly told: string | null;
}

interface PlacementRow {
  readonly tenant: string;
  readonly incarnation: string | null;
  readonly epoch: string;
  readonly lost: boolean;
}

const PLACEMENT = `p.tenant, p.incarnation, p.epoch, coalesce(i.struck_out, p.incarnation IS NOT NULL) AS lost
    FROM placement p LEFT JOIN incarnation i ON i.id = p.incarnation`;

const PLACEMENT_OF = `
  SELECT asked.asked, placed.* FROM unnest($1::text[]) WITH ORDINALITY AS asked (tenant, asked)
    CROSS JOIN LATERAL (SELECT ${PLACEMENT} WHERE p.tenant = asked.tenant LIMIT 1) placed`;
const TENANTS_AT_A_TIME = 64;

const tenantOf = ({ tenantId }: Pick<RegisteredCell, 'tenantId'>): string => tenantId ?? MARKET_TENANT;

/** Ownership of tenants, in PostgreSQL. */
export class TenantOwnership implements Ownership {
  readonly #database: QuestionConnection;
  readonly #incarnation: Incarnation;
  readonly #state: RegistryState;
  readonly #cells: Map<string, Cell>;
  readonly #reloadRegistry: () => Promise<unknown>;
  readonly #memory: AcknowledgedHeads;
  readonly #writeWakeUp: (cell: Cell) => void;
  readonly #onTaken: () => void;
  readonly #owned = new Set<string>();
  /** Tenants that have a row of their own. */
  readonly #placed = new Set<string>();
  /** Acknowledged records that cells of owned tenants lack, by id. */
  readonly #missing = new Map<string, number>();
  readonly #listeners: ((changes: readonly RegistryChange[]) => void)[] = [];
  readonly #address: DatabaseAddress;
  readonly #commitsInDoubt: () => number;
  #tenantsTaken = 0;
  #nodes: readonly ClusterNode[] = [];
  #lastTake: Promise<unknown> = Promise.resolve();
  readonly #placementOf: SharedQuestion<[tenantId: string], PlacementRow>;

  constructor(
    address: DatabaseAddress,
    parts: {
      readonly incarnation: Incarnation;
      readonly state: RegistryState;
      readonly cells: Map<string, Cell>;
      readonly reloadRegistry: () => Promise<unknown>;
      readonly memory: AcknowledgedHeads;
      /** Writes the next wake-up of a cell. */
      readonly writeWakeUp: (cell: Cell) => void;
      /** Tenants were acquired, with their cells. */
      readonly onTaken: () => void;
      readonly commitsInDoubt: () => number;
    },
  ) {
    this.#address = address;
    this.#commitsInDoubt = parts.commitsInDoubt;
    this.#database = new QuestionConnection(address);
    this.#placementOf = new SharedQuestion(this.#database, {
      text: PLACEMENT_OF,
      most: TENANTS_AT_A_TIME,
    });
    this.#incarnation = parts.incarnation;
    this.#state = parts.state;
    this.#cells = parts.cells;
    this.#reloadRegistry = parts.reloadRegistry;
    this.#memory = parts.memory;
    this.#writeWakeUp = parts.writeWakeUp;
    this.#onTaken = parts.onTaken;
  }

  figures(): OwnershipFigures {
    return {
      tenantsAcquired: this.#tenantsTaken,
      commitsInDoubt: this.#commitsInDoubt(),
      connections: this.#address.openConnections,
    };
  }

  get incarnation(): number {
    return this.#incarnation.id;
  }

  get nodes(): readonly ClusterNode[] {
    return this.#nodes;
  }

  get owned(): ReadonlySet<string> {
    return this.#owned;
  }

  get skewMs(): number {
    return this.#incarnation.skewMs;
  }

  nowMs(): number {
    return this.#incarnation.nowMs();
  }

  mayDecide(): boolean {
    return this.#incarnation.mayDecide();
  }

  async poll(): Promise<void> {
    this.#nodes = (await this.#incarnation.poll()).map(nodeOf);
  }

  async revoke(incarnation: number): Promise<void> {
    await this.#incarnation.revoke(incarnation);
    await this.poll();
  }

  async placementOf(tenantId: string): Promise<Placement | undefined> {
    const [row] = await this.#placementOf.ask(tenantId);
    return row && placementOf(row);
  }

  async placements(): Promise<readonly Placement[]> {
    const rows = await this.#database.ask<PlacementRow>(`SELECT ${PLACEMENT}`, [], TAKE_MS);
    return rows.map(placementOf);
  }

  async freeTenants(): Promise<readonly string[]> {
    const unplaced = await this.#unplaced();
    const rows = await this.#database.ask<{ tenant: string }>(
      `SELECT tenant FROM placement WHERE incarnation IS NULL
         OR incarnation IN (SELECT id FROM incarnation WHERE struck_out)`,
      [],
      TAKE_MS,
    );
    return [...unplaced, ...rows.map(({ tenant }) => tenant)];
  }

  /** Tenants with cells from before the cluster. */
  async #unplaced(): Promise<readonly string[]> {
    const unknown = new Set<string>();
    for (const cell of this.#state.cells.values())
      if (cell.deletedAt === undefined && !this.#placed.has(tenantOf(cell))) unknown.add(tenantOf(cell));
    if (unknown.size === 0) return [];
    const rows = await this.#database.ask<{ tenant: string }>(
      'SELECT tenant FROM placement WHERE tenant = ANY($1::text[])',
      [[...unknown]],
    );
    for (const { tenant } of rows) {
      this.#placed.add(tenant);
      unknown.delete(tenant);
    }
    return [...unknown];
  }

  async givenTenants(): Promise<readonly string[]> {
    const rows = await this.#database.ask<{ tenant: string }>(
      'SELECT tenant FROM placement WHERE incarnation = $1',
      [this.incarnation],
      TAKE_MS,
    );
    return rows.flatMap(({ tenant }) => (this.#owned.has(tenant) ? [] : [tenant]));
  }

  declare(unfit: readonly string[]): Promise<void> {
    return this.#incarnation.declare(unfit);
  }

  async refreshRegistry(): Promise<void> {
    await this.#reloadRegistry();
  }

  acquire(tenantIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#inTurn(() => this.#acquire(tenantIds));
  }

  /** Sequential: of two that acquire the same cell, the second one would raise the epoch that the first one has read. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastTake.then(work);
    this.#lastTake = done.catch(() => undefined);
    return done;
  }

  async #acquire(tenantIds: readonly string[]): Promise<ReadonlySet<string>> {
    const wanted = new Set(tenantIds.filter((tenantId) => !this.#owned.has(tenantId)));
    const owned = tenantIds.filter((tenantId) => this.#owned.has(tenantId));
    if (wanted.size === 0) return new Set(owned);
    await this.#reloadRegistry();
    const cells = [...this.#state.cells.values()].filter(
      (cell) => cell.deletedAt === undefined && wanted.has(tenantOf(cell)) && !this.#cells.has(cell.id),
    );
    return new Set([...owned, ...(await this.#takeWith([...wanted], cells, false))]);
  }

  async #takeWith(
    tenantIds: readonly string[],
    cells: readonly RegisteredCell[],
    isOwner: boolean,
  ): Promise<ReadonlySet<string>> {
    const rows = await this.#database.ask<TakenRow>(
      TAKE,
      [tenantIds, this.incarnation, cells.map(({ key }) => key), cells.map(tenantOf), isOwner],
      TAKE_MS,
    );
    const byKey = new Map(cells.map((cell) => [cell.key, cell]));
    for (const { cell: key, epoch, seq: last, hash, missing, losses, wakes, told } of rows) {
      const registered = key === null ? undefined : byKey.get(key);
      if (registered === undefined || this.#cells.has(registered.id)) continue;
      if (missing === null) this.#missing.delete(registered.id);
      else {
        this.#missing.set(registered.id, Number(missing));
        continue;
      }
      const { id, origin } = registered;
      const seq = Number(last);
      const cell: Cell = {
        id,
        key: registered.key,
        head: { epoch: Number(epoch), seq, hash },
        lastSeq: seq,
        origin,
        losses: losses ?? 0,
        isLost: false,
        told: told === null ? undefined : Number(told),
        wakeAt: wakes === null ? undefined : Number(wakes),
      };
      this.#cells.set(id, cell);
      this.#memory.remember(id, { key: registered.key, seq, hash, losses: losses ?? 0 });
    }
    // Their tags are in the registry.
    if (rows.some(({ losses }) => losses !== null && losses > 0)) await this.#reloadRegistry();
    const taken = new Set(rows.map(({ tenant }) => tenant));
    for (const tenant of taken) this.#owned.add(tenant);
    this.#tenantsTaken += taken.size;
    this.#onTaken();
    return taken;
  }

  acquireCell(simulationId: string): void | Promise<void> {
    if (this.#cells.has(simulationId)) return undefined;
    return this.#inTurn(() => this.#acquireCell(simulationId));
  }

  async #acquireCell(simulationId: string): Promise<void> {
    if (this.#cells.has(simulationId)) return;
    await this.#reloadRegistry();
    const registered = this.#state.cells.get(simulationId);
    if (registered === undefined || registered.deletedAt !== undefined) return;
    const tenant = tenantOf(registered);
    if (this.#owned.has(tenant)) await this.#takeWith([tenant], [registered], true);
    if (this.#cells.has(simulationId)) return;
    const missing = this.#missing.get(simulationId);
    if (missing !== undefined) throw new RecordsMissing(missing);
    throw new StoreUnavailable(`${simulationId} is served elsewhere`);
  }

  async release(tenantIds: readonly string[], to: number | undefined): Promise<void> {
    for (const tenant of tenantIds) {
      for (const { id } of this.#state.cellsOf(tenant === MARKET_TENANT ? null : tenant)) {
        const cell = this.#cells.get(id);
        if (cell !== undefined) this.forget(cell);
      }
      this.#owned.delete(tenant);
    }
    await this.#database.ask(
      'UPDATE placement SET incarnation = $3 WHERE tenant = ANY($1) AND incarnation = $2',
      [tenantIds, this.incarnation, to ?? null],
    );
  }

  /** A cell that another node may own: it accepts no further commits. */
  forget(cell: Cell): void {
    cell.isLost = true;
    if (this.#cells.get(cell.id) === cell) this.#cells.delete(cell.id);
  }

  async headsOf(tenantId: string): Promise<readonly CellHead[]> {
    const cells = [...this.#state.cellsOf(tenantId === MARKET_TENANT ? null : tenantId)];
    const rows = await this.#database.ask<{ cell: number; epoch: string; seq: string }>(
      'SELECT cell, epoch, seq FROM head WHERE cell = ANY($1::integer[]) ORDER BY cell',
      [cells.map(({ key }) => key)],
    );
    const ids = new Map(cells.map(({ key, id }) => [key, id]));
    return rows.map(({ cell, epoch, seq }) => ({
      simulationId: ids.get(cell) ?? String(cell),
      epoch: Number(epoch),
      sequence: Number(seq),
    }));
  }

  cellCount(): number {
    return this.#cells.size;
  }

  noteWakeUp(simulationId: string, next: (() => number | undefined) | undefined): void {
    const cell = this.#cells.get(simulationId);
    if (cell === undefined) return;
    cell.nextWakeUp = next;
    if (next === undefined) return;
    const at = next();
    const isSame =
      at === undefined || cell.wakeAt === undefined
        ? at === cell.wakeAt
        : Math.abs(at - cell.wakeAt) < SAME_WAKE_UP_MS;
    if (!isSame) this.#writeWakeUp(cell);
  }

  dueCells(nowMs: number): readonly DueCell[] {
    const due: DueCell[] = [];
    for (const { id, wakeAt, nextWakeUp } of this.#cells.values()) {
      if (wakeAt === undefined || wakeAt > nowMs || nextWakeUp !== undefined) continue;
      const tenantId = this.#state.cells.get(id)?.tenantId;
      if (typeof tenantId === 'string') due.push({ simulationId: id, tenantId });
    }
    return due;
  }

  async marketSequence(): Promise<number> {
    const [market] = this.#state.cellsOf(null);
    const [row] = await this.#database.ask<{ seq: string }>('SELECT seq FROM head WHERE cell = $1', [
      market?.key ?? 0,
    ]);
    return Number(row?.seq ?? 0);
  }

  async isReplicated(): Promise<boolean> {
    const [row] = await this.#database.ask<{ n: number }>(
      `SELECT count(*)::integer AS n FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')`,
    );
    return (row?.n ?? 0) > 0;
  }

  onRegistryChanges(listener: (changes: readonly RegistryChange[]) => void): void {
    this.#listeners.push(listener);
  }

  /** The registry has changed. */
  tellRegistryChanges(changes: readonly RegistryChange[]): void {
    for (const listener of this.#listeners) listener(changes);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

function nodeOf({ id, node, url, version, facts, unfit }: LiveIncarnation): ClusterNode {
  const known = facts === null ? {} : (JSON.parse(facts) as ClusterNode['facts']);
  return {
    incarnation: id,
    nodeId: node,
    url: url ?? '',
    version,
    facts: known,
    unfit: JSON.parse(unfit) as ClusterNode['unfit'],
  };
}

const placementOf = ({ tenant, incarnation, epoch, lost }: PlacementRow): Placement => ({
  tenantId: tenant,
  incarnation: incarnation === null ? undefined : Number(incarnation),
  epoch: Number(epoch),
  isLost: lost,
});
