import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './scripts/slowest-first.js';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests read the sources of the inner packages; only worker threads and spawned servers use dist/.
    alias: [
      { find: '@sandpit/analytics', replacement: source('./packages/analytics/src/index.ts') },
      { find: '@sandpit/core', replacement: source('./packages/core/src/index.ts') },
      { find: '@sandpit/client/testing', replacement: source('./packages/client/src/sandbox/index.ts') },
      { find: '@sandpit/client', replacement: source('./packages/client/src/index.ts') },
      { find: '@sandpit/server/catalog', replacement: source('./packages/server/src/feeds/catalog.ts') },
      {
        find: '@sandpit/server/recordings',
        replacement: source('./packages/server/src/feeds/replay/check-recording.ts'),
      },
      { find: /^@sandpit\/dialect-(.*)$/, replacement: source('./packages/dialects/$1/src/index.ts') },
      { find: '@sandpit/protocol', replacement: source('./packages/protocol/src/index.ts') },
      {
        find: /^.*\/threads\/compiled-url\.js$/,
        replacement: source('./packages/server/src/testing/compiled-url.ts'),
      },
    ],
  },
  test: {
    // A loaded machine is slow, not wrong.
    expect: { poll: { timeout: 10_000 } },
    include: [
      'packages/**/*.test.ts',
      'sim/**/*.test.ts',
      'examples/**/*.test.ts',
      'scripts/**/*.test.ts',
      'bench/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    // The embedded broker of sandboxes is what is built, as in the package: Node loads it.
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//, /\/sandpit-joined\//] } },
    // A minute of its own: `npm run io-faults`.
    exclude: ['**/node_modules/**', '**/dist/**', 'sim/io-faults.test.ts'],
    setupFiles: ['scripts/property-seed.ts'],
    globalSetup: ['scripts/postgres-setup.ts'],
    sequence: { sequencer: SlowestFirst },
    // The tests keep their cores busy: more workers make each of them slower, and the whole no faster.
    maxWorkers: availableParallelism(),
    // Modules hold no state between tests; reloading them for each file used a third of the whole time.
    isolate: false,
    testTimeout: 30_000,
    // Pages of one browser on two cores: three at once take longer each than a test may.
    maxConcurrency: 2,
    coverage: { provider: 'v8', include: ['packages/core/src/**'], exclude: ['**/*.test.ts'] },
  },
});
