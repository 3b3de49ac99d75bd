import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { credentialsIn, inDirectory, ServerProcess } from './testing/server-process.js';

const SETTINGS = { MARKET_FEED: 'push', MARKET_CALENDAR: 'always-open' };

/** Output of a command; fails on an unexpected exit code. */
async function keys(directory: string, args: string, code = 0): Promise<{ out: string[]; err: string[] }> {
  const command = ServerProcess.keys({ ...SETTINGS, DATA_DIR: directory }, ...args.split(' '));
  expect(await command.exited, command.err.join('\n')).toEqual({ code, signal: null });
  return command;
}

const idIn = ({ err }: { readonly err: readonly string[] }): string =>
  /^key (\w{16}) /.exec(err[0] ?? '')?.[1] ?? '';

async function tokenFor(baseUrl: string, apiKey: string | undefined): Promise<string | undefined> {
  const response = await fetch(`${baseUrl}/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiKey }),
  });
  return ((await response.json()) as { readonly token?: string }).token;
}

const get = (baseUrl: string, token: string | undefined, path = '/v1/accounts'): Promise<Response> =>
  fetch(baseUrl + path, { headers: { authorization: `Bearer ${token ?? ''}` } });

describe('npm run keys', { timeout: 60_000 }, () => {
  it('creates and revokes keys without a server, which a later server uses', async () => {
    await inDirectory(async (directory) => {
      const alice = await keys(directory, 'create --tenant alice --tier BASIC');
      const bob = await keys(directory, 'create --tenant bob --tier PRO --scope read');
      expect(alice.out[0]).toMatch(/^sp_[\w-]{43}$/);
      expect((await keys(directory, `revoke ${idIn(bob)}`)).out).toEqual([`revoked ${idIn(bob)}`]);
      const listed = (await keys(directory, 'list')).out;
      expect(listed).toEqual([
        expect.stringMatching(new RegExp(`^${idIn(alice)}\talice\tBASIC\ttrade read\tcreated \\S+\tgood$`)),
        expect.stringMatching(new RegExp(`^${idIn(bob)}\tbob\tPRO\tread\tcreated \\S+\trevoked \\S+$`)),
      ]);
      expect((await keys(directory, 'list --tenant bob')).out).toEqual([listed[1]]);
      const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: directory });
      try {
        const baseUrl = await server.listening;
        expect((await get(baseUrl, await tokenFor(baseUrl, alice.out[0]))).status).toBe(200);
        expect(await tokenFor(baseUrl, bob.out[0])).toBeUndefined();
      } finally {
        await server.end('SIGTERM');
      }
    });
  });

  it('list and revoke make no data directory', async () => {
    await inDirectory(async (directory) => {
      const absent = join(directory, 'absent');
      for (const args of ['list', 'revoke 0123456789abcdef'])
        expect((await keys(absent, args, 1)).err).toEqual([
          `${absent} is no data directory: it has no journal.db`,
        ]);
      expect(existsSync(absent)).toBe(false);
    });
  });

  it('applies a change to a running server within a second, open streams included', async () => {
    await inDirectory(async (directory) => {
      const settings = { ...SETTINGS, DATA_DIR: directory };
      let server = ServerProcess.launch(settings);
      try {
        let baseUrl = await server.listening;
        expect(statSync(join(directory, 'operator.json')).mode & 0o777).toBe(0o600);
        const created = await keys(directory, 'create --tenant alice --tier PRO');
        const token = await tokenFor(baseUrl, created.out[0]);
        const single = credentialsIn(directory).token;
        const stream = await get(baseUrl, token, '/v1/stream/orders');
        const ended = stream.text().then((text) => ({ text, atMs: performance.now() }));
        expect((await get(baseUrl, single)).status).toBe(200);

        const beganAtMs = performance.now();
        await keys(directory, `revoke ${idIn(created)}`);
        await keys(directory, `revoke --token ${single}`);
        const { text, atMs } = await ended;
        expect(text).toContain('"statusCode":401');
        // The start of two processes included.
        expect(atMs - beganAtMs).toBeLessThan(20_000);
        const refused = async (): Promise<void> => {
          expect((await get(baseUrl, token)).status).toBe(401);
          expect((await get(baseUrl, single)).status).toBe(401);
          expect(await tokenFor(baseUrl, created.out[0])).toBeUndefined();
        };
        await refused();
        // A crash and its remains do not change that.
        await server.end('SIGKILL');
        expect((await keys(directory, 'list --tenant alice')).out[0]).toMatch(/revoked/);
        server = ServerProcess.launch(settings);
        baseUrl = await server.listening;
        await refused();
        const wrong = await keys(directory, `revoke ${idIn(created)}`, 1);
        expect(wrong.err).toEqual([`the key ${idIn(created)} is revoked already`]);
      } finally {
        await server.end('SIGTERM');
      }
    });
  });

  it('revokes the key of the demo tenant, which gets no new token at the next start', async () => {
    await inDirectory(async (directory) => {
      const settings = { ...SETTINGS, DATA_DIR: directory };
      let server = ServerProcess.launch(settings);
      let baseUrl = await server.listening;
      const { token, apiKey, loginLink = '' } = credentialsIn(directory);
      // They are in that file alone: output that is no terminal ends in logs.
      for (const secret of [token, apiKey, loginLink]) {
        expect(secret).not.toBe('');
        expect(server.out.join('\n')).not.toContain(secret);
      }
      const id = (await keys(directory, 'list --tenant demo')).out[0]?.slice(0, 16) ?? '';
      await keys(directory, `revoke ${id}`);
      expect((await get(baseUrl, token)).status).toBe(401);
      await server.end('SIGTERM');
      server = ServerProcess.launch(settings);
      try {
        baseUrl = await server.listening;
        expect((await get(baseUrl, token)).status).toBe(401);
        const kept = JSON.parse(readFileSync(join(directory, 'demo-credentials.json'), 'utf8')) as object;
        expect(Object.keys(kept)).toEqual(['baseUrl', 'tenantId', 'tier', 'loginLink']);
      } finally {
        await server.end('SIGTERM');
      }
    });
  });

  it('requires the secret of the running server, and reports it if no server runs', async () => {
    await inDirectory(async (directory) => {
      const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: directory });
      try {
        await server.listening;
        const path = join(directory, 'operator.json');
        const door = JSON.parse(readFileSync(path, 'utf8')) as {
          readonly url: string;
          readonly secret: string;
        };
        const order = (authorization?: string) =>
          fetch(door.url, {
            method: 'POST',
            headers: authorization === undefined ? {} : { authorization },
            body: JSON.stringify({ order: 'list' }),
          });
        for (const wrong of [
          undefined,
          '',
          'Bearer ',
          `Bearer ${door.secret}x`,
          `Bearer ${'x'.repeat(43)}`,
        ]) {
          expect((await order(wrong)).status).toBe(401);
        }
        expect((await order(`Bearer ${door.secret}`)).status).toBe(200);
        writeFileSync(path, JSON.stringify({ ...door, url: 'http://127.0.0.1:1' }));
        expect((await keys(directory, 'list', 1)).err[0]).toMatch(/does not answer/);
      } finally {
        await server.end('SIGTERM');
      }
      expect(() => statSync(join(directory, 'operator.json'))).toThrow('ENOENT');
    });
  });

  it.each(['', 'list extra', 'create --tenant a', 'revoke', 'revoke a b', 'revoke a --token b', 'burn a'])(
    'prints its usage: %j',
    async (args) => {
      await inDirectory(async (directory) => {
        expect((await keys(directory, args, 1)).err[0]).toMatch(/^usage: npm run -s keys/);
      });
    },
  );
});
