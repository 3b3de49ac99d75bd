/** Live market data in the banner and on the pages, from a source that a test drives. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { ALPACA } from '../../server/src/feeds/live/testing/vendors.js';
import { ALL_SCOPES, SOON, Station, type Visit } from './surroundings.js';

export function liveFeed(visit: Visit): void {
  it('says in the banner that the source of live quotes is delayed, reconnecting, connected again, and refused', async ({
    expect,
  }) => {
    const fake = await ALPACA.start();
    const start = '2026-01-05T10:00:00-05:00';
    fake.setSnapshot({ symbol: 'AAPL', atMs: Date.parse(start) - 500, bid: 187.59, ask: 187.6 });
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-live-'));
    const station = await Station.start(directory, {
      ...ALPACA.settings(fake),
      MARKET_FEED: 'live',
      MARKET_CLOCK: 'scaled',
      CLOCK_SPEED: '1',
      CLOCK_START: start,
      LIVE_PLAN: ALPACA.delayedPlan,
      LIVE_MAX_SYMBOLS: '30',
    });
    const page = await visit.reader(ALL_SCOPES, station);
    try {
      await visit.go('trade/AAPL', page);
      const tag = page.locator('.banner').getByRole('status');
      await tag.getByText(/^alpaca connected · 15 min delayed · [1-9] of 30 symbols$/).waitFor(SOON);
      await page.getByText('187.60').first().waitFor(SOON);

      fake.isDown = true;
      fake.cut();
      await tag.getByText(/^alpaca reconnecting since .* ET · 15 min delayed/).waitFor(SOON);
      fake.isDown = false;
      await tag.getByText(/^alpaca connected/).waitFor({ timeout: 40_000 });

      await visit.go('administration', page);
      const panel = page.getByRole('region', { name: 'Live market data' });
      await expect
        .poll(() => panel.innerText(), SOON)
        .toMatch(/Connected\s+since[\s\S]*Symbols subscribed\s+[1-9] of 30[\s\S]*15 minutes/);
      expect(await panel.locator('meter').getAttribute('max')).toBe('30');
      const tenants = page.getByRole('region', { name: 'Tenants of the server', exact: true });
      await tenants.getByRole('heading', { name: '1 tenant on one server' }).waitFor(SOON);

      fake.isExpired = true;
      fake.cut();
      await tag.getByText(/^alpaca refused since/).waitFor({ timeout: 40_000 });
      await page.getByRole('region', { name: 'Health' }).getByText('Refused').waitFor(SOON);
    } finally {
      await visit.leave(page);
      await station.stop();
      await fake.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  }, 120_000);
}
