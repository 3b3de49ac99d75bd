/**
 * A seeded run of the whole system in one process: the production engine on a store in memory, several days of a market,
 * many portfolios that do all kinds of things. A second brokerage applies every record as recovery would, with every
 * invariant checked after each, and saves the same state; an auditor keeps the books again; at the end the journal is verified and recovered, and
 * shows the same quotes, values and reasons.
 *
 *   npm run sim -- --seed 42 --days 5
 *
 * Leaves out: HTTP, the disk, crashes (`npm run crash`), real time.
 */
import { parseArgs } from 'node:util';
import { Brokerage, brokenInvariants, Instant, saveState, stateHash, TradingDate } from '@sandpit/core';
import type { Event } from '@sandpit/core';
import { Auditor } from '../packages/core/src/testing/auditor.js';
import { payloadOf } from '../packages/server/src/engine/records/record-text.js';
import { applyRecord } from '../packages/server/src/engine/recovery/recovery.js';
import type { Simulation } from '../packages/server/src/engine/simulation/simulation.js';
import type { SimulationConfig } from '../packages/server/src/engine/configuration/simulation-config.js';
import { verifyJournal } from '../packages/server/src/engine/recovery/verify.js';
import { standbyFrom } from '../packages/server/src/engine/recovery/checkpoint.js';
import { openMemoryStore } from '../packages/server/src/store/sqlite/memory-store.js';
import { startSimulations } from '../packages/server/src/testing/simulations.js';
import { Chance } from './chance.js';
import { SYMBOLS, Workload } from './workload.js';

export interface RunOptions {
  readonly seed: number;
  readonly days: number;
  readonly feed: 'synthetic' | 'push';
  readonly portfolios?: number;
  readonly actionsPerDay?: number;
}

interface EventCounts {
  orders: number;
  executions: number;
  canceled: number;
  rejected: number;
  /** Refused and recorded. */
  refused: number;
  dividends: number;
  splits: number;
}

export interface RunReport {
  readonly seed: number;
  readonly feed: string;
  readonly records: number;
  readonly events: number;
  readonly stateHash: string;
  readonly counts: Readonly<EventCounts>;
  readonly refusals: Readonly<Record<string, number>>;
  /** Problems found; empty = none. */
  readonly problems: readonly string[];
}

/** Monday 2026-03-02, 08:00 New York; the clocks change in the first weekend. */
const START = Date.parse('2026-03-02T08:00:00-05:00');
const HOUR_MS = 3_600_000;
/** Part of the actions after which everything is inspected. */
const INSPECTIONS = 0.05;

export async function simulate(options: RunOptions): Promise<RunReport> {
  const { seed, days, feed, portfolios = 24, actionsPerDay = 400 } = options;
  const chance = new Chance(seed);
  const config: Omit<SimulationConfig, 'name'> = {
    feed,
    clock: 'manual',
    calendar: 'XNYS',
    start: START,
    speed: 1,
    seed,
  };
  const store = await openMemoryStore({ standbyFrom });
  const { main, simulations } = await startSimulations(config, store);
  const { brokers, calendar } = main.brokerage.rules;
  const problems: string[] = [];
  // Compiled from its sources, whose branded types differ from those of the built core.
  const auditor = new Auditor(undefined, (id) => brokers.get(id)?.marginInterestTiers ?? []);
  const counts = { orders: 0, executions: 0, canceled: 0, rejected: 0, refused: 0, dividends: 0, splits: 0 };
  const { seed: ownSeed, idSecret } = main.brokerage.state;
  const twin = Brokerage.begin(main.brokerage.rules, ownSeed, Instant.ofMs(START), idSecret);
  let seen = 0;
  const inspect = async (): Promise<void> => {
    for await (const record of store.journal.read(main.id, seen)) {
      seen = record.seq;
      const { events, quotes } = payloadOf(record);
      applyRecord(twin, record);
      count(counts, events);
      try {
        auditor.note(...([events, quotes] as unknown as Parameters<Auditor['note']>));
      } catch (error) {
        problems.push(`record ${seen}: ${(error as Error).message}`);
      }
      for (const broken of brokenInvariants(twin.state)) problems.push(`after record ${seen}: ${broken}`);
    }
    problems.push(...differencesOfSaved(main.brokerage, twin).map((part) => `after record ${seen}: ${part}`));
    problems.push(...auditor.differences(...([twin.state] as unknown as Parameters<Auditor['differences']>)));
  };

  const workload = new Workload(main, chance.fork());
  if (feed === 'push') await workload.quote();
  await workload.open(portfolios);
  let date = calendar.plusBusinessDays(calendar.dateOf(main.now()), 0);
  for (let day = 0; day < days && problems.length === 0; day++) {
    const begin = calendar.instantOf(date, 8, 30);
    if (begin > main.now()) await main.moveClock(begin);
    const step = (9 * HOUR_MS) / actionsPerDay;
    // The last day ends after a random number of actions.
    const isLast = day === days - 1;
    const actions = isLast ? Math.ceil(actionsPerDay * chance.next()) : actionsPerDay;
    for (let i = 0; i < actions; i++) {
      if (chance.hits(0.7))
        await main.moveClock(Instant.plusMs(main.now(), Math.floor(chance.next() * 2 * step)));
      if (feed === 'push' && chance.hits(0.6)) await workload.quote();
      await workload.act();
      if (chance.hits(INSPECTIONS)) {
        await main.durable();
        await inspect();
      }
    }
    const next = calendar.plusBusinessDays(TradingDate.of(date), 1);
    if (feed === 'push' && chance.hits(0.7)) await workload.announce(next);
    if (!isLast) await main.moveClock(Instant.max(calendar.instantOf(date, 20, 5), main.now()));
    await main.durable();
    await inspect();
    date = next;
  }

  const hash = stateHash(main.brokerage.state);
  const shown = await shownBy(main);
  if (stateHash(twin.state) !== hash) problems.push('the records, applied, end in another state');
  await simulations.close();
  const report = await verifyJournal(store, main.id);
  problems.push(...report.problems);
  if (report.stateHash !== hash) problems.push('the verified state is another one');
  const { main: recovered, simulations: again } = await startSimulations(config, store);
  if (stateHash(recovered.brokerage.state) !== hash) problems.push('the recovered state is another one');
  const shownAgain = await shownBy(recovered);
  for (const [what, text] of shown)
    if (shownAgain.get(what) !== text)
      problems.push(`after a restart, ${what}: ${shownAgain.get(what)} instead of ${text}`);
  await again.close();
  return {
    seed,
    feed,
    records: report.records,
    events: report.events,
    stateHash: hash,
    counts,
    refusals: Object.fromEntries([...workload.refusals].sort(([a], [b]) => (a < b ? -1 : 1))),
    problems,
  };
}

