import { DatabaseAddress } from './database.js';
import { QuestionConnection } from './question-connection.js';

const UNDEFINED_TABLE = '42P01';
/** Time to connect to a database far away, ms. */
const PATIENCE_MS = 10_000;

/** A setting of the registry in a database; undefined = it has none, or the database no registry. Servers may be running. */
export async function settingIn(url: string, name: string): Promise<string | undefined> {
  const database = new QuestionConnection(new DatabaseAddress(url));
  try {
    const text = `SELECT value FROM registry WHERE kind = 'setting' AND name = $1`;
    const [row] = await database.ask<{ value: string | null }>(text, [name], PATIENCE_MS);
    return row?.value ?? undefined;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === UNDEFINED_TABLE) return undefined;
    throw error;
  } finally {
    await database.close();
  }
}
