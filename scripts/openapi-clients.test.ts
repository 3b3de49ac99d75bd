/** The OpenAPI document, as other people's tools read it: two linters have nothing to say, and what three generators make of it compiles. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import { openApiDocument } from '@sandpit/protocol';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import openapiTS, { astToString } from 'openapi-typescript';
import { generate } from 'orval';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { inDirectory } from '../packages/server/src/testing/server-process.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const document = openApiDocument({ serverUrl: 'http://127.0.0.1:3000', version: '0.1.0' });
const text = JSON.stringify(document);

/**
 * Errors of the compiler about the TypeScript in the folders of a directory, by folder. One program: loading the library is slower than
 * compiling a client.
 */
function complaintsByFolder(directory: string, folders: readonly string[]): Record<string, string[]> {
  const files = folders.flatMap((name) => {
    const found = readdirSync(join(directory, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name));
    expect(found.length, name).toBeGreaterThan(0);
    return found;
  });
  const program = ts.createProgram(files, {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  });
  const complaints: Record<string, string[]> = Object.fromEntries(folders.map((name) => [name, []]));
  const others: string[] = [];
  for (const { file, messageText } of ts.getPreEmitDiagnostics(program)) {
    const path = file?.fileName ?? '';
    const about = folders.find((name) => path.includes(`/${name}/`));
    const text = `${path}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    (complaints[about ?? ''] ?? others).push(text);
  }
  expect(others).toEqual([]);
  return complaints;
}

describe('linters', () => {
  it('of Redocly find nothing', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      // Paths of the contract: `/accounts/portfolios/{id}` and `/accounts/{id}/freeze`. A router tells them apart.
      rules: { 'no-ambiguous-paths': 'off' },
    });
    const found = await lintFromString({ source: text, absoluteRef: join(ROOT, 'openapi.json'), config });
    expect(found.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('of Spectral find nothing', async () => {
    const linter = new spectral.Spectral();
    linter.setRuleset({ extends: [oas] } as unknown as RulesetDefinition);
    const found = await linter.run(text);
    expect(found.map(({ code, message, path }) => `${code}: ${message} at ${path.join('.')}`)).toEqual([]);
  });
});

const GENERATORS = ['openapi-typescript', 'hey-api', 'orval'];

describe('a client', () => {
  let made: Readonly<Record<string, string[]>>;
  beforeAll(async () => {
    made = await inDirectory(async (directory) => {
      const input = join(directory, 'openapi.json');
      writeFileSync(input, text);
      const folder = (name: string): string => join(directory, name);
      mkdirSync(folder('openapi-typescript'));
      writeFileSync(
        join(folder('openapi-typescript'), 'index.ts'),
        astToString(await openapiTS(JSON.parse(text) as never)),
      );
      await createClient({
        input,
        output: folder('hey-api'),
        logs: { level: 'silent' },
        plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
      });
      await generate({
        input: { target: input },
        output: { target: join(folder('orval'), 'index.ts'), client: 'fetch', mode: 'single' },
      });
      return complaintsByFolder(directory, GENERATORS);
    });
  }, 60_000);

  it.each(GENERATORS)('by %s compiles with everything strict', (name) => {
    expect(made[name]).toEqual([]);
  });
});

it('has a name of its own for every operation', () => {
  const paths = (document as { paths: Record<string, Record<string, { operationId?: string }>> }).paths;
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(ids.filter((id) => id === undefined || /alias|\d/i.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(readFileSync(join(ROOT, 'package.json'), 'utf8')).toContain('"orval"');
});
