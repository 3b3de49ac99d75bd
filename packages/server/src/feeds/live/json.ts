/* Answers of sources are read field by field: a value of another kind than documented counts as absent. */

export type Json = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** The value if it is a list, else an empty list. */
export const arrayOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A number, or the text of one. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A list; a single value is a list of one, as Tradier writes it. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null || value === 'null') return [];
  return Array.isArray(value) ? (value as readonly unknown[]) : [value];
}
