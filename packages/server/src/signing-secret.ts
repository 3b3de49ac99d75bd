import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './config.js';
import { BadSetting } from './config.js';

const FILE = 'jwt-secret';

/**
 * The secret tokens are signed with: `JWT_SECRET`, else a random one that the installation stores in its data directory, readable by its
 * owner only. Undefined if a provider issues tokens (`JWT_JWKS_URL`).
 */
export function signingSecret(
  settings: Pick<Settings, 'jwtSecret' | 'jwksUrl' | 'dataDir'>,
): string | undefined {
  if (settings.jwksUrl !== undefined) return undefined;
  if (settings.jwtSecret !== undefined) return settings.jwtSecret;
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  const path = join(settings.dataDir, FILE);
  try {
    return readSecret(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // Written as a complete draft and linked into place: a second process finds the first one's secret.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, randomBytes(48).toString('base64url'), { mode: 0o600 });
  chmodSync(draft, 0o600);
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  return readSecret(path);
}

function readSecret(path: string): string {
  // Windows has no such modes.
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new BadSetting(
      `${path} is open to others than its owner, who may have read it: delete it to end all tokens that it signed, or chmod 600 it`,
    );
  }
  const secret = readFileSync(path, 'utf8').trim();
  if (Buffer.byteLength(secret) < 32)
    throw new BadSetting(`${path} is damaged: it must hold at least 32 bytes`);
  return secret;
}
