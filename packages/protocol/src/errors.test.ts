import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cancelReasons } from './enums.js';
import {
  CodedProblem,
  codedProblem,
  errorCodeNames,
  errorCodes,
  errorDetailSchemas,
  Problem,
  problem,
  statusNames,
} from './errors.js';
import { validateBody } from './validate.js';

const PACKAGES = new URL('../../', import.meta.url);
const page = readFileSync(new URL('../docs/reference/errors.md', PACKAGES), 'utf8');
const codePart = page.slice(page.indexOf('\n## Codes\n'));
const sections = new Map(
  codePart
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')).trim(), section] as const),
);

/** Sources of the core and the server, without comments. */
const sources = ['core/src/', 'server/src/'].flatMap((folder) =>
  readdirSync(new URL(folder, PACKAGES), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|contract)\.ts$|(^|\/)testing\//.test(path))
    .map((path) =>
      readFileSync(new URL(folder + path, PACKAGES), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/ .*/g, ''),
    ),
);

/**
 * True when any source raises a code. In a type, a case or a comparison a code is only mentioned. A code that is also a `cancelReason`
 * counts as raised only as the value of `code`.
 */
function isRaised(code: string): boolean {
  const isAlsoReason = (cancelReasons as readonly string[]).includes(code);
  const place = isAlsoReason
    ? String.raw`(?<!readonly )\bcode: |refuseCoded\(\s*`
    : String.raw`(?<!\bcase |[!=]== |\| |readonly \w+\??: )`;
  const mention = new RegExp(`(?:${place})'${code}'`);
  return sources.some((source) => mention.test(source));
}

describe('The page on errors', () => {
  it('has a heading for every code and a code for every heading, in the same order', () => {
    expect([...sections.keys()]).toEqual(errorCodeNames);
  });

  it.each(errorCodeNames)('documents the status, the meaning and the details of %s', (code) => {
    const { status, meaning, details } = errorCodes[code];
    const section = sections.get(code);
    expect(section).toContain(`**${status} ${statusNames[status]}.** ${meaning}`);
    const described = [...(section ?? '').matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    expect(described).toEqual(Object.keys(details));
  });

  it.each(errorCodeNames)('documents whether %s is raised', (code) => {
    const isMarked = sections.get(code)?.includes('\n*Not raised yet.* ') ?? false;
    expect(isMarked ? 'not raised yet' : 'raised').toBe(isRaised(code) ? 'raised' : 'not raised yet');
  });
});

describe('Error bodies', () => {
  it('have a status, a message and a name, and match their schema', () => {
    const body = problem(404, 'Portfolio not found');
    expect(body).toEqual({ statusCode: 404, message: 'Portfolio not found', error: 'Not Found' });
    expect(validateBody(Problem, body).ok).toBe(true);
    expect(validateBody(Problem, problem(400, ['a', 'b'])).ok).toBe(true);
  });

  it('have a code and its details, and match their schema', () => {
    const body = codedProblem('INSUFFICIENT_FUNDS', 'Insufficient funds', {
      availableCash: 1,
      requiredAmount: 2,
    });
    expect(body).toEqual({
      statusCode: 400,
      message: 'Insufficient funds',
      error: { code: 'INSUFFICIENT_FUNDS', availableCash: 1, requiredAmount: 2 },
    });
    expect(validateBody(CodedProblem, body).ok).toBe(true);
    expect(validateBody(CodedProblem, { ...body, error: { code: 'INSUFFICIENT_FUNDS' } })).toEqual({
      ok: false,
      messages: ['error.availableCash must be a number', 'error.requiredAmount must be a number'],
    });
    expect(validateBody(CodedProblem, { ...body, error: { code: 'NO_SUCH_CODE' } }).ok).toBe(false);
  });

  it('have a schema of details for every code', () => {
    expect([...errorDetailSchemas.keys()]).toEqual(errorCodeNames);
  });
});
