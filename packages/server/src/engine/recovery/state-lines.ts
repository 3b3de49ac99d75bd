import type { PassingState } from '@sandpit/core';

/**
 * A state as lines, `name value`: one for each account, order and so on, so that a large one is never one text. Lists that are empty
 * leave a line, too.
 */
export function* linesOf(saved: PassingState): Iterable<string> {
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

/** A state from its lines, one in each step of the generator; orders are parsed when first used. Throws for an unknown kind of line. */
export function* parsingLines(lines: Iterable<string>): Generator<undefined, PassingState> {
  const saved: Record<string, unknown> = {};
  const all = lines[Symbol.iterator]();
  for (let next = all.next(); next.done !== true; next = all.next()) {
    const line = next.value;
    const end = line.indexOf(' ');
    if (line.startsWith('orders ')) {
      saved['orders'] = ordersFrom(all);
      break;
    }
    const value: unknown = JSON.parse(line.slice(end + 1));
    if (line[end - 1] === '+') (saved[line.slice(0, end - 1)] as unknown[]).push(value);
    else saved[line.slice(0, end)] = value;
    yield;
  }
  return saved as unknown as PassingState;
}

const ORDER = 'orders+ ';

function* ordersFrom(lines: Iterator<string>): Iterable<unknown> {
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    if (!next.value.startsWith(ORDER)) throw new SyntaxError('orders come last');
    yield JSON.parse(next.value.slice(ORDER.length));
  }
}
