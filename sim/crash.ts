/**
 * Kills a real server under load, again and again, and holds it to its word: acknowledged ⊆ recovered ⊆ submitted.
 *
 *   npm run crash -- --kills 100 [--seed 1] [--lanes 4]
 *
 * Each lane has a server process with a data directory of its own, sixteen traders, a market maker and a follower of
 * the order stream. A kill is SIGKILL at a random moment under load; some hit the server while it starts. After each:
 * every acknowledged order is there with the terms it was acknowledged with, everything that is there was sent, a repeated
 * request without an answer has one effect. Now and then the server is stopped in good order: then the journal is
 * verified (invariants, re-execution, state hash) and compared with what the follower saw over all the kills.
 *
 * Leaves out: power cuts (the operating system survives, and with it what was written but not synced).
 */
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { acceptedOrder, Ids, Instant, isOrderEvent, orderAfter } from '@sandpit/core';
import type { Event, OrderEvent, OrderSnapshot } from '@sandpit/core';
import { payloadOf } from '../packages/server/src/engine/record-text.js';
import type { SimulationConfig } from '../packages/server/src/engine/simulations.js';
import { openSqliteStore } from '../packages/server/src/store/sqlite/sqlite-store.js';
import { credentialsIn, inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { Chance } from './chance.js';
import { OrderFollower } from './order-follower.js';
import { newTally, Trader } from './trader.js';
import type { Tally } from './trader.js';

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  readonly lanes?: number;
  readonly traders?: number;
  /** Longest time under load before a kill, ms. */
  readonly loadMs?: number;
  readonly onProgress?: (kills: number, tally: Tally) => void;
}

export interface CrashReport extends Tally {
  kills: number;
  /** Of them: before the server had come up. */
  killsAtStart: number;
  rounds: number;
  streamed: number;
  reconnects: number;
  records: number;
  readonly problems: string[];
}

/** Kills between two stops in good order: what a journal may grow to. */
const KILLS_PER_ROUND = 30;
const ENVIRONMENT = {
  MARKET_FEED: 'push',
  MARKET_CALENDAR: 'always-open',
  RATE_LIMIT_DEFAULT: '1000000000',
  PRO_ACCOUNTS: '1000',
};

export async function crash(options: CrashOptions): Promise<CrashReport> {
  const { kills, seed, lanes = 2 } = options;
  const report: CrashReport = {
    ...newTally(),
    kills: 0,
    killsAtStart: 0,
    rounds: 0,
    streamed: 0,
    reconnects: 0,
    records: 0,
    problems: [],
  };
  const chance = new Chance(seed);
  let claimed = 0;
  await Promise.all(
    Array.from({ length: lanes }, async (_, index) => {
      const own = chance.fork();
      while (claimed < kills && report.problems.length === 0) {
        const share = Math.min(
          KILLS_PER_ROUND,
          Math.ceil((kills - claimed) / (lanes - index)),
          kills - claimed,
        );
        claimed += share;
        await inDirectory((directory) => new Round(directory, own.fork(), options, report).run(share));
      }
    }),
  );
  return report;
}

/** One data directory, from its first start to its verification. */
class Round {
  private readonly directory: string;
  private readonly chance: Chance;
  private readonly options: CrashOptions;
  private readonly report: CrashReport;
  private readonly environment: Readonly<Record<string, string>>;
  private server: ServerProcess;

  constructor(directory: string, chance: Chance, options: CrashOptions, report: CrashReport) {
    this.directory = directory;
    this.chance = chance;
    this.options = options;
    this.report = report;
    this.environment = { ...ENVIRONMENT, DATA_DIR: directory, SEED: String(chance.int(0, 1e9)) };
    this.server = ServerProcess.launch(this.environment);
  }

