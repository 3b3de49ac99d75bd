import { NO_CHECKPOINTS } from '../checkpoints.js';
import { projectRecord } from '../projection.js';
import type { Projection } from '../projection.js';
import type { Store } from '../store.js';
import { Commits } from './commits.js';
import { MemoryHistory } from './memory-history.js';
import { MemoryJournal, parsed } from './memory-journal.js';
import { MemoryRegistry } from './memory-registry.js';
import { MemoryWebhooks } from './memory-webhooks.js';

export interface MemoryStoreOptions {
  readonly project?: Projection;
}

/** An in-memory store for tests and for programs that embed a brokerage. */
export function openMemoryStore(options: MemoryStoreOptions = {}): Store {
  const commits = new Commits();
  const registry = new MemoryRegistry(commits);
  const journal = new MemoryJournal(commits, registry);
  const history = new MemoryHistory(registry, journal);
  registry.onDeleted = (id) => {
    journal.remove(id);
    history.remove(id);
  };
  const project = options.project ?? projectRecord;
  journal.onCommitted = (record, payload) => {
    const known = history.known(record.simulationId);
    history.apply(record, project(record, payload, known));
  };
  registry.onFork = (id, sequence) => journal.accept(id, sequence);
  registry.onForked = (id, begins) => {
    for (const record of journal.begin(id, begins)) journal.onCommitted(record, parsed(record));
  };
  return {
    journal,
    // The state ends with the process, and is fast to read.
    checkpoints: NO_CHECKPOINTS,
    history,
    registry,
    webhooks: new MemoryWebhooks(commits),
    probe: () => commits.add(() => undefined),
    health: () => ({ status: commits.isClosed ? 'closed' : 'ok', waiting: commits.waiting }),
    check: () => [],
    close: () => commits.close(),
  };
}
