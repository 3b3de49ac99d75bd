/** Aids: help by a key, rules in the palette, an order that is confirmed or canceled at once, a summary after a move of the clock. */
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

export function aids(visit: Visit): void {
  it('shows the keys, asks before placing, cancels within five seconds, and sums up a move of the clock', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(visit.station, 'aids');
    const portfolioId = await simulation.portfolio('Aids', 100_000);
    await simulation.quotes({ AAPL: [187.59, 187.6] });
    await visit.go(simulation.place('orders'), page);
    await page.getByRole('heading', { name: 'Orders' }).waitFor(SOON);
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Help' });
    await help.getByText('Buy: open the ticket').waitFor(SOON);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached', ...SOON });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('settlement');
    await page.getByRole('option', { name: /^Settlement\s*Rule$/ }).waitFor(SOON);
    await page.keyboard.press('Escape');

    // Without the option one click places; the order is canceled while the five seconds last.
    await visit.go(
      simulation.place(`trade/AAPL?portfolio=${portfolioId}&quantity=10&type=LIMIT&limit=100`),
      page,
    );
    const form = page.getByRole('form', { name: 'Order' });
    await form.getByRole('button', { name: 'Place order: Buy 10 AAPL, limit 100.00' }).click(SOON);
    await page.getByRole('button', { name: 'Cancel the order' }).click(SOON);
    await page.getByText('Canceled.', { exact: true }).waitFor(SOON);
    const statuses = async (): Promise<readonly string[]> =>
      (await simulation.api<{ data: { status: string }[] }>('GET', '/orders')).data.map(
        ({ status }) => status,
      );
    expect(await statuses()).toEqual(['CANCELED']);

    // With it the first click asks, a change asks again, and the second click places.
    await form.getByLabel('Ask before placing').check();
    await form.getByLabel('Type').selectOption('MARKET');
    await form.getByRole('button', { name: 'Place order: Buy 10 AAPL, market' }).click(SOON);
    await form.getByRole('button', { name: 'Confirm: Buy 10 AAPL, market' }).waitFor(SOON);
    await form.getByLabel('Shares').fill('5');
    await form.getByRole('button', { name: 'Place order: Buy 5 AAPL, market' }).click(SOON);
    expect(await statuses()).toEqual(['CANCELED']);
    await form.getByRole('button', { name: 'Confirm: Buy 5 AAPL, market' }).click(SOON);
    await page.getByText('Placed: Buy 5 AAPL, market.').waitFor(SOON);
    await expect.poll(statuses, SOON).toEqual(['FILLED', 'CANCELED']);

    // A range of the chart chooses the bars that show it, and is part of the address.
    await page.getByRole('group', { name: 'Range' }).getByRole('button', { name: 'Week' }).click();
    await page.getByRole('img', { name: /^AAPL, \d+ bars of 15Min/ }).waitFor(SOON);
    expect(page.url()).toContain('range=week');
    await page.getByRole('group', { name: 'Length of a bar' }).getByRole('button', { name: '1h' }).click();
    await page.getByRole('img', { name: /^AAPL, \d+ bars of 1Hour/ }).waitFor(SOON);
    expect(page.url()).not.toContain('range=');

    await page.getByRole('button', { name: '+1 day' }).click();
    await page.getByText(/^1 trade settled/).waitFor(SOON);
    await visit.leave(page);
  }, 120_000);
}
