import {
  type Check,
  isObject,
  maxMessages,
  type Messages,
  named,
  prefixOf,
  shouldNotExist,
} from './check.js';
import type { Report, Rule } from './rules.js';

export interface Field {
  readonly name: string;
  readonly check: Check;
  readonly required: boolean;
  /** What an absent field becomes. */
  readonly preset?: unknown;
}

/** A closed object: its own fields, then the rule across them. */
export function objectCheck(
  fields: readonly Field[],
  rule: Rule<Record<string, unknown>> | undefined,
  expected: string,
): Check {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const requiredCount = fields.filter((field) => field.required).length;

  // One object for all bodies: a rule runs to its end before the next body is looked at.
  let broken = false;
  const alarm: Report<string> = {
    field: () => (broken = true),
    sentence: () => (broken = true),
  };

  function passes(value: unknown): boolean {
    if (!isObject(value)) return false;
    let found = 0;
    // By the names that came rather than by those that could: a body has few of the fields it may have. Own names
    // only, so that nothing inherited counts and an own `__proto__` is an unknown field like any other.
    for (const name of Object.keys(value)) {
      const field = byName.get(name);
      if (field === undefined) return false;
      const item = value[name];
      if (item === undefined) continue;
      if (!field.check.passes(item)) return false;
      if (field.required) found++;
    }
    if (found !== requiredCount) return false;
    if (rule === undefined) return true;
    broken = false;
    rule(value, alarm);
    return !broken;
  }

  function explain(value: unknown, path: string, out: Messages): void {
    if (!isObject(value)) {
      out.push(`${named(path)} ${expected}`);
      return;
    }
    const prefix = prefixOf(path);
    const complaints = complaintsOf(rule, value, prefix);
    for (const { name, check, required } of fields) {
      const item = Object.hasOwn(value, name) ? value[name] : undefined;
      const messages: Messages = [];
      if (item !== undefined || required) check.explain(item, `${prefix}${name}`, messages);
      for (const complaint of complaints.get(name) ?? []) {
        if (!messages.includes(complaint)) messages.push(complaint);
      }
      for (const message of messages) if (out.length < maxMessages) out.push(message);
    }
    for (const name of Object.keys(value)) {
      if (!byName.has(name) && out.length < maxMessages) out.push(shouldNotExist(prefix, name));
    }
  }

  const changing = fields.filter((field) => field.check.settle !== undefined || 'preset' in field);
  if (changing.length === 0) return { passes, explain };

  function settle(value: unknown): unknown {
    const before = value as Readonly<Record<string, unknown>>;
    let after: Record<string, unknown> | undefined;
    for (const field of changing) {
      const item = Object.hasOwn(before, field.name) ? before[field.name] : undefined;
      const settled = item === undefined ? field.preset : (field.check.settle?.(item) ?? item);
      if (settled !== item) (after ??= { ...before })[field.name] = settled;
    }
    return after ?? before;
  }
  return { passes, explain, settle };
}

/** What the rule says, by field. */
function complaintsOf(
  rule: Rule<Record<string, unknown>> | undefined,
  value: Readonly<Record<string, unknown>>,
  prefix: string,
): ReadonlyMap<string, Messages> {
  const complaints = new Map<string, Messages>();
  const add = (field: string, message: string): void => {
    const messages = complaints.get(field);
    if (messages === undefined) complaints.set(field, [message]);
    else messages.push(message);
  };
  rule?.(value, {
    field: (field, complaint) => add(field, `${prefix}${field} ${complaint}`),
    sentence: add,
  });
  return complaints;
}
