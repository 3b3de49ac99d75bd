/** The Python client: its own tests, and that it knows what the protocol knows. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorCodeNames, type Route, routeEntries } from '@sandpit/protocol';
import { describe, expect, it } from 'vitest';
import { COMMAND } from '../packages/server/src/testing/joined-programs.js';

const cwd = fileURLToPath(new URL('../packages/python', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

async function python(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)('python3', args, {
    cwd,
    env: {
      PATH: process.env.PATH,
      SANDPIT_COMMAND: `"${process.execPath}" "${COMMAND}"`,
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
}

describe.runIf(hasPython)('the Python client', () => {
  it('passes its tests', async () => {
    const { stderr } = await python('-W', 'error', '-m', 'unittest');
    expect(stderr).toMatch(/\nOK\n$/);
  }, 60_000);

  it('knows every operation, and has a class for every code', async () => {
    const program =
      'import json, sandpit; print(json.dumps([sandpit.OPERATIONS, list(sandpit.ERROR_CLASSES)]))';
    const [operations, codes] = JSON.parse((await python('-c', program)).stdout) as [object, string[]];
    const table = routeEntries.map(([id, { method, path }]: readonly [string, Route]) => [
      id,
      `${method} ${path}`,
    ]);
    expect(operations).toEqual(Object.fromEntries(table));
    expect(codes.sort()).toEqual([...errorCodeNames].sort());
  });
});

it('the Python client: is one file with its version', () => {
  const { version } = JSON.parse(readFileSync(join(cwd, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(readFileSync(join(cwd, 'sandpit.py'), 'utf8')).toContain(`__version__ = "${version}"`);
});
