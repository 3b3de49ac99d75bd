import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first. A long one that begins last would keep one core busy and leave the others idle. */
const SLOWEST = [
  'packages/dashboard/browser/dashboard.test.ts',
  'scripts/pack.test.ts',
  'packages/server/src/server-process.test.ts',
  'packages/server/src/store/sqlite/checkpoints.test.ts',
  'packages/server/src/store/sqlite/history-rebuild.test.ts',
  'sim/planted/planted-fault.test.ts',
  'scripts/openapi-clients.test.ts',
  'packages/server/src/store/postgres/postgres-store.test.ts',
  'sim/damage.test.ts',
  'packages/server/src/http/forks.test.ts',
  'packages/core/src/core.model.test.ts',
  'packages/server/src/feeds/live/trading-day.test.ts',
  'packages/server/src/keys-command.test.ts',
  'scripts/python.test.ts',
  'examples/replay-aapl/bot.test.ts',
  'sim/crash.test.ts',
  'packages/server/src/http/streams.test.ts',
  'packages/server/src/store/sqlite/sqlite-store.test.ts',
  'sim/simulate.test.ts',
  'examples/learning-loop/learning-loop.test.ts',
  'examples/tutorials.test.ts',
  'packages/dashboard/browser/docs-site.test.ts',
  'packages/server/src/store/sqlite/damage.test.ts',
  'bench/bench.test.ts',
];

/** Starts the slowest files first, then the rest as Vitest orders them. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = SLOWEST.findIndex((path) => moduleId.endsWith(`/${path}`));
      return place === -1 ? SLOWEST.length : place;
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
