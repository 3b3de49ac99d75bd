/** Type declarations of the package: those of the client, and the shapes they refer to, written out of the protocol's schemas. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { errorCodes, HaltEvent, ResumeEvent, type Route, routeEntries } from '@sandpit/protocol';

const CLIENT = 'packages/client/dist';
const PROTOCOL = '@sandpit/protocol';

/** The part of JSON Schema that the protocol uses. */
interface Schema {
  readonly $id?: string;
  readonly type?: string;
  readonly const?: string | number | boolean | null;
  readonly enum?: readonly (string | number)[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** The generic types of the protocol that the client uses, as rows of two tables. */
const LOOKUPS = `export type OperationId = keyof Operations;
export type ParamsOf<Id extends OperationId> = Operations[Id]['params'];
export type QueryOf<Id extends OperationId> = Operations[Id]['query'];
export type BodyOf<Id extends OperationId> = Operations[Id]['body'];
export type ReplyOf<Id extends OperationId> = Operations[Id]['reply'];
export type ErrorDetails<Code extends ErrorCode> = Figures[Code];
`;

/** Types of schemas; those that have names are declared once, under them. */
class Writer {
  readonly #declared = new Map<string, string>();

  get declarations(): string {
    return [...this.#declared].map(([name, text]) => `export type ${name} = ${text};\n`).join('');
  }

  has(name: string): boolean {
    return this.#declared.has(name);
  }

  type(schema: Schema | undefined): string {
    if (schema?.$id === undefined) return schema === undefined ? 'undefined' : this.#written(schema);
    const text = this.#written(schema);
    const known = this.#declared.get(schema.$id);
    if (known !== undefined && known !== text) throw new Error(`${schema.$id} is two shapes`);
    this.#declared.set(schema.$id, text);
    return schema.$id;
  }

  #written(schema: Schema): string {
    const { type, items, patternProperties, properties } = schema;
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (schema.anyOf !== undefined) return schema.anyOf.map((one) => this.type(one)).join(' | ');
    if (items !== undefined) return `(${this.type(items)})[]`;
    if (patternProperties !== undefined)
      return `{ [key: string]: ${Object.values(patternProperties)
        .map((value) => this.type(value))
        .join(' | ')} }`;
    if (properties !== undefined) return this.object(schema);
    const scalar = SCALARS[type ?? ''];
    if (scalar === undefined) throw new Error(`no type for ${JSON.stringify(schema).slice(0, 200)}`);
    return scalar;
  }

  object({ properties = {}, required = [], additionalProperties }: Schema): string {
    const fields = Object.entries(properties).map(([name, schema]) => {
      const comment = schema.description === undefined ? '' : `/** ${schema.description} */\n`;
      return `${comment}${name}${required.includes(name) ? '' : '?'}: ${this.type(schema)};`;
    });
    if (additionalProperties === true) fields.push('[key: string]: unknown;');
    return fields.length === 0 ? '{}' : `{\n  ${fields.join('\n').replaceAll('\n', '\n  ')}\n}`;
  }

  /** A table of which each row has a type. */
  table(name: string, rows: readonly (readonly [string, string])[]): string {
    const text = rows
      .map(([key, type]) => `${key}: ${type};`)
      .join('\n')
      .replaceAll('\n', '\n  ');
    return `export type ${name} = {\n  ${text}\n};\n`;
  }
}

function shapes(writer: Writer): string {
  const partsOf = ({ params, query, body, responses }: Route): string => {
    const answers = [...new Set(Object.values(responses).map((schema) => writer.type(schema as Schema)))];
    const parts = { params, query, body } as Readonly<Record<string, Schema | undefined>>;
    const lines = Object.entries(parts).map(([part, schema]) => `${part}: ${writer.type(schema)};`);
    return `{\n  ${[...lines, `reply: ${answers.join(' | ')};`].join('\n').replaceAll('\n', '\n  ')}\n}`;
  };
  // Named by the client, answered by no route.
  for (const schema of [HaltEvent, ResumeEvent]) writer.type(schema);
  const operations = routeEntries.map(([id, route]) => [id, partsOf(route)] as const);
  const figures = Object.entries(errorCodes).map(([code, { details }]) => {
    const isOptional = (schema: object): boolean => '~optional' in schema;
    const fields = Object.entries(details as Readonly<Record<string, Schema>>);
    const required = fields.filter(([, schema]) => !isOptional(schema)).map(([name]) => name);
    return [code, writer.object({ properties: Object.fromEntries(fields), required })] as const;
  });
  return [
    writer.table('Operations', operations),
    writer.table('Figures', figures),
    LOOKUPS,
    writer.declarations,
  ].join('');
}

/** Writes them to the directory of the client's code. */
export function declare(root: string, into: string): void {
  const writer = new Writer();
  const written = shapes(writer);
  writeFileSync(join(into, CLIENT, 'shapes.d.ts'), written);
  for (const name of readdirSync(join(root, CLIENT), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(into, CLIENT, name);
    const toShapes = relative(dirname(path), join(into, CLIENT, 'shapes.js'))
      .split(sep)
      .join('/');
    const text = readFileSync(join(root, CLIENT, name), 'utf8');
    for (const [, list = ''] of text.matchAll(/import type \{([^}]*)\} from '@sandpit\/protocol'/g))
      for (const taken of list.split(',').map((one) => one.trim().split(' ')[0] ?? ''))
        if (!writer.has(taken) && !LOOKUPS.includes(`type ${taken}`))
          throw new Error(`the protocol has no schema called ${taken}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      text.replaceAll(`'${PROTOCOL}'`, `'${toShapes.startsWith('.') ? '' : './'}${toShapes}'`),
    );
  }
}
