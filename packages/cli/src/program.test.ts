import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spreadOf } from '@sandpit/client';
import { sandbox, type Sandbox } from '@sandpit/client/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EXIT, run } from './program.js';

let sim: Sandbox;
let access: readonly string[];

beforeAll(async () => {
  sim = await sandbox({ cash: 10_000, server: true, ephemeral: false });
  const { simulationId } = sim;
  const { token } = await sim.client.call('createSimulationToken', { params: { simulationId } });
  access = ['--url', sim.client.transport.baseUrl, '--token', token];
  await sim.quote('AAPL', 99.9, 100);
}, 30_000);
afterAll(() => sim.close());

async function type(line: string, { isTerminal = false, as = access } = {}) {
  let out = '';
  let complaint = '';
  const code = await run([...as, ...line.split(' ')], {
    isTerminal,
    write: (text) => void (out += text),
    complain: (text) => void (complaint += text),
  });
  return { code, out, complaint };
}
/** A command that runs until it is stopped. */
function follow(line: string) {
  let out = '';
  const others = new Set(process.listeners('SIGINT'));
  const waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  const over = run([...access, ...line.split(' ')], {
    isTerminal: true,
    write: (text) => {
      out += text;
      for (const one of waiting) if (out.includes(one.text)) one.resolve();
    },
    complain: (text) => void (out += text),
  });
  const seen = (text: string): Promise<void> =>
    out.includes(text) ? Promise.resolve() : new Promise((resolve) => waiting.push({ text, resolve }));
  // The signal is for this command alone: another test file of this process may have a listener that ends the process.
  const stop = (): void => {
    for (const listener of process.listeners('SIGINT')) if (!others.has(listener)) listener('SIGINT');
  };
  return { over, seen, stop };
}
const json = (out: string): unknown => JSON.parse(out);

