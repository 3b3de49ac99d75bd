/**
 * The property tests and the model of the whole core, of other seeds than `npm test` draws, until one fails or all is done.
 *
 *   npm run soak -- [--times 10] [--runs 1000] [file…]
 *
 * `--runs`: adventures of the model each time. What fails is printed with its seed: `SANDPIT_SEED=… npx vitest run …` draws it again.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const PROPERTIES = ['.property.test.ts', '.model.test.ts'];

const { values, positionals } = parseArgs({
  options: { times: { type: 'string', default: '10' }, runs: { type: 'string', default: '1000' } },
  allowPositionals: true,
});
for (let time = 1; time <= Number(values.times); time++) {
  const seed = String(Math.floor(Math.random() * 2 ** 31));
  console.log(`${time} of ${values.times}: seed ${seed}`);
  const { status } = spawnSync(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=dot',
      ...(positionals.length > 0 ? positionals : PROPERTIES),
    ],
    { stdio: 'inherit', env: { ...process.env, SANDPIT_SEED: seed, SANDPIT_RUNS: values.runs } },
  );
  if (status !== 0) process.exit(status ?? 1);
}
