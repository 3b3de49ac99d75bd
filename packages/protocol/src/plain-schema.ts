import type { TSchema } from 'typebox';
import { Components, type Json } from './openapi-components.js';

/** A schema as plain JSON Schema without references, for tools that do not resolve them. */
export function plainSchemaOf(schema: TSchema): Json {
  const components = new Components();
  const top = components.refer(schema);
  const named = components.schemas();
  const written = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(written);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref: reference, anyOf } = value;
    // Tools leave absent fields out instead of sending null.
    if (Array.isArray(anyOf) && anyOf.length === 2 && isNullSchema(anyOf[1])) return written(anyOf[0] ?? {});
    if (typeof reference === 'string') return written(named[reference.slice(REFERENCE.length)] ?? {});
    return Object.fromEntries(
      Object.entries(value).flatMap(([keyword, inner]) =>
        keyword === 'discriminator' ? [] : [[keyword, written(inner)]],
      ),
    );
  };
  return written(top);
}

const isNullSchema = (schema: Json | undefined): boolean => JSON.stringify(schema) === '{"type":"null"}';

const REFERENCE = '#/components/schemas/';
