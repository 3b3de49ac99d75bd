/**
 * What a compiled schema can do.
 *
 * Every check answers two questions about the same rules: `passes` is for the good case, decides without building
 * anything and is all that runs for a valid body; `explain` is for the bad one and says every rule that failed, in the
 * order of the schema's fields. `passes(v)` holds exactly when `explain(v)` adds nothing. `settle` gives an accepted
 * value its final form (UUIDs in lower case), copying only where something changes.
 */
export interface Check {
  passes(value: unknown): boolean;
  explain(value: unknown, path: string, out: Messages): void;
  /** Absent = the value is final as it is. */
  readonly settle?: (value: unknown) => unknown;
}

/** Messages about one value; its path is empty for the body as a whole. */
export type Messages = string[];

/** More tell nobody anything, and an answer must not be much larger than its question. */
export const maxMessages = 1000;

/** The name of a value in a message. */
export function named(path: string): string {
  return path === '' ? 'body' : path;
}

/** What stands before the names of the fields of the value at `path`. */
export function prefixOf(path: string): string {
  return path === '' ? '' : `${path}.`;
}

/** `property bracketConfig.x should not exist`; a long name is cut, the sender knows it. */
export function shouldNotExist(prefix: string, name: string): string {
  return `property ${prefix}${name.length > 64 ? `${name.slice(0, 64)}…` : name} should not exist`;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
