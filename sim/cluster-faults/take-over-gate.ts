import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';

const LOCK = 20;
/** First key of the lock of each cell that is being taken over. */
const TAKEN = 21;
const LOOK_MS = 20;

/** A take-over ends only while the gate is open: it has changed the heads by then and holds their locks. */
export const TAKE_OVER_GATE = `
  CREATE FUNCTION audit.pass() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared(${LOCK}); RETURN NULL;
  END $$;
  CREATE FUNCTION audit.take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared(${TAKEN}, NEW.cell); RETURN NEW;
  END $$;
  CREATE TRIGGER take BEFORE UPDATE ON sandpit.head FOR EACH ROW
    WHEN (OLD.incarnation IS DISTINCT FROM NEW.incarnation) EXECUTE FUNCTION audit.take();
  CREATE TRIGGER pass AFTER UPDATE ON sandpit.head FOR EACH ROW
    WHEN (OLD.incarnation IS DISTINCT FROM NEW.incarnation) EXECUTE FUNCTION audit.pass();`;

/** Holds take-overs up, so that other statements meet one that is under way. */
export class TakeOverGate {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** Opens again with `open`, or when its connection is lost. */
  static async shut(url: string): Promise<TakeOverGate> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    return new TakeOverGate(client);
  }

  /** Resolves with true when a take-over waits at the gate, false if none does within `ms`. */
  waits(ms: number): Promise<boolean> {
    return this.#finds("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted", [], ms);
  }

  /** Cells of the take-overs at the gate. */
  async cells(): Promise<readonly number[]> {
    const { rows } = await this.#client.query<{ cell: string }>(
      `SELECT objid AS cell FROM pg_locks WHERE locktype = 'advisory' AND classid = ${TAKEN} AND objsubid = 2 AND granted`,
    );
    return rows.map(({ cell }) => Number(cell));
  }

  /** Lets through what waits at the gate. */
  async pass(): Promise<void> {
    await this.#client.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    await this.#client.query('SELECT pg_advisory_lock($1)', [LOCK]);
  }

  /** Resolves with true when a statement of this user waits for a row, false if none does within `ms`. */
  blocks(user: string, ms: number): Promise<boolean> {
    return this.#finds(
      "SELECT 1 FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock' AND wait_event <> 'advisory'",
      [user],
      ms,
    );
  }

  async #finds(text: string, values: readonly string[], ms: number): Promise<boolean> {
    const began = performance.now();
    while (performance.now() - began < ms) {
      if ((await this.#client.query(text, [...values])).rows.length > 0) return true;
      await after(LOOK_MS);
    }
    return false;
  }

  async open(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }
}

/** The node that owns the most cells. */
export async function busiestNode(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ node: string }>(
      `SELECT node FROM sandpit.head JOIN sandpit.incarnation ON id = incarnation WHERE NOT struck_out
         GROUP BY node ORDER BY count(*) DESC, node LIMIT 1`,
    );
    return rows[0]?.node;
  } finally {
    await client.end();
  }
}
