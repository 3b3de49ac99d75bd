import { sandbox, type Sandbox } from '@sandpit/client/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT, run } from './program.js';

let sim: Sandbox;
let access: readonly string[];

beforeAll(async () => {
  sim = await sandbox({ cash: 10_000 });
  const { simulationId } = sim;
  const { token } = await sim.client.call('createSimulationToken', { params: { simulationId } });
  access = ['--url', sim.client.transport.baseUrl, '--token', token];
  await sim.quote('AAPL', 99.9, 100);
});
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
/** A command that goes on until it is told to stop. */
function follow(line: string) {
  let out = '';
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
  return { over, seen, stop: () => process.emit('SIGINT') };
}
const json = (out: string): unknown => JSON.parse(out);

describe('the command line', () => {
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

  it('prints tables on a terminal', async () => {
    const { out } = await type('quote AAPL', { isTerminal: true });
    expect(out).toBe('SYMBOL   BID  ASK  LAST\nAAPL    99.9  100\n');
    expect((await type('sim ls', { isTerminal: true })).out).toContain(sim.simulationId);
  });

  it('moves the clock, and says how things are', async () => {
    const before = json((await type('clock')).out) as { now: string };
    const after = json((await type('clock advance PT5M')).out) as { now: string };
    expect(Date.parse(after.now) - Date.parse(before.now)).toBe(300_000);
    expect(json((await type('clock advance 1h')).out)).toMatchObject({ now: '2026-01-05T16:05:00.000Z' });
    expect(json((await type('clock advance --to next-open')).out)).toMatchObject({
      now: '2026-01-06T14:30:00.000Z',
    });
    expect((await type('clock advance')).code).toBe(EXIT.usage);
    expect(json((await type('doctor')).out)).toMatchObject({ status: 'ok', clock: 'manual' });
  });

  it('says what an order would do, and places nothing', async () => {
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

  it('ends with 1 where it is refused, 2 where it is misused, 3 where there is no server', async () => {
    const refused = await type('buy AAPL 1000000');
    expect(refused).toMatchObject({ code: EXIT.refused, complaint: 'Insufficient funds\n', out: '' });
    expect(await type('buy AAPL ten')).toMatchObject({ code: EXIT.usage });
    expect(await type('sell')).toMatchObject({ code: EXIT.usage });
    expect((await type('--help')).code).toBe(EXIT.done);
    const nowhere = await type('portfolio ls', { as: ['--url', 'http://127.0.0.1:9', '--token', 'x'] });
    expect(nowhere.code).toBe(EXIT.unreachable);
    expect(nowhere.complaint).toContain('No Sandpit answers at http://127.0.0.1:9');
  }, 20_000);
});
