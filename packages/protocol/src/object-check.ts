import { type Check, inside, isObject, maxMessages, type Messages, named, shouldNotExist } from './check.js';
import type { Report, Rule } from './rules.js';

export interface Field {
  readonly name: string;
  readonly check: Check;
  readonly required: boolean;
  /** Default of an absent field. */
  readonly preset?: unknown;
}

/** A closed object: its fields, each followed by the messages of the rule about it, then unknown fields. */
export function objectCheck(
  fields: readonly Field[],
  rule: Rule<Record<string, unknown>> | undefined,
  expected: string,
): Check {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const required = fields.filter((field) => field.required);
  const presets = fields.filter((field) => field.preset !== undefined);
  return (value, prefix, name, out) => {
    if (!isObject(value)) {
      out.push(`${named(prefix, name)} ${expected}`);
      return value;
    }
    const within = inside(prefix, name);
    const complaints = new Complaints(within);
    let final: Record<string, unknown> | undefined;
    let found = 0;
    // By the received names instead of all possible ones: a body has few of its possible fields. Own names
    // only, so that nothing inherited counts and an own `__proto__` is an unknown field like any other.
    for (const given of Object.keys(value)) {
      const field = byName.get(given);
      if (field === undefined) {
        complaints.unknown(given);
        continue;
      }
      const item = value[given];
      if (item === undefined) continue;
      if (field.required) found++;
      const before = out.length;
      const settled = field.check(item, within, given, out);
      if (out.length > before) complaints.of(given).push(...out.splice(before));
      if (settled !== item) (final ??= { ...value })[given] = settled;
    }
    if (found < required.length) {
      for (const field of required) {
        if (!Object.hasOwn(value, field.name) || value[field.name] === undefined)
          field.check(undefined, within, field.name, complaints.of(field.name));
      }
    }
    for (const { name: absent, preset } of presets) {
      if (!Object.hasOwn(value, absent) || value[absent] === undefined)
        (final ??= { ...value })[absent] = preset;
    }
    rule?.(final ?? value, complaints);
    complaints.writeTo(out, fields);
    return final ?? value;
  };
}

/** Messages about one object, collected by field and written in the order of the fields. */
class Complaints implements Report<string> {
  readonly #prefix: string;
  #byField: Map<string, Messages> | undefined;
  #unknown: string[] | undefined;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  of(field: string): Messages {
    this.#byField ??= new Map();
    let messages = this.#byField.get(field);
    if (messages === undefined) this.#byField.set(field, (messages = []));
    return messages;
  }

  field(field: string, complaint: string): void {
    this.sentence(field, `${this.#prefix}${field} ${complaint}`);
  }

  /** A rule may repeat the message of the field itself. */
  sentence(field: string, message: string): void {
    const messages = this.of(field);
    if (!messages.includes(message)) messages.push(message);
  }

  unknown(name: string): void {
    this.#unknown ??= [];
    if (this.#unknown.length < maxMessages) this.#unknown.push(name);
  }

  writeTo(out: Messages, fields: readonly Field[]): void {
    if (this.#byField !== undefined) {
      for (const { name } of fields) out.push(...(this.#byField.get(name) ?? []));
    }
    for (const name of this.#unknown ?? []) out.push(shouldNotExist(this.#prefix, name));
  }
}
