import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Names of the slowest files, the slowest first. A slow file that starts last keeps one core busy while the others are idle. */
const SLOWEST = [
  'dashboard.test.ts',
  'pack.test.ts',
  'server-process.test.ts',
  'checkpoints.test.ts',
  'history-rebuild.test.ts',
  'planted-fault.test.ts',
  'openapi-clients.test.ts',
  'postgres-store.test.ts',
  'damage.test.ts',
  'forks.test.ts',
  'core.model.test.ts',
  'trading-day.test.ts',
  'keys-command.test.ts',
  'python.test.ts',
  'bot.test.ts',
  'crash.test.ts',
  'streams.test.ts',
  'sqlite-store.test.ts',
  'simulate.test.ts',
  'learning-loop.test.ts',
  'tutorials.test.ts',
  'docs-site.test.ts',
  'bench.test.ts',
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
