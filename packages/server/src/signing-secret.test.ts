import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { signingSecret } from './signing-secret.js';
import { inDirectory } from './testing/server-process.js';

const settings = (dataDir: string) => ({ dataDir, jwtSecret: undefined, jwksUrl: undefined });

it('signingSecret: creates a secret once, in a file that only its owner can read', () =>
  inDirectory((directory) => {
    const dataDir = join(directory, 'data');
    const secret = signingSecret(settings(dataDir));
    expect(signingSecret(settings(dataDir))).toBe(secret);
    expect(readFileSync(join(dataDir, 'jwt-secret'), 'utf8')).toBe(secret);
    expect(statSync(join(dataDir, 'jwt-secret')).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    return Promise.resolve();
  }));

it.each([0o640, 0o604, 0o620, 0o666])(
  'signingSecret: refuses a file that others can access: mode %o',
  (mode) =>
    inDirectory((directory) => {
      signingSecret(settings(directory));
      chmodSync(join(directory, 'jwt-secret'), mode);
      expect(() => signingSecret(settings(directory))).toThrow(/jwt-secret is open to others than its owner/);
      // With a secret in the settings the file is not read.
      expect(signingSecret({ ...settings(directory), jwtSecret: 'x'.repeat(32) })).toBe('x'.repeat(32));
      return Promise.resolve();
    }),
);
