/** Alerts: set from a symbol and a position, fired, after an absence, by webhook. */
import { it } from 'vitest';
import { until, WebhookReceiver } from '../../server/src/testing/webhook-receiver.js';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

export function alerts(visit: Visit): void {
  it('sets alerts, announces them when they fire and after an absence, changes and removes them, and posts them', async ({
    expect,
  }) => {
    const receiver = await WebhookReceiver.open();
    const page = await visit.reader(ALL_SCOPES);
    try {
      const simulation = await OwnSimulation.make(visit.station, 'alerts');
      const portfolioId = await simulation.portfolio('Alerts', 100_000);
      await simulation.quotes({ AAPL: [187.59, 187.6], MSFT: [410, 410.1] });
      await simulation.buy(portfolioId, 10);

      // By webhook, before anything fires.
      await visit.go(simulation.place('alerts'), page);
      await page.getByText('No alerts yet.').waitFor(SOON);
      const hook = page.getByRole('form', { name: 'Webhook for alerts' });
      await hook.getByLabel('URL').fill(receiver.url);
      await hook.getByRole('button', { name: 'Send alerts there' }).click();
      await page.getByText(/^whsec_/).waitFor(SOON);

      // From the page of a symbol: the side follows from the price.
      await visit.go(simulation.place('trade/AAPL'), page);
      await page.getByRole('button', { name: 'Set an alert on AAPL' }).first().click(SOON);
      const form = page.getByRole('form', { name: 'Alert' });
      await form.getByText('Now 187.595.').waitFor(SOON);
      await form.getByLabel('Price', { exact: true }).fill('190');
      expect(await form.getByLabel('Fires when the price is').inputValue()).toBe('ABOVE');
      await form.getByRole('button', { name: 'Set alert' }).click();
      await page.getByText('AAPL at 190.00 or above.').waitFor(SOON);

      // From a position: below the market.
      await visit.go(simulation.place(`portfolio/${portfolioId}`), page);
      await page.getByRole('button', { name: 'Set an alert on AAPL' }).first().click(SOON);
      await form.getByText('Now 187.595.').waitFor(SOON);
      await form.getByLabel('Price', { exact: true }).fill('180');
      await form.getByLabel('Note').fill('sell');
      expect(await form.getByLabel('Fires when the price is').inputValue()).toBe('BELOW');
      await form.getByRole('button', { name: 'Set alert' }).click();
      await form.waitFor({ state: 'detached', ...SOON });

      // It fires while the page is open.
      await simulation.quotes({ AAPL: [190.1, 190.2] });
      const notices = page.getByRole('region', { name: /^Notifications/ });
      await notices.getByText('AAPL rose to 190.15').waitFor(SOON);
      await until(() => receiver.types.includes('alert.fired'));

      // The second alert fires, and an order fills, while the page is hidden.
      await page.goto(`${visit.station.url}/llms.txt`);
      await simulation.clock('2026-01-05T10:30:00-05:00');
      await simulation.quotes({ AAPL: [179.9, 180] });
      await simulation.buy(portfolioId, 1);
      await visit.go(simulation.place('orders'), page);
      await notices.getByText('AAPL fell to 179.95').waitFor(SOON);
      await notices.getByText('Alert: AAPL at 180.00 or below. sell').waitFor(SOON);
      await notices.getByText('Since your last visit').waitFor(SOON);
      await notices.getByText('1 fill.').waitFor(SOON);
      await page.getByRole('navigation', { name: 'Pages' }).getByText('2', { exact: true }).waitFor(SOON);

      // The list: both are new, once.
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: /^Alerts/ })
        .click();
      const list = page.getByRole('region', { name: 'Price alerts' }).first();
      await list.getByText('Fired at 179.95').waitFor(SOON);
      expect(await list.getByText('New', { exact: true }).count()).toBe(2);
      await list.getByRole('button', { name: 'Arm again: alert on AAPL at 180.00' }).click();
      await form.getByLabel('Price', { exact: true }).fill('170');
      await form.getByRole('button', { name: 'Save and arm' }).click();
      await list.getByText('170.00 or below').waitFor(SOON);
      await list.getByText('Active', { exact: true }).last().waitFor(SOON);
      await list.getByRole('button', { name: 'Remove the alert on AAPL at 190.00' }).click();
      await list.getByText('190.00 or above').waitFor({ state: 'detached', ...SOON });
      const left = await simulation.api<{ data: object[] }>('GET', '/alerts');
      expect(left.data).toMatchObject([{ price: 170, status: 'ACTIVE', note: 'sell' }]);

      // Events of other kinds, as far as they are wanted.
      const events = page.getByRole('region', { name: 'Other events' });
      await events
        .getByText(/^Bought 1 AAPL|1 AAPL/)
        .first()
        .waitFor(SOON);
      await events.getByLabel('Fills').uncheck();
      await events.getByText('None yet.').waitFor(SOON);
      await page.reload();
      await events.getByText('None yet.').waitFor(SOON);
      expect(await events.getByLabel('Fills').isChecked()).toBe(false);
    } finally {
      await visit.leave(page);
      await receiver.close();
    }
  }, 120_000);
}
