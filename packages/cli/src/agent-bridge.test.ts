import { sandbox, type Sandbox } from '@sandpit/client/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../../server/src/testing/joined-programs.js';

let sim: Sandbox;
let token: string;

beforeAll(async () => {
  sim = await sandbox({ cash: 10_000, server: true });
  const { simulationId } = sim;
  ({ token } = await sim.client.call('createSimulationToken', { params: { simulationId } }));
  await sim.quote('AAPL', 99.9, 100);
}, 30_000);
afterAll(() => sim.close());

async function withAgent<T>(
  args: readonly string[],
  work: (client: Client) => Promise<T>,
  by = token,
): Promise<T> {
  const url = sim.client.transport.baseUrl;
  const client = new Client({ name: 'test', version: '1' });
  const env = { PATH: process.env['PATH'] ?? '', SANDPIT_URL: url, SANDPIT_TOKEN: by };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [COMMAND, 'mcp', ...args], env }),
  );
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

describe('sandpit mcp', () => {
  it('gives an agent the tools of its level on standard input and output, within its caps', async () => {
    const portfolioId = sim.portfolio.id;
    await withAgent(['--level', 'capped', '--max-order-notional', '500'], async (client) => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('place_order');
      const order = {
        portfolioId,
        symbol: 'AAPL',
        assetClass: 'EQUITY',
        orderType: 'LIMIT',
        limitPrice: 100,
        positionIntent: 'BUY_TO_OPEN',
        timeInForce: 'DAY',
      };
      const small = await client.callTool({ name: 'place_order', arguments: { ...order, quantity: 5 } });
      expect(small.structuredContent).toMatchObject({ simulated: true, result: { symbol: 'AAPL' } });
      const large = await client.callTool({ name: 'place_order', arguments: { ...order, quantity: 6 } });
      expect(large.isError).toBe(true);
      expect(large.structuredContent).toMatchObject({
        error: { code: 'CAP_EXCEEDED', allowed: 500, asked: 600 },
      });
    });
  });

  it('is read-only by default; uses an agent’s own token unchanged', async () => {
    const names = (client: Client) => client.listTools().then(({ tools }) => tools.map(({ name }) => name));
    expect(await withAgent([], names)).not.toContain('preview_order');
    const issued = await sim.client.call('createAgentToken', { body: { level: 'preview' } });
    expect(await withAgent([], names, issued.token)).toContain('preview_order');
  });
});
