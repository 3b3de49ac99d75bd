/**
 * Fills the disk of a real server and makes room again, once for all its files and once for its history alone.
 *
 *   npm run full-disk          (Linux, with a C compiler)
 *
 * All: 503 from health within a second, no acknowledgement meanwhile except of cancels, back by itself within five seconds, nothing
 * lost, nothing twice. History: trading continues, the past waits, and is whole once there is room.
 *
 * The normal test run has the first story in one process: packages/server/src/full-disk.test.ts.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { cashPortfolioBody, restingOrderBody } from '../packages/server/src/testing/request-bodies.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { Client } from './client.js';
import type { Answer } from './client.js';
import { FaultyDisk } from './faults/faulty-disk.js';
import { JWT_SECRET, tokenOf } from './tokens.js';

const ROUNDS = 3;
/** Bytes that files may grow by before the disk is full. */
const ROOM = 300_000;
const CLIENTS = 8;
const SETTINGS = {
  MARKET_FEED: 'push',
  MARKET_CALENDAR: 'always-open',
  RATE_LIMIT_DEFAULT: '1000000000',
  JWT_SECRET,
};
/** More than fits on a disk of `ROOM`. */
const MOST_ORDERS = 5_000;

class FullDisk {
  readonly acknowledged: string[] = [];
  readonly problems: string[] = [];
  private readonly disk: FaultyDisk;
  private readonly client: Client;
  private portfolioId = '';
  private sent = 0;

  constructor(disk: FaultyDisk, client: Client) {
    this.disk = disk;
    this.client = client;
  }

  async open(): Promise<void> {
    const { status, body } = await this.client.ask(
      'POST',
      '/v1/accounts/portfolios',
      cashPortfolioBody({ initialCash: 1_000_000_000 }),
    );
    if (status !== 201) throw new Error(`a portfolio was refused: ${JSON.stringify(body)}`);
    this.portfolioId = (body as { readonly portfolioId: string }).portfolioId;
    for (let n = 0; n < 20; n++) await this.acknowledge(`before-${n}`);
  }

  /** Checks that exactly the acknowledged orders are listed. */
  async compare(): Promise<void> {
    const { items } = await this.client.list<{ readonly orderId: string }>(
      `/v1/orders/portfolio/${this.portfolioId}`,
    );
    const listed = new Set(items.map(({ orderId }) => orderId));
    const lost = this.acknowledged.filter((orderId) => !listed.has(orderId));
    if (lost.length > 0) this.problems.push(`${lost.length} orders are lost: ${lost.slice(0, 3).join(' ')}`);
    if (items.length !== new Set(this.acknowledged).size)
      this.problems.push(`${items.length} orders are listed, ${this.acknowledged.length} were acknowledged`);
  }

  async fillAll(round: number): Promise<void> {
    const before = this.acknowledged.length;
    this.disk.limit('', ROOM);
    const unanswered = await Promise.all(Array.from({ length: CLIENTS }, () => this.tradeUntilFull()));
    const toBad = await this.healthIs(503);
    const read = await this.client.ask('GET', `/v1/orders/${this.acknowledged.at(-1) ?? ''}`);
    if (read.status !== 200 && read.status !== 503) this.problems.push(`a read answered ${read.status}`);
    const probe = await this.place(`while-full-${round}`);
    // A small order may still fit; then it is acknowledged like any other.
    if (probe.status !== 503 && probe.status !== 201)
      this.problems.push(`an order on a full disk answered ${probe.status}`);
    const resting = this.acknowledged[round] ?? '';
    const cancel = await this.client.ask('PUT', `/v1/orders/${resting}/cancel`);
    if (cancel.status !== 200) this.problems.push(`a cancel on a full disk answered ${cancel.status}`);

    this.disk.disarm();
    const toGood = await this.healthIs(200);
    for (const key of [...unanswered, `while-full-${round}`]) {
      const orderId = await this.acknowledge(key);
      if ((await this.acknowledge(key)) !== orderId) this.problems.push(`${key} repeated is another order`);
    }
    const { status } = (await this.client.get(`/v1/orders/${resting}`)) as { readonly status: string };
    if (cancel.status === 200 && status !== 'CANCELED')
      this.problems.push(`a cancel was acknowledged and lost`);
    if (toBad > 1000) this.problems.push('health said 503 too late');
    if (toGood > 5000) this.problems.push('the server came back too late');
    console.log(
      `all files, round ${round}: full after ${this.acknowledged.length - before} orders, 503 from health after ${toBad.toFixed(0)} ms, ` +
        `read ${read.status}, cancel ${cancel.status}, back ${toGood.toFixed(0)} ms after there was room`,
    );
  }

