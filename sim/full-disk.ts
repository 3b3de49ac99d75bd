/**
 * Fills the disk of a real server and makes room again: 503 from health within a second, no acknowledgement meanwhile,
 * back by itself within five seconds, nothing lost, nothing twice.
 *
 *   npm run full-disk          (root: it mounts a small tmpfs of its own, and unmounts it)
 *
 * The normal test run has the same story in one process: packages/server/src/full-disk.test.ts.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { credentialsIn, ServerProcess } from '../packages/server/src/testing/server-process.js';

const ROUNDS = 3;
const SMALL_MB = 12;
/** Room that each round adds. */
const MORE_MB = 12;
const CLIENTS = 8;
const SETTINGS = { MARKET_FEED: 'push', MARKET_CALENDAR: 'always-open', RATE_LIMIT_DEFAULT: '1000000000' };

interface Answer {
  readonly status: number;
  readonly body: { readonly orderId?: string; readonly pagination?: { readonly total: number } };
}

class FullDisk {
  readonly acknowledged: string[] = [];
  readonly problems: string[] = [];
  private readonly mountPoint: string;
  private readonly baseUrl: string;
  private readonly token: string;
  private portfolioId = '';
  private sent = 0;

  constructor(mountPoint: string, baseUrl: string, token: string) {
    this.mountPoint = mountPoint;
    this.baseUrl = baseUrl;
    this.token = token;
  }

  async run(): Promise<void> {
    const opened = await this.call('POST', '/v1/accounts/portfolios', {
      accountId: '00000000-0000-4000-8000-000000000001',
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      initialCash: 1_000_000_000,
    });
    this.portfolioId = (opened.body as { readonly portfolioId: string }).portfolioId;
    for (let round = 1; round <= ROUNDS && this.problems.length === 0; round++) await this.round(round);
    const { body } = await this.call('GET', `/v1/orders/portfolio/${this.portfolioId}?limit=1`);
    if (body.pagination?.total !== this.acknowledged.length) {
      this.problems.push(
        `${String(body.pagination?.total)} orders are there, ${this.acknowledged.length} were acknowledged`,
      );
    }
    for (const orderId of this.acknowledged) {
      if ((await this.call('GET', `/v1/orders/${orderId}`)).status !== 200)
        this.problems.push(`${orderId} is lost`);
    }
  }

  private async round(round: number): Promise<void> {
    const before = this.acknowledged.length;
    const unanswered = await Promise.all(Array.from({ length: CLIENTS }, () => this.tradeUntilFull()));
    const began = performance.now();
    const toBad = await this.healthIs(503, began);
    const read = await this.call('GET', `/v1/orders/${this.acknowledged.at(-1) ?? ''}`);
    if (read.status !== 200 && read.status !== 503) this.problems.push(`a read answered ${read.status}`);
    const probe = await this.place(`while-full-${round}`);
    // What is small may still find its place; then it is acknowledged like any other.
    if (probe.status !== 503 && probe.status !== 201) {
      this.problems.push(`an order on a full disk answered ${probe.status}`);
    }

    const roomMb = SMALL_MB + round * MORE_MB;
    execFileSync('mount', ['-o', `remount,size=${roomMb}m`, this.mountPoint]);
    const toGood = await this.healthIs(200, performance.now());
    for (const key of [...unanswered, `while-full-${round}`]) {
      const [first, again] = [await this.place(key), await this.place(key)];
      if (first.status !== 201 || first.body.orderId !== again.body.orderId) {
        this.problems.push(`${key} repeated answered ${first.status}, then ${again.status}, or two orders`);
      }
      const { orderId = '' } = first.body;
      if (!this.acknowledged.includes(orderId)) this.acknowledged.push(orderId);
    }
    if (toBad > 1000) this.problems.push('health said 503 too late');
    if (toGood > 5000) this.problems.push('the server came back too late');
    console.log(
      `round ${round}: full after ${this.acknowledged.length - before} orders, 503 from health after ${toBad.toFixed(0)} ms, ` +
        `read answered ${read.status}, back ${toGood.toFixed(0)} ms after there was room`,
    );
  }

  /** The key of the request that was not acknowledged. */
  private async tradeUntilFull(): Promise<string> {
    for (;;) {
      const key = `order-${++this.sent}`;
      const { status, body } = await this.place(key);
      if (status === 201) this.acknowledged.push(body.orderId ?? '');
      else if (status === 503) return key;
      else throw new Error(`an order answered ${status}: ${JSON.stringify(body)}`);
    }
  }

  /** Milliseconds until health says so. */
  private async healthIs(status: number, since: number): Promise<number> {
    for (let i = 0; i < 60; i++) {
      const answer = await fetch(`${this.baseUrl}/v1/health`);
      await answer.text();
      if (answer.status === status) return performance.now() - since;
      await after(100);
    }
    this.problems.push(`health never said ${status}`);
    return Infinity;
  }

  private place(key: string): Promise<Answer> {
    const body = {
      portfolioId: this.portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      limitPrice: 1,
      timeInForce: 'GTC',
    };
    return this.call('POST', '/v1/orders', body, key);
  }

  private async call(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }
}

async function main(): Promise<number> {
  if (process.getuid?.() !== 0) {
    console.log('only root can mount the small disk that this needs');
    return 2;
  }
  const mountPoint = mkdtempSync(join(tmpdir(), 'sandpit-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL_MB}m`, 'sandpit', mountPoint]);
  const settings = { ...SETTINGS, DATA_DIR: join(mountPoint, 'data') };
  const server = ServerProcess.launch(settings);
  try {
    const test = new FullDisk(mountPoint, await server.listening, credentialsIn(settings.DATA_DIR).token);
    await test.run();
    const { code } = await server.end('SIGTERM');
    if (code !== 0) test.problems.push(`SIGTERM ended with ${String(code)}`);
    const verifier = ServerProcess.verify(settings, settings.DATA_DIR);
    if ((await verifier.exited).code !== 0)
      test.problems.push(`verify: ${[...verifier.out, ...verifier.err].join(' ')}`);
    for (const problem of test.problems.slice(0, 20)) console.log(problem);
    console.log(
      `${test.acknowledged.length} orders acknowledged: ${test.problems.length === 0 ? 'sound' : 'NOT SOUND'}`,
    );
    return test.problems.length === 0 ? 0 : 1;
  } finally {
    server.child.kill('SIGKILL');
    await server.exited;
    execFileSync('umount', [mountPoint]);
    rmdirSync(mountPoint);
  }
}

process.exitCode = await main();
