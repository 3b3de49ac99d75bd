/** Failures: each shows a sentence and a way to continue, never a blank page. */
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, tokenWith, type Visit } from './surroundings.js';

export function trouble(visit: Visit): void {
  it('shows that a token has expired, and continues with another', async () => {
    const reader = await visit.reader(ALL_SCOPES);
    await visit.go('nowhere', reader);
    const kept = JSON.stringify({ main: tokenWith(ALL_SCOPES, -60) });
    await reader.evaluate(`localStorage.setItem('sandpit-tokens', ${JSON.stringify(kept)})`);
    await visit.go('orders?show=open', reader);
    await reader.reload();
    await reader.getByText('Your saved token has expired').waitFor();
    await reader.getByLabel('Token').fill(tokenWith(ALL_SCOPES));
    await reader.getByRole('button', { name: 'Log in' }).click();
    await reader.getByRole('button', { name: 'Open', pressed: true }).waitFor();
    await visit.leave(reader);
  }, 120_000);

  it('leads out of a simulation that somebody else deleted', async () => {
    const simulation = await OwnSimulation.make(visit.station, 'gone soon');
    const reader = await visit.reader(ALL_SCOPES);
    await visit.go(simulation.place('orders'), reader);
    await reader.getByText('No order yet.').waitFor();
    await visit.station.api('DELETE', `/simulations/${simulation.id}`);
    const banner = reader.locator('.banner').getByRole('alert');
    await banner.getByText('its simulation was deleted').waitFor(SOON);
    await banner.getByRole('button', { name: 'Log in again' }).click();
    await reader.getByRole('heading', { name: 'Overview' }).waitFor();
    await reader.getByText('main · push quotes').waitFor();
    // Its address shows it as well.
    await visit.go(simulation.place(''), reader);
    await reader.getByRole('alert').waitFor();
    await reader.getByRole('link', { name: 'Go to main simulation' }).click();
    await reader.getByRole('heading', { name: 'Overview' }).waitFor();
    await visit.leave(reader);
  }, 120_000);

  it('bears a clock that jumps a year', async ({ expect }) => {
    const { station } = visit;
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(station, 'a year');
    const portfolioId = await simulation.portfolio('Sleeper', 50_000);
    await simulation.quotes({ AAPL: [187.59, 187.6] });
    await simulation.buy(portfolioId, 10);
    await simulation.api('POST', '/simulation/corporate-actions', {
      actions: [
        {
          type: 'CASH_DIVIDEND',
          symbol: 'AAPL',
          exDate: '2026-01-09',
          payDate: '2026-01-15',
          amountPerShare: 0.003,
        },
      ],
    });
    await visit.go(simulation.place(`portfolio/${portfolioId}`), page);
    await page.getByLabel('To', { exact: true }).fill('2027-01-05T10:00');
    await page.getByRole('button', { name: 'Move' }).click();
    await expect
      .poll(() => page.locator('.clock').innerText(), SOON)
      .toContain('Jan 5, 2027, 10:00:00 AM ET');
    // The curve on the page is fitted to the year that has passed.
    const chart = page.getByRole('img', { name: /^Equity, \d+ points/ });
    await expect.poll(() => chart.getAttribute('data-shown'), SOON).toMatch(/2026.* to Jan 5, 2027/);
    for (const span of ['1 day', '1 week', 'All']) {
      await page.getByRole('button', { name: span, exact: true }).click();
      await page.getByRole('img', { name: /^Equity, \d+ points, now \$49,9\d\d\.\d\d/ }).waitFor();
    }
    await page.getByRole('region', { name: 'Shares' }).getByText('AAPL').waitFor();
    // The activities count a dividend once, although its payment is a settlement as well.
    await visit.go(simulation.place(`activity/${portfolioId}`), page);
    const activities = page.getByRole('region', { name: 'Activities' });
    await activities.getByText('+$0.03').waitFor(SOON);
    expect((await activities.innerText()).split('+$0.03')).toHaveLength(2);
    await visit.leave(page);
  }, 120_000);
}
