import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Names of the slowest files, the slowest first. A slow file that starts last keeps one core busy while the others are idle. */
const SLOWEST = [
  'dashboard.test.ts',
  'pack.test.ts',
  'planted-fault.test.ts',
  'cluster.test.ts',
  'damage.test.ts',
  'history-rebuild.test.ts',
  'trading-day.test.ts',
  'server-process.test.ts',
  'openapi-clients.test.ts',
  // Its PostgreSQL and nodes have deadlines: not next to the browser and the package.
  'cluster-faults.test.ts',
  'forks.test.ts',
  'synthetic-feed.test.ts',
  'postgres-store.test.ts',
  'failure.test.ts',
  'tenant-files.test.ts',
  'streams.test.ts',
  'sqlite-store.test.ts',
  'webhook-kills.test.ts',
  'docs-site.test.ts',
  'core.model.test.ts',
  'keys-command.test.ts',
  'database-loss.test.ts',
  'python.test.ts',
  'export-import.test.ts',
  'program.test.ts',
  'checkpoints.test.ts',
  'fork-attacks.test.ts',
  'tutorials.test.ts',
  'bench.test.ts',
  'bot.test.ts',
  'documented-commands.test.ts',
  'crash.test.ts',
  'comparisons.test.ts',
  'lost-records.test.ts',
  'validate.property.test.ts',
  'masked-recordings.test.ts',
  'arena.test.ts',
  'backup.test.ts',
  'bad-days.test.ts',
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
