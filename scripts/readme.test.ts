/** The README's commands, run as they stand there, against a server of their own. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');

const hasTools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** The block that contains a text. */
function block(containing: string): string {
  const found = blocks.find((one) => one.includes(containing));
  if (found === undefined) throw new Error(`the README has no commands with ${containing}`);
  return found;
}

/** Number of runs, as for a user who comes back; `README_TIMES=50` for more. */
const TIMES = Number(process.env.README_TIMES ?? 2);

it.runIf(hasTools)(
  'the README: leads from an account to a settled position, repeatedly',
  async () => {
    await inDirectory(async (directory) => {
      const server = ServerProcess.launch({ DATA_DIR: join(directory, 'data') });
      try {
        const address = await server.listening;
        const script = block('# an account') + block('/simulations -d');
        for (let time = 0; time < TIMES; time += 1) {
          const { stdout } = await promisify(execFile)(
            'bash',
            ['-euo', 'pipefail', '-c', script.replaceAll('http://127.0.0.1:3000', address)],
            { cwd: directory },
          );
          const answers = stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as unknown);
          expect(answers).toMatchObject([
            { status: 'FILLED', filledQuantity: 10 },
            { data: [{ symbol: 'AAPL', quantity: 10, quote: {} }] },
            [{ symbol: 'AAPL', pendingQuantity: 10 }],
            { portfolioType: 'CASH' },
            { underlying: 'AAPL', contracts: expect.any(Array) as unknown },
            {},
            { status: 'ACTIVE', waitingFor: 'ask 187.60 above limit 187.50' },
            {},
            { status: 'FILLED', averagePrice: 187.5 },
            {},
            [{ symbol: 'AAPL', settledQuantity: 10, pendingQuantity: 0 }],
          ]);
        }
      } finally {
        await server.end('SIGTERM');
      }
    });
  },
  15_000 * TIMES,
);
