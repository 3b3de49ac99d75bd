import { InvalidArgumentError } from 'commander';

/** An argument that is a number. */
export function numberOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number.');
  return value;
}
