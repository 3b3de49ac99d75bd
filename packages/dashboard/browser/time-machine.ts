/** Time that is moved, and pasts that are forked: from an empty simulation to a comparison of its rules. */
import { readFileSync } from 'node:fs';
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

export function timeMachine(visit: Visit): void {
  it('opens a month of trading with one click, plays its clock, jumps to what comes next and forks from before a fill', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    const empty = await OwnSimulation.make(visit.station, 'empty');
    await visit.go(empty.place(''), page);
    await page.getByRole('button', { name: 'A month of an active trader' }).click();
    const total = page.getByRole('region', { name: 'Total', exact: true });
    await expect.poll(() => total.innerText(), SOON).toMatch(/Total equity of 1 portfolio\s+\$53,7/);
    await page.getByRole('region', { name: 'Recent fills' }).getByText('40 SPY at').waitFor();
    const clock = page.locator('.clock');

    // Shares bought today are delivered tomorrow.
    const next = page.getByRole('region', { name: 'What comes next' });
    await next.getByText('60 AAPL, 25 MSFT, 40 SPY settle').waitFor();
    await next.getByRole('button', { name: /^Jump to: 60 AAPL/ }).click();
    await expect.poll(() => clock.innerText(), SOON).toContain('Feb 5, 2026, 9:00:00 AM ET');
    await next.getByText('Nothing is scheduled').waitFor();

    await page.getByRole('link', { name: 'Time machine' }).first().click();
    await page.getByRole('heading', { name: 'Time machine' }).waitFor();
    await page.getByLabel('Speed').selectOption('3600');
    await page.getByRole('button', { name: 'Play' }).click();
    await expect.poll(() => clock.innerText(), SOON).toMatch(/Feb 5, 2026, 1\d:/);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: '+1 minute' }).isEnabled(), SOON).toBe(true);
    const paused = await clock.innerText();
    await page.getByLabel('Name of the snapshot').fill('morning');
    await page.getByRole('button', { name: 'Take snapshot' }).click();
    await page.getByRole('region', { name: 'Snapshots', exact: true }).getByText('morning').waitFor();
    expect(await clock.innerText()).toBe(paused);

    // The keyboard chooses an instant ahead, and goes there.
    await page.getByRole('group', { name: 'Span of the timeline' }).getByText('Month').click();
    await page.getByRole('slider', { name: /^Time/ }).press('ArrowRight');
    await page.getByRole('region', { name: 'Chosen instant' }).getByText('tomorrow').waitFor();
    await page.getByRole('button', { name: 'Jump here' }).click();
    await expect.poll(() => clock.innerText(), SOON).toMatch(/Feb [67], 2026/);

    // The page's API calls, as programs.
    await page.getByRole('button', { name: 'Calls behind this page' }).click();
    const panel = page.getByRole('complementary', { name: 'Calls behind this page' });
    await panel
      .getByRole('button', { name: /advanceClock|listOrders/ })
      .first()
      .click();
    await panel.getByRole('button', { name: 'Python' }).click();
    await expect.poll(() => panel.innerText(), SOON).toMatch(/import sandpit[\s\S]*client\.call\("/);
    await panel.getByRole('button', { name: 'Streams' }).click();
    await panel.getByText('portfolios').first().waitFor();
    await panel.getByRole('button', { name: 'Close the developer panel' }).click();

    // A fill of yesterday: a fork without it.
    await page.getByRole('button', { name: /Bought 40 SPY at/ }).click();
    await page.getByRole('button', { name: 'Fork from just before this' }).click();
    await page.getByRole('link', { name: 'Back to the parent simulation' }).waitFor();
    await expect.poll(() => clock.innerText(), SOON).toContain('Feb 4, 2026, 9:59:59 AM ET');
    await page.getByRole('link', { name: 'Overview' }).click();
    const card = page.locator('.card');
    await expect.poll(() => card.innerText(), SOON).toMatch(/Positions\s+0\s+Open orders\s+0/);
    await visit.go('simulations', page);
    await page.getByText('Fork of A month of an active trader').waitFor();

    // The parent shows its branch, and under other rules its first difference.
    await page.getByRole('link', { name: 'A month of an active trader', exact: true }).click();
    await page.getByRole('link', { name: 'Time machine' }).first().click();
    await page.getByRole('region', { name: 'Forks', exact: true }).getByText('Fork of A month').waitFor();
    await page.getByRole('button', { name: 'Compare rules' }).click();
    await page.getByLabel('Compare', { exact: true }).selectOption('latency');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('heading', { name: 'Comparison done' }).waitFor({ timeout: 60_000 });
    await expect
      .poll(() => page.getByRole('region', { name: 'Comparison', exact: true }).innerText(), SOON)
      .toMatch(/Original[\s\S]*5000 ms[\s\S]*(filled at|instead of)/);
    // By what it differs in dollars, sorted, with the best and the worst marked.
    const result = page.getByRole('region', { name: 'Comparison', exact: true });
    const first = result.locator('tbody tr').first();
    await result.getByRole('button', { name: 'Equity' }).click();
    await expect.poll(() => first.innerText(), SOON).toContain('best');
    await result.getByRole('button', { name: 'Equity' }).click();
    await expect.poll(() => first.innerText(), SOON).toContain('worst');
    expect(await result.innerText()).toMatch(/orders and prices [+−]\$/);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toMatch(/^name,status,.*\r\nbase,DONE,/);
    await page.getByRole('button', { name: 'Fork before the first difference of 5000 ms' }).click();
    await page.getByRole('link', { name: 'Back to the parent simulation' }).waitFor();
    await visit.leave(page);
  }, 240_000);

  it('scripts an order, halts a symbol and drops a response, and reverts each of them', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(visit.station, 'experiments');
    await simulation.quotes({ AAPL: [187.59, 187.6] });
    await visit.go(simulation.place('time?section=scripts'), page);
    const form = page.getByRole('form', { name: 'New script' });
    await form.getByLabel('Symbol').fill('aapl');
    await form.getByLabel('Pieces').fill('half');
    await form.getByText('Pieces are percentages or quantities').waitFor();
    await form.getByLabel('Pieces').fill('30%, 20%@5s');
    await form.getByRole('button', { name: 'Add script' }).click();
    const scripts = page.getByRole('region', { name: 'Scripts', exact: true });
    await expect
      .poll(() => scripts.innerText(), SOON)
      .toMatch(/AAPL\s+Fills 30%, 20% after PT5S; the rest stays open\s+0 of 1/);
    await scripts.getByRole('button', { name: /^Delete script/ }).click();
    await page.getByText('No scripts. Orders execute as usual.').waitFor();

    await page.getByRole('button', { name: 'Halts' }).click();
    await page.getByLabel('Symbol, or * for all').fill('AAPL');
    await page.getByRole('button', { name: 'Halt trading' }).click();
    const halts = page.getByRole('region', { name: 'Halts', exact: true });
    await expect.poll(() => halts.innerText(), SOON).toMatch(/AAPL\s+LUDP\s+Jan 5, 2026, 10:00:00 AM ET/);
    await halts.getByRole('button', { name: 'Lift the halt of AAPL' }).click();
    await page.getByText('Nothing is halted.').waitFor();

    await page.getByRole('button', { name: 'Faults' }).click();
    await page.getByRole('button', { name: 'Set fault' }).click();
    const faults = page.getByRole('region', { name: 'Faults', exact: true });
    await expect
      .poll(() => faults.innerText(), SOON)
      .toMatch(/Drops the connection after the request is processed\s+POST \/v1\/orders\s+0 of 1/);
    await faults.getByRole('button', { name: /^Delete fault/ }).click();
    await page.getByText('No faults.').waitFor();
    await visit.leave(page);
  }, 240_000);
}
