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
    expect(json((await type('clock advance next-open')).out)).toMatchObject({
      now: '2026-01-06T14:30:00.000Z',
    });
    expect(json((await type('doctor')).out)).toMatchObject({ status: 'ok', clock: 'manual' });
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
