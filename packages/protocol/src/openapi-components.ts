import type { TSchema } from 'typebox';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Collects the schemas that have a name and answers references to them. */
export class Components {
  readonly #referred = new Set<TSchema>();
  readonly #schemas = new Map<string, { readonly source: string; readonly schema: Json }>();

  /** A reference if the schema has a name, else the schema itself. */
  refer(schema: TSchema): Json {
    const { $id } = schema as Named;
    if ($id === undefined) return this.#inline(schema);
    const reference = { $ref: `#/components/schemas/${$id}` };
    if (this.#referred.has(schema)) return reference;
    this.#referred.add(schema);
    // Optional schemas are copies: the same name must mean the same text.
    const source = JSON.stringify(schema);
    const known = this.#schemas.get($id);
    if (known === undefined) {
      // Entered before its content is processed, so that its position does not depend on the content.
      this.#schemas.set($id, { source, schema: {} });
      this.#schemas.set($id, { source, schema: this.#inline(schema) });
    } else if (known.source !== source) {
      throw new Error(`Two schemas are called ${$id}`);
    }
    return reference;
  }

  /** All of them by name. */
  schemas(): Record<string, Json> {
    return Object.fromEntries(
      [...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { schema }]) => [name, schema]),
    );
  }

  #inline(schema: TSchema): Json {
    const result: Record<string, Json> = {};
    for (const [keyword, value] of Object.entries(schema as Record<string, unknown>)) {
      switch (keyword) {
        case '$id':
        case 'x-expected':
        case 'x-range-in-expected':
        case 'x-simulated':
          break;
        case 'x-text':
          result['pattern'] ??= value === 'lines' ? LINES_PATTERN : TEXT_PATTERN;
          break;
        case 'maximum':
          // When both exist, the exclusive maximum is the stricter one.
          if (!('exclusiveMaximum' in schema)) result[keyword] = value as number;
          break;
        case 'x-format':
          // All of ISO 8601 is more than either format; a span keeps its `duration`.
          if (value !== 'iso-8601' && value !== 'span')
            result['anyOf'] = [{ format: 'date' }, { format: 'date-time' }];
          break;
        case 'x-discriminator':
          result['discriminator'] = {
            propertyName: value as string,
            mapping: this.#mapping(schema, value as string),
          };
          break;
        case 'properties':
          result[keyword] = this.#each(value as Record<string, TSchema>);
          break;
        case 'patternProperties':
          // Any name: OpenAPI tools know it as additionalProperties.
          for (const item of Object.values(value as Record<string, TSchema>)) {
            result['additionalProperties'] = this.refer(item);
          }
          break;
        case 'items':
          result[keyword] = this.refer(value as TSchema);
          break;
        case 'anyOf':
          result['x-discriminator' in schema ? 'oneOf' : keyword] = (value as TSchema[]).map((member) =>
            this.refer(member),
          );
          break;
        default:
          result[keyword] = structuredCopy(value);
      }
    }
    return result;
  }

  #each(properties: Readonly<Record<string, TSchema>>): Json {
    return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, this.refer(schema)]));
  }

  #mapping(schema: TSchema, discriminator: string): Json {
    const members =
      (schema as { anyOf?: readonly (Named & { properties?: Record<string, unknown> })[] }).anyOf ?? [];
    return Object.fromEntries(
      members.flatMap(({ $id, properties }) => {
        const tag = (properties?.[discriminator] as { const?: string } | undefined)?.const;
        return tag === undefined || $id === undefined ? [] : [[tag, `#/components/schemas/${$id}`]];
      }),
    );
  }
}

/** Texts that `isUnreadable` accepts: not blank, without control characters. */
const TEXT_PATTERN = '^(?!\\s*$)[^\\u0000-\\u001f\\u007f]*$';
/** Pattern that also allows tabs and line ends. */
const LINES_PATTERN = '^(?!\\s*$)[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$';

interface Named {
  readonly $id?: string;
}

/** Keywords hold plain data: a copy keeps the document apart from the schemas that validate. */
function structuredCopy(value: unknown): Json {
  return typeof value === 'object' ? (JSON.parse(JSON.stringify(value)) as Json) : (value as Json);
}
