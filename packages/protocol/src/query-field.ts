import { type Check, named } from './check.js';

/** A field of a query string: text that becomes what the schema says, given at most once. */
export function queryField(check: Check, type: string | undefined): Check {
  const parse = parserOf(type);
  return {
    passes: (value) => !Array.isArray(value) && check.passes(parse(value)),
    explain(value, path, out) {
      if (Array.isArray(value)) out.push(`${named(path)} must be given only once`);
      else check.explain(parse(value), path, out);
    },
    settle(value) {
      const parsed = parse(value);
      return check.settle === undefined ? parsed : check.settle(parsed);
    },
  };
}

/** Digits only: no sign, no exponent, no blanks. Anything else stays text, which the check then refuses. */
const digits = /^\d{1,15}$/;

function parserOf(type: string | undefined): (value: unknown) => unknown {
  switch (type) {
    case 'integer':
      return (value) => (typeof value === 'string' && digits.test(value) ? Number(value) : value);
    case 'boolean':
      return (value) => (value === 'true' ? true : value === 'false' ? false : value);
    default:
      return (value) => value;
  }
}
