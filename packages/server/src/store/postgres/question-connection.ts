import pg from 'pg';
import type { Question } from '../history/asking.js';
import { StoreUnavailable, UnusableDatabase } from '../journal.js';
import type { Connection, DatabaseAddress } from './database.js';
import { sentenceOf } from './database.js';

/** Integers of 64 bits as numbers: those of the history are far from the limit. */
const NUMBERS: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    (id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id, format)) as never,
};

/** Callers get an error after this time without an answer of the database. */
const PATIENCE_MS = 1_500;
/** Time limit of several statements, ms. */
const WORK_MS = 30_000;

/** A page may be slower than a lookup. */
const PAGE_MS = 10_000;

/** Asks a question of the history on a connection. */
export async function askOn(
  client: pg.Client,
  { sql, values }: Question,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  let n = 0;
  const text = sql.replaceAll('?', () => `$${(n += 1)}`);
  const { rows } = await client.query<Record<string, unknown>>({ text, values: [...values], types: NUMBERS });
  return rows;
}

/** A connection for questions: opened when it is first needed, and again after it was lost. */
export class QuestionConnection {
  readonly #address: DatabaseAddress;
  #connection: Promise<Connection> | undefined;
  #isClosed = false;
  /** Opening a connection may last longer than a question waits: then the next question waits for the same one. */
  #isOpening = false;
  /** Queries are sequential. */
  #last: Promise<unknown> = Promise.resolve();

  readonly #prepare: ((client: pg.Client) => Promise<unknown>) | undefined;

  /** `prepare`: executed on each connection before its first query. */
  constructor(address: DatabaseAddress, prepare?: (client: pg.Client) => Promise<unknown>) {
    this.#address = address;
    this.#prepare = prepare;
  }

  /** Rejects with `StoreUnavailable` without a response. `name`: of a statement that is prepared once. */
  async ask<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
    patienceMs = PATIENCE_MS,
    name?: string,
  ): Promise<readonly Row[]> {
    const query = async (): Promise<readonly Row[]> => {
      const { client } = await this.#open();
      const { rows } = await client.query<Row>({
        text,
        values: [...values],
        ...(name !== undefined && { name }),
      });
      return rows;
    };
    return this.#inTurn(() => this.#within(query(), patienceMs));
  }

  /** A question of the history: `?` is a placeholder of a value. */
  askHistory({ sql, values }: Question): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#inTurn(() =>
      this.#within(
        this.#open().then(({ client }) => askOn(client, { sql, values })),
        PAGE_MS,
      ),
    );
  }

  /** Statements on their own connection, in sequence. Failed ones are not repeated. */
  async with<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const working = async (): Promise<T> => {
      const { client } = await this.#open();
      return work(client);
    };
    return this.#inTurn(() => this.#within(working(), WORK_MS));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #within<T>(work: Promise<T>, patienceMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        // The next question uses another connection, or this one once it is open.
        if (!this.#isOpening) this.#letGo();
        reject(new StoreUnavailable('PostgreSQL does not answer'));
      }, patienceMs);
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      throw this.#failure(error);
    } finally {
      clearTimeout(timer);
      work.catch(() => undefined);
    }
  }

  #failure(error: unknown): unknown {
    if (error instanceof StoreUnavailable) return error;
    const { code } = error as { readonly code?: unknown };
    // A statement that was refused: the connection is as good as before.
    if (typeof code === 'string' && /^(22|23|42)/.test(code)) return error;
    this.#letGo();
    return sentenceOf(error, this.#address.shown);
  }

  #open(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('The store is closed'));
    if (this.#connection === undefined) {
      this.#isOpening = true;
      const opening = this.#connect().finally(() => (this.#isOpening = false));
      this.#connection = opening;
      opening.then(
        ({ lost }) =>
          void lost.then(() => {
            if (this.#connection === opening) this.#connection = undefined;
          }),
        () => {
          if (this.#connection === opening) this.#connection = undefined;
        },
      );
    }
    return this.#connection;
  }

  async #connect(): Promise<Connection> {
    const connection = await this.#address.connect().catch((error: unknown) => {
      // While the database fails over, its hosts may all be read-only.
      if (!this.#address.isKnown || !(error instanceof UnusableDatabase)) throw error;
      throw new StoreUnavailable(error.message, { cause: error });
    });
    try {
      await this.#prepare?.(connection.client);
      return connection;
    } catch (error) {
      await connection.close().catch(() => undefined);
      throw error;
    }
  }

  #letGo(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.then(
      (one) => void one.close().catch(() => undefined),
      () => undefined,
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.then(
      (one) => one.close(),
      () => undefined,
    );
  }
}
