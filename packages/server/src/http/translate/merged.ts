/** The type of an object with the fields of all parts. */
type Merged<Parts extends readonly object[]> = Parts extends readonly [
  infer First,
  ...infer Others extends readonly object[],
]
  ? First & Merged<Others>
  : unknown;

/**
 * Copies the fields of the others into `first`, a new object, and returns it. For objects of more than a dozen fields: several spreads in one
 * literal cost two to three times as much and leave garbage in the old generation (decision 0195).
 */
export const merged = <First extends object, Others extends readonly object[]>(
  first: First,
  ...others: Others
): First & Merged<Others> => Object.assign(first, ...others) as First & Merged<Others>;
