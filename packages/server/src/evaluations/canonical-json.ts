import { createHash } from 'node:crypto';

/** A value as canonical JSON (RFC 8785): fields in the order of their UTF-16 code units, without white space. Absent fields are left out. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonicalJson(one)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}

/** SHA-256, in hex, of a value as canonical JSON. */
export const canonicalDigest = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex');
