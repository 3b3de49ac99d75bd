/** Queries of the history, written once: a store answers each question in its own way, at once or later. */

export type SqlValue = string | number | null;

/** A question to the store in the midst of a query. */
export type Question =
  /** Rows of the tables. `?` is a placeholder of a value. */
  { readonly sql: string; readonly values: readonly SqlValue[] };

/** A query: it asks questions, and returns the answer to the whole. */
export type Asking<Answer> = Generator<Question, Answer, readonly Readonly<Record<string, unknown>>[]>;

/** Rows of a statement. */
export function* rowsOf<Row>(sql: string, ...values: readonly SqlValue[]): Asking<readonly Row[]> {
  return (yield { sql, values }) as readonly Row[];
}

export function* rowOf<Row>(sql: string, ...values: readonly SqlValue[]): Asking<Row | undefined> {
  return (yield* rowsOf<Row>(sql, ...values))[0];
}

/** Answers all questions at once. */
export function answered<Answer>(
  query: Asking<Answer>,
  ask: (question: Question) => readonly Readonly<Record<string, unknown>>[],
): Answer {
  for (let step = query.next(); ; step = query.next(ask(step.value)))
    if (step.done === true) return step.value;
}

/** Answers questions asynchronously. */
export async function answeredLater<Answer>(
  query: Asking<Answer>,
  ask: (question: Question) => Promise<readonly Readonly<Record<string, unknown>>[]>,
): Promise<Answer> {
  for (let step = query.next(); ; step = query.next(await ask(step.value)))
    if (step.done === true) return step.value;
}
