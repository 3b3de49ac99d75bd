/** Schemas compiled to closures, once per schema: an order body is judged in about a microsecond. */
import type { TSchema } from 'typebox';
import {
  type Check,
  inside,
  isObject,
  judgedLists,
  maxMessages,
  type Messages,
  named,
  shouldNotExist,
} from './check.js';
import { expectedChoice } from './fields.js';
import { choiceCheck, type Keywords, leaf, numberCheck, stringCheck } from './leaf-check.js';
import { objectCheck } from './object-check.js';
import { ruleOf } from './rules.js';
import { textField } from './text-field.js';

const compiled = new WeakMap<TSchema, Check>();

export function checkOf(schema: TSchema): Check {
  let check = compiled.get(schema);
  if (check === undefined) {
    check = compile(schema);
    compiled.set(schema, check);
  }
  return check;
}

function compile(schema: TSchema): Check {
  const keywords = schema as Keywords;
  if (keywords.enum !== undefined) return choiceCheck(keywords.enum, keywords);
  if (keywords.const !== undefined) return choiceCheck([keywords.const], keywords);
  if (keywords.anyOf !== undefined) return unionCheck(keywords.anyOf, keywords);
  switch (keywords.type) {
    case 'string':
      return stringCheck(keywords);
    case 'number':
    case 'integer':
      return numberCheck(keywords);
    case 'boolean':
      return leaf(keywords, 'must be a boolean', (value) => typeof value === 'boolean');
    case 'array':
      return arrayCheck(keywords);
    case 'object':
      return keywords.properties === undefined ? recordCheck(keywords) : propertiesCheck(schema, keywords);
    default:
      throw new TypeError(`No check for schema ${JSON.stringify(schema)}`);
  }
}

function arrayCheck(keywords: Keywords): Check {
  const { minItems = 0, maxItems = Infinity, uniqueItems = false } = keywords;
  if (keywords.items === undefined) throw new TypeError('An array schema needs items');
  const item = checkOf(keywords.items);
  const expected = keywords['x-expected'] ?? 'must be an array';
  const size =
    minItems === maxItems
      ? `exactly ${minItems}`
      : maxItems === Infinity
        ? `at least ${minItems}`
        : `${minItems} to ${maxItems}`;
  return (value, prefix, name, out) => {
    if (!Array.isArray(value)) {
      out.push(`${named(prefix, name)} ${expected}`);
      return value;
    }
    if (value.length < minItems || value.length > maxItems) {
      out.push(`${named(prefix, name)} must contain ${size} elements`);
      // Elements of a list of the wrong size are not checked: there may be very many.
      return value as unknown;
    }
    const given: readonly unknown[] = value;
    const within = inside(prefix, name);
    let final: unknown[] | undefined;
    const judged = judgedLists.get(given)?.();
    if (judged === undefined) {
      for (let i = 0; i < given.length && out.length < maxMessages; i++) {
        const settled = item(given[i], within, String(i), out);
        if (settled !== given[i]) (final ??= [...given])[i] = settled;
      }
    } else if (judged.messages.length > 0) {
      out.push(...judged.messages);
      return given;
    }
    const items = judged?.final ?? final ?? given;
    if (uniqueItems && new Set(items).size !== items.length)
      out.push(`${named(prefix, name)} must not contain duplicates`);
    return items;
  };
}

const maxNames = 2000;

