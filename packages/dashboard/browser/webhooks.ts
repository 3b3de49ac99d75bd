/** Webhooks on their page: an endpoint is created, tested, receives order events, and a redelivery. */
import { it } from 'vitest';
import { until, WebhookReceiver } from '../../server/src/testing/webhook-receiver.js';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

export function webhooks(visit: Visit): void {
  it('makes a webhook, shows its deliveries, and sends again what failed', async ({ expect }) => {
    const receiver = await WebhookReceiver.open();
    const page = await visit.reader(ALL_SCOPES);
    try {
      const simulation = await OwnSimulation.make(visit.station, 'watched');
      const portfolioId = await simulation.portfolio('Watched', 50_000);
      await simulation.quotes({ AAPL: [187.59, 187.6] });
      await visit.go(simulation.place('webhooks'), page);
      const form = page.getByRole('form', { name: 'New webhook' });
      await form.getByLabel('URL').fill(receiver.url);
      await form.getByLabel('Events').selectOption('order.filled');
      await form.getByRole('button', { name: 'Create webhook' }).click();
      await page.getByText(/^whsec_/).waitFor(SOON);

      await page.getByRole('button', { name: `test ${receiver.url}` }).click();
      await page.getByText(/^Test event: 204 in \d+ ms$/).waitFor(SOON);
      expect(receiver.types).toEqual(['webhook.test']);

      receiver.answer(500);
      await simulation.buy(portfolioId, 1);
      const deliveries = page.getByRole('region', { name: 'Deliveries', exact: true });
      await deliveries.getByText('The receiver answered 500').waitFor(SOON);
      receiver.answer(204);
      await deliveries
        .getByRole('button', { name: /^redeliver evt_/ })
        .first()
        .click();
      await expect
        .poll(() => deliveries.locator('tbody tr').first().innerText(), SOON)
        .toMatch(/order\.filled[\s\S]*Delivered[\s\S]*204 in \d+ ms\s+2/);
      await until(() => receiver.types.length === 3);

      await page.getByRole('button', { name: `disable ${receiver.url}` }).click();
      await page.getByRole('button', { name: `enable ${receiver.url}` }).waitFor(SOON);
    } finally {
      await visit.leave(page);
      await receiver.close();
    }
  }, 120_000);
}
