/**
 * A compiled schema: one walk over a value that returns its final form and writes every rule it breaks to `out`, in the order of the
 * schema's fields. No messages = the value is valid.
 *
 * The final form has UUIDs in lower case, numbers on the decimals of their field and defaults filled in. The value itself is never changed:
 * differing parts are copied. A value that breaks a rule is returned unchanged.
 *
 * The path of a value has two parts, its prefix and its own name, so that it is built for messages only.
 */
export type Check = (value: unknown, prefix: string, name: string, out: Messages) => unknown;

export type Messages = string[];

/** Maximum number of messages: more do not help a reader, and an answer must not be much larger than its request. */
export const maxMessages = 1000;

/** The name of a value in a message; empty for the whole body. */
export function named(prefix: string, name: string): string {
  return name === '' ? 'body' : prefix + name;
}

/** Prefix of the names inside a value. */
export function inside(prefix: string, name: string): string {
  return name === '' ? '' : `${prefix}${name}.`;
}

/** `property bracketConfig.x should not exist`; a long name is cut, the sender knows it. */
export function shouldNotExist(prefix: string, name: string): string {
  return `property ${prefix}${name.length > 64 ? `${name.slice(0, 64)}…` : name} should not exist`;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists whose elements were checked before the rest of their body, with the result: their final form and their messages. */
export const judgedLists = new WeakMap<
  readonly unknown[],
  () => { readonly final: readonly unknown[]; readonly messages: Messages }
>();
