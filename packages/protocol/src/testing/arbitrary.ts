import type { TSchema } from 'typebox';
import fc from 'fast-check';
import type { Keywords } from '../leaf-check.js';

/** Values that a schema accepts field by field. The rules across fields may still refuse them. */
export function arbitraryOf(schema: TSchema): fc.Arbitrary<unknown> {
  const keywords = schema as Keywords;
  if (keywords.enum !== undefined) return fc.constantFrom(...keywords.enum);
  if (keywords.const !== undefined) return fc.constant(keywords.const);
  if (keywords.anyOf !== undefined)
    return fc.oneof(...keywords.anyOf.filter((form) => !isNull(form)).map(arbitraryOf));
  switch (keywords.type) {
    case 'string':
      return stringOf(keywords);
    case 'number':
      return numberOf(keywords);
    case 'integer':
      return fc.integer({ min: keywords.minimum ?? -1e9, max: Math.min(keywords.maximum ?? 2e9, 2e9) });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return arrayOf(keywords);
    case 'object':
      return objectOf(keywords);
    default:
      throw new TypeError(`No arbitrary for ${JSON.stringify(schema)}`);
  }
}

const isNull = (schema: TSchema): boolean => (schema as Keywords).type === 'null';

/** Names of the fields of a body whose `null` is absent. */
export const nullableFields = (schema: TSchema): readonly string[] =>
  Object.entries((schema as Keywords).properties ?? {}).flatMap(([name, field]) =>
    (field as Keywords).anyOf?.some(isNull) === true ? [name] : [],
  );

const dates = fc
  .date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2090-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());

function stringOf(keywords: Keywords): fc.Arbitrary<string> {
  if (keywords['x-format'] !== undefined && keywords['x-format'] !== 'span')
    return fc.oneof(
      dates,
      dates.map((text) => text.slice(0, 10)),
    );
  switch (keywords.format) {
    case 'uuid':
      return fc.uuid();
    case 'date':
      return dates.map((text) => text.slice(0, 10));
    case 'date-time':
      return dates;
    case 'duration':
      return fc.integer({ min: 1, max: 1000 }).map((hours) => `PT${hours}H`);
    default:
      return fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/);
  }
}

function numberOf(keywords: Keywords): fc.Arbitrary<number> {
  const scale = 10 ** (keywords['x-decimals'] ?? 2);
  const least = Math.max(keywords.minimum ?? -1e6, keywords.exclusiveMinimum ?? -1e6, -1e6);
  const most = Math.min(keywords.maximum ?? 1e6, keywords.exclusiveMaximum ?? 1e6, 1e6);
  return fc
    .integer({ min: Math.ceil(least * scale) + 1, max: Math.floor(most * scale) - 1 })
    .map((units) => units / scale);
}

function arrayOf(keywords: Keywords): fc.Arbitrary<unknown[]> {
  const item = arbitraryOf(keywords.items ?? {});
  const size = { minLength: keywords.minItems ?? 0, maxLength: Math.min(keywords.maxItems ?? 5, 5) };
  return keywords.uniqueItems === true ? fc.uniqueArray(item, size) : fc.array(item, size);
}

function objectOf(keywords: Keywords): fc.Arbitrary<unknown> {
  if (keywords.properties === undefined) {
    const value = Object.values(keywords.patternProperties ?? {})[0] ?? {};
    return fc.dictionary(fc.stringMatching(/^[A-Z]{1,6}$/), arbitraryOf(value), { maxKeys: 5 });
  }
  const fields = Object.entries(keywords.properties).map(
    ([name, schema]) => [name, arbitraryOf(schema)] as const,
  );
  return fc.record(Object.fromEntries(fields), {
    requiredKeys: [...(keywords.required ?? [])] as never[],
    noNullPrototype: true,
  });
}
