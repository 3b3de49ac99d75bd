/** Schemas compiled to closures, once per schema: an order body is judged in about a microsecond. */
import type { TSchema } from 'typebox';
import { type Check, isObject, maxMessages, named, prefixOf, shouldNotExist } from './check.js';
import { expectedChoice } from './fields.js';
import { choiceCheck, type Keywords, leaf, numberCheck, stringCheck } from './leaf-check.js';
import { objectCheck } from './object-check.js';
import { queryField } from './query-field.js';
import { ruleOf } from './rules.js';

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
  const { settle } = item;
  const distinct = (values: readonly unknown[]): boolean =>
    !uniqueItems ||
    new Set(values.map((value) => (settle && item.passes(value) ? settle(value) : value))).size ===
      values.length;
  const size =
    minItems === maxItems
      ? `exactly ${minItems}`
      : maxItems === Infinity
        ? `at least ${minItems}`
        : `${minItems} to ${maxItems}`;
  return {
    passes: (value) =>
      Array.isArray(value) &&
      value.length >= minItems &&
      value.length <= maxItems &&
      value.every((element) => item.passes(element)) &&
      distinct(value),
    explain(value, path, out) {
      if (!Array.isArray(value)) {
        out.push(`${named(path)} ${expected}`);
        return;
      }
      if (value.length < minItems || value.length > maxItems) {
        out.push(`${named(path)} must contain ${size} elements`);
        // What is in a list of the wrong size is not looked at: it may be very long.
        return;
      }
      const prefix = prefixOf(path);
      for (let i = 0; i < value.length && out.length < maxMessages; i++)
        item.explain(value[i], `${prefix}${i}`, out);
      if (!distinct(value)) out.push(`${named(path)} must not contain duplicates`);
    },
    ...(settle === undefined
      ? {}
      : {
          settle: (value: unknown) => {
            const values = value as readonly unknown[];
            const settled = values.map(settle);
            return settled.every((element, i) => element === values[i]) ? values : settled;
          },
        }),
  };
}

const maxNames = 2000;

function recordCheck(keywords: Keywords): Check {
  const schema = Object.values(keywords.patternProperties ?? {})[0];
  if (schema === undefined) throw new TypeError('A record schema needs the schema of its values');
  const item = checkOf(schema);
  const expected = keywords['x-expected'] ?? 'must be an object';
  const isName = (name: string): boolean => name !== '' && name.length <= 256 && name !== '__proto__';
  return {
    passes(value) {
      if (!isObject(value)) return false;
      const names = Object.keys(value);
      return names.length <= maxNames && names.every((name) => isName(name) && item.passes(value[name]));
    },
    explain(value, path, out) {
      if (!isObject(value)) {
        out.push(`${named(path)} ${expected}`);
        return;
      }
      const names = Object.keys(value);
      if (names.length > maxNames) {
        out.push(`${named(path)} must contain at most ${maxNames} entries`);
        return;
      }
      const prefix = prefixOf(path);
      for (const name of names) {
        if (out.length >= maxMessages) break;
        if (isName(name)) item.explain(value[name], `${prefix}${name}`, out);
        else out.push(shouldNotExist(prefix, name));
      }
    },
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

const compiledQueries = new WeakMap<TSchema, Check>();

/** The check of a query string: its values arrive as text, and a missing one may have a default. */
export function queryCheckOf(schema: TSchema): Check {
  let check = compiledQueries.get(schema);
  if (check === undefined) {
    const keywords = schema as Keywords;
    const required = new Set(keywords.required);
    const fields = Object.entries(keywords.properties ?? {}).map(([name, property]) => {
      const { type, default: preset } = property as Keywords;
      return {
        name,
        check: queryField(checkOf(property), type),
        required: required.has(name) && preset === undefined,
        ...(preset === undefined ? {} : { preset }),
      };
    });
    check = objectCheck(fields, ruleOf(schema), 'must be a query string');
    compiledQueries.set(schema, check);
  }
  return check;
}

function unionCheck(members: readonly TSchema[], keywords: Keywords): Check {
  const discriminator = keywords['x-discriminator'];
  const checks = members.map(checkOf);
  if (discriminator === undefined) {
    return leaf(keywords, 'must have one of the allowed forms', (value) =>
      checks.some((check) => check.passes(value)),
    );
  }
  const byValue = new Map<unknown, Check>();
  members.forEach((member, i) => {
    const tag = (member as Keywords).properties?.[discriminator] as Keywords | undefined;
    const check = checks[i];
    if (tag?.const !== undefined && check !== undefined) byValue.set(tag.const, check);
  });
  const tags = [...byValue.keys()].map(String);
  const tagCheck = choiceCheck(tags, { 'x-expected': expectedChoice(tags) });
  const memberFor = (value: unknown): Check | undefined =>
    isObject(value) && Object.hasOwn(value, discriminator) ? byValue.get(value[discriminator]) : undefined;
  return {
    passes: (value) => memberFor(value)?.passes(value) ?? false,
    explain(value, path, out) {
      const member = memberFor(value);
      if (member !== undefined) member.explain(value, path, out);
      else if (isObject(value)) tagCheck.explain(undefined, `${prefixOf(path)}${discriminator}`, out);
      else out.push(`${named(path)} ${keywords['x-expected'] ?? 'must be an object'}`);
    },
  };
}
