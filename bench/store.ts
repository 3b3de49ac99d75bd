/**
 * What a durable append costs: records of about 1.5 KB with six or seven history changes each, from a queue that is kept full.
 *
 * Leaves out: everything before the store (the command, its JSON) and after it (streams, HTTP). The history changes
 * are read off the events, where a server's projection has to work them out. `fsync` is as fast as the disk of the
 * machine says; a virtual disk may say more than it does.
 *
 *   npx tsc -b && npx tsx bench/store.ts      BENCH_RECORDS
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Instant, OrderProgress, OrderTerms } from '@sandpit/core';
import type { HistoryChange } from '../packages/server/dist/store/history.js';
import type { JournalRecord } from '../packages/server/dist/store/journal.js';
import { openSqliteStore } from '../packages/server/dist/store/sqlite/sqlite-store.js';
import { keepFull, quantile, runAlone, sizeOf, stopwatch, withDirectory } from './measure.js';
import type { Row } from './measure.js';

const START = 1_767_225_600_000;
const PORTFOLIOS = 1_000;
const PAYLOAD_SIZE = 1_500;

const projection = `data:text/javascript,${encodeURIComponent(
  'export const projectRecord = (_, { events }) => events.flatMap((event) => event.changes ?? [])',
)}`;

function uuid(kind: number, number: number): string {
  // Spread like random ids, which is the hard case for an index.
  const mixed = Math.imul(number + 1, 0x9e3779b1) >>> 0;
  const hex = mixed.toString(16).padStart(8, '0');
  return `${hex}-${kind.toString(16).padStart(4, '0')}-4000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** An order in two records: accepted; then active, executed and booked. Six or seven changes a record on average. */
function changesOf(seq: number): readonly HistoryChange[] {
  const number = Math.ceil(seq / 2);
  const owner = uuid(2, number % PORTFOLIOS);
  const tenantId = uuid(4, 1);
  const listed = (list: 'activities' | 'ledger', item: number): HistoryChange => ({
    change: 'listed',
    list,
    owner,
    event: 0,
    item,
    ...(list === 'activities' ? { tag: 'TRADE' } : {}),
  });
  const happened = (event: number, tag?: string): readonly HistoryChange[] => [
    { change: 'tenant-event', tenantId, event },
    {
      change: 'listed',
      list: 'order-events',
      owner: String(number),
      event,
      item: 0,
      ...(tag === undefined ? {} : { tag }),
    },
  ];
  const progress = (status: string): OrderProgress =>
    ({ status, filledQuantity: 0, filling: 'p'.repeat(120) }) as unknown as OrderProgress;
  if (seq % 2 === 1) {
    const terms = {
      number,
      tenantId,
      accountId: uuid(3, number % PORTFOLIOS),
      portfolioId: owner,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      createdAt: (START + seq) as Instant,
      filling: 't'.repeat(100),
    };
    return [
      {
        change: 'order-added',
        terms: terms as unknown as OrderTerms,
        progress: progress('PENDING'),
      },
      ...happened(0),
      listed('activities', 0),
    ];
  }
  return [
    { change: 'order-moved', order: number, filledOn: '2026-01-02', progress: progress('FILLED') },
    ...happened(0),
    ...happened(1, 'EXECUTION'),
    listed('activities', 0),
    listed('activities', 1),
    listed('ledger', 0),
    listed('ledger', 1),
  ];
}

function recordOf(simulationId: string, seq: number): JournalRecord {
  const events = [{ type: 'Measured', changes: changesOf(seq), filling: '' }];
  const bare = JSON.stringify({ command: { type: 'SubmitOrder', seq }, events });
  const filling = 'f'.repeat(Math.max(0, PAYLOAD_SIZE - bare.length));
  return {
    simulationId,
    seq,
    at: START + seq,
    payload: bare.replace('"filling":""', `"filling":"${filling}"`),
  };
}

async function measure(
  directory: string,
  simulations: number,
  inFlight: number,
  records: number,
): Promise<Row> {
  const store = await openSqliteStore({ directory, projection });
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
  const before = performance.eventLoopUtilization();
  const elapsed = stopwatch();
  await keepFull(records, inFlight, async (index) => {
    const record = made[index];
    if (record === undefined) return;
    const asked = performance.now();
    await store.journal.append(record);
    waits.push(performance.now() - asked);
  });
  const { wallMs } = elapsed();
  const { active } = performance.eventLoopUtilization(before);
  const payload = made.reduce((sum, record) => sum + record.payload.length, 0) / records;
  waits.sort((a, b) => a - b);
  await store.close();
  const size = statSync(join(directory, 'sandpit.db')).size;
  return {
    measure: `store alone: durable appends, ${simulations} simulation${simulations === 1 ? '' : 's'}, ${inFlight} under way`,
    value: (records / wallMs) * 1000,
    unit: 'records/s',
    details:
      `${records} records; main thread ${((active * 1000) / records).toFixed(1)} µs each; p50 ${quantile(waits, 0.5).toFixed(2)} ms, ` +
      `p99 ${quantile(waits, 0.99).toFixed(2)} ms; payload ${Math.round(payload)} B, stored ${Math.round(size / records)} B`,
    leavesOut: 'the command and its JSON, the projection, streams, HTTP',
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
