/** Input schemas of tools, derived from the schemas of the routes and reduced to the parts that an agent needs. */
import { type Json, type OperationId, plainSchemaOf, type Route, routes } from '@sandpit/protocol';

/** JSON Schemas of arguments by name. */
type Properties = Readonly<Record<string, Json>>;

export interface InputSchema {
  readonly [keyword: string]: unknown;
  readonly type: 'object';
  readonly properties: Properties;
  readonly required: readonly string[];
}

/** Parts of a request that can contain an argument. */
export type ArgumentPlace = 'params' | 'query' | 'body';

interface ObjectSchema {
  readonly properties?: Properties;
  readonly required?: readonly string[];
}

/** Lists answer their cursor in a header, which tools do not show: agents page by number. */
const NOT_FOR_TOOLS: ReadonlySet<string> = new Set(['cursor']);

/** The arguments of an operation, by the part of the request. */
export function placesOf(id: OperationId): ReadonlyMap<string, ArgumentPlace> {
  return new Map(fieldsOf(id).map(({ name, place }) => [name, place]));
}

/** The input schema of a tool over some operations; an argument is required if `required` lists it for its operation. */
export function inputOf(ids: readonly OperationId[], choose: Choice = {}): InputSchema {
  const { only, except = [], optional = [], more = {} } = choose;
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  for (const { name, schema, isRequired } of ids.flatMap(fieldsOf)) {
    if (name in properties || except.includes(name) || only?.includes(name) === false) continue;
    properties[name] = schema;
    if (isRequired && !optional.includes(name)) required.push(name);
  }
  return {
    type: 'object',
    properties: { ...properties, ...more },
    required,
    additionalProperties: false,
  };
}

/** Deviations of a tool's arguments from those of its operations. */
export interface Choice {
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  readonly optional?: readonly string[];
  readonly more?: Properties;
}

interface Field {
  readonly name: string;
  readonly place: ArgumentPlace;
  readonly schema: Json;
  readonly isRequired: boolean;
}

const known = new Map<OperationId, readonly Field[]>();

function fieldsOf(id: OperationId): readonly Field[] {
  const fields = known.get(id) ?? readFields(id);
  known.set(id, fields);
  return fields;
}

function readFields(id: OperationId): readonly Field[] {
  const { params, query, body }: Route = routes[id];
  const fields: Field[] = [];
  for (const [place, schema] of [
    ['params', params],
    ['query', query],
    ['body', body],
  ] as const) {
    if (schema === undefined) continue;
    const { properties = {}, required = [] } = plainSchemaOf(schema) as ObjectSchema;
    for (const [name, property] of Object.entries(properties)) {
      if (place === 'query' && NOT_FOR_TOOLS.has(name)) continue;
      const hasDefault = typeof property === 'object' && property !== null && 'default' in property;
      fields.push({
        name,
        place,
        schema: brief(property),
        isRequired: required.includes(name) && !hasDefault,
      });
    }
  }
  return fields;
}

const DROPPED: ReadonlySet<string> = new Set([
  'examples',
  'title',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'x-decimals',
  'additionalProperties',
]);

/** Without what the server checks and names anyway; of each description the first sentence. */
function brief(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(brief);
  if (typeof schema !== 'object' || schema === null) return schema;
  const result: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties')
      result[keyword] = Object.fromEntries(
        Object.entries(value as Properties).map(([name, property]) => [name, brief(property)]),
      );
    else if (keyword === 'description') result[keyword] = firstSentence(value as string);
    else if (keyword === 'additionalProperties' && typeof value === 'object') result[keyword] = brief(value);
    else if (DROPPED.has(keyword) || isPlainBound(keyword, value) || isDateFormats(keyword, value)) continue;
    else if (keyword === 'type' && 'const' in schema) continue;
    else if (keyword === 'type' && 'enum' in schema) continue;
    else if (keyword === 'required' || keyword === 'enum') result[keyword] = value;
    else result[keyword] = brief(value);
  }
  return result;
}

const firstSentence = (text: string): string => /^.*?[.;](?=\s|$)/.exec(text)?.[0].replace(/;$/, '.') ?? text;

/** Obvious bounds: positive, or so large that they only keep arithmetic exact. */
const isPlainBound = (keyword: string, value: Json): boolean =>
  ['exclusiveMinimum', 'minimum', 'maximum'].includes(keyword) &&
  typeof value === 'number' &&
  (value === 0 || Math.abs(value) >= 1_000_000);

/** Either of two formats, which the descriptions explain. */
const isDateFormats = (keyword: string, value: Json): boolean =>
  keyword === 'anyOf' && Array.isArray(value) && JSON.stringify(value[0]) === '{"format":"date"}';
