import { StoreInUse, StoreUnavailable } from '../journal.js';
import { QuestionConnection } from './question-connection.js';
import type { DatabaseAddress } from './database.js';

/** The counter is raised so often. */
const RENEW_MS = 1_000;
/** An owner decides and answers nothing once so much time has passed since it sent the last renewal that succeeded. */
const LEASE_MS = 4_000;
/** An incarnation whose counter has not moved for so long may be struck out. */
const SILENCE_MS = 5_000;

/** Who this node is among those that share the database. */
interface NodeIdentity {
  /** A label for people. */
  readonly node: string;
  readonly url?: string;
  readonly version: string;
}

/**
 * What owns cells: drawn at each start, one row with a counter that its node raises every second (D199).
 *
 *     started ──► renewing ──► silent (4 s since the last renewal was sent: decides nothing)
 *                    ▲             │  a renewal succeeds
 *                    └─────────────┘
 *                    └──► struck out (another node has not seen the counter move for 5 s): never comes back
 *
 * The database alone decides: a counter that moves is alive, and whoever strikes an incarnation out does so on the condition that the counter is
 * still the one that it watched. Time is only ever measured by one machine's own clocks.
 */
export class Incarnation {
  readonly id: number;
  readonly #database: QuestionConnection;
  readonly #clocks: Clocks;
  readonly #onStruckOut: () => void;
  readonly #watched = new Map<number, { counter: string; since: number }>();
  /** When the last renewal that succeeded was sent. */
  #sent: Moment;
  #timer: NodeJS.Timeout | undefined;
  #isStruckOut = false;
  #isClosed = false;

  private constructor(id: number, database: QuestionConnection, sent: Moment, parts: IncarnationParts) {
    this.id = id;
    this.#database = database;
    this.#sent = sent;
    this.#clocks = parts.clocks ?? MACHINE;
    this.#onStruckOut = parts.onStruckOut;
  }

  static async begin(address: DatabaseAddress, parts: IncarnationParts): Promise<Incarnation> {
    const database = new QuestionConnection(address);
    const sent = momentOf(parts.clocks ?? MACHINE);
    const { node, url, version } = parts.identity;
    const rows = await database.ask<{ id: string }>(
      'INSERT INTO incarnation (node, url, version, counter) VALUES ($1, $2, $3, 0) RETURNING id',
      [node, url ?? null, version],
    );
    const incarnation = new Incarnation(Number(rows[0]?.id), database, sent, parts);
    incarnation.#renewLater();
    return incarnation;
  }

  /** Whether what is owned may be decided on and shown. */
  mayDecide(): boolean {
    const now = momentOf(this.#clocks);
    // By whichever clock says more: a machine that slept does not count on the one that stood still.
    const passed = Math.max(now.monotonic - this.#sent.monotonic, now.wall - this.#sent.wall);
    return !this.#isStruckOut && passed < LEASE_MS;
  }

  get isStruckOut(): boolean {
    return this.#isStruckOut;
  }

  #renewLater(): void {
    if (this.#isClosed || this.#isStruckOut) return;
    this.#timer = setTimeout(() => {
      this.renew().then(
        () => this.#renewLater(),
        () => this.#renewLater(),
      );
    }, RENEW_MS).unref();
  }

  /** Raises the counter. Rejects with `StoreUnavailable` where that is not known to have happened. */
  async renew(): Promise<void> {
    const sent = momentOf(this.#clocks);
    const rows = await this.#database.ask(
      'UPDATE incarnation SET counter = counter + 1 WHERE id = $1 AND NOT struck_out RETURNING counter',
      [this.id],
    );
    if (rows.length === 0) this.#struckOut();
    else this.#sent = sent;
  }

  #struckOut(): void {
    if (this.#isStruckOut || this.#isClosed) return;
    this.#isStruckOut = true;
    this.#onStruckOut();
  }

  /**
   * Looks at the others, and strikes out those whose counters have stood still for `SILENCE_MS` of this machine's monotonic clock. Returns how many are
   * alive, or not known to be dead.
   */
  async strikeOutSilent(): Promise<number> {
    const rows = await this.#database.ask<{ id: string; counter: string }>(
      'SELECT id, counter FROM incarnation WHERE NOT struck_out AND id <> $1',
      [this.id],
    );
    const now = this.#clocks.monotonicMs();
    let alive = 0;
    for (const { id: text, counter } of rows) {
      const id = Number(text);
      const watched = this.#watched.get(id);
      if (watched?.counter !== counter) this.#watched.set(id, { counter, since: now });
      const isSilent = watched?.counter === counter && now - watched.since >= SILENCE_MS;
      if (!isSilent || !(await this.strikeOut(id, counter))) alive += 1;
    }
    return alive;
  }

  /** Strikes another out, where its counter is still this. */
  async strikeOut(id: number, counter: string): Promise<boolean> {
    const rows = await this.#database.ask(
      'UPDATE incarnation SET struck_out = true WHERE id = $1 AND counter = $2 AND NOT struck_out RETURNING id',
      [id, counter],
    );
    return rows.length === 1;
  }

  /**
   * Resolves when no other incarnation is left: those that are silent are struck out. Rejects with `StoreInUse` once the counter of another
   * has moved: it is alive.
   */
  async alone(): Promise<void> {
    for (;;) {
      if ((await this.strikeOutSilent()) === 0) return;
      const before = new Map([...this.#watched].map(([id, { counter }]) => [id, counter]));
      await new Promise((resolve) => setTimeout(resolve, RENEW_MS / 2));
      const rows = await this.#database.ask<{ id: string; counter: string; node: string }>(
        'SELECT id, counter, node FROM incarnation WHERE NOT struck_out AND id <> $1',
        [this.id],
      );
      const moving = rows.find(
        ({ id, counter }) => before.has(Number(id)) && before.get(Number(id)) !== counter,
      );
      if (moving !== undefined)
        throw new StoreInUse(`Another server (${moving.node}) uses the database; stop it first`);
    }
  }

  /** Lets go of everything at once: others need not wait for its silence. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#database
      .ask('UPDATE incarnation SET struck_out = true WHERE id = $1', [this.id])
      .catch((error: unknown) => {
        // Then it is struck out for its silence.
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    await this.#database.close();
  }
}

interface IncarnationParts {
  readonly identity: NodeIdentity;
  readonly clocks?: Clocks;
  /** Others own its cells now: the process forgets them. */
  readonly onStruckOut: () => void;
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
