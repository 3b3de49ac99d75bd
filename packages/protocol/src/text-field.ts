import { type Check, named } from './check.js';

/** A field that arrives as text and is converted by the schema; it may be sent once. */
export function textField(check: Check, type: string | undefined): Check {
  const parse = parserOf(type);
  return (value, prefix, name, out) => {
    if (!Array.isArray(value)) return check(parse(value), prefix, name, out);
    out.push(`${named(prefix, name)} must be given only once`);
    return value as unknown;
  };
}

/** Digits only: no exponent, no blanks, a sign only before a decimal number. Anything else stays text, which the check then refuses. */
const digits = /^\d{1,15}$/;
const decimal = /^-?\d{1,15}(\.\d{1,15})?$/;

function parserOf(type: string | undefined): (value: unknown) => unknown {
  switch (type) {
    case 'integer':
      return (value) => (typeof value === 'string' && digits.test(value) ? Number(value) : value);
    case 'number':
      return (value) => (typeof value === 'string' && decimal.test(value) ? Number(value) : value);
    case 'boolean':
      return (value) => (value === 'true' ? true : value === 'false' ? false : value);
    default:
      return (value) => value;
  }
}