  async fillHistory(): Promise<void> {
    this.disk.limit('/history.db', 40_000);
    const before = this.acknowledged.length;
    for (let n = 0; n < 400; n++) await this.acknowledge(`history-${n}`);
    const { status } = await this.client.ask('GET', `/v1/orders/portfolio/${this.portfolioId}`);
    if (status !== 200 && status !== 503) this.problems.push(`a list answered ${status}`);
    this.disk.disarm();
    await this.compare();
    console.log(
      `history: ${this.acknowledged.length - before} orders went on while it was full, its list answered ${status}`,
    );
  }

  private async acknowledge(key: string): Promise<string> {
    const { status, body } = await this.place(key);
    const { orderId = '' } = body as { readonly orderId?: string };
    if (status !== 201) this.problems.push(`${key} answered ${status}: ${JSON.stringify(body)}`);
    else if (!this.acknowledged.includes(orderId)) this.acknowledged.push(orderId);
    return orderId;
  }

  /** The key of the request that was not acknowledged. */
  private async tradeUntilFull(): Promise<string> {
    while (this.sent < MOST_ORDERS) {
      const key = `order-${++this.sent}`;
      const { status, body } = await this.place(key);
      if (status === 201) this.acknowledged.push((body as { readonly orderId: string }).orderId);
      else if (status === 503) return key;
      else throw new Error(`an order answered ${status}: ${JSON.stringify(body)}`);
    }
    throw new Error('the disk never filled');
  }

  /** Milliseconds until health says so. */
  private async healthIs(status: number): Promise<number> {
    const since = performance.now();
    for (let i = 0; i < 100; i++) {
      if ((await this.client.ask('GET', '/v1/health')).status === status) return performance.now() - since;
      await after(100);
    }
    this.problems.push(`health never said ${status}`);
    return Infinity;
  }

  private place(key: string): Promise<Answer> {
    return this.client.ask('POST', '/v1/orders', restingOrderBody(this.portfolioId), key);
  }
}

async function fill(disk: FaultyDisk, directory: string): Promise<readonly string[]> {
  const settings = { ...SETTINGS, DATA_DIR: directory };
  const server = ServerProcess.launch({ ...settings, ...disk.environment(directory) });
  try {
    const test = new FullDisk(disk, new Client(await server.listening, tokenOf()));
    await test.open();
    await reserveIn(directory);
    for (let round = 1; round <= ROUNDS && test.problems.length === 0; round++) await test.fillAll(round);
    await test.compare();
    await test.fillHistory();
    const { code } = await server.end('SIGTERM');
    if (code !== 0) test.problems.push(`SIGTERM ended with ${String(code)}: ${server.err.join(' ')}`);
    const verifier = ServerProcess.verify(settings, directory);
    if ((await verifier.exited).code !== 0)
      test.problems.push(`verify: ${[...verifier.out, ...verifier.err].join(' ')}`);
    console.log(`${test.acknowledged.length} orders acknowledged`);
    return test.problems;
  } finally {
    await server.end('SIGKILL');
  }
}

/** Waits for the reserve, which the server writes two seconds after its first start: without it no cancel can be committed to a full disk. */
async function reserveIn(directory: string): Promise<void> {
  const path = join(directory, 'reserve');
  for (let i = 0; i < 100; i++) {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
    await after(100);
  }
  throw new Error('the server wrote no reserve');
}

async function main(): Promise<number> {
  const disk = FaultyDisk.build();
  if (typeof disk === 'string') {
    console.log(`not run: ${disk}`);
    return 2;
  }
  try {
    const problems = await inDirectory((directory) => fill(disk, directory));
    for (const problem of problems.slice(0, 20)) console.log(problem);
    console.log(problems.length === 0 ? 'sound' : 'NOT SOUND');
    return problems.length === 0 ? 0 : 1;
  } finally {
    disk.remove();
  }
}

process.exitCode = await main();
