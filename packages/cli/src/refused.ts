import { AnswerError, SandpitError } from '@sandpit/client';

/** A request that the CLI itself refuses, with or without the server's answer. The run ends with 1. */
export class Refused extends SandpitError {
  override readonly name = 'Refused';
}

/** The message of an error with the figures of its code: `Insufficient funds (available cash 100, required amount 1876)`. */
export function textOf(error: Error): string {
  if (!(error instanceof AnswerError)) return error.message;
  return withFigures(error.message, (error.body as { readonly error?: unknown } | undefined)?.error);
}

/** A message followed by the figures in an error object. */
export function withFigures(message: string, details: unknown): string {
  if (typeof details !== 'object' || details === null) return message;
  const figures = Object.entries(details)
    .filter(([name]) => !NO_FIGURES.has(name))
    .map(
      ([name, value]) =>
        `${wordsOf(name)} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    );
  return figures.length === 0 ? message : `${message} (${figures.join(', ')})`;
}

const NO_FIGURES: ReadonlySet<string> = new Set(['code', 'message', 'statusCode']);

/** `availableCash` → `available cash` */
const wordsOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
