import type { SavedState, stateToSave } from '@sandpit/core';

/**
 * A state as lines, `name value`: one for each account, order and so on, so that a large one is never one text. Lists that are empty
 * leave a line, too.
 */
export function* linesOf(saved: ReturnType<typeof stateToSave>): Iterable<string> {
  for (const [name, value] of Object.entries(saved) as [string, unknown][]) {
    if (!isList(value)) yield `${name} ${JSON.stringify(value)}`;
    else {
      yield `${name} []`;
      for (const item of value) yield `${name}+ ${JSON.stringify(item)}`;
    }
  }
}

const isList = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

export function savedFrom(lines: Iterable<string>): SavedState {
  const saved: Record<string, unknown> = {};
  for (const line of lines) {
    const end = line.indexOf(' ');
    const value: unknown = JSON.parse(line.slice(end + 1));
    if (line[end - 1] === '+') (saved[line.slice(0, end - 1)] as unknown[]).push(value);
    else saved[line.slice(0, end)] = value;
  }
  return saved as unknown as SavedState;
}
