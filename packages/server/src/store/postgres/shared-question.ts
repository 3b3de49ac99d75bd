import type pg from 'pg';
import { StoreUnavailable } from '../journal.js';
import { Together } from '../together.js';
import type { QuestionConnection } from './question-connection.js';

interface Question {
  /**
   * Selects from `unnest($1…) WITH ORDINALITY`, with an array for each value of a question. Each row has the number of its question as
   * `asked`, from 1.
   */
  readonly text: string;
  /** Questions at a time. */
  readonly most: number;
}

/**
 * A query for many cells or tenants at a time: those that arrive while one is under way share the next. Thousands are asked
 * when a node is lost, and a round trip costs more than its rows.
 */
export class SharedQuestion<Values extends readonly unknown[], Row extends pg.QueryResultRow> {
  readonly #database: QuestionConnection;
  readonly #question: Question;
  readonly #together: Together<Values, readonly Row[]>;

  constructor(database: QuestionConnection, question: Question) {
    this.#database = database;
    this.#question = question;
    this.#together = new Together((all) => this.#askFor(all), question.most);
  }

  /** Rows of one question. Rejects with `StoreUnavailable` without a response. */
  async ask(...values: Values): Promise<readonly Row[]> {
    try {
      return await this.#together.add(values);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // A value of another question may be the reason.
      const [rows = []] = await this.#askFor([values]);
      return rows;
    }
  }

  async #askFor(all: readonly Values[]): Promise<readonly (readonly Row[])[]> {
    const columns = (all[0] ?? []).map((_, column) => all.map((values) => values[column]));
    const rows = await this.#database.ask<Row & { readonly asked: string }>(this.#question.text, columns);
    const answers: Row[][] = all.map(() => []);
    for (const row of rows) answers[Number(row.asked) - 1]?.push(row);
    return answers;
  }
}
