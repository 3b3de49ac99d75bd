import { setTimeout as after } from 'node:timers/promises';
import { inspect } from 'node:util';
import { mainOf } from '../packages/server/src/engine/values/cell-names.js';
import { credentialsIn, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { Banker } from './banker.js';
import { Books } from './books.js';
import type { Chance } from './chance.js';
import { Client } from './client.js';
import { compareBooks } from './compare-books.js';
import type { Depth } from './compare-books.js';
import type { CrashOptions, CrashReport } from './crash.js';
import { KILL_PLACES, RawJournal } from './data-directory.js';
import type { FaultyDisk } from './faults/faulty-disk.js';
import { compareStream } from './journal-orders.js';
import { MarketMaker } from './market-maker.js';
import { OrderFollower } from './order-follower.js';
import { FAULT } from './planted/planted-fault.js';
import { Trader } from './trader.js';

const ENVIRONMENT = {
  MARKET_FEED: 'push',
  MARKET_CALENDAR: 'always-open',
  RATE_LIMIT_DEFAULT: '1000000000',
  PRO_ACCOUNTS: '100000',
};
const INITIAL_CASH = 100_000_000;
/** Kills between two comparisons of everything. */
const COMPARE_ALL_EVERY = 15;
/** Portfolios that are compared after each kill. */
const COMPARED = 2;
const ATTEMPTS = 5;

/** A user of the server under test. */
interface Participant {
  trade(isOver: () => boolean): Promise<void>;
  reconcile(): Promise<void>;
  reconcileAll(): Promise<void>;
  readonly problems: string[];
}

/** One data directory, from its first start to its verification. */
export class CrashRound {
  private readonly directory: string;
  /** Folder of the server's programs. */
  private readonly folder: string;
  private readonly chance: Chance;
  private readonly options: CrashOptions;
  private readonly report: CrashReport;
  private readonly disk: FaultyDisk | undefined;
  private readonly environment: Readonly<Record<string, string>>;
  private server: ServerProcess | undefined;
  /** Loaded while the one before it still serves, so that the time between two kills is not spent on that. Absent after the last kill. */
  private next: ServerProcess | undefined;
  private client = new Client('', '');
  private tenantId = '';
  private readonly portfolioIds: string[] = [];
  private books: Books | undefined;

  /** `disk`: if present, most kills happen at one of its calls. */
  constructor(
    directory: string,
    folder: string,
    chance: Chance,
    options: CrashOptions,
    report: CrashReport,
    disk?: FaultyDisk,
  ) {
    this.directory = directory;
    this.folder = folder;
    this.chance = chance;
    this.options = options;
    this.report = report;
    this.disk = disk;
    this.environment = {
      ...ENVIRONMENT,
      ...disk?.environment(directory),
      ...(options.planted?.name !== undefined && { [FAULT]: options.planted.name }),
      DATA_DIR: directory,
      SEED: String(chance.int(0, 1e9)),
    };
    this.next = this.prepare();
  }

  async run(kills: number): Promise<void> {
    const { report } = this;
    try {
      const baseUrl = await this.startNext();
      const { token, tenantId } = credentialsIn(this.directory);
      this.client = new Client(baseUrl, token);
      this.tenantId = tenantId;
      const traders = await this.openTraders();
      const participants: readonly Participant[] = [...traders, await this.openBanker()];
      const maker = new MarketMaker(this.client, this.chance.fork());
      const follower = new OrderFollower(token);
      const gather = (): void => {
        for (const { problems } of [...participants, follower]) report.problems.push(...problems.splice(0));
      };
      for (let kill = 1; kill <= kills && report.problems.length === 0; kill++) {
        await follower.connect(this.client.baseUrl);
        await this.killUnderLoad([...participants, maker]);
        this.client.baseUrl = await this.startNext(kill === kills);
        await Promise.all(participants.map((participant) => participant.reconcile()));
        // Reports their findings first, even when reading the journal fails.
        gather();
        await this.compareWithJournal(kill % COMPARE_ALL_EVERY === 0 ? 'all' : 'newest');
        gather();
        this.options.onProgress?.(report.kills, report);
      }
      if (report.problems.length > 0) return;
      await follower.connect(this.client.baseUrl);
      await Promise.all(participants.map((participant) => participant.reconcileAll()));
      await this.compareWithJournal('all');
      const marker = await traders[0]?.placeMarker();
      await follower.until(marker ?? '');
      gather();
      await this.stop();
      await follower.ended();
      this.compareStream(follower);
      await this.verify();
      report.rounds++;
    } catch (error) {
      report.problems.push(inspect(error));
      if (this.server !== undefined) report.problems.push(`the server: ${this.server.lastLines}`);
    } finally {
      for (const server of [this.server, this.next]) {
        await server?.end('SIGKILL');
      }
    }
  }

  private prepare(): ServerProcess {
    return ServerProcess.prepare(this.environment, this.folder);
  }

  private async openPortfolio(portfolioType: string): Promise<string> {
    const { status, body } = await this.client.ask('POST', '/v1/accounts/portfolios', {
      accountId: this.chance.uuid(),
      portfolioType,
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      initialCash: INITIAL_CASH,
    });
    if (status !== 201) throw new Error(`a portfolio was refused: ${JSON.stringify(body)}`);
    const { portfolioId } = body as { readonly portfolioId: string };
    this.portfolioIds.push(portfolioId);
    return portfolioId;
  }

  private openTraders(): Promise<readonly Trader[]> {
    const { traders = 16 } = this.options;
    return Promise.all(
      Array.from({ length: traders }, async (_, index) => {
        const portfolioId = await this.openPortfolio(index % 2 === 0 ? 'CASH' : 'MARGIN');
        return new Trader(`t${index}`, portfolioId, this.client, this.chance.fork(), this.report);
      }),
    );
  }

  private async openBanker(): Promise<Banker> {
    const portfolioId = await this.openPortfolio('CASH');
    const portfolio = { portfolioId, initialCents: INITIAL_CASH * 100 };
    return new Banker(portfolio, this.client, this.chance.fork(), this.report);
  }

  private async killUnderLoad(participants: readonly Pick<Participant, 'trade'>[]): Promise<void> {
    let isDead = false;
    const trading = participants.map(async (participant) => {
      try {
        await participant.trade(() => isDead);
      } catch (error) {
        // `fetch` throws TypeError for a broken connection: the outcome of the request is then unknown.
        if (!(error instanceof TypeError)) throw error;
        this.report.unanswered++;
      }
    });
    await this.kill(this.options.loadMs ?? 300);
    isDead = true;
    this.report.kills++;
    await Promise.all(trading);
  }

  /** At a moment of the clock, or before or after the n-th call that touches one of its files; the clock has the last word. */
  private async kill(withinMs: number): Promise<void> {
    const { chance, disk, server } = this;
    let ms = chance.int(5, withinMs);
    if (disk !== undefined && chance.hits(0.7)) {
      const { match, within } = chance.pick(KILL_PLACES);
      disk.arm({ at: chance.int(1, within), match, action: chance.pick(['killBefore', 'killAfter']) });
      ms = 2 * withinMs;
    }
    await Promise.race([after(ms), server?.exited]);
    await server?.end('SIGKILL');
    const hit = disk?.hit ?? '';
    if (hit !== '') this.report.killsAtCalls[hit] = (this.report.killsAtCalls[hit] ?? 0) + 1;
    disk?.arm({ at: 0, action: 'EIO' });
  }

  /** Starts the server; now and then it is killed before it has come up, and has to recover from that, too. */
  private async startNext(isLast = false): Promise<string> {
    this.options.planted?.beforeStart?.(this.directory, this.report.acks);
    for (;;) {
      const server = this.next ?? this.prepare();
      this.server = server;
      this.next = isLast ? undefined : this.prepare();
      this.disk?.disarm();
      server.go();
      if (!this.chance.hits(0.1)) return server.listening;
      await Promise.race([this.kill(600), server.listening.catch(() => undefined)]);
      await server.end('SIGKILL');
      this.report.kills++;
      this.report.killsAtStart++;
    }
  }

  private async stop(): Promise<void> {
    const exit = await this.server?.end('SIGTERM');
    if (exit?.code === 0) return;
    const said = this.server?.lastLines ?? '';
    this.report.problems.push(`SIGTERM ended with ${exit?.signal ?? String(exit?.code)}: ${said}`);
  }

  /** Compares the API with the journal, for some portfolios or for everything. */
  private async compareWithJournal(depth: Depth): Promise<void> {
    const only =
      depth === 'all'
        ? undefined
        : Array.from({ length: COMPARED }, () => this.chance.pick(this.portfolioIds));
    let problems: readonly string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const journal = new RawJournal(this.directory);
      try {
        this.books ??= new Books(journal.ids(mainOf(this.tenantId)));
        this.books.read(journal.records(mainOf(this.tenantId), this.books.seq));
      } finally {
        journal.close();
      }
      problems = await compareBooks(this.books, this.client, depth, only);
      if (problems.length === 0) return;
      // Things may fall due while one looks: an order reaches the market, a day ends.
      await after(200);
    }
    this.report.problems.push(...problems);
  }

  private compareStream(follower: OrderFollower): void {
    const { report } = this;
    const journal = new RawJournal(this.directory);
    try {
      const difference = compareStream(
        journal.records(mainOf(this.tenantId), 0),
        journal.ids(mainOf(this.tenantId)),
        follower,
      );
      if (difference !== undefined) report.problems.push(difference);
    } finally {
      journal.close();
    }
    report.records += this.books?.seq ?? 0;
    report.streamed += follower.seen.length;
    report.reconnects += follower.reconnects;
  }

  private async verify(): Promise<void> {
    const verifier = ServerProcess.verify(this.environment, this.directory, this.folder);
    const { code } = await verifier.exited;
    if (code === 0 && verifier.out.at(-1) === 'sound') return;
    const said = [...verifier.out, ...verifier.err].join(' ');
    this.report.problems.push(`verify ended with ${String(code)}: ${said}`);
  }
}
