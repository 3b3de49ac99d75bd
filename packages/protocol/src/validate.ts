/** The front door of validation: a schema and a value in, the value in its final form or every failed rule out. */
import type { Static, TSchema } from 'typebox';
import { type Check, maxMessages, type Messages } from './check.js';
import { checkOf, textsCheckOf } from './compile.js';

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  /** One message per failed rule, in the order of the schema's fields: the `message` of a 400. */
  | { readonly ok: false; readonly messages: string[] };

/** A parsed JSON value against a schema; the value itself is never changed. */
export function validateBody<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
): Validation<Static<Schema>> {
  return judge(checkOf(schema), value);
}

/** Named texts, such as a parsed query string or the environment. A repeated name is an array. */
export function validateTexts<Schema extends TSchema>(
  schema: Schema,
  texts: unknown,
): Validation<Static<Schema>> {
  return judge(textsCheckOf(schema), texts);
}

/** The parameters of a path. */
export function validateParams<Schema extends TSchema>(
  schema: Schema,
  params: unknown,
): Validation<Static<Schema>> {
  return judge(checkOf(schema), params);
}

function judge<T>(check: Check, value: unknown): Validation<T> {
  const messages: Messages = [];
  const final = check(value, '', '', messages);
  if (messages.length === 0) return { ok: true, value: final as T };
  return { ok: false, messages: messages.slice(0, maxMessages) };
}
