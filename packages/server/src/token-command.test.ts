import { describe, expect, it } from 'vitest';
import { inDirectory, ServerProcess } from './testing/server-process.js';
import { newDatabase } from './testing/test-database.js';

const ALICE = ['--tenant', 'alice', '--tier', 'PRO'];

describe('npm run token with DATABASE_URL', { timeout: 60_000 }, () => {
  it('prints a token that the server accepts, also from another data directory', async () => {
    await inDirectory(async (directory) => {
      const database = { DATABASE_URL: await newDatabase(), MARKET_FEED: 'push' };
      const elsewhere = { ...database, DATA_DIR: `${directory}/elsewhere` };
      const early = ServerProcess.token(elsewhere, ...ALICE);
      expect((await early.exited).code).toBe(1);
      expect(early.err.join()).toContain('the database has no secret for tokens yet');
      const server = ServerProcess.launch({ ...database, DATA_DIR: `${directory}/server` });
      try {
        const url = await server.listening;
        const command = ServerProcess.token(elsewhere, ...ALICE);
        expect((await command.exited).code, command.err.join()).toBe(0);
        const answered = await fetch(`${url}/v1/orders`, {
          headers: { authorization: `Bearer ${command.out[0] ?? ''}` },
        });
        expect(answered.status).toBe(200);
      } finally {
        await server.end('SIGKILL');
      }
    });
  });

  it('signs with JWT_SECRET if that is set, without the database', async () => {
    const environment = {
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      JWT_SECRET: 'a secret for tests, of more than 32 bytes',
    };
    const command = ServerProcess.token(environment, ...ALICE);
    expect((await command.exited).code, command.err.join()).toBe(0);
    expect(command.out[0]).toMatch(/^eyJ/);
  });
});