  async run(kills: number): Promise<void> {
    const { report } = this;
    try {
      // The first start of an installation may be its last, too.
      if (this.chance.hits(0.3)) await this.killAtStart();
      let baseUrl = await this.server.listening;
      const { token } = credentialsIn(this.directory);
      const traders = await this.openTraders(baseUrl, token);
      const maker = new MarketMaker(token, this.chance.fork());
      const follower = new OrderFollower(token);
      const gather = (): void => {
        for (const { problems } of [...traders, follower]) report.problems.push(...problems.splice(0));
      };
      for (let kill = 0; kill < kills && report.problems.length === 0; kill++) {
        await follower.connect(baseUrl);
        await this.killUnderLoad(baseUrl, [...traders, maker]);
        baseUrl = await this.restart();
        await Promise.all(traders.map((trader) => trader.reconcile(baseUrl)));
        gather();
        this.options.onProgress?.(report.kills, report);
      }
      await follower.connect(baseUrl);
      await Promise.all(traders.map((trader) => trader.reconcileAll()));
      const marker = await traders[0]?.placeMarker();
      await follower.until(marker ?? '');
      gather();
      const exit = await this.server.end('SIGTERM');
      if (exit.code !== 0)
        report.problems.push(
          `SIGTERM ended with ${exit.signal ?? String(exit.code)}: ${this.server.err.join(' ')}`,
        );
      await follower.ended();
      await this.compareStream(follower);
      await this.verify();
      report.rounds++;
    } catch (error) {
      report.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      this.server.child.kill('SIGKILL');
      await this.server.exited;
    }
  }

  private async openTraders(baseUrl: string, token: string): Promise<readonly Trader[]> {
    const { traders = 16 } = this.options;
    return Promise.all(
      Array.from({ length: traders }, async (_, index) => {
        const chance = this.chance.fork();
        const response = await fetch(`${baseUrl}/v1/accounts/portfolios`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            accountId: chance.uuid(),
            portfolioType: index % 2 === 0 ? 'CASH' : 'MARGIN',
            accountType: 'INDIVIDUAL',
            brokerId: 'default',
            initialCash: 100_000_000,
          }),
        });
        if (response.status !== 201) throw new Error(`a portfolio was refused: ${await response.text()}`);
        const { portfolioId } = (await response.json()) as { readonly portfolioId: string };
        return new Trader(`t${index}`, portfolioId, token, chance, this.report);
      }),
    );
  }

  private async killUnderLoad(
    baseUrl: string,
    clients: readonly { trade(baseUrl: string, isOver: () => boolean): Promise<void> }[],
  ): Promise<void> {
    let isDead = false;
    const trading = clients.map((client) => client.trade(baseUrl, () => isDead));
    await after(this.chance.int(5, this.options.loadMs ?? 400));
    await this.server.end('SIGKILL');
    isDead = true;
    this.report.kills++;
    await Promise.all(trading);
  }

  /** Starts the server again; now and then it is killed before it has come up, and has to recover from that, too. */
  private async restart(): Promise<string> {
    this.server = ServerProcess.launch(this.environment);
    if (this.chance.hits(0.1)) await this.killAtStart();
    return this.server.listening;
  }

  private async killAtStart(): Promise<void> {
    await Promise.race([after(this.chance.int(50, 1000)), this.server.listening.catch(() => undefined)]);
    await this.server.end('SIGKILL');
    this.report.kills++;
    this.report.killsAtStart++;
    this.server = ServerProcess.launch(this.environment);
  }

  /** The stream over all kills is the journal: nothing missing, nothing twice, nothing that is not there. */
  private async compareStream(follower: OrderFollower): Promise<void> {
    const { report } = this;
    const store = await openSqliteStore({ directory: this.directory });
    try {
      const { seed, idSecret } = JSON.parse(
        store.registry.simulation('main')?.config ?? '',
      ) as SimulationConfig;
      const journal = new JournalOrders(new Ids(idSecret ?? Ids.secretOf(seed)));
      let place = 0;
      for (const record of store.journal.read('main', 0)) {
        report.records++;
        for (const what of payloadOf(record).events.flatMap((event) => journal.told(event, record.at))) {
          if (place >= follower.seen.length) continue;
          const seen = follower.seen[place++]?.what;
          if (seen === what) continue;
          report.problems.push(
            `event ${place} of the order stream was "${seen ?? ''}", the journal has "${what}"`,
          );
          return;
        }
      }
      if (place < follower.seen.length)
        report.problems.push('the order stream told more than the journal has');
      report.streamed += follower.seen.length;
      report.reconnects += follower.reconnects;
    } finally {
      await store.close();
    }
  }

  private async verify(): Promise<void> {
    const verifier = ServerProcess.verify(this.environment, this.directory);
    const { code } = await verifier.exited;
    if (code !== 0 || verifier.out.at(-1) !== 'sound') {
      this.report.problems.push(
        `verify ended with ${String(code)}: ${[...verifier.out, ...verifier.err].join(' ')}`,
      );
    }
  }
}

