/**
 * Cost of a durable append: records of about 1.5 KB from a queue that is kept full; the writer's own time, and what one commit writes when
 * it holds a single record.
 *
 * Leaves out: everything before the store (the command, its JSON) and after it (history, streams, HTTP). `fsync` is as fast as the
 * machine's disk reports; a virtual disk may report writes that are not durable.
 *
 *   npx tsc -b && npx tsx bench/store.ts      BENCH_RECORDS
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalRecord } from '../packages/server/dist/store/journal.js';
import { openSqliteStore } from '../packages/server/dist/store/sqlite/sqlite-store.js';
import { keepFull, quantile, runAlone, sizeOf, stopwatch, withDirectory } from './measure.js';
import type { Row } from './measure.js';

const START = 1_767_225_600_000;
const PAYLOAD_SIZE = 1_500;

function recordOf(simulationId: string, seq: number): JournalRecord {
  const bare = JSON.stringify({ command: { type: 'SubmitOrder', seq }, events: [], filling: '' });
  const filling = 'f'.repeat(Math.max(0, PAYLOAD_SIZE - bare.length));
  return {
    simulationId,
    seq,
    at: START + seq,
    payload: bare.replace('"filling":""', `"filling":"${filling}"`),
  };
}

/** Threads of this process, if the system reports them (Linux). */
function threads(): readonly string[] {
  try {
    return readdirSync('/proc/self/task');
  } catch {
    return [];
  }
}

/** CPU time of a thread. */
function cpuMsOfThread(id: string | undefined): number {
  if (id === undefined) return Number.NaN;
  return Number(readFileSync(`/proc/self/task/${id}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

async function measure(
  directory: string,
  simulations: number,
  inFlight: number,
  records: number,
): Promise<Row> {
  const before = new Set(threads());
  const store = await openSqliteStore({ directory });
  // The store's first thread writes the journal. There are no rows of a history: nothing is decided.
  const [writer] = threads().filter((id) => !before.has(id));
  const names = Array.from({ length: simulations }, (_, index) => `simulation-${index}`);
  await Promise.all(
    names.map((id) =>
      store.registry.createSimulation({ id, tenantId: null, config: '{}', createdAt: START }),
    ),
  );
  // Made before, so that only the store is measured.
  const made = Array.from({ length: records }, (_, index) =>
    recordOf(names[index % simulations] ?? '', Math.floor(index / simulations) + 1),
  );
  const waits: number[] = [];
  const idle = performance.eventLoopUtilization();
  const log = join(directory, 'journal.db-wal');
  const logBefore = statSync(log).size;
  const writerBefore = cpuMsOfThread(writer);
  const elapsed = stopwatch();
  await keepFull(records, inFlight, async (index) => {
    const record = made[index];
    if (record === undefined) return;
    const asked = performance.now();
    await store.journal.append(record);
    waits.push(performance.now() - asked);
  });
  const { wallMs } = elapsed();
  const { active } = performance.eventLoopUtilization(idle);
  const payload = made.reduce((sum, record) => sum + record.payload.length, 0) / records;
  waits.sort((a, b) => a - b);
  const writerUs = ((cpuMsOfThread(writer) - writerBefore) * 1000) / records;
  const logged = (statSync(log).size - logBefore) / records;
  await store.close();
  const size = statSync(join(directory, 'journal.db')).size;
  return {
    measure: `store alone: durable appends, ${simulations} simulation${simulations === 1 ? '' : 's'}, ${inFlight} under way`,
    value: (records / wallMs) * 1000,
    unit: 'records/s',
    details:
      `${records} records; writer ${writerUs.toFixed(1)} µs each, main thread ${((active * 1000) / records).toFixed(1)} µs each; p50 ${quantile(waits, 0.5).toFixed(2)} ms, ` +
      `p99 ${quantile(waits, 0.99).toFixed(2)} ms; payload ${Math.round(payload)} B, stored ${Math.round(size / records)} B` +
      // Only a log that is never restarted contains every commit.
      (inFlight === 1 ? `, log ${Math.round(logged)} B each` : ''),
    leavesOut: 'the command and its JSON, history, streams, HTTP',
  };
}

export async function measureStore(): Promise<readonly Row[]> {
  const records = sizeOf('RECORDS', 100_000);
  const rows: Row[] = [];
  const cases = [
    { simulations: 1, inFlight: 1, most: 5000 },
    { simulations: 1, inFlight: 64, most: records },
    { simulations: 1, inFlight: 1000, most: records },
    { simulations: 1000, inFlight: 1000, most: records },
  ];
  for (const { simulations, inFlight, most } of cases) {
    rows.push(
      await withDirectory((directory) => measure(directory, simulations, inFlight, Math.min(records, most))),
    );
  }
  return rows;
}

await runAlone(import.meta.url, measureStore);
