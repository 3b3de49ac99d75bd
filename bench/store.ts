/**
 * What a durable append costs: records of about 1.5 KB with six history changes each, from a queue that is kept full.
 *
 * Leaves out: everything before the store (the command, its JSON) and after it (streams, HTTP). The history changes
 * are read off the events, where a server's projection has to work them out. `fsync` is as fast as the disk of the
 * machine says; a virtual disk may say more than it does.
 *
 *   npx tsc -b packages/server && npx tsx bench/store.ts [records]
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../packages/server/src/store/sqlite/sqlite-store.js';
import type { HistoryChange } from '../packages/server/src/store/history.js';
import type { JournalRecord } from '../packages/server/src/store/journal.js';
import type { Store } from '../packages/server/src/store/store.js';

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

/** An order in two records: accepted; then active, executed and booked. Six changes a record on average. */
function changesOf(seq: number): readonly HistoryChange[] {
  const order = Math.ceil(seq / 2);
  const orderId = uuid(1, order);
  const owner = uuid(2, order % PORTFOLIOS);
  const tenantId = uuid(4, 1);
  const listed = (list: 'activities' | 'ledger', item: number): HistoryChange => ({
    change: 'listed',
    list,
    owner,
    event: 0,
    item,
    ...(list === 'activities' ? { tag: 'TRADE' } : {}),
  });
  if (seq % 2 === 1) {
    return [
      {
        change: 'order-added',
        orderId,
        tenantId,
        accountId: uuid(3, order % PORTFOLIOS),
        portfolioId: owner,
        symbol: 'AAPL',
        assetClass: 'EQUITY',
        status: 'PENDING',
        createdAt: START + seq,
        terms: JSON.stringify({
          side: 'BUY',
          type: 'LIMIT',
          timeInForce: 'DAY',
          quantity: '10',
          filling: 't'.repeat(250),
        }),
        progress: JSON.stringify({ filledQuantity: '0', filling: 'p'.repeat(120) }),
      },
      listed('activities', 0),
      { change: 'order-event', tenantId, event: 0 },
    ];
  }
  return [
    {
      change: 'order-moved',
      orderId,
      status: 'FILLED',
      filledOn: '2026-01-02',
      progress: JSON.stringify({ filledQuantity: '10', averagePrice: '187.50', filling: 'p'.repeat(120) }),
    },
    { change: 'listed', list: 'executions', owner: orderId, event: 0, item: 0 },
    listed('activities', 0),
    listed('activities', 1),
    listed('ledger', 0),
    listed('ledger', 1),
    listed('ledger', 2),
    { change: 'order-event', tenantId, event: 0 },
    { change: 'order-event', tenantId, event: 1 },
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

async function measure(name: string, simulations: number, inFlight: number, records: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sandpit-bench-'));
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
  const latencies: number[] = [];
  const started = performance.now();
  const cpuBefore = performance.eventLoopUtilization();
  await keepFull(store, made, inFlight, latencies);
  const elapsed = performance.now() - started;
  const { active } = performance.eventLoopUtilization(cpuBefore);
  const payload = made.reduce((sum, record) => sum + record.payload.length, 0) / records;
  latencies.sort((a, b) => a - b);
  const at = (share: number): string => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2);
  await store.close();
  const size = statSync(join(directory, 'sandpit.db')).size;
  console.log(
    `${name}: ${Math.round((records / elapsed) * 1_000)} appends/s; main thread ${((active * 1_000) / records).toFixed(1)} µs each ` +
      `(${((active / elapsed) * 100).toFixed(0)} % busy); waits p50 ${at(0.5)} p99 ${at(0.99)} ms; ` +
      `payload ${Math.round(payload)} B, stored ${Math.round(size / records)} B`,
  );
  rmSync(directory, { recursive: true });
}

/** So many appends are waiting at any time, as with that many clients who wait for their answers. */
async function keepFull(
  store: Store,
  records: readonly JournalRecord[],
  inFlight: number,
  latencies: number[],
): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    for (let record = records[next]; record !== undefined; record = records[next]) {
      next += 1;
      const asked = performance.now();
      await store.journal.append(record);
      latencies.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, client));
}

const records = Number(process.argv[2] ?? 100_000);
await measure('one simulation, 1 waiting', 1, 1, Math.min(records, 5_000));
await measure('one simulation, 64 waiting', 1, 64, records);
await measure('one simulation, 1,000 waiting', 1, 1_000, records);
await measure('1,000 simulations, 1,000 waiting', 1_000, 1_000, records);