/** Moves the market back and forth, so that orders execute. */
class MarketMaker {
  private readonly token: string;
  private readonly chance: Chance;

  constructor(token: string, chance: Chance) {
    this.token = token;
    this.chance = chance;
  }

  async trade(baseUrl: string, isOver: () => boolean): Promise<void> {
    try {
      while (!isOver()) {
        const quotes = ['AAPL', 'MSFT', 'KO'].map((symbol) => {
          const bid = (9_600 + this.chance.int(0, 800)) / 100;
          return { symbol, bid, ask: Math.round(bid * 100 + 2) / 100, bidSize: 50, askSize: 50, last: bid };
        });
        const response = await fetch(`${baseUrl}/v1/simulation/quotes`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ quotes }),
        });
        const text = await response.text();
        if (response.status !== 200) throw new Error(`quotes were refused with ${response.status}: ${text}`);
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

/** The orders of a journal, followed from event to event. */
class JournalOrders {
  private readonly ids: Ids;
  private readonly orders = new Map<number, OrderSnapshot>();

  constructor(ids: Ids) {
    this.ids = ids;
  }

  /** What the order stream says of an event: nothing, one thing or two. */
  told(event: Event, at: number): readonly string[] {
    if (!isOrderEvent(event)) return [];
    const number = event.type === 'OrderAccepted' ? event.number : event.order;
    const { status } = this.after(number, event, Instant.ofMs(at)).progress;
    const id = this.ids.idOf('ORDER', number);
    if (event.type !== 'OrderMoved') return [`${id} ${status}`];
    if (event.transition === 'ACTIVATED') return [`${id} RESERVING`, `${id} ${status}`];
    return SILENT.has(event.transition) ? [] : [`${id} ${status}`];
  }

  private after(number: number, event: OrderEvent, at: Instant): OrderSnapshot {
    const before = this.orders.get(number);
    let after: OrderSnapshot;
    if (event.type === 'OrderAccepted') after = acceptedOrder(event, NOBODY, at);
    else if (before !== undefined) after = orderAfter(before, event, at);
    else throw new Error(`order ${number} moved before it was accepted`);
    this.orders.set(number, after);
    return after;
  }
}

const NOBODY = { tenantId: '', accountId: '' };
const SILENT: ReadonlySet<string> = new Set(['RESERVED', 'TRAILED']);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '100' },
      seed: { type: 'string' },
      lanes: { type: 'string', default: '4' },
    },
  });
  const kills = Number(values.kills);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  const lanes = Number(values.lanes);
  if (![kills, seed, lanes].every((value) => Number.isSafeInteger(value) && value >= 0) || lanes < 1) {
    throw new Error('--kills, --seed and --lanes are whole numbers');
  }
  console.log(`seed ${seed}`);
  const began = performance.now();
  let told = 0;
  const report = await crash({
    kills,
    seed,
    lanes,
    onProgress: (done, { acks, lost, phantom }) => {
      if (done - told < 50) return;
      told = done;
      console.log(`${done} kills, ${acks} acks, ${lost} lost, ${phantom} phantom`);
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const { problems, ...figures } = report;
  console.log(JSON.stringify(figures));
  for (const problem of problems.slice(0, 20)) console.log(problem);
  console.log(
    `${report.kills} kills in ${seconds.toFixed(0)} s (${((report.kills / seconds) * 60).toFixed(0)}/min), ` +
      `${report.acks} acks, ${report.lost} lost, ${report.phantom} phantom, ${report.doubled} doubled, seed ${seed}: ` +
      (problems.length === 0 ? 'sound' : 'NOT SOUND'),
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) await main();
