import { InvalidArgumentError } from 'commander';

/** Commas between groups of three digits, as in `1,000.50`. */
const GROUPED = /^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/;

/** An argument that is a number, with or without commas between groups of three digits. */
export function numberOf(text: string): number {
  const plain = GROUPED.test(text.trim()) ? text.replaceAll(',', '') : text;
  const value = Number(plain);
  if (plain.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number.');
  return value;
}