describe('the command line', () => {
  it('scripts outcomes, lists them and deletes them', async () => {
    const set = json(
      (await type('script {"error":{}} --match symbol=MSFT --match quantity=3 --times 2')).out,
    );
    expect(set).toMatchObject({ match: { symbol: 'MSFT', quantity: 3 }, times: 2, outcome: { error: {} } });
    expect((await type('scripts', { isTerminal: true })).out).toContain('{"error":{}}');
    const { outcomeId } = set as { outcomeId: string };
    expect(json((await type(`unscript ${outcomeId}`)).out)).toMatchObject({ message: 'Outcome deleted' });
    expect(json((await type('unscript')).out)).toMatchObject({ deleted: 0 });
    expect(await type('script nonsense')).toMatchObject({ code: EXIT.refused });
    expect(await type('script {} --match symbol')).toMatchObject({ code: EXIT.refused });
  });

  it('sets faults, lists them and deletes them', async () => {
    const set = json((await type('fault {"status":503} --method POST --path /v1/orders --skip 1')).out);
    const match = { method: 'POST', path: '/v1/orders' };
    expect(set).toMatchObject({ match, skip: 1, times: 1, fault: { status: 503 } });
    expect((await type('faults', { isTerminal: true })).out).toContain('{"status":503}');
    const { faultId } = set as { faultId: string };
    expect(json((await type(`unfault ${faultId}`)).out)).toMatchObject({ message: 'Fault deleted' });
    expect(json((await type('unfault')).out)).toMatchObject({ deleted: 0 });
    expect(await type('fault nonsense')).toMatchObject({ code: EXIT.refused });
  });

  it('buys, shows, explains, cancels', async () => {
    const bought = json((await type('buy aapl 10')).out) as { orderId: string };
    expect(bought).toMatchObject({ status: 'FILLED', averagePrice: 100 });
    const rests = json((await type('buy AAPL 1 --limit 90 --tif GTC')).out) as { orderId: string };
    expect(rests).toMatchObject({ status: 'ACTIVE', orderType: 'LIMIT' });
    expect((await type(`why ${bought.orderId}`, { isTerminal: true })).out).toMatch(
      /MARKET order to buy 10 AAPL, DAY\.\n.*10 at 100\.00: .*\n.*Filled at 100\.00 on average\.\n/,
    );
    expect((await type(`why ${rests.orderId}`, { isTerminal: true })).out).toContain(
      'Waits for  ask 100.00 above limit 90.00.',
    );
    expect(json((await type(`cancel ${rests.orderId}`)).out)).toMatchObject({ status: 'CANCELED' });
    expect(json((await type('orders --status FILLED')).out)).toMatchObject([{ orderId: bought.orderId }]);
    expect(json((await type('portfolio show')).out)).toMatchObject({
      settledCash: 9000,
      positions: [{ symbol: 'AAPL' }],
    });
  });

  it('portfolio show: lists futures with both profits, since the settlement and since the trade', async () => {
    const other = await sandbox({ cash: 100_000, portfolioType: 'MARGIN', server: true });
    try {
      const { client, simulationId } = other;
      const { token } = await client.call('createSimulationToken', { params: { simulationId } });
      const as = ['--url', client.transport.baseUrl, '--token', token];
      await other.quote('ESH26', 5000, 5000);
      expect(json((await type('buy ESH26 1', { as })).out)).toMatchObject({ status: 'FILLED' });
      await other.quote('ESH26', 5010, 5010);
      await other.advance('P1D');
      await other.quote('ESH26', 5025, 5025);
      const figures = { settlementPrice: 5010, unrealizedPnl: 750, openTradePnl: 1250 };
      expect(json((await type('portfolio show', { as })).out)).toMatchObject({ futures: [figures] });
      const { out } = await type('portfolio show', { as, isTerminal: true });
      expect(out).toMatch(/UNREALIZED ?PNL +OPEN ?TRADE ?PNL\nESH26 .* 750 +1250\n/);
    } finally {
      await other.close();
    }
  });

  it('keeps the reason of an order and shows it in its story and in an export', async () => {
    const { out } = await type('buy AAPL 1 --limit 90 --notes dip,again');
    const { orderId } = json(out) as { orderId: string };
    expect((await type(`why ${orderId}`, { isTerminal: true })).out).toContain('Notes  dip,again\n');
    expect((await type('export orders')).out).toContain('"notes":"dip,again"');
    expect((await type('export orders --csv')).out).toContain('"dip,again"');
    await type(`cancel ${orderId}`);
  });

  it('prints tables on a terminal', async () => {
    const { out } = await type('quote AAPL', { isTerminal: true });
    expect(out).toBe('SYMBOL   BID  ASK  LAST\nAAPL    99.9  100\n');
    expect((await type('sim ls', { isTerminal: true })).out).toContain(sim.simulationId);
  });

  it('moves the clock and prints the status', async () => {
    const before = json((await type('clock')).out) as { now: string };
    const after = json((await type('clock advance PT5M')).out) as { now: string };
    expect(Date.parse(after.now) - Date.parse(before.now)).toBe(300_000);
    expect(json((await type('clock advance 1h')).out)).toMatchObject({ now: '2026-01-05T16:05:00.000Z' });
    expect(json((await type('clock advance --to next-open')).out)).toMatchObject({
      now: '2026-01-06T14:30:00.000Z',
    });
    expect((await type('clock advance')).code).toBe(EXIT.usage);
    expect(json((await type('clock advance --to next-bar')).out)).toMatchObject({
      now: '2026-01-06T14:31:00.000Z',
    });
    expect(json((await type('sim step --until next-bar')).out)).toMatchObject({
      now: '2026-01-06T14:32:00.000Z',
      hasMore: false,
    });
    expect((await type('sim step {')).code).not.toBe(0);
    expect((await type('sim step --until noon')).code).toBe(1);
    expect(json((await type('doctor')).out)).toMatchObject({ status: 'ok', clock: 'manual' });
  });

  it('previews an order without placing it', async () => {
    const before = (json((await type('orders')).out) as object[]).length;
    expect(json((await type('buy AAPL 5 --limit 100 --preview')).out)).toMatchObject({ rejections: [] });
    const refused = await type('buy AAPL 100000 --preview');
    expect(refused.code).toBe(EXIT.refused);
    expect(json((await type('orders')).out)).toHaveLength(before);
  });

  it('gives whole lists to other programs', async () => {
    const lines = (await type('export orders')).out.trim().split('\n').map(json);
    expect(lines).toContainEqual(expect.objectContaining({ symbol: 'AAPL', status: 'FILLED' }));
    const [head, first] = (await type('export executions --csv')).out.split('\r\n');
    expect(head?.split(',').slice(0, 2)).toEqual(['executionId', 'orderId']);
    expect(first).toContain('"{""bid"":99.9,""ask"":100');
    expect((await type('export everything')).code).toBe(EXIT.usage);
  });

  it('shows performance, trades, costs and taxes, and writes a report', async () => {
    const other = await sandbox({ cash: 10_000, server: true });
    const folder = mkdtempSync(join(tmpdir(), 'sandpit-report-'));
    try {
      const { client, simulationId } = other;
      const { token } = await client.call('createSimulationToken', { params: { simulationId } });
      const as = ['--url', client.transport.baseUrl, '--token', token];
      await other.quote('AAPL', 99, 101);
      const bought = json((await type('buy AAPL 10', { as })).out) as { orderId: string };
      await other.quote('AAPL', 110, 111);
      await type('sell AAPL 10', { as });
      expect(json((await type('performance', { as })).out)).toMatchObject({ trades: { count: 1, wins: 1 } });
      expect((await type('performance --benchmark AAPL', { as, isTerminal: true })).out).toMatch(
        /trades\.winRate +1\n/,
      );
      expect(json((await type('trades', { as })).out)).toMatchObject([{ symbol: 'AAPL', grossPnl: 90 }]);
      expect(json((await type('tca --by symbol', { as })).out)).toMatchObject({
        orders: 2,
        groups: [{ key: 'AAPL', orders: 2 }],
      });
      expect(json((await type(`tca --order ${bought.orderId}`, { as })).out)).toMatchObject({
        slippageBps: 100,
      });
      expect((await type('tca --by color', { as })).code).toBe(EXIT.usage);
      expect(json((await type('taxes --method HIFO', { as })).out)).toMatchObject({
        method: 'HIFO',
        data: [{ symbol: 'AAPL', term: 'SHORT' }],
      });
      expect((await type('taxes', { as, isTerminal: true })).out).toContain('SECTION_1256');
      await type('buy AAPL 1', { as });
      const data = [{ symbol: 'AAPL', quantity: 1, costBasis: 111 }];
      expect(json((await type('lots --method LIFO', { as })).out)).toMatchObject({ method: 'LIFO', data });
      expect((await type('lots', { as, isTerminal: true })).out).toMatch(/AAPL +LONG +1 /);
      await other.quote('SPY', 500, 500.1);
      const page = readFileSync(new URL('../../../docs/how-to/analytics.md', import.meta.url), 'utf8');
      const commands = [...page.matchAll(/^npx sandpit (.+)$/gm)].map(([, line = '']) => line);
      expect(commands).toHaveLength(5);
      for (const command of commands) {
        const line = command.replace('report.html', join(folder, 'report.html'));
        expect((await type(line, { as })).code, command).toBe(EXIT.done);
      }
      const file = join(folder, 'page.html');
      expect((await type(`report --out ${file}`, { as })).code).toBe(EXIT.done);
      expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>.*AAPL/s);
      expect((await type(`report --benchmark NOPE1 --out ${file}`, { as })).code).toBe(EXIT.refused);
    } finally {
      rmSync(folder, { recursive: true });
      await other.close();
    }
  });

  it('buys for an amount of money, and sells in a pair of which each cancels the other', async () => {
    await sim.quote('AAPL', 99.9, 100);
    const bought = json((await type('buy AAPL --notional 250')).out);
    expect(bought).toMatchObject({ status: 'FILLED', notional: 250, filledQuantity: 2.5 });
    const pair = json((await type('sell AAPL 2.5 --take-profit 120 --stop-loss 80 --tif GTC')).out);
    expect(pair).toMatchObject({
      status: 'ACTIVE',
      limitPrice: 120,
      ocoConfig: { stopLoss: { orderType: 'STOP', stopPrice: 80 } },
    });
    await type(`cancel ${(pair as { orderId: string }).orderId}`);
    expect((await type('buy AAPL 5 --notional 250')).code).toBe(EXIT.usage);
    expect((await type('buy AAPL')).code).toBe(EXIT.usage);
  });

  it('follows a portfolio on the whole screen', async () => {
    const { stop, seen, over } = follow(`watch AAPL`);
    await seen('AAPL    99.9  100');
    await type('buy AAPL 1 --limit 1');
    await seen('ACTIVE     0 of 1');
    stop();
    expect(await over).toBe(EXIT.done);
  });

  it('shows the options around the price', async () => {
    await sim.quote('AAPL260116C00100000', 3, 3.1);
    const { out } = await type('chain aapl --expiration 2026-01-16', { isTerminal: true });
    expect(out).toMatch(/^AAPL 99\.95, 2026-01-16\nOPTIONSYMBOL .*\nAAPL260116C00100000 +100 +CALL +3 +3\.1/);
  });

  it('names the missing size of an order', async () => {
    const { code, complaint } = await type('buy AAPL');
    expect(code).toBe(EXIT.usage);
    expect(complaint).toBe(
      'error: missing a size: give a quantity (sandpit buy AAPL 10) or --notional (sandpit buy AAPL --notional 500)\n',
    );
    expect((await type('buy')).complaint).toContain("missing required argument 'symbol'");
  });

  it('executes a step in each of several simulations', async () => {
    const { simulationId } = json((await type('sim new')).out) as { simulationId: string };
    const { simulationId: other } = json((await type('sim new')).out) as { simulationId: string };
    const steps = [
      { simulationId, advance: { by: 'PT1M' } },
      { simulationId: other, advance: { by: 'PT2M' } },
    ];
    expect(json((await type(`sim steps ${JSON.stringify(steps)}`)).out)).toMatchObject([
      { simulationId, now: '2026-01-05T15:01:00.000Z', hasMore: false },
      { simulationId: other, now: '2026-01-05T15:02:00.000Z', hasMore: false },
    ]);
    expect(await type('sim steps nonsense')).toMatchObject({ code: EXIT.refused });
    for (const id of [simulationId, other]) await type(`sim delete ${id}`);
  });

  it('names a file that it cannot import', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandpit-import-'));
    try {
      expect(await type(`sim import ${folder}`)).toMatchObject({
        code: EXIT.refused,
        complaint: `${folder} is not a file\n`,
      });
      expect(await type(`sim import ${folder}/none`)).toMatchObject({
        code: EXIT.refused,
        complaint: `ENOENT: no such file or directory, access '${folder}/none'\n`,
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('prints its version', async () => {
    expect(await type('--version')).toMatchObject({
      code: EXIT.done,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  });

  it('prints JSON on a terminal with --json, also the error of a refusal', async () => {
    expect(json((await type('quote AAPL --json', { isTerminal: true })).out)).toMatchObject([
      { symbol: 'AAPL' },
    ]);
    const { complaint } = await type('--json buy AAPL 1000000', { isTerminal: true });
    expect(json(complaint)).toMatchObject({ statusCode: 400, error: { code: 'INSUFFICIENT_FUNDS' } });
  });

  it('lists portfolios and simulations by `list` and by `ls`', async () => {
    for (const line of ['portfolio list', 'portfolio ls', 'portfolio'])
      expect(json((await type(line)).out)).toMatchObject([{ portfolioType: expect.any(String) as unknown }]);
    expect(json((await type('sim list')).out)).toEqual(json((await type('sim ls')).out));
  });

  it('takes a snapshot, forks it, and compares brokers', async () => {
    const { simulationId } = sim;
    const { snapshotId } = json((await type(`sim snapshot ${simulationId} --name fixture`)).out) as {
      snapshotId: string;
    };
    expect(json((await type(`sim snapshots ${simulationId}`)).out)).toMatchObject([
      { snapshotId, name: 'fixture' },
    ]);
    const fork = json((await type(`sim fork ${simulationId} --snapshot ${snapshotId} --name a`)).out);
    expect(fork).toMatchObject({ name: 'a', parent: { simulationId } });
    const scaled = json(
      (await type(`sim fork ${simulationId} --sequence 0 --speed 2 --seed 9 --ttl 1h`)).out,
    );
    expect(scaled).toMatchObject({ clock: 'scaled', seed: 9, parent: { sequence: 0 } });
    expect(await type(`sim fork ${simulationId} --sequence 0 --at now`)).toMatchObject({
      code: EXIT.refused,
    });
    const { out } = await type(`sim compare ${simulationId} default broker_01`, { isTerminal: true });
    expect(out).toMatch(/base\s+DONE[\s\S]*default\s+DONE[\s\S]*broker_01\s+DONE/);
    const { comparisonId } = json((await type(`sim compare ${simulationId} --no-wait`)).out) as {
      comparisonId: string;
    };
    expect(json((await type(`sim cancel-comparison ${comparisonId}`)).out)).toMatchObject({ comparisonId });
    expect(json((await type(`sim comparison ${comparisonId}`)).out)).toMatchObject({ comparisonId });
    expect(json((await type(`sim token ${simulationId}`)).out)).toMatchObject({ simulationId });
    expect((await type(`sim delete-snapshot ${simulationId} ${snapshotId}`)).code).toBe(0);
    expect(json((await type(`sim snapshots ${simulationId}`)).out)).toEqual([]);
  });

  it('edits a competition, lists its entries, and withdraws and disqualifies them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandpit-competition-'));
    try {
      const file = join(folder, 'cup.json');
      const write = (body: unknown): void => writeFileSync(file, JSON.stringify(body));
      const market = {
        feed: 'push',
        clock: 'manual',
        start: '2026-01-05T14:30:00Z',
        end: '2026-01-06T21:00:00Z',
      };
      const rules = {
        initialCash: 1000,
        portfolioType: 'CASH',
        brokerId: 'default',
        assetClasses: ['EQUITY'],
        entriesPerTenant: 2,
      };
      write({ name: 'Cup', market, rules, scoring: 'TOTAL_RETURN', entry: 'OPEN', visibility: 'PRIVATE' });
      const { competitionId: id } = json((await type(`competition new ${file}`)).out) as {
        competitionId: string;
      };
      writeFileSync(join(folder, 'text.json'), 'Cup');
      expect(await type(`competition new ${join(folder, 'text.json')}`)).toMatchObject({
        code: EXIT.refused,
        complaint: expect.stringContaining('text.json is not JSON') as string,
      });
      write({ capacity: 2 });
      expect(json((await type(`competition edit ${id} ${file}`)).out)).toMatchObject({ capacity: 2 });
      const entered: string[] = [];
      for (const name of ['Mia', 'Max']) {
        const entry = json((await type(`competition enter ${id} ${name}`)).out) as { entryId: string };
        entered.push(entry.entryId);
      }
      const [mia = '', max = ''] = entered;
      await type(`competition start ${id}`);
      expect(json((await type(`competition token ${id} ${mia}`)).out)).toMatchObject({ entryId: mia });
      const { out: curves } = await type(`competition curves ${id}`);
      expect(json(curves)).toContainEqual(expect.objectContaining({ displayName: 'Mia', equity: 1000 }));
      await type(`competition withdraw ${id} ${mia}`);
      await type(`competition disqualify ${id} ${max} --reason bot`);
      expect(json((await type(`competition entries ${id}`)).out)).toMatchObject([
        { displayName: 'Mia', status: 'WITHDRAWN' },
        { displayName: 'Max', status: 'DISQUALIFIED', reason: 'bot' },
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('lists a multi-leg order with its strategy and legs', async () => {
    await sim.quote('AAPL260116C00105000', 1, 1.1);
    await sim.portfolio.submit(
      spreadOf(
        'VERTICAL_SPREAD',
        [
          { symbol: 'AAPL260116C00100000', contracts: 1 },
          { symbol: 'AAPL260116C00105000', contracts: -1 },
        ],
        { limit: 0.5 },
      ),
    );
    const { out } = await type('orders', { isTerminal: true });
    expect(out).toContain('AAPL VERTICAL_SPREAD +C100 -C105 2026-01-16');
  });

  it('completes commands and options in bash', async () => {
    const { out } = await type('completion bash');
    const asked = (line: string): string => {
      const words = line.split(' ');
      const script = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _sandpit; echo "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim();
    };
    expect(asked('sandpit por')).toBe('portfolio');
    expect(asked('sandpit portfolio re')).toBe('reset');
    expect(asked('sandpit buy AAPL --noti')).toBe('--notional');
    expect(asked('sandpit clock advance --t')).toBe('--to');
    expect((await type('completion fish')).out).toContain("-n '__fish_use_subcommand' -a buy");
    expect((await type('completion tcsh')).code).toBe(EXIT.usage);
  });

  it('checks the server of ./data with any credentials', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-cli-'));
    const { baseUrl } = sim.client.transport;
    writeFileSync(join(directory, 'demo-credentials.json'), JSON.stringify({ baseUrl, token: 'expired' }));
    vi.stubEnv('DATA_DIR', directory);
    try {
      const doctor = await type('doctor', { as: access.slice(2) });
      expect(json(doctor.out)).toMatchObject({ server: baseUrl, status: 'ok', credentials: 'accepted' });
      expect(await type('doctor', { as: [] })).toMatchObject({
        code: EXIT.unreachable,
        complaint: expect.stringContaining('does not accept this token') as unknown,
      });
    } finally {
      vi.unstubAllEnvs();
      rmSync(directory, { recursive: true });
    }
  });

  it('refuses arguments of `up`, and shows the usage of server commands', async () => {
    expect(await type('up --port 80', { as: [] })).toMatchObject({ code: EXIT.usage });
    const help = await type('keys --help', { as: [] });
    expect(help).toMatchObject({ code: EXIT.done });
    expect(help.out).toContain('revoke KEY_ID');
  });

  it('refuses options before a server command instead of doing nothing', async () => {
    for (const name of ['verify', 'backup', 'keys', 'up', 'competition verify']) {
      const line = name === 'competition verify' ? `${name} cup.ndjson` : name;
      expect(await type(line), name).toEqual({
        code: EXIT.usage,
        out: '',
        complaint: `error: sandpit ${name} runs on this machine and takes no options before its name\n`,
      });
    }
  });

  it('accepts commas between groups of three digits', async () => {
    expect((await type('buy AAPL 1,0 --limit 1')).code).toBe(EXIT.usage);
    const bought = await type('preview buy AAPL 1,000.5 --limit 1.5');
    expect(bought.complaint).not.toContain('Expected a number');
    for (const line of ['fault {"status":503} --times many', 'script {"error":{}} --match quantity=some'])
      expect((await type(line)).code, line).not.toBe(EXIT.done);
  });

  it('quote: names the symbols without a quote and exits with 1', async () => {
    expect(await type('quote NOPE')).toEqual({
      code: EXIT.refused,
      out: '',
      complaint: 'No quote for NOPE\n',
    });
    const mixed = await type('quote aapl NOPE');
    expect(mixed).toMatchObject({ code: EXIT.refused, complaint: 'No quote for NOPE\n' });
    expect(json(mixed.out)).toMatchObject([{ symbol: 'AAPL' }]);
  });

  it('ends quietly when the reader of its output has seen enough', async () => {
    const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
    const child = spawn(process.execPath, [main, 'completion', 'bash'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let complaint = '';
    child.stderr.on('data', (text) => (complaint += String(text)));
    const [code] = (await once(child, 'close')) as [number];
    expect([code, complaint]).toEqual([0, '']);
  });

  it('exits with 1 when refused, 2 when misused, 3 without a server or valid token', async () => {
    const refused = await type('buy AAPL 1000000');
    expect(refused).toMatchObject({ code: EXIT.refused, out: '' });
    expect(refused.complaint).toMatch(
      /^Insufficient funds \(available cash [\d.]+, required amount [\d.]+\)\n$/,
    );
    expect(await type('buy AAPL ten')).toMatchObject({ code: EXIT.usage });
    expect(await type('sell')).toMatchObject({ code: EXIT.usage });
    expect((await type('--help')).code).toBe(EXIT.done);
    const nowhere = await type('portfolio ls', { as: ['--url', 'http://127.0.0.1:9', '--token', 'x'] });
    expect(nowhere.code).toBe(EXIT.unreachable);
    expect(nowhere.complaint).toContain('No Sandpit answers at http://127.0.0.1:9');
    for (const line of ['portfolio ls', 'doctor'])
      expect((await type(line, { as: [...access.slice(0, 2), '--token', 'x'] })).code).toBe(EXIT.unreachable);
  }, 20_000);
});

describe('sandpit invite', () => {
  it('makes a link, prints the roster, views, resets and removes a member', async () => {
    // Invitations are of a tenant: the token of a sandbox is of its simulation only.
    const path = fileURLToPath(new URL('../../server/dist/sandbox-command.js', import.meta.url));
    const child = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'ignore'] });
    let access = '';
    for await (const line of createInterface({ input: child.stdout }))
      if ((access = line).startsWith('{"url"')) break;
    const { url: server, apiKey } = JSON.parse(access) as { url: string; apiKey: string };
    const exchanged = await fetch(`${server}/v1/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiKey }),
    });
    const { token } = (await exchanged.json()) as { token: string };
    const as = ['--url', server, '--token', token];
    const invite = async (line: string): Promise<unknown> => json((await type(`invite ${line}`, { as })).out);
    const made = (await invite('new Class --capacity 2')) as Record<string, string>;
    expect(made).toMatchObject({ name: 'Class', capacity: 2, status: 'OPEN' });
    const { url, code, invitationId = '' } = made;
    const joined = await fetch(new URL('/v1/invitations/join', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, displayName: 'Ada' }),
    });
    expect(joined.status).toBe(201);
    expect(await invite('list')).toMatchObject([{ invitationId, members: 1 }]);
    const [member] = (await invite(`members ${invitationId}`)) as Record<string, string>[];
    expect(member).toMatchObject({ displayName: 'Ada', equity: 100_000, orders: 0 });
    const named = `${invitationId} ${member?.memberId ?? ''}`;
    expect(await invite(`view ${named}`)).toMatchObject({
      tokenType: 'Bearer',
      expiresIn: 3600,
    });
    expect(await invite(`link ${named}`)).toHaveProperty('returnUrl');
    expect(await invite(`reset ${named}`)).toMatchObject({ displayName: 'Ada' });
    expect(await invite(`remove ${named}`)).toMatchObject({ message: 'Member deleted' });
    expect(await invite(`delete ${invitationId}`)).toMatchObject({
      message: 'Invitation deleted',
    });
    expect(await invite('list')).toEqual([]);
    expect((await type('invite new !', { as })).code).toBe(EXIT.refused);
    child.stdin.end();
    await once(child, 'exit');
  }, 20_000);
});

describe('sandpit webhooks', () => {
  it('makes, tests, lists and deletes webhooks', async () => {
    const made = json((await type('webhooks create http://127.0.0.1:1024/ --events order.*')).out) as {
      webhookId: string;
    };
    expect(made).toMatchObject({ events: ['order.*'], simulationId: 'main', status: 'ENABLED' });
    expect(json((await type(`webhooks test ${made.webhookId}`)).out)).toMatchObject({ status: 'FAILED' });
    expect(json((await type(`webhooks deliveries ${made.webhookId}`)).out)).toMatchObject([
      { type: 'webhook.test', tries: 1, last: 'The connection was refused' },
    ]);
    expect(json((await type(`webhooks disable ${made.webhookId}`)).out)).toMatchObject({
      status: 'DISABLED',
    });
    expect(json((await type('webhooks')).out)).toMatchObject([{ webhookId: made.webhookId }]);
    await type(`webhooks delete ${made.webhookId}`);
    expect(json((await type('webhooks')).out)).toEqual([]);
    const refused = await type('webhooks create ftp://127.0.0.1/');
    expect([refused.code, refused.complaint]).toEqual([EXIT.refused, expect.stringContaining('http(s) URL')]);
  });

  it('webhooks listen: prints events until it is stopped, and deletes its webhook', async () => {
    const listening = follow(`webhooks listen --simulation ${sim.simulationId} --events order.filled`);
    await listening.seen('Listening at http://127.0.0.1:');
    await sim.portfolio.buy('AAPL', 1).then((order) => order.filled());
    await listening.seen('order.filled');
    listening.stop();
    await listening.over;
    expect(json((await type('webhooks')).out)).toEqual([]);
  });
});

describe('sandpit portfolio', () => {
  it('import: sends a CSV file that is longer than a string in JSON may be', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'sandpit-cli-')), 'positions.csv');
    writeFileSync(file, `symbol,quantity\nAAPL,2\n${','.repeat(99)}\n`.padEnd(300_000, '\n'));
    const { portfolioId } = await sim.client
      .openPortfolio({ cash: 1 })
      .then(({ id }) => ({ portfolioId: id }));
    const imported = await type(`portfolio import ${file} --portfolio ${portfolioId}`);
    expect(imported.complaint).toBe('');
    expect(json(imported.out)).toMatchObject({ positions: [{ symbol: 'AAPL', quantity: 2 }] });
  });
});
