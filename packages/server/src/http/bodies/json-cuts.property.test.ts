import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeepJson, InvalidJson, JsonCuts, LongPart, WHOLE_BODY } from './json-cuts.js';

const NAMES = new Set(['steps', 'orders', WHOLE_BODY]);

class Kept {
  readonly list: unknown[] = [];
  add(element: unknown): void {
    this.list.push(element);
  }
}

/** The value of text that is scanned and parsed in pieces; or the kind of its error. */
function inPieces(
  bytes: Buffer,
  scanned: readonly number[],
  pieceBytes: number,
  partBytes = Infinity,
): unknown {
  try {
    const cuts = new JsonCuts(bytes, NAMES, { partBytes, pieceBytes });
    for (let i = 0; cuts.scan(scanned[i % scanned.length] ?? 1); i += 1);
    const steps = cuts.parse(() => new Kept());
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  } catch (error) {
    if (error instanceof InvalidJson || error instanceof DeepJson || error instanceof LongPart)
      return error.constructor;
    throw error;
  }
}

function whole(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return InvalidJson;
  }
}

/** Equal with the sequence of names, and `-0`. */
const isEqual = (a: unknown, b: unknown): boolean =>
  isDeepStrictEqual(a, b) && JSON.stringify(a) === JSON.stringify(b);

const blank = fc.oneof(
  { weight: 20, arbitrary: fc.stringMatching(/^[ \t\r\n]{0,3}$/) },
  { weight: 1, arbitrary: fc.integer({ min: 250, max: 600 }).map((count) => ' \n'.repeat(count / 2)) },
);
const string = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc.stringMatching(/^"(\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}|[,:\[\]{} a-z€])*"$/),
);
const name = fc.oneof(
  fc.constantFrom(
    '"steps"',
    '"orders"',
    '"\\u0073teps"',
    '"st\\u0065ps"',
    '"steps\\u0000"',
    '"__proto__"',
    '""',
  ),
  string,
);

/** Text of JSON, with any spaces, names that repeat, and names of lists at any level. */
const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('0', '-0', '1e3', '12.50', 'true', 'false', 'null', '[]', '{}', '[[]]'),
    string,
    tie('list'),
    tie('object'),
  ),
  list: fc
    .array(fc.tuple(blank, tie('json'), blank), { maxLength: 6 })
    .map((items) => `[${items.map((parts) => parts.join('')).join(',')}]`),
  object: fc
    .array(fc.tuple(blank, name, blank, tie('json'), blank), { maxLength: 6 })
    .map((items) => `{${items.map(([a, key, b, value, c]) => `${a}${key}${b}:${value}${c}`).join(',')}}`),
}));

const text = fc.tuple(blank, json, blank).map((parts) => parts.join(''));
const scanned = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(1000)), {
  minLength: 1,
  maxLength: 5,
});
const pieceBytes = fc.constantFrom(0, 1, 5, 16, 1000);

/** Text with bytes replaced, removed, or added. */
const damaged = fc
  .tuple(
    text,
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat({ max: 2 }),
        fc.oneof(fc.constantFrom(...Buffer.from('[]{},:"\\ 1')), fc.nat({ max: 255 })),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([valid, changes]) => {
    const bytes = [...Buffer.from(valid)];
    for (const [place, removed, byte] of changes) bytes.splice(place % (bytes.length + 1), removed, byte);
    return Buffer.from(bytes);
  });

function expectSame(bytes: Buffer, steps: readonly number[], size: number): void {
  const found = inPieces(bytes, steps, size);
  const expected = whole(bytes);
  if (!isEqual(found, expected))
    expect({ text: bytes.toString(), found }).toEqual({ text: bytes.toString(), found: expected });
}

describe('JSON in pieces', () => {
  it('any JSON: has the value of JSON.parse, whatever is scanned and parsed at once', () => {
    fc.assert(
      fc.property(text, scanned, pieceBytes, (valid, steps, size) =>
        expectSame(Buffer.from(valid), steps, size),
      ),
      { numRuns: 1000 },
    );
  });

  it('damaged JSON: is refused, or has the value of JSON.parse', () => {
    fc.assert(fc.property(damaged, scanned, pieceBytes, expectSame), { numRuns: 1500 });
  });

  it('arbitrary bytes: are refused, or have the value of JSON.parse', () => {
    const bytes = fc
      .array(fc.constantFrom(...Buffer.from('[]{},:"\\ 1a'), 0xe2, 0x82, 0xef, 0xbb, 0xbf), { maxLength: 12 })
      .map((list) => Buffer.from(list));
    fc.assert(fc.property(bytes, scanned, pieceBytes, expectSame), { numRuns: 1500 });
  });

  it('no step parses more bytes than a part may have', () => {
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 40 }),
        (valid, part, piece) => {
          const bytes = Buffer.from(valid);
          const cuts = new JsonCuts(bytes, NAMES, { partBytes: part, pieceBytes: piece });
          try {
            while (cuts.scan(7));
          } catch (error) {
            expect(error).toBeInstanceOf(LongPart);
            return;
          }
          for (const size of cuts.parse(() => new Kept()))
            expect(size).toBeLessThanOrEqual(Math.max(part, 2 * piece));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('JSON in pieces: cases', () => {
  const parsed = (given: string, size = 0): unknown => inPieces(Buffer.from(given), [3], size);

  it.each([
    ['a name twice: the last value wins', '{"steps":[1],"a":2,"steps":[3,4]}', { steps: [3, 4], a: 2 }],
    ['a name twice, first a list', '{"steps":[1],"steps":5}', { steps: 5 }],
    ['a name twice, last a list', '{"steps":5,"steps":[1]}', { steps: [1] }],
    ['a name with escapes', '{"\\u0073teps":[1,2]}', { steps: [1, 2] }],
    ['the name in another object', '{"x":{"steps":[1,2]}}', { x: { steps: [1, 2] } }],
    ['a list that is the body', ' [1, [2, 3], "a,b]"] ', [1, [2, 3], 'a,b]']],
    ['a comma after the last element', '{"steps":[1,]}', InvalidJson],
    ['a comma before the first element', '{"steps":[,1]}', InvalidJson],
    ['a list that a brace ends', '{"steps":[1}', InvalidJson],
    ['a list without its end', '{"steps":[1,2', InvalidJson],
    ['text after the body', '[1,2] x', InvalidJson],
    ['a byte order mark', '\uFEFF[1]', InvalidJson],
    ['a quote at the end', '["\\"', InvalidJson],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, DeepJson],
    ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`, JSON.parse(`${'['.repeat(64)}${']'.repeat(64)}`)],
  ])('%s', (_, given, expected) => {
    expect(parsed(given)).toEqual(expected);
    expect(parsed(given, 1000)).toEqual(expected);
  });

  it('an element longer than a part is refused, a longer body of short ones is not', () => {
    const longest = (given: string): unknown => inPieces(Buffer.from(given), [10_000], 10, 20);
    expect(longest(`{"steps":["${'x'.repeat(30)}"]}`)).toBe(LongPart);
    expect(longest(`{"a":"${'x'.repeat(30)}"}`)).toBe(LongPart);
    expect(longest(`{"steps":[1]}${' '.repeat(1000)}`)).toEqual({ steps: [1] });
    expect(longest(`[${'"xxxxxxxxxx",'.repeat(50)}1]`)).toHaveLength(51);
  });
});
