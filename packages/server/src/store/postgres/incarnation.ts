import { StoreInUse, StoreUnavailable } from '../journal.js';
import { QuestionConnection } from './question-connection.js';
import type { DatabaseAddress } from './database.js';

/** The counter is raised so often. */
const RENEW_MS = 1_000;
/** Time since the last successful renewal was sent after which an owner neither decides nor responds. */
const LEASE_MS = 4_000;
/** Time without a change of its counter after which an incarnation may be removed. */
const SILENCE_MS = 5_000;
/** After this time without reading the other incarnations, watching them begins again. */
const UNWATCHED_MS = 3_000;
/** Counter of an incarnation whose lease was revoked: it cannot be raised. */
const REVOKED = -1;

/** Identity of this node among the nodes that share the database. */
interface NodeIdentity {
  /** A label for people. */
  readonly node: string;
  readonly url?: string;
  readonly version: string;
  /** Digests of settings that must be the same on all nodes; absent = this one runs alone. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** A row of an incarnation that is not evicted. */
export interface LiveIncarnation {
  readonly id: number;
  readonly counter: string;
  readonly node: string;
  readonly url: string | null;
  readonly version: string;
  /** JSON; null = it runs alone. */
  readonly facts: string | null;
  /** Reasons why it accepts no cells: a JSON list. */
  readonly unfit: string;
}

/**
 * The owner of cells: drawn at each start, one row with a counter that its node raises every second (D199).
 *
 *     started ──► renewing ──► silent (4 s since the last renewal was sent: decides nothing)
 *                    ▲             │  a renewal succeeds
 *                    └─────────────┘
 *                    ├──► evicted (another node has not seen the counter move for 5 s): never comes back
 *                    └──► revoked (it lags behind the market, D202): the next renewal fails, then evicted
 *
 * The database alone decides: a counter that moves is alive, and an incarnation is evicted only on the condition that its counter still
 * has the value that was watched. Time is only measured by one machine's own clocks.
 */
export class Incarnation {
  readonly id: number;
  readonly #database: QuestionConnection;
  readonly #clocks: Clocks;
  readonly #onEvicted: () => void;
  readonly #watched = new Map<number, { counter: string; since: number }>();
  /** Time at which the last successful renewal was sent. */
  #sent: Moment;
  #timer: NodeJS.Timeout | undefined;
  #isEvicted = false;
  #isClosed = false;
  #skewMs = 0;
  /** The database's clock minus the monotonic clock of this machine, ms. */
  #aheadMs = 0;
  /** When the other incarnations were read last, on the monotonic clock. */
  #lookedAt = -Infinity;

  private constructor(id: number, database: QuestionConnection, sent: Moment, parts: IncarnationParts) {
    this.id = id;
    this.#database = database;
    this.#sent = sent;
    this.#clocks = parts.clocks ?? MACHINE;
    this.#onEvicted = parts.onEvicted;
  }

  static async begin(address: DatabaseAddress, parts: IncarnationParts): Promise<Incarnation> {
    const database = new QuestionConnection(address);
    const sent = momentOf(parts.clocks ?? MACHINE);
    const { node, url, version, facts } = parts.identity;
    const rows = await database.ask<Renewed & { id: string }>(
      `INSERT INTO incarnation (node, url, version, facts, counter) VALUES ($1, $2, $3, $4, 0) RETURNING id, ${NOW}`,
      [node, url ?? null, version, facts === undefined ? null : JSON.stringify(facts)],
    );
    const incarnation = new Incarnation(Number(rows[0]?.id), database, sent, parts);
    incarnation.#measure(sent, rows[0]);
    incarnation.#renewLater();
    return incarnation;
  }

  /** True while this node may decide on its cells and show them. */
  mayDecide(): boolean {
    const now = momentOf(this.#clocks);
    // By the clock that advanced more: one of them stops while a machine sleeps.
    const passed = Math.max(now.monotonic - this.#sent.monotonic, now.wall - this.#sent.wall);
    return !this.#isEvicted && passed < LEASE_MS;
  }

  get isEvicted(): boolean {
    return this.#isEvicted;
  }

  /** Wall clock of this machine minus that of the database, ms; only the certain part, regardless of the direction of the network delay. */
  get skewMs(): number {
    return this.#skewMs;
  }

  /** The database's clock, ms: measured with each renewal, and continued by the monotonic clock of this machine. */
  nowMs(): number {
    return Math.floor(this.#clocks.monotonicMs() + this.#aheadMs);
  }

  #measure(sent: Moment, renewed: Renewed | undefined): void {
    const there = Number(renewed?.now_ms);
    if (!Number.isFinite(there)) return;
    const { wall, monotonic } = momentOf(this.#clocks);
    // The offset changes as little as possible, so that time neither repeats nor jumps.
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, there - monotonic), there - sent.monotonic);
    // The database read its clock between these two.
    this.#skewMs = there < sent.wall ? sent.wall - there : Math.min(0, wall - there);
  }

  #renewLater(): void {
    if (this.#isClosed || this.#isEvicted) return;
    this.#timer = setTimeout(() => {
      this.renew().then(
        () => this.#renewLater(),
        () => this.#renewLater(),
      );
    }, RENEW_MS).unref();
  }

