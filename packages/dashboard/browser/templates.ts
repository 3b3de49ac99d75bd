/** Simulations that one click makes: markets and lessons, from the day that is chosen. */
import { it } from 'vitest';
import { ALL_SCOPES, SOON, type Visit } from './surroundings.js';

export function templates(visit: Visit): void {
  it('opens each template with one click: a margin call, an assignment half an hour away, and three markets', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    await visit.go('simulations', page);
    await page.getByRole('button', { name: 'Open Margin-call lesson' }).click();
    await page.getByRole('heading', { name: 'Margin-call lesson' }).waitFor(SOON);
    await page
      .getByRole('status', { name: 'Margin call' })
      .getByText(/deposit \$[\d.]+ or sell \d+ AAPL/)
      .waitFor(SOON);

    await visit.go('simulations', page);
    const lessons = page.getByRole('region', { name: 'Templates' });
    await lessons.getByLabel('First day').fill('2026-03-02');
    await lessons.getByRole('button', { name: 'Open Assignment lesson' }).click();
    await page.getByRole('heading', { name: 'Assignment lesson' }).waitFor(SOON);
    await expect.poll(() => page.locator('.clock').innerText(), SOON).toContain('Mar 6, 2026, 3:30:00 PM ET');
    await page
      .getByRole('region', { name: 'Strategies' })
      .getByText('AAPL Covered call 190 Mar 6')
      .waitFor(SOON);
    await page.getByRole('button', { name: 'Next expiry' }).click();
    await page.getByText('No positions.').waitFor(SOON);

    await visit.go('simulations', page);
    await page.getByRole('button', { name: 'Open Replay of AAPL, June 2014' }).click();
    await page.getByRole('heading', { name: 'AAPL', exact: true }).waitFor(SOON);
    await expect.poll(() => page.locator('.clock').innerText(), SOON).toContain('Jun 6, 2014, 9:30:00 AM ET');

    await visit.go('simulations', page);
    await page.getByRole('button', { name: 'Open A blank push market' }).click();
    const quote = page.getByRole('form', { name: 'Set the quote' });
    await quote.getByLabel('Bid').fill('187.59');
    await quote.getByLabel('Ask').fill('187.60');
    await quote.getByRole('button').first().click();
    await page.getByRole('form', { name: 'Order' }).getByText('Ask 187.60').waitFor(SOON);

    await visit.go('simulations', page);
    await page.getByRole('button', { name: 'Open A synthetic week' }).click();
    await expect.poll(() => page.locator('.clock').innerText(), SOON).toContain('9:30:00 AM ET');
    await page.getByRole('form', { name: 'Order' }).getByText('of $200,000.00').waitFor(SOON);
    await visit.leave(page);
  }, 120_000);
}
