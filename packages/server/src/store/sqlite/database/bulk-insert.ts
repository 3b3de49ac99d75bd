import type { Database, SqlValue, Statement } from './connection.js';

/** Rows of one statement: calling SQLite costs about as much as adding a row. */
const ROWS_AT_ONCE = 32;

/** Adds many rows to one table, best in the order of its key: each page is then visited once. */
export class BulkInsert<Row extends object> {
  readonly #one: Statement;
  readonly #many: Statement;
  readonly #columns: readonly (keyof Row & string)[];

  constructor(database: Database, table: string, columns: readonly (keyof Row & string)[]) {
    const row = `(${columns.map(() => '?').join(', ')})`;
    const insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES `;
    this.#one = database.prepare(insert + row);
    this.#many = database.prepare(insert + Array.from({ length: ROWS_AT_ONCE }, () => row).join(', '));
    this.#columns = columns;
  }

  run(rows: readonly Row[]): void {
    let done = 0;
    for (; done + ROWS_AT_ONCE <= rows.length; done += ROWS_AT_ONCE)
      this.#many.run(...this.#values(rows, done, done + ROWS_AT_ONCE));
    for (; done < rows.length; done += 1) this.#one.run(...this.#values(rows, done, done + 1));
  }

  #values(rows: readonly Row[], from: number, to: number): readonly SqlValue[] {
    const values: SqlValue[] = [];
    for (let index = from; index < to; index += 1) {
      const row = rows[index];
      if (row === undefined) break;
      for (const column of this.#columns) values.push(row[column] as SqlValue);
    }
    return values;
  }
}