  /** Raises the counter. Rejects with `StoreUnavailable` when that is not known to have happened. */
  async renew(): Promise<void> {
    const sent = momentOf(this.#clocks);
    const rows = await this.#database.ask<Renewed>(
      `UPDATE incarnation SET counter = counter + 1
         WHERE id = $1 AND NOT struck_out AND counter <> ${REVOKED} RETURNING ${NOW}`,
      [this.id],
    );
    if (rows.length === 0) {
      this.#noteEvicted();
      // Stop serving: after a revocation other nodes do not wait for the lease to end.
      await this.#evict(this.id);
      return;
    }
    this.#sent = sent;
    this.#measure(sent, rows[0]);
  }

  #noteEvicted(): void {
    if (this.#isEvicted || this.#isClosed) return;
    this.#isEvicted = true;
    this.#onEvicted();
  }

  /**
   * Removes the others whose counters have not changed for `SILENCE_MS` of this machine's monotonic clock. Returns those that are alive, or
   * not known to be dead, oldest first, including this one unless it is removed.
   */
  async poll(): Promise<readonly LiveIncarnation[]> {
    const rows = await this.#database.ask<Omit<LiveIncarnation, 'id'> & { id: string }>(
      'SELECT id, counter, node, url, version, facts, unfit FROM incarnation WHERE NOT struck_out ORDER BY id',
    );
    const now = this.#clocks.monotonicMs();
    // A node that could not read them does not know how long a counter is unchanged: the database may have been unavailable to all.
    if (now - this.#lookedAt > UNWATCHED_MS) this.#watched.clear();
    this.#lookedAt = now;
    const alive: LiveIncarnation[] = [];
    for (const row of rows) {
      const one = { ...row, id: Number(row.id) };
      const isDead =
        one.id !== this.id && this.#isSilent(one, now) && (await this.#evict(one.id, one.counter));
      if (!isDead) alive.push(one);
    }
    return alive;
  }

  #isSilent({ id, counter }: LiveIncarnation, now: number): boolean {
    const watched = this.#watched.get(id);
    if (watched?.counter === counter) return now - watched.since >= SILENCE_MS;
    this.#watched.set(id, { counter, since: now });
    return false;
  }

  /** Publishes the reasons why this node accepts no cells. */
  async declare(unfit: readonly string[]): Promise<void> {
    await this.#database.ask('UPDATE incarnation SET unfit = $2 WHERE id = $1', [
      this.id,
      JSON.stringify(unfit),
    ]);
  }

  /** Removes an incarnation, another node's only if its counter has not moved. */
  async #evict(id: number, counter?: string): Promise<boolean> {
    const rows = await this.#database.ask(
      `UPDATE incarnation SET struck_out = true
         WHERE id = $1 AND counter = coalesce($2, counter) AND NOT struck_out RETURNING id`,
      [id, counter ?? null],
    );
    return rows.length === 1;
  }

  /**
   * Ends the lease of a live incarnation. It may answer until its next renewal fails, so it is not evicted yet: it evicts itself then,
   * or others do after its silence.
   */
  async revoke(id: number): Promise<void> {
    await this.#database.ask(`UPDATE incarnation SET counter = ${REVOKED} WHERE id = $1 AND NOT struck_out`, [
      id,
    ]);
  }

  /**
   * Resolves when no other incarnation that `isConcerned` accepts remains: silent ones are evicted. Rejects with `StoreInUse` once the
   * counter of one has moved: it is alive.
   */
  async alone(isConcerned: (other: LiveIncarnation) => boolean = () => true): Promise<void> {
    const others = async (): Promise<readonly LiveIncarnation[]> =>
      (await this.poll()).filter((one) => one.id !== this.id && isConcerned(one));
    for (let before = await others(); before.length > 0;) {
      await new Promise((resolve) => setTimeout(resolve, RENEW_MS / 2));
      const now = await others();
      const moving = now.find(({ id, counter }) =>
        before.some((one) => one.id === id && one.counter !== counter),
      );
      if (moving !== undefined)
        throw new StoreInUse(`Another server (${moving.node}) uses the database; stop it first`);
      before = now;
    }
  }

  /** Releases everything immediately: others need not wait for its lease to end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#database
      .ask('UPDATE incarnation SET struck_out = true WHERE id = $1', [this.id])
      .catch((error: unknown) => {
        // Without the database it cannot leave; other nodes evict it when its lease has ended.
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    await this.#database.close();
  }
}

/** The database's clock with the answer to a renewal, ms. */
interface Renewed {
  readonly now_ms: string;
}

const NOW = 'extract(epoch FROM clock_timestamp()) * 1000 AS now_ms';

interface IncarnationParts {
  readonly identity: NodeIdentity;
  readonly clocks?: Clocks;
  /** Others own its cells now: the process forgets them. */
  readonly onEvicted: () => void;
}

/** Clocks of this machine. */
export interface Clocks {
  readonly monotonicMs: () => number;
  readonly wallMs: () => number;
}

const MACHINE: Clocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

const momentOf = ({ monotonicMs, wallMs }: Clocks): Moment => ({ monotonic: monotonicMs(), wall: wallMs() });
