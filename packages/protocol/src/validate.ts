/** The front door of validation: a schema and a value in, the value in its final form or every failed rule out. */
import type { Static, TSchema } from 'typebox';
import type { Check } from './check.js';
import { checkOf, queryCheckOf } from './compile.js';

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  /** One message per failed rule, in the order of the schema's fields: the `message` of a 400. */
  | { readonly ok: false; readonly messages: string[] };

/** A parsed JSON value against a schema. UUIDs come back in lower case; the value itself is never changed. */
export function validateBody<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
): Validation<Static<Schema>> {
  return judge(checkOf(schema), value);
}

/** A parsed query string: values are text, a repeated name is an array. Defaults are filled in. */
export function validateQuery<Schema extends TSchema>(
  schema: Schema,
  query: unknown,
): Validation<Static<Schema>> {
  return judge(queryCheckOf(schema), query);
}

/** The parameters of a path. */
export function validateParams<Schema extends TSchema>(
  schema: Schema,
  params: unknown,
): Validation<Static<Schema>> {
  return judge(checkOf(schema), params);
}

function judge<T>(check: Check, value: unknown): Validation<T> {
  if (check.passes(value)) {
    return { ok: true, value: (check.settle === undefined ? value : check.settle(value)) as T };
  }
  const messages: string[] = [];
  check.explain(value, '', messages);
  return { ok: false, messages };
}
