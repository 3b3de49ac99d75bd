import { expect, it } from 'vitest';
import { inDirectory, ServerProcess } from '../testing/server-process.js';

/** A module that blocks the main thread of the server permanently on a message. */
const PLANTED = `data:text/javascript,${encodeURIComponent(
  'process.once("message", function plantedHang() { for (;;) { globalThis.rounds = 1; } });',
)}`;

it('watchdog: ends a server with a stuck main thread and logs its stack', { timeout: 30_000 }, async () => {
  await inDirectory(async (directory) => {
    const server = ServerProcess.launch(
      { DATA_DIR: directory, MARKET_FEED: 'push', WATCHDOG_SECONDS: '1' },
      undefined,
      ['--import', PLANTED],
    );
    const url = await server.listening;
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);
    server.child.send('hang');
    expect(await server.exited).toEqual({ code: 70, signal: null });
    const lines = server.out.filter((line) => line.includes('stuck'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 60,
      msg: 'stopping: the main thread has been stuck for 1 s',
      stack: expect.arrayContaining([expect.stringContaining('plantedHang')]) as unknown,
    });
    expect(server.err).toEqual([]);
  });
});