function recordCheck(keywords: Keywords): Check {
  const schema = Object.values(keywords.patternProperties ?? {})[0];
  if (schema === undefined) throw new TypeError('A record schema needs the schema of its values');
  const item = checkOf(schema);
  const expected = keywords['x-expected'] ?? 'must be an object';
  const isName = (name: string): boolean => name !== '' && name.length <= 256 && name !== '__proto__';
  return (value, prefix, name, out) => {
    if (!isObject(value)) {
      out.push(`${named(prefix, name)} ${expected}`);
      return value;
    }
    const keys = Object.keys(value);
    if (keys.length > maxNames) {
      out.push(`${named(prefix, name)} must contain at most ${maxNames} entries`);
      return value;
    }
    const within = inside(prefix, name);
    let final: Record<string, unknown> | undefined;
    for (const key of keys) {
      if (out.length >= maxMessages) break;
      if (!isName(key)) {
        out.push(shouldNotExist(within, key));
        continue;
      }
      const settled = item(value[key], within, key, out);
      if (settled !== value[key]) (final ??= { ...value })[key] = settled;
    }
    return final ?? value;
  };
}

function propertiesCheck(schema: TSchema, keywords: Keywords): Check {
  const required = new Set(keywords.required);
  const fields = Object.entries(keywords.properties ?? {}).map(([name, property]) => ({
    name,
    check: checkOf(property),
    required: required.has(name),
  }));
  return objectCheck(fields, ruleOf(schema), keywords['x-expected'] ?? 'must be an object');
}

const compiledTexts = new WeakMap<TSchema, Check>();

/** The check of named texts: each becomes what its schema says, and a missing one may have a default. */
export function textsCheckOf(schema: TSchema): Check {
  let check = compiledTexts.get(schema);
  if (check === undefined) {
    const keywords = schema as Keywords;
    const required = new Set(keywords.required);
    const fields = Object.entries(keywords.properties ?? {}).map(([name, property]) => {
      const { type, default: preset } = property as Keywords;
      return {
        name,
        check: textField(checkOf(property), type),
        required: required.has(name) && preset === undefined,
        preset,
      };
    });
    check = objectCheck(fields, ruleOf(schema), 'must be a query string');
    compiledTexts.set(schema, check);
  }
  return check;
}

function unionCheck(members: readonly TSchema[], keywords: Keywords): Check {
  const [first, second] = members;
  if (first !== undefined && (second as Keywords | undefined)?.type === 'null') {
    const check = checkOf(first);
    // The final form of null is an absent field.
    return (value, prefix, name, out) => (value === null ? undefined : check(value, prefix, name, out));
  }
  const discriminator = keywords['x-discriminator'];
  const checks = members.map(checkOf);
  if (discriminator === undefined) return alternatives(checks, keywords);
  const byValue = new Map<unknown, Check>();
  members.forEach((member, i) => {
    const tag = (member as Keywords).properties?.[discriminator] as Keywords | undefined;
    const check = checks[i];
    if (tag?.const !== undefined && check !== undefined) byValue.set(tag.const, check);
  });
  const tags = [...byValue.keys()].map(String);
  const tagCheck = choiceCheck(tags, { 'x-expected': expectedChoice(tags) });
  return (value, prefix, name, out) => {
    if (!isObject(value)) {
      out.push(`${named(prefix, name)} ${keywords['x-expected'] ?? 'must be an object'}`);
      return value;
    }
    const member = Object.hasOwn(value, discriminator) ? byValue.get(value[discriminator]) : undefined;
    if (member !== undefined) return member(value, prefix, name, out);
    tagCheck(undefined, inside(prefix, name), discriminator, out);
    return value;
  };
}

/** The first form without messages; without one, the messages about parts of the value, if only one form has such. */
function alternatives(checks: readonly Check[], keywords: Keywords): Check {
  const expected = keywords['x-expected'] ?? 'must have one of the allowed forms';
  return (value, prefix, name, out) => {
    const partial: Messages[] = [];
    const within = inside(prefix, name);
    for (const check of checks) {
      const complaints: Messages = [];
      const settled = check(value, prefix, name, complaints);
      if (complaints.length === 0) return settled;
      if (complaints.every((complaint) => complaint.includes(within))) partial.push(complaints);
    }
    const [only] = partial;
    if (only !== undefined && partial.length === 1) out.push(...only);
    else out.push(`${named(prefix, name)} ${expected}`);
    return value;
  };
}
