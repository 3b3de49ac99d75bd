import type { Static, TObject, TSchema } from 'typebox';

/**
 * Rules across the fields of one object, declared with its schema. Fields that passed their own check are converted, the others are as
 * sent: a rule must expect any field to be missing or of any type.
 */
export type Rule<T> = (body: { readonly [K in keyof T]?: unknown }, report: Report<keyof T & string>) => void;

/** Receives the messages of a rule. They are written in the order of the schema's fields, not in that of the reports. */
export interface Report<Field extends string> {
  /** `<path of the field> <complaint>`. */
  field(field: Field, complaint: string): void;
  /** A separate sentence among the messages of `field`. */
  sentence(field: Field, message: string): void;
}

// By the properties object, which stays the same in the optional form of a schema.
const rules = new WeakMap<object, Rule<Record<string, unknown>>>();

/** Declares the rule of an object schema and answers the schema. */
export function ruled<Schema extends TObject>(schema: Schema, rule: Rule<Static<Schema>>): Schema {
  rules.set(schema.properties, rule);
  return schema;
}

export function ruleOf(schema: TSchema): Rule<Record<string, unknown>> | undefined {
  return 'properties' in schema && typeof schema.properties === 'object' && schema.properties !== null
    ? rules.get(schema.properties)
    : undefined;
}
