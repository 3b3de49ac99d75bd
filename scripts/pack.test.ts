/** The package that people install: unpacked into an empty folder, it trades. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { inDirectory } from '../packages/server/src/testing/server-process.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** As an installation without a network: what is not in the package is that of this checkout. */
function linkOthers(folder: string): void {
  const ours = join(ROOT, 'node_modules');
  for (const name of readdirSync(ours)) {
    if (name === '@sandpit' || name.startsWith('.')) continue;
    const target = join(folder, 'node_modules', name);
    if (!existsSync(target)) symlinkSync(join(ours, name), target);
  }
}

it('starts a server and places an order from an empty folder', async () => {
  await inDirectory(async (folder) => {
    const { stdout } = await run(
      process.execPath,
      ['--import', 'tsx', join(ROOT, 'scripts/pack.ts'), join(folder, 'packed')],
      { cwd: ROOT },
    );
    const into = join(folder, 'node_modules/@sandpit-sim/sandpit');
    mkdirSync(into, { recursive: true });
    await run('tar', ['-xzf', stdout.trim(), '--strip-components=1', '-C', into]);
    linkOthers(folder);
    const { bin } = JSON.parse(readFileSync(join(into, 'package.json'), 'utf8')) as {
      bin: { sandpit: string };
    };
    const sandpit = join(into, bin.sandpit);
    expect(dirname(sandpit)).toBe(join(into, 'bin'));

    const server = spawn(process.execPath, [sandpit, 'up'], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => server.once('exit', resolve));
    await new Promise<void>((resolve, reject) => {
      void ended.then(() => reject(new Error('the server ended')));
      createInterface(server.stdout).on('line', (line) => {
        if (line.includes('listening on')) resolve();
      });
    });
    const type = async (...args: readonly string[]): Promise<unknown> =>
      JSON.parse(
        (await run(process.execPath, [sandpit, ...args], { cwd: folder, env: { PATH: process.env.PATH } }))
          .stdout,
      );
    expect(await type('buy', 'AAPL', '10')).toMatchObject({ status: 'FILLED', filledQuantity: 10 });
    const program =
      "const { connect } = await import('@sandpit-sim/sandpit'); const client = await connect(); console.log((await client.call('listPortfolios')).data.length);";
    const { stdout: count } = await run(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      env: { PATH: process.env.PATH },
    });
    expect(count.trim()).toBe('1');
    server.kill('SIGTERM');
    await ended;
  });
});