/** Quotes, values of portfolios and reasons of waiting orders, as requests show them now. */
function shownBy(simulation: Simulation): Promise<ReadonlyMap<string, string>> {
  const look = (brokerage: Brokerage): ReadonlyMap<string, string> => {
    const { portfolios, orders } = brokerage.state;
    const now = simulation.now();
    return new Map([
      ['the clock', String(now)] as const,
      ...SYMBOLS.map((symbol) => [`quote of ${symbol}`, JSON.stringify(brokerage.quote(symbol))] as const),
      ...[...portfolios.values()].map(
        (portfolio) =>
          [`portfolio ${portfolio.terms.portfolioId}`, JSON.stringify(brokerage.worthOf(portfolio))] as const,
      ),
      ...[...orders.values()].map(
        (order) => [`order ${order.terms.number}`, String(brokerage.waitingFor(order, now))] as const,
      ),
    ]);
  };
  return simulation.read([simulation], look, SYMBOLS);
}

/** Parts of a checkpoint that the state in memory and the records give differently. */
function differencesOfSaved(memory: Brokerage, records: Brokerage): readonly string[] {
  const [mine, theirs] = [memory, records].map(({ state }) => {
    // Time continues, the market is followed and checks of the past are dropped without records.
    const { now: _, marketSeq: __, checks: ___, ...saved } = saveState(state);
    return new Map(Object.entries(saved).map(([name, value]) => [name, JSON.stringify(value)]));
  });
  return [...new Set([...(mine?.keys() ?? []), ...(theirs?.keys() ?? [])])].flatMap((name) =>
    mine?.get(name) === theirs?.get(name)
      ? []
      : [`saved ${name}: ${mine?.get(name)} in memory, ${theirs?.get(name)} by the records`],
  );
}

function count(counts: EventCounts, events: readonly Event[]): void {
  for (const event of events) {
    if (event.type === 'OrderAccepted') counts.orders++;
    else if (event.type === 'OrderRejected') counts.refused++;
    else if (event.type === 'OrderExecuted') counts.executions += event.executions.length;
    else if (event.type === 'DividendAccrued') counts.dividends++;
    else if (event.type === 'PositionSplit') counts.splits++;
    else if (event.type === 'OrderMoved' && event.transition === 'REJECTED') counts.rejected++;
    else if (
      event.type === 'OrderMoved' &&
      (event.transition === 'CANCELED' || event.transition === 'EXPIRED')
    )
      counts.canceled++;
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '42' },
      days: { type: 'string', default: '5' },
      runs: { type: 'string', default: '1' },
    },
  });
  const days = Number(values.days);
  const first = Number(values.seed);
  const runs = Number(values.runs);
  if (![days, first, runs].every((value) => Number.isSafeInteger(value) && value >= 0)) {
    throw new Error('--seed, --days and --runs are whole numbers');
  }
  for (let seed = first; seed < first + runs; seed++) {
    for (const feed of ['synthetic', 'push'] as const) {
      const began = performance.now();
      const report = await simulate({ seed, days, feed });
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.log(
        `seed ${seed}, ${feed}, ${days} days: ${report.records} records, ${report.events} events in ${seconds} s`,
      );
      console.log(`  ${JSON.stringify(report.counts)}`);
      console.log(`  refused: ${JSON.stringify(report.refusals)}`);
      console.log(`  state ${report.stateHash}: ${report.problems.length === 0 ? 'sound' : 'NOT SOUND'}`);
      for (const problem of report.problems.slice(0, 20)) console.log(`  ${problem}`);
      if (report.problems.length > 0) process.exitCode = 1;
    }
  }
}

if (process.argv[1] === import.meta.filename) await main();
