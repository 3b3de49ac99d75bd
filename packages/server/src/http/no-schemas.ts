/** No route has schemas of the framework: the table of routes validates requests. */

function noSchemas(): never {
  throw new Error('No route has schemas of the framework');
}

/** Keeps the framework's own compilers out: loading them would add a tenth of a second to every start, and the package has none. */
export const NO_SCHEMAS = {
  compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas },
} as const;
