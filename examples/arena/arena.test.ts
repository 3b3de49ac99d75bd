import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sandbox } from '@sandpit/client/testing';
import { arena } from './arena.js';

it('arena: two strategies trade a recorded month, and each has a report', async () => {
  const reports = mkdtempSync(join(tmpdir(), 'sandpit-arena-'));
  try {
    await using server = await sandbox({ server: true });
    const { client, simulationId } = server;
    const { token } = await client.call('createSimulationToken', { params: { simulationId } });
    const rows = await arena({
      baseUrl: client.transport.baseUrl,
      token,
      symbols: ['AAPL', 'MSFT'],
      start: '2012-01-03T14:30:00Z',
      end: '2012-01-31T21:00:00Z',
      speed: 1_000_000,
      reports,
    });
    expect(rows.map(({ displayName }) => displayName).sort()).toEqual(['hold', 'momentum']);
    const hold = rows.find(({ displayName }) => displayName === 'hold');
    expect(hold?.trades).toBe(2);
    // Both rose that January.
    expect(hold?.return).toBeGreaterThan(0);
    expect(readdirSync(reports).sort()).toEqual(['hold.html', 'leaderboard.json', 'momentum.html']);
    expect(readFileSync(join(reports, 'hold.html'), 'utf8')).toContain('Made by Sandpit');
  } finally {
    rmSync(reports, { recursive: true });
  }
}, 60_000);
