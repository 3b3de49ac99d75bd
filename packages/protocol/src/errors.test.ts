import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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

const page = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8');
const codePart = page.slice(page.indexOf('\n## Codes\n'));
const sections = new Map(
  codePart
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')).trim(), section] as const),
);

describe('the page on errors', () => {
  it('has a heading for every code and a code for every heading, in the same order', () => {
    expect([...sections.keys()]).toEqual(errorCodeNames);
  });

  it.each(errorCodeNames)('says the status, the meaning and the details of %s', (code) => {
    const { status, meaning, details } = errorCodes[code];
    const section = sections.get(code);
    expect(section).toContain(`**${status} ${statusNames[status]}.** ${meaning}`);
    const described = [...(section ?? '').matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    expect(described).toEqual(Object.keys(details));
  });
});

describe('error bodies', () => {
  it('plain', () => {
    const body = problem(404, 'Portfolio not found');
    expect(body).toEqual({ statusCode: 404, message: 'Portfolio not found', error: 'Not Found' });
    expect(validateBody(Problem, body).ok).toBe(true);
    expect(validateBody(Problem, problem(400, ['a', 'b'])).ok).toBe(true);
  });

  it('coded', () => {
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

  it('has a schema of details for every code', () => {
    expect([...errorDetailSchemas.keys()]).toEqual(errorCodeNames);
  });
});
